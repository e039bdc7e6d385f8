package sample

import "math"

// Correlations returns a matrix of correlations, [n][n], whose density is proportional to det(R)^(eta - 1), from
// numbers between 0 and 1, one for each element below the diagonal. Along a vine of the rows partial correlations are
// independent, each with the density of a single one, and they are what the rows of the Cholesky factor are made of.
// Reference: Lewandowski, Kurowicka and Joe, J Multivar Anal 100:1989 (2009), section 2.4.
func Correlations(n int, eta float64, u func(row, column int) float64) ([]float64, error) {
	factor := make([]float64, n*n)
	for i := range n {
		rest := 1.0 // of the square of the row
		for j := range i {
			one, err := NewDist("lkj", []float64{eta + float64(n-2-j)/2}, math.Inf(-1), math.Inf(1))
			if err != nil {
				return nil, err
			}
			partial := one.Quantile(u(i, j))
			factor[i*n+j] = float64(partial * math.Sqrt(rest))
			rest *= 1 - float64(partial*partial)
		}
		factor[i*n+i] = math.Sqrt(rest)
	}
	out := make([]float64, n*n)
	for i := range n {
		out[i*n+i] = 1
		for j := range i {
			for k := range j + 1 {
				out[i*n+j] += float64(factor[i*n+k] * factor[j*n+k])
			}
			out[j*n+i] = out[i*n+j]
		}
	}
	return out, nil
}
