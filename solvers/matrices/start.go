package matrices

import (
	"math"
	"slices"

	"odes.dev/odes/solvers"
)

// A guess u₀ leads to one solution of g(u) = 0: the end of the path
//
//	g(u) = (1 - s) g(u₀),   0 ≤ s ≤ 1,
//
// as long as A is regular along it (Davidenko's path of Newton's method, P. Deuflhard, Newton Methods for Nonlinear
// Problems, 2004, §3.1.4). No element of g grows on the way, so the path passes no pole. Steps of Newton's method
// follow it nearly, but a step may end behind a pole or a turn.

const (
	pathMost  = 4096    // steps along a path
	pathLeast = 0x1p-44 // of a step
	// passing is how far unknowns may move, by their sizes, in a step past a point where A is singular, and passes the
	// longest of such steps.
	passing = 0x1p-2
	passes  = 0x1p-14
	// mostParts is how many parts of a line are looked at, of at least leastBox, and mostRegular for how many unknowns
	// A is shown to be regular there; for more, that it is finite.
	mostParts   = 64
	leastBox    = 0x1p-8
	mostRegular = 24
	// enough bounds the work with enclosures: parts by entries of the Jacobian, but leastParts at least.
	enough     = 1 << 20
	leastParts = 512
)

// Encloses is a JacobianField that knows where the entries of its Jacobian lie over boxes of states.
type Encloses interface {
	EncloseJacobian(t float64, y, j []solvers.Range)
}

// Begin makes y, a guess, the solution of the algebraic equations that it leads to. It returns false where the path
// ends before: then y is the solution that Solve finds. The error is as that of Solve.
func (c *Consistency) Begin(f JacobianField, t float64, y []float64) (bool, error) {
	if c.direct {
		return true, c.Solve(f, t, y)
	}
	p := newPath(c, f, t, y)
	end := p.end()
	switch err := c.Solve(f, t, y); {
	case end == nil:
		return err != nil, err
	case err != nil || !p.one(end, y):
		copy(y, end)
	}
	return true, c.Factor(f, t, y)
}

// path is the way from a point to a solution. It is also the field with the equations along it: those of a field less
// a part of what is left of them at the point.
type path struct {
	JacobianField
	way
	at   []float64 // [n] the point
	left []float64 // [K]
	part float64
	size []float64 // [n] the largest values along the path
	line *enclosure
}

func newPath(c *Consistency, f JacobianField, t float64, guess []float64) *path {
	p := &path{JacobianField: f, at: slices.Clone(guess), left: make([]float64, len(c.Mass.Unknowns))}
	p.size, p.line = make([]float64, len(guess)), newEnclosure(c, f, t, guess)
	p.way = way{
		c: c, f: p, t: t, enter: func(part float64) { p.part = 1 - part },
		grain: make([]float64, len(guess)), // rounding alone says how small a solution may be
		// One unknown is found for certain where the slope is not zero up to there.
		strict: p.line == nil || len(p.left) > 1,
	}
	return p
}

// Eval implements solvers.Field.
func (p *path) Eval(t float64, y, k []float64) {
	p.JacobianField.Eval(t, y, k)
	for e, i := range p.c.Mass.Unknowns {
		k[i] -= float64(p.part * p.left[e])
	}
}

// end returns the solution; nil where the path ends before. Each step goes as far towards the solution as it is sure,
// and the path goes on from there.
func (p *path) end() []float64 {
	if p.c.Factor(p.JacobianField, p.t, p.at) != nil {
		return nil
	}
	p.side = p.c.Side()
	reach := 1.0
	for range pathMost {
		if !p.c.residual(p.JacobianField, p.t, p.at, p.left) {
			return nil
		}
		for i, v := range p.at {
			p.size[i] = max(p.size[i], math.Abs(v))
		}
		next := p.step(reach)
		for next == nil && reach > pathLeast && (p.line == nil || p.line.all > 0) {
			reach *= 0.5
			next = p.step(reach)
		}
		if next == nil {
			if next, reach = p.pass(); next == nil {
				return nil
			}
		}
		if p.at = next; reach == 1 {
			return next
		}
		reach = min(float64(2*reach), 1)
	}
	return nil
}

// step returns the next point; nil where it is not sure.
func (p *path) step(reach float64) []float64 {
	next := p.next(p.at, 0, reach)
	if next == nil || p.line != nil && !p.line.clear(p.at, next, true) {
		return nil
	}
	return next
}

// pass returns the next point behind one where A is singular, but the path goes on, as that of z*abs(z) = a does at 0.
// It lies near the present one: what is far away belongs to another branch.
func (p *path) pass() (next []float64, reach float64) {
	defer func(strict bool) { p.strict = strict }(p.strict)
	p.strict = false
	for reach = pathLeast; reach <= passes; reach *= 4 {
		next = p.solve(p.at, reach)
		if next != nil && p.near(next) && (p.line == nil || p.line.clear(p.at, next, false)) {
			return next, reach
		}
	}
	return nil, 0
}

// near reports whether the unknowns of a state are those of the present point, roughly.
func (p *path) near(y []float64) bool {
	for _, i := range p.c.Mass.Unknowns {
		if !(math.Abs(y[i]-p.at[i]) <= float64(passing*p.size[i])) {
			return false
		}
	}
	return true
}

// enclosure encloses A over parts of lines of states.
type enclosure struct {
	c     *Consistency
	of    Encloses
	t     float64
	box   []solvers.Range // [n]
	j     []solvers.Range // [E]
	a     []solvers.Range // [nonzeros]
	y     []float64       // [n]
	v, to []float64       // [K]
	parts int             // that may still be looked at, of a line
	all   int             // and of all lines
}

// newEnclosure returns that of f; nil where nothing is known, not even at a point.
func newEnclosure(c *Consistency, f JacobianField, t float64, y []float64) *enclosure {
	of, ok := f.(Encloses)
	if !ok {
		return nil
	}
	k := len(c.Mass.Unknowns)
	e := &enclosure{
		c: c, of: of, t: t, box: make([]solvers.Range, len(y)), j: make([]solvers.Range, len(c.j)),
		a: make([]solvers.Range, len(c.matrix)), y: make([]float64, len(y)), v: make([]float64, k),
		to: make([]float64, k), all: max(leastParts, enough/(1+len(c.j))),
	}
	if !e.holds(y, y, 0, 1, true) {
		return nil
	}
	return e
}

// clear reports whether A is finite on the line between two states and, where that is asked for, regular.
func (e *enclosure) clear(a, b []float64, regular bool) bool {
	e.parts = mostParts
	return e.over(a, b, 0, 1, regular)
}

// over is clear for a part of the line.
func (e *enclosure) over(a, b []float64, lo, hi float64, regular bool) bool {
	if e.parts, e.all = e.parts-1, e.all-1; e.parts < 0 || e.all < 0 {
		return false
	}
	if e.holds(a, b, lo, hi, regular) {
		return true
	}
	mid := lo + (hi-lo)/2
	return hi-lo > leastBox && e.over(a, b, lo, mid, regular) && e.over(a, b, mid, hi, regular)
}

// holds is over for a part as a whole.
func (e *enclosure) holds(a, b []float64, lo, hi float64, regular bool) bool {
	Between(e.y, a, b, lo)
	for i, v := range e.y {
		e.box[i] = solvers.Range{Lo: v, Hi: v}
	}
	Between(e.y, a, b, hi)
	for i, v := range e.y {
		e.box[i] = solvers.Range{Lo: min(v, e.box[i].Lo), Hi: max(v, e.box[i].Hi)}
	}
	e.of.EncloseJacobian(e.t, e.box, e.j)
	clear(e.a)
	for _, p := range e.c.plan.parts {
		from, to := e.j[p.from], &e.a[p.to]
		if p.by < 0 {
			from.Lo, from.Hi = from.Hi, from.Lo
		}
		to.Lo, to.Hi = math.FMA(p.by, from.Lo, to.Lo), math.FMA(p.by, from.Hi, to.Hi)
	}
	for _, x := range e.a {
		if !(x.Hi-x.Lo <= math.MaxFloat64) {
			return false
		}
	}
	return !regular || len(e.v) > mostRegular || e.regular()
}

// regular reports whether all matrices within the enclosure are regular: M + D with |D| ≤ R are, where the spectral
// radius of |M⁻¹|R is below 1.
func (e *enclosure) regular() bool {
	const iterations = 8
	c, k := e.c, len(e.v)
	for i, x := range e.a {
		c.matrix[i] = x.Lo + (x.Hi-x.Lo)/2
	}
	if c.lu.Factor(c.matrix) != nil {
		return false
	}
	inverse, radii := make([]float64, k*k), make([]float64, k*k)
	for i := range k {
		inverse[i*k+i] = 1
	}
	c.lu.Solve(inverse, k)
	for _, p := range c.plan.parts {
		x := e.a[p.to]
		radii[int(p.row)*k+int(p.col)] = (x.Hi - x.Lo) / 2
	}
	for i := range e.v {
		e.v[i] = 1
	}
	for range iterations {
		// No eigenvalue is larger than the largest part by which a positive vector grows (Collatz and Wielandt).
		for i := range k {
			e.to[i] = 0
			for j := range k {
				e.to[i] = math.FMA(radii[i*k+j], e.v[j], e.to[i])
			}
		}
		most := 0.0
		for i := range k {
			sum := 0.0
			for j := range k {
				sum = math.FMA(math.Abs(inverse[i*k+j]), e.to[j], sum)
			}
			most = max(most, sum/e.v[i])
			e.v[i] += sum
		}
		if most < 1 {
			return true
		}
	}
	return false
}
