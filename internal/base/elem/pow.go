package elem

import "math"

// Cbrt returns the cube root. Error ≤ 0.6 ULP.
func Cbrt(a float64) float64 {
	x := math.Abs(a)
	if x == 0 || !(x <= math.MaxFloat64) {
		return a
	}
	e := 0
	if x < minNormal {
		x = float64(x * 0x1p54)
		e = -18
	}
	b := math.Float64bits(x)
	k := int(b>>52) - 1023 + 3*1023 // positive, so that division rounds down
	m := math.Float64frombits(b&fractionMask | oneBits)
	y := float64(horner(cbrtCoef[:], m) * cbrtPow[k%3])
	m = float64(m * pow2(k%3)) // x = m·8^(k/3), 1 ≤ m < 8
	// Halley's step triples the 13 bits; the last one, in two words, rounds.
	c := float64(y * float64(y*y))
	y = y * (c + (m + m)) / (c + (c + m))
	s := twoMul(y, y)
	t := s.mulFloat(y)
	y += ((m - t.hi) - t.lo) / (3 * s.hi)
	return math.Copysign(float64(y*pow2(k/3-1023+e)), a)
}

// Hypot returns √(a² + b²), without overflow or underflow on the way. It is Inf where an operand is
// infinite, even if the other is NaN. Error ≤ 0.6 ULP (0.8 ULP where the result is denormal).
//
// Source: C. F. Borges, "Algorithm 1014", ACM TOMS 47:9, 2021, doi:10.1145/3428446.
func Hypot(a, b float64) float64 {
	x, y := math.Abs(a), math.Abs(b)
	if y > x {
		x, y = y, x
	}
	switch {
	case x > math.MaxFloat64 || y > math.MaxFloat64:
		return math.Inf(1)
	case x != x || y != y:
		return math.NaN()
	case y <= float64(x*0x1p-54) || x == 0:
		return x + y
	}
	scale := 1.0
	switch {
	case x > 0x1p510:
		x, y, scale = float64(x*0x1p-600), float64(y*0x1p-600), 0x1p600
	case y < 0x1p-450:
		x, y, scale = float64(x*0x1p600), float64(y*0x1p600), 0x1p-600
	}
	yy := float64(y * y)
	h := math.Sqrt(math.FMA(x, x, yy))
	hh, xx := float64(h*h), float64(x*x)
	d := math.FMA(-y, y, hh-xx) + math.FMA(h, h, -hh) - math.FMA(x, x, -xx)
	return float64((h - d/(2*h)) * scale)
}

// Pow returns a to the power b, with the special cases of IEEE 754's pow: pow(x, ±0) = pow(1, y) =
// 1 even for NaN. A negative base needs an integer exponent; otherwise the result is NaN. Error ≤
// 0.7 ULP (1 ULP where the result is denormal).
func Pow(a, b float64) float64 {
	if b == 0 || a == 1 {
		return 1
	}
	if a != a || b != b {
		return math.NaN()
	}
	x := math.Abs(a)
	odd := isOdd(b)
	if x == 0 || x > math.MaxFloat64 || math.Abs(b) > math.MaxFloat64 {
		return powSpecial(a, b, odd)
	}
	sign := 1.0
	if a < 0 {
		if math.Trunc(b) != b {
			return math.NaN()
		}
		if odd {
			sign = -1
		}
	}
	l := logAny(x)
	h := float64(l.hi * b)
	switch {
	case h > 720:
		return math.Inf(int(sign))
	case h < -760:
		return float64(sign * 0)
	}
	e := twoMul(l.hi, b)
	return float64(sign * expDD(e.hi, math.FMA(l.lo, b, e.lo)))
}

// isOdd reports whether b is an odd integer.
func isOdd(b float64) bool {
	x := math.Abs(b)
	if x >= 0x1p53 || math.Trunc(x) != x {
		return false
	}
	return int64(x)&1 == 1
}

// powSpecial is Pow for a base 0 or ±Inf, or an exponent ±Inf.
func powSpecial(a, b float64, odd bool) float64 {
	x := math.Abs(a)
	if math.Abs(b) > math.MaxFloat64 {
		switch {
		case x == 1:
			return 1
		case (x > 1) == (b > 0):
			return math.Inf(1)
		}
		return 0
	}
	r := 0.0
	if (x == 0) == (b < 0) {
		r = math.Inf(1)
	}
	if odd {
		return math.Copysign(r, a)
	}
	return r
}

// Powi returns a to the integer power n, where Powi(a, 0) is 1. Error ≤ 1 ULP for |n| ≤ 2, 3 ULP
// for |n| ≤ 4, else 0.7 ULP (1 ULP more where the result is denormal).
//
// Powers up to the fourth are plain products, with a reciprocal for negative ones. Others go
// through the binary digits of |n| in double words.
func Powi(a float64, n int) float64 {
	m := n
	if m < 0 {
		m = -m
	}
	var p float64
	switch m {
	case 0:
		return 1
	case 1:
		p = a
	case 2:
		p = float64(a * a)
	case 3:
		p = float64(float64(a*a) * a)
	case 4:
		p = float64(a * a)
		p = float64(p * p)
	default:
		return powiLong(a, n)
	}
	if n > 0 || n == -1 {
		if n < 0 {
			return 1 / p
		}
		return p
	}
	if !tame(p) {
		return Pow(a, float64(n)) // the power leaves the range of normal numbers before the reciprocal does
	}
	return 1 / p
}

// tame reports whether p and 1/p are normal numbers with room to spare.
func tame(p float64) bool {
	p = math.Abs(p)
	return p > 0x1p-900 && p < 0x1p900
}

// powiLong is Powi for |n| > 4.
func powiLong(a float64, n int) float64 {
	m := uint(n)
	if n < 0 {
		m = -m
	}
	if m > 1<<20 {
		return Pow(a, float64(n))
	}
	base := dd{a, 0}
	p := dd{1, 0}
	for {
		if m&1 == 1 {
			p = p.mul(base)
		}
		m >>= 1
		if m == 0 {
			break
		}
		base = base.mul(base)
		if !tame(base.hi) {
			return Pow(a, float64(n)) // also for 0, Inf, NaN
		}
	}
	if !tame(p.hi) {
		return Pow(a, float64(n))
	}
	if n < 0 {
		return dd{1, 0}.div(p).float()
	}
	return p.float()
}
