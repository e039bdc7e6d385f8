package implicit

import (
	"fmt"
	"math/big"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/tableau"
)

// implicitTable is a tableau.Implicit at work.
type implicitTable struct {
	tableau.Implicit
	parts []solvers.RatesPart // of the rows, 0 among them; nil where all are those of the whole
}

// Figures are the exact figures of an implicitTable.
type Figures struct {
	A      [][]*big.Rat // [rows][rows]; row 0 is zero
	B, C   []*big.Rat   // [rows]
	E      []*big.Rat   // [rows]
	filter *big.Rat     // nil for none
	Beta   [][]*big.Rat // [rows][degree]
	blocks [][2]int     // rows from and to of each block after row 0
	end    bool         // the last row is f(t+h, y₁)
}

// figures reads the exact figures.
func (t *implicitTable) figures() (*Figures, error) {
	bad := func(part string, err error) error { return fmt.Errorf("method %s: %s: %w", t.Name, part, err) }
	rows, err := tableau.Figures(t.A)
	if err != nil {
		return nil, bad("a", err)
	}
	s := 1 + len(rows)
	x := &Figures{A: make([][]*big.Rat, s), C: make([]*big.Rat, s)}
	x.A[0] = zeros(s)
	for i, row := range rows {
		if len(row) > s {
			return nil, bad("a", fmt.Errorf("row %d has %d figures for %d rows", i+1, len(row), s))
		}
		x.A[i+1] = append(row, zeros(s-len(row))...)
	}
	for i, row := range x.A {
		x.C[i] = new(big.Rat)
		for j, v := range row {
			if t.parts == nil || t.parts[j] == solvers.ExplicitRates { // the nodes of both parts are the same
				x.C[i].Add(x.C[i], v)
			}
		}
	}
	if x.B, err = tableau.Weights(t.B, s); err != nil {
		return nil, bad("b", err)
	}
	if x.E, err = tableau.Weights(t.E, s); err != nil {
		return nil, bad("e", err)
	}
	if t.Filter != "" {
		list, err := tableau.Flat(t.Filter)
		if err != nil || len(list) != 1 {
			return nil, bad("filter", fmt.Errorf("%d figures: %w", len(list), err))
		}
		x.filter = list[0]
	}
	if x.Beta, err = tableau.Figures(t.DenseB); err == nil && len(x.Beta) > s {
		err = fmt.Errorf("%d rows for %d", len(x.Beta), s)
	}
	if err != nil {
		return nil, bad("dense output", err)
	}
	for len(x.Beta) < s {
		x.Beta = append(x.Beta, zeros(1))
	}
	for from := 1; from < s; {
		to := from + 1
		for i := from; i < to; i++ {
			for j := to; j < s; j++ {
				if x.A[i][j].Sign() != 0 {
					to = j + 1
				}
			}
		}
		x.blocks = append(x.blocks, [2]int{from, to})
		from = to
	}
	last := x.A[s-1]
	x.end = s > 1 && t.parts == nil && last[s-1].Sign() == 0 &&
		slices.EqualFunc(last, x.B, func(v, w *big.Rat) bool { return v.Cmp(w) == 0 })
	return x, nil
}

func zeros(n int) []*big.Rat {
	row := make([]*big.Rat, n)
	for i := range row {
		row[i] = new(big.Rat)
	}
	return row
}

// ExactFigures returns the figures of the method's table.
func (r *implicitRungeKutta) ExactFigures() (*Figures, error) { return r.tab.figures() }

// Parts returns the part of the rates that each row belongs to; nil where all rows are of the whole rates.
func (r *implicitRungeKutta) Parts() []solvers.RatesPart { return r.tab.parts }
