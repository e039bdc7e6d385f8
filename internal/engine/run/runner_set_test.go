package run_test

import (
	"context"
	"testing"

	"odes.dev/odes"
)

// TestRunnerSetMatrix checks that a matrix with new values is reread. The machine keeps matrices of
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
				t.Fatalf("A = %g: entry %d of the gradient is %g after Set, %g when prepared so", a, i, got.Gradient[i],
					v)
			}
		}
	}
}

// TestRunnerSetEvents checks that a later gradient keeps nothing of the first one. The model has a
// root, and enough objectives for several sweeps, whose shared work is kept from one to the next.
func TestRunnerSetEvents(t *testing.T) {
	const text = `
time t from 0 to 2
param k = 0.5, g = 1.3, level = 0.4
state x = 1, v = 0
x' = v
v' = -g*sin(x) - k*v^3*exp(-t)
event hit when x <= level { v = -0.8*v + 0.1*sin(x) }
objective J[i] = final(x^i) + integral(v^2*i) for i in 1:20
`
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(odes.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, g := range []float64{1.3, 1.6, 1.2, 1.3} {
		set := []odes.Assignment{{Name: "g", Values: []float64{g}}}
		if err := r.Set(set...); err != nil {
			t.Fatal(err)
		}
		got, err := r.Sensitivities(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Sensitivities(ctx, odes.Options{Threads: 1, Set: set})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want.Gradient {
			if got.Gradient[i] != v {
				t.Fatalf("g = %g: entry %d of the gradient is %g after Set, %g when prepared so", g, i, got.Gradient[i],
					v)
			}
		}
	}
}

// TestRunnerSetPartly takes second derivatives after new values of a param, elements of which follow others and one of
// which does not: J = final(x) with x' = -q[1] x - q[2] x², where q[2] = 3 k² alone moves with k.
func TestRunnerSetPartly(t *testing.T) {
	m, err := odes.Parse("partly.ode", `time t from 0 to 1
param k = 0.5
param q[2] = [2*k^2, 3*k^2]
state x = 1
x' = -q[1]*x - q[2]*x^2
objective J = final(x)
sens { wrt = k  order = 2 }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cut := odes.Assignment{Name: "q[1]", Values: []float64{0.7}}
	k := odes.Assignment{Name: "k", Values: []float64{0.6}}
	want, err := m.Sensitivities(t.Context(), odes.Options{Set: []odes.Assignment{cut, k}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(odes.Options{Set: []odes.Assignment{cut}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Set(k); err != nil {
		t.Fatal(err)
	}
	got, err := r.Sensitivities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want.Hessian[0] == 0 || got.Hessian[0] != want.Hessian[0] || got.Gradient[0] != want.Gradient[0] {
		t.Errorf("after Set: %v and %v; a fresh run: %v and %v", got.Gradient, got.Hessian, want.Gradient, want.Hessian)
	}
}
