package nuts

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/optim"
)

// Hardness is α of SoftAbs: no direction is taken to be wider than √α sizes of its coordinates, however flat the
// density is along it.
const Hardness = 1e4

// SoftAbs returns L of the covariance L Lᵀ that a Hessian h[n][n] of minus the logarithm of a density stands for, in
// coordinates of the given sizes[n]. Its eigenvalues λ count as λ coth(αλ): about |λ|, and at least 1/α (M. Betancourt,
// arXiv:1212.4693). It is nil where h has numbers that are not finite.
func SoftAbs(h, sizes []float64) []float64 {
	n := len(sizes)
	a := make([]float64, n*n)
	for i := range n {
		for j := range n {
			a[i*n+j] = float64((h[i*n+j] + h[j*n+i]) / 2 * sizes[i] * sizes[j])
		}
	}
	if !finite(a) {
		return nil
	}
	values := optim.Eigen(a, n)
	s := make([]float64, n*n)
	for k, v := range values {
		row := a[k*n : (k+1)*n]
		w := softAbs(v)
		for i := range n {
			for j := range i + 1 {
				s[i*n+j] += float64(row[i] * row[j] / w * sizes[i] * sizes[j])
			}
		}
	}
	for i := range n {
		for j := range i {
			s[j*n+i] = s[i*n+j]
		}
	}
	return Cholesky(s, n)
}

// softAbs returns λ coth(αλ).
func softAbs(v float64) float64 {
	x := math.Abs(Hardness * v)
	if x < 1e-4 {
		return float64((1 + float64(x*x/3)) / Hardness)
	}
	return math.Abs(v) / elem.Tanh(x)
}
