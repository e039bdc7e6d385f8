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
		b: roundAll(x.B), c: append(roundAll(x.C), roundAll(x.DenseC)...), e: roundAll(x.E), e3: roundAll(x.E3),
		denseOrder: x.DenseOrder, fsal: x.FSAL, end: x.End(),
	}
	for _, rows := range [][][]*big.Rat{x.A, x.DenseA} {
		for _, row := range rows {
			r.a = append(r.a, roundAll(row))
		}
	}
	for _, p := range x.DenseB {
		r.beta = append(r.beta, centred(p))
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
		gamma: round(x.gamma), inverse: round(new(big.Rat).Inv(x.gamma)), m: roundAll(x.m), e: roundAll(x.e),
		alpha: roundAll(x.alpha), gammas: roundAll(x.gammas), end: x.end,
	}
	for i := range x.a {
		r.a, r.c = append(r.a, roundAll(x.a[i])), append(r.c, roundAll(x.c[i]))
	}
	for _, p := range x.beta {
		r.beta = append(r.beta, centred(p))
	}
	return r
}

// round returns the double nearest to x.
func round(x *big.Rat) float64 {
	v, _ := x.Float64()
	return v
}

// roundAll returns the doubles nearest to figures; nil for nil.
func roundAll(row []*big.Rat) []float64 {
	if row == nil {
		return nil
	}
	out := make([]float64, len(row))
	for i, x := range row {
		out[i] = round(x)
	}
	return out
}
