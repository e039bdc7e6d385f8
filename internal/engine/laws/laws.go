// Package laws evaluates the rates of a model and their derivatives at random residues, as the search for conserved
// quantities needs them (steady.Rates).
package laws

import (
	"odes.dev/odes/internal/base/residue"
	"odes.dev/odes/steady"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Many states are those of a model whose laws are sought by derivatives of its rates. The derivatives of few are not
// worth while: elimination of as many equations takes less time.
const Many = 64

// Sample adds the rates of t, of which an output lies at an offset among the states (unless it is no rate). Inputs that
// stay have the same residues in each sample.
func Sample(r *steady.Rates, t *tape.Tape, offset func(out tapec.Name) int, stays func(in tapec.Name) bool) {
	run := sampled(t, stays)
	at := make([]int, len(t.Outputs))
	for i, out := range t.Outputs {
		at[i] = offset(tapec.MustName(out.Name))
	}
	r.Sample = func(k int, rates []residue.Number) {
		e := run(k)
		for i, out := range t.Outputs {
			if at[i] < r.N {
				copy(rates[at[i]:], e.Value(out.Value))
			}
		}
	}
}

// Derive adds the entries of the Jacobian that t computes, at rows and columns.
func Derive(r *steady.Rates, t *tape.Tape, rows, cols []int32, stays func(in tapec.Name) bool) {
	r.Rows, r.Cols = rows, cols
	run := sampled(t, stays)
	r.Entries = func(k int, entries []residue.Number) {
		e := run(k)
		for _, out := range t.Outputs {
			entries = entries[copy(entries, e.Value(out.Value)):]
		}
	}
}

// sampled returns a function that evaluates t with random residues, other ones for each k but for inputs that stay.
func sampled(t *tape.Tape, stays func(tapec.Name) bool) func(k int) *tape.Evaluator[residue.Number] {
	e := tape.NewEvaluator[residue.Number](t)
	names := make([]tapec.Name, len(t.Inputs))
	for i, in := range t.Inputs {
		names[i] = tapec.MustName(in.Name)
	}
	return func(k int) *tape.Evaluator[residue.Number] {
		for i, name := range names {
			which := residue.Number(k)
			if stays(name) {
				which = 0
			}
			values := e.Value(tape.Value(i))
			for j := range values {
				values[j] = residue.Hash(which, residue.Number(i), residue.Number(j))
				if name.Role == tapec.HeldMode {
					values[j] &= 1
				}
			}
		}
		e.Run()
		return e
	}
}
