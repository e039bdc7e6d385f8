package system

import (
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Field returns the names of the states, one for each element, and their rates at any values of these. It returns nil
// for a model whose rates depend on more: on time, discretes, modes, algebraic unknowns or what was before.
func (p *Problem) Field() (states []string, rates func(y []float64) []float64) {
	m := p.Model
	t := m.Compiled.Rates
	if t == nil || m.mass != nil || len(m.Checked.Differential()) != len(m.Checked.States) {
		return nil, nil
	}
	for _, in := range t.Inputs {
		at, ok := m.layout.find(tapec.MustName(in.Name))
		if !ok || at.vec != vecY && at.vec != vecP {
			return nil, nil
		}
	}
	for _, s := range m.Checked.States {
		if s.Type.Shape.Size() != 1 {
			return nil, nil
		}
		states = append(states, s.Name)
	}
	e := tape.NewEvaluator[float64](t)
	return states, func(y []float64) []float64 {
		m.load(t, e, &values{vecY: y, vecP: p.Point.p})
		e.Run()
		out := make([]float64, len(states))
		for _, o := range t.Outputs {
			if at, ok := m.layout.find(tapec.MustName(o.Name)); ok && at.vec == vecK && at.offset < len(out) {
				copy(out[at.offset:], e.Output(o.Name))
			}
		}
		return out
	}
}
