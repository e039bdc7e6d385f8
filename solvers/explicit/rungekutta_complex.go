package explicit

import (
	"odes.dev/odes/solvers"
)

// stageComplex evaluates row i of K.
func (r *rungeKutta) stageComplex(f solvers.ComplexField, s *solvers.ComplexStep, i int) {
	y := s.Y0
	if len(r.a[i].C) > 0 {
		if r.z == nil {
			r.z = make([]complex128, r.N)
		}
		y = r.z
		r.a[i].CombineComplex(y, s.Y0, s.H, s.K, r.W)
	}
	f.Eval(s.Node(r.c[i]), y, s.K[i*r.W:(i+1)*r.W])
}

// StepComplex takes a step in complex arithmetic.
func (r *rungeKutta) StepComplex(f solvers.ComplexField, s *solvers.ComplexStep) {
	s.Dense = false
	for i := range r.info.Stages {
		r.stageComplex(f, s, i)
	}
	r.EndComplex(s, &r.b)
}

// InterpolateComplex evaluates the dense output in complex arithmetic.
func (r *rungeKutta) InterpolateComplex(
	f solvers.ComplexField, s *solvers.ComplexStep, theta complex128, y []complex128,
) {
	if !s.Dense {
		s.Dense = true
		for i := r.info.Stages; i < len(r.a); i++ {
			r.stageComplex(f, s, i)
		}
	}
	r.Complex(s, theta, y, r.W)
}
