package elem

import "math"

// atanKernel returns atan(q) in two words for 0 ≤ q ≤ 1, to about 2⁻⁶⁰ of it. It starts from the
// nearest tabulated point c = j/4: atan(q) = atan(c) + atan(t) with t = (q-c)/(1+qc).
func atanKernel(q dd) dd {
	j := math.FMA(q.hi, 4, toInteger) - toInteger
	c := float64(0.25 * j)
	qc := twoMul(q.hi, c)
	d := quickTwoSum(1, qc.hi)
	d.lo += math.FMA(q.lo, c, qc.lo)
	n := q.hi - c // exact
	h := n / d.hi
	l := (math.FMA(-h, d.hi, n) + math.FMA(-h, d.lo, q.lo)) / d.hi
	z := float64(h * h)
	p := atanCoef[6]
	p = math.FMA(p, z, atanCoef[5])
	p = math.FMA(p, z, atanCoef[4])
	p = math.FMA(p, z, atanCoef[3])
	p = math.FMA(p, z, atanCoef[2])
	p = math.FMA(p, z, atanCoef[1])
	p = math.FMA(p, z, atanCoef[0])
	i := int(j)
	s := quickTwoSum(atanHi[i], h)
	return quickTwoSum(s.hi, s.lo+math.FMA(float64(h*z), p, atanLo[i]+l))
}

// Atan returns the arc tangent. Error ≤ 0.6 ULP.
func Atan(a float64) float64 {
	x := math.Abs(a)
	if x < 0x1p-28 || x != x { // x²/3 is below half an ulp
		return a
	}
	var r dd
	if x > 1 {
		if x > 0x1p60 {
			x = 0x1p60
		}
		q := 1 / x
		r = dd{halfPiHi, halfPiLo}.add(atanKernel(dd{q, math.FMA(-q, x, 1) / x}).neg())
	} else {
		r = atanKernel(dd{x, 0})
	}
	return math.Copysign(r.float(), a)
}

// Atan2 returns the angle of the point (x, y) in [-π, π], with the special
// cases of IEEE 754's atan2. Error ≤ 0.6 ULP (1 ULP where the result is
// denormal).
func Atan2(y, x float64) float64 {
	if x != x || y != y {
		return math.NaN()
	}
	ax, ay := math.Abs(x), math.Abs(y)
	if ax > math.MaxFloat64 && ay > math.MaxFloat64 {
		ax, ay = 1, 1
	}
	lo, hi := ay, ax
	if ay > ax {
		lo, hi = ax, ay
	}
	var r dd
	switch {
	case lo == 0 || hi > math.MaxFloat64:
	case hi > 0x1p500:
		r = atanKernel(ratio(float64(lo*0x1p-600), float64(hi*0x1p-600)))
	case lo < 0x1p-500:
		r = atanKernel(ratio(float64(lo*0x1p500), float64(hi*0x1p500)))
	default:
		r = atanKernel(ratio(lo, hi))
	}
	if lo < float64(hi*0x1p-30) {
		r = dd{lo / hi, 0} // for tiny ratios the quotient is the angle
		if hi > math.MaxFloat64 {
			r = dd{}
		}
	}
	if ay > ax {
		r = dd{halfPiHi, halfPiLo}.add(r.neg())
	}
	if math.Signbit(x) {
		r = dd{piHi, piLo}.add(r.neg())
	}
	return math.Copysign(r.float(), y)
}

// ratio returns a/b in two words.
func ratio(a, b float64) dd {
	q := a / b
	return dd{q, math.FMA(-q, b, a) / b}
}

// asinKernel returns asin(x) in two words for 0 ≤ x ≤ ½, z = x².
func asinKernel(x dd, z float64) dd {
	p := horner(asinCoef[:], z)
	return quickTwoSum(x.hi, math.FMA(float64(x.hi*z), p, x.lo))
}

// asinHalf returns asin(√((1-x)/2)) in two words for ½ ≤ x ≤ 1. Near 1 the arc sine is π/2 less
// twice that.
func asinHalf(x float64) dd {
	z := float64(0.5 * (1 - x)) // exact
	if z == 0 {
		return dd{}
	}
	return asinKernel(dd{z, 0}.sqrt(), z)
}

// Asin returns the arc sine, and NaN outside [-1, 1]. Error ≤ 0.6 ULP.
func Asin(a float64) float64 {
	x := math.Abs(a)
	switch {
	case x > 1:
		return math.NaN()
	case x < 0x1p-27 || x != x: // x²/6 is below a quarter ulp
		return a
	case x <= 0.5:
		return math.Copysign(asinKernel(dd{x, 0}, float64(x*x)).hi, a)
	}
	r := dd{halfPiHi, halfPiLo}.add(asinHalf(x).scale(-2))
	return math.Copysign(r.float(), a)
}

// Acos returns the arc cosine, and NaN outside [-1, 1]. Error ≤ 0.6 ULP.
func Acos(a float64) float64 {
	x := math.Abs(a)
	switch {
	case !(x <= 1):
		return math.NaN()
	case x <= 0.5:
		r := asinKernel(dd{x, 0}, float64(x*x))
		if a > 0 {
			r = r.neg()
		}
		return dd{halfPiHi, halfPiLo}.add(r).float()
	}
	r := asinHalf(x).scale(2)
	if a < 0 {
		r = dd{piHi, piLo}.add(r.neg())
	}
	return r.float()
}
