package optim

import (
	"math"
	"slices"
)

// cut is what a constraint, or the objective (−1), was like at another point, nearby: its value and derivatives there.
// What is the largest of several functions has the derivatives of one of them at each point. Where several are as
// large, as where a largest value is reached over a stretch of time, a step along one breaks the others. So they are
// kept as they were at the last points as well.
type cut struct {
	i      int
	value  float64
	x, row []float64
}

// Cuts are of two functions where the cosine between their derivatives is below distinct.
const (
	distinct = 0.99
	mostCuts = 200
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

// remember keeps what is the largest of several functions, as it is at x.
func (s *sequence) remember(x []float64, p *sample) {
	for i, v := range p.c.C {
		if s.largest(i) {
			s.cuts = append(s.cuts, &cut{i: i, value: v, x: slices.Clone(x), row: slices.Clone(p.c.row(i, s.n))})
		}
	}
	s.cuts = s.cuts[max(0, len(s.cuts)-mostCuts):]
	if s.p.Peaked {
		s.pieces = append(s.pieces, &cut{
			i: -1, value: p.at.Value, x: slices.Clone(x), row: slices.Clone(p.at.Gradient),
		})
		s.pieces = s.pieces[max(0, len(s.pieces)-mostCuts):]
	}
}

// near drops the cuts of points from which the search has gone away.
func (s *sequence) near() {
	const far = 10 // radii
	s.drop(far * s.radius)
}

// forget drops the cuts of points that are not close, and reports whether there were any.
func (s *sequence) forget() bool { return s.drop(1e-5) > 0 }

// drop drops the cuts of points that are farther than that, in sizes of variables, and returns how many there were.
func (s *sequence) drop(far float64) int {
	gone := func(k *cut) bool {
		for j, size := range s.s {
			if math.Abs(s.x[j]-k.x[j]) > far*size {
				return true
			}
		}
		return false
	}
	before := len(s.cuts) + len(s.pieces)
	s.cuts, s.pieces = slices.DeleteFunc(s.cuts, gone), slices.DeleteFunc(s.pieces, gone)
	return before - len(s.cuts) - len(s.pieces)
}

// cutAt returns the value of the function of a cut at the current point, to first order. It is not beyond that of the
// constraint.
func (s *sequence) cutAt(k *cut) float64 {
	v, c := s.extended(k), s.now.c.C[k.i]
	if math.IsInf(s.p.Hi[k.i], 1) {
		return math.Max(v, c)
	}
	return math.Min(v, c)
}

// pieceAt is cutAt for the objective.
func (s *sequence) pieceAt(k *cut) float64 { return math.Min(s.extended(k), s.now.at.Value) }

// extended is the value of a cut to first order.
func (s *sequence) extended(k *cut) float64 {
	v := k.value
	for j, size := range s.s {
		v += float64(k.row[j] * ((s.x[j] - k.x[j]) / size))
	}
	return v
}
