package solvers

import (
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/linalg"
)

// rosenbrockComplex is the work space of steps in complex arithmetic.
type rosenbrockComplex struct {
	jac    *Jacobian
	plan   *jacobianPlan
	lu     linalg.ComplexLU
	order  *linalg.Order
	j      []complex128 // [E]
	matrix []complex128
	y      []complex128 // [n]
	kept   []complex128 // [w]
	ends   *Consistency // nil where M is the identity
	sum    []complex128 // [w] of rows of K that M multiplies
}

func (r *rosenbrock) readyComplex(jac *Jacobian) (*rosenbrockComplex, error) {
	if r.z != nil && r.z.jac == jac {
		return r.z, nil
	}
	plan, err := jac.plan(Size{N: r.n, Q: r.q})
	if err != nil {
		return nil, err
	}
	lu, err := plan.first.NewComplex()
	if err != nil {
		return nil, err
	}
	v := func(n int) []complex128 { return make([]complex128, n) }
	r.z = &rosenbrockComplex{
		jac: jac, plan: plan, lu: lu, order: lu.Order(), j: v(plan.entries), matrix: v(plan.pattern.NonZeros()),
		y: v(r.n), kept: v(r.w),
	}
	if jac.Mass != nil {
		if r.z.ends, err = newConsistency(jac, Size{N: r.n, Q: r.q}, 0); err != nil {
			return nil, err
		}
	}
	return r.z, nil
}

// StepComplex takes a step in complex arithmetic.
func (r *rosenbrock) StepComplex(f ComplexField, s *ComplexStep) {
	n, w := r.n, r.w
	s.Dense = false
	f.Eval(s.T, s.Y0, s.K[:w])
	g := f.(ComplexJacobianField)
	z, err := r.readyComplex(g.Jacobian())
	if err == nil && z.ends != nil && real(s.H) == 0 {
		z.plan.mass.restComplex(s, r.n, r.w)
		z.ends.SolveComplex(g, s.T1, s.Y1, nil)
		return
	}
	if err == nil {
		g.EvalJacobian(s.T, s.Y0, z.j)
		clear(z.matrix)
		for _, at := range z.plan.diagonal {
			z.matrix[at] = complex(r.inverse, 0)
		}
		for e, at := range z.plan.beside {
			z.matrix[at] += complex(float64(r.inverse*z.plan.mass.Values[e]), 0)
		}
		for _, x := range z.plan.states {
			z.matrix[x.Place] = elem.CFMA(-s.H, z.j[x.E], z.matrix[x.Place])
		}
		if z.order != nil {
			z.lu.SetOrder(z.order)
		}
		err = z.lu.Factor(z.matrix)
	}
	if err != nil {
		r.failComplex(s)
		return
	}
	for i := 1; i <= r.stages; i++ {
		k := s.K[i*w : (i+1)*w]
		switch same := r.same[i]; {
		case same == 1:
			copy(k, s.K[:w])
		case same < i:
			copy(k, z.kept)
		default:
			y := s.Y0
			if len(r.a[i].c) > 0 {
				y = z.y
				r.a[i].combineComplex(y, s.Y0, s.H, s.K, w)
			}
			f.Eval(s.node(r.alpha[i]), y, k)
			if r.keep[i] {
				copy(z.kept, k)
			}
		}
		z.couple(r, k, &r.c[i], s.K)
		if r.gammas[i] != 0 {
			for _, x := range z.plan.times {
				k[x.Row] = elem.CFMA(elem.CMul(complex(r.gammas[i], 0), s.H), z.j[x.E], k[x.Row])
			}
		}
		z.lu.Solve(k[:n], 1)
		if r.q > 0 {
			for _, x := range z.plan.outer {
				k[x.Row] = elem.CFMA(elem.CMul(s.H, z.j[x.E]), k[x.Col], k[x.Row])
			}
			for j, v := range k[n:] {
				k[n+j] = complex(float64(r.gamma*real(v)), float64(r.gamma*imag(v)))
			}
		}
	}
	r.endComplex(s, &r.m)
	if r.info.FSAL {
		f.Eval(s.T1, s.Y1, s.K[(1+r.stages)*w:(2+r.stages)*w])
	}
	if z.ends != nil {
		z.ends.SolveComplex(g, s.T1, s.Y1, nil)
	}
}

// couple adds Σ c_j M κ_j to row[w].
func (z *rosenbrockComplex) couple(r *rosenbrock, row []complex128, c *terms, rows []complex128) {
	m := z.plan.mass
	if m == nil {
		c.combineComplex(row, row, 1, rows, r.w)
		return
	}
	if len(z.sum) == 0 {
		z.sum = make([]complex128, r.w)
	}
	clear(z.sum)
	c.combineComplex(z.sum, z.sum, 1, rows, r.w)
	for i, v := range z.sum {
		if i >= r.n || m.of[i] == 0 {
			row[i] += v
		}
	}
	for e, c := range m.Values {
		row[m.Rows[e]] = elem.CFMA(complex(c, 0), z.sum[m.Cols[e]], row[m.Rows[e]])
	}
}

// InterpolateComplex evaluates the dense output in complex arithmetic.
func (r *rosenbrock) InterpolateComplex(_ ComplexField, s *ComplexStep, theta complex128, y []complex128) {
	r.interpolate(s, theta, y, r.w)
}
