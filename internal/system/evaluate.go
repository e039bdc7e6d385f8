package system

import (
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// values are vectors that hold the inputs of tapes which are evaluated beside a run.
type values [numVectors][]float64

// load copies what t reads from the vectors to the inputs of its evaluator. It reports whether all
// inputs are there. What is missing at the end of an input is zero, so that a one-hot vector of
// firings need not be longer than its 1.
func (m *Model) load(t *tape.Tape, e *tape.Evaluator[float64], from *values) bool {
	for i := range t.Inputs {
		if in := &t.Inputs[i]; !m.loadInput(in, e.Value(tape.Value(i)), from) {
			return false
		}
	}
	return true
}

// loadInput is load for one input.
func (m *Model) loadInput(in *tape.Input, to []float64, from *values) bool {
	at, ok := m.reads[in.Name]
	if !ok { // the tape is made of those of the model
		at, ok = m.layout.find(tapec.MustName(in.Name))
	}
	if !ok || at.vec == vecRow && from[vecRow] == nil || at.offset > len(from[at.vec]) {
		return false
	}
	clear(to)
	copy(to, from[at.vec][at.offset:])
	return true
}
