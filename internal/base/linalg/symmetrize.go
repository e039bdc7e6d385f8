package linalg

import "math"

// Symmetrize replaces the matrix h[n][n] by the mean of itself and its transpose. It returns how far h
// was from symmetric: the largest difference relative to the largest element, where each element is
// multiplied by the sizes of its two variables.
func Symmetrize(h, sizes []float64) float64 {
	n := len(sizes)
	most, worst := 0.0, 0.0
	for i, si := range sizes {
		for j, sj := range sizes[:i+1] {
			a, b, scale := h[i*n+j], h[j*n+i], float64(si*sj)
			most = max(most, float64(scale*math.Abs(a)), float64(scale*math.Abs(b)))
			worst = max(worst, float64(scale*math.Abs(a-b)))
			h[i*n+j] = float64(0.5*a) + float64(0.5*b)
			h[j*n+i] = h[i*n+j]
		}
	}
	if most == 0 {
		return 0
	}
	return worst / most
}
