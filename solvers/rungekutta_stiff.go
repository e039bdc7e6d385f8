package solvers

import "math"

// StabilityInterval implements StiffnessDetector.
func (r *rungeKutta) StabilityInterval() float64 { return r.reach }

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
	for {
		next := r.reach + max(1.0/64, r.reach/256)
		if !stable(next) {
			return
		}
		r.reach = next
	}
}
