package steady

import (
	"context"
	"math/bits"
	"slices"

	"odes.dev/odes/internal/base/residue"
)

// combination is a row of numbers of which few differ from zero: a 1 at the pivot, and the others.
type combination struct {
	pivot  int32
	cols   []int32
	values []residue.Number
}

// echelon is a set of independent rows. Where one has its pivot, all later rows have zero. A new row is added up by
// add, and then inserted; what that costs are the elements of the rows that have a part in it, not their places.
type echelon struct {
	n      int
	before func(a, b int32) bool // whether column a is rather a pivot than b
	rows   []combination
	row    []int32 // per column: the row whose pivot it is; -1 for none

	// The row that is added up.
	value   []residue.Number // per column
	touched []int32          // columns, each once
	mark    []bool           // per column: whether it is touched
	due     []uint64         // a bit per row: its pivot is touched

	worked  int // elements of rows that were subtracted
	unasked int // of them since ctx was last looked at
}

func newEchelon(n int, before func(a, b int32) bool) *echelon {
	e := &echelon{
		n: n, before: before, row: make([]int32, n), value: make([]residue.Number, n), mark: make([]bool, n),
		due: make([]uint64, (n+63)/64),
	}
	for i := range e.row {
		e.row[i] = -1
	}
	return e
}

// add adds x in column j.
func (e *echelon) add(j int32, x residue.Number) {
	if x == 0 {
		return
	}
	if !e.mark[j] {
		e.mark[j] = true
		e.touched = append(e.touched, j)
		if r := e.row[j]; r >= 0 {
			e.due[r>>6] |= 1 << (r & 63)
		}
	}
	e.value[j] = residue.Add(e.value[j], x)
}

// reduce subtracts as many times each row as leaves zero at its pivot.
func (e *echelon) reduce(ctx context.Context) error {
	for w := range e.due {
		for e.due[w] != 0 { // a row touches pivots of later rows only
			r := w<<6 + bits.TrailingZeros64(e.due[w])
			e.due[w] &= e.due[w] - 1
			row := &e.rows[r]
			x := e.value[row.pivot]
			if x == 0 {
				continue
			}
			e.value[row.pivot] = 0
			x = residue.Neg(x)
			for i, j := range row.cols {
				e.add(j, residue.Mul(x, row.values[i]))
			}
			if err := e.look(ctx, len(row.cols)); err != nil {
				return err
			}
		}
	}
	return nil
}

// look looks at ctx now and then, after some work.
func (e *echelon) look(ctx context.Context, work int) error {
	const often = 1 << 20
	e.worked += work
	if e.unasked += work; e.unasked < often {
		return nil
	}
	e.unasked = 0
	return ctx.Err()
}

// take ends what is added up, and returns what of it differs from zero.
func (e *echelon) take() (cols []int32) {
	for _, j := range e.touched {
		e.mark[j] = false
		if e.value[j] != 0 {
			cols = append(cols, j)
		}
	}
	e.touched = e.touched[:0]
	return cols
}

// insert keeps what was added up if it is independent of the rows that there are, and reports whether it is.
func (e *echelon) insert(ctx context.Context) (independent bool, err error) {
	if err := e.reduce(ctx); err != nil {
		return false, err
	}
	cols := e.take()
	if len(cols) == 0 {
		return false, nil
	}
	at := 0
	for i, j := range cols {
		if e.before(j, cols[at]) {
			at = i
		}
	}
	pivot := cols[at]
	cols = slices.Delete(cols, at, at+1)
	c := combination{pivot: pivot, cols: cols, values: make([]residue.Number, len(cols))}
	inverse := residue.Inverse(e.value[pivot])
	e.value[pivot] = 0
	for i, j := range cols {
		c.values[i] = residue.Mul(e.value[j], inverse)
		e.value[j] = 0
	}
	e.row[pivot] = int32(len(e.rows))
	e.rows = append(e.rows, c)
	return true, nil
}

// finish makes all rows zero at the pivots of all others.
func (e *echelon) finish(ctx context.Context) error {
	for r := range slices.Backward(e.rows) {
		row := &e.rows[r]
		for i, j := range row.cols {
			e.add(j, row.values[i])
		}
		if err := e.reduce(ctx); err != nil {
			return err
		}
		row.cols = e.take()
		row.values = make([]residue.Number, len(row.cols))
		for i, j := range row.cols {
			row.values[i], e.value[j] = e.value[j], 0
		}
	}
	return nil
}

// solutions inserts into o independent numbers whose products with all rows are zero, as many as there are: for each
// column that is no pivot those with a 1 there, and 0 in the others.
func (e *echelon) solutions(ctx context.Context, o *echelon) error {
	readers := make([][]int32, e.n) // of columns: rows
	for r, row := range e.rows {
		for _, j := range row.cols {
			readers[j] = append(readers[j], int32(r))
		}
	}
	coefs := make([]residue.Number, e.n)
	due := make([]uint64, len(e.due))
	for j := range e.n {
		if e.row[j] >= 0 {
			continue
		}
		known := []int32{int32(j)}
		set := func(j int32, x residue.Number) {
			coefs[j] = x
			for _, r := range readers[j] { // they come before the row whose pivot j is
				due[r>>6] |= 1 << (r & 63)
			}
		}
		set(int32(j), 1)
		for w := range slices.Backward(due) {
			for due[w] != 0 {
				r := w<<6 + bits.Len64(due[w]) - 1
				due[w] &^= 1 << (r & 63)
				row := &e.rows[r]
				sum := residue.Number(0)
				for i, k := range row.cols {
					if coefs[k] != 0 {
						sum = residue.Add(sum, residue.Mul(row.values[i], coefs[k]))
					}
				}
				if sum != 0 {
					set(row.pivot, residue.Neg(sum))
					known = append(known, row.pivot)
				}
				if err := e.look(ctx, len(row.cols)); err != nil {
					return err
				}
			}
		}
		for _, k := range known {
			o.add(k, coefs[k])
			coefs[k] = 0
		}
		if _, err := o.insert(ctx); err != nil {
			return err
		}
	}
	return nil
}
