// Package types says what an expression is: its kind, shape and unit. It knows units, and nothing
// of trees, names or values.
package types

import (
	"strconv"
	"strings"

	"odes.dev/odes/lang/units"
)

// Kind is the sort of a value.
type Kind uint8

// The kinds.
const (
	Invalid Kind = iota // an error was reported; compatible with every kind
	Real
	Int  // a whole number known at compile time; usable wherever a Real is
	Bool // a condition
	String
)

// String returns the kind as messages name it.
func (k Kind) String() string {
	return [...]string{"invalid", "number", "whole number", "condition", "text"}[k]
}

// Shape lists the lengths of the axes, outermost first; nil is a scalar.
type Shape []int

// Strides returns how far neighbours along each axis are apart, row by row.
func (s Shape) Strides() []int {
	strides := make([]int, len(s))
	n := 1
	for k := len(s) - 1; k >= 0; k-- {
		strides[k] = n
		n *= s[k]
	}
	return strides
}

// Size returns the number of elements.
func (s Shape) Size() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// Equal reports whether s and t have the same lengths.
func (s Shape) Equal(t Shape) bool {
	if len(s) != len(t) {
		return false
	}
	for i := range s {
		if s[i] != t[i] {
			return false
		}
	}
	return true
}

// String returns "[200 1]", and "a scalar" for the empty shape.
func (s Shape) String() string {
	if len(s) == 0 {
		return "a scalar"
	}
	parts := make([]string, len(s))
	for i, d := range s {
		parts[i] = strconv.Itoa(d)
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// Type is the static type of an expression.
type Type struct {
	Kind  Kind
	Shape Shape
	Unit  units.Unit // the zero Unit is unknown
}

// Element returns the name of the element at flat offset o: "3", "2,5".
func (s Shape) Element(o int) string {
	if len(s) == 0 {
		return ""
	}
	at := make([]string, len(s))
	for k := len(s) - 1; k >= 0; k-- {
		at[k] = strconv.Itoa(o%s[k] + 1)
		o /= s[k]
	}
	return strings.Join(at, ",")
}
