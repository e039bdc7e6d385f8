package certify

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/optim"
)

// Without returns the gain, relative to Size, that there would be if variable i had no bounds and could move by reach.
func (p *Problem) Without(i int, reach float64) float64 {
	q := *p
	q.Lo, q.Hi, q.Sizes = append([]float64(nil), p.Lo...), append([]float64(nil), p.Hi...),
		append([]float64(nil), p.Sizes...)
	q.Lo[i], q.Hi[i], q.Sizes[i] = math.Inf(-1), math.Inf(1), math.Max(reach, p.Sizes[i])
	q.curves, q.bends = q.Hessian, nil
	gain, _, _ := q.gain()
	return gain / p.Size
}

// Unfolded returns the gain, relative to Size, that there would be if the piece of the objective that holds at the
// point went on beyond the places where others meet it.
func (p *Problem) Unfolded() float64 {
	q := *p
	q.curves, q.only = q.Hessian, 0
	q.cuts = slices.DeleteFunc(slices.Clone(p.cuts), func(k cut) bool { return k.constraint < 0 })
	gain, _, _ := q.gain()
	return gain / p.Size
}

// Relaxed returns by how much more could be gained than found has, relative to Size, if each constraint could be
// violated by as much. Errors of constraints that large hide it, and a point that violates constraints so owes it, to
// first order.
func (p *Problem) Relaxed(by []float64, found *Certificate) float64 {
	if !slices.ContainsFunc(by, func(x float64) bool { return x > 0 }) {
		return 0
	}
	q := *p
	q.slack = by
	gain, _, _ := q.gain()
	return math.Max(gain/p.Size-found.Stationarity, 0)
}

// Violations returns by how much each constraint is violated.
func (p *Problem) Violations() []float64 {
	out := make([]float64, len(p.At.Constraints.C))
	for i, c := range p.At.Constraints.C {
		out[i] = math.Max(math.Max(p.Min[i]-c, c-p.Max[i]), 0)
	}
	return out
}

// Infeasible reports whether violations of constraints can be no smaller near the point, to first order.
func (p *Problem) Infeasible() bool {
	const enough = 1e-3 // of violations, or of how far constraints may move
	n := len(p.X)
	l := optim.Linear{C: make([]float64, n), Lo: make([]float64, n), Hi: make([]float64, n), Over: p.Over}
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
