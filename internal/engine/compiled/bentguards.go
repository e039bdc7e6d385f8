package compiled

import (
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// BentGuards are the guards that are not affine in time and states, as tapec.Bends makes them.
type BentGuards struct {
	Tape   *tape.Tape
	Guards []int
	Jumps  [][]tape.Value
	States []int
}

// newBentGuards returns those of a compiled model; nil if there are none.
func newBentGuards(c *tapec.Compiled, l *vec.Layout) *BentGuards {
	b := &BentGuards{}
	if b.Tape, b.Guards, b.Jumps = tapec.Bends(c.Guards, c.GuardList); b.Tape == nil {
		return nil
	}
	for _, in := range b.Tape.Inputs {
		if name := tapec.MustName(in.Name); name.Variation == tapec.Primal && name.Role == tapec.State {
			at := l.Part(name)
			for k := range at.Len {
				b.States = append(b.States, at.Offset+k)
			}
		}
	}
	return b
}
