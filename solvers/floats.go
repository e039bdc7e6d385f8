package solvers

import (
	"math"

	"odes.dev/odes/internal/base/simd"
)

// finite reports whether every element of x is a number and not infinite.
func finite(x []float64) bool {
	if len(x) >= 16 {
		if sum := simd.Sum(x); sum-sum == 0 {
			return true
		}
	}
	zero := 0.0
	for _, v := range x {
		zero = math.FMA(v, 0, zero)
	}
	return zero == 0
}

// atLeast returns x, and low where x is less. In a chain of operations it costs nothing where x is not less, as max
// does. It returns NaN for a NaN x; low is not NaN.
func atLeast(x, low float64) float64 {
	if x < low {
		return low
	}
	return x
}

// atMost returns x, and high where x is more. What holds for atLeast holds for it.
func atMost(x, high float64) float64 {
	if x > high {
		return high
	}
	return x
}

// largerSize returns |x| or |y|, whichever is larger, and NaN if either is.
func largerSize(x, y float64) float64 { // the order of integers, in which NaN comes last
	const sign = 1 << 63
	return math.Float64frombits(max(math.Float64bits(x)&^sign, math.Float64bits(y)&^sign))
}

// ulp returns the distance from |x| to the next larger double.
func ulp(x float64) float64 {
	x = math.Abs(x)
	return math.Float64frombits(math.Float64bits(x)+1) - x
}
