package goodness

import (
	"math"

	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/internal/engine/population"
)

// whitened returns the inverse of the symmetric root of cov times x: the root that NONMEM has for weighted residuals.
// It is NaN where cov is not positive definite.
func whitened(cov, x []float64) []float64 {
	n := len(x)
	values, vectors := symmetric(cov, n)
	out := make([]float64, n)
	for k := range n {
		if !(values[k] > 0) {
			for i := range out {
				out[i] = math.NaN()
			}
			return out
		}
		part := 0.0
		for i := range n {
			part += float64(vectors[i*n+k] * x[i])
		}
		part /= math.Sqrt(values[k])
		for i := range n {
			out[i] += float64(vectors[i*n+k] * part)
		}
	}
	return out
}

// symmetric returns eigenvalues, and eigenvectors as columns, of a symmetric matrix, by Jacobi's rotations.
func symmetric(a []float64, n int) (values, vectors []float64) {
	a = append([]float64(nil), a...)
	v := make([]float64, n*n)
	for i := range n {
		v[i*n+i] = 1
	}
	const sweeps = 60
	for range sweeps {
		off, all := 0.0, 0.0
		for i := range n {
			for j := range n {
				all += float64(a[i*n+j] * a[i*n+j])
				if i != j {
					off += float64(a[i*n+j] * a[i*n+j])
				}
			}
		}
		if off <= 1e-30*all {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				if a[p*n+q] == 0 {
					continue
				}
				theta := (a[q*n+q] - a[p*n+p]) / (2 * a[p*n+q])
				t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
				if theta < 0 {
					t = -t
				}
				c := 1 / math.Sqrt(float64(t*t)+1)
				s := t * c
				for k := range n {
					x, y := a[k*n+p], a[k*n+q]
					a[k*n+p], a[k*n+q] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
				}
				for k := range n {
					x, y := a[p*n+k], a[q*n+k]
					a[p*n+k], a[q*n+k] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
					x, y = v[k*n+p], v[k*n+q]
					v[k*n+p], v[k*n+q] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
				}
			}
		}
	}
	for i := range n {
		values = append(values, a[i*n+i])
	}
	return values, v
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
