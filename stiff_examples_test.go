package odes

import (
	"path/filepath"
	"strings"
)

// StiffExample reports whether an explicit method would crawl through an example, or does not take it at all. Such
// examples name no method.
func StiffExample(file string) bool {
	switch name := strings.TrimSuffix(filepath.Base(file), ".ode"); name {
	case "robertson", "oregonator", "e5", "pollution", "ring_modulator", "network20", "network100", "brusselator_1d",
		"burgers", "hires", "generator", "heat3d":
		return true
	}
	return AlgebraicExample(file)
}

// AlgebraicExample reports whether an example has algebraic unknowns, which not all methods and modes take.
func AlgebraicExample(file string) bool {
	switch name := strings.TrimSuffix(filepath.Base(file), ".ode"); name {
	case "akzo_nobel", "battery", "converter", "nine_buses", "pendulum_cartesian", "power_fault",
		"transistor_amplifier":
		return true
	}
	return false
}
