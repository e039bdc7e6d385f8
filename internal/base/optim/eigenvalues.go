package optim

// Eigen returns the eigenvalues of the symmetric n × n matrix a, rising, and makes its rows the eigenvectors.
func Eigen(a []float64, n int) []float64 { return eigen(a, n) }
