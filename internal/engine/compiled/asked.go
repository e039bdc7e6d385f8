package compiled

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// asks returns a digest of the mass matrix and of all tapes that a search for a steady state runs, and which params
// they read. Models of one file with the same digest have the same steady states for the same values.
func (m *Model) asks() (out asked) {
	c := m.Compiled
	tapes := []*tape.Tape{c.Rates, c.Choose, c.Guards, c.Clocks, c.Priorities}
	happens := make([]bool, len(c.Affects)) // in a search: by a condition of states, or after a delay
	for i, e := range c.Model.Events {
		happens[i] = e.Guarded()
	}
	waits := false
	for _, in := range c.InstantList {
		if in.Pending {
			happens[in.Event], waits = true, true
		}
	}
	if waits {
		tapes = append(tapes, c.Instants)
	}
	for i, t := range c.Affects {
		if happens[i] {
			tapes = append(tapes, t)
		}
	}
	h := sha256.New()
	read := map[vec.Place]bool{}
	for _, t := range tapes {
		each := Digest{}
		if t != nil {
			if m.family != nil { // otherwise there are no others
				each = m.family.digest(t)
			}
			for _, in := range t.Inputs {
				if name := tapec.MustName(in.Name); name.Role == tapec.Param {
					read[m.Layout.Part(name).Place()] = true
				}
			}
		}
		_, _ = h.Write(each[:])
	}
	for _, s := range slices.Concat(c.Model.States, c.Model.Discretes) { // vectors are laid out alike
		_, _ = h.Write(binary.LittleEndian.AppendUint64([]byte(s.Name), uint64(s.Type.Shape.Size())))
	}
	if mass := m.Mass; mass != nil { // an experiment may set consts of it, and conserved sums are those of M y
		_, _ = h.Write(fmt.Append(nil, mass.Unknowns, mass.Rows, mass.Cols, mass.Values))
	}
	h.Sum(out.Digest[:0])
	for p := range read {
		out.Params = append(out.Params, p)
	}
	slices.SortFunc(out.Params, func(a, b vec.Place) int { return a.Offset - b.Offset })
	return out
}

// asked is what Model.asks returns.
type asked struct {
	Digest Digest
	Params []vec.Place
}
