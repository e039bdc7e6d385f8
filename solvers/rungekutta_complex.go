package solvers

// stageComplex evaluates row i of K.
func (r *rungeKutta) stageComplex(f ComplexField, s *ComplexStep, i int) {
	y := s.Y0
	if len(r.a[i].c) > 0 {
		if r.z == nil {
			r.z = make([]complex128, r.n)
		}
		y = r.z
		r.a[i].combineComplex(y, s.Y0, s.H, s.K, r.w)
	}
	f.Eval(s.node(r.c[i]), y, s.K[i*r.w:(i+1)*r.w])
}

// StepComplex takes a step in complex arithmetic.
func (r *rungeKutta) StepComplex(f ComplexField, s *ComplexStep) {
	s.Dense = false
	for i := range r.info.Stages {
		r.stageComplex(f, s, i)
	}
	r.endComplex(s, &r.b)
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
