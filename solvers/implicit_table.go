package solvers

import (
	"fmt"
	"math/big"
	"slices"

	"odes.dev/odes/solvers/tableau"
)

// implicitTable is an implicit Runge–Kutta method as data. Row 0 is f(t, y₀); with nodes c_i = Σ_j a_ij, the
// others are
//
//	Y_i = y₀ + h Σ_j a_ij k_j,   M k_i = f(t + c_i h, Y_i),   y₁ = y₀ + h Σ_i b_i k_i.
//
// Rows that depend on each other are solved at once: one by one in a diagonally implicit method. A row with no a_ii is
// explicit. Figures are written as those of a Tableau. The orders are claims, which tests prove.
type implicitTable struct {
	Name, Title, Prose, Source string

	Order    int
	Embedded int // of y₁ - e; for a filtered estimate, before the filter

	A string // rows 1, 2, …: figures of rows 0, 1, …; missing ones are 0
	B string // figures of rows 0, 1, …

	// E are the weights of the estimate, e = h (e₀ k₀ + M Σ e_i k_i). With a Filter φ it is the solution of
	// (M/φ - h J) e = (h/φ) …, with the Jacobian J at the start: where y₀ is off what decays fast, k₀ is large
	// and says nothing of y₁ (L. F. Shampine, L. S. Baca, ACM Transactions on Mathematical Software 10 (1984)
	// 378–388, doi:10.1145/2701.356102).
	E, Filter string
	Twice     bool // the filter is applied twice, where an explicit row multiplies k₀ once more

	parts []RatesPart // of the rows, 0 among them; nil where all are those of the whole

	DenseOrder int
	DenseB     string // row i: coefficients of θ, θ², … in β_i of y(t + θh) = y₀ + h Σ β_i(θ) k_i
}

// implicitFigures are the exact figures of an implicitTable.
type implicitFigures struct {
	a      [][]*big.Rat // [rows][rows]; row 0 is zero
	b, c   []*big.Rat   // [rows]
	e      []*big.Rat   // [rows]
	filter *big.Rat     // nil for none
	beta   [][]*big.Rat // [rows][degree]
	blocks [][2]int     // rows from and to of each block after row 0
	end    bool         // the last row is f(t+h, y₁)
}

// figures reads the exact figures.
func (t *implicitTable) figures() (*implicitFigures, error) {
	bad := func(part string, err error) error { return fmt.Errorf("method %s: %s: %w", t.Name, part, err) }
	rows, err := tableau.Figures(t.A)
	if err != nil {
		return nil, bad("a", err)
	}
	s := 1 + len(rows)
	x := &implicitFigures{a: make([][]*big.Rat, s), c: make([]*big.Rat, s)}
	x.a[0] = zeros(s)
	for i, row := range rows {
		if len(row) > s {
			return nil, bad("a", fmt.Errorf("row %d has %d figures for %d rows", i+1, len(row), s))
		}
		x.a[i+1] = append(row, zeros(s-len(row))...)
	}
	for i, row := range x.a {
		x.c[i] = new(big.Rat)
		for j, v := range row {
			if t.parts == nil || t.parts[j] == ExplicitRates { // the nodes of both parts are the same
				x.c[i].Add(x.c[i], v)
			}
		}
	}
	if x.b, err = tableau.Weights(t.B, s); err != nil {
		return nil, bad("b", err)
	}
	if x.e, err = tableau.Weights(t.E, s); err != nil {
		return nil, bad("e", err)
	}
	if t.Filter != "" {
		list, err := flat(t.Filter)
		if err != nil || len(list) != 1 {
			return nil, bad("filter", fmt.Errorf("%d figures: %w", len(list), err))
		}
		x.filter = list[0]
	}
	if x.beta, err = tableau.Figures(t.DenseB); err == nil && len(x.beta) > s {
		err = fmt.Errorf("%d rows for %d", len(x.beta), s)
	}
	if err != nil {
		return nil, bad("dense output", err)
	}
	for len(x.beta) < s {
		x.beta = append(x.beta, zeros(1))
	}
	for from := 1; from < s; {
		to := from + 1
		for i := from; i < to; i++ {
			for j := to; j < s; j++ {
				if x.a[i][j].Sign() != 0 {
					to = j + 1
				}
			}
		}
		x.blocks = append(x.blocks, [2]int{from, to})
		from = to
	}
	last := x.a[s-1]
	x.end = s > 1 && t.parts == nil && last[s-1].Sign() == 0 &&
		slices.EqualFunc(last, x.b, func(v, w *big.Rat) bool { return v.Cmp(w) == 0 })
	return x, nil
}

func zeros(n int) []*big.Rat {
	row := make([]*big.Rat, n)
	for i := range row {
		row[i] = new(big.Rat)
	}
	return row
}
