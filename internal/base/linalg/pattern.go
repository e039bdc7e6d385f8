package linalg

import (
	"fmt"
	"math"
	"slices"
)

// Pattern is where a square matrix has entries, in compressed columns. The rows of column j are
// Rows[Start[j]:Start[j+1]], ascending. The values of a matrix with this pattern are in the same
// order. A Pattern is not changed once it is made.
type Pattern struct {
	N     int
	Start []int32 // N+1 places in Rows
	Rows  []int32
}

// NewPattern returns the pattern of an n×n matrix that is the sum of entries at (rows[e], cols[e]),
// and for each of these its place among the values. Entries at the same place share a value.
func NewPattern(n int, rows, cols []int) (*Pattern, []int32) {
	for e, i := range rows {
		if j := cols[e]; uint(i) >= uint(n) || uint(j) >= uint(n) {
			panic(fmt.Sprintf("linalg: an entry at (%d, %d) of a matrix of %d rows", i, j, n))
		}
	}
	order := sorted(n, cols, sorted(n, rows, nil))
	p := &Pattern{N: n, Start: make([]int32, n+1)}
	place := make([]int32, len(rows))
	for k, e := range order {
		if k == 0 || rows[e] != rows[order[k-1]] || cols[e] != cols[order[k-1]] {
			p.Rows = append(p.Rows, int32(rows[e]))
			p.Start[cols[e]+1]++
		}
		place[e] = int32(len(p.Rows) - 1)
	}
	for j := range n {
		p.Start[j+1] += p.Start[j]
	}
	return p, place
}

// sorted returns the places of keys, which are below n, by these: those with equal keys in the order of before, which
// is that of the places if it is nil.
func sorted(n int, keys []int, before []int32) []int32 {
	next := make([]int32, n+1)
	for _, k := range keys {
		next[k+1]++
	}
	for k := range n {
		next[k+1] += next[k]
	}
	order := make([]int32, len(keys))
	for e := range keys {
		if before != nil {
			e = int(before[e])
		}
		order[next[keys[e]]] = int32(e)
		next[keys[e]]++
	}
	return order
}

// Full returns the pattern of an n×n matrix without zeros.
func Full(n int) *Pattern {
	p := &Pattern{N: n, Start: make([]int32, n+1), Rows: make([]int32, n*n)}
	for j := range n {
		p.Start[j+1] = int32((j + 1) * n)
		for i := range n {
			p.Rows[j*n+i] = int32(i)
		}
	}
	return p
}

// check panics if the pattern is not what its comment says. Later code relies on it.
func (p *Pattern) check() {
	if len(p.Start) != p.N+1 || p.Start[0] != 0 || int(p.Start[p.N]) != len(p.Rows) {
		panic("linalg: the columns of a pattern do not hold its rows")
	}
	for j := range p.N {
		last := int32(-1)
		for _, i := range p.column(j) {
			if i <= last || int(i) >= p.N {
				panic(fmt.Sprintf("linalg: the rows of column %d of a pattern do not ascend below %d", j, p.N))
			}
			last = i
		}
	}
}

// NonZeros returns the number of entries.
func (p *Pattern) NonZeros() int { return len(p.Rows) }

// hasDiagonal reports whether all places of the diagonal are in the pattern.
func (p *Pattern) hasDiagonal() bool {
	for j := range p.N {
		if _, ok := slices.BinarySearch(p.column(j), int32(j)); !ok {
			return false
		}
	}
	return true
}

// symmetric reports whether there is an entry across the diagonal from each.
func (p *Pattern) symmetric() bool {
	next := slices.Clone(p.Start[:p.N]) // of each column, the entry whose partner comes next
	for j := range p.N {
		for _, i := range p.column(j) { // ascending, and so are the partners of each column's entries
			if next[i] == p.Start[i+1] || p.Rows[next[i]] != int32(j) {
				return false
			}
			next[i]++
		}
	}
	return true
}

// column returns the rows of column j.
func (p *Pattern) column(j int) []int32 { return p.Rows[p.Start[j]:p.Start[j+1]] }

// Product sets y[N][lanes] to A·x[N][lanes], where A has the given values. Each element is a chain
// of fused multiply-adds in the order of the columns.
func (p *Pattern) Product(y, values, x []float64, lanes int) {
	y, x = y[:p.N*lanes], x[:p.N*lanes]
	clear(y)
	for j := range p.N {
		xj := x[j*lanes:][:lanes]
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			yi, v := y[int(p.Rows[e])*lanes:][:lanes], values[e]
			for l, s := range xj {
				yi[l] = math.FMA(v, s, yi[l])
			}
		}
	}
}

// ProductT sets y[N][lanes] to Aᵀ·x[N][lanes], where A has the given values. Each element is a chain
// of fused multiply-adds in the order of the rows.
func (p *Pattern) ProductT(y, values, x []float64, lanes int) {
	y, x = y[:p.N*lanes], x[:p.N*lanes]
	clear(y)
	for j := range p.N {
		yj := y[j*lanes:][:lanes]
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			xi, v := x[int(p.Rows[e])*lanes:][:lanes], values[e]
			for l, s := range xi {
				yj[l] = math.FMA(v, s, yj[l])
			}
		}
	}
}

// largest returns the greatest magnitude of the values and whether all are finite.
func largest(values []float64) (most float64, finite bool) {
	magnitude := func(x float64) uint64 { return math.Float64bits(x) &^ (1 << 63) }
	var a, b, c, d uint64 // which do not wait for one another
	for ; len(values) >= 4; values = values[4:] {
		a, b = max(a, magnitude(values[0])), max(b, magnitude(values[1]))
		c, d = max(c, magnitude(values[2])), max(d, magnitude(values[3]))
	}
	bits := max(a, b, c, d)
	for _, v := range values {
		bits = max(bits, magnitude(v))
	}
	most = math.Float64frombits(bits)
	return most, bits < infinity
}

// infinity is the bits of +Inf. Those of a NaN are above, those of a finite number below.
const infinity = 0x7ff << 52

// notFinite returns the error that names the first value that is infinite or NaN.
func (p *Pattern) notFinite(values []float64) error {
	for j := range p.N {
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			if v := values[e]; math.Float64bits(v)&^(1<<63) >= infinity {
				return &NotFiniteError{Row: int(p.Rows[e]), Col: j, Value: v}
			}
		}
	}
	return nil
}
