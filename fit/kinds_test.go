package fit_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes/fit"
)

// TestKinds: whatever a model is made of, a fit to exact data finds what these were made with.
func TestKinds(t *testing.T) {
	const k = 0.5
	decay := func(s float64) float64 { return math.Exp(-k * s) }
	for _, c := range []struct {
		name, body string
		y          func(s float64) float64
	}{
		{"events", "state x = 1\nx' = -k*x\nevent dose at 2 { x += 3 }", func(s float64) float64 {
			if s > 2 {
				return decay(s) + 3*decay(s-2)
			}
			return decay(s)
		}},
		{"alg", "state x = 1\nalg z = 1\nx' = -z\n0 = z - k*x", decay},
		{"stiff", "state x = 1, w = 1\nx' = -1e4*(x - w)\nw' = -k*w", func(s float64) float64 {
			a := 1e4 / (1e4 - k)
			return a*decay(s) + (1-a)*math.Exp(-1e4*s)
		}},
		{"equilibrate", "discrete u = 0\nstate x = 0\nx' = u - k*x\nequilibrate { u = 2  x = 1 }\n" +
			"event off at 0 { u = 0 }", func(s float64) float64 { return 2 / k * decay(s) }},
	} {
		at := []float64{0.5, 1, 1.5, 3, 4, 6}
		y := make([]float64, len(at))
		for i, s := range at {
			y[i] = c.y(s)
		}
		m := parse(t, fmt.Sprintf("time t from 0 to 6\nparam k = 1.5 in [0.01, 10]\n%s\ndata D { time = %s  y = %s }\n"+
			"observe o = x ~ normal(0.1) from D.y\nobjective loss = nll()\nfit { log = all  intervals = wald }\n"+
			"solver { rtol = 1e-9  atol = 1e-11 }\n", c.body, list(at), list(y)))
		r := run(t, m, fit.Options{})
		near(t, c.name+": k", r.Estimates[0].Value, k, 1e-7)
		if r.Status != "ok" || !(r.Estimates[0].StdErr > 0) {
			t.Errorf("%s: %s, standard error %v", c.name, r.Status, r.Estimates[0].StdErr)
		}
	}
	// Under a constraint on the largest value, k is what makes this 2.
	m := parse(t, `
time t from 0 to 10
param k = 1 in [0.01, 10]
state x = 0
x' = 1 - k*x
data D { time = [1, 5]  y = [3, 9] }
observe o = x ~ normal(1) from D.y
objective loss = nll()
constraint low: max_over(x) <= 2
solver { rtol = 1e-9  atol = 1e-11 }
`)
	r := run(t, m, fit.Options{})
	if e := r.Estimates[0].Value; math.Abs((1-math.Exp(-10*e))/e-2) > 1e-6 {
		t.Errorf("max_over: k = %v", e)
	}
}

// TestFields searches for initial values on a grid, many of them next to nothing at the start. A search measures all of
// a field by the largest, so that these move as well; each by itself they would take hundreds of iterations.
func TestFields(t *testing.T) {
	m := parse(t, `
time t from 0 to 1
const n = 64
state u[n] = [sin(pi*i/n)^40 for i in 1:n]
u' = -0.1*u
objective loss = final(sum((u[i] - i/n)^2 for i in 1:n))
fit { over = initial(u)  intervals = none }
`)
	r := run(t, m, fit.Options{})
	if s := r.Starts[0]; s.Status != "converged" || s.Iterations > 20 {
		t.Errorf("%s after %d iterations", s.Status, s.Iterations)
	}
	for i, e := range r.Estimates {
		near(t, fmt.Sprintf("u[%d]", i+1), e.Value, float64(i+1)/64*math.Exp(0.1), 1e-5)
	}
}

// TestPenalty: beside a likelihood, a term that is neither one nor a prior leaves no standard errors, and a note says
// so; nothing is said where there is no likelihood at all.
func TestPenalty(t *testing.T) {
	const text = `
time t from 0 to 5
param a = 2 in [0, 10] ~ normal(1, 0.1)
state x = a
x' = 0
data D { time = [1, 2, 3, 4]  y = [1.5, 1.1, 0.7, 0.5] }
observe o = x ~ normal(0.1) from D.y
objective L = `
	for objective, notes := range map[string]bool{
		"nll() + 50*(final(x) - 1)^2": true,
		"nll() - log_prior()":         false,
		"50*(final(x) - 1)^2":         false,
	} {
		r := run(t, parse(t, text+objective), fit.Options{})
		if said := strings.Contains(messages(r), "and L is more; write what it has besides as a prior"); said != notes {
			t.Errorf("%s: %v\n%s", objective, said, messages(r))
		}
	}
}
