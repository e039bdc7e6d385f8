package optim

import "math"

// line is a linear function with a kink at 0: where v + aᵀx is below 0 it costs below for each unit, and above 0 above.
// An infinite slope makes the kink a limit.
type line struct {
	v            float64
	a            []float64
	below, above float64
	kink         int // of the problem; −1 for none
	constraint   int // −1 for none
	limit        float64
	cut          bool // it is what the constraint was like at another point
}

// cost returns that of a line at v.
func (l *line) cost(v float64) float64 {
	switch {
	case v < 0:
		return float64(-l.below * v)
	case v > 0:
		return float64(l.above * v)
	}
	return 0
}

// program is a strictly convex quadratic program with kinks: the least ½xᵀGx + aᵀx + Σ costs of lines, lo ≤ x ≤ hi.
//
// It is solved by the dual active-set method of D. Goldfarb and A. Idnani (Math. Program. 27 (1983) 1–33,
// doi:10.1007/BF02591962), in which the multiplier of a line has two bounds rather than one: its slopes to both sides
// of the kink. A line whose multiplier reaches one of them leaves its kink for that side.
type program struct {
	n          int
	g          []float64 // n × n, by rows; positive definite
	a          []float64
	lo, hi     []float64
	lines      []line
	x          []float64 // the solution
	y          []float64 // slopes of the lines there, each between −below and above
	z          []float64 // multipliers of the bounds: positive at lower ones
	inverse    []float64 // J of the paper, by rows: G⁻¹ = J·Jᵀ, the first columns span the active normals
	r          []float64 // their upper triangle, by rows
	active     []side
	u          []float64
	in         []bool    // what is active: variables, then lines
	lengths    []float64 // of the slopes of lines
	normal     []float64
	d, step, w []float64
	turns      []turn                       // of J, which are still to be made
	many       bool                         // g is its diagonal
	product    func(v, out []float64) error // in place of g, for many variables
	over       func() bool                  // whether the solution is no longer wanted; nil for never
}

// side is what holds a solution: the bound of x[i] if i < n, else the kink of line i−n. sign tells whether it holds it
// from below (1) or from above (−1). Its multiplier stays between least and most, and the slope of a line is base less
// sign times that.
type side struct {
	i           int
	sign        float64
	base        float64
	least, most float64
}

// solve finds the solution, and reports whether there is one: G may not be positive definite.
func (p *program) solve() bool {
	if p.product != nil {
		return p.boxed()
	}
	n, k := p.n, len(p.lines)
	p.x, p.y, p.z = make([]float64, n), make([]float64, k), make([]float64, n)
	p.inverse, p.r = make([]float64, n*n), make([]float64, n*n)
	p.normal, p.d, p.step, p.w = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	p.active, p.u, p.in = nil, nil, make([]bool, n+k)
	if !p.invert() {
		return false
	}
	p.lengths = make([]float64, k)
	for j := range p.lines {
		l := &p.lines[j]
		p.lengths[j] = norm(l.a)
		if l.kink >= 0 { // most rows of data are far from their kinks
			if p.y[j] = l.above; l.v < 0 {
				p.y[j] = -l.below
			}
		}
	}
	p.place()
	for range 3 { // what rounding has left of the last digits
		for range 50 * (n + k + 2) {
			next, wanted := p.worst()
			if !wanted {
				break
			}
			if !p.enter(next) {
				return false
			}
		}
		p.place()
		if _, wanted := p.worst(); !wanted {
			break
		}
	}
	p.conclude()
	return true
}

// unwanted reports whether the solution is no longer wanted: a program of thousands of variables takes long.
func (p *program) unwanted() bool { return p.over != nil && p.over() }

// worst returns what is violated most, relative to its length, and whether anything is.
func (p *program) worst() (next side, wanted bool) {
	const least = 1e-13
	n, far, worst := p.n, norm(p.x), 0.0
	for i, v := range p.x {
		if p.in[i] {
			continue
		}
		small := float64(least * math.Max(math.Abs(v), 1e-3))
		if off := p.lo[i] - v; off > worst && off > small {
			next, worst = side{i: i, sign: 1, most: math.Inf(1)}, off
		}
		if off := v - p.hi[i]; off > worst && off > small {
			next, worst = side{i: i, sign: -1, most: math.Inf(1)}, off
		}
	}
	for j := range p.lines {
		l, y := &p.lines[j], p.y[j]
		if p.in[n+j] || p.lengths[j] == 0 {
			continue
		}
		v := l.v + dot(l.a, p.x)
		off := math.Abs(v) / p.lengths[j]
		if off <= worst || math.Abs(v) <= float64(least*(math.Abs(l.v)+float64(p.lengths[j]*math.Max(far, 1)))) {
			continue
		}
		switch {
		case v > 0 && y < l.above:
			next, worst = side{i: n + j, sign: -1, base: y, least: -(y + l.below), most: l.above - y}, off
		case v < 0 && y > -l.below:
			next, worst = side{i: n + j, sign: 1, base: y, least: -(l.above - y), most: y + l.below}, off
		}
	}
	return next, worst > 0
}

// limit returns what the product of a side's normal with x is to be, at least.
func (p *program) limit(s side) float64 {
	switch {
	case s.i >= p.n:
		return -float64(s.sign * p.lines[s.i-p.n].v)
	case s.sign > 0:
		return p.lo[s.i]
	}
	return -p.hi[s.i]
}

// place moves x to the least point on what is active, and computes the multipliers anew.
func (p *program) place() {
	n, q := p.n, len(p.active)
	slope := make([]float64, n)
	copy(slope, p.a)
	for j := range p.lines { // a line that is active has the slope with which it joined
		if y := p.y[j]; y != 0 {
			add(slope, y, p.lines[j].a)
		}
	}
	for k, s := range p.active {
		p.w[k] = p.limit(s)
	}
	transposed(p.inverse, slope, p.d)
	forward(p.r, n, q, p.w[:q])
	for i := range n {
		row := p.inverse[i*n : (i+1)*n]
		p.x[i] = dot(row[:q], p.w[:q]) - dot(row[q:], p.d[q:])
	}
	for k := range q {
		p.w[k] += p.d[k]
	}
	backward(p.r, n, q, p.w)
	for k, s := range p.active {
		p.u[k] = math.Max(s.least, math.Min(p.w[k], s.most))
	}
}

// conclude sets the multipliers, and what is at a bound to it.
func (p *program) conclude() {
	for k, s := range p.active {
		if s.i >= p.n {
			p.release(s, p.u[k])
			continue
		}
		p.z[s.i] = float64(s.sign * p.u[k])
		if p.x[s.i] = p.lo[s.i]; s.sign < 0 {
			p.x[s.i] = p.hi[s.i]
		}
	}
	for i, v := range p.x {
		p.x[i] = math.Max(p.lo[i], math.Min(v, p.hi[i]))
	}
}

// release sets the slope of the line of s to what a multiplier makes of it.
func (p *program) release(s side, u float64) {
	if s.i < p.n {
		return
	}
	l, y := &p.lines[s.i-p.n], &p.y[s.i-p.n]
	switch {
	case u == s.least && s.sign < 0, u == s.most && s.sign > 0:
		*y = -l.below
	case u == s.least || u == s.most:
		*y = l.above
	default:
		*y = math.Max(-l.below, math.Min(s.base-float64(s.sign*u), l.above))
	}
}

// enter makes s active, and what must be for it inactive; or its line leaves the kink for its other side. It reports
// false if neither can be.
func (p *program) enter(s side) bool {
	n := p.n
	clear(p.normal)
	if s.i < n {
		p.normal[s.i] = s.sign
	} else {
		add(p.normal, s.sign, p.lines[s.i-n].a)
	}
	limit, u := p.limit(s), 0.0
	for range 10 * (n + len(p.lines) + 2) {
		if p.unwanted() {
			return false
		}
		q := len(p.active)
		transposed(p.inverse, p.normal, p.d)
		// The way of x is J₂·d₂, that of the multipliers −R⁻¹d₁.
		for i := range n {
			p.step[i] = dot(p.inverse[i*n+q:(i+1)*n], p.d[q:])
		}
		copy(p.w[:q], p.d[:q])
		backward(p.r, n, q, p.w)
		drop, dual := p.blocked(s.most - u)
		missing := limit - dot(p.normal, p.x)
		primal := math.Inf(1)
		if rest := dot(p.d[q:], p.d[q:]); rest > 1e-24*dot(p.d, p.d) {
			primal = math.Max(missing, 0) / rest
		}
		if missing <= 0 && math.IsInf(primal, 1) {
			return true // it depends on others, and holds
		}
		t := math.Min(dual, primal)
		if !(t < math.Inf(1)) {
			return false
		}
		if !math.IsInf(primal, 1) {
			add(p.x, t, p.step)
		}
		for k, a := range p.active {
			p.u[k] = math.Max(a.least, math.Min(p.u[k]-float64(t*p.w[k]), a.most))
		}
		u += t
		switch {
		case t == primal:
			p.join(s, u)
			return true
		case drop < 0:
			p.release(s, s.most)
			return true
		}
		a := p.active[drop]
		end := a.least
		if p.w[drop] < 0 {
			end = a.most
		}
		p.in[a.i] = false
		p.release(a, end)
		p.leave(drop)
	}
	return false
}

// blocked returns what leaves first where the multiplier that enters grows, and by how much it may grow until then; −1
// is what enters itself.
func (p *program) blocked(most float64) (drop int, dual float64) {
	drop, dual = -1, most
	for k, a := range p.active {
		t := math.Inf(1)
		switch w := p.w[k]; {
		case w > 0:
			t = (p.u[k] - a.least) / w
		case w < 0:
			t = (p.u[k] - a.most) / w
		}
		if t < dual {
			drop, dual = k, t
		}
	}
	return drop, dual
}

// join adds s, whose d was computed last, to the active constraints: rotations of the columns of J make all but the
// first of the free components of d zero.
func (p *program) join(s side, u float64) {
	n, q := p.n, len(p.active)
	for j := n - 1; j > q; j-- {
		if p.d[j] == 0 {
			continue
		}
		c, t := rotation(p.d[j-1], p.d[j])
		p.d[j-1], p.d[j] = float64(c*p.d[j-1])+float64(t*p.d[j]), 0
		p.turns = append(p.turns, turn{j - 1, c, t})
	}
	p.turn()
	for i := range q + 1 {
		p.r[i*n+q] = p.d[i]
	}
	p.in[s.i] = true
	p.active, p.u = append(p.active, s), append(p.u, u)
}

// leave makes active constraint k inactive.
func (p *program) leave(k int) {
	n, q := p.n, len(p.active)
	for i := range n {
		copy(p.r[i*n+k:i*n+q-1], p.r[i*n+k+1:i*n+q])
		p.r[i*n+q-1] = 0
	}
	p.active = append(p.active[:k], p.active[k+1:]...)
	p.u = append(p.u[:k], p.u[k+1:]...)
	for j := k; j < q-1; j++ {
		if p.r[(j+1)*n+j] == 0 {
			continue
		}
		c, t := rotation(p.r[j*n+j], p.r[(j+1)*n+j])
		for i := j; i < q-1; i++ {
			a, b := p.r[j*n+i], p.r[(j+1)*n+i]
			p.r[j*n+i] = float64(c*a) + float64(t*b)
			p.r[(j+1)*n+i] = float64(c*b) - float64(t*a)
		}
		p.r[(j+1)*n+j] = 0
		p.turns = append(p.turns, turn{j, c, t})
	}
	p.turn()
}

// turn is a rotation of columns j and j+1 of J.
type turn struct {
	j    int
	c, s float64
}

// turn makes the rotations that wait, row by row: along its columns a large J is slow to read.
func (p *program) turn() {
	n := p.n
	for i := range n {
		row := p.inverse[i*n : (i+1)*n]
		for _, t := range p.turns {
			a, b := row[t.j], row[t.j+1]
			row[t.j] = float64(t.c*a) + float64(t.s*b)
			row[t.j+1] = float64(t.c*b) - float64(t.s*a)
		}
	}
	p.turns = p.turns[:0]
}

// invert sets J to L⁻ᵀ for G = L·Lᵀ, and reports whether G is positive definite.
func (p *program) invert() bool {
	n := p.n
	l := make([]float64, n*n)
	for i := range n {
		if p.unwanted() {
			return false
		}
		for j := range i + 1 {
			s := p.g[i*n+j] - dot(l[i*n:i*n+j], l[j*n:j*n+j])
			if i != j {
				l[i*n+j] = s / l[j*n+j]
				continue
			}
			if !(s > 0) {
				return false
			}
			l[i*n+i] = math.Sqrt(s)
		}
	}
	// Row j of L⁻¹, by columns of L⁻ᵀ: L·v = eⱼ.
	for j := range n {
		if p.unwanted() {
			return false
		}
		clear(p.w)
		p.w[j] = 1
		for i := j; i < n; i++ {
			s := p.w[i] - dot(l[i*n+j:i*n+i], p.w[j:i])
			p.w[i] = s / l[i*n+i]
		}
		for i := j; i < n; i++ {
			p.inverse[j*n+i] = p.w[i]
		}
	}
	return true
}
