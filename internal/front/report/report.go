// Package report writes results: as tables for people, as JSON, CSV and NumPy archives for programs. Formats is the
// table of these formats. The package decides nothing about a run and knows neither command line nor files.
package report

import (
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// Heading says which model a result belongs to.
type Heading struct {
	Model      string // its name
	Experiment string // the one that the result is of; "" for the model as it stands
	File       string
	Time       string            // the name of the independent variable
	TimeUnit   string            // "" when unknown
	Warnings   []diag.Diagnostic // of compilation
}

// title returns the name of the model, with that of the experiment.
func (h *Heading) title() string {
	if h.Experiment == "" {
		return h.Model
	}
	return h.Model + ", experiment " + h.Experiment
}

// subscripts returns the 1-based subscripts of element k, "1,2"; "" for a scalar.
func subscripts(shape []int, k int) string {
	parts := make([]string, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		parts[axis] = strconv.Itoa(k%shape[axis] + 1)
		k /= shape[axis]
	}
	return strings.Join(parts, ",")
}

// variableElement names element k of a variable: "A[1,2]", "initial(x)[3]".
func variableElement(v odes.Variable, k int) string { return v.Element(k) }

// eventElement names an event with its index: "dose[2]".
func eventElement(e odes.EventRecord) string { return e.Label() }

// known returns a unit as results show it: "" for one that is not known.
func known(unit string) string {
	if unit == "unknown" {
		return ""
	}
	return unit
}

// hasValue reports whether an objective has a value. One without a value has no derivatives either.
func hasValue(v odes.Value) bool { return v.Value == v.Value }

// size returns the number of elements of an array.
func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
