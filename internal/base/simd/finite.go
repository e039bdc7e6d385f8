package simd

import (
	"math"
)

// Finite reports whether every element of x is a number and not infinite.
func Finite(x []float64) bool {
	if len(x) >= 16 {
		if sum := Sum(x); sum-sum == 0 {
			return true
		}
	}
	zero := 0.0
	for _, v := range x {
		zero = math.FMA(v, 0, zero)
	}
	return zero == 0
}
