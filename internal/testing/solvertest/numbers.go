package solvertest

import (
	"math"
	"testing"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// Noise fills x with numbers of both signs and order one, the same ones every time.
func Noise(seed uint64, x []float64) {
	for i := range x {
		seed = seed*6364136223846793005 + 1442695040888963407
		x[i] = math.Ldexp(float64(int64(seed>>11)), -52) - 1
	}
}

// Near reports whether two numbers are, but for tol of one and b.
func Near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*(1+math.Abs(b)) }

// Same requires the bits of two vectors to be the same.
func Same(t *testing.T, what string, a, b []float64) {
	t.Helper()
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			t.Errorf("%s[%d]: %v and %v", what, i, a[i], b[i])
		}
	}
}

// Growth is y' = λ y with a wall: the right-hand side is NaN beyond it.
type Growth struct{ Lambda, Wall float64 }

// Size implements solvers.Field.
func (g Growth) Size() solvers.Size { return solvers.Size{N: 1} }

// Eval implements solvers.Field.
func (g Growth) Eval(_ float64, y, k []float64) {
	k[0] = g.Lambda * y[0]
	if math.Abs(y[0]) > g.Wall {
		k[0] = math.NaN()
	}
}

// Jacobian implements matrices.JacobianField.
func (g Growth) Jacobian() *matrices.Jacobian {
	return &matrices.Jacobian{Rows: []int32{0}, Cols: []int32{0}}
}

// EvalJacobian implements matrices.JacobianField.
func (g Growth) EvalJacobian(_ float64, _, j []float64) { j[0] = g.Lambda }
