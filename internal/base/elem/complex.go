package elem

import "math"

// The complex versions serve complex-step differentiation. A program run at x + ih with a tiny h
// (1e-30 … 1e-200) gives f(x) in the real part and h·f′(x) in the imaginary part. Both have full
// relative accuracy, because nothing is subtracted.
//
// Domains, branches and comparisons are those of the real function at the real part: CLog of a
// negative number is NaN, and CAbs is ±z. The arithmetic functions, exponentials, logarithms and
// circular and hyperbolic functions, and their integer and real powers, hold for any imaginary
// part. The others, marked "first order", are f(x) + i f′(x) Im, and drop terms of order Im².

const (
	twoOverSqrtPi = 1.1283791670955125738961589031215452
)

// first returns f + i·df·im. Where im is 0 the imaginary part is 0, whatever df is.
func first(f, df, im float64) complex128 {
	return complex(f, ZeroMul(im, df))
}

// CNeg returns -a.
func CNeg(a complex128) complex128 { return complex(-real(a), -imag(a)) }

// CAbs returns a where its real part is ≥ 0, else -a: the derivative of |x| at
// 0 is taken as 0.
func CAbs(a complex128) complex128 {
	return first(Abs(real(a)), Sign(real(a)), imag(a))
}

// CSign returns the sign of the real part.
func CSign(a complex128) complex128 { return complex(Sign(real(a)), 0) }

// CNot returns 1 - a, for a condition a.
func CNot(a complex128) complex128 { return complex(Not(real(a)), 0) }

// CAdd returns a + b.
func CAdd(a, b complex128) complex128 { return a + b }

// CSub returns a - b.
func CSub(a, b complex128) complex128 { return a - b }

// CMul returns a·b. A zero imaginary part contributes nothing, even where the other factor is
// infinite.
func CMul(a, b complex128) complex128 {
	re := float64(real(a)*real(b)) - float64(ZeroMul(imag(a), imag(b)))
	im := ZeroMul(imag(b), real(a)) + ZeroMul(imag(a), real(b))
	return complex(re, im)
}

// CDiv returns a/b.
func CDiv(a, b complex128) complex128 {
	c, d := real(b), imag(b)
	if d == 0 {
		return complex(real(a)/c, divZero(imag(a), c))
	}
	if math.Abs(c) >= math.Abs(d) {
		r := d / c
		den := c + float64(d*r)
		return complex((real(a)+float64(imag(a)*r))/den, (imag(a)-float64(real(a)*r))/den)
	}
	r := c / d
	den := float64(c*r) + d
	return complex((float64(real(a)*r)+imag(a))/den, (float64(imag(a)*r)-real(a))/den)
}

// divZero returns a/b, and 0 where a is 0 whatever b is.
func divZero(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return a / b
}

// CRecip returns 1/a.
func CRecip(a complex128) complex128 { return CDiv(1, a) }

// CSqr returns a·a.
func CSqr(a complex128) complex128 { return CMul(a, a) }

// CFMA returns a·b + c. For real operands the real part is rounded once.
func CFMA(a, b, c complex128) complex128 {
	re := math.FMA(real(a), real(b), real(c)) - float64(ZeroMul(imag(a), imag(b)))
	im := ZeroMul(imag(b), real(a)) + ZeroMul(imag(a), real(b)) + imag(c)
	return complex(re, im)
}

// CZeroMul returns a·b, and 0 where a is 0 whatever b is.
func CZeroMul(a, b complex128) complex128 {
	if a == 0 {
		return 0
	}
	return CMul(a, b)
}

// CSqrt returns the square root of a, and NaN where the real part is negative.
func CSqrt(a complex128) complex128 {
	x, y := real(a), imag(a)
	if x < 0 {
		return complex(math.NaN(), math.NaN())
	}
	if y == 0 {
		return complex(math.Sqrt(x), 0)
	}
	// Re² = (|a| + x)/2, where both terms are nonnegative. Each is halved first, against overflow.
	re := math.Sqrt(float64(0.5*x) + float64(0.5*Hypot(x, y)))
	return complex(re, y/(2*re))
}

// CCbrt returns the cube root of a (first order).
func CCbrt(a complex128) complex128 {
	r := Cbrt(real(a))
	return first(r, 1/(3*r)/r, imag(a))
}

// CExp returns e to the power a.
func CExp(a complex128) complex128 {
	e := Exp(real(a))
	if imag(a) == 0 {
		return complex(e, 0)
	}
	return complex(float64(e*Cos(imag(a))), float64(e*Sin(imag(a))))
}

// CExpm1 returns e to the power a, less 1.
func CExpm1(a complex128) complex128 {
	x, y := real(a), imag(a)
	m := Expm1(x)
	if y == 0 {
		return complex(m, 0)
	}
	// exp(x)cos(y) - 1 = expm1(x)cos(y) - 2 sin²(y/2).
	s := Sin(float64(0.5 * y))
	return complex(float64(m*Cos(y))-float64(2*s*s), float64(Exp(x)*Sin(y)))
}

// CLog returns the natural logarithm of a, and NaN where the real part is negative.
func CLog(a complex128) complex128 {
	x, y := real(a), imag(a)
	if x < 0 {
		return complex(math.NaN(), math.NaN())
	}
	if y == 0 {
		return complex(Log(x), 0)
	}
	return complex(Log(Hypot(x, y)), Atan2(y, x))
}

// CLog1p returns the natural logarithm of 1 + a, and NaN where the real part of 1 + a is negative.
func CLog1p(a complex128) complex128 {
	x, y := real(a), imag(a)
	if x < -1 {
		return complex(math.NaN(), math.NaN())
	}
	if y == 0 {
		return complex(Log1p(x), 0)
	}
	if math.Abs(y) < 1e-20*math.Abs(1+x) {
		return complex(Log1p(x), y/(1+x))
	}
	// |1+a|² = 1 + (2x + x² + y²).
	u := float64(x*(2+x)) + float64(y*y)
	return complex(float64(0.5*Log1p(u)), Atan2(y, 1+x))
}

// CLog10 returns the decimal logarithm of a, and NaN where the real part is negative.
func CLog10(a complex128) complex128 {
	x, y := real(a), imag(a)
	if x < 0 {
		return complex(math.NaN(), math.NaN())
	}
	if y == 0 {
		return complex(Log10(x), 0)
	}
	return complex(Log10(Hypot(x, y)), float64(log10EHi*Atan2(y, x)))
}

// CSin returns the sine of a.
func CSin(a complex128) complex128 {
	x, y := real(a), imag(a)
	if y == 0 {
		return complex(Sin(x), 0)
	}
	return complex(float64(Sin(x)*Cosh(y)), float64(Cos(x)*Sinh(y)))
}

// CCos returns the cosine of a.
func CCos(a complex128) complex128 {
	x, y := real(a), imag(a)
	if y == 0 {
		return complex(Cos(x), 0)
	}
	return complex(float64(Cos(x)*Cosh(y)), -float64(Sin(x)*Sinh(y)))
}

// CTan returns the tangent of a.
func CTan(a complex128) complex128 {
	x, y := real(a), imag(a)
	if y == 0 {
		return complex(Tan(x), 0)
	}
	// tan(x+iy) = (t + iu)/(1 - itu) with t = tan x, u = tanh y.
	t, u := Tan(x), Tanh(y)
	return tangentSum(t, u, 1)
}

// tangentSum returns (t + iu)/(1 - i·s·tu) with its parts written out:
// Re = t(1 - s·u²)/(1 + t²u²), Im = u(1 + s·t²)/(1 + t²u²).
func tangentSum(t, u, s float64) complex128 {
	tu := float64(t * u)
	den := 1 + float64(tu*tu)
	return complex(t*math.FMA(-s*u, u, 1)/den, u*math.FMA(s*t, t, 1)/den)
}

// CSinh returns the hyperbolic sine of a.
func CSinh(a complex128) complex128 {
	x, y := real(a), imag(a)
	if y == 0 {
		return complex(Sinh(x), 0)
	}
	return complex(float64(Sinh(x)*Cos(y)), float64(Cosh(x)*Sin(y)))
}

// CCosh returns the hyperbolic cosine of a.
func CCosh(a complex128) complex128 {
	x, y := real(a), imag(a)
	if y == 0 {
		return complex(Cosh(x), 0)
	}
	return complex(float64(Cosh(x)*Cos(y)), float64(Sinh(x)*Sin(y)))
}

// CTanh returns the hyperbolic tangent of a.
func CTanh(a complex128) complex128 {
	x, y := real(a), imag(a)
	if y == 0 {
		return complex(Tanh(x), 0)
	}
	// With t = tanh x and v = tan y, Re = t(1+v²)/(1+t²v²) and Im = v·sech²x/(1+t²v²). Here sech²
	// comes from the exponential, since 1 - t² cancels.
	t, v := Tanh(x), Tan(y)
	tv := float64(t * v)
	den := 1 + float64(tv*tv)
	return complex(t*math.FMA(v, v, 1)/den, v*sech2(x)/den)
}

// sech2 returns 1/cosh², without overflow.
func sech2(x float64) float64 {
	e := Exp(-math.Abs(x))
	s := 2 * e / (1 + float64(e*e))
	return float64(s * s)
}

// CAsin returns the arc sine of a (first order).
func CAsin(a complex128) complex128 {
	x := real(a)
	return first(Asin(x), 1/math.Sqrt((1-x)*(1+x)), imag(a))
}

// CAcos returns the arc cosine of a (first order).
func CAcos(a complex128) complex128 {
	x := real(a)
	return first(Acos(x), -1/math.Sqrt((1-x)*(1+x)), imag(a))
}

// CAtan returns the arc tangent of a (first order).
func CAtan(a complex128) complex128 {
	x := real(a)
	return first(Atan(x), 1/math.FMA(x, x, 1), imag(a))
}

// CAsinh returns the inverse hyperbolic sine of a (first order).
func CAsinh(a complex128) complex128 {
	x := real(a)
	return first(Asinh(x), 1/Hypot(x, 1), imag(a))
}

// CAcosh returns the inverse hyperbolic cosine of a (first order).
func CAcosh(a complex128) complex128 {
	x := real(a)
	return first(Acosh(x), 1/(math.Sqrt(x-1)*math.Sqrt(x+1)), imag(a))
}

// CAtanh returns the inverse hyperbolic tangent of a (first order).
func CAtanh(a complex128) complex128 {
	x := real(a)
	return first(Atanh(x), 1/((1-x)*(1+x)), imag(a))
}

// CErf returns the error function of a (first order).
func CErf(a complex128) complex128 {
	x := real(a)
	return first(Erf(x), float64(twoOverSqrtPi*gauss(x)), imag(a))
}

// CErfc returns the complementary error function of a (first order).
func CErfc(a complex128) complex128 {
	x := real(a)
	return first(Erfc(x), -float64(twoOverSqrtPi*gauss(x)), imag(a))
}

// gauss returns exp(-x²). The rounding error of x² is corrected, since the exponential would
// magnify it.
func gauss(x float64) float64 {
	h := float64(x * x)
	if h > 800 || h != h {
		return Exp(-h)
	}
	e := Exp(-h)
	return math.FMA(-math.FMA(x, x, -h), e, e)
}

// CLgamma returns the logarithm of |Γ| at a (first order).
func CLgamma(a complex128) complex128 {
	x := real(a)
	return first(Lgamma(x), Digamma(x), imag(a))
}

// CDigamma returns the digamma function of a (first order).
func CDigamma(a complex128) complex128 {
	x := real(a)
	return first(Digamma(x), Trigamma(x), imag(a))
}

// CTrigamma returns the trigamma function of a (first order).
func CTrigamma(a complex128) complex128 {
	x := real(a)
	return first(Trigamma(x), Tetragamma(x), imag(a))
}

// CFloor returns the floor of the real part.
func CFloor(a complex128) complex128 { return complex(Floor(real(a)), 0) }

// CCeil returns the ceiling of the real part.
func CCeil(a complex128) complex128 { return complex(Ceil(real(a)), 0) }

// CRound returns the real part rounded.
func CRound(a complex128) complex128 { return complex(Round(real(a)), 0) }

// CTrunc returns the integer part of the real part.
func CTrunc(a complex128) complex128 { return complex(Trunc(real(a)), 0) }

// CSigmoid returns 1/(1+exp(-a)) (first order).
func CSigmoid(a complex128) complex128 {
	x := real(a)
	return first(Sigmoid(x), float64(Sigmoid(x)*Sigmoid(-x)), imag(a))
}

// CPowi returns a to the integer power n. The real part of a nearly real
// argument is that of Powi (first order).
func CPowi(a complex128, n int) complex128 {
	x := real(a)
	if n == 0 {
		return 1
	}
	return first(Powi(x, n), float64(float64(n)*Powi(x, n-1)), imag(a))
}

// PowNoise is by how much the base of a power may be negative and count as 0 in the derivative by the exponent.
const PowNoise = 1e-9

// CPow returns a to the power b (first order). A negative base needs an integer exponent, as in the
// real function.
func CPow(a, b complex128) complex128 {
	x, y := real(a), real(b)
	p := Pow(x, y)
	im := 0.0
	if imag(a) != 0 && y != 0 {
		im = float64(imag(a) * y * Pow(x, y-1))
	}
	if noise := x <= 0 && x >= -PowNoise && y >= 0; imag(b) != 0 && p != 0 && !noise {
		im += float64(imag(b) * Log(x) * p)
	}
	return complex(p, im)
}

// CAtan2 returns the angle of (x, y) (first order).
func CAtan2(y, x complex128) complex128 {
	a, b := real(y), real(x)
	h := Hypot(a, b)
	u, v := a/h, b/h
	im := ZeroMul(imag(y), v/h) - ZeroMul(imag(x), u/h)
	return complex(Atan2(a, b), im)
}

// CHypot returns √(a² + b²) (first order).
func CHypot(a, b complex128) complex128 {
	h := Hypot(real(a), real(b))
	if h == 0 {
		return 0
	}
	im := ZeroMul(imag(a), real(a)/h) + ZeroMul(imag(b), real(b)/h)
	return complex(h, im)
}

// CMod returns a - b·floor(a/b), where the floor is that of the real parts.
func CMod(a, b complex128) complex128 {
	q := Floor(real(a) / real(b))
	return complex(Mod(real(a), real(b)), imag(a)-ZeroMul(imag(b), q))
}

// CMin returns the operand with the smaller real part, and a where the real parts agree.
func CMin(a, b complex128) complex128 {
	switch {
	case real(b) < real(a):
		return b
	case real(b) != real(b):
		return b
	}
	return a
}

// CMax returns the operand with the larger real part, and a where the real parts agree.
func CMax(a, b complex128) complex128 {
	switch {
	case real(a) < real(b):
		return b
	case real(b) != real(b):
		return b
	}
	return a
}

// CLess compares real parts.
func CLess(a, b complex128) complex128 { return complex(Less(real(a), real(b)), 0) }

// CLessEq compares real parts.
func CLessEq(a, b complex128) complex128 { return complex(LessEq(real(a), real(b)), 0) }

// CEqual compares real parts.
func CEqual(a, b complex128) complex128 { return complex(Equal(real(a), real(b)), 0) }

// CNotEqual compares real parts.
func CNotEqual(a, b complex128) complex128 { return complex(NotEqual(real(a), real(b)), 0) }

// CAnd combines the conditions in the real parts.
func CAnd(a, b complex128) complex128 { return complex(And(real(a), real(b)), 0) }

// COr combines the conditions in the real parts.
func COr(a, b complex128) complex128 { return complex(Or(real(a), real(b)), 0) }

// CSelect returns b where the real part of a is not 0, else c.
func CSelect(a, b, c complex128) complex128 {
	if real(a) != 0 {
		return b
	}
	return c
}
