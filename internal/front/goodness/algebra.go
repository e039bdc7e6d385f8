package goodness

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/internal/engine/population"
)

// whitened returns the inverse of the symmetric root of cov times x: the root that NONMEM has for weighted residuals.
// It is NaN where cov is not positive definite.
func whitened(cov, x []float64) []float64 {
	n := len(x)
	out := make([]float64, n)
	var eigen mat.EigenSym
	if n == 0 || !eigen.Factorize(mat.NewSymDense(n, cov), true) || !(eigen.Values(nil)[0] > 0) { // they rise
		for i := range out {
			out[i] = math.NaN()
		}
		return out
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for k, value := range eigen.Values(nil) {
		part := 0.0
		for i := range n {
			part += float64(vectors.At(i, k) * x[i])
		}
		part /= math.Sqrt(value)
		for i := range n {
			out[i] += float64(vectors.At(i, k) * part)
		}
	}
	return out
}

// decorrelated returns the normalised prediction distribution errors of data, of which so many replicates were
// simulated; nil where these do not suffice.
func decorrelated(data []float64, sims [][]float64, replicates int) []float64 {
	n := len(data)
	if replicates <= n {
		return nil
	}
	mean, cov := make([]float64, n), make([]float64, n*n)
	for i := range n {
		for _, y := range sims[i] {
			mean[i] += y / float64(replicates)
		}
	}
	for i := range n {
		for j := range i + 1 {
			for k := range replicates {
				cov[i*n+j] += float64((sims[i][k] - mean[i]) * (sims[j][k] - mean[j]) / float64(replicates-1))
			}
			cov[j*n+i] = cov[i*n+j]
		}
	}
	root, ok := population.Root(cov, n)
	if !ok {
		return nil
	}
	for i := range n {
		if root[i*n+i] == 0 {
			return nil
		}
	}
	solve := func(y []float64) {
		for i := range n {
			y[i] -= mean[i]
			for k := range i {
				y[i] -= float64(root[i*n+k] * y[k])
			}
			y[i] /= root[i*n+i]
		}
	}
	z := append([]float64(nil), data...)
	solve(z)
	below := make([]float64, n)
	for k := range replicates {
		y := make([]float64, n)
		for i := range n {
			y[i] = sims[i][k]
		}
		solve(y)
		for i := range n {
			switch {
			case y[i] < z[i]:
				below[i]++
			case y[i] == z[i]:
				below[i] += 0.5
			}
		}
	}
	normal, err := sample.NewDist("normal", []float64{0, 1}, math.Inf(-1), math.Inf(1))
	if err != nil {
		return nil
	}
	for i := range n {
		share := below[i] / float64(replicates)
		half := 0.5 / float64(replicates)
		z[i] = normal.Quantile(min(max(share, half), 1-half))
	}
	return z
}
