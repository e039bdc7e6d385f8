package odes

import (
	"maps"
	"slices"
)

// SettingValues returns the words that a key of a settings block ("solver",
// "sens") takes; nil for keys that take something else.
func SettingValues(block, key string) []string {
	switch block + "." + key {
	case "solver.method":
		return append(methodNames(), "auto")
	case "solver.controller":
		return controllerNames()
	case "solver.observe":
		return slices.Sorted(maps.Keys(observeKinds))
	case "solver.checkpoint":
		return []string{"all"}
	case "solver.units":
		return []string{"off", "warn", "strict"}
	case "sens.mode":
		return slices.Clone(modeNames)
	case "sens.control", "sens.error":
		return []string{"on", "off"}
	}
	return nil
}
