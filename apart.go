package odes

import (
	"math"
	"strings"

	"odes.dev/odes/tape"
)

// Apart implements solvers.Separator: it reads the times again at other values of the active parameters. Times that
// depend on discretes only move apart through these, of which it does not know; they count as fixed.
func (w *worker) Apart(d []float64, i, nthI, j, nthJ int) bool {
	m := w.model
	if m.compiled.Instants == nil || len(w.columns) == 0 {
		return false
	}
	p := append([]float64(nil), w.point.p...)
	n := 0
	for _, s := range m.checked.Params {
		if _, active := w.columns["p."+s.Name]; !active || m.defaulted(s) && !w.point.cutP[s] {
			continue
		}
		at := m.part("p." + s.Name)
		for k := range at.len {
			// By a thousandth or less, in proportions that no sum of a few of them hides.
			n++
			part := float64(float64(n) * 0.6180339887498949)
			part -= math.Floor(part)
			p[at.offset+k] += float64(1e-3*(0.5+0.5*part)) * max(math.Abs(p[at.offset+k]), 1e-3)
		}
	}
	for _, def := range m.compiled.Defaults { // after what they use
		if len(def.Tape.Inputs) > 0 && !w.point.cutP[def.Param] {
			at := m.part("p." + def.Param.Name)
			made := make([]float64, at.len)
			fill(made, m.evalDefault(def, p))
			for k, x := range made {
				if w.point.follows(def.Param, k) {
					p[at.offset+k] = x
				}
			}
		}
	}
	e := tape.NewEvaluator[float64](m.compiled.Instants)
	for _, in := range m.compiled.Instants.Inputs {
		at, from := m.part(in.Name), p
		if strings.HasPrefix(in.Name, "d.") {
			from = d
		}
		copy(e.Input(in.Name), from[at.offset:at.offset+at.len])
	}
	e.Run()
	times := e.Output("T")
	list := w.Instants()
	at := func(i, nth int) float64 {
		if k := list[i].Period; k >= 0 && nth > 0 {
			return math.FMA(float64(nth), times[k], times[i])
		}
		return times[i]
	}
	a, b := at(i, nthI), at(j, nthJ)
	return math.Abs(a-b) > float64(1e-9*max(math.Abs(a), math.Abs(b), math.Abs(times[1]-times[0])))
}
