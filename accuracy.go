package odes

import (
	"context"
	"fmt"
	"math"

	"odes.dev/odes/internal/settings"
	"odes.dev/odes/lang/diag"
)

// tighter is the factor between the tolerances of a run and those of the more accurate run that
// estimates its errors. With this factor the difference of the two is the error of the first run to
// within some percent, even where errors follow tolerances poorly. With a method of order 5 the more
// accurate run takes twice as many steps.
const tighter = 1.0 / 32

// refined returns opts for a run with tolerances multiplied by factor, or with fixed steps halved.
func (r *run) refined(opts Options, factor float64) Options {
	opts.Gradient, opts.Progress = nil, nil
	order := r.method(0).Info().Order
	return opts.changed(func(s *settings.Settings) { s.Refine(factor, order) })
}

// share is the part of a run's error that its difference to the refined run shows.
func (r *run) share() float64 {
	if r.settings.Solver.Fixed > 0 {
		return 1 - 1/float64(int64(1)<<r.method(0).Info().Order)
	}
	return 1 - max(float64(r.settings.Solver.RTol*tighter), settings.LeastTol)/
		max(r.settings.Solver.RTol, 2*settings.LeastTol)
}

// compare writes the estimated errors of derivatives and values to s. fine is the result of a more
// accurate run; its difference to s is share of the error.
func (s *Sensitivities) compare(fine *Sensitivities, share float64) error {
	if len(fine.Gradient) != len(s.Gradient) || len(fine.Values) != len(s.Values) {
		return fmt.Errorf("the refined run gave %d derivatives instead of %d", len(fine.Gradient), len(s.Gradient))
	}
	// The steps round at random, each by about a number's last place.
	rounding := float64(0x1p-52 * math.Sqrt(float64(s.Stats.Steps+1)))
	estimate := func(x, y float64) float64 {
		return math.Abs(x-y)/share + float64(rounding*math.Abs(x))
	}
	s.Errors = make([]float64, len(s.Gradient))
	for i, x := range s.Gradient {
		s.Errors[i] = estimate(x, fine.Gradient[i])
	}
	for i := range s.Values {
		s.Values[i].Error = estimate(s.Values[i].Value, fine.Values[i].Value)
	}
	s.compareEvents(fine, estimate)
	s.Stats.Seconds.Forward += fine.Stats.Seconds.Forward
	s.Stats.Seconds.Adjoint += fine.Stats.Seconds.Adjoint
	return nil
}

// compareEvents writes the estimated errors of events' times, and of the derivatives of these, to the
// events of s. An event of the more accurate run is the same one if it has the same name and index,
// and if as many like it came before.
func (s *Sensitivities) compareEvents(fine *Sensitivities, estimate func(x, y float64) float64) {
	type occurrence struct {
		name string
		nth  int
	}
	// each calls f with the events and what distinguishes them.
	each := func(list []EventRecord, f func(occurrence, *EventRecord)) {
		count := map[string]int{}
		for i := range list {
			name := fmt.Sprint(list[i].Kind, list[i].Name, list[i].Index)
			f(occurrence{name, count[name]}, &list[i])
			count[name]++
		}
	}
	twins := map[occurrence]*EventRecord{}
	each(fine.Events, func(o occurrence, e *EventRecord) { twins[o] = e })
	errors := make([]float64, len(s.Events)*s.Columns)
	each(s.Events, func(o occurrence, e *EventRecord) {
		twin := twins[o]
		if e.Params == nil || twin == nil || len(twin.Params) != len(e.Params) {
			return
		}
		e.Error = estimate(e.T, twin.T)
		e.Errors, errors = errors[:len(e.Params)], errors[len(e.Params):]
		for k, x := range e.Params {
			e.Errors[k] = estimate(x, twin.Params[k])
		}
	})
}

// influential is the part of an objective's largest relative derivative (derivative times the size of
// its variable) below which derivatives need not be accurate to sens_tol of themselves, but only of
// that part. Otherwise derivatives that should be zero would never be accurate.
const influential = 1e-6

// accuracy returns the largest estimated error of a derivative and says which derivative it is. Errors
// are relative to the largest derivative of the same objective by the same variable, or to the
// influential part of that objective's derivatives. sizes are those of the variables. Objectives
// without a value do not count, nor do derivatives that rounding of the value could make of zeros.
func (s *Sensitivities) accuracy(sizes []float64) (worst float64, where string) {
	rounding := float64(0x1p-48 * math.Sqrt(float64(s.Stats.Steps+1)))
	for i, v := range s.Values {
		if math.IsNaN(v.Value) {
			continue
		}
		// The largest derivatives and errors by each variable.
		size, err := make([]float64, len(s.Variables)), make([]float64, len(s.Variables))
		most := 0.0
		for n, x := range s.Variables {
			for k := i*s.Columns + x.Offset; k < i*s.Columns+x.Offset+x.Size(); k++ {
				size[n] = max(size[n], math.Abs(s.Gradient[k]))
				err[n] = max(err[n], s.Errors[k])
			}
			most = max(most, float64(size[n]*sizes[n]))
		}
		for n, x := range s.Variables {
			if least := float64(rounding * max(most, math.Abs(v.Value))); float64(size[n]*sizes[n]) <= least &&
				float64(err[n]*sizes[n]) <= least {
				continue
			}
			if rel := err[n] / max(size[n], influential*most/sizes[n]); !(rel <= worst) {
				worst, where = rel, v.Name+" by "+x.String()
			}
		}
	}
	return worst, where
}

// sizes returns how large the variables are, by which they might change: the largest absolute value of
// their elements, and 1 for zero.
func (r *Runner) sizes() []float64 {
	out := make([]float64, len(r.variables))
	start := r.trajectory.Initial()
	for i, v := range r.variables {
		var from []float64
		switch {
		case !v.Initial:
			from = r.problem.Point.Param(v.Name)
		default:
			from = start[r.model.system.State(v.Name).Offset:][:v.Size()]
		}
		for _, x := range from {
			out[i] = max(out[i], math.Abs(x))
		}
		if !(out[i] > 1e-300) || math.IsInf(out[i], 0) {
			out[i] = 1
		}
	}
	return out
}

// estimated adds the estimated errors of derivatives to a result. If sens_tol is set, it repeats the
// run with tighter tolerances until that is met.
func (r *Runner) estimated(ctx context.Context, s *Sensitivities) (*Sensitivities, error) {
	m, at, opts := r.model, r.run, r.opts
	want := r.settings.SensTol
	first := s.Settings.RTol
	sizes := r.sizes()
	for round := 0; ; round++ {
		finer, err := m.Prepare(at.refined(opts, tighter))
		if err != nil {
			return nil, err
		}
		fine, err := finer.once(ctx)
		finer.release()
		if err != nil {
			return nil, err
		}
		if err := s.compare(fine, at.share()); err != nil {
			return nil, err
		}
		if want == 0 {
			return s, nil
		}
		reached, where := s.accuracy(sizes)
		if reached <= want {
			if round > 0 {
				s.note(m, diag.Note, "sens_tol = %s is met with rtol = %s in place of %s (estimated %s)",
					diag.Number(want), diag.Number(s.Settings.RTol), diag.Number(first), diag.Number(reached))
			}
			return s, nil
		}
		last := at.settings.Solver.RTol <= 2*settings.LeastTol || at.settings.Solver.Fixed > 0 && round > 20
		if last || round > 0 && math.IsNaN(reached) {
			s.note(m, diag.Warning, "sens_tol = %s is not met: the derivative of %s is accurate to %s, and rounding "+
				"leaves no more to gain", diag.Number(want), where, diag.Number(reached))
			return s, nil
		}
		// Errors follow tolerances roughly: aim at half of what is wanted.
		factor := min(float64(0.5*want)/reached, 0.25)
		if !(factor > 1e-3) { // far off, they follow poorly
			factor = 1e-3
		}
		opts = at.refined(opts, factor)
		next, err := m.Prepare(opts)
		if err != nil {
			return nil, err
		}
		warnings, gradient, stats := s.Warnings, r.gradient, s.Stats
		next.last = next
		if s, err = next.once(ctx); err != nil {
			next.release()
			return nil, err
		}
		r.last = next
		s.Warnings = warnings
		s.Gradient = gradient[:copy(gradient, s.Gradient)]
		s.Stats.Seconds.Forward += stats.Seconds.Forward
		s.Stats.Seconds.Adjoint += stats.Seconds.Adjoint
		at = next.run
	}
}

// note adds a diagnostic to a result.
func (s *Sensitivities) note(m *Model, level diag.Level, format string, args ...any) {
	var l diag.List
	if level == diag.Warning {
		l.Warnf(CodeAccuracy, m.checked.Time.Span, format, args...)
	} else {
		l.Notef(CodeAccuracy, m.checked.Time.Span, format, args...)
	}
	s.Warnings = append(s.Warnings, l.All()...)
}
