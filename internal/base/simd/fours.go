package simd

import (
	"math"
	"slices"
)

// Fours are sparse rows, laid out for sums of products with a vector: terms lie one after the other in the order in
// which they are read, four by four, so that a row is four chains that do not wait for one another. What is left of
// the last four of a row is zero, times an element of the vector that is zero as well.
type Fours struct {
	Start []int32     // [rows+1] the first four of each row
	At    [][4]int32  // [fours] which elements of the vector the terms have
	Short [][4]uint16 // At for SubstituteShort; nil where nobody calls that
	First []int32     // of fours of elements that follow one another, the first of each, for Residual; nil for others
}

// shortMost is how many elements a vector may have for places of 16 bits.
const shortMost = 1 << 16

// Shorten fills Short for vectors of n elements. It reports whether it could.
func (f *Fours) Shorten(n int) bool {
	if n > shortMost {
		return false
	}
	f.Short = make([][4]uint16, len(f.At))
	for e, at := range f.At {
		for q, i := range at {
			f.Short[e][q] = uint16(i)
		}
	}
	return true
}

// chains adds terms to four chains, the first of which begins with s.
func chains[P int32 | uint16, V float64 | float32](
	s float64, x []float64, at [][4]P, values [][4]V,
) (s0, s1, s2, s3 float64) {
	values = values[:len(at)]
	for e := range at {
		i, v := &at[e], &values[e]
		s = math.FMA(float64(v[0]), x[i[0]], s)
		s1 = math.FMA(float64(v[1]), x[i[1]], s1)
		s2 = math.FMA(float64(v[2]), x[i[2]], s2)
		s3 = math.FMA(float64(v[3]), x[i[3]], s3)
	}
	return s, s1, s2, s3
}

// Substitute solves with a triangle whose rows begin at row first: w[j] ← w[j] + Σ v·w[at] or, where recip is not nil,
// recip[k] (Σ v·w[at] - w[j]), with j = order[k]. The rows are those of k = 0, 1, … n-1, or backwards those of n-1, …
// 0. Each may use what is solved before it, and the zero w[n].
func (f *Fours) Substitute(
	w []float64, values [][4]float64, order []int32, recip []float64, first int, backwards bool,
) {
	substitute(f, f.At, values, substituteFours, w, order, recip, first, backwards)
}

// SubstituteShort is Substitute with values of single precision. It reads half as many bytes: triangles of large
// systems do not stay in the second cache, and then that is what it waits for.
func (f *Fours) SubstituteShort(
	w []float64, values [][4]float32, order []int32, recip []float64, first int, backwards bool,
) {
	substitute(f, f.Short, values, substituteShort, w, order, recip, first, backwards)
}

func substitute[P int32 | uint16, V float64 | float32](
	f *Fours, at [][4]P, values [][4]V,
	kernel func(w, recip *float64, order *int32, at *P, values *V, start *int32, step, count int),
	w []float64, order []int32, recip []float64, first int, backwards bool,
) {
	n := len(order)
	k, step := 0, 1
	if backwards {
		k, step = n-1, -1
	}
	if useAVX2 && len(at) > 0 {
		for row, end := first, first+n; row < end; {
			var scale *float64
			if recip != nil {
				scale = &recip[k]
			}
			from, rows := f.run(row, end)
			kernel(&w[0], scale, &order[k], &at[from][0], &values[from][0], &f.Start[row], step, rows)
			row, k = row+rows, k+rows*step
		}
		return
	}
	for row := first; row < first+n; row, k = row+1, k+step {
		j := order[k]
		s := w[j]
		if recip != nil {
			s = -s
		}
		from, end := f.Start[row], f.Start[row+1]
		s, s1, s2, s3 := chains(s, w, at[from:end], values[from:end])
		if s = (s + s2) + (s1 + s3); recip != nil {
			s = float64(s * recip[k])
		}
		w[j] = s
	}
}

// run returns the first four of rows, and how many rows up to an end one call of a kernel may take.
func (f *Fours) run(row, end int) (at, rows int) { return run(f.Start[row:end+1], len(f.At)) }

// run returns where the first of several lists begins, which start delimits among so many items, and how many lists one
// call of a kernel may take. Lists without items may be behind all of them; they begin at the last one.
func run(start []int32, items int) (at, lists int) {
	from := start[0]
	start = start[1:]
	lists, _ = slices.BinarySearch(start[:min(len(start), most/4)], from+most/4+1)
	return min(int(from), items-1), max(lists, 1)
}

// Residual sets r to b + A x, from row first up to the end of b, where x has a zero behind it. It returns the largest
// |r_i| / (|b| + |A| |x|)_i of these rows; NaN if there is one, or if a sum of sizes is too large for a number. An
// |r_i| of at most tiny does not count. Of a ratio that is at most least, or above most, only that is told, by any
// such number.
func (f *Fours) Residual(
	r, b, x []float64, values [][4]float64, first int, tiny, least, most float64,
) (left float64) {
	left = least
	limit := [3]float64{left, math.MaxFloat64, tiny}
	for j := f.within(r, b, x, values, first, &limit); j < len(b); j = f.within(r, b, x, values, j+1, &limit) {
		size := f.size(j, b[j], x, values)
		left = max(left, math.Abs(r[j])/size)
		if left != left || size > math.MaxFloat64 { // nothing is small beside what is too large
			return math.NaN()
		}
		if limit[0] = left; left > most {
			limit[0] = math.MaxFloat64
		}
	}
	return left
}

// size returns the size of s and of the terms of a row together.
func (f *Fours) size(row int, s float64, x []float64, values [][4]float64) float64 {
	c := [4]float64{math.Abs(s)}
	for e := f.Start[row]; e < f.Start[row+1]; e++ {
		for q, i := range f.At[e] {
			c[q] = math.FMA(math.Abs(values[e][q]), math.Abs(x[i]), c[q])
		}
	}
	return (c[0] + c[2]) + (c[1] + c[3])
}

// within sets r from row j on, and returns the first row beyond the limits: its |r| is above limit[0] times the size of
// its terms, or that is above limit[1], and |r| is above limit[2].
func (f *Fours) within(r, b, x []float64, values [][4]float64, j int, limit *[3]float64) int {
	if useAVX2 && len(f.At) > 0 {
		for j < len(b) {
			at, rows := f.run(j, len(b))
			left := rows
			if f.First != nil {
				residualNeighbours(&r[j], &b[j], &x[0], &f.First[at], &values[at][0], &f.Start[j], &limit[0], &left)
			} else {
				residualFours(&r[j], &b[j], &x[0], &f.At[at][0], &values[at][0], &f.Start[j], &limit[0], &left)
			}
			if j += rows - left; left > 0 {
				break
			}
		}
		return j
	}
	for ; j < len(b); j++ {
		from, end := f.Start[j], f.Start[j+1]
		s, s1, s2, s3 := chains(b[j], x, f.At[from:end], values[from:end])
		s = (s + s2) + (s1 + s3)
		r[j] = s
		size := f.size(j, b[j], x, values)
		if s = math.Abs(s); !(s <= float64(limit[0]*size) && size <= limit[1] || s <= limit[2]) {
			break
		}
	}
	return j
}

// Elimination is up to four multiply-adds of neighbours: elements L, L+1, L+2 and L+3 of a list, times the same number,
// go to entries 4k to 4k+3 of a column, those whose bits To = 16k + bits has. Others need not be in the list: L may be
// negative, and the elements may end beyond the last.
type Elimination struct{ L, To int32 }

// Eliminate adds a multiply-add to those that begin at from: entry to of the column gets element l. It returns them.
func Eliminate(updates []Elimination, from int, l, to int32) []Elimination {
	four, q := to&^3, to&3
	if last := len(updates) - 1; last >= from && updates[last].L == l-q && updates[last].To>>4 == four>>2 {
		updates[last].To |= 1 << q
		return updates
	}
	return append(updates, Elimination{L: l - q, To: four<<2 | 1<<q})
}

// EliminateColumn subtracts earlier columns from one, c, whose length is a multiple of four. Its first entries are
// those of U, in the order of elimination: u[e] becomes c[e], and then entries behind e grow by l·u[e], fused, as the
// updates from start[e] to start[e+1] say, for all e below len(start) - 1. The other entries of the same four grow by
// 0·u[e]: a zero may lose its sign, and they become NaN if u[e] is no number or infinite.
func EliminateColumn(c, u, l []float64, updates []Elimination, start []int32) {
	n := len(start) - 1
	if useAVX2 && len(updates) > 0 && len(l) > 0 {
		for k := 0; k < n; {
			at, entries := run(start[k:], len(updates))
			eliminateColumn(&c[0], &c[k], &u[k], &l[0], &updates[at].L, &start[k], entries)
			k += entries
		}
		return
	}
	for e := range n {
		by := c[e]
		u[e] = by
		for _, d := range updates[start[e]:start[e+1]] {
			four := c[d.To>>4<<2:][:4]
			for q := range four {
				v := 0.0
				if d.To>>q&1 == 1 {
					v = l[int(d.L)+q]
				}
				four[q] = math.FMA(v, by, four[q])
			}
		}
	}
}
