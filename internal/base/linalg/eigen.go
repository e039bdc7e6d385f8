package linalg

import (
	"math"

	"odes.dev/odes/internal/base/elem"
)

// SimpleEigenvalues returns the eigenvalues of a[n·n], which are simple, by the characteristic polynomial (U. J. J. Le
// Verrier's way, as D. K. Faddeev has it) and the iteration of E. Durand and I. O. Kerner for its roots. One
// that is nearly real is real.
func SimpleEigenvalues(a []float64, n int) []complex128 {
	poly := make([]float64, n+1) // ascending
	poly[n] = 1
	m := make([]float64, n*n)
	for k := 1; k <= n; k++ {
		for i := range n {
			m[i*n+i] += poly[n-k+1]
		}
		next, trace := make([]float64, n*n), 0.0
		for i := range n {
			for j := range n {
				for e := range n {
					next[i*n+j] = math.FMA(a[i*n+e], m[e*n+j], next[i*n+j])
				}
			}
			trace += next[i*n+i]
		}
		poly[n-k] = -trace / float64(k)
		m = next
	}
	roots := make([]complex128, n)
	at, turn := complex(0.1, 0), complex(0.4, 0.9)
	for i := range roots {
		roots[i] = at
		at = elem.CMul(at, turn)
	}
	for range 400 {
		for i, z := range roots {
			var p complex128
			for k := n; k >= 0; k-- {
				p = elem.CFMA(p, z, complex(poly[k], 0))
			}
			apart := complex(1, 0)
			for j, other := range roots {
				if j != i {
					apart = elem.CMul(apart, z-other)
				}
			}
			roots[i] -= elem.CDiv(p, apart)
		}
	}
	for i, z := range roots {
		if math.Abs(imag(z)) < 1e-6*math.Abs(real(z)) {
			roots[i] = complex(real(z), 0)
		}
	}
	return roots
}

// Eigenvector returns the one of a[n·n], or of its transpose, for an eigenvalue: by three steps of inverse iteration.
func Eigenvector(a []float64, n int, value complex128, transposed bool) []complex128 {
	v := make([]complex128, n)
	for i := range v {
		v[i] = 1
	}
	near := elem.CMul(value, complex(1+0x1p-30, 0)) // the matrix is singular at the eigenvalue itself
	for range 3 {
		w := make([]complex128, n*(n+1))
		for i := range n {
			for j := range n {
				at := i*n + j
				if transposed {
					at = j*n + i
				}
				w[i*(n+1)+j] = complex(a[at], 0)
			}
			w[i*(n+1)+i] -= near
			w[i*(n+1)+n] = v[i]
		}
		solveSmall(w, n)
		most := 0.0
		for i := range n {
			v[i] = w[i*(n+1)+n]
			most = max(most, math.Abs(real(v[i]))+math.Abs(imag(v[i])))
		}
		for i := range v {
			v[i] = complex(real(v[i])/most, imag(v[i])/most)
		}
	}
	return v
}

// solveSmall solves the equations w[n][n+1], whose last column is the right-hand side and becomes the solution.
func solveSmall(w []complex128, n int) {
	size := func(z complex128) float64 { return math.Abs(real(z)) + math.Abs(imag(z)) }
	row := func(i int) []complex128 { return w[i*(n+1) : (i+1)*(n+1)] }
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if size(row(i)[k]) > size(row(best)[k]) {
				best = i
			}
		}
		for j := range n + 1 {
			row(k)[j], row(best)[j] = row(best)[j], row(k)[j]
		}
		for i := range n {
			if i == k {
				continue
			}
			f := elem.CDiv(row(i)[k], row(k)[k])
			for j := k; j <= n; j++ {
				row(i)[j] -= elem.CMul(f, row(k)[j])
			}
		}
	}
	for i := range n {
		row(i)[n] = elem.CDiv(row(i)[n], row(i)[i])
	}
}
