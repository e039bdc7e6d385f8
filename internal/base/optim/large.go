package optim

import (
	"math"
	"slices"
)

// Programs of thousands of variables have no matrix: their curvature is known by products, and they are solved by
// conjugate gradients (Box). What a search knows of it is limited-memory BFGS.

// boxed is solve for a program that has products.
func (p *program) boxed() bool {
	const (
		rounds   = 60
		exact    = 1e-13 // of how far rows are from their kinks
		steep    = 1e3   // penalties over a typical curvature
		greatest = 1e3
	)
	n, k := p.n, len(p.lines)
	b := Box{G: p.a, Lo: p.lo, Hi: p.hi, Product: p.product, Y: make([]float64, k), Products: 5000, Over: p.over}
	p.x, p.y, p.z = make([]float64, n), make([]float64, k), make([]float64, n)
	lengths := make([]float64, k)
	for j, l := range p.lines {
		size := norm(l.a)
		if lengths[j] = size; size == 0 {
			size = 1
		}
		r := BoxRow{V: l.v / size, A: make([]float64, n)}
		r.Below, r.Above = float64(l.below*size), float64(l.above*size)
		add(r.A, 1/size, l.a)
		b.Rows = append(b.Rows, r)
	}
	// The curvature along the slopes is a typical one.
	curve, typical := make([]float64, n), 0.0
	if size := dot(p.a, p.a); size > 0 && p.product(p.a, curve) == nil {
		typical = dot(p.a, curve) / size
	}
	b.Penalty = math.Max(steep*typical, 10*norm(p.a))
	if !(b.Penalty > 0) {
		b.Penalty = 1
	}
	b.Begin()
	first, last, stalled := b.Projected(), math.Inf(1), 0
	most := greatest * b.Penalty
	for range rounds {
		off := 0.0
		b.Minimise(func() bool {
			off = b.Violation()
			return b.Projected() <= math.Max(1e-11*first, math.Min(1e-2*first, 0.1*b.Penalty*off))
		})
		if b.Err != nil || p.unwanted() || !finite(b.D) {
			return false
		}
		if off <= exact && b.Projected() <= 1e-9*first || k == 0 {
			break
		}
		if off > 0.9*last {
			stalled++ // rounding is all that is left
		}
		if b.Used >= b.Products || stalled > 3 {
			break
		}
		if off > 0.2*last && b.Penalty < most {
			b.Penalty *= 10
		}
		last = off
		b.Update()
	}
	copy(p.x, b.D)
	for j := range p.y {
		if lengths[j] > 0 {
			p.y[j] = b.multipliers[j] / lengths[j]
		} else {
			p.y[j] = math.Max(-p.lines[j].below, math.Min(0, p.lines[j].above))
		}
	}
	for i, s := range b.slopes {
		if b.held(i) {
			p.z[i] = s
		}
	}
	return true
}

// square makes room for g: of many variables for its diagonal alone.
func (p *program) square(many bool) {
	if p.many = many; many {
		p.g = make([]float64, p.n)
		return
	}
	p.g = make([]float64, p.n*p.n)
}

// set sets an element of the diagonal of g.
func (p *program) set(i int, v float64) {
	if p.many {
		p.g[i] = v
		return
	}
	p.g[i*p.n+i] = v
}

// round gives the first n variables the same curvature.
func (p *program) round(n int, v float64) {
	if p.many {
		p.multiplied(n, func(x, out []float64) {
			for i := range out {
				out[i] = float64(v * x[i])
			}
		})
		return
	}
	for i := range n {
		p.set(i, v)
	}
}

// multiplied makes the first n variables those of a curvature that is known by products. Others have that of g, which
// has their diagonal alone.
func (p *program) multiplied(n int, by func(v, out []float64)) {
	diagonal := p.g
	p.product = func(v, out []float64) error {
		by(v[:n], out[:n])
		for i := n; i < len(v); i++ {
			out[i] = float64(diagonal[i] * v[i])
		}
		return nil
	}
}

// grown is curvature that steps have told, for many variables.
type grown struct{ quasiNewton }

// learn is told of a step and the difference of slopes, which is damped so that the curvature stays positive.
func (g *grown) learn(p, y []float64) {
	if len(g.s) == 0 {
		if py := dot(p, y); py > 1e-8*norm(p)*norm(y) {
			g.gamma = dot(y, y) / py
		} else {
			return
		}
	}
	bp := make([]float64, len(p))
	g.apply(p, bp)
	if bend, py := dot(p, bp), dot(p, y); py < 0.2*bend {
		t := 0.8 * bend / (bend - py)
		for i := range y {
			y[i] = float64(t*y[i]) + float64((1-t)*bp[i])
		}
	}
	before := g.gamma
	g.quasiNewton.learn(slices.Clone(p), slices.Clone(y))
	// Along constraints the curvature may be far less than across: the largest one of late is a safe start.
	g.gamma = math.Max(g.gamma, 0.1*before)
}
