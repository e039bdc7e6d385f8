package odes

import (
	"context"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// VerifyOptions say how thoroughly a gradient is checked. The zero value is ready to use.
type VerifyOptions struct {
	Directions int    // random directions; 0 means 3
	Seed       uint64 // of their generator
	// Tolerance is the largest relative error that passes. 0 means 1e-8, and more where rounding, or a
	// mode that differentiates the equations first, makes larger errors.
	Tolerance float64
}

// crossCheckColumns bounds the gradients that are computed by another mode as well, because the cost
// of tangents grows with the number of columns.
const crossCheckColumns = 2000

// Verify checks the gradient that Sensitivities gives for opts against two others, which share neither
// its code nor its order of evaluation: complex steps along random directions over the recorded steps,
// and another sensitivity mode. It compares values, derivatives and events with those of an independent
// run. Second derivatives are checked too, where the settings ask for them. The methods are described in
// docs/methods.md.
func (m *Model) Verify(ctx context.Context, opts Options, how VerifyOptions) (*Verification, error) {
	return m.verify(ctx, opts.changed(func(s *settings.Settings) { s.Trust = true }), how)
}

// verify is Verify, but for the independent run, unless the settings ask for it.
func (m *Model) verify(ctx context.Context, opts Options, how VerifyOptions) (*Verification, error) {
	if how.Directions <= 0 {
		how.Directions = 3
	}
	strict := how.Tolerance > 0
	if !strict {
		how.Tolerance = 1e-8
	}
	r, err := m.Prepare(opts)
	if err != nil {
		return nil, err
	}
	var l diag.List
	r.require(solvers.ComplexSteps, "verify", &l)
	if err := l.Err(); err != nil {
		return nil, err
	}
	s, err := r.Sensitivities(ctx)
	if err != nil {
		return nil, err
	}
	opts = opts.inPhase("check")
	opts.change = r.last.opts.change // with the tolerances that sens_tol took
	opts = opts.changed((*settings.Settings).GradientOnly)
	out := &Verification{Settings: s.Settings, Directions: how.Directions, Warnings: s.Warnings}
	trusts := make([]Trust, len(s.Values))
	for i, v := range s.Values {
		trusts[i] = s.Worst(i)
		out.Objectives = append(out.Objectives, Verdict{
			Name: v.Name, Value: v.Value, Independent: r.independentError(s, i),
		})
	}
	if r.opinion != nil {
		out.Strange = r.opinion.Strange
	}
	if err := m.verifyAlong(ctx, opts, how, s, out); err != nil {
		return nil, err
	}
	var other []float64
	if s.Columns <= crossCheckColumns {
		if other, err = m.crossCheck(ctx, opts, s, out); err != nil {
			return nil, err
		}
	}
	for i := range out.Objectives {
		tolerance := how.Tolerance
		if !strict && !modeOf(s.Settings.Mode).Exact {
			tolerance = max(tolerance, min(digits, max(float64(1e4*s.Settings.RTol),
				float64(10*max(s.Settings.ATol, 0))/math.Abs(out.Objectives[i].Value))))
		}
		judge(&out.Objectives[i], tolerance, strict)
	}
	if !strict && !modeOf(s.Settings.Mode).Exact && other != nil && out.Wrong() {
		if err := m.verifyRefined(ctx, opts, s, other, out); err != nil {
			return nil, err
		}
	}
	for i := range out.Objectives {
		if o := &out.Objectives[i]; o.Outcome == "ok" && trusts[i] != Sound {
			o.Outcome = "discrete only"
		}
	}
	return out, nil
}

// independentError returns the largest error of value i of s, or of one of its derivatives, by an independent run.
func (r *Runner) independentError(s *Sensitivities, i int) float64 {
	if s.Errors == nil {
		return math.NaN()
	}
	worst, _ := trust.AccuracyOf(s, i, r.opinion.Sizes)
	if v := s.Values[i]; v.Error > 0 {
		worst = math.Max(worst, v.Error/math.Abs(v.Value))
	}
	return worst
}

// verifyRefined finds out whether discretization explains the error of a mode that differentiates the
// equations first. Both gradients, of s and other, are computed with tighter tolerances as well. What
// that changes is compared with their difference.
func (m *Model) verifyRefined(ctx context.Context, opts Options, s *Sensitivities, other []float64,
	out *Verification,
) error {
	r, err := m.begin(opts)
	if err != nil {
		return err
	}
	fine := r.refined(opts, 1.0/32)
	// Tolerances of the states alone may leave the steps over an integral as they are.
	if longest := (s.To - s.From) / float64(8*(s.Stats.Steps+1)); r.settings.Solver.Fixed == 0 &&
		(r.settings.Solver.HMax == 0 || longest < r.settings.Solver.HMax) {
		fine = fine.changed(func(s *settings.Settings) { s.Solver.HMax = settings.Rounded(longest, 3) })
	}
	finer, err := m.sensitivities(ctx, fine)
	if err != nil {
		return err
	}
	closer := &Verification{Objectives: make([]Verdict, len(out.Objectives))}
	for i, o := range out.Objectives {
		closer.Objectives[i].Value = o.Value
	}
	otherFiner, err := m.crossCheck(ctx, fine, finer, closer)
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
func judge(v *Verdict, tolerance float64, strict bool) {
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
func agrees(v *Verdict, x float64) bool { return v.Complex <= x && v.CrossCheck <= x }

// along is a recorded run that complex steps and tangents repeat along directions. Its parts are the
// runs of a model's experiments.
type along struct {
	run     *run
	worker  *system.Worker
	record  *solvers.Trajectory
	method  *sens.ComplexStep
	tangent *sens.Tangent
	parts   []*along
}

func (m *Model) along(ctx context.Context, opts Options, variables []Variable) (*along, error) {
	r, err := m.begin(opts)
	if err != nil {
		return nil, err
	}
	a := &along{run: r}
	if r.readsTotals() {
		its := r.partOptions(opts, variables)
		its.Progress = opts.Progress
		for _, x := range m.experiments {
			part, err := x.model.along(ctx, its, variables)
			if err != nil {
				return nil, x.wrap(err)
			}
			a.parts = append(a.parts, part)
		}
		sums, err := r.simulators(opts)
		if err != nil {
			return nil, err
		}
		if _, err := r.totalValues(ctx, opts.Progress, sums); err != nil {
			return nil, err
		}
	}
	r.differentiate(variables)
	_, err = asNeeded(r, func() (solvers.Stats, error) {
		values, err := r.problem.Kit(1, system.Values, false)
		if err != nil {
			return solvers.Stats{}, err
		}
		a.worker = r.problem.Worker(values)
		a.record = &solvers.Trajectory{}
		r.record(a.record, values)
		if err := r.controlErrors(variables, a.record); err != nil {
			return solvers.Stats{}, err
		}
		return r.forward(ctx, a.worker, opts.Progress, a.record)
	})
	if err != nil {
		return nil, err
	}
	if a.method, err = r.complexStep(); err != nil {
		return nil, err
	}
	if a.tangent, err = r.tangentMethod(1, system.Push); err != nil {
		return nil, err
	}
	for _, method := range []sens.Teller{a.method, a.tangent} {
		method.SetTell(seldom(opts.Progress, r.settings.Mode))
	}
	return a, nil
}

// by returns the derivatives of the objectives along v by complex steps, after a move of length at
// along v. v is laid out like a row of the gradient.
func (a *along) by(ctx context.Context, variables []Variable, v []float64, at float64) ([]float64, error) {
	dp, dy0, err := a.moves(ctx, variables, v, at)
	if err != nil {
		return nil, err
	}
	psi, err := a.method.Along(ctx, a.record, dp, dy0, at)
	if err != nil {
		return nil, a.run.failed(err, a.worker)
	}
	return psi, nil
}

// pushed returns the derivatives of the objectives along v by tangents.
func (a *along) pushed(ctx context.Context, variables []Variable, v []float64) ([]float64, error) {
	dp, dy0, err := a.moves(ctx, variables, v, 0)
	if err != nil {
		return nil, err
	}
	psi, err := a.tangent.Along(ctx, a.record, dp, dy0)
	if err != nil {
		return nil, a.run.failed(err, a.worker)
	}
	return psi, nil
}

// replays returns the objectives of repetitions of the run, each moved along v by one of steps. The runs of experiments
// are repeated as well, at the same moves.
func (a *along) replays(ctx context.Context, variables []Variable, v, steps []float64) ([][]float64, error) {
	if len(a.parts) > 0 {
		f, err := a.analytic(ctx)
		if err != nil {
			return nil, err
		}
		list := make([][]float64, len(steps))
		for k, eps := range steps {
			psi, err := f.at(ctx, variables, v, complex(eps, 0))
			if err != nil {
				return nil, err
			}
			for _, x := range psi {
				list[k] = append(list[k], real(x))
			}
		}
		return list, nil
	}
	dp, dy0, err := a.moves(ctx, variables, v, 0)
	if err != nil {
		return nil, err
	}
	psi, err := a.method.Replays(ctx, a.record, dp, dy0, steps)
	if err != nil {
		return nil, a.run.failed(err, a.worker)
	}
	return psi, nil
}

// moves returns how the active parameters and the initial values move along v.
func (a *along) moves(ctx context.Context, variables []Variable, v []float64, at float64) (dp, dy0 []float64,
	err error,
) {
	m := a.run.model
	totals := make([]float64, len(m.checked.Totals))
	for i, part := range a.parts {
		psi, err := part.by(ctx, variables, v, at)
		if err != nil {
			return nil, nil, m.experiments[i].wrap(err)
		}
		for k, x := range psi {
			totals[k] += x
		}
	}
	dp, dy0 = a.run.problem.Directions(systemVariables(variables))(v, totals)
	return dp, dy0, nil
}

// verifyAlong compares inner products of the gradient with complex steps.
func (m *Model) verifyAlong(ctx context.Context, opts Options, how VerifyOptions, s *Sensitivities,
	out *Verification,
) error {
	a, err := m.along(ctx, opts, s.Variables)
	if err != nil {
		return err
	}
	scales, err := m.scales(opts)
	if err != nil {
		return err
	}
	if err := a.verifyCurvature(ctx, how, s, scales, out); err != nil {
		return err
	}
	if s.Columns > crossCheckColumns {
		out.CrossCheck, out.Large = sens.ModeTangent, true
	}
	random := elem.NewRand(how.Seed)
	for n := range how.Directions {
		// Relative changes of size one, so that parameters of all scales count.
		v := make([]float64, s.Columns)
		for k, scale := range scales {
			v[k] = float64(random.Norm() * scale)
		}
		psi, err := a.by(ctx, s.Variables, v, 0)
		if err != nil {
			return err
		}
		near, err := a.by(ctx, s.Variables, v, rounded)
		if err != nil {
			return err
		}
		var pushed []float64
		if out.Large {
			if pushed, err = a.pushed(ctx, s.Variables, v); err != nil {
				return err
			}
		}
		if n == 0 {
			out.Steps = taylorSteps
			replays, err := a.replays(ctx, s.Variables, v, append([]float64{0, least}, out.Steps...))
			if err != nil {
				return err
			}
			for i := range out.Objectives {
				slope := 0.0
				for k, d := range s.Gradient[i*s.Columns : (i+1)*s.Columns] {
					slope += float64(d * v[k])
				}
				exact := slope
				if !modeOf(s.Settings.Mode).Exact {
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
func taylor(v *Verdict, replays [][]float64, i int, slope, exact float64, steps []float64) {
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
func negligible(v *Verdict) float64 { return float64(1e-6 * math.Abs(v.Value)) }

// worse returns the larger of the relative errors err and off/size. NaN is the largest.
func worse(err, off, size float64) float64 {
	const least = 1e-12 // where there is nothing to be relative to
	rel := off / max(size, least)
	if rel > err || math.IsNaN(rel) {
		return rel
	}
	return err
}

// scales returns how far a move of length one takes each element of the variables, laid out like a row of the
// gradient. Of a param that is its absolute value: what goes far beyond leaves the values for which a model is made. Of
// zero it is the largest value of the array, else the scale of the prior or half the width of the bounds, but at most
// 1e-3. The elements of an initial value are a field at its points, and move by the largest of them; by 1 where all are
// zero.
func (m *Model) scales(opts Options) ([]float64, error) {
	variables, values, err := m.ValuesOf(opts)
	if err != nil {
		return nil, err
	}
	for _, v := range variables {
		of := values[v.Offset : v.Offset+v.Size()]
		largest := 0.0
		for k, x := range of {
			if of[k] = math.Abs(x); of[k] < math.Inf(1) {
				largest = max(largest, of[k])
			}
		}
		if largest == 0 {
			largest = m.scaleAtZero(v)
		}
		for k, x := range of {
			if v.Initial || !(x > 0 && x < math.Inf(1)) {
				of[k] = largest
			}
		}
	}
	return values, nil
}

// scaleAtZero returns the scale of a variable whose value is zero.
func (m *Model) scaleAtZero(v Variable) float64 {
	if v.Initial {
		return 1
	}
	size := 1e-3
	for _, d := range m.checked.Priors {
		if d.Target.Name != v.Name {
			continue
		}
		if prior, err := sample.NewDist(d.Dist, d.Args, d.Lo, d.Hi); err == nil {
			size = min(size, (prior.Quantile(0.75)-prior.Quantile(0.25))/2)
		}
	}
	lo, hi := m.Bounds(v)
	if size = min(size, (hi-lo)/2); size > 0 {
		return size
	}
	return 1e-3 // bounds that leave no room say nothing of the scale
}

// crossCheck computes the gradient by the mode that checks that of s, and returns it.
func (m *Model) crossCheck(
	ctx context.Context, opts Options, s *Sensitivities, out *Verification,
) ([]float64, error) {
	out.CrossCheck = modeOf(s.Settings.Mode).CrossCheck
	scales, err := m.scales(opts)
	if err != nil {
		return nil, err
	}
	first := append([]float64(nil), s.Gradient...) // it may be overwritten
	by := out.CrossCheck
	opts = opts.changed(func(s *settings.Settings) { s.Mode = by })
	opts.Gradient = nil
	check, err := m.sensitivities(ctx, opts)
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
		for k, scale := range scales {
			worst = worse(worst, math.Abs(row[k]-other[k]), max(size, negligible(&out.Objectives[i])/scale))
		}
		out.Objectives[i].CrossCheck = worst
	}
	return check.Gradient, nil
}

// checkGradient verifies the gradient in s as the sens block asks for it. It adds the result to the
// warnings of s: a note that the gradient is right, or warnings.
func (m *Model) checkGradient(ctx context.Context, opts Options, how *settings.GradientCheck, s *Sensitivities) error {
	opts.Gradient, opts.EventTimes = nil, false
	opts = opts.inPhase("check") // s was compared with an independent run
	opts = opts.changed(func(s *settings.Settings) { s.Trust = false })
	v, err := m.verify(ctx, opts, VerifyOptions{Directions: how.Directions, Tolerance: how.Tolerance})
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

// spacings are those of the differences that check second derivatives, in moves that change params by
// about their own size. They are tried in order until two results agree. The difference of these two
// bounds truncation and rounding.
var spacings = []float64{0x1p-8, 0x1p-10, 0x1p-13, 0x1p-16, 0x1p-19}

// agreed is the relative difference of two results that ends the search for a spacing.
const agreed = 1e-9

// analytic is a run, and those of its experiments, as a function of a move along a direction.
type analytic struct {
	along *along
	run   *sens.Analytic
	parts []*analytic
}

func (a *along) analytic(ctx context.Context) (*analytic, error) {
	f, err := a.method.Analytic(ctx, a.record)
	if err != nil {
		return nil, a.run.failed(err, a.worker)
	}
	out := &analytic{along: a, run: f}
	for i, p := range a.parts {
		part, err := p.analytic(ctx)
		if err != nil {
			return nil, a.run.model.experiments[i].wrap(err)
		}
		out.parts = append(out.parts, part)
	}
	return out, nil
}

// at returns the objectives after the move z·v, with v laid out like a row of the gradient. Params
// that follow others, and totals, are computed at the moved point; they are not extrapolated.
func (f *analytic) at(ctx context.Context, variables []Variable, v []float64, z complex128) ([]complex128, error) {
	r := f.along.run
	var totals []complex128
	if len(f.parts) > 0 {
		totals = make([]complex128, len(r.model.checked.Totals))
	}
	for i, part := range f.parts {
		psi, err := part.at(ctx, variables, v, z)
		if err != nil {
			return nil, r.model.experiments[i].wrap(err)
		}
		for k := range totals {
			totals[k] += psi[k]
		}
	}
	dz := make([]complex128, len(v))
	for i, x := range v {
		dz[i] = elem.CMul(z, complex(x, 0))
	}
	active, dy0 := r.problem.Displaced(systemVariables(variables), dz, totals)
	psi, err := f.run.At(ctx, active, dy0)
	if err != nil {
		return nil, r.failed(err, f.along.worker)
	}
	return psi, nil
}

// curvatures returns the second derivatives of the objectives along v, and bounds of their errors: NaN
// where there is none.
func (f *analytic) curvatures(ctx context.Context, variables []Variable, v []float64) (value, doubt []float64,
	err error,
) {
	move := func(z complex128) ([]complex128, error) { return f.at(ctx, variables, v, z) }
	var last []float64
	for _, r := range spacings {
		now, err := sens.Curvature(move, r)
		if err != nil {
			return nil, nil, err
		}
		if last == nil {
			value, doubt = slices.Clone(now), make([]float64, len(now))
			for i := range doubt {
				doubt[i] = math.NaN()
			}
		}
		content := last != nil
		for i := range last {
			if off := math.Abs(now[i] - last[i]); off <= doubt[i] || math.IsNaN(doubt[i]) {
				value[i], doubt[i] = now[i], off
			}
			content = content && doubt[i] <= float64(agreed*math.Abs(value[i]))
		}
		if last = now; content {
			break
		}
	}
	return value, doubt, nil
}

// verifyCurvature compares second derivatives along directions with differences over repetitions of
// the run. Hessians are checked along random directions, products along their own.
func (a *along) verifyCurvature(
	ctx context.Context, how VerifyOptions, s *Sensitivities, scales []float64, out *Verification,
) error {
	if s.Hessian == nil && s.Products == nil {
		return nil
	}
	out.Curvature = true
	f, err := a.analytic(ctx)
	if err != nil {
		return err
	}
	c := s.Columns
	// compare sets what row(i, j), row j of the Hessian of value i times v, makes of v against differences.
	compare := func(v []float64, row func(i, j int) float64) error {
		want, doubt, err := f.curvatures(ctx, s.Variables, v)
		if err != nil {
			return err
		}
		for i := range out.Objectives {
			o := &out.Objectives[i]
			sum, size := 0.0, negligible(o)
			for j, x := range v {
				term := float64(x * row(i, j))
				sum += term
				size = max(size, math.Abs(term))
			}
			o.Curvature = worse(o.Curvature, math.Abs(sum-want[i]), size)
			o.CurvatureNoise = worse(o.CurvatureNoise, doubt[i], size)
		}
		return nil
	}
	random := elem.NewRand(how.Seed)
	for range min(how.Directions, 2) {
		if s.Hessian == nil {
			break
		}
		v := make([]float64, c)
		for k, scale := range scales {
			v[k] = float64(random.Norm() * scale)
		}
		if err := compare(v, func(i, j int) float64 {
			sum := 0.0
			for k, h := range s.Second(i)[j*c : (j+1)*c] {
				sum = math.FMA(h, v[k], sum)
			}
			return sum
		}); err != nil {
			return err
		}
	}
	if s.Products == nil {
		return nil
	}
	return compare(s.Direction, func(i, j int) float64 { return s.Products[i*c+j] })
}

// judgeCurvature fills in the outcome where second derivatives are wrong or undecided.
func judgeCurvature(v *Verdict, tolerance float64) {
	slack := float64(20 * v.CurvatureNoise)
	switch {
	case v.Curvature <= max(tolerance, min(slack, digits)):
	case v.Curvature <= slack || math.IsNaN(slack):
		v.Outcome = "undecided"
	default:
		v.Outcome = "wrong"
	}
}
