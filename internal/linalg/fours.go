package linalg

import (
	"math"
	"slices"
)

// fours are sparse rows, laid out for sums of products with a vector: terms lie one after the other in the order in
// which they are read, four by four, so that a row is four chains that do not wait for one another. What is left of
// the last four of a row is zero, times an element of the vector behind the others, which is zero as well.
type fours struct {
	start []int32    // [rows+1] the first four of each row
	at    [][4]int32 // [fours] which elements of the vector the terms have
	place []int32    // [values] where each value is among all terms
}

// fourTerm is an element of a vector and the value that it is multiplied by.
type fourTerm struct{ at, value int32 }

// newFours lays out rows that have so many values in all, for vectors of n elements and a zero.
func newFours(rows [][]fourTerm, values, n int) *fours {
	f := &fours{start: make([]int32, 1, len(rows)+1), place: make([]int32, values)}
	for _, row := range rows {
		for e, t := range row {
			if e%4 == 0 {
				f.at = append(f.at, [4]int32{int32(n), int32(n), int32(n), int32(n)})
			}
			last := len(f.at) - 1
			f.at[last][e%4] = t.at
			f.place[t.value] = int32(4*last + e%4)
		}
		f.start = append(f.start, int32(len(f.at)))
	}
	f.at = slices.Clip(f.at)
	return f
}

// memory returns the bytes of f.
func (f *fours) memory() int { return 16*len(f.at) + 4*(len(f.start)+len(f.place)) }

// put writes values, times a sign, to their terms, to[fours].
func (f *fours) put(to [][4]float64, values []float64, sign float64) {
	for e, at := range f.place {
		to[at>>2][at&3] = float64(sign * values[e])
	}
}

// byRows returns rows of A x, or of Aᵀ x.
func (p *Pattern) byRows(transposed bool) *fours {
	rows := make([][]fourTerm, p.N)
	for j := range p.N {
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			i, at := p.Rows[e], int32(j)
			if transposed {
				i, at = at, i
			}
			rows[i] = append(rows[i], fourTerm{at, e})
		}
	}
	return newFours(rows, len(p.Rows), p.N)
}

// substitution returns the rows of L and U as solve reads them: those of the triangle that is solved first, and then
// those of the other, both in the order in which they are solved. What was found last comes last in a row: nothing
// else of the row waits for it.
func (f *incompletePlan) substitution(transposed bool) *fours {
	o := f.order
	n, l := len(o.rows), len(o.lRows)
	rows := make([][]fourTerm, 2*n)
	add := func(j int, at int32, value int) { rows[j] = append(rows[j], fourTerm{at, int32(value)}) }
	for k := range n {
		if transposed {
			for e := int(o.uStart[k]); e < int(o.uStart[k+1]); e++ {
				add(k, o.uRows[e], l+e)
			}
			for q := int(o.lEnd[k]) - 1; q >= int(o.lStart[k]); q-- {
				add(2*n-1-k, o.lRows[q], q)
			}
			continue
		}
		for q := int(o.lStart[k]); q < int(o.lEnd[k]); q++ {
			add(int(o.lRows[q]), int32(k), q)
		}
		k := n - 1 - k
		for e := int(o.uStart[k]); e < int(o.uStart[k+1]); e++ {
			add(2*n-1-int(o.uRows[e]), int32(k), l+e)
		}
	}
	return newFours(rows, l+len(o.uRows), n)
}

// solve replaces w[N], and a zero behind it, by the solution with both triangles. values are -L and U, and recip −1
// over the diagonal of U.
func (f *fours) solve(w []float64, values [][4]float64, recip []float64, transposed bool) {
	n := len(recip)
	first, last := f.start[:n+1], f.start[n:]
	if transposed {
		f.triangle(w, values, first, recip, false)
		f.triangle(w, values, last, nil, true)
	} else {
		f.triangle(w, values, first, nil, false)
		f.triangle(w, values, last, recip, true)
	}
}

// triangle solves with -L, or with U where recip is not nil, from the last element up if backwards is set.
func (f *fours) triangle(w []float64, values [][4]float64, start []int32, recip []float64, backwards bool) {
	from := start[0]
	for j, to := range start[1:] {
		if backwards {
			j = len(start) - 2 - j
		}
		s := w[j]
		if recip != nil {
			s = -s
		}
		var s1, s2, s3 float64
		at := f.at[from:to]
		v := values[from:][:len(at)]
		for e := range at {
			i, v := &at[e], &v[e]
			s = math.FMA(v[0], w[i[0]], s)
			s1 = math.FMA(v[1], w[i[1]], s1)
			s2 = math.FMA(v[2], w[i[2]], s2)
			s3 = math.FMA(v[3], w[i[3]], s3)
		}
		s = (s + s2) + (s1 + s3)
		if recip != nil {
			s = float64(s * recip[j])
		}
		w[j], from = s, to
	}
}

// residual sets r to b - A x, where values are those of -A and x has a zero behind it. It returns the largest
// |r_i| / (|b| + |A| |x|)_i; NaN if there is one. What is below that is summed up only where it can matter: it is at
// least the sum of the chains' sizes.
func (f *fours) residual(r, b, x []float64, values [][4]float64) (left float64) {
	for j, own := range b {
		at := f.at[f.start[j]:f.start[j+1]]
		v := values[f.start[j]:][:len(at)]
		s := own
		var s1, s2, s3 float64
		for e := range at {
			i, v := &at[e], &v[e]
			s = math.FMA(v[0], x[i[0]], s)
			s1 = math.FMA(v[1], x[i[1]], s1)
			s2 = math.FMA(v[2], x[i[2]], s2)
			s3 = math.FMA(v[3], x[i[3]], s3)
		}
		least := (math.Abs(s) + math.Abs(s2)) + (math.Abs(s1) + math.Abs(s3))
		s = (s + s2) + (s1 + s3)
		r[j] = s
		if s = math.Abs(s); s <= float64(left*least) && least <= math.MaxFloat64 || s <= tiny {
			continue
		}
		size := math.Abs(own)
		for e := range at {
			for q, i := range at[e] {
				size += math.Abs(float64(v[e][q] * x[i]))
			}
		}
		left = max(left, s/size)
		if left != left || size > math.MaxFloat64 { // nothing is small beside what is too large
			return math.NaN()
		}
	}
	return left
}
