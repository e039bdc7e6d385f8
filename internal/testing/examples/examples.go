// Package examples tells tests what examples are like.
package examples

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// Stiff reports whether an explicit method would crawl through an example, or does not take it at all. Such
// examples name no method.
func Stiff(file string) bool {
	switch name := strings.TrimSuffix(filepath.Base(file), ".ode"); name {
	case "robertson", "oregonator", "e5", "pollution", "ring_modulator", "network20", "network100", "brusselator_1d",
		"burgers", "hires", "generator", "heat3d":
		return true
	}
	return Algebraic(file)
}

// Algebraic reports whether an example has algebraic unknowns, which not all methods and modes take.
func Algebraic(file string) bool {
	switch name := strings.TrimSuffix(filepath.Base(file), ".ode"); name {
	case "akzo_nobel", "battery", "converter", "nine_buses", "pendulum_cartesian", "power_fault",
		"transistor_amplifier":
		return true
	}
	return false
}

// Delayed reports whether an example has delays, which only the explicit methods and discrete adjoints take, and
// which need the history of a run.
func Delayed(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && bytes.Contains(text, []byte("delay("))
}
