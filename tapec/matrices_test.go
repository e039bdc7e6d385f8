package tapec

import (
	"testing"

	"odes.dev/odes/tape"
)

// TestMatrixProducts: a sum of products over the index that two factors share is one product of matrices, whatever the
// order of the factors and of their indices is. Only one that has the index of the other side first is transposed.
func TestMatrixProducts(t *testing.T) {
	for _, sum := range []string{
		"A[i,k]*B[k,j]", "B[k,j]*A[i,k]", "A[k,i]*B[k,j]", "B[k,j]*A[k,i]", "A[i,k]*B[j,k]", "B[j,k]*A[i,k]",
		"-B[j,k]*A[i,k]*2/p", "B[k,j]/p*A[i,k]",
	} {
		c := try(t, check(t, "products.ode", `time t from 0 to 1
param A[3,3] = [[0.2, 0.3, 0.5], [0.7, 1.1, 1.3], [1.7, 1.9, 2.3]], B[3,3] = [[2, 3, 5], [7, 11, 13], [17, 19, 23]]
param p = 2
state X[3,3] = 0
X[i,j]' = sum(`+sum+` for k in 1:3) for i in 1:3, j in 1:3
`))
		n := map[tape.Op]int{}
		for _, in := range c.Rates.Instrs {
			n[in.Op]++
		}
		if n[tape.MatMul] != 1 || n[tape.Transpose]+n[tape.SumAxes]+n[tape.Broadcast] > 0 {
			t.Errorf("%s:\n%s", sum, c.Rates)
		}
	}
}

// TestDeepDiagonals: a matrix within so many loops that it would have too many dimensions is made in another way.
func TestDeepDiagonals(t *testing.T) {
	for _, rate := range []string{
		"sum(diag(x*(i + 2*j + 3*k)) @ w)", "sum(w @ (diag(x*(i + 2*j + 3*k)) @ diag(w*(k + j))))",
		"sum(diag(diag(x*(i + 2*j + 3*k))))",
	} {
		try(t, check(t, "deep.ode", `time t from 0 to 1
param w[2] = [2, 3]
state x[2] = [5, 7], Y[2,3,4] = 0
x' = -x
Y[i,j,k]' = `+rate+` for i in 1:2, j in 1:3, k in 1:4
`))
	}
}
