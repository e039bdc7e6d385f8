package certify

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/optim"
)

// Of thousands of variables no matrix can be had. There the quadratic program around the point is known by products,
// and what could be gained is bounded from above: the bound holds whatever multipliers are, and however well the
// program was solved (optim.Box).

// products returns the largest gain of the quadratic program around the point, of Hessians that are known by products,
// and its step; ok tells that there is such a bound. What nobody could find out counts as gain.
func (p *Problem) products(most int) (gain float64, step []float64, ok bool) {
	const (
		rounds  = 12  // of multipliers
		part    = 0.1 // of what is enough that may be left
		growing = 0.25
	)
	n := len(p.X)
	enough := float64(part * p.Enough * p.Size)
	b := optim.Box{
		G: make([]float64, n), Lo: make([]float64, n), Hi: make([]float64, n),
		Convex: true, Products: most, Over: p.Over,
	}
	moves := 0.0
	for i := range n {
		b.G[i] = float64(p.At.Gradient[i] * p.Sizes[i])
		b.Lo[i], b.Hi[i] = p.room(i, 1)
		moves += math.Abs(b.G[i])
	}
	y := make([]float64, len(p.Min)) // of the constraints, for the curvature of the Lagrangian
	of := p.limited(&b)
	b.Y = nearest(&b)
	for j, r := range of {
		y[r.constraint] += b.Y[j] / r.size
	}
	to := make([]float64, n)
	b.Product = func(v, out []float64) error {
		for i, s := range p.Sizes {
			to[i] = float64(s * v[i])
		}
		if err := p.Products(y, to, out); err != nil {
			return err
		}
		for i, s := range p.Sizes {
			out[i] *= s
		}
		return nil
	}
	if b.Penalty = 10 * math.Max(moves, enough); b.Penalty == 0 {
		b.Penalty = 1
	}
	b.Begin()
	last := math.Inf(1)
	for range rounds {
		b.Minimise(func() bool { return b.Gap <= enough })
		if gain = b.Gap - b.Value; gain <= enough || b.Used >= most || b.Err != nil || p.Over != nil && p.Over() {
			break
		}
		off := b.Violation()
		if off == 0 || float64(b.Penalty*off*off) <= enough {
			break
		}
		if off > growing*last {
			b.Penalty *= 10
		}
		last = off
		b.Update()
	}
	b.Products++ // the last one is for what is said of the solution
	if !b.Confirm() {
		return 0, nil, false
	}
	gain = math.Max(b.Gap-b.Value, 0)
	p.presses = p.presses || largest(b.Y) > 0
	return gain, p.whole(b.D, 1), true
}

// matrices makes Hessians of products, where these are no more than nobody minds, and reports whether there are any. A
// matrix tells of flat directions at once what conjugate gradients tell after many products.
func (p *Problem) matrices() bool {
	n, k := len(p.X), len(p.Min)
	if k > 0 && p.Near != nil && p.straight() {
		k = 0
	}
	if n > manyVariables || n*(1+k) > 2*mostProducts {
		return false
	}
	h, bends := make([]float64, n*n), make([][]float64, len(p.Min))
	for i := range k {
		bends[i] = make([]float64, n*n)
	}
	y, unit := make([]float64, len(p.Min)), make([]float64, n)
	for j := range n {
		if p.Over != nil && p.Over() {
			return false
		}
		clear(unit)
		unit[j] = 1
		own := h[j*n : (j+1)*n]
		if p.Products(y, unit, own) != nil || !finite(own) {
			return false
		}
		for i := range k {
			y[i] = 1
			row := bends[i][j*n : (j+1)*n]
			err := p.Products(y, unit, row)
			if y[i] = 0; err != nil || !finite(row) {
				return false
			}
			for m, v := range own {
				row[m] -= v
			}
		}
	}
	p.curves, p.bends = h, bends
	return true
}

func finite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return x-x != 0 })
}

// limited adds the constraints that may hold steps to a program, and returns what its rows are.
func (p *Problem) limited(b *optim.Box) (of []limit) {
	for _, r := range p.rows() {
		size := p.extent(r.a)
		if r.weight > 0 || size == 0 {
			continue
		}
		a := make([]float64, len(p.X))
		for i, v := range r.a {
			a[i] = float64(v*p.Sizes[i]) / size
		}
		lo, hi := math.Min((r.min-r.v)/size, 0), math.Max((r.max-r.v)/size, 0)
		never := math.Inf(1)
		add := func(at, below, above float64) {
			b.Rows, of = append(b.Rows, optim.BoxRow{V: -at, A: a, Below: below, Above: above}),
				append(of, limit{r.constraint, size})
		}
		switch {
		case lo == 0 && hi == 0:
			add(0, never, never)
			continue
		case lo > -1:
			add(lo, never, 0)
		}
		if hi < 1 {
			add(hi, 0, never)
		}
	}
	return of
}

// nearest returns the multipliers that leave the least slopes of variables that are within their bounds, among those
// that rows at d = 0 let them have.
func nearest(b *optim.Box) []float64 {
	const near = 1e-6
	y := make([]float64, len(b.Rows))
	rest := make([]float64, 0, len(b.G)) // slopes
	var free []int
	for i, g := range b.G {
		if b.Lo[i] < 0 && b.Hi[i] > 0 {
			free, rest = append(free, i), append(rest, g)
		}
	}
	// One after the other: there are few rows, and any multipliers will do.
	for range 50 {
		for j := range b.Rows {
			r := &b.Rows[j]
			up, down := 0.0, 0.0
			for k, i := range free {
				up += float64(rest[k] * r.A[i])
				down += float64(r.A[i] * r.A[i])
			}
			if down == 0 || math.Abs(r.V) > near {
				continue
			}
			to := math.Max(-r.Below, math.Min(y[j]-up/down, r.Above))
			for k, i := range free {
				rest[k] += float64((to - y[j]) * r.A[i])
			}
			y[j] = to
		}
	}
	return y
}

func largest(v []float64) (most float64) {
	for _, x := range v {
		most = math.Max(most, math.Abs(x))
	}
	return most
}
