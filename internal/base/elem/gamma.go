package elem

import "math"

// Lgamma returns log|Γ(a)|: +Inf at 0 and the negative integers and at ±Inf.
// Error ≤ 2 ULP for a > 0. For a < 0, where the function has zeros between the
// integers, the error is ≤ 2 ULP of the larger of the result and log Γ(1-a).
func Lgamma(a float64) float64 {
	switch {
	case a != a:
		return a
	case a == 0 || math.Abs(a) > math.MaxFloat64:
		return math.Inf(1)
	case a > 0:
		if a > 2.6e305 {
			return math.Inf(1)
		}
		return lgammaPositive(a).float()
	}
	x := -a
	if x < 0x1p-60 {
		return -Log(x)
	}
	s := sinPi(x)
	if s.hi == 0 {
		return math.Inf(1)
	}
	if s.hi < 0 {
		s = s.neg()
	}
	// Γ(-x)·Γ(1+x) = -π/sin(πx).
	l := logDD(dd{piHi, piLo}.div(s))
	if x < 0x1p53 {
		return l.add(lgammaOnePlus(x).neg()).float()
	}
	return math.Inf(1)
}

// lgammaOnePlus returns log Γ(1+x) for x > 0.
func lgammaOnePlus(x float64) dd {
	switch {
	case x < 0.25:
		return lgammaNear1(dd{x, 0})
	case x <= 1.5:
		return lgammaNear2(twoSum(x, -1))
	}
	return lgammaPositive(x).add(logDD(dd{x, 0}))
}

// lgammaPositive returns log Γ(x) for 0 < x ≤ 2.6e305. The two words have a relative accuracy of
// some 2⁻⁵⁵.
func lgammaPositive(x float64) dd {
	switch {
	case x < 0.5:
		// Γ(x) = Γ(1+x)/x.
		l := logAny(x).neg()
		if x < 0.25 {
			return l.add(lgammaNear1(dd{x, 0}))
		}
		return l.add(lgammaNear2(twoSum(x, -1)))
	case x < 1.25:
		return lgammaNear1(dd{x - 1, 0})
	case x <= 2.5:
		return lgammaNear2(dd{x - 2, 0})
	case x < 8:
		// Γ(x) = (x-1)(x-2)…Γ(2+z).
		p := dd{1, 0}
		for x > 2.5 {
			x--
			p = p.mulFloat(x)
		}
		return logDD(p).add(lgammaNear2(dd{x - 2, 0}))
	}
	// Stirling's series: (x-½)·log x - x + log(2π)/2 + S(1/x²)/x.
	w := 1 / x
	r := logDD(dd{x, 0}).addFloat(-1).mul(twoSum(x, -0.5))
	r = r.add(dd{lnSqrt2PiHi, lnSqrt2PiLo}).addFloat(-0.5)
	return r.addFloat(float64(w * horner(stirlingCoef[:], float64(w*w))))
}

// lgammaNear1 returns log Γ(1+z) for -½ ≤ z ≤ ¼.
func lgammaNear1(z dd) dd { return seriesDD(z, lgam1Coef[:], lgam1CoefLo) }

// lgammaNear2 returns log Γ(2+z) for -¾ ≤ z ≤ ½.
func lgammaNear2(z dd) dd { return seriesDD(z, lgam2Coef[:], lgam2CoefLo) }

// seriesDD returns z·Σ c[i]·zⁱ with the first two coefficients taken in two words.
func seriesDD(z dd, c []float64, lo float64) dd {
	t := math.FMA(z.hi, horner(c[2:], z.hi), 0)
	u := twoSum(c[1], t)
	return u.mul(z).add(dd{c[0], lo}).mul(z)
}

// sinPi returns sin(πx) in two words for x ≥ 0.
func sinPi(x float64) dd {
	n := math.Floor(x)
	f := x - n // exact
	if f == 0 {
		return dd{}
	}
	if f > 0.5 {
		f = 1 - f // exact
	}
	if f <= 0.25 {
		return sinKernel(dd{piHi, piLo}.mulFloat(f))
	}
	return cosKernel(dd{piHi, piLo}.mulFloat(0.5 - f))
}

// tanPi returns tan(πx) in two words; x is not a half-integer.
func tanPi(x float64) dd {
	f := x - Round(x) // exact, |f| ≤ ½
	if math.Abs(f) <= 0.25 {
		r := dd{piHi, piLo}.mulFloat(f)
		return sinKernel(r).div(cosKernel(r))
	}
	g := dd{piHi, piLo}.mulFloat(math.Copysign(0.5, f) - f)
	return cosKernel(g).div(sinKernel(g))
}

// Polygamma functions use their recurrences to reach x ≥ polygammaFar, where their asymptotic
// series are accurate.
const polygammaFar = 8

// Digamma returns ψ(a), the derivative of log Γ: ∓Inf at ±0, and NaN at the negative integers and
// -Inf. For a > 0 the error is ≤ 2 ULP, but an absolute 10⁻²⁰ near the zero at 1.4616. For a < 0 it
// is ≤ 2 ULP of the larger of the result and ψ(1-a).
func Digamma(a float64) float64 {
	switch {
	case a == 0:
		return math.Copysign(math.Inf(1), -a)
	case a != a || a > math.MaxFloat64:
		return a
	case a > 0:
		return digammaPositive(dd{a, 0}).float()
	case math.Floor(a) == a: // also -Inf
		return math.NaN()
	case a > -0x1p-60:
		return -1 / a
	}
	// ψ(a) = ψ(1-a) - π/tan(πa).
	r := digammaPositive(twoSum(1, -a))
	if math.Floor(a)+0.5 == a {
		return r.float()
	}
	return r.add(dd{-piHi, -piLo}.div(tanPi(a))).float()
}

// digammaPositive returns ψ(x) in two words for x > 0.
func digammaPositive(x dd) dd {
	var sum dd
	for x.hi < polygammaFar {
		if x.hi < minNormal*4 {
			return dd{-1 / x.hi, 0}
		}
		sum = sum.add(dd{-1, 0}.div(x))
		x = x.addFloat(1)
	}
	w := 1 / x.hi
	z := float64(w * w)
	r := logDD(x).add(dd{-0.5, 0}.div(x)).add(sum)
	return r.addFloat(float64(-z * horner(digammaCoef[:], z)))
}

// Trigamma returns ψ′(a): +Inf at 0 and the negative integers, NaN at -Inf.
// Error ≤ 2 ULP.
func Trigamma(a float64) float64 {
	switch {
	case a == 0:
		return math.Inf(1)
	case a != a:
		return a
	case a > math.MaxFloat64:
		return 0
	case a < -math.MaxFloat64:
		return math.NaN()
	case a > 0:
		return trigammaPositive(dd{a, 0}).float()
	}
	s := sinPi(-a)
	if s.hi == 0 {
		return math.Inf(1)
	}
	// ψ′(a) = π²/sin²(πa) - ψ′(1-a).
	q := dd{piHi, piLo}.div(s)
	if q.hi > 0x1p30 {
		return float64(q.hi * q.hi)
	}
	return q.mul(q).add(trigammaPositive(twoSum(1, -a)).neg()).float()
}

func trigammaPositive(x dd) dd {
	if x.hi < 0x1p-60 {
		w := 1 / x.hi
		return dd{float64(w * w), 0}
	}
	var sum dd
	for x.hi < polygammaFar {
		w := dd{1, 0}.div(x)
		sum = sum.add(w.mul(w))
		x = x.addFloat(1)
	}
	w := 1 / x.hi
	z := float64(w * w)
	tail := math.FMA(float64(z*w), horner(trigammaCoef[:], z), float64(0.5*z))
	return dd{1, 0}.div(x).addFloat(tail).add(sum)
}

// Tetragamma returns ψ″(a), for the derivative of Trigamma, and NaN at 0, at the negative integers
// and at -Inf. For a > 0 the error is ≤ 4 ULP. For a < 0 it is ≤ 4 ULP of the larger of the result
// and ψ″(1-a).
func Tetragamma(a float64) float64 {
	switch {
	case a != a || a == 0:
		return math.NaN()
	case a > math.MaxFloat64:
		return math.Copysign(0, -1)
	case a > 0:
		return tetragammaPositive(dd{a, 0}).float()
	case math.Floor(a) == a:
		return math.NaN()
	}
	// ψ″(a) = ψ″(1-a) - 2π³ cos(πa)/sin³(πa), from ψ(1-a) - ψ(a) = π cot(πa).
	r := tetragammaPositive(twoSum(1, -a))
	if math.Floor(a)+0.5 == a {
		return r.neg().neg().float()
	}
	c := dd{piHi, piLo}.div(tanPi(a))
	s := dd{piHi, piLo}.div(sinPi(-a))
	return r.add(c.mul(s).mul(s).scale(-2)).float()
}

func tetragammaPositive(x dd) dd {
	if x.hi < 0x1p-60 {
		w := 1 / x.hi
		return dd{float64(-2 * w * w * w), 0}
	}
	var sum dd
	for x.hi < polygammaFar {
		w := dd{1, 0}.div(x)
		sum = sum.add(w.mul(w).mul(w).scale(-2))
		x = x.addFloat(1)
	}
	w := 1 / x.hi
	z := float64(w * w)
	tail := math.FMA(float64(-z*z), horner(tetragammaCoef[:], z), float64(-z*w))
	return sum.addFloat(tail).addFloat(-z)
}
