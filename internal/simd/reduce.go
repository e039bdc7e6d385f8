package simd

import "odes.dev/odes/internal/elem"

// Sum returns the sum of x, as elem.Sum.
func Sum(x []float64) float64 {
	if !useAVX2 {
		return elem.Sum(x)
	}
	var s [8]float64
	for i := 0; i < len(x); i += chunk {
		sumV(&s[0], &x[i], min(len(x)-i, chunk))
	}
	return elem.Tree(&s)
}

// Dot returns Σ x[i]·y[i], as elem.Dot; y is at least as long as x.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	if !useAVX2 {
		return elem.Dot(x, y)
	}
	var s [8]float64
	for i := 0; i < len(x); i += chunk {
		dotV(&s[0], &x[i], &y[i], min(len(x)-i, chunk))
	}
	return elem.Tree(&s)
}
