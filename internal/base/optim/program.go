package optim

import "math"

// program is a strictly convex quadratic program: the least ½xᵀGx + aᵀx where lo ≤ x ≤ hi and cLo ≤ Cx ≤ cHi.
type program struct {
	n, k       int
	g          []float64 // n × n, by rows; positive definite
	a          []float64
	lo, hi     []float64
	c          []float64 // k × n, by rows
	cLo, cHi   []float64
	x          []float64 // the solution
	y          []float64 // multipliers of the k constraints: positive at their lower limits, negative at the upper
	z          []float64 // multipliers of the bounds, likewise
	inverse    []float64 // J of the paper, by rows: G⁻¹ = J·Jᵀ, the first columns span the active normals
	r          []float64 // their upper triangle, by rows
	active     []side
	u          []float64
	normal     []float64
	d, step, w []float64
}

// side is a limit of a constraint: of x[i] if i < n, else of the product with row i−n. It is the upper limit where
// sign is −1, the lower where it is 1.
type side struct {
	i        int
	sign     float64
	equality bool
}

// limits returns those of constraint i.
func (p *program) limits(i int) (lo, hi float64) {
	if i < p.n {
		return p.lo[i], p.hi[i]
	}
	return p.cLo[i-p.n], p.cHi[i-p.n]
}

// at returns the value of constraint i.
func (p *program) at(i int) float64 {
	if i < p.n {
		return p.x[i]
	}
	i -= p.n
	return dot(p.c[i*p.n:(i+1)*p.n], p.x)
}

// solve finds the solution by the dual method of Goldfarb and Idnani, and reports whether there is one.
func (p *program) solve() bool {
	n := p.n
	p.x, p.y, p.z = make([]float64, n), make([]float64, p.k), make([]float64, n)
	p.inverse, p.r = make([]float64, n*n), make([]float64, n*n)
	p.normal, p.d, p.step, p.w = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	p.active, p.u = nil, nil
	if !p.invert() {
		return false
	}
	// x = −J·Jᵀa
	transposed(p.inverse, p.a, p.d)
	multiply(p.inverse, p.d, p.x)
	for i := range p.x {
		p.x[i] = -p.x[i]
	}
	lengths := make([]float64, p.k)
	for i := range lengths {
		lengths[i] = norm(p.c[i*n : (i+1)*n])
	}
	in := make([]bool, n+p.k)
	for range 50 * (n + p.k + 2) {
		next, worst := side{i: -1}, 0.0
		for i := n + p.k - 1; i >= 0; i-- {
			if in[i] {
				continue
			}
			lo, hi := p.limits(i)
			v := p.at(i)
			length := 1.0
			if i >= n {
				length = lengths[i-n]
			}
			size := math.Max(norm(p.x), 1)
			if i < n {
				size = math.Max(math.Abs(v), 1e-3)
			}
			least := float64(1e-13 * size)
			if lo == hi {
				// Equations come first, and are wanted even where they happen to hold.
				next = side{i: i, sign: 1, equality: true}
				if v > hi {
					next.sign = -1
				}
				break
			}
			below, above := (lo-v)/length, (v-hi)/length
			if length == 0 {
				if lo > v || hi < v {
					return false
				}
				continue
			}
			if below > worst && below > least {
				next, worst = side{i: i, sign: 1}, below
			}
			if above > worst && above > least {
				next, worst = side{i: i, sign: -1}, above
			}
		}
		if next.i < 0 {
			p.refine()
			for k, s := range p.active {
				if s.i < n {
					p.z[s.i] = float64(s.sign * p.u[k])
					lo, hi := p.limits(s.i)
					if p.x[s.i] = lo; s.sign < 0 {
						p.x[s.i] = hi
					}
				} else {
					p.y[s.i-n] = float64(s.sign * p.u[k])
				}
			}
			return true
		}
		if !p.enter(next, in) {
			return false
		}
	}
	return false
}

// refine moves x onto the limits of the active constraints, from which rounding has led it where G is badly
// conditioned.
func (p *program) refine() {
	n, q := p.n, len(p.active)
	for range 2 {
		for k, s := range p.active {
			lo, hi := p.limits(s.i)
			limit := lo
			if s.sign < 0 {
				limit = hi
			}
			p.w[k] = float64(s.sign * (limit - p.at(s.i)))
		}
		forward(p.r, n, q, p.w[:q])
		for i := range n {
			p.x[i] += dot(p.inverse[i*n:i*n+q], p.w[:q])
		}
	}
}

// enter makes s active, and what must be for it inactive. It reports false if no point satisfies s and the equations
// and inequalities that are active.
func (p *program) enter(s side, in []bool) bool {
	n := p.n
	clear(p.normal)
	if s.i < n {
		p.normal[s.i] = s.sign
	} else {
		add(p.normal, s.sign, p.c[(s.i-n)*n:(s.i-n+1)*n])
	}
	lo, hi := p.limits(s.i)
	limit := lo
	if s.sign < 0 {
		limit = -hi
	}
	u := 0.0
	for {
		q := len(p.active)
		transposed(p.inverse, p.normal, p.d)
		// The way of x is J₂·d₂, that of the multipliers −R⁻¹d₁.
		for i := range n {
			p.step[i] = dot(p.inverse[i*n+q:(i+1)*n], p.d[q:])
		}
		copy(p.w[:q], p.d[:q])
		backward(p.r, n, q, p.w)
		drop, dual := -1, math.Inf(1)
		for k, a := range p.active {
			if !a.equality && p.w[k] > 0 {
				if t := p.u[k] / p.w[k]; t < dual {
					drop, dual = k, t
				}
			}
		}
		missing := limit - dot(p.normal, p.x)
		primal := math.Inf(1)
		rest := dot(p.d[q:], p.d[q:])
		if rest > 1e-24*dot(p.d, p.d) {
			primal = missing / rest
		}
		if missing <= 0 && math.IsInf(primal, 1) {
			return true // it depends on others, and holds
		}
		t := math.Min(dual, primal)
		if !(t < math.Inf(1)) {
			return s.equality && math.Abs(missing) <= 1e-9*norm(p.normal)*math.Max(norm(p.x), 1) && p.skip(s, in)
		}
		if !math.IsInf(primal, 1) {
			add(p.x, t, p.step)
		}
		for k := range p.active {
			p.u[k] -= float64(t * p.w[k])
			if !p.active[k].equality {
				p.u[k] = math.Max(p.u[k], 0)
			}
		}
		u += t
		if t == primal {
			p.join(s, u)
			in[s.i] = true
			return true
		}
		in[p.active[drop].i] = false
		p.leave(drop)
	}
}

// skip leaves out an equation that follows from others.
func (p *program) skip(s side, in []bool) bool {
	in[s.i] = true
	return true
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
		p.turn(j-1, c, t)
	}
	for i := range q + 1 {
		p.r[i*n+q] = p.d[i]
	}
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
		p.turn(j, c, t)
	}
}

// turn rotates columns j and j+1 of J.
func (p *program) turn(j int, c, s float64) {
	n := p.n
	for i := range n {
		a, b := p.inverse[i*n+j], p.inverse[i*n+j+1]
		p.inverse[i*n+j] = float64(c*a) + float64(s*b)
		p.inverse[i*n+j+1] = float64(c*b) - float64(s*a)
	}
}

// invert sets J to L⁻ᵀ for G = L·Lᵀ, and reports whether G is positive definite.
func (p *program) invert() bool {
	n := p.n
	l := make([]float64, n*n)
	for i := range n {
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
