// Package result holds what runs of models give: Sensitivities, Solution, Costates and Branch, with what these are made
// of: a Value for each objective, a Variable for what it is differentiated by, a Series for each output, Events, and
// the Trust in each number. Verification, Bench and Progress tell of runs. A run that fails gives a RunError.
//
// These are data and what can be read off them. The package knows no model and makes no run: package odes returns its
// types, under the names that they have had there, and whatever writes, draws or sends results needs nothing else.
package result

import (
	"cmp"

	"odes.dev/odes/lang/target"
)

// Value is the value of one scalar objective. Each element of an array objective is a Value of its
// own, named "y[3]".
type Value struct {
	Name     string
	Doc      string
	Unit     string
	Relation string // "", or "==", "<=", ">=" of a constraint
	Value    float64
	Error    float64 // estimated, where Sensitivities.Errors are
	Trust    Trust
	Warnings []string
}

// Variable is what objectives are differentiated by: a param, or the initial value of a state.
type Variable struct {
	Name    string
	Initial bool // the initial value of state Name, not a param
	Unit    string
	Shape   []int
	// Offset is the column of the variable's first element in a row of the gradient.
	Offset int
	// Written is the form in which elements are written where Name is of copies of a component: "c[].k"; else "".
	Written string `form:"-"`
}

// String returns "k" or "initial(x)".
func (v Variable) String() string { return v.Target().String() }

// Target returns what the variable is called where it is set or asked for.
func (v Variable) Target() target.Target { return target.Target{Name: v.Name, Initial: v.Initial} }

// Element returns the name of element k, from 0 and row by row: "k", "A[1,2]", "initial(x)[2]", "c[3].k".
func (v Variable) Element(k int) string {
	if v.Written == "" {
		return target.Element(v.String(), v.Shape, k)
	}
	return target.Target{Name: target.Element(v.Written, v.Shape, k), Initial: v.Initial}.String()
}

// Size returns the number of elements.
func (v Variable) Size() int { return size(v.Shape) }

// size returns the number of elements of an array of a shape.
func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Series is one number, or array, over time.
type Series struct {
	Name   string
	Doc    string
	Unit   string
	Shape  []int
	Values []float64 // [len(T)][size of Shape], in Unit
	Trust  Trust     // of the worst of Values, beside the largest of the same element
	// Errors estimate how far each of Values is from that of the exact solution. nil where nothing was compared. Next
	// to events they are those of the next time that was compared.
	Errors []float64
	// Cause says why it is not always a finite number; "" where it is, and where that is not known.
	Cause string
	// Written is the form in which elements are written where Name is of copies of a component: "c[].V"; else "".
	Written string `form:"-"`
}

// Element returns the name of element k, from 0 and row by row: "x", "A[1,2]", "c[3].V".
func (s *Series) Element(k int) string { return target.Element(cmp.Or(s.Written, s.Name), s.Shape, k) }

// Size returns the number of elements at one time.
func (s *Series) Size() int { return size(s.Shape) }
