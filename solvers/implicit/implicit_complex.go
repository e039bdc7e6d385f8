package implicit

import (
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// implicitComplex is the work space of steps in complex arithmetic.
type implicitComplex struct {
	jac    *matrices.Jacobian
	plan   *matrices.Plan
	solver []*complexBlock       // by the number of rows
	last   []*complexBlock       // with the Jacobians at the stages that were found
	j      []complex128          // [E] at the start
	js     []complex128          // [sizes][E]
	y      []complex128          // [n]
	f      []complex128          // [w]
	ends   *matrices.Consistency // nil where M is the identity
}

type complexBlock struct {
	plan   *blockPlan
	lu     linalg.ComplexLU
	order  *linalg.Order
	matrix []complex128
	x      []complex128 // [size·n]
	a      []float64    // of the factors; nil for none
}

func (r *implicitRungeKutta) readyComplex(jac *matrices.Jacobian) (*implicitComplex, error) {
	if r.z != nil && r.z.jac == jac {
		return r.z, nil
	}
	size := solvers.Size{N: r.N, Q: r.Q}
	plan, err := jac.Plan(size)
	if err != nil {
		return nil, err
	}
	v := func(n int) []complex128 { return make([]complex128, n) }
	z := &implicitComplex{
		jac: jac, plan: plan, solver: make([]*complexBlock, 1+r.sizes),
		last: make([]*complexBlock, 1+r.sizes), j: v(plan.Entries), js: v(r.sizes * plan.Entries), y: v(r.N), f: v(r.W),
	}
	for _, b := range r.blocks {
		m := b.to - b.from
		if b.explicit || z.solver[m] != nil {
			continue
		}
		p, err := blockOf(jac, size, m)
		if err != nil {
			return nil, err
		}
		for _, to := range [][]*complexBlock{z.solver, z.last} {
			lu, err := p.first.NewComplex()
			if err != nil {
				return nil, err
			}
			to[m] = &complexBlock{plan: p, lu: lu, order: lu.Order(), matrix: v(p.nonZeros), x: v(m * r.N)}
		}
	}
	if jac.Mass != nil {
		if z.ends, err = matrices.ConsistencyOf(jac, size, 0); err != nil {
			return nil, err
		}
	}
	r.z = z
	return z, nil
}

// complexStage returns the time and the value of row i; see value.
func (r *implicitRungeKutta) complexStage(
	f matrices.ComplexJacobianField, s *solvers.ComplexStep, i int,
) (t complex128, y []complex128) {
	t, y = s.Node(r.c[i]), s.Y0
	if len(r.a[i].C) > 0 {
		y = r.z.y
		r.a[i].CombineComplex(y, s.Y0, s.H, s.K, r.W)
		if r.z.ends != nil && r.plain[i] {
			r.z.ends.SolveComplex(f, t, y, nil)
		}
	}
	return t, y
}

// StepComplex takes a step in complex arithmetic.
func (r *implicitRungeKutta) StepComplex(f solvers.ComplexField, s *solvers.ComplexStep) {
	w := r.W
	s.Dense = false
	defer r.whole(f)
	f.Eval(s.T, s.Y0, s.K[:w])
	g := f.(matrices.ComplexJacobianField)
	z, err := r.readyComplex(g.Jacobian())
	if err == nil && z.ends != nil {
		if real(s.H) == 0 {
			stages.RestComplex(z.plan.Mass, s, r.N, w)
			z.ends.SolveComplex(g, s.T1, s.Y1, nil)
			return
		}
		z.plan.Mass.ClearComplex(s.K)
	}
	if err == nil {
		g.EvalJacobian(s.T, s.Y0, z.j)
		for _, b := range z.solver {
			if b != nil {
				b.a = nil
			}
		}
	}
	done := false
	for i := range r.blocks {
		b := &r.blocks[i]
		if err != nil || !b.explicit && !r.solveComplex(g, s, b) {
			r.FailComplex(s)
			return
		}
		if !b.explicit {
			continue
		}
		t, y := r.complexStage(g, s, b.from)
		if b.end {
			r.finishComplex(g, s)
			y, done = s.Y1, true
		}
		k := s.K[b.from*w : (b.from+1)*w]
		r.take(f, b.from)
		f.Eval(t, y, k)
		if z.ends != nil {
			z.plan.Mass.ClearComplex(k)
		}
	}
	if !done {
		r.finishComplex(g, s)
	}
}

func (r *implicitRungeKutta) finishComplex(f matrices.ComplexJacobianField, s *solvers.ComplexStep) {
	r.EndComplex(s, &r.b)
	if r.z.ends != nil {
		r.z.ends.SolveComplex(f, s.T1, s.Y1, nil)
	}
}

// solveComplex finds the slopes of a block. The real parts are iterated as those of the real step are, so that they are
// the same; then those of the matrix at the stages that belong to the imaginary parts give these. It reports whether it
// could.
func (r *implicitRungeKutta) solveComplex(
	f matrices.ComplexJacobianField, s *solvers.ComplexStep, b *implicitBlock,
) bool {
	n, w, size := r.N, r.W, b.to-b.from
	lin := r.z.solver[size]
	for i := b.from; i < b.to; i++ {
		guess := r.tab.guess(b.from)
		copy(s.K[i*w:(i+1)*w], s.K[guess*w:(guess+1)*w])
	}
	if !slices.Equal(lin.a, b.a) && !lin.factor(s.H, b.a, r.z.j, 0) {
		return false
	}
	residual := func(lin *complexBlock) {
		for i := b.from; i < b.to; i++ {
			t, y := r.complexStage(f, s, i)
			r.take(f, i)
			f.Eval(t, y, r.z.f)
			k, x := s.K[i*w:(i+1)*w], lin.x[(i-b.from)*n:(i-b.from+1)*n]
			copy(x, r.z.f[:n])
			r.z.plan.MinusComplex(x, k)
			copy(k[n:], r.z.f[n:])
		}
		lin.lu.Solve(lin.x, 1)
	}
	it := newton{ahead: newtonAhead}
	for on := true; on; {
		residual(lin)
		change := r.changeComplex(f, s, b, lin.x)
		verdict := it.judge(change)
		switch {
		case verdict == newtonFound:
			on = false
		case !(change <= 1):
			return false
		case verdict == newtonRenew || verdict == newtonFailed: // the real step, which is recorded, was found
			if on = it.counts < 2*newtonMost; !r.lineariseComplex(f, s, b, lin) {
				return false
			}
		}
	}
	lin = r.z.last[size]
	for range 2 { // the second one for the rounding of the first
		if !r.lineariseComplex(f, s, b, lin) {
			return false
		}
		residual(lin)
		for i := b.from; i < b.to; i++ {
			k := s.K[i*w : i*w+n]
			for e, v := range lin.x[(i-b.from)*n : (i-b.from+1)*n] {
				k[e] += complex(0, imag(v))
			}
		}
	}
	for i := b.from; r.Q > 0 && i < b.to; i++ {
		t, y := r.complexStage(f, s, i)
		r.take(f, i)
		f.Eval(t, y, r.z.f)
		copy(s.K[i*w+n:(i+1)*w], r.z.f[n:])
	}
	return true
}

// changeComplex is change of the real parts.
func (r *implicitRungeKutta) changeComplex(
	f matrices.ComplexJacobianField, s *solvers.ComplexStep, b *implicitBlock, x []complex128,
) float64 {
	n, w, most := r.N, r.W, 0.0
	for i := b.from; i < b.to; i++ {
		k := s.K[i*w : i*w+n]
		for e, v := range x[(i-b.from)*n : (i-b.from+1)*n] {
			k[e] += v
		}
	}
	for i := b.from; i < b.to; i++ {
		_, y := r.complexStage(f, s, i)
		for e, v := range x[(i-b.from)*n : (i-b.from+1)*n] {
			most = larger(most, real(s.H), real(v), real(y[e]), real(s.Y0[e]))
		}
	}
	return most
}

// lineariseComplex factors the matrix of a block with the Jacobian at its stages. It reports whether it could.
func (r *implicitRungeKutta) lineariseComplex(
	f matrices.ComplexJacobianField, s *solvers.ComplexStep, b *implicitBlock, lin *complexBlock,
) bool {
	step := r.z.plan.Entries
	for i := b.from; i < b.to; i++ {
		t, y := r.complexStage(f, s, i)
		f.EvalJacobian(t, y, r.z.js[(i-b.from)*step:][:step])
	}
	return lin.factor(s.H, b.a, r.z.js, step)
}

// factor makes and factors the matrix for a[size·size]; row i has the entries js[i·step:]. It reports whether it
// could.
func (b *complexBlock) factor(h complex128, a []float64, js []complex128, step int) bool {
	b.a = a
	b.plan.assembleComplex(b.matrix, h, a, js, step)
	if b.order != nil {
		b.lu.SetOrder(b.order)
	}
	return b.lu.Factor(b.matrix) == nil
}

// assembleComplex is assemble in complex arithmetic.
func (p *blockPlan) assembleComplex(to []complex128, h complex128, a []float64, js []complex128, step int) {
	clear(to)
	for _, at := range p.diagonal {
		to[at] = 1
	}
	for _, places := range p.beside {
		for e, at := range places {
			to[at] += complex(p.mass.Values[e], 0)
		}
	}
	for i := range p.size {
		j := js[i*step:]
		for k := range p.size {
			v := elem.CMul(complex(-a[i*p.size+k], 0), h)
			if v == 0 {
				continue
			}
			for _, s := range p.states[i*p.size+k] {
				to[s.Place] = elem.CFMA(v, j[s.E], to[s.Place])
			}
		}
	}
}

// InterpolateComplex evaluates the dense output in complex arithmetic.
func (r *implicitRungeKutta) InterpolateComplex(
	f solvers.ComplexField, s *solvers.ComplexStep, theta complex128, y []complex128,
) {
	r.Complex(s, theta, y, r.W)
	if r.z != nil && r.z.ends != nil {
		r.z.ends.SolveComplex(f.(matrices.ComplexJacobianField), elem.CFMA(theta, s.H, s.T), y, nil)
	}
}
