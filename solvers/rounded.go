package solvers

import (
	"math/big"

	"odes.dev/odes/solvers/tableau"
)

// rounded is a Tableau in double precision: each number is the double nearest to the exact one. Methods need no more.
type rounded struct {
	a          [][]float64 // [stages + dense stages][up to the stage]
	b          []float64   // [stages]
	c          []float64   // [stages + dense stages]
	e, e3      []float64   // [stages]; nil as in Coefficients
	beta       [][]float64 // [stages + dense stages][degree], centred
	denseOrder int
	fsal       bool
	end        int // as Coefficients.End has it
}

// roundedOf returns t in double precision. It panics where figures of t are malformed. Exact fractions take longer than
// a small model does, so the methods of runs that name none are kept.
func roundedOf(t *tableau.Tableau) *rounded {
	for i := range keptTableaus {
		if k := &keptTableaus[i]; k.of == t {
			return &k.rounded
		}
	}
	x, err := t.Coefficients()
	if err != nil {
		panic(err)
	}
	return roundedFrom(x)
}

func roundedFrom(x *tableau.Coefficients) *rounded {
	r := &rounded{
		b: tableau.RoundAll(x.B), c: append(tableau.RoundAll(x.C), tableau.RoundAll(x.DenseC)...),
		e: tableau.RoundAll(x.E), e3: tableau.RoundAll(x.E3),
		denseOrder: x.DenseOrder, fsal: x.FSAL, end: x.End(),
	}
	for _, rows := range [][][]*big.Rat{x.A, x.DenseA} {
		for _, row := range rows {
			r.a = append(r.a, tableau.RoundAll(row))
		}
	}
	for _, p := range x.DenseB {
		r.beta = append(r.beta, tableau.Centred(p))
	}
	return r
}

// rosenbrockRounded is a rosenbrockTable in double precision.
type rosenbrockRounded struct {
	gamma, inverse float64     // γ, 1/γ
	a, c           [][]float64 // [stages][stages]
	m, e           []float64   // [stages]
	alpha, gammas  []float64   // [stages]
	beta           [][]float64 // [stages][degree], centred
	end            bool        // the last stage is f(t+h, y₁)
}

// rounded is that of a Tableau.
func (t *rosenbrockTable) rounded() *rosenbrockRounded {
	for i := range keptRosenbrocks {
		if k := &keptRosenbrocks[i]; k.of == t {
			return &k.rosenbrockRounded
		}
	}
	x, err := t.figures()
	if err != nil {
		panic(err)
	}
	return x.rounded()
}

func (x *rosenbrockFigures) rounded() *rosenbrockRounded {
	r := &rosenbrockRounded{
		gamma: tableau.Round(x.gamma), inverse: tableau.Round(new(big.Rat).Inv(x.gamma)), m: tableau.RoundAll(x.m),
		e:     tableau.RoundAll(x.e),
		alpha: tableau.RoundAll(x.alpha), gammas: tableau.RoundAll(x.gammas), end: x.end,
	}
	for i := range x.a {
		r.a, r.c = append(r.a, tableau.RoundAll(x.a[i])), append(r.c, tableau.RoundAll(x.c[i]))
	}
	for _, p := range x.beta {
		r.beta = append(r.beta, tableau.Centred(p))
	}
	return r
}
