package optim

import (
	"math"
	"slices"
)

// Quadratic is a linear program with kinks and, beside it, ½xᵀGx.
type Quadratic struct {
	Linear
	G []float64 // n × n, symmetric
}

// Solve returns the solution of the program, where G is what is convex of it: its eigenvectors whose eigenvalues are
// negative count as flat. It is nil if rounding leaves none.
func (p *Quadratic) Solve() []float64 {
	n := len(p.C)
	q := program{n: n, g: make([]float64, n*n), a: p.C, lo: p.Lo, hi: p.Hi, over: p.Over}
	vectors := slices.Clone(p.G)
	values := eigenUntil(vectors, n, p.Over)
	if len(values) < n {
		return nil
	}
	most := 0.0
	for _, v := range values {
		most = math.Max(most, v)
	}
	least := math.Max(1e-9, float64(1e-13*most)) // variables are no larger than 1: it changes nothing that is seen
	for k, value := range values {
		v := vectors[k*n : (k+1)*n]
		for i, f := range v {
			add(q.g[i*n:(i+1)*n], float64(math.Max(value, least)*f), v)
		}
	}
	for j := range p.Rows {
		r := &p.Rows[j]
		put := func(at, below, above float64) {
			if at-at == 0 {
				l := line{v: -at, a: r.A, below: below, above: above, kink: -1, constraint: -1}
				if above-above == 0 && below-below == 0 {
					l.kink = j
				}
				q.lines = append(q.lines, l)
			}
		}
		never := math.Inf(1)
		if r.Below+r.Above > 0 {
			put(r.Kink, r.Below, r.Above)
		}
		if r.Min == r.Max {
			put(r.Min, never, never)
			continue
		}
		put(r.Min, never, 0)
		put(r.Max, 0, never)
	}
	if !q.solve() || !finite(q.x) {
		return nil
	}
	return q.x
}
