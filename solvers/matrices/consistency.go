package matrices

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
)

// Consistency solves the algebraic equations of a system with a Mass: at the start of a run, and after whatever changes
// states, discretes or modes at one time. It moves the unknowns, by as little as Newton's method does from where they
// are, and the other states as M demands, so that M y stays. With C as Mass has it and N = (1 on the unknowns, -C),
//
//	0 = g(t, y + N w),   A = g_y N,
//
// the tangent of the result is ẏ - N A⁻¹ (g_y ẏ + g_t ṫ + g_p ṗ), and the transpose
//
//	Aᵀ v = Nᵀ ȳ,   ȳ -= g_yᵀ v,   t̄ -= g_t·v,   p̄ -= g_pᵀ v.
//
// The values of the unknowns before have no part in either. It belongs to one goroutine.
type Consistency struct {
	Mass    *Mass
	plan    *consistencyPlan
	N, q, L int
	direct  bool // the equations are linear in the unknowns

	lu     linalg.LU
	j      []float64 // [E]
	matrix []float64
	k      []float64 // [n+q]
	g, d   []float64 // [K]
	r      []float64 // [K·max(l, 1)]
	move   []float64 // [n] a step of Newton's method
	next   []float64 // [n] the one after it
	try    []float64 // [n]
	noise  []float64 // [n] how far rounding moves the result
	scale  []float64 // [n]
	tame   bool      // no step of Solve was shortened, and each left next to nothing to the one after it
	kl     []float64 // [(n+q)·l]
	yl     []float64 // [n·l]
	tl     []float64 // [l]

	secondWork

	z *consistencyComplex
}

// secondWork is the work space of PullPush.
type secondWork struct {
	jl     []float64 // [E·l]
	kb, yb solvers.Dual
	tb     solvers.Dual
	v      solvers.Dual // [K]
}

// consistencyPlan is what follows from the places of a Jacobian: the pattern of A and what its entries are made of.
type consistencyPlan struct {
	once     sync.Once // guards:
	failed   error
	analysis *linalg.Analysis
	order    *linalg.Order
	nonZeros int
	parts    []consistencyPart
	rows     []Entry // entries of the algebraic equations, by the number of the equation
}

// consistencyPart adds by times an entry of the Jacobian to an entry of A.
type consistencyPart struct {
	from, to int32
	row, col int32 // of A
	by       float64
}

func (j *Jacobian) consistency(z solvers.Size) (*consistencyPlan, error) {
	p := &j.algebraic
	p.once.Do(func() {
		m := j.Mass
		var rows, cols []int
		part := func(e int, row, col int32, by float64) {
			p.parts = append(p.parts, consistencyPart{from: int32(e), row: row, col: col, by: by})
			rows, cols = append(rows, int(row)), append(cols, int(col))
		}
		for e, i := range j.Rows {
			if int(i) >= z.N || m.of[i] == 0 {
				continue
			}
			p.rows = append(p.rows, Entry{int32(e), m.number(i), j.Cols[e]})
			col := j.Cols[e]
			if int(col) == z.N {
				continue
			}
			if k := m.number(col); k >= 0 {
				part(e, m.number(i), k, 1)
				continue
			}
			for c, b := range m.Rows {
				if b == col {
					part(e, m.number(i), m.number(m.Cols[c]), -m.Values[c])
				}
			}
		}
		pattern, places := linalg.NewPattern(len(m.Unknowns), rows, cols)
		for k := range p.parts {
			p.parts[k].to = places[k]
		}
		p.nonZeros = pattern.NonZeros()
		if p.analysis, p.failed = linalg.Analyze(pattern, linalg.Options{}); p.failed == nil {
			p.order = p.analysis.New().Order()
		}
	})
	return p, p.failed
}

// NewConsistency returns what solves the algebraic equations of sys, with tangents and cotangents in so many lanes; nil
// for a system without any. sys is a JacobianField or a ComplexJacobianField.
func NewConsistency(sys any, lanes int) (*Consistency, error) {
	if massOf(sys) == nil {
		return nil, nil
	}
	f, ok := sys.(interface {
		Size() solvers.Size
		Jacobian() *Jacobian
	})
	if !ok {
		return nil, &solvers.NoJacobianError{Method: "of algebraic equations"}
	}
	return ConsistencyOf(f.Jacobian(), f.Size(), lanes)
}

// ConsistencyOf is NewConsistency for the Jacobian of a field of the given size, which has a Mass.
func ConsistencyOf(jac *Jacobian, z solvers.Size, lanes int) (*Consistency, error) {
	m := jac.Mass
	plan, err := jac.consistency(z)
	if err != nil {
		return nil, m.singular(err, nil)
	}
	v := func(n int) []float64 { return make([]float64, n) }
	k := len(m.Unknowns)
	c := &Consistency{
		Mass: m, plan: plan, N: z.N, q: z.Q, L: lanes, lu: plan.analysis.New(), j: v(len(jac.Rows)),
		matrix: v(plan.nonZeros), k: v(z.N + z.Q), g: v(k), d: v(k), r: v(k * max(lanes, 1)), move: v(z.N),
		next: v(z.N), try: v(z.N), noise: v(z.N), scale: v(z.N), direct: jac.Direct,
	}
	if lanes > 0 {
		c.kl, c.yl, c.tl = v((z.N+z.Q)*lanes), v(z.N*lanes), v(lanes)
	}
	return c, nil
}

// singular makes an error of one of the analysis or the factorisation of A; values may be nil.
func (m *Mass) singular(err error, dependent func() (rows, cols []int)) error {
	e := &ConsistencyError{Kind: ConsistencySingular}
	var s *linalg.SingularError
	var infinite *linalg.NotFiniteError
	switch {
	case errors.As(err, &s):
		rows, cols := s.Rows, s.Cols
		if dependent != nil {
			if r, c := dependent(); len(c) > 0 {
				rows, cols = r, c
			}
		}
		for _, i := range rows {
			e.Rows = append(e.Rows, int(m.Unknowns[i]))
		}
		for _, i := range cols {
			e.Cols = append(e.Cols, int(m.Unknowns[i]))
		}
	case errors.As(err, &infinite):
		e.Kind = ConsistencyNotFinite
		e.Rows, e.Cols = []int{int(m.Unknowns[infinite.Row])}, []int{int(m.Unknowns[infinite.Col])}
	default:
		return ErrorOf(err)
	}
	return e
}

// ConsistencyFault says why algebraic equations could not be solved.
type ConsistencyFault uint8

// The faults.
const (
	ConsistencySingular  ConsistencyFault = iota // what they are differentiated by is singular
	ConsistencyNotFinite                         // an equation or a derivative is infinite or NaN
	ConsistencyStuck                             // Newton's method came no nearer
)

// ConsistencyError tells that the algebraic equations had no solution that Newton's method found. Rows and Cols are
// numbers of states: the rows of equations and unknowns that depend on each other, or the equation that is violated
// most, with its residual.
type ConsistencyError struct {
	solvers.Place
	Kind       ConsistencyFault
	Rows, Cols []int
	Residual   float64
	After      string // the event, or "" elsewhere
}

func (e *ConsistencyError) Error() string {
	why := fmt.Sprintf("are linearly dependent by the unknowns (rows %v, unknowns %v)", e.Rows, e.Cols)
	switch e.Kind {
	case ConsistencyNotFinite:
		why = fmt.Sprintf("are not finite (row %v)", e.Rows)
	case ConsistencyStuck:
		why = fmt.Sprintf("have no solution that Newton's method finds (row %v, residual %v)", e.Rows, e.Residual)
	}
	return fmt.Sprintf("the algebraic equations %s at %s", why, e.Place.String())
}

// The bounds of Newton's method. Steps are measured by their part of the unknown, or by what rounding makes where that
// is more.
const (
	consistencyMost  = 100     // iterations
	consistencyLeast = 0x1p-24 // the shortest part of a step that is tried
	// After a step of less than this, the next one would be below rounding: convergence is quadratic.
	consistencyNear  = 0x1p-27
	consistencyNoise = 0x1p30
)

// Solve moves y so that the algebraic equations hold at t, with the discretes and modes that f has entered. The error
// is a *ConsistencyError without a place, or that of a matrix that is too large.
//
// Steps of Newton's method are shortened until the next one, with the same matrix, is shorter: P. Deuflhard, Newton
// Methods for Nonlinear Problems (Springer 2004), section 3.3 (the natural monotonicity test).
func (c *Consistency) Solve(f JacobianField, t float64, y []float64) error {
	if c.direct {
		return c.solveDirectly(f, t, y)
	}
	way := 1.0
	c.tame = true
	for range consistencyMost {
		if !c.residual(f, t, y, c.g) {
			return c.worst(ConsistencyNotFinite)
		}
		if err := c.Factor(f, t, y); err != nil {
			return err
		}
		c.roundings(f, t, y)
		c.step(c.g, c.move)
		for i, v := range c.move {
			c.scale[i] = max(math.Abs(y[i]), math.Abs(v), float64(consistencyNoise*c.noise[i]))
		}
		if c.still(y) {
			return nil
		}
		norm := c.norm(c.move)
		if !(norm <= math.MaxFloat64) {
			return c.worst(ConsistencyNotFinite)
		}
		if norm <= consistencyNear {
			for i, v := range c.move {
				y[i] += v
			}
			return nil
		}
		for way = min(float64(4*way), 1); ; way *= 0.5 {
			if way < consistencyLeast {
				return c.worst(ConsistencyStuck)
			}
			for i, v := range c.move {
				c.try[i] = math.FMA(way, v, y[i])
			}
			if !c.residual(f, t, c.try, c.d) {
				continue
			}
			c.step(c.d, c.next)
			after := c.norm(c.next)
			if after <= float64((1-float64(0.25*way))*norm) {
				c.tame = c.tame && way == 1 && after <= float64(tameness*norm)
				break
			}
		}
		copy(y, c.try)
	}
	return c.worst(ConsistencyStuck)
}

// solveDirectly is Solve of equations that are linear in the unknowns: two steps of Newton's method, the second for the
// rounding of the first.
func (c *Consistency) solveDirectly(f JacobianField, t float64, y []float64) error {
	if err := c.Factor(f, t, y); err != nil {
		return err
	}
	for range 2 {
		if !c.residual(f, t, y, c.g) {
			return c.worst(ConsistencyNotFinite)
		}
		c.step(c.g, c.move)
		for i, v := range c.move {
			y[i] += v
		}
	}
	return nil
}

// residual writes the algebraic equations g[K] at (t, y), and reports whether they are finite.
func (c *Consistency) residual(f solvers.Field, t float64, y, g []float64) bool {
	f.Eval(t, y, c.k)
	for k, i := range c.Mass.Unknowns {
		g[k] = c.k[i]
	}
	return simd.Finite(g)
}

// Factor factors A at (t, y).
func (c *Consistency) Factor(f JacobianField, t float64, y []float64) error {
	f.EvalJacobian(t, y, c.j)
	clear(c.matrix)
	for _, p := range c.plan.parts {
		c.matrix[p.to] = math.FMA(p.by, c.j[p.from], c.matrix[p.to])
	}
	if c.plan.order != nil && c.lu.Order() != c.plan.order {
		c.lu.SetOrder(c.plan.order)
	}
	if err := c.lu.Factor(c.matrix); err != nil {
		return c.Mass.singular(err, func() (rows, cols []int) { return c.plan.analysis.Dependent(c.matrix) })
	}
	return nil
}

// step writes move[n] = -N A⁻¹ g.
func (c *Consistency) step(g, move []float64) {
	for k, v := range g {
		c.r[k] = -v
	}
	r := c.r[:len(g)]
	c.lu.Solve(r, 1)
	clear(move)
	c.spread(move, r, 1)
}

// spread adds N x to y[n·l], for x[K·l].
func (c *Consistency) spread(y, x []float64, l int) {
	for k, i := range c.Mass.Unknowns {
		addScaled(y, int(i), 1, x, k, l)
	}
	for e, v := range c.Mass.Values {
		addScaled(y, int(c.Mass.Rows[e]), -v, x, int(c.Mass.number(c.Mass.Cols[e])), l)
	}
}

// gather writes x[K·l] = Nᵀ y, for y[n·l].
func (c *Consistency) gather(x, y []float64, l int) {
	clear(x)
	for k, i := range c.Mass.Unknowns {
		addScaled(x, k, 1, y, int(i), l)
	}
	for e, v := range c.Mass.Values {
		addScaled(x, int(c.Mass.number(c.Mass.Cols[e])), -v, y, int(c.Mass.Rows[e]), l)
	}
}

// roundings estimates how far the rounding of states moves the solution, from the equations at a point beside y.
func (c *Consistency) roundings(f solvers.Field, t float64, y []float64) {
	by := float64(0x1p-50)
	for i, v := range y {
		c.try[i] = math.FMA(by, v, v)
		by = -by
	}
	clear(c.noise)
	if !c.residual(f, t, c.try, c.d) {
		return
	}
	for k, v := range c.g {
		c.d[k] -= v
	}
	c.step(c.d, c.noise)
	for i, v := range c.noise {
		c.noise[i] = math.Abs(v)
	}
}

// still reports whether the present step of Newton's method is within rounding: then y stays as it is, so that what was
// consistent before keeps its bits.
func (c *Consistency) still(y []float64) bool {
	for i, v := range c.move {
		if !(math.Abs(v) <= max(float64(0x1p-46*math.Abs(y[i])), float64(16*c.noise[i]))) {
			return false
		}
	}
	return true
}

// norm returns the largest element of v, each by its scale.
func (c *Consistency) norm(v []float64) float64 {
	most := 0.0
	for i, x := range v {
		if x == 0 {
			continue
		}
		if r := math.Abs(x) / c.scale[i]; r > most || r != r {
			most = r
		}
	}
	return most
}

// worst returns the error that names the equation with the largest residual, or the first one that is not finite.
func (c *Consistency) worst(kind ConsistencyFault) error {
	e := &ConsistencyError{Kind: kind}
	at := 0
	for k, v := range c.g {
		if v-v != 0 {
			at = k
			break
		}
		if math.Abs(v) > math.Abs(c.g[at]) {
			at = k
		}
	}
	e.Rows, e.Residual = []int{int(c.Mass.Unknowns[at])}, c.g[at]
	return e
}

// Slope writes the rates of the states yd[n] at (t, y), where the algebraic equations hold, for the right-hand side k
// there: those of the unknowns follow from the derivative of the equations by time.
func (c *Consistency) Slope(f JacobianField, t float64, y, k, yd []float64) error {
	if err := c.Factor(f, t, y); err != nil {
		return err
	}
	copy(yd, k[:c.N])
	c.Follow(yd)
	return nil
}

// Rates makes the right-hand side k[n] at (t, y), where the algebraic equations hold, the rates of the states; NaN
// where the equations do not determine those of the unknowns.
func (c *Consistency) Rates(f JacobianField, t float64, y, k []float64) {
	if c.Factor(f, t, y) != nil {
		elem.Spoil(k)
		return
	}
	c.Follow(k[:c.N])
}

// Follow makes the rates of the unknowns yd those that follow from the others, with the matrix that is factored.
func (c *Consistency) Follow(yd []float64) {
	c.Mass.Clear(yd, 1)
	clear(c.d)
	for _, e := range c.plan.rows {
		v := 1.0
		if int(e.Col) < c.N {
			v = yd[e.Col]
		}
		c.d[e.Row] = math.FMA(c.j[e.E], v, c.d[e.Row])
	}
	c.step(c.d, c.move)
	for i, v := range c.move {
		yd[i] += v
	}
}

// Push makes yd[n·L], the tangent of a state before Solve, that of the result y at t, where t moves by td[L].
func (c *Consistency) Push(f TangentJacobianField, t float64, y, td, yd []float64) {
	if c.Factor(f, t, y) != nil {
		elem.Spoil(yd)
		return
	}
	f.Push(t, y, td, yd, c.kl)
	l := c.L
	for k, i := range c.Mass.Unknowns {
		for a, v := range c.kl[int(i)*l : (int(i)+1)*l] {
			c.r[k*l+a] = -v
		}
	}
	c.lu.Solve(c.r, l)
	c.spread(yd, c.r, l)
}

// Pull is the transpose of Push: it makes yb[n·L], the cotangent of the result, that of the state before, and adds to
// tb[L] and to the accumulators of f.
func (c *Consistency) Pull(f CotangentJacobianField, t float64, y, yb, tb []float64) {
	if c.Factor(f, t, y) != nil {
		elem.Spoil(yb, tb)
		return
	}
	l := c.L
	c.gather(c.r, yb, l)
	c.lu.SolveT(c.r, l)
	clear(c.kl)
	for k, i := range c.Mass.Unknowns {
		for a, v := range c.r[k*l : (k+1)*l] {
			c.kl[int(i)*l+a] = -v
		}
	}
	f.Pull(t, y, c.kl, c.yl, c.tl)
	for i, v := range c.yl {
		yb[i] += v
	}
	for a, v := range c.tl {
		tb[a] += v
	}
	c.forget(yb, l)
}

// forget clears the cotangents of unknowns before Solve, which are zero but for rounding where M is semi-explicit.
func (c *Consistency) forget(yb []float64, l int) {
	if len(c.Mass.Values) > 0 {
		return
	}
	for _, i := range c.Mass.Unknowns {
		clear(yb[int(i)*l : (int(i)+1)*l])
	}
}

// PullPush is Pull in one lane together with its tangent in L, where t and the result y move as their tangents say.
func (c *Consistency) PullPush(f SecondJacobianField, t, y, yb, tb solvers.Dual) {
	if c.Factor(f, t.X[0], y.X) != nil {
		elem.Spoil(yb.X, yb.D, tb.X, tb.D)
		return
	}
	l, n := c.L, len(c.Mass.Unknowns)
	if len(c.v.X) == 0 {
		c.jl = make([]float64, len(c.j)*l)
		c.kb, c.yb, c.tb, c.v = solvers.NewDual(c.N+c.q, l), solvers.NewDual(c.N, l), solvers.NewDual(1, l),
			solvers.NewDual(n, l)
	}
	c.gather(c.v.X, yb.X, 1)
	c.lu.SolveT(c.v.X, 1)
	c.gather(c.v.D, yb.D, l)
	f.PushJacobian(t.X[0], y.X, t.D, y.D, c.jl)
	for _, p := range c.plan.parts {
		by := -float64(p.by * c.v.X[p.row])
		addScaled(c.v.D, int(p.col), by, c.jl, int(p.from), l)
	}
	c.lu.SolveT(c.v.D, l)
	c.kb.Clear()
	for k, i := range c.Mass.Unknowns {
		c.kb.X[i] = -c.v.X[k]
		addScaled(c.kb.D, int(i), -1, c.v.D, k, l)
	}
	f.PullPush(t, y, c.kb, c.yb, c.tb)
	yb.Add(c.yb)
	tb.Add(c.tb)
	c.forget(yb.X, 1)
	c.forget(yb.D, l)
}

// consistencyComplex is the work space of SolveComplex.
type consistencyComplex struct {
	lu           linalg.ComplexLU
	order        *linalg.Order
	j, matrix, k []complex128
	d            []complex128
}

// SolveComplex is Solve in complex arithmetic, near what Solve found: the real parts of the unknowns in near[n], or in
// y where that is nil.
func (c *Consistency) SolveComplex(f ComplexJacobianField, t complex128, y []complex128, near []float64) {
	if c.z == nil {
		lu, err := c.plan.analysis.NewComplex()
		if err != nil {
			elem.SpoilComplex(y)
			return
		}
		v := func(n int) []complex128 { return make([]complex128, n) }
		c.z = &consistencyComplex{
			lu: lu, order: lu.Order(), j: v(len(c.j)), matrix: v(len(c.matrix)), k: v(c.N + c.q), d: v(len(c.d)),
		}
	}
	z := c.z
	if near != nil {
		for k, i := range c.Mass.Unknowns {
			z.d[k] = complex(near[i]-real(y[i]), 0)
		}
		c.spreadComplex(y, z.d)
	}
	for range complexIterations {
		f.Eval(t, y, z.k)
		f.EvalJacobian(t, y, z.j)
		clear(z.matrix)
		for _, p := range c.plan.parts {
			z.matrix[p.to] = elem.CFMA(complex(p.by, 0), z.j[p.from], z.matrix[p.to])
		}
		if z.order != nil {
			z.lu.SetOrder(z.order)
		}
		if z.lu.Factor(z.matrix) != nil {
			elem.SpoilComplex(y)
			return
		}
		for k, i := range c.Mass.Unknowns {
			z.d[k] = -z.k[i]
		}
		z.lu.Solve(z.d, 1)
		c.spreadComplex(y, z.d)
	}
}

// complexIterations of Newton's method are enough near a solution: each doubles the digits.
const complexIterations = 5

func (c *Consistency) spreadComplex(y, x []complex128) {
	for k, i := range c.Mass.Unknowns {
		y[i] += x[k]
	}
	for e, v := range c.Mass.Values {
		at := c.Mass.Rows[e]
		y[at] = elem.CFMA(complex(-v, 0), x[c.Mass.number(c.Mass.Cols[e])], y[at])
	}
}
