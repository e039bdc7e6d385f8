// Package rosenbrock makes Rosenbrock methods of tables: steps, tangents, transposes, second derivatives, complex
// steps.
package rosenbrock

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/internal/base/team"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// rosenbrock is the Method of a rosenbrockTable. Row i of K is κ_i = u_i/h, so that nothing is divided by the length
// of a step. For the states, and with the quadratures as states that nothing depends on, with F = (f, r) and J and F_t
// its derivatives by the states and time at the start of the step,
//
//	Y_i = y₀ + h Σ a_ij κ_j,   F_i = F(t + α_i h, Y_i),
//	M κ_i/γ - h J κ_i = F_i + Σ c_ij M κ_j + h γ_i F_t,
//	y₁ = y₀ + h Σ m_i κ_i,   Δq = h Σ m_i κ_i,   e = h Σ e_i κ_i,   y(t + θh) = y₀ + h Σ β_i(θ) κ_i.
//
// M is the identity, or the Mass of the Jacobian. The matrix G = M/γ - h ∂f/∂y is factored once a step. Every
// factorisation begins with the same order of pivots: a step is a function of its arguments.
//
// Sources: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section IV.7; for derivatives, D. N.
// Daescu, A. Sandu, G. R. Carmichael, Journal of Computational Physics 193 (2003).
type rosenbrock struct {
	*rosenbrockScheme
	stages.Space
	kept []float64 // [w] a right-hand side that two stages have in common
	sum  []float64 // [w·l] of rows of K that M multiplies; nil where that is the identity

	byState []float64 // [n + 1][stages] κ_i and γ_i, of outerProduct
	byRow   []float64 // [w][stages] v_i

	jac    *matrices.Jacobian // what the rest was made for
	plan   *matrices.Plan
	lu     linalg.LU
	trial  linalg.Trial // lu, where that tries something; of a step that was served, that alone is kept: one number
	j      []float64    // [E] entries at the start of a step
	matrix []float64    // [pattern] G
	fault  error        // of the last factorisation
	work   solvers.ImplicitWork
	ends   *stages.Ends // nil where M is the identity
	made   struct {     // the step that the factors belong to
		k     *float64 // the first of its stages; nil for none
		t, h  float64
		whole bool // they are in left
	}
	left matrices.SolvedStep // by whole steps

	push   rosenbrockPush
	pull   rosenbrockPull
	second *rosenbrockSecond
	z      *rosenbrockComplex
}

// rosenbrockScheme is a table in double precision. Stages are counted from 1, as the rows of K that belong to them.
type rosenbrockScheme struct {
	stages.Dense
	tab    *rosenbrockTable
	info   solvers.Info
	stages int

	gamma, inverse float64       // γ, 1/γ
	alpha          []float64     // [1 + stages]
	gammas         []float64     // [1 + stages]
	a, c           []stages.Form // [1 + stages]
	m, e           stages.Form
	// same is the first stage with the same right-hand side.
	same []int // [1 + stages]
	keep []bool
	rows []int // 1, …, stages

	// Transposed: the terms of κ̄_i over ȳ₁ (row 0) and Ȳ_j, and over v_j; the terms of ȳ₀ over Ȳ_i.
	at, ct []stages.Form
	total  stages.Form
	// v_i of quadratures are h ω_i q̄, and the right-hand sides of their κ̄_i are h m_i q̄ + ….
	omega []float64
	mi    []float64 // [1 + stages]

	whole matrices.SolvedArithmetic
}

// newRosenbrockScheme panics on a table whose figures are malformed.
func newRosenbrockScheme(t *rosenbrockTable) *rosenbrockScheme {
	x := t.rounded()
	s := len(x.m)
	r := &rosenbrockScheme{
		tab: t, stages: s, gamma: x.gamma, inverse: x.inverse,
		alpha: make([]float64, 1+s), gammas: make([]float64, 1+s), a: make([]stages.Form, 1+s), c: make([]stages.Form,
			1+s),
		same: make([]int, 1+s), keep: make([]bool, 1+s), at: make([]stages.Form, 1+s), ct: make([]stages.Form, 1+s),
		omega: make([]float64, 1+s), mi: make([]float64, 1+s),
		info: solvers.Info{
			Name: t.Name, Order: t.Order, Embedded: t.Embedded, Stages: 1 + s, Solved: s, DenseOrder: t.DenseOrder,
			FSAL: x.end, End: -1,
		},
	}
	shift := func(row []float64) stages.Form {
		t := stages.Sparse(row)
		for k := range t.Row {
			t.Row[k]++
		}
		return t
	}
	evals := 0
	for i := 1; i <= s; i++ {
		r.rows = append(r.rows, i)
		r.alpha[i], r.gammas[i], r.mi[i] = x.alpha[i-1], x.gammas[i-1], x.m[i-1]
		r.a[i], r.c[i] = shift(x.a[i-1]), shift(x.c[i-1])
		r.same[i] = i
		for j := i - 1; j >= 1; j-- {
			if r.alpha[i] == r.alpha[j] && slices.Equal(r.a[i].Row, r.a[j].Row) && slices.Equal(r.a[i].C, r.a[j].C) {
				r.same[i] = r.same[j]
				break
			}
		}
		if r.same[i] == i {
			evals++
		} else if r.same[i] > 1 {
			r.keep[r.same[i]] = true
		}
	}
	r.info.Evals = evals
	if x.end {
		r.info.Stages++
		r.info.End = 1 + s
		r.info.Evals--
	}
	r.info.Nodes = append([]float64{0}, r.alpha[1:]...)
	if x.end {
		r.info.Nodes = append(r.info.Nodes, 1)
	}
	r.m, r.e = shift(x.m), shift(x.e)
	for j := s; j >= 1; j-- {
		col, over := make([]float64, 1+s), make([]float64, 1+s)
		col[0] = x.m[j-1]
		for i := 1; i <= s; i++ {
			over[i] = x.c[i-1][j-1]
		}
		for i := 1; i <= s; i++ { // Ȳ belongs to the first of the stages with this right-hand side
			if r.same[i] == i {
				col[i] = x.a[i-1][j-1]
			}
		}
		r.at[j], r.ct[j] = stages.Sparse(col), stages.Sparse(over)
		v := r.mi[j]
		for k, i := range r.ct[j].Row {
			v = math.FMA(r.ct[j].C[k], r.omega[i], v)
		}
		r.omega[j] = float64(r.gamma * v)
	}
	for i := 1; i <= s; i++ {
		if r.same[i] == i {
			r.total.Row, r.total.C = append(r.total.Row, i), append(r.total.C, 1)
		}
	}
	for i, beta := range x.beta {
		r.Add(1+i, beta)
	}
	r.info.DenseDegree = r.Degree()
	r.describe()
	return r
}

func newRosenbrock(s *rosenbrockScheme, size solvers.Size, lanes int) *rosenbrock {
	r := &rosenbrock{rosenbrockScheme: s, Space: stages.NewSpace(size, lanes, &s.Dense)}
	r.kept = make([]float64, r.W)
	r.byState, r.byRow = make([]float64, (r.N+1)*r.stages), make([]float64, r.W*r.stages)
	return r
}

// Info describes the method.
func (r *rosenbrock) Info() solvers.Info { return r.info }

// Prepare implements Implicit.
func (r *rosenbrock) Prepare(f solvers.Field) error {
	g, ok := f.(matrices.JacobianField)
	if !ok {
		return &solvers.NoJacobianError{Method: r.info.Name}
	}
	return r.ready(g.Jacobian())
}

// Fault implements Implicit.
func (r *rosenbrock) Fault() error {
	err := r.plan.FaultOf(r.fault, r.j)
	if m, ok := err.(*solvers.MatrixError); ok && m.Kind == solvers.MatrixSingular {
		if rows, cols := r.plan.First.Dependent(r.matrix); len(cols) > 0 {
			m.Rows, m.Cols = rows, cols
		}
	}
	return err
}

// Work implements Implicit.
func (r *rosenbrock) Work() solvers.ImplicitWork { return r.work }

// Price returns what a step costs: that of a Jacobian, its factorisation and a solution for each stage. Before the
// pattern is known, the factors are taken to be those of a small matrix, or of a sparse one.
func (r *rosenbrock) Price(_, jacobian float64) float64 {
	n := float64(r.N)
	factor, solve := min(float64(2*n*n*n/3), float64(100*n)), min(float64(2*n*n), float64(40*n))
	if r.lu != nil {
		r.order() // whatever another run came to
		f, s := r.lu.Work()
		factor, solve = matrices.PriceOf(f), float64(s)
	}
	return math.FMA(matrices.PriceFactor, math.FMA(float64(r.stages), solve, factor), jacobian)
}

// OnGrid reports whether the states are on a grid, once the method is prepared.
func (r *rosenbrock) OnGrid() bool { return r.plan != nil && r.plan.First.Grid() }

// Dearer returns how many times its price a step costs that is so many times as long as the spectral radius stands for.
func (r *rosenbrock) Dearer(reach float64) float64 {
	if lu, ok := r.lu.(linalg.Spreading); ok {
		return lu.Dearer(math.FMA(r.gamma, reach, 1))
	}
	return 1
}

// Share implements Sharing.
func (r *rosenbrock) Share(t *team.Team) {
	r.Space.Share(t)
	linalg.Share(r.lu, t)
}

// ready makes the work space for the places of a Jacobian.
func (r *rosenbrock) ready(jac *matrices.Jacobian) error {
	if r.jac == jac {
		return nil
	}
	plan, err := jac.Plan(solvers.Size{N: r.N, Q: r.Q})
	if err != nil {
		return err
	}
	if err := jac.Room(plan.First); err != nil {
		return err
	}
	r.jac, r.plan, r.lu = jac, plan, plan.First.New()
	linalg.Share(r.lu, r.Team)
	if r.trial, _ = r.lu.(linalg.Trial); r.trial != nil && !r.trial.Tries() {
		r.trial = nil
	}
	r.j, r.matrix = make([]float64, plan.Entries), make([]float64, plan.Pattern.NonZeros())
	r.left = matrices.SolvedStep{Entries: r.j}
	if plan.Matrix != nil {
		r.left.Kept = make([]float64, r.lu.Kept(), r.lu.Kept()+plan.Entries)
	}
	if r.ends = nil; jac.Mass != nil {
		if r.ends, err = stages.NewEnds(jac, &r.Space, &r.m); err != nil {
			return err
		}
	}
	r.push.ready, r.pull.ready = false, false // their sizes are those of the entries
	return nil
}

// differentiate evaluates the Jacobian at the start of s, unless it is at hand. It reports whether it could.
func (r *rosenbrock) differentiate(f solvers.Field, s *solvers.Step, again bool) bool {
	g, ok := f.(matrices.JacobianField)
	if !ok {
		r.fault = &solvers.NoJacobianError{Method: r.info.Name}
		return false
	}
	if jac := g.Jacobian(); jac != r.jac {
		if r.fault = r.ready(jac); r.fault != nil {
			return false
		}
		again = false
	}
	r.made.k = nil
	if !again {
		g.EvalJacobian(s.T, s.Y0, r.j)
		r.work.Jacobians++
	}
	return true
}

// Rate implements Implicit.
func (r *rosenbrock) Rate(f solvers.Field, s *solvers.Step) float64 {
	if !r.differentiate(f, s, false) || r.plan.Mass != nil { // these have another eigenvalue problem
		return math.NaN()
	}
	return r.plan.Radius(r.j, r.Y, r.Slope[:r.N])
}

// factor makes and factors G at the start of s. It reports whether it could.
func (r *rosenbrock) factor(f solvers.Field, s *solvers.Step, again bool) bool {
	if !r.differentiate(f, s, again) {
		return false
	}
	r.plan.Assemble(r.matrix, r.inverse, s.H, r.j)
	r.order()
	r.work.Factorisations++
	if r.trial != nil && len(s.Kept) == 1 {
		r.fault = r.trial.FactorServed(r.matrix, linalg.Serving(s.Kept[0]))
	} else {
		r.fault = r.lu.Factor(r.matrix)
	}
	return r.fault == nil
}

// order takes the order with which every factorisation begins.
func (r *rosenbrock) order() {
	if r.plan.Order != nil && r.lu.Order() != r.plan.Order {
		r.lu.SetOrder(r.plan.Order)
	}
}

// refactor makes the factors of the recorded step s again, or takes what was kept of them.
func (r *rosenbrock) refactor(f solvers.Field, s *solvers.Step) bool {
	if s.Kept == nil || r.Prepare(f) != nil || r.trial != nil {
		return r.factor(f, s, false)
	}
	n := r.lu.Kept()
	r.lu.Restore(s.Kept[:n])
	copy(r.j, s.Kept[n:])
	r.made.k, r.fault = nil, nil
	return true
}

// Factors implements Keeper.
func (r *rosenbrock) Factors() int {
	switch {
	case r.trial != nil:
		return 1
	case r.lu == nil || r.lu.Kept() == 0:
		return 0
	}
	return r.lu.Kept() + len(r.j)
}

// KeepFactors implements Keeper.
func (r *rosenbrock) KeepFactors(s *solvers.Step, to []float64) bool {
	if len(s.K) == 0 || r.made.k != &s.K[0] || r.made.t != s.T || r.made.h != s.H {
		return false
	}
	if r.trial != nil {
		by := r.trial.Served()
		to[0] = float64(by)
		return by != linalg.NothingServes
	}
	n := r.lu.Kept()
	copy(to[n:], r.j)
	if r.made.whole {
		copy(to, r.left.Kept)
		return true
	}
	return r.lu.Keep(to[:n])
}

// time returns the time of stage i.
func (r *rosenbrock) time(s *solvers.Step, i int) float64 { return s.Node(r.alpha[i]) }

// value returns the stage value Y_i.
func (r *rosenbrock) value(s *solvers.Step, i int) []float64 { return r.Stage(s, &r.a[i]) }

// Step fills K, Y1 and DQ.
func (r *rosenbrock) Step(f solvers.Field, s *solvers.Step, reuse bool) {
	n, w, h := r.N, r.W, s.H
	s.Dense, s.Estimated, s.Kept = false, false, nil
	if r.makeWhole(f, s, reuse) {
		return
	}
	if !reuse {
		f.Eval(s.T, s.Y0, s.K[:w:w])
	}
	if r.rests(f, s) {
		r.ends.Rest(s)
		r.made.k, r.fault = nil, nil
		return
	}
	if !r.factor(f, s, s.Again) {
		r.Fail(s)
		return
	}
	r.note(s, false)
	for i := 1; i <= r.stages; i++ {
		k := s.K[i*w : (i+1)*w : (i+1)*w]
		switch same := r.same[i]; {
		case same == 1:
			copy(k, s.K[:w])
		case same < i:
			copy(k, r.kept)
		case r.info.FSAL && i == r.stages:
			r.End(s, &r.m)
			end := s.K[(i+1)*w : (i+2)*w : (i+2)*w]
			f.Eval(s.T1, s.Y1, end)
			copy(k, end)
		default:
			f.Eval(r.time(s, i), r.value(s, i), k)
			if r.keep[i] {
				copy(r.kept, k)
			}
		}
		r.couple(k, &r.c[i], s.K, 1)
		if g := float64(h * r.gammas[i]); g != 0 {
			for _, x := range r.plan.Times {
				k[x.Row] = math.FMA(g, r.j[x.E], k[x.Row])
			}
		}
		r.lu.Solve(k[:n], 1)
		r.work.Solves++
		if r.Q > 0 {
			for outer := r.plan.Outer; len(outer) > 0; {
				row := outer[0].Row
				sum, e := k[row], 0
				for ; e < len(outer) && outer[e].Row == row; e++ {
					sum = math.FMA(float64(h*r.j[outer[e].E]), k[outer[e].Col], sum)
				}
				k[row], outer = sum, outer[e:]
			}
			stages.Scale(k[n:], r.gamma)
		}
	}
	if !r.info.FSAL {
		r.End(s, &r.m)
	}
	if err := r.ends.Settle(f, s); err != nil {
		r.fault = err
		r.Fail(s)
	}
}

// rests reports whether s is a step of length zero with algebraic equations.
func (r *rosenbrock) rests(f solvers.Field, s *solvers.Step) bool {
	return s.H == 0 && r.Prepare(f) == nil && r.ends != nil
}

// Closed implements closes.
func (r *rosenbrock) Closed() (moved []float64, side int) { return r.ends.Closed() }

// couple adds Σ c_j M κ_j to row[w·l].
func (r *rosenbrock) couple(row []float64, c *stages.Form, rows []float64, l int) {
	if r.plan.Mass == nil {
		c.Combine(row, row, 1, rows, r.W*l)
		return
	}
	if len(c.C) == 0 {
		return
	}
	sum := r.sums(r.W * l)
	c.Combine(sum, r.Zero, 1, rows, r.W*l)
	r.plan.Mass.AddLanes(row, sum, l, false)
	for j := r.N * l; j < len(row); j++ {
		row[j] += sum[j]
	}
}

// coupleT adds Σ c_j Mᵀ v_j to x[n·l], where the v_j are rows of w elements.
func (r *rosenbrock) coupleT(x []float64, c *stages.Form, rows []float64, l int) {
	if r.plan.Mass == nil {
		c.Combine(x, x, 1, rows, r.W*l)
		return
	}
	if len(c.C) == 0 {
		return
	}
	sum := r.sums(r.N * l)
	c.Combine(sum, r.Zero, 1, rows, r.W*l)
	r.plan.Mass.AddLanes(x, sum, l, true)
}

// sums returns work space for n numbers.
func (r *rosenbrock) sums(n int) []float64 {
	if len(r.sum) == 0 {
		r.sum = make([]float64, len(r.Zero))
	}
	return r.sum[:n]
}

// note remembers that the factors belong to s, and where they are.
func (r *rosenbrock) note(s *solvers.Step, whole bool) {
	if r.made.k = nil; len(s.K) > 0 {
		r.made.k, r.made.t, r.made.h, r.made.whole = &s.K[0], s.T, s.H, whole
	}
	if !whole && r.left.Kept != nil {
		linalg.Exchanges(r.lu, r.left.Kept)
	}
}

// Error writes e[N+Q] = h Σ e_i κ_i.
func (r *rosenbrock) Error(s *solvers.Step, e []float64) {
	if s.Estimated {
		copy(e, s.E)
		return
	}
	r.e.Combine(e, r.Zero, s.H, s.K, r.W)
}

// Interpolate writes y[N] at T + theta·H. Both ends are exact: y is Y0 at 0 and Y1 at 1.
func (r *rosenbrock) Interpolate(_ solvers.Field, s *solvers.Step, theta float64, y []float64) {
	switch theta {
	case 0:
		copy(y, s.Y0)
	case 1:
		copy(y, s.Y1)
	default:
		r.Weigh(theta)
		r.Theta.Combine(y, s.Y0, s.H, s.K, r.W)
	}
}

// InterpolateSlope writes the dense output y[N] at T + theta·H, with the bits of Interpolate, and its derivative by
// time, yd[N] = Σ β'_i(θ) κ_i.
func (r *rosenbrock) InterpolateSlope(f solvers.Field, s *solvers.Step, theta float64, y, yd []float64) {
	r.Interpolate(f, s, theta, y)
	r.Weigh(theta)
	r.Drift.Combine(yd, r.Zero, 1, s.K, r.W)
}

// gauss holds the nodes and weights of Gauss's formulas on [0, 1], by the number of nodes.
var gauss = [][]struct{ node, weight float64 }{
	2: {{0.2113248654051871, 0.5}, {0.7886751345948129, 0.5}},
	3: {{0.1127016653792583, 5.0 / 18}, {0.5, 8.0 / 18}, {0.8872983346207417, 5.0 / 18}},
}

// EachStage implements Staged with points of the dense output. Stage values are of no use, since they are those of no
// quadrature formula. Gauss's formula with as many nodes as the integral of the dense output has orders, halved, has
// this order, which no method here exceeds.
func (r *rosenbrock) EachStage(s *solvers.Step, f func(t, weight float64, y []float64)) {
	for _, x := range gauss[(r.info.DenseOrder+2)/2] {
		r.Weigh(x.node)
		r.Theta.Combine(r.Y, s.Y0, s.H, s.K, r.W)
		f(math.FMA(x.node, s.H, s.T), float64(x.weight*s.H), r.Y)
	}
}
