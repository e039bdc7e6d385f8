package linalg

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/simd"
)

// fours are sparse rows with the place of each value. What is left of the last four of a row is zero, times an element
// of the vector behind the others, which is zero as well.
type fours struct {
	simd.Fours
	place []int32 // [values] where each value is among all terms
}

// fourTerm is an element of a vector and the value that it is multiplied by.
type fourTerm struct{ at, value int32 }

// newFours lays out rows that have so many values in all, for vectors of n elements and a zero.
func newFours(rows [][]fourTerm, values, n int) *fours {
	f := &fours{Fours: simd.Fours{Start: make([]int32, 1, len(rows)+1)}, place: make([]int32, values)}
	needs := make([]int, len(rows))
	for j, row := range rows {
		needs[j] = (len(row) + 3) / 4
	}
	for j, length := range evenLengths(needs) {
		from := len(f.At)
		for range length {
			f.At = append(f.At, [4]int32{int32(n), int32(n), int32(n), int32(n)})
		}
		for e, t := range rows[j] {
			at := from + e/4
			f.At[at][e%4] = t.at
			f.place[t.value] = int32(4*at + e%4)
		}
		f.Start = append(f.Start, int32(len(f.At)))
	}
	f.At = slices.Clip(f.At)
	return f
}

// newNeighbours lays out rows like newFours, with fours of elements that follow one another: nothing is gathered then,
// which takes less than half of the time for each four. It returns nil where there are more than mostNeighbours times
// as many.
func newNeighbours(rows [][]fourTerm, values, n int) *fours {
	if n < 3 {
		return nil
	}
	needs := make([]int, len(rows))
	packed, all := 0, 0
	firsts := make([]int32, 0, values) // of each four of each row
	for j, row := range rows {
		slices.SortFunc(row, func(a, b fourTerm) int { return int(a.at - b.at) })
		for e := range row {
			if e == 0 || row[e].at >= firsts[len(firsts)-1]+4 {
				firsts = append(firsts, min(row[e].at, int32(n-3)))
				needs[j]++
			}
		}
		packed, all = packed+(len(row)+3)/4, all+needs[j]
	}
	if all > mostNeighbours*packed {
		return nil
	}
	f := &fours{Fours: simd.Fours{Start: make([]int32, 1, len(rows)+1)}, place: make([]int32, values)}
	for j, length := range evenLengths(needs) {
		at := len(f.First)
		f.First = append(f.First, firsts[:needs[j]]...)
		for len(f.First) < at+length {
			f.First = append(f.First, 0)
		}
		for _, t := range rows[j] {
			if t.at >= f.First[at]+4 {
				at++
			}
			f.place[t.value] = 4*int32(at) + t.at - f.First[at]
		}
		firsts = firsts[needs[j]:]
		f.Start = append(f.Start, int32(len(f.First)))
	}
	f.First = slices.Clip(f.First)
	for _, i := range f.First {
		f.At = append(f.At, [4]int32{i, i + 1, i + 2, i + 3})
	}
	return f
}

// mostNeighbours is how many times as many fours there may be if nothing is gathered for them.
const mostNeighbours = 2

const (
	// longerBy is how many fours take as long as the end of a row that comes sooner or later than that of the row
	// before: processors foresee only ends that are alike. It was 6 on one processor, and 1 or 2 on another.
	longerBy = 2

	// evenMost is how many fours of a row count. Those with more are as long as they need to be.
	evenMost = 32
)

// evenLengths returns how many fours each row gets: those that it needs, or more of nothing but zeros, so that as few
// rows as pay have another number than the row before. It takes the least sum of fours and of changes of their number,
// each of which counts as much as longerBy fours (A. Viterbi, IEEE Trans. Inf. Theory 13, 1967).
func evenLengths(needs []int) []int {
	const lengths = evenMost + 1
	var cost [lengths]int                        // of all rows so far, by the length of the last
	changed := make([][lengths]bool, len(needs)) // whether a row of a length follows one of another
	least := make([]int, len(needs))             // the length of the row before that costs least
	cheapest := func() (best int) {
		for length, c := range cost {
			if c < cost[best] {
				best = length
			}
		}
		return best
	}
	for j, all := range needs {
		least[j] = cheapest()
		need, change := min(all, evenMost), cost[least[j]]+longerBy
		for length := range cost {
			if length < need {
				cost[length] = math.MaxInt32
				continue
			}
			if cost[length] > change {
				cost[length], changed[j][length] = change, true
			}
			cost[length] += length
		}
	}
	even, length := make([]int, len(needs)), cheapest()
	for j := len(needs) - 1; j >= 0; j-- {
		if even[j] = max(length, needs[j]); changed[j][length] {
			length = least[j]
		}
	}
	return even
}

// memory returns the bytes of f.
func (f *fours) memory() int {
	return 16*len(f.At) + 8*len(f.Short) + 4*(len(f.First)+len(f.Start)+len(f.place))
}

// put writes values, times a sign, to their terms, to[fours].
func put[V float64 | float32](f *fours, to [][4]V, values []float64, sign float64) {
	for e, at := range f.place {
		to[at>>2][at&3] = V(sign * values[e])
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
	if f := newNeighbours(rows, len(p.Rows), p.N); f != nil {
		return f
	}
	return newFours(rows, len(p.Rows), p.N)
}

// substitution returns the rows of L and U as solve reads them: those of the triangle that is solved first, and then
// those of the other, both in the order in which they are solved. What was found last comes last in a row: nothing
// else of the row waits for it. order[k] is the place in a vector of unknown k of the factors.
func (f *incompletePlan) substitution(order []int32, transposed bool) *fours {
	o := f.order
	n, l := len(o.rows), len(o.lRows)
	rows := make([][]fourTerm, 2*n)
	add := func(row int, k int32, value int) { rows[row] = append(rows[row], fourTerm{order[k], int32(value)}) }
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
// over the diagonal of U, which belong to unknowns in the order.
func solve[V float64 | float32](
	substitute func(f *simd.Fours, w []float64, values [][4]V, order []int32, recip []float64, first int, back bool),
	f *fours, w []float64, values [][4]V, order []int32, recip []float64, transposed bool,
) {
	first, last := []float64(nil), recip
	if transposed {
		first, last = recip, nil
	}
	substitute(&f.Fours, w, values, order, first, 0, false)
	substitute(&f.Fours, w, values, order, last, len(order), true)
}
