package linalg

import (
	"math"

	"odes.dev/odes/internal/simd"
)

// panel takes from the column x what n columns of one panel contribute, and sets the entries of U
// from e on, which belong to them. It returns the greatest magnitude of these. Its bits are those of
// the columns one by one.
func (f *sparse) panel(e, n int) (most float64) {
	o, x := f.o, f.x
	first := int(o.uRows[e])
	end := first + n
	stride := int(o.lValue[first+1]-o.lValue[first]) - 1
	for m0 := first; m0 < end; m0 += block {
		m1 := min(m0+block, end)
		for m := m0; m < m1-1; m++ {
			s, to := x[m], x[m+1:m1]
			for i, v := range f.l[o.lValue[m]:][:len(to)] {
				to[i] = math.FMA(v, s, to[i])
			}
		}
		if m1 < end {
			simd.MatVecT(x[m1:], f.l[int(o.lValue[m0])+m1-1-m0:], x[m0:], m1-m0, end-m1, stride, true)
		}
	}
	rows := o.lRows[o.lStart[end-1]:o.lEnd[end-1]]
	below := f.w[:len(rows)]
	for q, i := range rows {
		below[q] = x[i]
	}
	simd.MatVecT(below, f.l[int(o.lValue[first])+n-1:], x[first:], n, len(rows), stride, true)
	for q, i := range rows {
		x[i] = below[q]
	}
	for i, v := range x[first:end] {
		f.u[e+i] = v
		if v := math.Abs(v); v > most {
			most = v
		}
	}
	clear(x[first:end])
	return most
}

// panel does the same for complex numbers, one column after the other.
func (f *complexSparse) panel(e, n int) (most float64) {
	o, x := f.o, f.x
	for ; n > 0; n-- {
		m := o.uRows[e]
		u := x[m]
		x[m] = 0
		f.u[e] = u
		most = max(most, complexMagnitude(u))
		l := f.l[o.lValue[m]:]
		for q, i := range o.lRows[o.lStart[m]:o.lEnd[m]] {
			x[i] = complexFMA(l[q], u, x[i])
		}
		e++
	}
	return most
}
