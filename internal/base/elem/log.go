package elem

import "math"

// Logarithms split x = 2ᵏ·m with √½ ≤ m < √2 and use
// log(m) = 2 atanh(s), s = (m-1)/(m+1).

const (
	sqrtHalfBits = 0x3fe6a09e667f3bcd
	oneBits      = 0x3ff0000000000000
	fractionMask = 1<<52 - 1
	minNormal    = 0x1p-1022
)

// split returns k and m with x = 2ᵏ·m, √½ ≤ m < √2, for a positive finite x.
func split(x float64) (k, m float64) {
	bias := 1023
	if x < minNormal {
		x = float64(x * 0x1p54)
		bias += 54
	}
	b := math.Float64bits(x) + (oneBits - sqrtHalfBits)
	k = float64(int(b>>52) - bias)
	return k, math.Float64frombits(b&fractionMask + sqrtHalfBits)
}

// logTailOf returns s·(f²/2 + R) with s = f/(2+f) and R = z·P(z), z = s²:
// log(1+f) = f - f²/2 + s·(f²/2 + R).
func logTailOf(f, half float64) float64 {
	s := f / (2 + f)
	z := float64(s * s)
	p := logCoef[7]
	p = math.FMA(p, z, logCoef[6])
	p = math.FMA(p, z, logCoef[5])
	p = math.FMA(p, z, logCoef[4])
	p = math.FMA(p, z, logCoef[3])
	p = math.FMA(p, z, logCoef[2])
	p = math.FMA(p, z, logCoef[1])
	p = math.FMA(p, z, logCoef[0])
	return float64(s * math.FMA(z, p, half))
}

// Log returns the natural logarithm: -Inf for 0, NaN for a < 0. Error ≤ 0.9 ULP.
func Log(a float64) float64 {
	x := a
	if !(x > 0) || x > math.MaxFloat64 {
		x = 1
	}
	k, m := split(x)
	f := m - 1
	half := float64(float64(0.5*f) * f)
	lo := math.FMA(k, ln2Rest, logTailOf(f, half))
	kl := float64(k * ln2Short) // exact
	w := kl + f
	r := w + (((kl - w) + f) + (lo - half))
	return logSpecial(a, r)
}

// logSpecial returns r, or the limit where a is not a positive finite number.
func logSpecial(a, r float64) float64 {
	switch {
	case a == 0:
		return math.Inf(-1)
	case a < 0:
		return math.NaN()
	case !(a <= math.MaxFloat64): // +Inf, NaN
		return a
	}
	return r
}

// Log1p returns log(1 + a), accurate near 0: -Inf for -1, NaN below. Error ≤ 0.9 ULP.
func Log1p(a float64) float64 {
	x := a
	if !(x > -1) || x > math.MaxFloat64 {
		x = 0
	}
	u := twoSum(1, x)
	k, m := split(u.hi)
	if k > 60 {
		u.lo = 0 // far below half an ulp, and 2⁻ᵏ might be denormal
	}
	f := m - 1
	rest := float64(u.lo*pow2(int(-math.Min(k, 60)))) / m
	half := float64(float64(0.5*f) * f)
	lo := math.FMA(k, ln2Rest, logTailOf(f, half)) + rest
	kl := float64(k * ln2Short)
	w := kl + f
	r := w + (((kl - w) + f) + (lo - half))
	switch {
	case a == 0:
		return a
	case !(a > -1) || a > math.MaxFloat64:
		return logSpecial(1+a, r)
	}
	return r
}

// logDD returns the logarithm of a positive normalised x with x.hi finite and
// not denormal, to about 2⁻⁶⁸ of it.
func logDD(x dd) dd {
	k, m := split(x.hi)
	ml := 0.0
	if x.lo != 0 {
		// Scaling by 2⁻ᵏ in two exact steps.
		i := int(-k)
		j := i >> 1
		ml = float64(float64(x.lo*pow2(j)) * pow2(i-j))
	}
	f := m - 1
	d := 2 + f
	dl := ((2 - d) + f) + ml
	s := dd{hi: f / d}
	s.lo = (math.FMA(-s.hi, d, f) + math.FMA(-s.hi, dl, ml)) / d
	s = quickTwoSum(s.hi, s.lo)
	z := s.mul(s)
	p := logTail[7]
	p = math.FMA(p, z.hi, logTail[6])
	p = math.FMA(p, z.hi, logTail[5])
	p = math.FMA(p, z.hi, logTail[4])
	p = math.FMA(p, z.hi, logTail[3])
	p = math.FMA(p, z.hi, logTail[2])
	p = math.FMA(p, z.hi, logTail[1])
	p = math.FMA(p, z.hi, logTail[0])
	c := quickTwoSum(twoFifthsHi, math.FMA(z.hi, p, twoFifthsLo))
	c = c.mul(z)
	c = quickTwoSum(twoThirdsHi, c.hi).addFloat(c.lo + twoThirdsLo)
	c = c.mul(z).mul(s)
	l := s.scale(2).add(c)
	kl := quickTwoSum(float64(k*ln2Short), float64(k*ln2Rest))
	return kl.add(l)
}

// logAny returns the logarithm of any positive finite x, denormal ones included, in two words.
func logAny(x float64) dd {
	if x < minNormal {
		return logDD(dd{float64(x * 0x1p54), 0}).add(dd{float64(-54 * ln2Short), float64(-54 * ln2Rest)})
	}
	return logDD(dd{x, 0})
}

// Log10 returns the decimal logarithm, exact for powers of ten: -Inf for 0,
// NaN for a < 0. Error ≤ 0.6 ULP.
func Log10(a float64) float64 {
	if !(a > 0) || a > math.MaxFloat64 {
		return logSpecial(a, 0)
	}
	return logAny(a).mul(dd{log10EHi, log10ELo}).float()
}

// Asinh returns the inverse hyperbolic sine. Error ≤ 0.7 ULP.
func Asinh(a float64) float64 {
	x := math.Abs(a)
	var r dd
	switch {
	case !(x <= math.MaxFloat64) || x < 0x1p-28: // x²/6 is below a quarter ulp
		return a
	case x > 0x1p30: // log(2x) + 1/(4x²)
		r = logDD(dd{x, 0}).add(dd{ln2Hi, ln2Lo})
	default:
		// asinh x = log(1 + (x + x²/(1 + √(1+x²)))).
		q := twoMul(x, x)
		w := q.addFloat(1).sqrt().addFloat(1)
		r = log1pDD(q.div(w).addFloat(x))
	}
	return math.Copysign(r.float(), a)
}

// log1pDD returns log(1 + u) for u > 2⁻³⁰ far below overflow.
func log1pDD(u dd) dd { return logDD(u.addFloat(1)) }

// Acosh returns the inverse hyperbolic cosine; NaN for a < 1. Error ≤ 0.7 ULP.
func Acosh(a float64) float64 {
	switch {
	case a < 1:
		return math.NaN()
	case a == 1:
		return 0
	case !(a <= math.MaxFloat64):
		return a
	case a > 0x1p30:
		return logDD(dd{a, 0}).add(dd{ln2Hi, ln2Lo}).float()
	}
	// acosh x = log(1 + (t + √(t(2 + t)))), t = x - 1 exactly.
	t := twoSum(a, -1)
	return log1pDD(t.add(t.mul(t.addFloat(2)).sqrt())).float()
}

// Atanh returns the inverse hyperbolic tangent: ±Inf at ±1, NaN beyond. Error ≤ 0.7 ULP.
func Atanh(a float64) float64 {
	x := math.Abs(a)
	switch {
	case x > 1:
		return math.NaN()
	case x == 1:
		return math.Copysign(math.Inf(1), a)
	case x != x || x < 0x1p-28: // x²/3 is below half an ulp
		return a
	}
	l := logDD(twoSum(1, x).div(twoSum(1, -x)))
	return math.Copysign(float64(0.5*l.float()), a)
}
