package shoot

import "math"

func add(to, from []float64) {
	for i, v := range from {
		to[i] += v
	}
}

// multiply returns the product of a, [n][k], and b, [k][m].
func multiply(a, b []float64, n, k, m int) []float64 {
	out := make([]float64, n*m)
	for i := range n {
		to := out[i*m : (i+1)*m]
		for l := range k {
			x := a[i*k+l]
			for j, y := range b[l*m : (l+1)*m] {
				to[j] += float64(x * y)
			}
		}
	}
	return out
}

// transposed returns the product of the transpose of a, [k][n], and b, [k][m].
func transposed(a, b []float64, k, n, m int) []float64 {
	out := make([]float64, n*m)
	for l := range k {
		for i := range n {
			x := a[l*n+i]
			for j, y := range b[l*m : (l+1)*m] {
				out[i*m+j] += float64(x * y)
			}
		}
	}
	return out
}

func symmetrise(a []float64, n int) {
	for i := range n {
		for j := range i {
			v := (a[i*n+j] + a[j*n+i]) / 2
			a[i*n+j], a[j*n+i] = v, v
		}
	}
}

// cholesky makes a its factor, the lower triangle, and reports whether a is positive definite.
func cholesky(a []float64, n int) bool {
	for j := range n {
		d := a[j*n+j]
		for k := range j {
			d -= float64(a[j*n+k] * a[j*n+k])
		}
		if !(d > 0) || math.IsInf(d, 1) {
			return false
		}
		d = math.Sqrt(d)
		a[j*n+j] = d
		for i := j + 1; i < n; i++ {
			v := a[i*n+j]
			for k := range j {
				v -= float64(a[i*n+k] * a[j*n+k])
			}
			a[i*n+j] = v / d
		}
	}
	return true
}

// solve makes x, [n][m], the solution of the system whose factor is l and whose right-hand sides it is.
func solve(l []float64, n int, x []float64, m int) {
	for i := range n {
		for k := range i {
			for j := range m {
				x[i*m+j] -= float64(l[i*n+k] * x[k*m+j])
			}
		}
		for j := range m {
			x[i*m+j] /= l[i*n+i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			for j := range m {
				x[i*m+j] -= float64(l[k*n+i] * x[k*m+j])
			}
		}
		for j := range m {
			x[i*m+j] /= l[i*n+i]
		}
	}
}
