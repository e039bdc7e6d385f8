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

// tailColumns computes the columns of the tail, of U and of what is factored densely. It returns false if
// watch is set and a column of U grows. Eight columns are computed together if most entries of U in a row
// are not zero in each of them; those that are, are zeros like others then.
func (f *sparse) tailColumns(values []float64, watch bool) bool {
	f.widen()
	o, s := f.o, f.s
	clear(f.right)
	for first := int(s.tail); first < int(s.tailEnd); first += 8 {
		end := min(first+8, int(s.tailEnd))
		rows := 0
		for _, m := range o.uRows[o.uStart[first]:o.uStart[end]] {
			if !f.needed[m] {
				f.needed[m] = true
				rows++
			}
		}
		good := true
		if 10*int(o.uStart[end]-o.uStart[first]) >= 7*8*rows {
			good = f.tailEight(values, first, end, watch)
		} else {
			for k := first; k < end && good; k++ {
				good = f.tailColumn(values, k, watch)
			}
		}
		for _, m := range o.uRows[o.uStart[first]:o.uStart[end]] {
			f.needed[m] = false
		}
		if !good {
			return false
		}
	}
	return true
}

// tailEight is tailColumn for up to eight columns. The columns of L that some of them need are marked.
func (f *sparse) tailEight(values []float64, first, end int, watch bool) bool {
	o, s := f.o, f.s
	n := int(s.tailEnd - s.tail)
	var most [8]float64
	start := int(s.tail)
	for k := first; k < end; k++ {
		for e := o.inStart[k]; e < o.inStart[k+1]; e++ {
			v := values[o.inValues[e]]
			f.at(int(o.inRows[e]))[k-first] = v
			most[k-first] = max(most[k-first], math.Abs(v))
		}
		if u := o.uRows[o.uStart[k]:o.uStart[k+1]]; len(u) > 0 {
			start = min(start, int(u[0]))
		}
	}
	for k := start; k < int(s.tail); {
		if !f.needed[k] {
			k++
			continue
		}
		k = f.lowerWide(k) // all later columns of a panel are needed as well
	}
	for k := first; k < end; k++ {
		upper := 0.0
		for e := o.uStart[k]; e < o.uStart[k+1]; e++ {
			u := f.at(int(o.uRows[e]))[k-first]
			f.u[e] = u
			if v := math.Abs(u); v > upper {
				upper = v
			}
		}
		to := f.tail.a[(k-int(s.tail))*n:][:n]
		for i := range to {
			to[i] = f.at(int(s.tail) + i)[k-first]
		}
		if watch && upper > growth*most[k-first] {
			return false
		}
	}
	clear(f.right[8*start : 8*s.tailEnd])
	return true
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
