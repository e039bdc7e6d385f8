package fit

import (
	"context"
	"errors"
	"slices"
	"testing"

	"odes.dev/odes"
)

// TestWeightSizes: steps of a training are measured by 1 for weights and logarithms, and else by values and bounds.
func TestWeightSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	m, err := odes.Parse("sizes.ode", `
model Sizes
time t : [s] from 0 to 1 [s]
param W[2] = [0.3, -7], b[1] = 0, k = 1e-5 [1/s], l = 3, c[2] = [2, -40] [m], n = 0 in [0, 5]
state x : [m] = 1 [m]
x' = -k*x + l*(tanh(W[1] + b[1]) + W[2])*c[1]/1 [s] + n*c[2]/1 [s]
objective J = final(x)/1 [m]
fit { over = [W, b, k, l, c, n]  log = [l]  algorithm = adam }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProblem(t.Context(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := (coach{p}).weightSizes(p.start), []float64{1, 1, 1, 1e-5, 1, 2, 40, 5}; !slices.Equal(got, want) {
		t.Errorf("sizes %v, not %v", got, want)
	}
}

// TestPreparedUntil: what a fit prepares is given up when its context ends, before searches and on the way. The
// contexts of others do not matter to it.
func TestPreparedUntil(t *testing.T) {
	m, err := odes.Parse("m.ode", `time t from 0 to 1
param k = 1, c = 2
state x = c
x' = -k*x
data D { time = [0.5, 1]  y = [1, 0.5] }
observe o = x ~ normal(0.1) from D.y
objective J = nll()
fit { minimize = J  over = [k, c] }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newProblem(over, m, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a problem for nobody: %v", err)
	}
	p, err := newProblem(t.Context(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.borrow()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.run(over, p.start, false); !errors.Is(err, context.Canceled) || e.gradient != nil {
		t.Errorf("runs with first derivatives for nobody: %v", err)
	}
	if _, err := e.run(over, p.start, true); !errors.Is(err, context.Canceled) || e.hessian != nil {
		t.Errorf("runs with second derivatives for nobody: %v", err)
	}
	if _, err := e.run(t.Context(), p.start, true); err != nil {
		t.Error(err)
	}
}
