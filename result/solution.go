package result

import "odes.dev/odes/lang/diag"

// Solution is the result of Model.Solve.
type Solution struct {
	Status   string    // "ok" or "partial": some objective has no value, or some number is Lost
	From, To float64   // of the run
	T        []float64 // ascending; at an event both limits appear, so a time may stand twice
	By       []int     // [len(T)] which of Stats.Methods made the step that ends there; nil where one made all
	Outputs  []Series
	Values   []Value // of the objectives
	Events   []Event
	Settings Settings
	Stats    Stats
	Warnings []diag.Diagnostic
}
