package linalg

import "math"

// Proportional reports whether two vectors are, but for rounding.
func Proportional(a, b map[int]float64) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	most := 0
	for i, x := range b {
		if math.Abs(x) > math.Abs(b[most]) {
			most = i
		}
	}
	ratio := a[most] / b[most]
	near := func(i int) bool {
		x, z := a[i], float64(ratio*b[i])
		return math.Abs(x-z) <= float64(1e-12*(math.Abs(x)+math.Abs(z)))
	}
	for i := range b {
		if !near(i) {
			return false
		}
	}
	for i := range a {
		if !near(i) {
			return false
		}
	}
	return true
}
