package population

import "math"

// Root returns the lower triangular root of a matrix of covariances, [n][n]. Some of what it is of may not vary: then
// its row is zero. It reports whether the matrix is one of covariances.
func Root(a []float64, n int) ([]float64, bool) {
	l := make([]float64, n*n)
	for j := range n {
		pivot := a[j*n+j]
		for k := range j {
			pivot -= float64(l[j*n+k] * l[j*n+k])
		}
		if math.Abs(pivot) <= 1e-14*math.Abs(a[j*n+j]) {
			pivot = 0
		}
		if !(pivot >= 0) || math.IsInf(pivot, 0) {
			return nil, false
		}
		l[j*n+j] = math.Sqrt(pivot)
		for i := j + 1; i < n; i++ {
			s := a[i*n+j]
			for k := range j {
				s -= float64(l[i*n+k] * l[j*n+k])
			}
			switch {
			case pivot > 0:
				l[i*n+j] = s / l[j*n+j]
			case math.Abs(s) > 1e-14*math.Sqrt(math.Abs(float64(a[i*n+i]*a[j*n+j]))):
				return nil, false
			}
		}
	}
	return l, true
}
