package odes

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"odes.dev/odes/internal/elem"
	"odes.dev/odes/lang/diag"
)

// CodeAccuracy is about the accuracy of derivatives.
const CodeAccuracy diag.Code = "accuracy"

// tighter is the factor between the tolerances of a run and of the one that
// its errors are estimated by. The second is so much more accurate that the
// difference of the two is the error of the first but for some percent, also
// where errors follow tolerances poorly; with a method of order 5 it takes twice as many steps.
const tighter = 1.0 / 32

// leastTol is the relative tolerance below which rounding decides.
const leastTol = 1e-14

// refined returns opts for a run with tolerances multiplied by factor, or with steps of fixed length halved.
func (r *run) refined(opts Options, factor float64) Options {
	opts.Gradient, opts.Progress, opts.EventTimes = nil, nil, false
	opts.Settings = append([]Setting(nil), opts.Settings...)
	set := func(key string, x ...float64) {
		text := make([]string, len(x))
		for i, v := range x {
			text[i] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		value := strings.Join(text, ", ")
		if len(x) != 1 {
			value = "[" + value + "]"
		}
		opts.Settings = append(opts.Settings, Setting{Key: key, Value: value})
	}
	s := r.settings
	set("solver.sens_tol", 0)
	opts.Settings = append(opts.Settings, Setting{Key: "sens.error", Value: "off"})
	if s.solver.Fixed > 0 {
		set("solver.fixed_step", s.solver.Fixed/2)
		return opts
	}
	scaled := func(x float64) float64 { return float64(x * factor) }
	if s.solver.HMax > 0 { // it may be what governs the steps
		set("solver.hmax", float64(s.solver.HMax*elem.Pow(factor, 1/float64(r.method(0).Info().Order))))
	}
	set("solver.rtol", max(scaled(s.solver.RTol), leastTol))
	if s.solver.ATols == nil {
		set("solver.atol", scaled(s.solver.ATol))
	} else {
		atols := make([]float64, len(s.solver.ATols))
		for i, a := range s.solver.ATols {
			atols[i] = scaled(a)
		}
		set("solver.atol", atols...)
	}
	if s.solver.QuadTol > 0 {
		set("solver.quad_tol", max(scaled(s.solver.QuadTol), leastTol))
	}
	if s.backward.RTol > 0 {
		set("sens.rtol", max(scaled(s.backward.RTol), leastTol))
	}
	if s.backward.ATol > 0 {
		set("sens.atol", scaled(s.backward.ATol))
	}
	return opts
}

// share is how much of the error of a run its difference to the refined one is.
func (r *run) share() float64 {
	if r.settings.solver.Fixed > 0 {
		return 1 - 1/float64(int64(1)<<r.method(0).Info().Order)
	}
	return 1 - max(float64(r.settings.solver.RTol*tighter), leastTol)/max(r.settings.solver.RTol, 2*leastTol)
}

// compare writes to s the estimated errors of its derivatives and values,
// from those of a more accurate run of which share is the difference.
func (s *Sensitivities) compare(fine *Sensitivities, share float64) error {
	if len(fine.Gradient) != len(s.Gradient) || len(fine.Values) != len(s.Values) {
		return fmt.Errorf("the refined run gave %d derivatives instead of %d", len(fine.Gradient), len(s.Gradient))
	}
	// What rounding leaves of n steps, each as large as a number's last place, at random.
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
	s.Stats.Seconds.Forward += fine.Stats.Seconds.Forward
	s.Stats.Seconds.Adjoint += fine.Stats.Seconds.Adjoint
	return nil
}

// accuracy returns the largest estimated error of a derivative, relative to the
// largest derivative of the same objective by the same variable. Objectives without a value do not count.
func (s *Sensitivities) accuracy() float64 {
	worst := 0.0
	for i, v := range s.Values {
		if math.IsNaN(v.Value) {
			continue
		}
		for _, x := range s.Variables {
			at := i*s.Columns + x.Offset
			size, err := 0.0, 0.0
			for k := at; k < at+x.Size(); k++ {
				size = max(size, math.Abs(s.Gradient[k]))
				err = max(err, s.Errors[k])
			}
			if err > 0 && !(err/size <= worst) {
				worst = err / size
			}
		}
	}
	return worst
}

// estimated adds to a result the errors of its derivatives, and repeats the run
// with tighter tolerances until sens_tol is met, if one is set.
func (r *Runner) estimated(ctx context.Context, s *Sensitivities) (*Sensitivities, error) {
	m, at, opts := r.model, r.run, r.opts
	want := r.settings.sensTol
	first := s.Settings.RTol
	for round := 0; ; round++ {
		finer, err := m.Prepare(at.refined(opts, tighter))
		if err != nil {
			return nil, err
		}
		fine, err := finer.once(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.compare(fine, at.share()); err != nil {
			return nil, err
		}
		reached := s.accuracy()
		if want == 0 {
			return s, nil
		}
		if reached <= want {
			if round > 0 {
				s.note(m, diag.Note, "sens_tol = %s is met with rtol = %s in place of %s (estimated %s)", short(want), short(s.Settings.RTol), short(first), short(reached))
			}
			return s, nil
		}
		last := at.settings.solver.RTol <= 2*leastTol || at.settings.solver.Fixed > 0 && round > 20
		if last || round > 0 && math.IsNaN(reached) {
			s.note(m, diag.Warning, "sens_tol = %s is not met: derivatives are accurate to %s of the largest by the same variable, and rounding leaves no more to gain; it may be that some should be zero", short(want), short(reached))
			return s, nil
		}
		// Errors follow tolerances roughly: aim at half of what is wanted.
		factor := min(float64(0.5*want)/reached, 0.25)
		if !(factor > 1e-3) { // far off, they follow poorly
			factor = 1e-3
		}
		opts = at.refined(opts, factor)
		opts.EventTimes = r.opts.EventTimes
		next, err := m.Prepare(opts)
		if err != nil {
			return nil, err
		}
		warnings, gradient, stats := s.Warnings, r.gradient, s.Stats
		if s, err = next.once(ctx); err != nil {
			return nil, err
		}
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
