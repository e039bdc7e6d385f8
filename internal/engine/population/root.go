package population

import (
	"fmt"
	"math"
)

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

// Wrong says why a matrix, [n][n], is none of covariances, of which none is zero: "" where it is one.
func Wrong(w []float64, n int) string {
	const rounding = 1e-10
	for i := range n {
		if x := w[i*n+i]; !(x > 0) || math.IsInf(x, 1) {
			return fmt.Sprintf("[%d,%d] is %g, and variances are positive", i+1, i+1, x)
		}
	}
	for i := range n {
		for j := range i {
			a, b, sd := w[i*n+j], w[j*n+i], math.Sqrt(w[i*n+i])*math.Sqrt(w[j*n+j])
			switch {
			case !(math.Abs(a-b) <= rounding*sd):
				return fmt.Sprintf("it is not symmetric: [%d,%d] is %g, and [%d,%d] is %g", i+1, j+1, a, j+1, i+1, b)
			case !(math.Abs(a) < sd):
				return fmt.Sprintf("[%d,%d] is %g, which would be a correlation of %.4g", i+1, j+1, a, a/sd)
			}
		}
	}
	if _, ok := cholesky(w, n); !ok {
		return "it is not positive definite"
	}
	return ""
}
