// Package elem is the floating-point arithmetic of odes: elementary functions, reductions and a
// random generator that give the same bits on every machine.
//
// Every function is written with +, -, *, /, square root and fused multiply-add in a fixed order.
// IEEE 754 rounds all of these exactly, so the result depends on neither the processor nor the
// compiler. A product that feeds a sum is either inside math.FMA or wrapped in float64(), which
// forbids the compiler to fuse it. Each function states a bound of its error in units in the last
// place (ULP), and the tests measure the error against arbitrary precision. The bits of a NaN mean
// nothing: any NaN equals any NaN.
//
// There is one function per elementwise operation of a tape, with its name, and a version for
// complex arguments with the prefix C (see complex.go).
//
// The package knows nothing of tapes, models or machines.
package elem

import "math"

// Neg returns -a.
func Neg(a float64) float64 { return -a }

// Abs returns |a|.
func Abs(a float64) float64 { return math.Abs(a) }

// Sign returns -1, 0 or 1, and NaN for NaN. Both zeros give +0.
func Sign(a float64) float64 {
	switch {
	case a > 0:
		return 1
	case a < 0:
		return -1
	case a == 0:
		return 0
	}
	return a
}

// Not returns 1 - a, for a condition a.
func Not(a float64) float64 { return 1 - a }

// Recip returns 1/a, correctly rounded.
func Recip(a float64) float64 { return 1 / a }

// Sqrt returns the square root of a, correctly rounded, and NaN for a < 0.
func Sqrt(a float64) float64 { return math.Sqrt(a) }

// Sqr returns a·a, correctly rounded.
func Sqr(a float64) float64 { return float64(a * a) }

// Floor returns the greatest integer ≤ a.
func Floor(a float64) float64 { return math.Floor(a) }

// Ceil returns the least integer ≥ a.
func Ceil(a float64) float64 { return math.Ceil(a) }

// Trunc returns the integer part of a.
func Trunc(a float64) float64 { return math.Trunc(a) }

// Round returns the nearest integer, halves away from zero.
func Round(a float64) float64 {
	t := math.Trunc(a)
	if math.Abs(a-t) >= 0.5 { // a-t is exact
		t += math.Copysign(1, a)
	}
	return t
}

// Add returns a + b.
func Add(a, b float64) float64 { return a + b }

// Sub returns a - b.
func Sub(a, b float64) float64 { return a - b }

// Mul returns a·b.
func Mul(a, b float64) float64 { return float64(a * b) }

// Div returns a/b.
func Div(a, b float64) float64 { return a / b }

// FMA returns a·b + c, rounded once.
func FMA(a, b, c float64) float64 { return math.FMA(a, b, c) }

// Mod returns a - b·floor(a/b), the remainder that has the sign of b.
//
// It is exact where the remainder is representable. A quotient that rounds to the
// next integer is corrected, so the result r satisfies 0 ≤ r < b for b > 0 (r may round to b for
// tiny negative a) and b < r ≤ 0 for b < 0. Mod(a, 0) is NaN. With an infinite b the result is a,
// or b where the signs differ.
func Mod(a, b float64) float64 {
	if math.IsInf(b, 0) {
		switch {
		case math.IsNaN(a) || math.IsInf(a, 0):
			return math.NaN()
		case a == 0 || (a < 0) == (b < 0):
			return a
		}
		return b
	}
	q := a / b
	r := math.FMA(-math.Floor(q), b, a)
	if math.Abs(q) >= 0x1p53 { // the nearest whole number is not known
		r = math.Mod(a, b)
	}
	switch {
	case b > 0 && r < 0, b < 0 && r > 0:
		r += b
	case b > 0 && r >= b, b < 0 && r <= b:
		r -= b
	}
	return r
}

// Min returns b < a ? b : a, and NaN where an operand is NaN.
func Min(a, b float64) float64 {
	switch {
	case b < a:
		return b
	case b != b:
		return b
	}
	return a
}

// Max returns a < b ? b : a, and NaN where an operand is NaN.
func Max(a, b float64) float64 {
	switch {
	case a < b:
		return b
	case b != b:
		return b
	}
	return a
}

// Less returns 1 where a < b, else 0 (also for NaN).
func Less(a, b float64) float64 { return condition(a < b) }

// LessEq returns 1 where a ≤ b, else 0 (also for NaN).
func LessEq(a, b float64) float64 { return condition(a <= b) }

// Equal returns 1 where a = b, else 0 (also for NaN).
func Equal(a, b float64) float64 { return condition(a == b) }

// NotEqual returns 1 where a ≠ b (also for NaN), else 0.
func NotEqual(a, b float64) float64 { return condition(a != b) }

// And returns 1 where both operands are nonzero, else 0.
func And(a, b float64) float64 { return condition(a != 0 && b != 0) }

// Or returns 1 where an operand is nonzero, else 0.
func Or(a, b float64) float64 { return condition(a != 0 || b != 0) }

func condition(c bool) float64 {
	if c {
		return 1
	}
	return 0
}

// ZeroMul returns a·b, and 0 where a is 0 whatever b is.
func ZeroMul(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return float64(a * b)
}

// Select returns a ≠ 0 ? b : c.
func Select(a, b, c float64) float64 {
	if a != 0 {
		return b
	}
	return c
}
