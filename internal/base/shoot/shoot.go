// Package shoot solves the linear systems of multiple shooting: runs that are divided into parts, each of which begins
// with values of its own, and a border of unknowns that all parts share.
//
// The function to be minimised is a sum of quadratic models, one for each part, in the displacements of its start and
// of the border, plus a penalty on what separates the ends of parts from the starts of those behind them:
//
//	Σ ½ (s_k, p)ᵀ H_k (s_k, p) + g_kᵀ (s_k, p) + ½ w |E_k + J_k (s_k, p) − s_{k+1}|²
//
// Step condenses from the last part backwards. What the parts from k on cost is a quadratic function of s_k and p; so
// the unknowns of a part are eliminated one part after the other, in O(N n³ + N n² p) for N parts of n unknowns, as in
// the solution of a Riccati equation. With an infinite weight the ends join exactly: it is the same recursion, with
// I + P/w = I. Last comes the border, within bounds.
//
// The method is that of Bock, "Recent advances in parameter identification techniques for ODE" (1983), with a penalty
// whose weight grows in the place of exact conditions. Nothing here knows of runs.
package shoot

import (
	"errors"
	"math"
)

// Part is the quadratic model of a part. It has Start unknowns of its own, in front of those of the border in its rows.
type Part struct {
	Start int
	H     []float64 // [Start+border]²: symmetric, positive semidefinite
	G     []float64 // [Start+border]
	// J are the derivatives of the end, [next Start][Start+border], and E is the end less the start of the next part.
	// Both are nil for the last.
	J, E []float64
}

// Problem is what Step solves. Chains are runs, each a list of parts; they share the border.
type Problem struct {
	Border int
	Chains [][]Part
	Weight float64 // of what separates the parts; +Inf joins them
	// H and G are the quadratic model of the border alone, such as priors: [Border]² and [Border].
	H, G []float64
	// Lo and Hi bound the displacements of the border.
	Lo, Hi []float64
	// Damping is the λ of Levenberg and Marquardt, and Sizes are the squares that it multiplies: of the border, and of
	// the starts of all parts, chain by chain.
	Damping     float64
	BorderSizes []float64
	StartSizes  [][][]float64
}

// ErrSingular says that a matrix is not positive definite: more damping is needed.
var ErrSingular = errors.New("the model of the objective is not convex")

// tail is what a part and those behind it cost: ½ sᵀPs + sᵀQp + ½ pᵀRp + gᵀs + hᵀp.
type tail struct {
	n          int
	p, q, r    []float64 // [n][n], [n][border], [border][border]
	g, h       []float64
	t          []float64 // (I + P/w)⁻¹, once the part before was condensed
	exact      bool
	multiplier float64 // 1/w
}

// Step returns the displacements that minimise the model: of the border, and of the starts of parts, chain by chain.
func Step(pr *Problem) (border []float64, starts [][][]float64, err error) {
	b := pr.Border
	r, h := append([]float64(nil), pr.H...), append([]float64(nil), pr.G...)
	for i := range b {
		r[i*b+i] += float64(pr.Damping * pr.BorderSizes[i])
	}
	tails := make([][]tail, len(pr.Chains))
	for c, chain := range pr.Chains {
		tails[c] = make([]tail, len(chain))
		for k := len(chain) - 1; k >= 0; k-- {
			at := &tails[c][k]
			at.begin(&chain[k], b)
			for i := range at.n {
				at.p[i*at.n+i] += float64(pr.Damping * pr.StartSizes[c][k][i])
			}
			if k+1 < len(chain) {
				if err := at.condense(&chain[k], &tails[c][k+1], pr.Weight, b); err != nil {
					return nil, nil, err
				}
			}
		}
		first := &tails[c][0]
		if first.n > 0 { // its start is free: it is eliminated without a part before
			if err := first.free(b); err != nil {
				return nil, nil, err
			}
		}
		add(r, first.r)
		add(h, first.h)
	}
	if border, err = box(r, h, pr.Lo, pr.Hi); err != nil {
		return nil, nil, err
	}
	for c, chain := range pr.Chains {
		list := make([][]float64, len(chain))
		list[0] = tails[c][0].start(nil, border, b)
		for k := 1; k < len(chain); k++ {
			u := chain[k-1].end(list[k-1], border, b)
			list[k] = tails[c][k].start(u, border, b)
		}
		starts = append(starts, list)
	}
	return border, starts, nil
}

// begin splits the model of a part into blocks.
func (t *tail) begin(x *Part, b int) {
	n := x.Start
	w := n + b
	t.n = n
	t.p, t.q, t.r = make([]float64, n*n), make([]float64, n*b), make([]float64, b*b)
	t.g, t.h = append([]float64(nil), x.G[:n]...), append([]float64(nil), x.G[n:]...)
	for i := range n {
		copy(t.p[i*n:(i+1)*n], x.H[i*w:])
		copy(t.q[i*b:(i+1)*b], x.H[i*w+n:(i+1)*w])
	}
	for i := range b {
		copy(t.r[i*b:(i+1)*b], x.H[(n+i)*w+n:(n+i+1)*w])
	}
}

// condense adds what the parts from next on cost, as a function of the start of x and the border.
//
// Over the start s′ of next, the sum of ½ w |u − s′|² and the cost of next is least at s′ = T (u − (Q p + g)/w), where
// u is the end of x and T = (I + P/w)⁻¹. It is ½ uᵀ P T u + uᵀ T q − ½ qᵀ T q/w then, with q = Q p + g.
func (t *tail) condense(x *Part, next *tail, weight float64, b int) error {
	m, n := next.n, t.n
	next.exact = math.IsInf(weight, 1)
	if !next.exact {
		next.multiplier = 1 / weight
	}
	next.t = make([]float64, m*m)
	for i := range m {
		next.t[i*m+i] = 1
	}
	pt, tq, tg := next.p, next.q, next.g
	if !next.exact {
		s := make([]float64, m*m)
		for i, v := range next.p {
			s[i] = float64(v * next.multiplier)
		}
		for i := range m {
			s[i*m+i]++
		}
		if !cholesky(s, m) {
			return ErrSingular
		}
		solve(s, m, next.t, m)
		symmetrise(next.t, m)
		pt = multiply(next.p, next.t, m, m, m)
		symmetrise(pt, m)
		tq, tg = multiply(next.t, next.q, m, m, b), multiply(next.t, next.g, m, m, 1)
	}
	w := n + b
	// of all that x depends on: J and E of the end
	pj := multiply(pt, x.J, m, m, w)       // P T J
	jpj := transposed(x.J, pj, m, w, w)    // Jᵀ P T J
	jtq := transposed(x.J, tq, m, w, b)    // Jᵀ T Q
	lin := multiply(pt, x.E, m, m, 1)      // P T E + T g
	add(lin, tg)                           //
	jl := transposed(x.J, lin, m, w, 1)    // Jᵀ (P T E + T g)
	qe := transposed(tq, x.E, m, b, 1)     // Qᵀ T E
	qtq := transposed(next.q, tq, m, b, b) // Qᵀ T Q
	qtg := transposed(next.q, tg, m, b, 1) // Qᵀ T g
	for i := range n {
		for j := range n {
			t.p[i*n+j] += jpj[i*w+j]
		}
		for j := range b {
			t.q[i*b+j] += jpj[i*w+n+j] + jtq[i*b+j]
		}
		t.g[i] += jl[i]
	}
	symmetrise(t.p, n)
	for i := range b {
		for j := range b {
			t.r[i*b+j] += jpj[(n+i)*w+n+j] + jtq[(n+i)*b+j] + jtq[(n+j)*b+i] + next.r[i*b+j] -
				float64(next.multiplier*qtq[i*b+j])
		}
		t.h[i] += jl[n+i] + next.h[i] + qe[i] - float64(next.multiplier*qtg[i])
	}
	symmetrise(t.r, b)
	return nil
}

// free eliminates the start of the first part.
func (t *tail) free(b int) error {
	s := append([]float64(nil), t.p...)
	if !cholesky(s, t.n) {
		return ErrSingular
	}
	q, g := append([]float64(nil), t.q...), append([]float64(nil), t.g...)
	solve(s, t.n, q, b)
	solve(s, t.n, g, 1)
	for i, v := range transposed(t.q, q, t.n, b, b) {
		t.r[i] -= v
	}
	for i, v := range transposed(t.q, g, t.n, b, 1) {
		t.h[i] -= v
	}
	t.t = s
	return nil
}

// end returns the displaced end of a part, less the start of the next one.
func (x *Part) end(start, border []float64, b int) []float64 {
	w := x.Start + b
	u := append([]float64(nil), x.E...)
	for i := range u {
		row := x.J[i*w : (i+1)*w]
		for k, v := range start {
			u[i] += float64(row[k] * v)
		}
		for k, v := range border {
			u[i] += float64(row[x.Start+k] * v)
		}
	}
	return u
}

// start returns the displacement of the start of a part behind the end u of the one before; u is nil for the first.
func (t *tail) start(u, border []float64, b int) []float64 {
	if t.n == 0 {
		return nil
	}
	q := multiply(t.q, border, t.n, b, 1)
	add(q, t.g)
	if u == nil {
		solve(t.t, t.n, q, 1)
		for i := range q {
			q[i] = -q[i]
		}
		return q
	}
	if t.exact {
		return u
	}
	for i := range u {
		u[i] -= float64(t.multiplier * q[i])
	}
	return multiply(t.t, u, t.n, t.n, 1)
}

// box minimises ½ xᵀRx + hᵀx within bounds: variables that would leave them are held there, and let go where that is
// better.
func box(r, h, lo, hi []float64) ([]float64, error) {
	n := len(h)
	x, held := make([]float64, n), make([]bool, n)
	for range 3*n + 3 {
		var free []int
		for i := range n {
			if !held[i] {
				free = append(free, i)
			}
		}
		m := len(free)
		a, g := make([]float64, m*m), make([]float64, m)
		for i, fi := range free {
			g[i] = -h[fi]
			for k := range n {
				if held[k] {
					g[i] -= float64(r[fi*n+k] * x[k])
				}
			}
			for j, fj := range free {
				a[i*m+j] = r[fi*n+fj]
			}
		}
		if !cholesky(a, m) {
			return nil, ErrSingular
		}
		solve(a, m, g, 1)
		out := false
		for i, fi := range free {
			switch x[fi] = g[i]; {
			case g[i] < lo[fi]:
				x[fi], held[fi], out = lo[fi], true, true
			case g[i] > hi[fi]:
				x[fi], held[fi], out = hi[fi], true, true
			}
		}
		if out {
			continue
		}
		most, at := 0.0, -1 // the one whose release promises most
		for i := range n {
			if !held[i] || lo[i] == hi[i] {
				continue
			}
			slope := h[i]
			for k := range n {
				slope += float64(r[i*n+k] * x[k])
			}
			if x[i] == hi[i] {
				slope = -slope
			}
			if slope < most {
				most, at = slope, i
			}
		}
		if at < 0 || most > -1e-12*(1+math.Abs(h[at])) {
			break
		}
		held[at] = false
	}
	for i := range n { // also where the rounds are used up
		x[i] = max(lo[i], min(hi[i], x[i]))
	}
	return x, nil
}
