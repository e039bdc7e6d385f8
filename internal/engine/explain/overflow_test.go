package explain_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestOverflow has objectives that are infinite. Their warnings name the expressions that are, and the result is
// partial.
func TestOverflow(t *testing.T) {
	const model = `
time t from 0 to 1
param k = 1, z = 0
param a = 20 in [0.01, 10] ~ lognormal(0, 1)
state x = 1
x' = 700*k*x
`
	for objective, where := range map[string]string{
		"J = exp(final(x))":                                         "exp(final(x))",
		"J = 2*final(exp(x)) + 1":                                   "final(exp(x))",
		"J = log(z) + final(x)":                                     "log(z)",
		"J = if k > 0 then final(x)/z else log(z)":                  "final(x)/z",
		"J[i] = i*exp(i*k*final(x)/3e301) for i in 1:3":             "exp(i*k*final(x)/3e301)",
		"J = log_prior() + final(x)":                                "",
		"J = final(x)\nobjective K = final(x) - exp(1000*final(x))": "exp(1000*final(x))",
	} {
		want := `"` + where + `" is`
		if where == "" {
			want = `the value 20 of "a" is outside its bounds, so that its prior is 0`
		}
		m, err := odes.Parse("m.ode", model+"objective "+objective, odes.ParseOptions{})
		if err != nil {
			t.Fatal(objective, err)
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{})
		if err != nil {
			t.Fatal(objective, err)
		}
		v, err := m.Solve(context.Background(), odes.Options{})
		if err != nil {
			t.Fatal(objective, err)
		}
		if s.Status != "partial" {
			t.Errorf("%s: status %q", objective, s.Status)
		}
		some := false
		for i, value := range s.Values {
			for _, of := range [][]string{value.Warnings, v.Values[i].Warnings} {
				said := strings.Contains(strings.Join(of, "\n"), "the value is infinite: "+want)
				if infinite := math.IsInf(value.Value, 0); said != infinite {
					t.Errorf("%s: %s = %v has the warnings %q", objective, value.Name, value.Value, of)
				} else if infinite {
					some = true
				}
			}
		}
		if !some {
			t.Errorf("%s: %v is finite", objective, s.Values)
		}
	}
}
