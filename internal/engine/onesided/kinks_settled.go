package onesided

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
)

// A run may lead to a steady state that lies at a kink of the rates, or at the threshold of a condition. Nothing passes
// time there: what moves the steady state, by the implicit function theorem, or the threshold, takes it off.

// atSteady lists the kinks and conditions at which the steady state of the event of a mark lies. The search for it ends
// with rounding.
func (k *Kinks) atSteady(m *solvers.Mark) (found []Kink) {
	c := k.model.Compiled
	at := vec.Values{
		vec.T: {m.T}, vec.Y: slices.Clone(m.Yp), vec.D: slices.Clone(m.Dp), vec.M: slices.Clone(m.Mp), vec.P: k.point.P,
	}
	add := func(x Kink) {
		x.at, x.settled = at, true
		found = append(found, x)
	}
	if kt := k.tapes[c.Rates]; kt != nil {
		kt.beside(c.Rates)
		k.model.Load(c.Rates, kt.eval, &at)
		kt.eval.Run()
		k.model.Load(c.Rates, kt.near, &at)
		k.nudge(0, kt.near, beside, false)
		kt.near.Run()
		for _, v := range kt.ops {
			if kt.still[v] || kt.held[v] {
				continue // found where the run begins
			}
			far := tape.Bends(kt.near, v, 0, nil)
			some := false
			for i, d := range tape.Bends(kt.eval, v, 0, nil) {
				some = some || far[i] != 0 && near0(d, math.Abs(far[i]))
			}
			if some {
				in := c.Rates.Instr(v)
				add(Kink{
					Op: in.Op, Span: in.Span, From: compiled.InputsOfValue(c.Rates, v),
					spot: spot{of: c.Rates, value: v},
				})
			}
		}
	}
	if k.guards == nil {
		return found
	}
	here, size := k.sizes(&at)
	for i, g := range c.GuardList {
		if mayRest(g) && near0(here[i], size[i]) && size[i] > 0 {
			add(Kink{
				Op: tape.Less, Span: g.Span, Rests: true, From: k.model.GuardInputs(i),
				margins: []int{i},
			})
		}
	}
	return found
}
