package vec

import (
	"math"

	"odes.dev/odes/tapec"
)

// Of are vectors that hold the inputs of tapes which are evaluated beside a run. Complex ones have a motion as their
// imaginary parts.
type Of[T float64 | complex128] [Count][]T

// Values are vectors of numbers.
type Values = Of[float64]

// Frame holds the vectors that a call reads or writes, by variation. Lane
// vectors have L copies of each element.
type Frame [tapec.NumVariations][Count][]float64

// SameBits reports whether x and y have the same bits. They are as long.
func SameBits(x, y []float64) bool {
	for i, a := range x {
		if math.Float64bits(a) != math.Float64bits(y[i]) {
			return false
		}
	}
	return true
}
