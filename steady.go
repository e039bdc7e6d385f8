package odes

import (
	"math"

	"odes.dev/odes/internal/explain"
	"odes.dev/odes/lang/diag"
)

// settles prepares the run for the steady states that the model asks for.
func (r *run) settles() error {
	m, s := r.model.system, &r.settings
	if !m.Settles() {
		return nil
	}
	if m.JacobianTooLarge() {
		var l diag.List
		l.Errorf(explain.CodeSteady, r.model.checked.Time.Span, "the derivatives of the rates by the states have too "+
			"many entries, and steady states need them")
		return l.Err()
	}
	r.problem.Jacobian = true
	o := &r.problem.Steady
	o.Way, o.Tol = s.Steady, s.SteadyTol
	o.RTol, o.ATol = s.Solver.RTol, s.Solver.ATols
	if s.Solver.RTols != nil {
		for _, x := range s.Solver.RTols {
			o.RTol = min(o.RTol, x)
		}
	}
	if o.ATol == nil {
		o.ATol = []float64{s.Solver.ATol}
	}
	o.Span = m.Span(r.problem.Point)
	return nil
}

// differentiable reports steady states without a derivative.
func (r *run) differentiable() error {
	for _, s := range r.problem.Resting() {
		if s.Fired {
			var l diag.List
			l.Errorf(explain.CodeSteady, r.model.checked.Time.Span, "the steady state depends on when events fired on the "+
				"way to it, since they changed what is conserved or a discrete; such a state has a value but no "+
				"derivative in this version: put the events into the run proper, and read the state with steady(…)")
			err := l.Err().(*diag.ListError)
			return &RunError{List: err, Cause: err, From: math.NaN(), T: math.NaN()}
		}
	}
	return nil
}
