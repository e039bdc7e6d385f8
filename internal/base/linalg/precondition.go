package linalg

import (
	"slices"

	"odes.dev/odes/internal/base/simd"
)

// incomplete is an LU factorisation that keeps only the entries that the matrix has, ILU(0) (J. A.
// Meijerink and H. A. van der Vorst, Math. Comput. 31, 1977), without pivoting. Its factors are used
// like those of a sparse factorisation with one block.
type incomplete struct {
	*sparse
	*incompletePlan
	column []float64
}

// incompletePlan is what the pattern alone decides.
type incompletePlan struct {
	structure *structure
	order     *Order
	diagonal  []int32            // place of the diagonal among the values of each column
	start     []int32            // of the updates by each value above the diagonal
	updates   []simd.Elimination // of columns by columns of L
	work      int                // multiply-adds of these
	longest   int                // entries of a column
}

func (f *incompletePlan) new() *incomplete {
	numbers := newSparse(f.structure, f.order, 0)
	return &incomplete{sparse: numbers, incompletePlan: f, column: make([]float64, (f.longest+3)/4*4)}
}

// newIncompletePlan returns nil without an error if a factorisation has more multiply-adds than most. The error is a
// *SingularError if the diagonal has zeros.
func newIncompletePlan(p *Pattern, most int) (*incompletePlan, error) {
	n := p.N
	o := &Order{
		rows: identity(n), lStart: make([]int32, n), lEnd: make([]int32, n), uStart: make([]int32, n+1),
		offStart: make([]int32, n+1), codes: &codes{},
	}
	f := &incompletePlan{
		structure: &structure{p: p, cols: identity(n), start: []int32{0, int32(n)}}, order: o,
		diagonal: make([]int32, n), start: make([]int32, len(p.Rows)+1),
	}
	for k := range n {
		rows := p.column(k)
		at, ok := slices.BinarySearch(rows, int32(k))
		if !ok {
			return nil, &SingularError{Structural: true, Rows: []int{k}, Cols: []int{k}}
		}
		f.longest = max(f.longest, len(rows))
		f.diagonal[k] = int32(at)
		for e, m := range rows[:at] {
			below, from := o.lRows[o.lStart[m]:o.lEnd[m]], len(f.updates)
			for q, to := 0, e+1; q < len(below) && to < len(rows); {
				switch i := rows[to]; {
				case below[q] < i:
					q = seek(below, q+1, i)
				case below[q] > i:
					to = seek(rows, to+1, below[q])
				default:
					f.updates = simd.Eliminate(f.updates, from, o.lStart[m]+int32(q), int32(to))
					f.work++
					q, to = q+1, to+1
				}
			}
			if f.work > most {
				return nil, nil
			}
			f.start[int(p.Start[k])+e+1] = int32(len(f.updates))
		}
		for e := int(p.Start[k]) + at; e < int(p.Start[k+1]); e++ {
			f.start[e+1] = int32(len(f.updates))
		}
		o.uRows = append(o.uRows, rows[:at]...)
		o.uStart[k+1] = int32(len(o.uRows))
		o.lStart[k] = int32(len(o.lRows))
		o.lRows = append(o.lRows, rows[at+1:]...)
		o.lEnd[k] = int32(len(o.lRows))
	}
	o.lValue, o.lSize, o.lNonZeros = o.lStart, len(o.lRows), len(o.lRows)
	o.runs, o.panelEnd = make([]int32, len(o.uRows)), identity(n + 1)[1:]
	return f, nil
}

// seek returns the place of the first row from a place on that is not below i. It is fast where that is near, and where
// it is far: columns of species that react with all others are long.
func seek(rows []int32, from int, i int32) int {
	end := from
	for step := 1; end < len(rows) && rows[end] < i; step *= 2 {
		from, end = end+1, end+step
	}
	at, _ := slices.BinarySearch(rows[from:min(end, len(rows))], i)
	return from + at
}

func (f *incomplete) Factor(values []float64) error {
	p := f.s.p
	values = values[:len(p.Rows)]
	size, finite := largest(values)
	if !finite {
		return p.notFinite(values)
	}
	return f.factor(values, size)
}

// factor factors finite values, the largest of which has this size.
func (f *incomplete) factor(values []float64, size float64) error {
	p, o := f.s.p, f.o
	for k := range p.N {
		from, at := p.Start[k], f.diagonal[k]
		c := f.column[:copy(f.column, values[from:p.Start[k+1]])]
		simd.EliminateColumn(f.column, f.u[o.uStart[k]:], f.l, f.updates, f.start[from:from+at+1])
		pivot := c[at]
		if !(magnitude(pivot) > size*0x1p-1000) { // a NaN, too
			return &SingularError{Rows: []int{k}, Cols: []int{k}}
		}
		r := negativeInverse(pivot)
		f.recip[k] = r
		l := f.l[o.lStart[k]:]
		for q, v := range c[at+1:] {
			l[q] = mul(v, r)
		}
	}
	return nil
}
