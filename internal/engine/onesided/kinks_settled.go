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
		here, there := k.around.Run(c.Rates, &at), tape.NewEvaluator[float64](c.Rates)
		k.model.Load(c.Rates, there, &at)
		k.nudge(0, there, beside)
		there.Run()
		for _, v := range kt.ops {
			if kt.of[v].Still || kt.of[v].Held {
				continue // found where the run begins
			}
			far := tape.Bends(there, v, 0, nil)
			some := false
			for i, d := range tape.Bends(here, v, 0, nil) {
				some = some || far[i] != 0 && near0(d, math.Abs(far[i]))
			}
			if some {
				kink := kt.of[v]
				kink.From = compiled.InputsOfValue(c.Rates, v)
				add(kink)
			}
		}
	}
	if k.guards == nil {
		return found
	}
	here, size := k.sizes(&at)
	for i, g := range c.GuardList {
		if mayRest(g) && near0(here[i], size[i]) && size[i] > 0 {
			add(k.threshold(i))
		}
	}
	return found
}
