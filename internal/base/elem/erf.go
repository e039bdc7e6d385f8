package elem

import "math"

// Erf returns the error function. Error ≤ 1 ULP.
func Erf(a float64) float64 {
	x := math.Abs(a)
	switch {
	case a == 0 || a != a:
		return a
	case x <= 0.84: // erfc(0.84) < ¼, where its error counts less
		return erfSmall(a)
	case x > 6:
		return math.Copysign(1, a)
	}
	return math.Copysign(1-erfcLarge(x), a)
}

// erfSmall returns erf(x) for |x| ≤ 1.
func erfSmall(x float64) float64 {
	z := float64(x * x)
	p := horner(erfCoef[1:], z)
	// x·(c + (cLo + z·p)), the product with c last.
	return math.FMA(x, erfCoef[0], float64(x*math.FMA(z, p, erfCoefLo)))
}

// Erfc returns the complementary error function 1 - erf(a). Error ≤ 1.5 ULP.
func Erfc(a float64) float64 {
	switch {
	case a != a:
		return a
	case a > 28:
		return 0
	case a < -6:
		return 2
	case a < -1:
		return 2 - erfcLarge(-a)
	case a <= 0.5:
		e := erfTwoWords(a)
		return e.neg().addFloat(1).float()
	}
	return erfcLarge(a)
}

// erfTwoWords is erfSmall with a second word, accurate to about 2⁻⁵⁶.
func erfTwoWords(x float64) dd {
	z := float64(x * x)
	p := horner(erfCoef[1:], z)
	h := twoMul(x, erfCoef[0])
	return twoSum(h.hi, math.FMA(x, math.FMA(z, p, erfCoefLo), h.lo))
}

// erfcLarge returns erfc(x) for ½ ≤ x ≤ 28 as
// exp(-x²)·P(t)/(1+2x), t = (x-4)/(x+4), after M. M. Shepherd and J. G.
// Laframboise (Math. Comp. 36:249, 1981, doi:10.1090/S0025-5718-1981-0595058-X).
func erfcLarge(x float64) float64 {
	t := (x - 4) / (x + 4)
	// c + (cLo + t·p): only the last addition rounds by an amount that matters.
	c := erfcCoef[0]
	v := twoSum(c, math.FMA(t, horner(erfcCoef[1:], t), erfcCoefLo))
	v = v.div(twoSum(1, x+x))
	s := twoMul(x, x)
	k, q := expReduce(-s.hi, -s.lo)
	r := onePlus(q).mul(v)
	return expScale(r.hi+r.lo, k)
}
