package linalg

import (
	"odes.dev/odes/internal/base/simd"
)

// diagonals is a pattern as runs of entries along its diagonals, of which grids have few and long ones: kernels of
// vectors do the products then.
type diagonals struct {
	runs  []diagonalRun // by diagonals from the lowest, so by columns within a row
	place []int32       // in the pattern, of each value in the order of the runs
}

// diagonalRun are n entries, from place at on: the first in that row and column.
type diagonalRun struct{ row, col, at, n int }

// shortRun is the average length of runs below which single entries are as fast.
const shortRun = 16

// newDiagonals returns nil for a pattern whose runs are short.
func newDiagonals(p *Pattern) *diagonals {
	off, col := make([]int, len(p.Rows)), make([]int, len(p.Rows))
	for j := range p.N {
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			off[e], col[e] = p.N-1+j-int(p.Rows[e]), j
		}
	}
	d := &diagonals{place: sorted(2*p.N, off, nil)}
	last := int32(-1)
	for k, e := range d.place {
		if k == 0 || off[e] != off[last] || col[e] != col[last]+1 {
			d.runs = append(d.runs, diagonalRun{row: int(p.Rows[e]), col: col[e], at: k})
		}
		d.runs[len(d.runs)-1].n++
		last = e
	}
	if len(d.place) < shortRun*len(d.runs) {
		return nil
	}
	return d
}

// product is Product of one lane, with its bits.
func (d *diagonals) product(y, values, x []float64) {
	clear(y)
	for _, r := range d.runs {
		to := y[r.row : r.row+r.n]
		simd.Ternary(simd.FMA, to, values[r.at:], x[r.col:], to)
	}
}

// productT is ProductT of one lane, with its bits.
func (d *diagonals) productT(y, values, x []float64) {
	clear(y)
	for k := len(d.runs) - 1; k >= 0; k-- {
		r := &d.runs[k]
		to := y[r.col : r.col+r.n]
		simd.Ternary(simd.FMA, to, values[r.at:], x[r.row:], to)
	}
}
