package certify

import (
	"math"

	"odes.dev/odes/internal/base/optim"
)

// newton returns Newton's step along what holds a solution of the linear program, as far as bounds and constraints let
// it go; nil for none.
func (p *Problem) newton(held []int) []float64 {
	n, rows := len(p.X), p.rows()
	fixed := make([]bool, n)
	resting := make([]bool, len(rows))
	var along []int // rows
	for _, v := range held {
		if v < n {
			fixed[v] = true
		} else {
			resting[v-n] = true
			along = append(along, v-n)
		}
	}
	var free []int
	for i := range n {
		if !fixed[i] {
			free = append(free, i)
		}
	}
	f, k := len(free), len(along)
	if f <= k {
		return nil
	}
	g := append([]float64(nil), p.At.Gradient...)
	for j := range rows {
		if r := &rows[j]; r.weight > 0 && !resting[j] {
			for i, a := range r.a {
				g[i] += float64(math.Copysign(r.weight, r.v) * a)
			}
		}
	}
	// [H Aᵀ; A 0][d; y] = [−g; to]
	size := f + k
	m, b := make([]float64, size*size), make([]float64, size)
	most := 0.0
	for a, i := range free {
		most = math.Max(most, math.Abs(float64(p.Hessian[i*n+i]*p.Sizes[i]*p.Sizes[i])))
		b[a] = -float64(g[i] * p.Sizes[i])
	}
	for a, i := range free {
		for c, j := range free {
			m[a*size+c] = float64(p.Hessian[i*n+j] * p.Sizes[i] * p.Sizes[j])
		}
		m[a*size+a] += float64(1e-13 * most) // of directions in which nothing changes
	}
	for c, j := range along {
		r := &rows[j]
		unit := p.extent(r.a)
		if unit == 0 {
			return nil
		}
		to := -r.v
		if r.weight == 0 {
			if to = r.max - r.v; r.v-r.min < to {
				to = r.min - r.v
			}
		}
		b[f+c] = to / unit
		for a, i := range free {
			v := float64(r.a[i]*p.Sizes[i]) / unit
			m[a*size+f+c], m[(f+c)*size+a] = v, v
		}
	}
	if !solve(m, b, size) {
		return nil
	}
	d := make([]float64, n)
	part := 1.0
	for a, i := range free {
		lo, hi := p.room(i, 1)
		if b[a] > hi && hi < part*b[a] {
			part = hi / b[a]
		} else if b[a] < lo && lo > part*b[a] {
			part = lo / b[a]
		}
	}
	for a, i := range free {
		d[i] = float64(part * b[a] * p.Sizes[i])
	}
	return p.kept(d, rows, resting)
}

// kept returns the part of a step that keeps the limits of the constraints that do not rest at one.
func (p *Problem) kept(d []float64, rows []row, resting []bool) []float64 {
	part := 1.0
	for j := range rows {
		r := &rows[j]
		v := dot(r.a, d)
		if r.weight > 0 || resting[j] || v == 0 {
			continue
		}
		if to := r.v + v; to > r.max {
			part = math.Min(part, (r.max-r.v)/v)
		} else if to < r.min {
			part = math.Min(part, (r.min-r.v)/v)
		}
	}
	return scaled(d, part)
}

// solve solves m·x = b in place by elimination with pivots, and reports whether there is one solution.
func solve(m, b []float64, n int) bool {
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if math.Abs(m[i*n+k]) > math.Abs(m[best*n+k]) {
				best = i
			}
		}
		pivot := m[best*n+k]
		if pivot == 0 || pivot-pivot != 0 {
			return false
		}
		if best != k {
			for j := k; j < n; j++ {
				m[k*n+j], m[best*n+j] = m[best*n+j], m[k*n+j]
			}
			b[k], b[best] = b[best], b[k]
		}
		for i := k + 1; i < n; i++ {
			f := m[i*n+k] / pivot
			if f == 0 {
				continue
			}
			for j := k; j < n; j++ {
				m[i*n+j] -= float64(f * m[k*n+j])
			}
			b[i] -= float64(f * b[k])
		}
	}
	for i := n - 1; i >= 0; i-- {
		sum := b[i]
		for j := i + 1; j < n; j++ {
			sum -= float64(m[i*n+j] * b[j])
		}
		if b[i] = sum / m[i*n+i]; b[i]-b[i] != 0 {
			return false
		}
	}
	return true
}

// Without returns the gain, relative to Size, that there would be if variable i had no bounds and could move by reach.
func (p *Problem) Without(i int, reach float64) float64 {
	q := *p
	q.Lo, q.Hi, q.Sizes = append([]float64(nil), p.Lo...), append([]float64(nil), p.Hi...),
		append([]float64(nil), p.Sizes...)
	q.Lo[i], q.Hi[i], q.Sizes[i] = math.Inf(-1), math.Inf(1), math.Max(reach, p.Sizes[i])
	gain, _, _ := q.gain()
	return gain / p.Size
}

// Infeasible reports whether violations of constraints can be no smaller near the point, to first order.
func (p *Problem) Infeasible() bool {
	const enough = 1e-3 // of violations, or of how far constraints may move
	n := len(p.X)
	l := optim.Linear{C: make([]float64, n), Lo: make([]float64, n), Hi: make([]float64, n)}
	for i := range n {
		l.Lo[i], l.Hi[i] = p.room(i, 1)
	}
	all, fixed := 0.0, false // whether a violated constraint does not move at all
	for _, r := range p.rows() {
		size := p.extent(r.a)
		if r.weight > 0 {
			continue
		}
		lo, hi := p.Min[r.constraint], p.Max[r.constraint]
		if size == 0 {
			fixed = fixed || r.v < lo || r.v > hi
			continue
		}
		all += math.Min((math.Max(lo-r.v, 0)+math.Max(r.v-hi, 0))/size, 1)
		for side, limit := range [2]float64{lo, hi} {
			if math.IsInf(limit, 0) {
				continue
			}
			t := optim.LinearRow{
				A: make([]float64, n), Min: math.Inf(-1), Max: math.Inf(1), Kink: (limit - r.v) / size,
			}
			for i, a := range r.a {
				t.A[i] = float64(a*p.Sizes[i]) / size
			}
			if t.Below = 1; side == 1 {
				t.Below, t.Above = 0, 1
			}
			l.Rows = append(l.Rows, t)
		}
	}
	if all == 0 {
		return fixed
	}
	return -l.Solve().Bound <= enough*all
}

// Violation returns the sum of the violations of c, each relative to how far its constraint moves with the variables at
// the point.
func (p *Problem) Violation(c *optim.Constraints) float64 {
	sum, n := 0.0, len(p.X)
	for i, v := range c.C {
		if size := p.extent(p.At.Constraints.J[i*n : (i+1)*n]); size > 0 {
			sum += (math.Max(p.Min[i]-v, 0) + math.Max(v-p.Max[i], 0)) / size
		}
	}
	return sum
}
