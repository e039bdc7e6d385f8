package implicit

import (
	"errors"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/base/team"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// implicitRungeKutta is the Method of an implicitTable. A row of K that solves equations holds the slope k_i of its
// stage. It is the unknown of the equations: a right-hand side evaluated at a stage would have the rounding error of
// what decays fast, multiplied.
//
// Where M is not the identity, a step is that of the method for the states whose rates M gives, with the unknowns as
// functions of them at every stage: the slopes of unknowns are whatever makes the stages of a block consistent, and
// zero in explicit rows, whose values are made consistent, as are ends of steps and the dense output. So all orders
// are those for ordinary equations, and no stage value depends on the slopes of unknowns before.
//
// The equations of a block are solved by Newton's method, to rounding: a step is a function of its arguments alone, and
// its derivatives are those of the equations, not of the iteration. Newton's matrix M ⊗ I - h A ⊗ J begins with the
// Jacobian at the start of the step. Its factors serve all iterations of all blocks with the same figures, until
// changes shrink too slowly: then J is evaluated at the stages, and the matrix factored anew.
//
// Sources: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, sections IV.6 and IV.8; for derivatives,
// H. Zhang, A. Sandu, SIAM Journal on Scientific Computing 36 (2014) C504–C523, doi:10.1137/130912335 (FATODE).
type implicitRungeKutta struct {
	*implicitScheme
	stages.Space

	jac      *matrices.Jacobian // what the rest was made for
	plan     *matrices.Plan
	solver   []*blockSolver // by the number of rows; nil where no block has so many
	j        []float64      // [E] entries at the start of a step
	js       []float64      // [sizes][E] entries at the stages of a block
	f        []float64      // [w] a right-hand side
	e0       []float64      // [w] an estimate
	phi      []float64      // φ of the estimate; nil for no filter
	passes   int            // how often it is filtered
	filtered []float64      // [passes][n] the estimate after each filter
	product  []float64      // [n·l] what M multiplies
	ends     *stages.Ends   // nil where M is the identity
	dead     []bool         // [rows] that only the estimate depends on
	fault    error          // why the last step could not be made
	work     solvers.ImplicitWork
	shrinks  float64 // how much the second change of Newton's method was smaller than the first; the worst

	push   implicitPush
	pull   implicitPull
	second *implicitSecond
	z      *implicitComplex
}

// blockSolver factors and solves M ⊗ I - h A ⊗ J.
type blockSolver struct {
	plan    *blockPlan
	lu      linalg.LU
	inexact linalg.Inexact // lu, where that may have no factors
	modes   *blockModes    // with the Jacobian at the start; nil where lu does that as well
	rest    []float64      // [size·n·max(l, 1)] of modes
	matrix  []float64
	x       []float64 // [size·n·max(l, 1)]
	a       []float64 // of the factors; nil for none
	h       float64
	first   bool // they are those of the Jacobian at the start
}

func newImplicitRungeKutta(s *implicitScheme, size solvers.Size, lanes int) *implicitRungeKutta {
	r := &implicitRungeKutta{implicitScheme: s, Space: stages.NewSpace(size, lanes, &s.Dense)}
	r.f, r.e0, r.dead = make([]float64, r.W), make([]float64, r.W), make([]bool, r.rows)
	return r
}

// Info describes the method.
func (r *implicitRungeKutta) Info() solvers.Info { return r.info }

// Prepare implements Implicit.
func (r *implicitRungeKutta) Prepare(f solvers.Field) error {
	g, ok := f.(matrices.JacobianField)
	if !ok {
		return &solvers.NoJacobianError{Method: r.info.Name}
	}
	if r.tab.parts != nil && solvers.SplitOf(f) == nil {
		return &solvers.NoSplitError{Method: r.info.Name}
	}
	return r.ready(g.Jacobian())
}

// Work implements Implicit.
func (r *implicitRungeKutta) Work() solvers.ImplicitWork { return r.work }

// Share implements Sharing.
func (r *implicitRungeKutta) Share(t *team.Team) {
	r.Space.Share(t)
	for _, b := range r.solver {
		if b == nil {
			continue
		}
		linalg.Share(b.lu, t)
		if b.modes == nil {
			continue
		}
		for i := range b.modes.modes {
			linalg.Share(b.modes.modes[i].lu, t)
		}
	}
}

// ready makes the work space for the places of a Jacobian.
func (r *implicitRungeKutta) ready(jac *matrices.Jacobian) error {
	if r.jac == jac {
		return nil
	}
	z := solvers.Size{N: r.N, Q: r.Q}
	plan, err := jac.Plan(z)
	if err != nil {
		return err
	}
	solver := make([]*blockSolver, 1+max(r.sizes, 1))
	for _, b := range r.blocks {
		size := b.to - b.from
		if b.explicit || solver[size] != nil {
			continue
		}
		if solver[size], err = newBlockSolver(jac, z, b.a, size, r.L); err != nil {
			return err
		}
	}
	r.phi, r.passes = r.filter, r.filters
	if r.ends = nil; jac.Mass != nil {
		if r.ends, err = stages.NewEnds(jac, &r.Space, &r.b); err != nil {
			return err
		}
		if r.phi == nil { // of a diagonally implicit method: the errors of unknowns follow from those of other states
			r.phi, r.passes = r.own, 1
		}
		r.product = make([]float64, r.N*max(r.L, 1))
	}
	r.filtered = make([]float64, r.passes*r.N)
	if r.phi != nil && solver[1] == nil {
		if solver[1], err = newBlockSolver(jac, z, nil, 1, r.L); err != nil {
			return err
		}
	}
	r.jac, r.plan, r.solver = jac, plan, solver
	r.Share(r.Team)
	r.j, r.js = make([]float64, plan.Entries), make([]float64, r.sizes*plan.Entries)
	r.push.ready, r.pull.ready = false, false // their sizes are those of the entries
	return nil
}

func newBlockSolver(jac *matrices.Jacobian, z solvers.Size, a []float64, size, lanes int) (*blockSolver, error) {
	plan, err := blockOf(jac, z, size)
	if err != nil {
		return nil, err
	}
	if err := jac.Room(plan.first); err != nil {
		return nil, err
	}
	b := &blockSolver{
		plan: plan, lu: plan.first.New(), matrix: make([]float64, plan.nonZeros),
		x: make([]float64, size*z.N*max(lanes, 1)),
	}
	b.inexact, _ = b.lu.(linalg.Inexact)
	if b.modes, err = newBlockModes(jac, z, a, size, lanes, b.lu.Flops()); err != nil {
		return nil, err
	}
	if b.modes != nil {
		b.rest = make([]float64, len(b.x))
	}
	return b, nil
}

// begin takes the order with which every factorisation begins.
func (b *blockSolver) begin() {
	if b.plan.order != nil && b.lu.Order() != b.plan.order {
		b.lu.SetOrder(b.plan.order)
		b.a = nil
	}
}

// change replaces a residual by a change of slopes, and an error by a filtered one. Where there are no factors it is
// about that: the next change mends a change, and of errors a few digits count.
func (b *blockSolver) change(x []float64) {
	switch {
	case b.modes != nil && b.first:
		b.modes.solve(x, b.rest, 1, false)
	case b.inexact != nil:
		b.inexact.SolveTo(x, 1, newtonInexact)
	default:
		b.lu.Solve(x, 1)
	}
}

// factor makes and factors the matrix for a[size·size]; row i has the entries js[i·step:].
func (b *blockSolver) factor(h float64, a, js []float64, step int) error {
	b.a = nil
	b.plan.assemble(b.matrix, h, a, js, step)
	b.begin()
	if err := b.lu.Factor(b.matrix); err != nil {
		return err
	}
	b.a, b.h, b.first = a, h, false
	return nil
}

// differentiate evaluates the Jacobian at the start of s, unless it is at hand. It reports whether it could.
func (r *implicitRungeKutta) differentiate(f solvers.Field, s *solvers.Step, again bool) bool {
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
	r.fault = nil
	for _, b := range r.solver {
		if b != nil {
			b.a = nil
		}
	}
	if !again {
		g.EvalJacobian(s.T, s.Y0, r.j)
		r.work.Jacobians++
	}
	return true
}

// start factors the matrix with the Jacobian at the start, unless it is at hand. It reports whether it could.
func (r *implicitRungeKutta) start(b *blockSolver, h float64, a []float64) bool {
	if b.a != nil && b.first && b.h == h && slices.Equal(b.a, a) {
		return true
	}
	r.work.Factorisations++
	if b.modes != nil {
		r.fault = b.modes.factor(h, r.j)
		b.a, b.h = a, h
	} else {
		r.fault = b.factor(h, a, r.j, 0)
	}
	b.first = r.fault == nil
	return b.first
}

// linearise factors the matrix of a block with the Jacobian at its stages, which s holds. It reports whether it could.
// It leaves the entries in js.
func (r *implicitRungeKutta) linearise(f matrices.JacobianField, s *solvers.Step, b *implicitBlock) bool {
	step := r.plan.Entries
	for i := b.from; i < b.to; i++ {
		f.EvalJacobian(nodeTime(r, s, i), r.value(f, s, i), r.js[(i-b.from)*step:][:step])
		r.work.Jacobians++
	}
	r.work.Factorisations++
	r.fault = r.solver[b.to-b.from].factor(s.H, b.a, r.js, step)
	return r.fault == nil
}

// relinearise makes the factors of the matrix of a block of the finished step s. It reports whether it could.
func (r *implicitRungeKutta) relinearise(f solvers.Field, s *solvers.Step, b *implicitBlock) bool {
	if r.Prepare(f) != nil {
		return false
	}
	return r.linearise(f.(matrices.JacobianField), s, b)
}

// nodeTime returns the time of row i.
func nodeTime(r *implicitRungeKutta, s *solvers.Step, i int) float64 { return s.Node(r.c[i]) }

// value returns the stage value Y_i, which in an explicit row is made consistent.
func (r *implicitRungeKutta) value(f solvers.Field, s *solvers.Step, i int) []float64 {
	y := r.Stage(s, &r.a[i])
	if settled(r, i) && r.ends.Solve(f.(matrices.JacobianField), nodeTime(r, s, i), y) != nil {
		elem.Spoil(y)
	}
	return y
}

// settled reports whether the value of row i is made consistent.
func settled(r *implicitRungeKutta, i int) bool {
	return r.ends != nil && r.plain[i] && len(r.a[i].C) > 0
}

// still makes the slopes k[n·l] of unknowns in an explicit row zero.
func still(r *implicitRungeKutta, k []float64, l int) {
	if r.ends != nil {
		r.ends.Mass.Clear(k, l)
	}
}

// rests reports whether s is a step of length zero with algebraic equations.
func (r *implicitRungeKutta) rests(f solvers.Field, s *solvers.Step) bool {
	return s.H == 0 && r.Prepare(f) == nil && r.ends != nil
}

// Closed implements closes. The weights of a method that is not stiffly accurate combine values of the unknowns at the
// stages without regard to the equations. Nothing reads what comes of it, and tolerances do not bound it.
func (r *implicitRungeKutta) Closed() (moved []float64, side int) {
	if moved, side = r.ends.Closed(); !r.closes {
		moved = nil
	}
	return moved, side
}

// Step fills K, Y1 and DQ.
func (r *implicitRungeKutta) Step(f solvers.Field, s *solvers.Step, reuse bool) {
	w := r.W
	s.Dense, s.Estimated, s.Kept = false, false, nil
	r.fault, r.shrinks = nil, 0
	defer r.whole(f)
	if !reuse {
		f.Eval(s.T, s.Y0, s.K[:w:w])
	}
	if r.rests(f, s) {
		r.ends.Rest(s)
		r.fault = nil
		return
	}
	if r.tab.parts != nil {
		r.fault = r.Prepare(f)
	}
	if r.fault != nil || !r.differentiate(f, s, s.Again) {
		r.Fail(s)
		return
	}
	still(r, s.K, 1)
	done := false
	for i := range r.blocks {
		b := &r.blocks[i]
		k := s.K[b.from*w : (b.from+1)*w : (b.from+1)*w]
		switch {
		case b.end:
			if !r.finish(f, s) {
				return
			}
			f.Eval(s.T1, s.Y1, k)
			still(r, k, 1)
			done = true
		case b.explicit:
			r.take(f, b.from)
			f.Eval(nodeTime(r, s, b.from), r.value(f, s, b.from), k)
			still(r, k, 1)
		case !r.solve(f.(matrices.JacobianField), s, b):
			r.Fail(s)
			return
		}
	}
	if !done && !r.finish(f, s) {
		return
	}
	if s.E != nil && len(r.e.C) > 0 {
		s.Estimated = estimate(r, s, s.E)
	}
}

// newton decides on an iteration of Newton's method, by what it changes.
type newton struct {
	last   float64 // the last change
	rate   float64 // and its proportion to the one before with the same matrix; 0 for none
	fresh  bool    // the matrix is one of the stages
	tried  bool    // changes were seen with this matrix
	slow   bool    // changes shrink too slowly, or not at all
	ahead  float64 // iterations to come that cost more than another matrix
	counts int
	second float64 // the second change over the first; 0 where one was enough
}

// Bounds of Newton's method.
const (
	newtonMost    = 30      // iterations of a block
	newtonDone    = 0x1p-50 // a change that is none, relative to the state
	newtonNoise   = 0x1p-26 // a change that may be rounding, where changes do not shrink any more
	newtonLeft    = 0x1p-48 // what is left of an equation that holds to rounding, relative to its terms
	newtonSlow    = 0.25    // a rate that asks for another matrix
	newtonAhead   = 4       // iterations to come that cost more than another matrix
	newtonModes   = 12      // and more than a coupled one, where the eigenvalues of the table serve the first
	newtonInexact = 0x1p-13 // residual of a change that is found without factors
	newtonFront   = 0x1p-20 // of the largest state: what is smaller is not known better by a solution without factors
)

// newtonVerdict says how an iteration goes on.
type newtonVerdict uint8

const (
	newtonOn     newtonVerdict = iota
	newtonRenew                // with another matrix
	newtonFound                // the slopes are found
	newtonFailed               // they will not be
)

// judge takes the largest change of an iteration, relative to the states.
func (it *newton) judge(change float64) newtonVerdict {
	before, rate := it.rate, 0.0
	if it.tried {
		rate = change / it.last
	}
	first := !it.tried
	it.counts++
	it.last, it.rate, it.tried, it.slow = change, rate, true, rate > newtonSlow
	if it.counts == 2 {
		it.second = rate
	}
	switch {
	case !(change <= 1): // NaN
		return newtonFailed
	case change <= newtonDone, !first && float64(rate*change) <= newtonDone/4:
		return newtonFound
	case change < newtonNoise && rate > newtonSlow && (it.fresh || rate > float64(8*before) && before > 0):
		return newtonFound
	case it.counts >= newtonMost:
		return newtonFailed
	case !first && (rate > newtonSlow || elem.QuickLog2(newtonDone/change)/elem.QuickLog2(rate) > it.ahead):
		it.rate, it.tried, it.fresh = 0, false, true
		return newtonRenew
	}
	return newtonOn
}

// solve finds the slopes of a block. It reports whether it could. A first guess are the slopes of a row before.
func (r *implicitRungeKutta) solve(f matrices.JacobianField, s *solvers.Step, b *implicitBlock) bool {
	n, w, size := r.N, r.W, b.to-b.from
	guess := r.tab.guess(b.from)
	from := s.K[guess*w : (guess+1)*w]
	for i := b.from; i < b.to; i++ {
		copy(s.K[i*w:(i+1)*w], from)
	}
	lin := r.solver[size]
	if (lin.h != s.H || !slices.Equal(lin.a, b.a)) && !r.start(lin, s.H, b.a) {
		return false
	}
	it := newton{ahead: newtonAhead}
	if lin.modes != nil && lin.first {
		it.ahead = newtonModes
	}
	defer func() { r.shrinks = max(r.shrinks, it.second) }()
	for {
		for i := b.from; i < b.to; i++ {
			r.take(f, i)
			f.Eval(nodeTime(r, s, i), r.value(f, s, i), r.f)
			if !simd.Finite(r.f[:n]) {
				return false
			}
			x, k := lin.x[(i-b.from)*n:(i-b.from+1)*n], s.K[i*w:(i+1)*w]
			copy(x, r.f[:n])
			r.plan.Minus(x, k)
		}
		lin.change(lin.x[:size*n])
		r.work.Solves++
		verdict := it.judge(r.change(f, s, b, lin.x))
		if verdict > newtonOn && verdict != newtonFound && it.slow && r.holds(f, s, b, it.fresh) {
			verdict = newtonFound
		}
		switch verdict {
		case newtonFound:
			r.work.Further += size * (it.counts - 1)
			r.settle(f, s, b)
			return true
		case newtonFailed:
			r.fault = r.diverged(f, s, b, lin.x)
			return false
		case newtonRenew:
			if !r.linearise(f, s, b) {
				var infinite *linalg.NotFiniteError
				if errors.As(r.fault, &infinite) { // on the way, not at the start: a shorter step may do
					r.fault = r.diverged(f, s, b, lin.x)
				}
				return false
			}
		}
	}
}

// holds reports whether the equations of a block hold to rounding: what is left of each is no more than the rounding
// of its terms. That is how a state is known whose value is rounding itself, such as a current that others cancel:
// relative to that state no change ever becomes small. The terms are those of the linearised equation. The Jacobian at
// hand says mostly that they do not hold. Where it says that they do, the one of the present stages decides: after a
// change that went too far, another may have entries that are larger by many orders.
func (r *implicitRungeKutta) holds(f matrices.JacobianField, s *solvers.Step, b *implicitBlock, fresh bool) bool {
	left, terms := r.f[:r.N], r.e0[:r.N]
	for i := b.from; i < b.to; i++ {
		k, j := s.K[i*r.W:i*r.W+r.N], r.j
		if fresh {
			j = r.js[(i-b.from)*r.plan.Entries:]
		}
		y := r.value(f, s, i)
		r.take(f, i)
		f.Eval(nodeTime(r, s, i), y, r.f)
		r.work.Further++
		r.plan.Minus(left, k)
		small := func() bool {
			r.plan.Sizes(terms, j, y, s.Y0, k)
			for e, v := range left {
				if !(math.Abs(v) <= newtonLeft*terms[e]) {
					return false
				}
			}
			return true
		}
		if !small() {
			return false
		}
		j = r.js[(i-b.from)*r.plan.Entries:][:r.plan.Entries]
		r.work.Jacobians++
		if f.EvalJacobian(nodeTime(r, s, i), y, j); !small() {
			return false
		}
	}
	return true
}

// change adds the changes x of a block to its slopes. It returns the largest, relative to the states.
func (r *implicitRungeKutta) change(f solvers.Field, s *solvers.Step, b *implicitBlock, x []float64) float64 {
	n, w, most := r.N, r.W, 0.0
	for i := b.from; i < b.to; i++ {
		k := s.K[i*w : i*w+n]
		for e, v := range x[(i-b.from)*n : (i-b.from+1)*n] {
			k[e] += v
		}
	}
	least := 0.0
	if lu := r.solver[b.to-b.from].inexact; lu != nil && !lu.Exact() {
		for _, v := range s.Y0 {
			least = max(least, float64(newtonFront*math.Abs(v)))
		}
	}
	for i := b.from; i < b.to; i++ {
		y := r.value(f, s, i)
		for e, v := range x[(i-b.from)*n : (i-b.from+1)*n] {
			most = larger(most, s.H, v, y[e], max(math.Abs(s.Y0[e]), least))
		}
	}
	return most
}

// newtonLeast is the size of the smallest slopes and states that are known to rounding. Below, steps between numbers
// are equal.
const newtonLeast = 0x1p-1018

// larger returns the larger of most and a change v of a slope, relative to the state; NaN where one is.
func larger(most, h, v, y, y0 float64) float64 {
	if d := math.Abs(float64(h * v)); d != 0 {
		least := float64(newtonLeast * max(math.Abs(h), 1))
		if d /= d + math.Abs(y) + math.Abs(y0) + least; !(d <= most) {
			return d
		}
	}
	return most
}

// settle completes the rows of a block whose slopes are found.
func (r *implicitRungeKutta) settle(f solvers.Field, s *solvers.Step, b *implicitBlock) {
	if r.Q == 0 {
		return
	}
	for i := b.from; i < b.to; i++ {
		r.take(f, i)
		f.Eval(nodeTime(r, s, i), r.value(f, s, i), r.f)
		copy(s.K[i*r.W+r.N:(i+1)*r.W], r.f[r.N:])
		r.work.Further++
	}
}

// diverged returns the error of an iteration that does not converge: the states that it changes most.
func (r *implicitRungeKutta) diverged(f solvers.Field, s *solvers.Step, b *implicitBlock, x []float64) error {
	e := &solvers.MatrixError{Kind: solvers.MatrixDiverged}
	worst := 0.0
	for i := b.from; i < b.to; i++ {
		y := r.value(f, s, i)
		for j, v := range x[(i-b.from)*r.N : (i-b.from+1)*r.N] {
			if d := larger(worst, s.H, v, y[j], s.Y0[j]); d != worst {
				worst, e.Rows, e.Cols = d, []int{j}, []int{j}
			}
		}
	}
	return e
}

// finish fills Y1 and DQ. It reports whether it could.
func (r *implicitRungeKutta) finish(f solvers.Field, s *solvers.Step) bool {
	r.End(s, &r.b)
	if r.fault = r.ends.Settle(f, s); r.fault != nil {
		r.Fail(s)
	}
	return r.fault == nil
}

// estimate writes the estimate e[N+Q] of the finished step s; the Jacobian at its start must be at hand. It reports
// whether it could.
func estimate(r *implicitRungeKutta, s *solvers.Step, e []float64) bool {
	r.e.Combine(e, r.Zero, s.H, s.K, r.W)
	if r.phi == nil {
		return true
	}
	if !r.start(r.solver[1], s.H, r.phi) {
		return false
	}
	for i := range r.passes {
		weighError(r, e, 1)
		r.solver[1].change(e[:r.N])
		r.work.Solves++
		copy(r.filtered[i*r.N:], e[:r.N])
	}
	return true
}

// weighError makes e[n·l] M e.
func weighError(r *implicitRungeKutta, e []float64, l int) {
	if r.ends != nil {
		x := r.product[:r.N*l]
		copy(x, e)
		clear(e[:r.N*l])
		r.ends.Mass.AddLanes(e, x, l, false)
	}
}

// Error writes e[N+Q].
func (r *implicitRungeKutta) Error(s *solvers.Step, e []float64) {
	if s.Estimated {
		copy(e, s.E)
		return
	}
	r.e.Combine(e, r.Zero, s.H, s.K, r.W)
}

// Contraction returns how much smaller the second change of an iteration of the last step was than the first.
func (r *implicitRungeKutta) Contraction() float64 { return r.shrinks }

// Fault implements Implicit.
func (r *implicitRungeKutta) Fault() error {
	err := r.plan.FaultOf(r.fault, r.j)
	if m, ok := err.(*solvers.MatrixError); ok && r.fault != nil { // of the matrix of a block
		m.Rows, m.Cols = ofStates(r, m.Rows), ofStates(r, m.Cols)
	}
	return err
}

// ofStates returns the states of unknowns of a block, each once, in order.
func ofStates(r *implicitRungeKutta, unknowns []int) (states []int) {
	for _, i := range unknowns {
		states = append(states, i%r.N)
	}
	slices.Sort(states)
	return slices.Compact(states)
}

// Rate implements Implicit.
func (r *implicitRungeKutta) Rate(f solvers.Field, s *solvers.Step) float64 {
	if !r.differentiate(f, s, false) || r.ends != nil { // these have another eigenvalue problem
		return math.NaN()
	}
	return r.plan.Radius(r.j, r.Y, r.Slope[:r.N])
}

// Price returns what a step costs: two iterations of each block.
func (r *implicitRungeKutta) Price(rates, jacobian float64) float64 {
	price := jacobian + float64(rates*float64(r.info.Solved))
	n := float64(r.N)
	known := 0
	for _, b := range r.blocks {
		size := b.to - b.from
		if b.explicit {
			continue
		}
		m := float64(n * float64(size))
		squares := float64(m * m)
		factor, solve := min(float64(squares*m)/1.5, float64(100*m)), min(float64(2*squares), float64(40*m))
		if size < len(r.solver) && r.solver[size] != nil {
			lin := r.solver[size]
			lin.begin() // whatever another run came to
			f, s := lin.lu.Work()
			factor, solve = matrices.PriceOf(f), float64(s)
		}
		if size == known {
			factor = 0
		}
		known = size
		price = math.FMA(matrices.PriceFactor, math.FMA(2, solve, factor), price)
	}
	return price
}

// Interpolate writes y[N] at T + theta·H. Both ends are exact: y is Y0 at 0 and Y1 at 1.
func (r *implicitRungeKutta) Interpolate(f solvers.Field, s *solvers.Step, theta float64, y []float64) {
	switch theta {
	case 0:
		copy(y, s.Y0)
	case 1:
		copy(y, s.Y1)
	default:
		r.Weigh(theta)
		r.Theta.Combine(y, s.Y0, s.H, s.K, r.W)
		if r.ends != nil && r.ends.Solve(f.(matrices.JacobianField), s.Node(theta), y) != nil {
			elem.Spoil(y)
		}
	}
}

// InterpolateSlope writes the dense output y[N] at T + theta·H, with the bits of Interpolate, and its derivative by
// time, yd[N] = Σ β'_i(θ) k_i.
func (r *implicitRungeKutta) InterpolateSlope(f solvers.Field, s *solvers.Step, theta float64, y, yd []float64) {
	r.Interpolate(f, s, theta, y)
	r.Weigh(theta)
	r.Drift.Combine(yd, r.Zero, 1, s.K, r.W)
	if r.ends == nil {
		return
	}
	weighError(r, yd, 1)
	if r.ends.Factor(f.(matrices.JacobianField), s.Node(theta), y) != nil {
		elem.Spoil(yd)
		return
	}
	r.ends.Follow(yd)
}

// EachStage implements Staged.
func (r *implicitRungeKutta) EachStage(s *solvers.Step, f func(t, weight float64, y []float64)) {
	for j, i := range r.b.Row {
		if r.tab.parts != nil && r.tab.parts[i] != solvers.ImplicitRates {
			continue // of the same value
		}
		f(nodeTime(r, s, i), float64(s.H*r.b.C[j]), r.Stage(s, &r.a[i]))
	}
}
