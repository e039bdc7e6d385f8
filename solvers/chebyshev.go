package solvers

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"

	"odes.dev/odes/solvers/tableau"
)

// The number of stages of Chebyshev methods, at least and at most.
const (
	minChebyshevStages = 2
	maxChebyshevStages = 50
)

// chebyshevLadder are the numbers of stages among which a run chooses for each step. From one to the next, steps may
// be about twice as long.
var chebyshevLadder = []int{5, 7, 10, 14, 20, 28, 39, maxChebyshevStages}

// chebyshevFamily holds the Runge–Kutta–Chebyshev methods. The method of order 2 with s stages is stable on the
// negative real axis up to about 0.65 s², so that steps of a diffusion problem may be longer by s/5 for the same
// number of right-hand sides.
//
// With w₀ = 1 + ε/s², ε = 2/13, w₁ = T′_s(w₀)/T″_s(w₀), b_j = T″_j(w₀)/T′_j(w₀)², b₀ = b₁ = b₂ and a_j = 1 - b_j
// T_j(w₀), the stages are
//
//	Y₁ = Y₀ + b₁ w₁ h F₀,
//	Y_j = (1 - μ_j - ν_j) Y₀ + μ_j Y_{j-1} + ν_j Y_{j-2} + μ̃_j h F_{j-1} - a_{j-1} μ̃_j h F₀,
//	μ_j = 2 b_j w₀/b_{j-1},   ν_j = -b_j/b_{j-2},   μ̃_j = 2 b_j w₁/b_{j-1},
//
// and y₁ = Y_s. All of these are rational, so the method is a table like that of any explicit method; its figures are
// given to sixty decimals. The estimate is 4/5 (y₀ - y₁) + 2/5 h (f₀ + f₁).
var chebyshevFamily = Family{
	Name:    "Runge–Kutta–Chebyshev",
	Doc:     "Explicit methods whose stages serve stability along the negative real axis instead of order.",
	Methods: []*Spec{adaptiveChebyshev()},
	Settings: []MethodSetting{
		{Name: "stages", Doc: "fixes the stages of method = rkc2", Not: "has its own"},
	},
	With: func(m *Spec, values map[string]float64) (*Spec, error) {
		s := values["stages"]
		if !(s >= minChebyshevStages && s <= maxChebyshevStages) || s != math.Trunc(s) {
			return nil, fmt.Errorf("stages = %.0f: %s has %d to %d stages",
				s, m.Name, minChebyshevStages, maxChebyshevStages)
		}
		return chebyshev(int(s)), nil
	},
}

// adaptiveChebyshev returns the method whose stages follow the spectral radius.
func adaptiveChebyshev() *Spec {
	var members []*Spec
	for _, s := range chebyshevLadder {
		members = append(members, chebyshev(s))
	}
	m := Switching("rkc2", members...)
	m.Title = "Runge–Kutta–Chebyshev 2"
	m.Prose = fmt.Sprintf("For diffusion and other problems whose fast modes decay: with s stages, stable along the "+
		"negative real axis up to 0.65 s². Each step has as few of %d to %d stages as keep it stable, by an estimate "+
		"of the largest eigenvalue. The setting stages fixes them.", chebyshevLadder[0], maxChebyshevStages)
	return m
}

// chebyshevs keeps the methods by their number of stages: int → *Spec.
var chebyshevs sync.Map

// chebyshev returns the method with s stages.
func chebyshev(s int) *Spec {
	if m, ok := chebyshevs.Load(s); ok {
		return m.(*Spec)
	}
	m := explicitSpec(func() *tableau.Tableau { return chebyshevTable(s) })
	m.Name, m.Title = "rkc2", fmt.Sprintf("Runge–Kutta–Chebyshev 2 with %d stages", s)
	m.Prose = "For diffusion and other problems whose fast modes decay: stable along the negative real axis up to " +
		"0.65 s² for s stages. s² should be about 1.5 h times the largest eigenvalue."
	m.Source = "B. P. Sommeijer, L. F. Shampine, J. G. Verwer, Journal of Computational and Applied Mathematics " +
		"88 (1998) 315–326, doi:10.1016/S0377-0427(97)00219-7"
	m.Order, m.Embedded = 2, 2
	kept, _ := chebyshevs.LoadOrStore(s, m)
	return kept.(*Spec)
}

// decimal writes x with sixty decimals. Text of package big is slow where precision is high.
func decimal(x *big.Float) string {
	const decimals = 60
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	y := new(big.Float).SetPrec(x.Prec()).SetInt(unit)
	y.Mul(y, x)
	half := big.NewFloat(0.5)
	if x.Sign() < 0 {
		half.Neg(half)
	}
	z, _ := y.Add(y, half).Int(nil)
	sign := ""
	if z.Sign() < 0 {
		sign = "-"
	}
	text := fmt.Sprintf("%061d", z.Abs(z))
	at := len(text) - decimals
	return sign + text[:at] + "." + text[at:]
}

// chebyshevTable returns the table of the method with s stages. Exact fractions of many stages have thousands of
// digits, so the figures are computed with far more digits than the table keeps.
func chebyshevTable(s int) *tableau.Tableau {
	const bits = 640
	num := func() *big.Float { return new(big.Float).SetPrec(bits) }
	frac := func(x, y int64) *big.Float { return num().Quo(num().SetInt64(x), num().SetInt64(y)) }
	mul := func(x, y *big.Float) *big.Float { return num().Mul(x, y) }
	quo := func(x, y *big.Float) *big.Float { return num().Quo(x, y) }
	one, two := frac(1, 1), frac(2, 1)
	w0 := num().Add(one, frac(2, int64(13*s*s)))
	// T_j(w₀) and its derivatives: T_j = 2 w T_{j-1} - T_{j-2}, differentiated twice.
	t, d, e := make([]*big.Float, s+1), make([]*big.Float, s+1), make([]*big.Float, s+1)
	t[0], d[0], e[0] = one, num(), num()
	t[1], d[1], e[1] = w0, one, num()
	w := mul(two, w0)
	for j := 2; j <= s; j++ {
		next := func(x []*big.Float, more *big.Float) *big.Float {
			v := mul(w, x[j-1])
			return v.Sub(v, x[j-2]).Add(v, more)
		}
		t[j] = next(t, num())
		d[j] = next(d, mul(two, t[j-1]))
		e[j] = next(e, mul(frac(4, 1), d[j-1]))
	}
	w1 := quo(d[s], e[s])
	b := make([]*big.Float, s+1)
	for j := 2; j <= s; j++ {
		b[j] = quo(e[j], mul(d[j], d[j]))
	}
	b[0], b[1] = b[2], b[2]

	// Row j of the array, over F₀ … F_{j-1}.
	rows := make([][]*big.Float, s+1)
	rows[0] = []*big.Float{}
	rows[1] = []*big.Float{mul(b[1], w1)}
	for j := 2; j <= s; j++ {
		mu := quo(mul(two, mul(b[j], w0)), b[j-1])
		nu := num().Neg(quo(b[j], b[j-2]))
		last := quo(mul(two, mul(b[j], w1)), b[j-1])
		first := num().Sub(mul(b[j-1], t[j-1]), one) // -a_{j-1}
		row := make([]*big.Float, j)
		for i := range row {
			row[i] = num()
			if i < j-1 {
				row[i].Add(row[i], mul(mu, rows[j-1][i]))
			}
			if i < j-2 {
				row[i].Add(row[i], mul(nu, rows[j-2][i]))
			}
		}
		row[j-1].Add(row[j-1], last)
		row[0].Add(row[0], mul(first, last))
		rows[j] = row
	}
	text := func(row []*big.Float) string {
		var out strings.Builder
		for _, v := range row {
			out.WriteString(decimal(v) + " ")
		}
		return out.String()
	}
	var a strings.Builder
	for _, row := range rows[1:] {
		a.WriteString(text(row) + "\n")
	}
	// b̂ = b - (-4/5 b + 2/5 (first + last)).
	hat := make([]*big.Float, s+1)
	for i := range hat {
		hat[i] = num()
		if i < s {
			hat[i].Mul(frac(9, 5), rows[s][i])
		}
	}
	hat[0].Sub(hat[0], frac(2, 5))
	hat[s].Sub(hat[s], frac(2, 5))
	return &tableau.Tableau{Name: "rkc2", Order: 2, Embedded: 2, A: a.String(), B: text(rows[s]), BHat: text(hat)}
}
