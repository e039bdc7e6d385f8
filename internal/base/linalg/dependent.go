package linalg

import (
	"math"

	"odes.dev/odes/internal/base/elem"
)

// Dependent says more of a singular matrix than its error does: rows of which a combination is nearly
// zero, and columns of which one is, ascending. Where there are several such combinations it is one of
// them. It is found by two steps of inverse iteration, with something small in the place of pivots that
// vanish. This factors anew and allocates, for use where a message is written; where it fails it
// returns nil.
func (a *Analysis) Dependent(values []float64) (rows, cols []int) {
	p := a.p
	size, finite := largest(values[:len(p.Rows)])
	if !finite || size == 0 {
		return nil, nil
	}
	patch := float64(size * 0x1p-46)
	c := &pivoting{values: values, threshold: 1, patch: patch, x: make([]float64, p.N)}
	s := a.structure
	if s == nil {
		var err error
		if s, err = newStructure(p); err != nil {
			return nil, nil
		}
	}
	o, err := s.order(c, a.options.Memory)
	if err != nil {
		return nil, nil
	}
	f := newSparse(s, o, a.options.Memory)
	f.patch = patch
	if _, err := f.eliminate(values, size, false); err != nil {
		return nil, nil
	}
	inRow, inCol := make([]float64, p.N), make([]float64, p.N)
	for j := range p.N {
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			v, i := math.Abs(values[e]), p.Rows[e]
			inRow[i], inCol[j] = max(inRow[i], v), max(inCol[j], v)
		}
	}
	return vanishing(f.SolveT, inRow, size), vanishing(f.Solve, inCol, size)
}

// vanishing returns what takes part in the vector that a nearly singular solve makes largest. An
// element counts with the size of its row or column, and with the largest size where that is zero.
func vanishing(solve func(x []float64, lanes int), sizes []float64, largest float64) []int {
	x := make([]float64, len(sizes))
	r := elem.NewRand(1)
	for i := range x {
		x[i] = r.Norm()
	}
	most := 0.0
	for range 2 {
		most = 0
		solve(x, 1)
		for _, v := range x {
			most = max(most, math.Abs(v))
		}
		scale(x, 1/most)
	}
	most = 0
	for i, v := range x {
		s := sizes[i]
		if s == 0 {
			s = largest
		}
		x[i] = math.Abs(v) * s
		most = max(most, x[i])
	}
	var list []int
	for i, v := range x {
		if v > float64(1e-6*most) {
			list = append(list, i)
		}
	}
	return list
}
