package odes

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes/internal/elem"
	"odes.dev/odes/sens"
)

// spacings are those, in moves that change params by about their own size, of the differences by which second derivatives
// are computed again, until two agree. What they disagree in is what truncation and rounding leave open.
var spacings = []float64{0x1p-8, 0x1p-10, 0x1p-13, 0x1p-16, 0x1p-19}

// agreed is the relative difference of two results with which one is content.
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

// at returns the objectives after the move z·v, v being laid out like a row of the gradient. Params that follow
// others and totals are computed again, not extrapolated.
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

// curvatures returns the second derivatives of the objectives along v, and how far each may be off: NaN where nothing is known.
func (f *analytic) curvatures(ctx context.Context, variables []Variable, v []float64) (value, doubt []float64, err error) {
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

// verifyCurvature compares second derivatives along directions with differences over repetitions of the run: of Hessians along random
// ones, of products along the one that they are with.
func (a *along) verifyCurvature(ctx context.Context, how VerifyOptions, s *Sensitivities, out *Verification) error {
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
			sum, size := 0.0, o.nothing()
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
		for _, x := range s.Variables {
			for k := range x.Size() {
				v[x.Offset+k] = float64(random.Norm() * sizeOf(a.run.problem.Point, x, k))
			}
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

// judgeCurvature lets second derivatives change the outcome of the first ones.
func (v *Verdict) judgeCurvature(tolerance float64) {
	slack := float64(20 * v.CurvatureNoise)
	switch {
	case v.Curvature <= max(tolerance, min(slack, digits)):
	case v.Curvature <= slack || math.IsNaN(slack):
		v.Outcome = "undecided"
	default:
		v.Outcome = "wrong"
	}
}
