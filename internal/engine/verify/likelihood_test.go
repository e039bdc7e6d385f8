package verify_test

import (
	"context"
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestNoise verifies the likelihood's gradient for every noise model, with
// missing values, deviations from a column and censored rows.
func TestNoise(t *testing.T) {
	for noise, column := range map[string]string{
		"normal(sd)":                                "y",
		"normal(D.s)":                               "y",
		"normal(sd + 0.1*o)":                        "y",
		"normal(sd, below = D.lloq)":                "z",
		"normal(1e-3*sd, below = 0.3)":              "z",
		"lognormal(sd)":                             "y",
		"lognormal(sd, below = D.lloq)":             "z",
		"lognormal(1e-3*sd, below = 0.4*sd + 0.03)": "z",
		"laplace(sd)":                               "y",
		"laplace(sd, below = 0.35)":                 "z",
		"loglaplace(sd)":                            "y",
		"loglaplace(sd, below = D.lloq)":            "z",
		"student(nu, sd)":                           "y",
		"student(100*nu, sd)":                       "y",
		"poisson()":                                 "n",
		"negbin(nu)":                                "n",
		"negbin(100*nu)":                            "n",
	} {
		m, err := odes.Parse("noise.ode", `
time t from 0 to 4
param k = 0.5, x0 = 1.2, sd = 0.6, nu = 4.5
state x = x0
x' = -k*x
data D {
  time = [0.5, 1, 2, 3, 3.5]
  y = [1, 0.7, nan, 0.2, 0.25]
  s = [0.1, 0.2, 0.1, 0.3, 0.1]
  z = [1, 0.7, 0.4, 0, 0.3]
  lloq = [0.2, nan, 0.3, 0.3, 0.2]
  n = [1, 0, nan, 2, 0]
}
observe o = x ~ `+noise+` from D.`+column+`
objective L = nll()
`, odes.ParseOptions{})
		if err != nil {
			t.Errorf("%s: %v", noise, err)
			continue
		}
		v, err := m.Verify(context.Background(), odes.Options{}, odes.VerifyOptions{})
		if err != nil || v.Wrong() || math.IsNaN(v.Objectives[0].Value) || math.IsInf(v.Objectives[0].Value, 0) {
			t.Errorf("%s: %+v, %v", noise, v, err)
		}
	}
}

// TestMissing leaves out rows without a value, and only those.
func TestMissing(t *testing.T) {
	m, err := odes.Parse("missing.ode", `
time t from 0 to 4
state x = 1
x' = -x
data D { time = [1, 2, 3]  y = [0.4, nan, 0.1]  s = [0.1, nan, 0.2] }
observe o = x ~ normal(D.s) from D.y
objective L = nll(D)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Solve(context.Background(), odes.Options{Settings: modeltest.Settings(
		"solver.rtol", "1e-12",
		"solver.atol", "1e-14",
	)})
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for _, r := range [][3]float64{{1, 0.4, 0.1}, {3, 0.1, 0.2}} {
		z := (r[1] - math.Exp(-r[0])) / r[2]
		want += 0.5*z*z + math.Log(r[2]) + 0.5*math.Log(2*math.Pi)
	}
	if !modeltest.Near(s.Values[0].Value, want, 1e-11) {
		t.Errorf("nll = %.15g, want %.15g", s.Values[0].Value, want)
	}
}

// TestPriors verifies the gradient of every prior, bounded and not, and that a
// value outside the support has no density.
func TestPriors(t *testing.T) {
	for _, prior := range []string{
		"normal(0, 1)", "lognormal(0, 1)", "laplace(0, 1)", "loglaplace(0, 1)", "student(3, 0, 1)",
		"gamma(2, 3)", "beta(2, 3)", "exponential(2)", "uniform(0, 1)",
	} {
		for _, bounds := range []string{"", " in [0.1, 0.9]"} {
			m, err := odes.Parse("prior.ode", `
time t from 0 to 1
param k = 0.5`+bounds+` ~ `+prior+`
param v[2] = [0.3, 0.6]`+bounds+` ~ `+prior+`
state x = k + sum(v)
x' = -k*x
objective P = log_prior()
objective L = final(x^2) - log_prior()
`, odes.ParseOptions{})
			if err != nil {
				t.Errorf("%s%s: %v", prior, bounds, err)
				continue
			}
			v, err := m.Verify(context.Background(), odes.Options{}, odes.VerifyOptions{})
			if err != nil || v.Wrong() || math.IsNaN(v.Objectives[0].Value) || math.IsInf(v.Objectives[0].Value, 0) {
				t.Errorf("%s%s: %+v, %v", prior, bounds, v, err)
			}
		}
	}
	m, err := odes.Parse("outside.ode", `
time t from 0 to 1
param k = -0.5 ~ gamma(2, 3)
state x = 1
x' = -k*x
objective P = log_prior()
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Solve(context.Background(), odes.Options{})
	if err != nil || !math.IsInf(s.Values[0].Value, -1) {
		t.Errorf("log prior outside its support: %v, %v", s, err)
	}
}
