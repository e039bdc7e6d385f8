package optim

import (
	"math"
	"slices"
)

// cut is what a constraint was like at another point, nearby: its value and scaled derivatives there. A constraint that
// is the largest of several functions has the derivatives of one of them at each point. Where several are as large, as
// where a largest value is reached over a stretch of time, a step along one breaks the others. So such constraints are
// kept as they were at the last points as well. A search that has come to its end drops those of points that are not
// near, and goes on if they had held it.
type cut struct {
	i          int // of the constraint
	value      float64
	x, row     []float64
	born       int // the iteration
	multiplier float64
}

// Cuts are of two functions where the cosine between their derivatives is below distinct. They are kept for a while.
const (
	distinct = 0.99
	cutAge   = 8
	mostCuts = 60
)

// cosine returns that of the angle between a and b, and 1 if one of them is zero.
func cosine(a, b []float64) float64 {
	if size := float64(norm(a) * norm(b)); size > 0 {
		return dot(a, b) / size
	}
	return 1
}

// row returns the derivatives of constraint i.
func (c *Constraints) row(i, n int) []float64 { return c.J[i*n : (i+1)*n] }

// largest reports whether constraint i is an inequality that is the largest of several functions.
func (s *sequence) largest(i int) bool {
	return s.p.Largest != nil && s.p.Largest[i] && s.p.Lo[i] != s.p.Hi[i]
}

// forget drops the cuts of points that are not near x, and reports whether that may change the step.
func (s *sequence) forget(x []float64) bool {
	mattered := false
	scaled := make([]float64, s.n)
	for j, d := range s.d {
		scaled[j] = float64(d * x[j])
	}
	near := float64(1e-5 * norm(scaled))
	s.cuts = slices.DeleteFunc(s.cuts, func(k *cut) bool {
		for j, d := range s.d {
			scaled[j] = float64(d * (x[j] - k.x[j]))
		}
		far := norm(scaled) > near
		mattered = mattered || far && k.multiplier != 0
		return far
	})
	return mattered
}

// remember keeps the inequalities c at x whose derivatives are not those of the current point.
func (s *sequence) remember(x []float64, c *Constraints) {
	for i, v := range c.C {
		row := c.row(i, s.n)
		if !s.largest(i) || cosine(row, s.c.row(i, s.n)) > distinct {
			continue
		}
		s.cuts = slices.DeleteFunc(s.cuts, func(k *cut) bool { return k.i == i && cosine(k.row, row) > distinct })
		s.cuts = append(s.cuts, &cut{
			i: i, value: v, x: slices.Clone(x), row: slices.Clone(row), born: s.res.Iterations,
		})
	}
	s.cuts = slices.DeleteFunc(s.cuts, func(k *cut) bool { return s.res.Iterations-k.born > cutAge })
	s.cuts = s.cuts[max(0, len(s.cuts)-mostCuts):]
}

// at returns the value of the function of a cut at x, to first order. It is not beyond that of the constraint.
func (s *sequence) cutAt(k *cut, x []float64) float64 {
	v := k.value
	for j, d := range s.d {
		v += float64(k.row[j] * ((x[j] - k.x[j]) * d))
	}
	if math.IsInf(s.p.Hi[k.i], 1) {
		return math.Max(v, s.c.C[k.i])
	}
	return math.Min(v, s.c.C[k.i])
}

// total returns the multipliers of the constraints, with those of their cuts.
func (s *sequence) total() []float64 {
	sum := slices.Clone(s.multiplier)
	for _, k := range s.cuts {
		sum[k.i] += k.multiplier
	}
	return sum
}
