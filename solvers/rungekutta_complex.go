package solvers

import (
	"math"

	"odes.dev/odes/internal/elem"
)

// combineComplex is combine with a complex step size, in the same order.
func (t *terms) combineComplex(out, base []complex128, h complex128, k []complex128, stride int) {
	for i := range out {
		var re, im float64
		for j, c := range t.c {
			v := k[t.row[j]*stride+i]
			if j == 0 {
				re, im = float64(c*real(v)), float64(c*imag(v))
				continue
			}
			re, im = math.FMA(c, real(v), re), math.FMA(c, imag(v), im)
		}
		var b complex128
		if base != nil {
			b = base[i]
		}
		out[i] = elem.CFMA(h, complex(re, im), b)
	}
}

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

// interpolate writes y = y₀ + h Σ β_j(θ) k_j, over the rows of K of width w.
func (p *interpolant) interpolate(s *ComplexStep, theta complex128, y []complex128, w int) {
	x := elem.CFMA(2, theta, -1)
	for i := range y {
		var sum complex128
		for j, beta := range p.beta {
			var v complex128
			for k := len(beta) - 1; k >= 0; k-- {
				v = elem.CFMA(v, x, complex(beta[k], 0))
			}
			sum = elem.CFMA(elem.CMul(v, theta), s.K[p.dps[j]*w+i], sum)
		}
		y[i] = elem.CFMA(s.H, sum, s.Y0[i])
	}
}
