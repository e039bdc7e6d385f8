package fit_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestSteadyData fits data of which some are of the steady state, in one run and in two experiments: the value at the
// estimates is that of the likelihood of all of them in closed form, it is least there, and the standard errors are
// those of its second derivatives. The noise of each row is its own, and what is observed in one of two observations is
// of the steady state alone.
func TestSteadyData(t *testing.T) {
	const model = `
time t from 0 to 5
param k = 0.5 in [0.01, 5], s = 1.5 in [0.1, 10]
state x = 1
x' = s - k*x
data D {
  time = [0.5, inf, 1, 2, 1, inf]  y = [1.55, 4.1, 1.99, 2.6, 1.9, 4.05]  id = [1, 1, 1, 1, 2, 2]
  sd = [0.1, 0.2, 0.1, 0.15, 0.1, 0.3]
}
data E { time = [inf]  z = [8]  id = [1] }
observe o = x ~ normal(D.sd) from D.y
observe two = 2*x ~ normal(0.3) from E.z
objective J = nll()
fit { over = [k, s] }
solver { rtol = 1e-9  atol = 1e-11 }
`
	inf := math.Inf(1)
	times, data := []float64{0.5, inf, 1, 2, 1, inf}, []float64{1.55, 4.1, 1.99, 2.6, 1.9, 4.05}
	sds := []float64{0.1, 0.2, 0.1, 0.15, 0.1, 0.3}
	nll := func(k, s float64) (sum float64) {
		add := func(r, sd float64) { sum += r*r/(2*sd*sd) + math.Log(sd*math.Sqrt(2*math.Pi)) }
		for i, y := range data {
			add(y-s/k-(1-s/k)*math.Exp(-k*times[i]), sds[i])
		}
		add(8-2*s/k, 0.3)
		return sum
	}
	const two = "experiment a { use D where id == 1  use E }\nexperiment b { use D where id == 2 }"
	for _, experiments := range []string{"", two} {
		m, err := odes.Parse("steady.ode", model+experiments, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := fit.Run(t.Context(), m, fit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		k, s := r.Estimates[0].Value, r.Estimates[1].Value
		at := nll(k, s)
		const d = 1e-3 // differences of fourth order
		curve := func(f func(x float64) float64) float64 {
			return (16*(f(d)+f(-d)) - f(2*d) - f(-2*d) - 30*f(0)) / (12 * d * d)
		}
		kk := curve(func(x float64) float64 { return nll(k+x, s) })
		ss := curve(func(x float64) float64 { return nll(k, s+x) })
		ks := (curve(func(x float64) float64 { return nll(k+x, s+x) }) - kk - ss) / 2
		near(t, "the standard error of k", r.Estimates[0].StdErr, math.Sqrt(ss/(kk*ss-ks*ks)), 1e-5)
		near(t, "the standard error of s", r.Estimates[1].StdErr, math.Sqrt(kk/(kk*ss-ks*ks)), 1e-5)
		if r.Rows != len(data)+1 || r.Algorithm != "least_squares" {
			t.Errorf("%d values by %s", r.Rows, r.Algorithm)
		}
		if math.Abs(r.Objective.Value-at) > 1e-7 {
			t.Errorf("J = %v at the estimates, and %v in closed form", r.Objective.Value, at)
		}
		for _, h := range []float64{-1e-2, 1e-2} {
			if nll(k*(1+h), s) < at || nll(k, s*(1+h)) < at {
				t.Errorf("k = %v, s = %v is no minimum", k, s)
			}
		}
	}
}
