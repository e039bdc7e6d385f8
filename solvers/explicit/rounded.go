package explicit

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
