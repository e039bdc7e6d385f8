package rosenbrock

import (
	"math/big"

	"odes.dev/odes/solvers/tableau"
)

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

func (x *Figures) rounded() *rosenbrockRounded {
	r := &rosenbrockRounded{
		gamma: tableau.Round(x.Gamma), inverse: tableau.Round(new(big.Rat).Inv(x.Gamma)), m: tableau.RoundAll(x.M),
		e:     tableau.RoundAll(x.E),
		alpha: tableau.RoundAll(x.Alpha), gammas: tableau.RoundAll(x.Gammas), end: x.end,
	}
	for i := range x.A {
		r.a, r.c = append(r.a, tableau.RoundAll(x.A[i])), append(r.c, tableau.RoundAll(x.C[i]))
	}
	for _, p := range x.Beta {
		r.beta = append(r.beta, tableau.Centred(p))
	}
	return r
}
