package odes

import (
	"path/filepath"
	"strings"
)

// StiffExample reports whether an explicit method would crawl through an example. Such examples name no method.
func StiffExample(file string) bool {
	switch name := strings.TrimSuffix(filepath.Base(file), ".ode"); name {
	case "robertson", "oregonator", "e5", "pollution", "ring_modulator", "network20", "network100", "brusselator_1d",
		"hires", "generator":
		return true
	}
	return false
}
