package rosenbrock

import (
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// rosenbrockComplex is the work space of steps in complex arithmetic.
type rosenbrockComplex struct {
	jac    *matrices.Jacobian
	plan   *matrices.Plan
	lu     linalg.ComplexLU
	order  *linalg.Order
	j      []complex128 // [E]
	matrix []complex128
	y      []complex128          // [n]
	kept   []complex128          // [w]
	ends   *matrices.Consistency // nil where M is the identity
	sum    []complex128          // [w] of rows of K that M multiplies
}

func readyComplex(r *rosenbrock, jac *matrices.Jacobian) (*rosenbrockComplex, error) {
	if r.z != nil && r.z.jac == jac {
		return r.z, nil
	}
	plan, err := jac.Plan(solvers.Size{N: r.N, Q: r.Q})
	if err != nil {
		return nil, err
	}
	lu, err := plan.First.NewComplex()
	if err != nil {
		return nil, err
	}
	v := func(n int) []complex128 { return make([]complex128, n) }
	r.z = &rosenbrockComplex{
		jac: jac, plan: plan, lu: lu, order: lu.Order(), j: v(plan.Entries), matrix: v(plan.Pattern.NonZeros()),
		y: v(r.N), kept: v(r.W),
	}
	if jac.Mass != nil {
		if r.z.ends, err = matrices.ConsistencyOf(jac, solvers.Size{N: r.N, Q: r.Q}, 0); err != nil {
			return nil, err
		}
	}
	return r.z, nil
}

// StepComplex takes a step in complex arithmetic.
func (r *rosenbrock) StepComplex(f solvers.ComplexField, s *solvers.ComplexStep) {
	n, w := r.N, r.W
	s.Dense = false
	f.Eval(s.T, s.Y0, s.K[:w])
	g := f.(matrices.ComplexJacobianField)
	z, err := readyComplex(r, g.Jacobian())
	if err == nil && z.ends != nil && real(s.H) == 0 {
		stages.RestComplex(z.plan.Mass, s, r.N, r.W)
		z.ends.SolveComplex(g, s.T1, s.Y1, nil)
		return
	}
	if err == nil {
		g.EvalJacobian(s.T, s.Y0, z.j)
		clear(z.matrix)
		for _, at := range z.plan.Diagonal {
			z.matrix[at] = complex(r.inverse, 0)
		}
		for e, at := range z.plan.Beside {
			z.matrix[at] += complex(float64(r.inverse*z.plan.Mass.Values[e]), 0)
		}
		for _, x := range z.plan.States {
			z.matrix[x.Place] = elem.CFMA(-s.H, z.j[x.E], z.matrix[x.Place])
		}
		if z.order != nil {
			z.lu.SetOrder(z.order)
		}
		err = z.lu.Factor(z.matrix)
	}
	if err != nil {
		r.FailComplex(s)
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
			if len(r.a[i].C) > 0 {
				y = z.y
				r.a[i].CombineComplex(y, s.Y0, s.H, s.K, w)
			}
			f.Eval(s.Node(r.alpha[i]), y, k)
			if r.keep[i] {
				copy(z.kept, k)
			}
		}
		z.couple(r, k, &r.c[i], s.K)
		if r.gammas[i] != 0 {
			for _, x := range z.plan.Times {
				k[x.Row] = elem.CFMA(elem.CMul(complex(r.gammas[i], 0), s.H), z.j[x.E], k[x.Row])
			}
		}
		z.lu.Solve(k[:n], 1)
		if r.Q > 0 {
			for _, x := range z.plan.Outer {
				k[x.Row] = elem.CFMA(elem.CMul(s.H, z.j[x.E]), k[x.Col], k[x.Row])
			}
			for j, v := range k[n:] {
				k[n+j] = complex(float64(r.gamma*real(v)), float64(r.gamma*imag(v)))
			}
		}
	}
	r.EndComplex(s, &r.m)
	if r.info.FSAL {
		f.Eval(s.T1, s.Y1, s.K[(1+r.stages)*w:(2+r.stages)*w])
	}
	if z.ends != nil {
		z.ends.SolveComplex(g, s.T1, s.Y1, nil)
	}
}

// couple adds Σ c_j M κ_j to row[w].
func (z *rosenbrockComplex) couple(r *rosenbrock, row []complex128, c *stages.Form, rows []complex128) {
	m := z.plan.Mass
	if m == nil {
		c.CombineComplex(row, row, 1, rows, r.W)
		return
	}
	if len(z.sum) == 0 {
		z.sum = make([]complex128, r.W)
	}
	clear(z.sum)
	c.CombineComplex(z.sum, z.sum, 1, rows, r.W)
	for i, v := range z.sum {
		if i >= r.N || !m.Unknown(i) {
			row[i] += v
		}
	}
	for e, c := range m.Values {
		row[m.Rows[e]] = elem.CFMA(complex(c, 0), z.sum[m.Cols[e]], row[m.Rows[e]])
	}
}

// InterpolateComplex evaluates the dense output in complex arithmetic.
func (r *rosenbrock) InterpolateComplex(
	_ solvers.ComplexField, s *solvers.ComplexStep, theta complex128, y []complex128,
) {
	r.Complex(s, theta, y, r.W)
}
