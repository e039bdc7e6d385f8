package elem

import "math"

// AtLeast returns x, and low where x is less. In a chain of operations it costs nothing where x is not less, as max
// does. It returns NaN for a NaN x; low is not NaN.
func AtLeast(x, low float64) float64 {
	if x < low {
		return low
	}
	return x
}

// AtMost returns x, and high where x is more. What holds for AtLeast holds for it.
func AtMost(x, high float64) float64 {
	if x > high {
		return high
	}
	return x
}

// LargerSize returns |x| or |y|, whichever is larger, and NaN if either is.
func LargerSize(x, y float64) float64 { // the order of integers, in which NaN comes last
	const sign = 1 << 63
	return math.Float64frombits(max(math.Float64bits(x)&^sign, math.Float64bits(y)&^sign))
}

// ULP returns the distance from |x| to the next larger double.
func ULP(x float64) float64 {
	x = math.Abs(x)
	return math.Float64frombits(math.Float64bits(x)+1) - x
}

// Spoil makes what could not be computed NaN.
func Spoil(all ...[]float64) {
	for _, v := range all {
		for i := range v {
			v[i] = math.NaN()
		}
	}
}

// SpoilComplex makes what could not be computed NaN.
func SpoilComplex(all ...[]complex128) {
	for _, v := range all {
		for i := range v {
			v[i] = complex(math.NaN(), math.NaN())
		}
	}
}

// Resize returns x with room for n numbers, whose values mean nothing.
func Resize(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}
