package tableau

import (
	"fmt"
	"math/big"
	"strings"
)

// Decimal writes x with sixty decimals. Text of package big is slow where precision is high.
func Decimal(x *big.Float) string {
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

// Chebyshev returns the table of the Runge–Kutta–Chebyshev method with s stages, 2 at least: see package solvers. Exact
// fractions of many stages have thousands of digits, so the figures are computed with far more digits than the table
// keeps.
func Chebyshev(s int) *Tableau {
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
			out.WriteString(Decimal(v) + " ")
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
	return &Tableau{Name: "rkc2", Order: 2, Embedded: 2, A: a.String(), B: text(rows[s]), BHat: text(hat)}
}
