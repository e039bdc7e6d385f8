package elem

import (
	"math"
	"math/big"
)

// The oracle: elementary functions of big.Float by plain power series, with far more bits than are
// compared. It is slow, short, and independent of the implementations under test.

const precision = 220

func num(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func add(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(a.Prec()).Add(a, b) }
func sub(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(a.Prec()).Sub(a, b) }
func mul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(a.Prec()).Mul(a, b) }
func quo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(a.Prec()).Quo(a, b) }
func neg(a *big.Float) *big.Float    { return new(big.Float).SetPrec(a.Prec()).Neg(a) }
func root(a *big.Float) *big.Float   { return new(big.Float).SetPrec(a.Prec()).Sqrt(a) }
func like(a *big.Float, x float64) *big.Float {
	return new(big.Float).SetPrec(a.Prec()).SetFloat64(x)
}

func shift(a *big.Float, k int) *big.Float {
	return new(big.Float).SetPrec(a.Prec()).SetMantExp(a, k)
}

// exponent returns the binary exponent, very small for 0.
func exponent(a *big.Float) int {
	if a.Sign() == 0 {
		return -1 << 20
	}
	return a.MantExp(nil)
}

// negligible reports whether t no longer changes s.
func negligible(t, s *big.Float) bool {
	return exponent(t) < exponent(s)-int(s.Prec())-4
}

// bigExpm1 sums the series at x/2ᵐ and doubles back by (1+e)² - 1 = e(2+e).
func bigExpm1(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return x
	}
	m := max(0, exponent(x)+12)
	p := x.Prec() + uint(m) + 40
	r := shift(new(big.Float).SetPrec(p).Set(x), -m)
	sum, term := like(r, 0), like(r, 1)
	for n := 1.0; ; n++ {
		term = quo(mul(term, r), like(r, n))
		sum = add(sum, term)
		if negligible(term, sum) {
			break
		}
	}
	for range m {
		sum = mul(sum, add(sum, like(sum, 2)))
	}
	return new(big.Float).SetPrec(x.Prec()).Set(sum)
}

func bigExp(x *big.Float) *big.Float {
	w := new(big.Float).SetPrec(x.Prec() + 40).Set(x)
	if w.Sign() < 0 {
		return new(big.Float).SetPrec(x.Prec()).Quo(num(1), bigExp(neg(x)))
	}
	return new(big.Float).SetPrec(x.Prec()).Add(bigExpm1(w), num(1))
}

// bigAtanh sums the odd series, for |x| well below 1.
func bigAtanh(x *big.Float, alternating bool) *big.Float {
	z := mul(x, x)
	if alternating {
		z = neg(z)
	}
	sum, term := x, x
	for n := 3.0; ; n += 2 {
		term = mul(term, z)
		t := quo(term, like(x, n))
		sum = add(sum, t)
		if x.Sign() == 0 || negligible(t, sum) {
			return sum
		}
	}
}

var bigLn2 = func() *big.Float {
	t := quo(like(num(0).SetPrec(400), 1), like(num(0).SetPrec(400), 3))
	return shift(bigAtanh(t, false), 1)
}()

// bigLog1p is 2 atanh(u/(2+u)) with the power of two taken out when u is large.
func bigLog1p(u *big.Float) *big.Float {
	if u.Sign() == 0 {
		return u
	}
	if exponent(u) < -2 {
		return shift(bigAtanh(quo(u, add(u, like(u, 2))), false), 1)
	}
	return bigLog(new(big.Float).SetPrec(u.Prec()+80).Add(u, num(1)))
}

func bigLog(x *big.Float) *big.Float {
	m := new(big.Float)
	k := x.MantExp(m)
	if m.Cmp(num(0.70710678)) < 0 {
		m, k = shift(m, 1), k-1
	}
	p := x.Prec() + 80
	f := new(big.Float).SetPrec(p).Sub(m, num(1))
	l := like(f, 0)
	if f.Sign() != 0 {
		l = shift(bigAtanh(quo(f, add(f, like(f, 2))), false), 1)
	}
	return add(l, mul(like(f, float64(k)), bigLn2))
}

// bigPi by Machin's formula at 1600 bits, enough to reduce any double.
var bigPi = func() *big.Float {
	one := new(big.Float).SetPrec(1700).SetInt64(1)
	a := bigAtanh(quo(one, like(one, 5)), true)
	b := bigAtanh(quo(one, like(one, 239)), true)
	return sub(shift(a, 4), shift(b, 2))
}()

// bigSinCos reduces by multiples of π/2 and sums the series.
func bigSinCos(x *big.Float) (sin, cos *big.Float) {
	w := new(big.Float).SetPrec(1600).Set(x)
	half := shift(bigPi, -1)
	q := quo(w, half)
	n, _ := add(q, like(q, math.Copysign(0.5, float64(x.Sign())))).Int(nil)
	r := sub(w, mul(new(big.Float).SetPrec(1600).SetInt(n), half))
	r = new(big.Float).SetPrec(precision + 60).Set(r)
	z := neg(mul(r, r))
	series := func(first *big.Float, k float64) *big.Float {
		sum, term := first, first
		for ; ; k += 2 {
			term = quo(mul(term, z), like(r, k*(k+1)))
			if r.Sign() == 0 || negligible(term, sum) {
				return sum
			}
			sum = add(sum, term)
		}
	}
	s, c := series(r, 2), series(like(r, 1), 1)
	switch new(big.Int).And(n, big.NewInt(3)).Int64() {
	case 1:
		s, c = c, neg(s)
	case 2:
		s, c = neg(s), neg(c)
	case 3:
		s, c = neg(c), s
	}
	return s, c
}

// bigAtan halves the angle three times, then sums.
func bigAtan(x *big.Float) *big.Float {
	w := new(big.Float).SetPrec(x.Prec() + 60).Set(x)
	if new(big.Float).Abs(w).Cmp(num(1)) > 0 {
		h := shift(bigPi, -1)
		if w.Sign() < 0 {
			h = neg(h)
		}
		return sub(new(big.Float).SetPrec(w.Prec()).Set(h), bigAtan(quo(like(w, 1), w)))
	}
	for range 3 {
		w = quo(w, add(like(w, 1), root(add(like(w, 1), mul(w, w)))))
	}
	return shift(bigAtanh(w, true), 3)
}

// bigAsin returns atan(x/√(1-x²)).
func bigAsin(x *big.Float) *big.Float {
	w := new(big.Float).SetPrec(x.Prec() + 200).Set(x)
	d := sub(like(w, 1), mul(w, w))
	if d.Sign() == 0 {
		return mul(shift(bigPi, -1), x)
	}
	return bigAtan(quo(w, root(d)))
}

// bigErf sums 2/√π · exp(-x²) Σ 2ⁿ x^(2n+1)/(2n+1)!!, all terms positive.
func bigErf(x *big.Float) *big.Float {
	z := mul(x, x)
	sum, term := x, x
	for n := 1.0; ; n++ {
		term = quo(mul(term, shift(z, 1)), like(x, 2*n+1))
		sum = add(sum, term)
		if x.Sign() == 0 || negligible(term, sum) {
			break
		}
	}
	sum = quo(mul(shift(sum, 1), bigExp(neg(z))), root(new(big.Float).SetPrec(x.Prec()).Set(bigPi)))
	return sum
}

func bigErfc(x *big.Float) *big.Float {
	f, _ := x.Float64()
	p := x.Prec() + 20
	if f > 0 {
		p += uint(1.5 * f * f)
	}
	w := new(big.Float).SetPrec(p).Set(x)
	return sub(like(w, 1), bigErf(w))
}

// bernoulli holds B₂, B₄, … as rationals.
var bernoulli = func() []*big.Rat {
	const n = 60
	b := make([]*big.Rat, 2*n+1)
	for m := range b {
		b[m] = new(big.Rat)
	}
	// Recurrence Σ C(m+1, k) B_k = 0.
	b[0].SetInt64(1)
	for m := 1; m <= 2*n; m++ {
		s := new(big.Rat)
		for k := range m {
			c := new(big.Rat).SetInt(new(big.Int).Binomial(int64(m+1), int64(k)))
			s.Add(s, c.Mul(c, b[k]))
		}
		b[m].Quo(s.Neg(s), big.NewRat(int64(m+1), 1))
	}
	var even []*big.Rat
	for k := 2; k <= 2*n; k += 2 {
		even = append(even, b[k])
	}
	return even
}()

// bigGammas returns log Γ, ψ, ψ′, ψ″ at x > 0: recurrence to x ≥ 40, then the
// asymptotic series.
func bigGammas(x *big.Float) (lg, psi, psi1, psi2 *big.Float) {
	w := new(big.Float).SetPrec(precision + 200).Set(x)
	one := like(w, 1)
	prod, s0, s1, s2 := one, like(w, 0), like(w, 0), like(w, 0)
	for w.Cmp(num(60)) < 0 {
		prod = mul(prod, w)
		r := quo(one, w)
		s0 = sub(s0, r)
		s1 = add(s1, mul(r, r))
		s2 = sub(s2, mul(mul(shift(r, 1), r), r))
		w = add(w, one)
	}
	l := bigLog(w)
	r := quo(one, w)
	z := mul(r, r)
	half := like(w, 0.5)
	lg = add(sub(mul(sub(w, half), l), w), shift(bigLog(shift(new(big.Float).SetPrec(w.Prec()).Set(bigPi), 1)), -1))
	psi = sub(l, mul(half, r))
	psi1 = add(r, mul(half, z))
	psi2 = neg(add(z, mul(z, r)))
	pw := r // x^(1-2k), k = 1
	for i, b := range bernoulli {
		k := float64(2 * (i + 1))
		c := new(big.Float).SetPrec(w.Prec()).SetRat(b)
		t := mul(c, pw) // B x^(1-2k)
		dl := quo(t, like(w, k*(k-1)))
		lg = add(lg, dl)
		psi = sub(psi, quo(mul(t, r), like(w, k)))
		psi1 = add(psi1, mul(t, z))
		psi2 = sub(psi2, mul(mul(t, mul(z, r)), like(w, k+1)))
		pw = mul(pw, z)
		if exponent(dl) < -precision-150 {
			break
		}
	}
	return sub(lg, bigLog(prod)), add(psi, s0), add(psi1, s1), add(psi2, s2)
}

// bigPow returns exp(y log x), x > 0.
func bigPow(x, y *big.Float) *big.Float {
	return bigExp(mul(new(big.Float).SetPrec(precision+80).Set(y), bigLog(x)))
}

// ulps returns |got - want| in units of the last place of a double of the size of want.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	switch {
	case math.IsNaN(got):
		return math.Inf(1)
	case math.IsInf(w, 0):
		if got == w {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(got, 0):
		// Rounding alone takes the result beyond the largest finite number.
		w = math.Copysign(math.MaxFloat64, w)
		got = w
	}
	e := max(exponent(want)-53, -1074)
	d := new(big.Float).SetPrec(precision+100).Sub(num(got), want)
	v, _ := shift(d, -e).Float64()
	return math.Abs(v)
}
