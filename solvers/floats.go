package solvers

import (
	"math"

	"odes.dev/odes/internal/simd"
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

// ulp returns the distance from |x| to the next larger double.
func ulp(x float64) float64 {
	x = math.Abs(x)
	return math.Float64frombits(math.Float64bits(x)+1) - x
}
