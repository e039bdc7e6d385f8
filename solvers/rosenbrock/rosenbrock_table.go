package rosenbrock

import (
	"fmt"
	"math/big"

	"odes.dev/odes/solvers/tableau"
)

// rosenbrockTable is a table with its figures.
type rosenbrockTable tableau.Rosenbrock

// Figures are the exact figures of a rosenbrockTable, and what follows from them.
type Figures struct {
	Gamma         *big.Rat
	A, C          [][]*big.Rat // [stages][stages]
	M, E          []*big.Rat   // [stages]
	Alpha, Gammas []*big.Rat   // [stages]
	Beta          [][]*big.Rat // [stages][degree] of the dense output: coefficients of θ, θ², …
	end           bool         // the last stage is f(t+h, y₁)
}

// figures reads the exact figures.
func (t *rosenbrockTable) figures() (*Figures, error) {
	x := &Figures{}
	stages, err := tableau.Flat(t.M)
	s := len(stages)
	for _, v := range []struct {
		part, text string
		count      int // of figures; 0 for whole rows of s
		to         func(list []*big.Rat)
	}{
		{"γ", t.Gamma, 1, func(list []*big.Rat) { x.Gamma = list[0] }},
		{"a", t.A, s * (s - 1) / 2, func(list []*big.Rat) { x.A = triangle(list, s) }},
		{"c", t.C, s * (s - 1) / 2, func(list []*big.Rat) { x.C = triangle(list, s) }},
		{"m", t.M, s, func(list []*big.Rat) { x.M = list }},
		{"e", t.E, s, func(list []*big.Rat) { x.E = list }},
		{"α", t.Alpha, s, func(list []*big.Rat) { x.Alpha = list }},
		{"γ_i", t.Gammas, s, func(list []*big.Rat) { x.Gammas = list }},
		{"dense output", t.D, 0, func(list []*big.Rat) { x.Beta = denseWeights(x.M, list) }},
	} {
		var list []*big.Rat
		if err == nil {
			list, err = tableau.Flat(v.text)
		}
		if err == nil && (v.count > 0 && len(list) != v.count || len(list)%s != 0 && v.count == 0) {
			err = fmt.Errorf("%d figures for %d stages", len(list), s)
		}
		if err != nil {
			return nil, fmt.Errorf("method %s: %s: %w", t.Name, v.part, err)
		}
		v.to(list)
	}
	x.end = x.Alpha[s-1].Cmp(big.NewRat(1, 1)) == 0 && x.M[s-1].Sign() == 0
	for j, v := range x.A[s-1] {
		x.end = x.end && v.Cmp(x.M[j]) == 0
	}
	return x, nil
}

// triangle returns the square matrix of s rows whose strictly lower triangle is list, row by row.
func triangle(list []*big.Rat, s int) [][]*big.Rat {
	rows := make([][]*big.Rat, s)
	for i := range rows {
		rows[i] = append(rows[i], list[:i]...)
		list = list[i:]
		for len(rows[i]) < s {
			rows[i] = append(rows[i], new(big.Rat))
		}
	}
	return rows
}

// denseWeights returns the coefficients of θ, θ², … of θ m_i + θ(1-θ) Σ_k d_ki θ^(k-1).
func denseWeights(m, d []*big.Rat) [][]*big.Rat {
	s := len(m)
	beta := make([][]*big.Rat, s)
	for i := range beta {
		p := make([]*big.Rat, len(d)/s+2)
		for k := range p {
			p[k] = new(big.Rat)
		}
		p[0].Set(m[i])
		for k := range len(d) / s {
			p[k].Add(p[k], d[k*s+i])
			p[k+1].Sub(p[k+1], d[k*s+i])
		}
		for len(p) > 1 && p[len(p)-1].Sign() == 0 {
			p = p[:len(p)-1]
		}
		beta[i] = p
	}
	return beta
}

// ExactFigures returns the figures of the method's table.
func (r *rosenbrock) ExactFigures() (*Figures, error) { return r.tab.figures() }
