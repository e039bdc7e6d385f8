package stages

import (
	"math"
	"sync"
)

// Stability says where steps are stable that are sums of slopes.
type Stability struct {
	reach float64                            // on the negative real axis
	rays  func() *[stabilityRays + 1]float64 // nearly, along others
}

// StabilityOf returns that of steps with these stages: values are made of the terms a, and ends of b.
func StabilityOf(stages int, a []Form, b *Form) Stability {
	s := Stability{reach: findStability(stages, a, b)}
	s.rays = sync.OnceValue(func() *[stabilityRays + 1]float64 { return findRays(stages, a, b, s.reach) })
	return s
}

// StabilityInterval implements StiffnessDetector.
func (r *Stability) StabilityInterval() float64 { return r.reach }

// StableAlong implements StiffnessDetector. It interpolates between rays; near the real axis, where an estimate of the
// angle tells little, it is the interval.
func (r *Stability) StableAlong(cos float64) float64 {
	x := float64(max(cos, 0) * stabilityRays / rayEnd)
	if !(x < stabilityRays) { // or not known, because numbers are too large
		return r.reach
	}
	i := int(x)
	rays := r.rays()
	return math.FMA(x-float64(i), rays[i+1]-rays[i], rays[i])
}

// Rays along which methods are stable are known at these many cosines, equally spaced from 0, and at rayEnd.
const (
	stabilityRays = 4
	rayEnd        = 0.5
)

// findStability finds how far steps are stable.
func findStability(stages int, a []Form, b *Form) (reach float64) {
	// The growth of y' = -x y over a step of length 1.
	y := make([]float64, stages)
	along := func(t *Form, x float64) float64 {
		sum := 0.0
		for k, i := range t.Row {
			sum = math.FMA(t.C[k], y[i], sum)
		}
		return math.FMA(-x, sum, 1)
	}
	stable := func(x float64) bool {
		for i := range y {
			y[i] = along(&a[i], x)
		}
		return math.Abs(along(b, x)) <= 1
	}
	return lastStable(stable)
}

// lastStable returns how far from 0 something is stable, in small steps.
func lastStable(stable func(x float64) bool) (reach float64) {
	for {
		next := reach + max(1.0/64, reach/256)
		if !stable(next) {
			return reach
		}
		reach = next
	}
}

// findRays finds where steps are nearly stable along y' = z y with z = x (-cos + i sin).
func findRays(stages int, of []Form, end *Form, reach float64) *[stabilityRays + 1]float64 {
	rays := new([stabilityRays + 1]float64)
	y, u := make([]float64, stages), make([]float64, stages)
	for i := range rays {
		cos := float64(float64(i) * rayEnd / stabilityRays)
		sin := math.Sqrt(math.FMA(-cos, cos, 1))
		grown := func(t *Form, x float64) (re, im float64) {
			var a, b float64
			for k, i := range t.Row {
				a = math.FMA(t.C[k], y[i], a)
				b = math.FMA(t.C[k], u[i], b)
			}
			re = math.FMA(-x, math.FMA(cos, a, float64(sin*b)), 1)
			im = float64(x * math.FMA(sin, a, -float64(cos*b)))
			return re, im
		}
		rays[i] = min(reach, lastStable(func(x float64) bool {
			for k := range y {
				y[k], u[k] = grown(&of[k], x)
			}
			re, im := grown(end, x)
			return math.FMA(re, re, float64(im*im)) <= 1.01*1.01
		}))
	}
	return rays
}
