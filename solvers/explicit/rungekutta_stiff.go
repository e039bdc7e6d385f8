package explicit

import (
	"math"

	"odes.dev/odes/solvers"
)

// Eigenvalue is ‖k_i - k_j‖/‖Y_i - Y_j‖ for two stages at one node: the difference of
// their values lies along the fastest mode (Hairer, Wanner, Solving Ordinary Differential Equations II, section IV.2).
func (r *rungeKutta) Eigenvalue(s *solvers.Step) float64 {
	i, j := r.pair[0], r.pair[1]
	if i == j {
		return math.NaN()
	}
	if r.other == nil {
		r.other = make([]float64, r.N)
	}
	copy(r.other, r.value(s, j))
	var num, den float64
	for k, y := range r.value(s, i) {
		dk, dy := s.K[i*r.W+k]-s.K[j*r.W+k], y-r.other[k]
		num = math.FMA(dk, dk, num)
		den = math.FMA(dy, dy, den)
	}
	return math.Sqrt(num / den)
}
