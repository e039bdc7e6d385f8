// Package verify checks gradients by other ways to compute them, and measures what they take.
package verify

import (
	"context"
	"fmt"
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/engine/run"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// Options say how thoroughly a gradient is checked. The zero value is ready to use.
type Options struct {
	Directions int    // random directions; 0 means 3
	Seed       uint64 // of their generator
	// Tolerance is the largest relative error that passes. 0 means 1e-8, and more where rounding, or a
	// mode that differentiates the equations first, makes larger errors.
	Tolerance float64
}

// CodeChecked is the code of what a gradient check in a sens block found.
const CodeChecked diag.Code = "gradient-check"

// mode returns the row of a mode in sens.Modes.
func mode(name string) sens.Mode {
	m, _ := sens.LookupMode(name)
	return m
}

// Sensitivities makes a run of m with derivatives. Where the sens block asks for it (check = fd(…)), it also verifies
// the gradient and adds what it found to the warnings.
func Sensitivities(ctx context.Context, m *run.Model, setup run.Setup) (*result.Sensitivities, error) {
	r, err := m.PrepareWhile(ctx, setup)
	if err != nil {
		return nil, err
	}
	s, err := r.Sensitivities(ctx)
	if err != nil {
		return nil, err
	}
	if check := setup.Settings.Check; check != nil {
		err = checkGradient(ctx, m, r.AsLast(setup), check, s) // the run that is checked is that of the result
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// sensitivities makes a run of m with derivatives alone.
func sensitivities(ctx context.Context, m *run.Model, setup run.Setup) (*result.Sensitivities, error) {
	r, err := m.PrepareWhile(ctx, setup)
	if err != nil {
		return nil, err
	}
	return r.Sensitivities(ctx)
}

// crossCheckColumns bounds the gradients that are computed by another mode as well, because the cost
// of tangents grows with the number of columns.
const crossCheckColumns = 2000

// Gradient checks the gradient that a run of setup gives against two others, which share neither
// its code nor its order of evaluation: complex steps along random directions over the recorded steps,
// and another sensitivity mode. It compares values, derivatives and events with those of an independent
// run. Second derivatives are checked too, where the settings ask for them. The methods are described in
// docs/methods-derivatives.md.
func Gradient(ctx context.Context, m *run.Model, setup run.Setup, how Options) (*result.Verification, error) {
	return verify(ctx, m, setup.With(func(s *settings.Settings) { s.Trust = true }), how)
}

// verify is Gradient, but for the independent run, unless the settings ask for it.
func verify(ctx context.Context, m *run.Model, setup run.Setup, how Options) (*result.Verification, error) {
	if how.Directions <= 0 {
		how.Directions = 3
	}
	strict := how.Tolerance > 0
	if !strict {
		how.Tolerance = 1e-8
	}
	r, err := m.PrepareWhile(ctx, setup)
	if err != nil {
		return nil, err
	}
	if err := run.Repeatable(r.Run, "verify"); err != nil {
		return nil, err
	}
	var l diag.List
	r.Require(solvers.ComplexSteps, "verify", &l)
	if err := l.Err(); err != nil {
		return nil, err
	}
	s, err := r.Sensitivities(ctx)
	if err != nil {
		return nil, err
	}
	setup = setup.InPhase("check")
	setup.Settings, setup.Parts = r.Last().Settings, r.Last().Parts // with the tolerances that sens_tol took
	setup = setup.With((*settings.Settings).GradientOnly)
	out := &result.Verification{Settings: s.Settings, Directions: how.Directions, Warnings: s.Warnings}
	for _, x := range s.OneSided.Sides {
		out.OneSided = append(out.OneSided, result.VerdictSides{
			Objective: x.Value, By: trust.ColumnName(s, x.Column), Left: x.Left, Right: x.Right,
		})
	}
	for _, x := range s.OneSided.Leaps {
		out.OneSided = append(out.OneSided, result.VerdictSides{
			Objective: x.Value, By: trust.ColumnName(s, x.Column), Left: x.Left, Right: x.Right, Leap: true,
		})
	}
	trusts := make([]result.Trust, len(s.Values))
	for i, v := range s.Values {
		trusts[i] = s.Worst(i)
		out.Objectives = append(out.Objectives, result.Verdict{
			Name: v.Name, Value: v.Value, Independent: independentError(s, i, r.Opinion()),
		})
	}
	if o := r.Opinion(); o != nil {
		out.Strange = o.Strange
	}
	if err := verifyAlong(ctx, m, setup, how, s, out); err != nil {
		return nil, err
	}
	var other []float64
	if s.Columns <= crossCheckColumns {
		if other, err = crossCheck(ctx, m, setup, s, out); err != nil {
			return nil, err
		}
	}
	for i := range out.Objectives {
		tolerance := how.Tolerance
		if !strict && !mode(s.Settings.Mode).Exact {
			tolerance = max(tolerance, min(digits, max(float64(1e4*s.Settings.RTol),
				float64(10*max(s.Settings.ATol, 0))/math.Abs(out.Objectives[i].Value))))
		}
		judge(&out.Objectives[i], tolerance, strict)
	}
	if !strict && !mode(s.Settings.Mode).Exact && other != nil && out.Wrong() {
		if err := verifyRefined(ctx, m, setup, s, other, out); err != nil {
			return nil, err
		}
	}
	for i := range out.Objectives {
		if o := &out.Objectives[i]; o.Outcome == "ok" && trusts[i] != result.Sound {
			o.Outcome = "discrete only"
		}
	}
	return out, nil
}

// independentError returns the largest error of value i of s, or of one of its derivatives, by what an
// independent run says.
func independentError(s *result.Sensitivities, i int, o *trust.Opinion) float64 {
	if s.Errors == nil {
		return math.NaN()
	}
	worst, _ := trust.AccuracyOf(s, i, o.Sizes)
	if v := s.Values[i]; v.Error > 0 {
		worst = math.Max(worst, v.Error/math.Abs(v.Value))
	}
	return worst
}

// verifyRefined finds out whether discretization explains the error of a mode that differentiates the
// equations first. Both gradients, of s and other, are computed with tighter tolerances as well. What
// that changes is compared with their difference.
func verifyRefined(ctx context.Context, m *run.Model, setup run.Setup, s *result.Sensitivities, other []float64,
	out *result.Verification,
) error {
	r, err := m.Begin(setup)
	if err != nil {
		return err
	}
	fine := r.Refined(setup, 1.0/32)
	// Tolerances of the states alone may leave the steps over an integral as they are.
	if longest := (s.To - s.From) / float64(8*(s.Stats.Steps+1)); r.Settings().Solver.Fixed == 0 &&
		(r.Settings().Solver.HMax == 0 || longest < r.Settings().Solver.HMax) {
		fine = fine.With(func(s *settings.Settings) { s.Solver.HMax = settings.Rounded(longest, 3) })
	}
	finer, err := sensitivities(ctx, m, fine)
	if err != nil {
		return err
	}
	closer := &result.Verification{Objectives: make([]result.Verdict, len(out.Objectives))}
	for i, o := range out.Objectives {
		closer.Objectives[i].Value = o.Value
	}
	otherFiner, err := crossCheck(ctx, m, fine, finer, closer)
	if err != nil {
		return err
	}
	for i := range out.Objectives {
		o := &out.Objectives[i]
		if o.Outcome != "wrong" {
			continue
		}
		o.Refined = closer.Objectives[i].CrossCheck
		gap, moved := 0.0, 0.0
		for k := i * s.Columns; k < (i+1)*s.Columns; k++ {
			gap = worse(gap, math.Abs(s.Gradient[k]-other[k]), 1)
			moved = max(moved, math.Abs(s.Gradient[k]-finer.Gradient[k])+math.Abs(other[k]-otherFiner[k]))
		}
		if gap <= float64(explained*moved) {
			if o.Outcome = "inaccurate"; agrees(o, digits) {
				o.Outcome = "ok"
			}
		}
	}
	return nil
}

// explained is how many times a difference between two methods may exceed what tighter tolerances
// change. Tolerances 32 times tighter take away four fifths of the error of a method of order 1, but
// where a kink lies within a step, the error also depends on chance.
const explained = 10

// What rounding may do: a comparison that is off by at most noisy times the noise passes if its
// error is at most digits, and otherwise decides nothing.
const (
	noisy  = 1e3
	digits = 1e-3
)

// judge fills in the outcome. With strict, rounding excuses nothing.
func judge(v *result.Verdict, tolerance float64, strict bool) {
	slack := float64(noisy * v.Noise)
	if math.IsNaN(slack) { // rounding leads to where there is no value
		slack = math.Inf(1)
	}
	if slack > digits {
		v.Order = math.NaN()
	}
	if strict {
		slack = 0
	}
	switch {
	case math.IsNaN(v.Value):
		v.Outcome, v.Complex, v.CrossCheck, v.Remainders, v.Order = "no value", 0, 0, nil, math.NaN()
		v.Curvature, v.CurvatureNoise = 0, 0
	case !math.IsInf(v.Value, 0) && agrees(v, max(tolerance, min(slack, digits))):
		v.Outcome = "ok"
	case agrees(v, slack), math.IsInf(v.Value, 0), math.IsNaN(v.Complex), math.IsNaN(v.CrossCheck):
		v.Outcome = "undecided" // numbers that are not finite cannot be compared
	default:
		v.Outcome = "wrong"
	}
	if v.Outcome == "ok" {
		judgeCurvature(v, tolerance)
	}
}

// agrees reports whether the errors of both comparisons are at most x. NaN is not.
func agrees(v *result.Verdict, x float64) bool { return v.Complex <= x && v.CrossCheck <= x }

// verifyAlong compares inner products of the gradient with complex steps.
func verifyAlong(ctx context.Context, m *run.Model, setup run.Setup, how Options, s *result.Sensitivities,
	out *result.Verification,
) error {
	a, err := m.Along(ctx, setup, s.Variables)
	if err != nil {
		return err
	}
	sizes, err := m.Scales(setup)
	if err != nil {
		return err
	}
	if err := verifyCurvature(ctx, a, how, s, sizes, out); err != nil {
		return err
	}
	if s.Columns > crossCheckColumns {
		out.CrossCheck, out.Large = sens.ModeTangent, true
	}
	random := elem.NewRand(how.Seed)
	for n := range how.Directions {
		// Relative changes of size one, so that parameters of all scales count.
		v := make([]float64, s.Columns)
		for k, scale := range sizes {
			v[k] = float64(random.Norm() * scale)
		}
		psi, err := a.By(ctx, s.Variables, v, 0)
		if err != nil {
			return err
		}
		near, err := a.By(ctx, s.Variables, v, rounded)
		if err != nil {
			return err
		}
		var pushed []float64
		if out.Large {
			if pushed, err = a.Pushed(ctx, s.Variables, v); err != nil {
				return err
			}
		}
		if n == 0 {
			out.Steps = taylorSteps
			replays, err := a.Replays(ctx, s.Variables, v, append([]float64{0, least}, out.Steps...))
			if err != nil {
				return err
			}
			for i := range out.Objectives {
				slope := 0.0
				for k, d := range s.Gradient[i*s.Columns : (i+1)*s.Columns] {
					slope += float64(d * v[k])
				}
				exact := slope
				if !mode(s.Settings.Mode).Exact {
					exact = psi[i]
				}
				taylor(&out.Objectives[i], replays, i, slope, exact, out.Steps)
			}
		}
		for i := range out.Objectives {
			sum, size := 0.0, 0.0
			for k, d := range s.Gradient[i*s.Columns : (i+1)*s.Columns] {
				sum += float64(d * v[k])
				size += math.Abs(float64(d * v[k]))
			}
			size = max(size, negligible(&out.Objectives[i]))
			out.Objectives[i].Noise = worse(out.Objectives[i].Noise, math.Abs(near[i]-psi[i]), size)
			out.Objectives[i].Complex = worse(out.Objectives[i].Complex, math.Abs(psi[i]-sum), size)
			if out.Large {
				out.Objectives[i].CrossCheck = worse(out.Objectives[i].CrossCheck, math.Abs(pushed[i]-sum), size)
			}
		}
	}
	return nil
}

// taylorSteps are the lengths of the moves of which remainders are listed.
var taylorSteps = []float64{1e-2, 1e-3, 1e-4, 1e-5, 1e-6}

// Moves that measure rounding. At a move of length least, rounding is all of the remainder. A move
// of length rounded is as large as rounding might make.
const (
	least   = 1e-10
	rounded = 0x1p-50
)

// taylor fills in Noise, Remainders and Order of objective i from repetitions of a run: the first one
// was not moved, the second by least, the others by steps along a direction. slope is the derivative
// along it. exact is the same for exact derivatives; for modes that differentiate the equations first
// it is the derivative of the repeated run, to which slope is only close.
func taylor(v *result.Verdict, replays [][]float64, i int, slope, exact float64, steps []float64) {
	base := replays[0][i]
	v.Noise = math.Abs(base-v.Value) / max(math.Abs(v.Value), 1e-300)
	v.Remainders, v.Order = make([]float64, len(steps)), math.NaN()
	for k, eps := range steps {
		v.Remainders[k] = math.Abs(replays[k+2][i] - base - float64(eps*slope))
	}
	// Rounding hides what is below. Where small changes grow, so does rounding.
	hidden := max(1e-13*math.Abs(base), 10*math.Abs(base-v.Value), 10*math.Abs(replays[1][i]-base-float64(least*slope)))
	for k := 1; k < len(steps); k++ {
		if v.Remainders[k] < v.Remainders[k-1] && v.Remainders[k] > max(hidden,
			math.Abs(float64(steps[k]*float64(1e-9*slope))), math.Abs(float64(10*steps[k]*(slope-exact)))) {
			v.Order = elem.Log(v.Remainders[k-1]/v.Remainders[k]) / elem.Log(steps[k-1]/steps[k])
		}
	}
}

// negligible is the size of derivatives that count as zero: what relative changes of order one of the
// variables make of the objective. Rounding leaves something of derivatives that should be zero, and
// their digits need not agree.
func negligible(v *result.Verdict) float64 { return float64(1e-6 * math.Abs(v.Value)) }

// worse returns the larger of the relative errors err and off/size. NaN is the largest.
func worse(err, off, size float64) float64 {
	const least = 1e-12 // where there is nothing to be relative to
	rel := off / max(size, least)
	if rel > err || math.IsNaN(rel) {
		return rel
	}
	return err
}

// crossCheck computes the gradient by the mode that checks that of s, and returns it.
func crossCheck(
	ctx context.Context, m *run.Model, setup run.Setup, s *result.Sensitivities, out *result.Verification,
) ([]float64, error) {
	out.CrossCheck = mode(s.Settings.Mode).CrossCheck
	sizes, err := m.Scales(setup)
	if err != nil {
		return nil, err
	}
	first := append([]float64(nil), s.Gradient...) // it may be overwritten
	by := out.CrossCheck
	setup = setup.With(func(s *settings.Settings) { s.Mode = by })
	setup.Gradient = nil
	check, err := sensitivities(ctx, m, setup)
	if err != nil {
		return nil, err
	}
	for i := range out.Objectives {
		row, other := first[i*s.Columns:(i+1)*s.Columns], check.Gradient[i*s.Columns:(i+1)*s.Columns]
		size := 0.0
		for k, a := range row {
			size = max(size, math.Abs(a), math.Abs(other[k]))
		}
		worst := 0.0
		for k, scale := range sizes {
			worst = worse(worst, math.Abs(row[k]-other[k]), max(size, negligible(&out.Objectives[i])/scale))
		}
		out.Objectives[i].CrossCheck = worst
	}
	return check.Gradient, nil
}

// checkGradient verifies the gradient in s as the sens block asks for it. It adds the result to the
// warnings of s: a note that the gradient is right, or warnings.
func checkGradient(ctx context.Context, m *run.Model, setup run.Setup, how *settings.GradientCheck,
	s *result.Sensitivities,
) error {
	setup.Gradient, setup.EventTimes = nil, false
	setup = setup.InPhase("check") // s was compared with an independent run
	setup = setup.With(func(s *settings.Settings) { s.Trust = false })
	v, err := verify(ctx, m, setup, Options{Directions: how.Directions, Tolerance: how.Tolerance})
	if err != nil {
		return err
	}
	var found diag.List
	worst, curvature, right := 0.0, 0.0, 0
	for _, o := range v.Objectives {
		off := math.Max(o.Complex, o.CrossCheck)
		switch {
		case o.Outcome == "wrong" && o.Curvature > off:
			found.Warnf(CodeChecked, how.Span, "the second derivatives of %s are not confirmed: they are off by "+
				"%.2g; see odes verify", o.Name, o.Curvature)
		case o.Outcome == "wrong":
			found.Warnf(CodeChecked, how.Span, "the gradient of %s is not confirmed: it is off by %.2g; see "+
				"odes verify", o.Name, off)
		case o.Outcome == "ok":
			right++
			worst, curvature = math.Max(worst, off), math.Max(curvature, o.Curvature)
		}
	}
	if right > 0 {
		other := ""
		if !v.Large {
			other = fmt.Sprintf(", and with mode = %s", v.CrossCheck)
		}
		twice := ""
		if v.Curvature {
			twice = fmt.Sprintf("; second derivatives with differences of these, to %.1g", curvature)
		}
		found.Notef(CodeChecked, how.Span, "checked: %s with complex steps along %s%s, to %.1g%s", agree(right),
			diag.Count(v.Directions, "random direction"), other, worst, twice)
	}
	s.Warnings = append(s.Warnings[:len(s.Warnings):len(s.Warnings)], found.All()...)
	return nil
}

func agree(n int) string {
	if n == 1 {
		return "the gradient of 1 objective agrees"
	}
	return fmt.Sprintf("the gradients of %d objectives agree", n)
}
