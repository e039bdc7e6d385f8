package population

import "math"

// Small full matrices, by rows.

// cholesky returns the lower factor of a, which is positive definite; ok is false where it is not.
func cholesky(a []float64, m int) (c []float64, ok bool) {
	c = make([]float64, m*m)
	for i := range m {
		for j := range i + 1 {
			s := a[i*m+j]
			for k := range j {
				s -= float64(c[i*m+k] * c[j*m+k])
			}
			switch {
			case i != j:
				c[i*m+j] = s / c[j*m+j]
			case !(s > 0) || math.IsInf(s, 1):
				return nil, false
			default:
				c[i*m+i] = math.Sqrt(s)
			}
		}
	}
	return c, true
}

// solve solves c cᵀ x = b in place.
func solve(c, b []float64, m int) {
	for i := range m {
		for k := range i {
			b[i] -= float64(c[i*m+k] * b[k])
		}
		b[i] /= c[i*m+i]
	}
	for i := m - 1; i >= 0; i-- {
		for k := i + 1; k < m; k++ {
			b[i] -= float64(c[k*m+i] * b[k])
		}
		b[i] /= c[i*m+i]
	}
}

// inverse returns that of c cᵀ.
func inverse(c []float64, m int) []float64 {
	out := make([]float64, m*m)
	column := make([]float64, m)
	for j := range m {
		clear(column)
		column[j] = 1
		solve(c, column, m)
		for i := range m {
			out[i*m+j] = column[i]
		}
	}
	symmetrise(out, m)
	return out
}

// columns returns v = c⁻ᵀ, for which vᵀ (c cᵀ) v is the identity.
func columns(c []float64, m int) []float64 {
	v := make([]float64, m*m)
	for j := range m {
		v[j*m+j] = 1 / c[j*m+j]
		for i := j - 1; i >= 0; i-- {
			s := 0.0
			for k := i + 1; k <= j; k++ {
				s -= float64(c[k*m+i] * v[k*m+j])
			}
			v[i*m+j] = s / c[i*m+i]
		}
	}
	return v
}

func symmetrise(a []float64, m int) {
	for i := range m {
		for j := range i {
			s := float64(0.5 * (a[i*m+j] + a[j*m+i]))
			a[i*m+j], a[j*m+i] = s, s
		}
	}
}

func product(a, b []float64, m int) []float64 {
	out := make([]float64, m*m)
	for i := range m {
		for k := range m {
			for j := range m {
				out[i*m+j] += float64(a[i*m+k] * b[k*m+j])
			}
		}
	}
	return out
}

func multiply(a, x []float64, m int) []float64 {
	out := make([]float64, m)
	for i := range m {
		out[i] = dot(a[i*m:(i+1)*m], x)
	}
	return out
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, x := range a {
		s += float64(x * b[i])
	}
	return s
}
