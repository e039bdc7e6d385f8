package linalg

import (
	"errors"
	"math"
)

// Where units of states differ by many orders of magnitude, the largest entry of a column may be that in the smallest
// unit, and a pivot that is nothing in its row. Then pivots are compared in other units: those of D⁻¹ A D, in which no
// entry is larger than the diagonal of its column as far as there are such units. Elsewhere, rows are as large as
// columns (after B. N. Parlett, C. Reinsch, Balancing a matrix for calculation of eigenvalues and eigenvectors,
// Numerische Mathematik 13, 1969). D holds powers of two. These commute with rounding, so factors are the same in all
// units, and D is needed for choices alone.

// rowUnits are what magnitudes are multiplied by before they are compared, by rows. Those of columns do not matter to
// comparisons within them.
type rowUnits []float64

const (
	// uneven is how small an entry may be beside the one that takes its place as a pivot before units are looked at,
	// unless it is zero. As many digits may be lost.
	uneven = 0x1p-30
	// exchanged is that of one exchange of a sparse matrix. Many of them in turn lose more digits than one.
	exchanged = 0x1p-8
	// foreign is how small the product of two entries on one diagonal of a 2×2 minor is beside that of the two on the
	// other, before units are looked at where the pivot is one of the first. The ratio is the same in all units of rows
	// and columns. If the product is that small, the row of the diagonal served: what was larger than its entry is the
	// unit. Of others, half of the digits are lost at most.
	foreign = 0x1p-50
	// farApart is the logarithm of the ratio of units from which on they are not the same.
	farApart = 30
	// unitSweeps bounds how often all units are made better one by one.
	unitSweeps = 32
	// unitRange bounds logarithms of units, so that no product overflows.
	unitRange = 250
)

// errUneven says that units are to be looked at.
var errUneven = errors.New("linalg: a pivot in another unit")

// errForeign says that units count, however near each other they are.
var errForeign = errors.New("linalg: a row in the place of another")

// asked is how units are asked for: how far apart those are that count, and how small a pivot of the diagonal may be in
// them. Where they say that an entry is not larger than the diagonal, it is less than four times as large.
type asked struct {
	apart int
	least float64
}

// unitsAsked tells how err asks for units; nil where it does not.
func unitsAsked(err error) *asked {
	switch err {
	case errUneven:
		return &askedUneven
	case errForeign:
		return &askedForeign
	}
	return nil
}

var askedUneven, askedForeign = asked{farApart, kept}, asked{0, 0.25}

// isUneven reports that of what the entry became that a pivot took the place of.
func isUneven(lower float64) bool { return lower != 0 && math.Abs(lower) < uneven }

// foreign reports whether row i takes the place of row r as the pivot of column k without need: what r has in column i
// makes too little of it. That is so in whatever units the rows are. The entries are those of the matrix. blocks are as
// diagonalBlocks gives them.
func (p *Pattern) foreign(k, r, i int, blocks func() []int32, magnitude func(e int) float64) bool {
	at := func(i, j int) float64 {
		if e := p.place(i, j); e >= 0 {
			return magnitude(e)
		}
		return 0
	}
	cross, own, other := at(i, k), at(r, k), at(i, i)
	switch {
	case cross == 0 || own == 0 || other == 0: // what the elimination made decides
		return false
	case p.place(r, i) >= 0:
		return float64(cross/other) < float64(foreign*(own/at(r, i)))
	}
	of := blocks()
	return of != nil && of[r] != of[i]
}

// diagonalBlocks returns the irreducible block of each row, with its diagonal entry; nil where one is missing.
func (p *Pattern) diagonalBlocks() []int32 {
	for i := range p.N {
		if p.place(i, i) < 0 {
			return nil
		}
	}
	cols, start := triangular(p, identity(p.N))
	of := make([]int32, p.N)
	for b := range len(start) - 1 {
		for _, i := range cols[start[b]:start[b+1]] {
			of[i] = int32(b)
		}
	}
	return of
}

// place returns the number of an entry, or -1.
func (p *Pattern) place(i, j int) int {
	for e := p.Start[j]; e < p.Start[j+1]; e++ {
		if int(p.Rows[e]) == i {
			return int(e)
		}
	}
	return -1
}

// choose returns which of n entries from place k on pivots, and exchanges the units of the rows: the first, unless it
// is much smaller in these units than the largest, by which least tells. Units are known only as far as entries are not
// larger than diagonals.
func (u rowUnits) choose(k, n int, least float64, magnitude func(i int) float64) (at int) {
	u = u[k:][:n]
	own := float64(magnitude(0) * u[0])
	most := own
	for i := 1; i < n; i++ {
		if v := float64(magnitude(i) * u[i]); v > most {
			at, most = i, v
		}
	}
	if own >= float64(least*most) {
		return 0
	}
	u[0], u[at] = u[at], u[0]
	return at
}

// units returns units of rows and the logarithms to base 2 of the diagonal of D for the magnitudes of a matrix; nil if
// these are near each other in each irreducible block of s. Entries outside of blocks do not count. Without s there is
// one block.
func (p *Pattern) units(s *structure, least int, magnitude func(e int) float64) (rows rowUnits, d []int) {
	return newBalance(p).units(s, least, magnitude)
}

// units is Pattern.units with the work space of b.
func (b *balance) units(s *structure, least int, magnitude func(e int) float64) (rows rowUnits, d []int) {
	b.read(s, magnitude)
	for range unitSweeps {
		changed := false
		for i := range b.d {
			if by := b.better(i); by != 0 {
				b.d[i] += by
				changed = true
			}
		}
		if !changed {
			break
		}
	}
	if b.apart(s) < least {
		return nil, nil
	}
	rows = b.rows
	for i, v := range b.d {
		b.d[i] = max(-unitRange, min(v, unitRange))
		rows[i] = math.Ldexp(1, -b.d[i])
	}
	return rows, b.d
}

// balance is a search for units. Sizes are logarithms to base 2.
type balance struct {
	p        *Pattern
	size     []int   // of entries beside the diagonal, over that of the column
	diagonal []bool  // whether there is one that is not zero
	column   []int32 // of each entry
	start    []int32 // the entries of row i are across[start[i]:start[i+1]]
	across   []int32
	d        []int
	next     []int32
	rows     rowUnits
}

// nothing is the size of zero.
const nothing = math.MinInt32

func newBalance(p *Pattern) *balance {
	b := &balance{
		p: p, size: make([]int, len(p.Rows)), diagonal: make([]bool, p.N), column: make([]int32, len(p.Rows)),
		start: make([]int32, p.N+1), across: make([]int32, len(p.Rows)), d: make([]int, p.N),
		next: make([]int32, p.N), rows: make(rowUnits, p.N),
	}
	for _, i := range p.Rows {
		b.start[i+1]++
	}
	for i := range p.N {
		b.start[i+1] += b.start[i]
	}
	return b
}

// read takes the sizes of a matrix.
func (b *balance) read(s *structure, magnitude func(e int) float64) {
	p, next := b.p, b.next
	clear(b.d)
	clear(b.diagonal)
	blockOf := s.blockOfColumns()
	copy(next, b.start)
	for j := range p.N {
		own := 0
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			if int(p.Rows[e]) == j {
				_, own = math.Frexp(magnitude(int(e)))
				b.diagonal[j] = magnitude(int(e)) != 0
			}
		}
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			i := p.Rows[e]
			b.across[next[i]], b.column[e] = e, int32(j)
			next[i]++
			b.size[e] = nothing
			if v := magnitude(int(e)); v != 0 && int(i) != j && (s == nil || s.blockOf[i] == blockOf[j]) {
				_, size := math.Frexp(v)
				b.size[e] = size - own
			}
		}
	}
}

// blockOfColumns returns the block of each column of the matrix; nil without a structure.
func (s *structure) blockOfColumns() []int32 {
	if s == nil {
		return nil
	}
	of := make([]int32, s.p.N)
	for b := range len(s.start) - 1 {
		for _, j := range s.cols[s.start[b]:s.start[b+1]] {
			of[j] = int32(b)
		}
	}
	return of
}

// better returns by how much the unit of state i should be larger. What is larger than diagonals, row or column,
// becomes as large as these, or as the other where that comes first.
func (b *balance) better(i int) int {
	row, col := nothing, nothing
	for _, e := range b.across[b.start[i]:b.start[i+1]] {
		if b.size[e] != nothing {
			row = max(row, b.size[e]+b.d[b.column[e]]-b.d[i])
		}
	}
	for e := b.p.Start[i]; e < b.p.Start[i+1]; e++ {
		if b.size[e] != nothing {
			col = max(col, b.size[e]+b.d[i]-b.d[b.p.Rows[e]])
		}
	}
	switch half := (row - col) / 2; {
	case !b.diagonal[i] && (row == nothing || col == nothing):
		return 0
	case !b.diagonal[i]:
		return half
	case row > col && row > 0:
		return min(half, row)
	case col > row && col > 0:
		return max(half, -col)
	}
	return 0
}

// apart returns the largest difference of units within a block.
func (b *balance) apart(s *structure) (apart int) {
	if s == nil {
		least, most := b.d[0], b.d[0]
		for _, v := range b.d {
			least, most = min(least, v), max(most, v)
		}
		return most - least
	}
	least, most := make([]int, len(s.start)-1), make([]int, len(s.start)-1)
	for k := range least {
		least[k], most[k] = math.MaxInt, math.MinInt
	}
	for i, v := range b.d {
		k := s.blockOf[i]
		least[k], most[k] = min(least[k], v), max(most[k], v)
		apart = max(apart, most[k]-least[k])
	}
	return apart
}

// reach tells which unknowns of a matrix depend on which, by what is zero in its values. An exchange with a row on
// whose unknown row k does not depend would make it depend on that in rounding: a state that is zero, and stays so,
// would have what rounding leaves of others, from which it may grow. So pivots stay within what depends on each other.
// These are diagonal blocks, and rows of other blocks change none of theirs, however large factors are. Rows must be
// those of their unknowns: no entry of the diagonal may be zero.
type reach struct {
	seen []bool
	next []int32
}

// needs reports whether unknown k depends on unknown i, or rows are not those of unknowns.
func needs[T float64 | complex128](r *reach, p *Pattern, values []T, k, i int) bool {
	if e := p.place(k, i); k == i || e >= 0 && values[e] != 0 {
		return true
	}
	if r.seen == nil {
		r.seen, r.next = make([]bool, p.N), make([]int32, 0, p.N)
	}
	for j := range p.N {
		if e := p.place(j, j); e < 0 || values[e] == 0 {
			return true
		}
	}
	clear(r.seen)
	r.next = append(r.next[:0], int32(i))
	r.seen[i] = true
	for len(r.next) > 0 {
		j := r.next[len(r.next)-1]
		r.next = r.next[:len(r.next)-1]
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			m := p.Rows[e]
			if values[e] == 0 || r.seen[m] {
				continue
			}
			if int(m) == k {
				return true
			}
			r.seen[m] = true
			r.next = append(r.next, m)
		}
	}
	return false
}
