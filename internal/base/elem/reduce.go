package elem

import "math"

// Reductions over long arrays keep 8 partial results, element i in partial
// i mod 8, combined as ((0+4)+(2+6))+((1+5)+(3+7)): the order a processor with
// four-wide vectors uses naturally, fixed here for every processor.

// Tree combines 8 partial sums in the fixed order of every reduction.
func Tree(s *[8]float64) float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// Sum returns the sum of x.
func Sum(x []float64) float64 {
	var s [8]float64
	for len(x) >= 8 {
		v := x[:8:8]
		s[0] += v[0]
		s[1] += v[1]
		s[2] += v[2]
		s[3] += v[3]
		s[4] += v[4]
		s[5] += v[5]
		s[6] += v[6]
		s[7] += v[7]
		x = x[8:]
	}
	for i, v := range x {
		s[i] += v
	}
	return Tree(&s)
}

// Dot returns Σ x[i]·y[i], where y has at least the length of x. Each partial sum is a chain of
// fused multiply-adds from 0.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s [8]float64
	for len(x) >= 8 && len(y) >= 8 {
		v, w := x[:8:8], y[:8:8]
		s[0] = math.FMA(v[0], w[0], s[0])
		s[1] = math.FMA(v[1], w[1], s[1])
		s[2] = math.FMA(v[2], w[2], s[2])
		s[3] = math.FMA(v[3], w[3], s[3])
		s[4] = math.FMA(v[4], w[4], s[4])
		s[5] = math.FMA(v[5], w[5], s[5])
		s[6] = math.FMA(v[6], w[6], s[6])
		s[7] = math.FMA(v[7], w[7], s[7])
		x, y = x[8:], y[8:]
	}
	for i, v := range x {
		s[i&7] = math.FMA(v, y[i], s[i&7])
	}
	return Tree(&s)
}
