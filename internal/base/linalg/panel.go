package linalg

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/simd"
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

// columnGroup is up to eight neighbouring columns that are computed together, as the lanes of f.right: columns of one
// panel, or of the tail. Most entries of U in a row must not be zero in several of them; those that are, are zeros like
// others then.
type columnGroup struct {
	first, end int32
	// from are the columns of L that some of the group need and whose forerunner in their panel none needs. All later
	// ones of the panel are needed as well.
	from []int32
}

// findGroups decides which columns are computed together.
func (o *Order) findGroups(s *structure) {
	needed := make([]bool, len(o.rows))
	for first := 0; first < len(o.rows); {
		last, size := int(o.panelEnd[first]), 8
		if s.inTail(first) {
			last = int(s.tailEnd)
		} else { // groups of a panel are about equal
			groups := (last - first + 7) / 8
			size = (last - first + groups - 1) / groups
		}
		end := min(first+size, last)
		if end > first+1 {
			o.join(needed, first, end)
		}
		first = end
	}
}

// join makes a group of some columns if that saves work. Nothing is needed before and after.
func (o *Order) join(needed []bool, first, end int) {
	alone, together := 0, 0
	var from []int32
	all := o.uRows[o.uStart[first]:o.uStart[end]]
	for _, m := range all {
		below := int(o.lEnd[m] - o.lStart[m])
		if int(m) < first {
			alone += below + groupColumn
		}
		if int(m) < first && !needed[m] {
			needed[m] = true
			from = append(from, m)
			together += below + groupColumn
		}
	}
	slices.Sort(from)
	starts := from[:0]
	for e, m := range from {
		if e == 0 || m >= o.panelEnd[from[e-1]] {
			starts = append(starts, m)
		}
	}
	for _, m := range all {
		needed[m] = false
	}
	if alone > groupGain*together {
		o.groups = append(o.groups, columnGroup{int32(first), int32(end), slices.Clip(starts)})
	}
}

// groupColumn is what a column of L costs in rows of it, and groupGain how many times the work of a column that of
// eight together is. They are fits to measurements.
const (
	groupColumn = 4
	groupGain   = 2
)

// collect brings the columns of a group into the lanes of f.right, which are zeros, with all that columns of L before
// it contribute. most are the greatest magnitudes of the columns of the matrix.
func (f *sparse) collect(values []float64, g *columnGroup) (most [8]float64) {
	o := f.o
	for k := g.first; k < g.end; k++ {
		lane := k - g.first
		to, largest := f.right[lane:], 0.0
		at := o.inValues[o.inStart[k]:o.inStart[k+1]]
		for e, i := range o.inRows[o.inStart[k]:o.inStart[k+1]] {
			v := values[at[e]]
			to[8*int(i)] = v
			if v := math.Abs(v); v > largest {
				largest = v
			}
		}
		most[lane] = largest
	}
	for _, m := range g.from {
		f.lowerWide(int(m), int(g.first))
	}
	return most
}

// upper takes column k of U from a lane, and returns the greatest magnitude.
func (f *sparse) upper(k, lane int) (most float64) {
	from, to := f.o.uStart[k], f.o.uStart[k+1]
	return simd.TakeLane(f.u[from:to], f.o.uRows[from:to], f.right[lane:])
}

// clean makes zeros of what collect has touched before the columns of the group.
func (f *sparse) clean(g *columnGroup) {
	for _, m := range g.from {
		clear(f.right[8*m : 8*min(f.o.panelEnd[m], g.first)])
	}
}

// groups returns the columns that are computed together, with room for them.
func (f *sparse) groups() []columnGroup {
	if len(f.o.groups) > 0 {
		f.widen()
		clear(f.right)
	}
	return f.o.groups
}

// eliminateGroup is what eliminate does for a column, for those of a group.
func (f *sparse) eliminateGroup(values []float64, g *columnGroup, size float64, watch bool) (good bool, err error) {
	o := f.o
	most := f.collect(values, g)
	good = true
	for k := int(g.first); k < int(g.end) && good && err == nil; k++ {
		lane := k - int(g.first)
		upper := f.upper(k, lane)
		own := f.at(k)
		rows := o.lRows[o.lStart[k]:o.lEnd[k]]
		l := f.l[o.lValue[k]:][:len(rows)]
		lower := simd.TakeLane(l, rows, f.right[lane:])
		good, err = f.pivot(k, own[lane], l, lower, most[lane], upper, size, watch)
		clear(own[:lane+1]) // the columns that are left
		simd.ScatterAdd(f.right, rows, l, own[:], 1, 1, 1)
	}
	f.clean(g)
	clear(f.right[8*g.first : 8*g.end])
	for _, i := range o.lRows[o.lStart[g.first]:o.lEnd[g.first]] {
		*f.at(int(i)) = [8]float64{}
	}
	return good, err
}

// tailColumns computes the columns of the tail, of U and of what is factored densely. It returns false if watch is set
// and a column of U grows.
func (f *sparse) tailColumns(values []float64, groups []columnGroup, watch bool) bool {
	s := f.s
	n := int(s.tailEnd - s.tail)
	for k := int(s.tail); k < int(s.tailEnd); k++ {
		if len(groups) == 0 || int(groups[0].first) != k {
			if !f.tailColumn(values, k, watch) {
				return false
			}
			continue
		}
		g := &groups[0]
		groups = groups[1:]
		most := f.collect(values, g)
		good := true
		for ; k < int(g.end); k++ {
			lane := k - int(g.first)
			upper := f.upper(k, lane)
			to, from := f.tail.a[(k-int(s.tail))*n:][:n], f.right[8*int(s.tail)+lane:]
			for i := range to {
				to[i] = from[8*i]
			}
			good = good && (!watch || !(upper > growth*most[lane]))
		}
		f.clean(g)
		clear(f.right[8*s.tail : 8*s.tailEnd])
		if k--; !good {
			return false
		}
	}
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
