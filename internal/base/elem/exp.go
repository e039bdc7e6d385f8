package elem

import "math"

// Bounds of exp: above expMax it overflows, below expMin it is less than half
// the smallest denormal.
const (
	expMax = 709.782712893384
	expMin = -745.1332191019412
)

// toInteger is added and then subtracted to round |x| < 2⁵¹ to the nearest integer.
const toInteger = 0x1.8p52

// expReduce returns k and q = exp(r) - 1, where x + xl = k·ln 2 + r and |r| ≤ ln(2)/2 (slightly
// more at the ends). It needs |x| < 1100 and |xl| ≤ ulp(x). The error of q is below 2⁻⁵⁶ of q.
func expReduce(x, xl float64) (k float64, q dd) {
	k = math.FMA(x, log2E, toInteger) - toInteger
	h := math.FMA(-k, ln2Short, x) // exact
	c := math.FMA(k, ln2Rest, -xl)
	r := h - c
	rl := (h - r) - c
	p := expCoef[11]
	p = math.FMA(p, r, expCoef[10])
	p = math.FMA(p, r, expCoef[9])
	p = math.FMA(p, r, expCoef[8])
	p = math.FMA(p, r, expCoef[7])
	p = math.FMA(p, r, expCoef[6])
	p = math.FMA(p, r, expCoef[5])
	p = math.FMA(p, r, expCoef[4])
	p = math.FMA(p, r, expCoef[3])
	p = math.FMA(p, r, expCoef[2])
	p = math.FMA(p, r, expCoef[1])
	p = math.FMA(p, r, expCoef[0])
	z := float64(r * r)
	t := math.FMA(z, p, math.FMA(rl, r, rl))
	s := r + t
	return k, dd{s, (r - s) + t}
}

// onePlus returns 1 + q, normalised, for |q| < 1.
func onePlus(q dd) dd {
	s := 1 + q.hi
	return dd{s, ((1 - s) + q.hi) + q.lo}
}

// expScale returns m·2ᵏ for an integer |k| ≤ 1100, in two steps that are exact where the result is
// normal.
func expScale(m, k float64) float64 {
	i := int(k)
	j := i >> 1
	return float64(float64(m*pow2(j)) * pow2(i-j))
}

// expDD returns exp(x + xl), in one word, for any x and |xl| ≤ ulp(x).
func expDD(x, xl float64) float64 {
	switch {
	case x != x:
		return x
	case x > 720:
		return math.Inf(1)
	case x < -760:
		return 0
	}
	k, q := expReduce(x, xl)
	e := onePlus(q)
	return expScale(e.hi+e.lo, k)
}

// Exp returns e to the power a. Error ≤ 0.6 ULP (1 ULP where the result is denormal).
func Exp(a float64) float64 {
	x := a
	if !(x < expMax) { // also for NaN
		x = expMax
	}
	if x < expMin {
		x = expMin
	}
	k, q := expReduce(x, 0)
	e := onePlus(q)
	r := expScale(e.hi+e.lo, k)
	switch {
	case a > expMax:
		r = math.Inf(1)
	case a < expMin:
		r = 0
	case a != a:
		r = a
	}
	return r
}

// expm1DD returns exp(x) - 1 for |x| ≤ 700. Its error is below 2⁻⁵⁵ of it.
func expm1DD(x float64) dd {
	k, q := expReduce(x, 0)
	s := pow2(int(k))
	u := twoSum(s, -1)
	v := twoSum(u.hi, float64(s*q.hi))
	return quickTwoSum(v.hi, math.FMA(s, q.lo, v.lo+u.lo))
}

// growth is expm1DD for x ≥ 0, where the greater terms of sums are known.
func growth(x float64) dd {
	k, q := expReduce(x, 0)
	s := pow2(int(k))
	u := quickTwoSum(s, -1)
	v := quickTwoSum(u.hi, float64(s*q.hi))
	return quickTwoSum(v.hi, math.FMA(s, q.lo, v.lo+u.lo))
}

// Expm1 returns exp(a) - 1, accurate near 0. Error ≤ 0.9 ULP.
func Expm1(a float64) float64 {
	x := a
	if !(x < 60) { // also for NaN
		x = 60
	}
	if x < -60 {
		x = -60
	}
	r := expm1DD(x).float()
	switch {
	case a == 0 || a != a:
		r = a
	case a > 60: // the 1 is below half an ulp
		r = Exp(a)
	}
	return r
}

// expPair returns exp(x) and exp(-x) in two words each, for 0 ≤ x ≤ 700.
func expPair(x float64) (e, inv dd) {
	k, q := expReduce(x, 0)
	e = onePlus(q).scale(pow2(int(k)))
	return e, dd{1, 0}.div(e)
}

// Sinh returns the hyperbolic sine. Error ≤ 0.8 ULP.
func Sinh(a float64) float64 {
	x := math.Abs(a)
	var r float64
	switch {
	case a != a || x < 0x1p-28: // x²/6 is below a quarter ulp
		return a
	case x < 40:
		e := growth(x)
		r = float64(0.5 * e.add(e.div(e.addFloat(1))).float())
	default:
		r = halfExp(x)
	}
	return math.Copysign(r, a)
}

// Cosh returns the hyperbolic cosine. Error ≤ 0.7 ULP.
func Cosh(a float64) float64 {
	x := math.Abs(a)
	if x < 40 {
		e, inv := expPair(x)
		return float64(0.5 * e.add(inv).float())
	}
	return halfExp(x)
}

// halfExp returns exp(x)/2 for x ≥ 40 or NaN; it overflows later than Exp.
func halfExp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 711:
		return math.Inf(1)
	}
	k, q := expReduce(x, 0)
	e := onePlus(q)
	return expScale(e.hi+e.lo, k-1)
}

// Tanh returns the hyperbolic tangent, (e - 1)/(e + 1) with e = exp(2a). Error ≤ 0.8 ULP.
//
// With e = 2ᵏ·(1 + s + t), numerator and denominator are 2ᵏ·s and greater numbers, 2ᵏ ∓ 1. What their sums lose enters
// the quotient. Where 2ᵏ ∓ 1 may not be exact, the result is 1 - 2/(e + 1).
func Tanh(a float64) float64 {
	x := math.Abs(a)
	if !(x < 22) { // also for NaN
		x = 22
	}
	x += x
	k, p := expReduce(x, 0)
	two := pow2(int(k))
	s, t := float64(p.hi*two), float64(p.lo*two)
	num := quickTwoSum(two-1, s)
	den := quickTwoSum(two+1, s)
	y := dd{num.hi, num.lo + t}.quotient(dd{den.hi, den.lo + t})
	if math.Abs(a) > 16 {
		y = math.FMA(-2, 1/den.hi, 1)
	}
	y = math.Copysign(y, a)
	if a != a || math.Abs(a) < 0x1p-28 { // x²/3 is below half an ulp
		y = a
	}
	return y
}

// Sigmoid returns 1/(1 + exp(-a)). Error ≤ 0.7 ULP (1 ULP where the result is denormal).
func Sigmoid(a float64) float64 {
	x := -math.Abs(a)
	if !(x > -60) { // also for NaN
		x = -60
	}
	k, q := expReduce(x, 0)
	e := onePlus(q).scale(pow2(int(k)))
	num := dd{1, 0}
	if a < 0 {
		num = e
	}
	d := quickTwoSum(1, e.hi)
	d = quickTwoSum(d.hi, d.lo+e.lo)
	r := num.quotient(d)
	switch {
	case a < -60: // 1 + exp(a) rounds to 1
		r = Exp(a)
	case a != a:
		r = a
	}
	return r
}
