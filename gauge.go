package odes

import (
	"odes.dev/odes/internal/system"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// gauged lets the derivatives of the states by the variables take part in the
// error control of the run that record will hold, where sens.control says so.
func (r *run) gauged(variables []Variable, record *solvers.Trajectory) error {
	s := r.settings
	if !s.Control || s.Solver.Fixed > 0 {
		return nil
	}
	g := &sens.ErrorControl{Run: record, RTol: s.Solver.RTols, ATol: s.Solver.ATols}
	if g.RTol == nil {
		g.RTol = []float64{s.Solver.RTol}
	}
	if g.ATol == nil {
		g.ATol = []float64{s.Solver.ATol}
	}
	n := r.problem.Width()
	for _, v := range variables {
		if v.Initial && !g.Initial {
			g.Initial = true
			n += r.model.system.States()
		}
	}
	lanes := chooseLanes(n)
	k, err := r.problem.Kit(lanes, system.PushElements, false)
	if err != nil {
		return err
	}
	g.New = func() sens.TangentWorker {
		g.Size = r.problem.ActiveValues()
		w := r.problem.Worker(k)
		return sens.TangentWorker{System: w, Objectives: w, Method: r.method(lanes)}
	}
	r.gauge = g
	return nil
}
