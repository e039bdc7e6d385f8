package solvers

// InterpolateSlope writes the dense output y[N] at T + theta·H, with the bits of Interpolate, and its derivative by
// time, yd[N] = Σ β'_i(θ) k_i: at the ends that of the step itself, which that of its neighbour need not be.
func (r *RungeKutta) InterpolateSlope(f Field, s *Step, theta float64, y, yd []float64) {
	r.Interpolate(f, s, theta, y)
	r.extend(f, s)
	r.weigh(theta)
	r.dense.drift.combine(yd, r.zero, 1, s.K, r.w)
}
