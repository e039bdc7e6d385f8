package verify

import (
	"context"
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/engine/run"
	"odes.dev/odes/result"
)

// verifyCurvature compares second derivatives along directions with differences over repetitions of
// the run. Hessians are checked along random directions, products along their own.
func verifyCurvature(
	ctx context.Context, a *run.Along, how Options, s *result.Sensitivities, sizes []float64, out *result.Verification,
) error {
	if s.Hessian == nil && s.Products == nil {
		return nil
	}
	out.Curvature = true
	f, err := a.Analytic(ctx)
	if err != nil {
		return err
	}
	c := s.Columns
	// compare sets what row(i, j), row j of the Hessian of value i times v, makes of v against differences.
	compare := func(v []float64, row func(i, j int) float64) error {
		want, doubt, err := f.Curvatures(ctx, s.Variables, v)
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
		for k, scale := range sizes {
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
func judgeCurvature(v *result.Verdict, tolerance float64) {
	slack := float64(20 * v.CurvatureNoise)
	switch {
	case v.Curvature <= max(tolerance, min(slack, digits)):
	case v.Curvature <= slack || math.IsNaN(slack):
		v.Outcome = "undecided"
	default:
		v.Outcome = "wrong"
	}
}
