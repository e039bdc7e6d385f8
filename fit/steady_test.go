package fit_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestSteadyData fits data of which some are of the steady state, in one run and in two experiments: the value at the
// estimates is that of the likelihood of all of them in closed form, and it is least there.
func TestSteadyData(t *testing.T) {
	const model = `
time t from 0 to 5
param k = 0.5 in [0.01, 5], s = 1.5 in [0.1, 10]
state x = 1
x' = s - k*x
data D { time = [0.5, 1, 2, inf, 1]  y = [1.55, 1.99, 2.6, 4.1, 1.9]  id = [1, 1, 1, 1, 2] }
observe o = x ~ normal(0.1) from D.y
objective J = nll()
fit { over = [k, s] }
`
	times, data := []float64{0.5, 1, 2, math.Inf(1), 1}, []float64{1.55, 1.99, 2.6, 4.1, 1.9}
	nll := func(k, s float64) (sum float64) {
		for i, y := range data {
			r := (y - s/k - (1-s/k)*math.Exp(-k*times[i])) / 0.1
			sum += r*r/2 + math.Log(0.1*math.Sqrt(2*math.Pi))
		}
		return sum
	}
	const two = "experiment a { use D where id == 1 }\nexperiment b { use D where id == 2 }"
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
		if math.Abs(r.Objective.Value-at) > 1e-4 {
			t.Errorf("J = %v at the estimates, and %v in closed form", r.Objective.Value, at)
		}
		for _, h := range []float64{-1e-2, 1e-2} {
			if nll(k*(1+h), s) < at || nll(k, s*(1+h)) < at {
				t.Errorf("k = %v, s = %v is no minimum", k, s)
			}
		}
	}
}
