package odes

import (
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// gauged lets the derivatives of the states by the variables take part in the
// error control of the run that record will hold, where sens.control says so.
func (r *run) gauged(active []string, variables []Variable, record *solvers.Trajectory) error {
	s := r.settings
	if !s.control || s.solver.Fixed > 0 {
		return nil
	}
	g := &sens.Gauge{Run: record, RTol: s.solver.RTols, ATol: s.solver.ATols}
	if g.RTol == nil {
		g.RTol = []float64{s.solver.RTol}
	}
	if g.ATol == nil {
		g.ATol = []float64{s.solver.ATol}
	}
	n := r.plan.width
	for _, v := range variables {
		if v.Initial && !g.Initial {
			g.Initial = true
			n += r.model.layout.nY
		}
	}
	lanes := chooseLanes(n)
	k, err := r.model.programs.kit(lanes, active, pushingElements, false)
	if err != nil {
		return err
	}
	g.New = func() sens.TangentWorker {
		g.Size = r.plan.values(r.model.layout, r.point.p)
		w := r.worker(k)
		return sens.TangentWorker{System: w, Objectives: w, Method: r.method(lanes)}
	}
	r.gauge = g
	return nil
}
