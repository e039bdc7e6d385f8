package solvers

import (
	"odes.dev/odes/internal/elem"
)

// stageComplex evaluates row i of K.
func (r *rungeKutta) stageComplex(f ComplexField, s *ComplexStep, i int) {
	t, y := s.T, s.Y0
	switch c := r.c[i]; c {
	case 0:
	case 1:
		t = s.T1
	default:
		t = elem.CFMA(complex(c, 0), s.H, s.T)
	}
	if len(r.a[i].c) > 0 {
		if r.z == nil {
			r.z = make([]complex128, r.n)
		}
		y = r.z
		r.a[i].combineComplex(y, s.Y0, s.H, s.K, r.w)
	}
	f.Eval(t, y, s.K[i*r.w:(i+1)*r.w])
}

// StepComplex takes a step in complex arithmetic.
func (r *rungeKutta) StepComplex(f ComplexField, s *ComplexStep) {
	s.Dense = false
	for i := range r.info.Stages {
		r.stageComplex(f, s, i)
	}
	r.b.combineComplex(s.Y1, s.Y0, s.H, s.K, r.w)
	if r.q > 0 {
		r.b.combineComplex(s.DQ, nil, s.H, s.K[r.n:], r.w)
	}
}

// InterpolateComplex evaluates the dense output in complex arithmetic.
func (r *rungeKutta) InterpolateComplex(f ComplexField, s *ComplexStep, theta complex128, y []complex128) {
	if !s.Dense {
		s.Dense = true
		for i := r.info.Stages; i < len(r.a); i++ {
			r.stageComplex(f, s, i)
		}
	}
	r.interpolate(s, theta, y, r.w)
}
