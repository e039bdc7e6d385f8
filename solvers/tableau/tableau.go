// Package tableau holds the tables of explicit Runge–Kutta methods in exact figures, and of others.
package tableau

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Tableau is an explicit Runge–Kutta method as data: the Butcher array of its publication in exact figures, and words
// about it. With nodes c_i = Σ_j a_ij,
//
//	Y_i = y₀ + h Σ_{j<i} a_ij k_j,   k_i = f(t + c_i h, Y_i),   y₁ = y₀ + h Σ_i b_i k_i.
//
// Figures are integers, fractions ("-56/15") or decimals ("0.161"), separated by spaces, with a row on each line.
// Each is taken as the exact rational that it spells. Everything that follows from the figures (stages, nodes, error
// weights, whether the last stage is the first of the next step) is derived by Coefficients. The orders are claims,
// which tests prove.
type Tableau struct {
	Name   string // as users write it: "dopri5"
	Title  string // "Dormand–Prince 5(4)"
	Prose  string // what it is good for, and where its error estimate comes from
	Source string // citation

	Order    int // of B
	Embedded int // of BHat; for a combined estimate, one less than the power of h with which it vanishes

	A    string // rows of stages 2, 3, …; row i has at most i-1 figures, the missing ones are 0
	B    string // weights of the solution; missing ones are 0
	BHat string // weights of the solution to compare with: the estimate is h Σ (b_i - b̂_i) k_i

	// E3 is the second estimate of a combined pair. With e5 from B - BHat and e3 from E3, elementwise, the estimate
	// is e5²/√(e5² + 0.01 e3²).
	E3 string

	Dense Dense // the zero value is the cubic Hermite interpolant: enough for methods of order 4
}

// Dense is a continuous extension y(t + θh) = y₀ + h Σ_i β_i(θ) k_i over the
// stages of the method and further ones.
type Dense struct {
	Order int    // for every θ in [0, 1]
	A     string // rows of further stages, in the manner of Tableau.A; stages are counted on
	B     string // row i: coefficients of θ, θ², … in β_i; "0" for a stage without one
}

// Coefficients are the exact figures of a Tableau and what follows from them.
type Coefficients struct {
	A    [][]*big.Rat // [stages][i]: strictly lower triangular
	B    []*big.Rat   // [stages]
	C    []*big.Rat   // [stages]: row sums
	E    []*big.Rat   // [stages]: b - b̂; nil without an estimate
	E3   []*big.Rat   // [stages]; nil unless combined
	FSAL bool         // the last stage is f(t+h, y₁)

	DenseOrder int
	DenseA     [][]*big.Rat // [dense stages][up to the stage]
	DenseC     []*big.Rat   // [dense stages]
	DenseB     [][]*big.Rat // [stages + dense stages][degree], coefficients of θ, θ², …
}

// Coefficients derives the exact coefficients. An error says which figure is malformed; registered methods have none.
func (t *Tableau) Coefficients() (*Coefficients, error) {
	rows, err := Figures(t.A)
	if err != nil {
		return nil, t.bad("a", err)
	}
	c := &Coefficients{A: append([][]*big.Rat{{}}, rows...)}
	s := len(c.A)
	if c.C, err = square(c.A, 0); err != nil {
		return nil, t.bad("a", err)
	}
	if c.B, err = Weights(t.B, s); err != nil {
		return nil, t.bad("b", err)
	}
	if t.BHat != "" {
		hat, err := Weights(t.BHat, s)
		if err != nil {
			return nil, t.bad("b̂", err)
		}
		c.E = make([]*big.Rat, s)
		for i := range c.E {
			c.E[i] = new(big.Rat).Sub(c.B[i], hat[i])
		}
	}
	if t.E3 != "" {
		if c.E3, err = Weights(t.E3, s); err != nil {
			return nil, t.bad("e3", err)
		}
	}
	c.FSAL = s > 1 && c.B[s-1].Sign() == 0
	for j := 0; c.FSAL && j < s-1; j++ {
		c.FSAL = c.A[s-1][j].Cmp(c.B[j]) == 0
	}
	if t.Dense.B == "" {
		c.hermite(t.Order)
		return c, nil
	}
	c.DenseOrder = t.Dense.Order
	if c.DenseA, err = Figures(t.Dense.A); err != nil {
		return nil, t.bad("dense a", err)
	}
	if c.DenseC, err = square(c.DenseA, s); err != nil {
		return nil, t.bad("dense a", err)
	}
	if c.DenseB, err = Figures(t.Dense.B); err != nil {
		return nil, t.bad("dense b", err)
	}
	if len(c.DenseB) != s+len(c.DenseA) {
		return nil, t.bad("dense b", fmt.Errorf("%d rows for %d stages", len(c.DenseB), s+len(c.DenseA)))
	}
	return c, nil
}

// End returns the row of the whole table that has the weights of the solution, or -1.
func (c *Coefficients) End() int {
	s := len(c.B)
	if c.FSAL {
		return s - 1
	}
	for i, row := range c.DenseA {
		same := true
		for j, x := range row {
			same = same && (j < s && x.Cmp(c.B[j]) == 0 || j >= s && x.Sign() == 0)
		}
		if same {
			return s + i
		}
	}
	return -1
}

// hermite makes the dense output the cubic through y₀, y₁ with slopes f(t, y₀)
// and f(t+h, y₁): β_i = b_i (3θ² - 2θ³) + [first] (θ - 2θ² + θ³) + [end] (θ³ - θ²).
// The slope at the end is the last stage or a further one.
func (c *Coefficients) hermite(order int) {
	s := len(c.B)
	end := s - 1
	if !c.FSAL {
		end = s
		c.DenseA = [][]*big.Rat{c.B}
		c.DenseC = []*big.Rat{big.NewRat(1, 1)}
	}
	c.DenseOrder = min(order, 3)
	c.DenseB = make([][]*big.Rat, s+len(c.DenseA))
	for i := range c.DenseB {
		p := [3]*big.Rat{new(big.Rat), new(big.Rat), new(big.Rat)}
		if i < s {
			p[1].Mul(c.B[i], big.NewRat(3, 1))
			p[2].Mul(c.B[i], big.NewRat(-2, 1))
		}
		if i == 0 {
			add(p[0], 1)
			add(p[1], -2)
			add(p[2], 1)
		}
		if i == end {
			add(p[1], -1)
			add(p[2], 1)
		}
		c.DenseB[i] = p[:]
	}
}

func add(x *big.Rat, n int64) { x.Add(x, big.NewRat(n, 1)) }

func (t *Tableau) bad(part string, err error) error {
	return fmt.Errorf("method %s: %s: %w", t.Name, part, err)
}

// Figures reads rows of exact numbers.
func Figures(text string) ([][]*big.Rat, error) {
	var rows [][]*big.Rat
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		row := make([]*big.Rat, len(fields))
		for i, f := range fields {
			x, ok := new(big.Rat).SetString(f)
			if !ok {
				return nil, fmt.Errorf("%q is no number; write an integer, a fraction or a decimal", f)
			}
			row[i] = x
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Flat reads exact numbers over any number of lines.
func Flat(text string) ([]*big.Rat, error) {
	rows, err := Figures(text)
	return slices.Concat(rows...), err
}

// square pads row i of rows, that of stage first+i, to first+i figures and returns the row sums.
func square(rows [][]*big.Rat, first int) ([]*big.Rat, error) {
	sums := make([]*big.Rat, len(rows))
	for i, row := range rows {
		if len(row) > first+i {
			return nil, fmt.Errorf("row %d has %d figures, the method is not explicit", first+i+1, len(row))
		}
		for len(row) < first+i {
			row = append(row, new(big.Rat))
		}
		rows[i] = row
		sums[i] = new(big.Rat)
		for _, x := range row {
			sums[i].Add(sums[i], x)
		}
	}
	return sums, nil
}

// Weights reads one row of at most s figures, over any number of lines, and pads it to s.
func Weights(text string, s int) ([]*big.Rat, error) {
	rows, err := Figures(text)
	if err != nil {
		return nil, err
	}
	var row []*big.Rat
	for _, r := range rows {
		row = append(row, r...)
	}
	if len(row) > s || len(row) == 0 {
		return nil, fmt.Errorf("%d figures for %d stages", len(row), s)
	}
	for len(row) < s {
		row = append(row, new(big.Rat))
	}
	return row, nil
}
