package odes_test

import (
	"context"
	"testing"

	"odes.dev/odes"
)

// TestRunnerSetMatrix holds that a matrix that was set anew is read anew: the machine keeps matrices of
// parameters prepared from run to run.
func TestRunnerSetMatrix(t *testing.T) {
	const text = `model M
const n = 6
time t from 0 to 1
param r[n] = 0.1, A[n,n] = -0.1
param k = 0.5
let B = k*A
state x[n] = 0.4
x' = x * (r + A @ x) + B @ x
objective J[i] = final(x[i]) for i in 1:n
sens { of = J  wrt = [r, A, k]  mode = adjoint }
`
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, a := range []float64{-0.1, -0.3, 0.05} {
		set := []odes.Assignment{{Name: "A", Values: []float64{a}}, {Name: "k", Values: []float64{2 * a}}}
		if err := r.Set(set...); err != nil {
			t.Fatal(err)
		}
		got, err := r.Sensitivities(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Sensitivities(ctx, odes.Options{Set: set})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want.Gradient {
			if got.Gradient[i] != v {
				t.Fatalf("A = %g: entry %d of the gradient is %g after Set, %g when prepared so", a, i, got.Gradient[i], v)
			}
		}
	}
}
