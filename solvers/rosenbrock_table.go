package solvers

import (
	"fmt"
	"math/big"
	"slices"

	"odes.dev/odes/solvers/tableau"
)

// rosenbrockTable is a table with its figures.
type rosenbrockTable tableau.Rosenbrock

// rosenbrockFigures are the exact figures of a rosenbrockTable, and what follows from them.
type rosenbrockFigures struct {
	gamma         *big.Rat
	a, c          [][]*big.Rat // [stages][stages]
	m, e          []*big.Rat   // [stages]
	alpha, gammas []*big.Rat   // [stages]
	beta          [][]*big.Rat // [stages][degree] of the dense output: coefficients of θ, θ², …
	end           bool         // the last stage is f(t+h, y₁)
}

// figures reads the exact figures.
func (t *rosenbrockTable) figures() (*rosenbrockFigures, error) {
	x := &rosenbrockFigures{}
	stages, err := flat(t.M)
	s := len(stages)
	for _, v := range []struct {
		part, text string
		count      int // of figures; 0 for whole rows of s
		to         func(list []*big.Rat)
	}{
		{"γ", t.Gamma, 1, func(list []*big.Rat) { x.gamma = list[0] }},
		{"a", t.A, s * (s - 1) / 2, func(list []*big.Rat) { x.a = triangle(list, s) }},
		{"c", t.C, s * (s - 1) / 2, func(list []*big.Rat) { x.c = triangle(list, s) }},
		{"m", t.M, s, func(list []*big.Rat) { x.m = list }},
		{"e", t.E, s, func(list []*big.Rat) { x.e = list }},
		{"α", t.Alpha, s, func(list []*big.Rat) { x.alpha = list }},
		{"γ_i", t.Gammas, s, func(list []*big.Rat) { x.gammas = list }},
		{"dense output", t.D, 0, func(list []*big.Rat) { x.beta = denseWeights(x.m, list) }},
	} {
		var list []*big.Rat
		if err == nil {
			list, err = flat(v.text)
		}
		if err == nil && (v.count > 0 && len(list) != v.count || len(list)%s != 0 && v.count == 0) {
			err = fmt.Errorf("%d figures for %d stages", len(list), s)
		}
		if err != nil {
			return nil, fmt.Errorf("method %s: %s: %w", t.Name, v.part, err)
		}
		v.to(list)
	}
	x.end = x.alpha[s-1].Cmp(big.NewRat(1, 1)) == 0 && x.m[s-1].Sign() == 0
	for j, v := range x.a[s-1] {
		x.end = x.end && v.Cmp(x.m[j]) == 0
	}
	return x, nil
}

// flat reads exact numbers over any number of lines.
func flat(text string) ([]*big.Rat, error) {
	rows, err := tableau.Figures(text)
	return slices.Concat(rows...), err
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
