package compile_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestUnitsOfPriors holds that numbers of priors mean what their units say.
func TestUnitsOfPriors(t *testing.T) {
	model := func(prior string) string {
		return fmt.Sprintf(`
time t : [h] from 0 to 1 [h]
param lag : [h] = 0.5 [h] ~ %s
state x = lag
x' = 0
objective lp = log_prior()
`, prior)
	}
	for _, c := range []struct {
		prior, same string
	}{
		{"normal(45 [min], 6 [min])", "normal(0.75, 0.1)"},
		{"uniform(0 [min], 60 [min])", "uniform(0, 1)"},
		{"laplace(45 [min], 0.2 [h])", "laplace(0.75, 0.2)"},
		{"student(3, 45 [min], 0.1)", "student(3, 0.75, 0.1)"},
		{"exponential(24 [1/day])", "exponential(1)"},
		{"gamma(2, 1 [1/min])", "gamma(2, 60)"},
	} {
		var got [2]*odes.Sensitivities
		for i, prior := range []string{c.prior, c.same} {
			m, err := odes.Parse("m.ode", model(prior), odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got[i], err = m.Sensitivities(t.Context(), odes.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, x := range [][2]float64{
			{got[0].Values[0].Value, got[1].Values[0].Value}, {got[0].Gradient[0], got[1].Gradient[0]},
		} {
			if !(math.Abs(x[0]-x[1]) <= 1e-12*math.Abs(x[1])) {
				t.Errorf("%s: %v, and %s: %v", c.prior, x[0], c.same, x[1])
			}
		}
	}
	for _, prior := range []string{
		"normal(1 [kg], 6)", "uniform(0, 1 [kg])", "exponential(1 [h])", "lognormal(-1 [h], 1)", "student(3 [h], 1, 1)",
	} {
		_, err := odes.Parse("m.ode", model(prior), odes.ParseOptions{})
		if err == nil || !strings.Contains(err.Error(), "of the prior") {
			t.Errorf("%s: %v", prior, err)
		}
	}
}
