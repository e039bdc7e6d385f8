package run

import (
	"context"
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/lag"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/result"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/steady"
)

// settles prepares the run for the steady states that the model asks for.
func (r *Run) settles() error {
	if !r.model.System.Settles() {
		return nil
	}
	return r.seeksSteady()
}

// seeksSteady prepares the problem for searches for steady states.
func (r *Run) seeksSteady() error {
	m, s := r.model.System, &r.settings
	if m.JacobianTooLarge() {
		var l diag.List
		l.Errorf(explain.CodeSteady, r.model.Checked.Time.Span, "the derivatives of the rates by the states have too "+
			"many entries, and steady states need them")
		return l.Err()
	}
	r.problem.Jacobian = true
	if r.reading.past != nil {
		r.problem.Past = lag.Rests(r.reading.past, m.StateName, goesOn(r))
	}
	o := &r.problem.Steady
	o.Way, o.Tol = s.Steady, s.SteadyTol
	o.RTol, o.ATol = s.Solver.RTol, s.Absolute(nil)
	if s.Solver.RTols != nil {
		for _, x := range s.Solver.RTols {
			o.RTol = min(o.RTol, x)
		}
	}
	o.Span = m.Span(r.problem.Point)
	if r.problem.SteadyFlow = 0; s.SteadyFlow {
		if m.Algebraic() {
			var l diag.List
			l.Errorf(settings.CodeSetting, r.model.Checked.Time.Span,
				"sens.steady = run integrates derivatives of states by "+
					"their rates, and algebraic unknowns have none; leave it out")
			return l.Err()
		}
		r.problem.SteadyFlow = o.RTol
	}
	r.problem.Shooting = system.Shooting{Method: r.method, Options: s.Solver}
	if s.Solver.Fixed == 0 {
		r.problem.Shooting.Control = func(i solvers.Info) hybrid.Controller { return s.Rule().Controller(i) }
	}
	return nil
}

// differentiable reports steady states without a derivative.
func (r *Run) differentiable() error {
	if err := r.problem.Repeats(); err != nil {
		return r.failed(err, nil)
	}
	for _, s := range r.problem.Resting() {
		depends, err := r.problem.DependsOnWay(s)
		if err != nil {
			return err
		}
		if depends {
			var l diag.List
			l.Errorf(explain.CodeSteady, r.model.Checked.Time.Span, "the steady state depends on when events fired on "+
				"the way to it, since they changed what is conserved or a discrete; such a state has a value but no "+
				"derivative in this version: put the events into the run proper, and read the state with steady(…)")
			err := l.Err().(*diag.ListError)
			return &result.RunError{List: err, Cause: err, From: math.NaN(), T: math.NaN()}
		}
	}
	return nil
}

// fell drops warnings of events that never fire in the run, and did on the way to a steady state.
func fell(r *Run, list []solvers.Warning) []solvers.Warning {
	states := r.problem.Resting()
	if len(states) == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(w solvers.Warning) bool {
		return (w.Kind == solvers.Standing || w.Kind == solvers.Ended) &&
			slices.ContainsFunc(states, func(s *steady.State) bool {
				return slices.ContainsFunc(s.Jumps, func(j steady.Jump) bool {
					return r.model.Checked.Events[j.Firing.Event].Name == w.Name
				})
			})
	})
}

// Conserved lists the conserved quantities of the model with their values at the start: "E + ES = 1".
func (m *Model) Conserved(ctx context.Context) (list []string) {
	laws, err := m.System.Conserved(ctx)
	if laws = steady.Readable(laws); err != nil || len(laws) == 0 {
		return nil
	}
	var l diag.List
	y := m.System.Initial(m.System.NewPoint(nil, &l))
	for _, law := range laws {
		var b strings.Builder
		for k, i := range law.States {
			c := law.Coefs[k]
			switch {
			case k > 0 && c < 0:
				b.WriteString(" - ")
			case k > 0:
				b.WriteString(" + ")
			case c < 0:
				b.WriteString("-")
			}
			if c = math.Abs(c); c != 1 {
				b.WriteString(diag.Number(c) + " ")
			}
			b.WriteString(m.System.StateName(i))
		}
		if y != nil && l.Err() == nil {
			b.WriteString(" = " + diag.Number(law.Total(y)))
			if u := m.System.StateUnit(law.States[0]); u.Known() && !u.Plain() {
				b.WriteString(" " + unitText(u))
			}
		}
		list = append(list, b.String())
	}
	return list
}

func unitText(u units.Unit) string { return "[" + u.String() + "]" }
