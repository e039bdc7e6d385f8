package solvers

import "math"

// TangentEstimator is a Method that estimates the errors of tangents as it does those of states.
type TangentEstimator interface {
	Method
	// PushError writes the estimated local error e[(N+Q)·L] of the tangents of a step whose length does not
	// move (d.H zero). It must follow Push of the same step with the same d.
	PushError(f TangentField, s *Step, d *StepTangent, e []float64)
}

// PushError implements TangentEstimator: the estimate is linear in the stages, and so is its tangent, but for
// the combination of two that Tableau.E3 describes, which is made of the tangents of both.
func (r *RungeKutta) PushError(f TangentField, s *Step, d *StepTangent, e []float64) {
	for i, live := range r.live {
		if !live {
			r.tangent(f, s, d, i, r.kd)
		}
	}
	r.e.combine(e, r.zero, s.H, r.kd, r.w*r.l)
	if len(r.e3.c) == 0 {
		return
	}
	if len(r.pushed) == 0 {
		r.pushed = make([]float64, r.w*r.l)
	}
	r.e3.combine(r.pushed, r.zero, s.H, r.kd, r.w*r.l)
	for i, e5 := range e {
		if e5 != 0 {
			ratio := math.Abs(r.pushed[i]) / math.Abs(e5)
			e[i] = math.Abs(e5) / math.Sqrt(math.FMA(float64(0.01*ratio), ratio, 1))
		}
	}
}
