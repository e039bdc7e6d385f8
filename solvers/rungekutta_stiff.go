package solvers

import "math"

// StabilityInterval implements StiffnessDetector.
func (r *scheme) StabilityInterval() float64 { return r.reach }

// StableAlong implements StiffnessDetector. It interpolates between rays; near the real axis, where an estimate of the
// angle tells little, it is the interval.
func (r *scheme) StableAlong(cos float64) float64 {
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

// Eigenvalue is ‖k_i - k_j‖/‖Y_i - Y_j‖ for two stages at one node: the difference of
// their values lies along the fastest mode (Hairer, Wanner, Solving Ordinary Differential Equations II, section IV.2).
func (r *rungeKutta) Eigenvalue(s *Step) float64 {
	i, j := r.pair[0], r.pair[1]
	if i == j {
		return math.NaN()
	}
	if r.other == nil {
		r.other = make([]float64, r.n)
	}
	copy(r.other, r.value(s, j))
	var num, den float64
	for k, y := range r.value(s, i) {
		dk, dy := s.K[i*r.w+k]-s.K[j*r.w+k], y-r.other[k]
		num = math.FMA(dk, dk, num)
		den = math.FMA(dy, dy, den)
	}
	return math.Sqrt(num / den)
}

// findStability finds the stability interval of the scheme and the last two stages at one node.
func (r *scheme) findStability() {
	for i := range r.info.Stages {
		for j := 1; j < i; j++ {
			if r.c[i] == r.c[j] {
				r.pair = [2]int{i, j}
			}
		}
	}
	// The growth of y' = -x y over a step of length 1.
	y := make([]float64, r.info.Stages)
	along := func(t *terms, x float64) float64 {
		sum := 0.0
		for k, i := range t.row {
			sum = math.FMA(t.c[k], y[i], sum)
		}
		return math.FMA(-x, sum, 1)
	}
	stable := func(x float64) bool {
		for i := range y {
			y[i] = along(&r.a[i], x)
		}
		return math.Abs(along(&r.b, x)) <= 1
	}
	r.reach = lastStable(stable)
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

// findRays finds where the scheme is nearly stable along y' = z y with z = x (-cos + i sin).
func (r *scheme) findRays() *[stabilityRays + 1]float64 {
	rays := new([stabilityRays + 1]float64)
	y, u := make([]float64, r.info.Stages), make([]float64, r.info.Stages)
	for i := range rays {
		cos := float64(float64(i) * rayEnd / stabilityRays)
		sin := math.Sqrt(math.FMA(-cos, cos, 1))
		grown := func(t *terms, x float64) (re, im float64) {
			var a, b float64
			for k, i := range t.row {
				a = math.FMA(t.c[k], y[i], a)
				b = math.FMA(t.c[k], u[i], b)
			}
			re = math.FMA(-x, math.FMA(cos, a, float64(sin*b)), 1)
			im = float64(x * math.FMA(sin, a, -float64(cos*b)))
			return re, im
		}
		rays[i] = min(r.reach, lastStable(func(x float64) bool {
			for k := range y {
				y[k], u[k] = grown(&r.a[k], x)
			}
			re, im := grown(&r.b, x)
			return math.FMA(re, re, float64(im*im)) <= 1.01*1.01
		}))
	}
	return rays
}
