package trust_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/testing/modeltest"
)

// TestLevelsWithinRounding has two levels that jump at the same time but for rounding, each inside the condition of a
// mode. They jump one after the other, and what depends on the second one moves with its own time.
func TestLevelsWithinRounding(t *testing.T) {
	const window = "(if abs(floor((t - %[1]s)/%[2]s)) < 0.5 then A else 0)"
	const periodic = "(if mod(t - %[1]s, 0.01) < %[2]s then A else 0)"
	const steps = "(if step(t - %[1]s) - step(t - %[1]s - %[2]s) > 0.5 then A else 0)"
	for _, c := range []struct {
		form     string
		a, w, at float64 // of the second one
		want     [2]float64
	}{
		{window, 0.05, 2e-5, 1, [2]float64{0, 1}},
		{window, 0.05, 3e-5, 1, [2]float64{0, 1}},
		{window, 0.002 + 2e-5, 2e-5, 1, [2]float64{0, 1}},
		{periodic, 0.002, 2e-5, 10, [2]float64{0, 10}},
		{periodic, 0.042, 3e-5, 10, [2]float64{0, 10}},
		{steps, 0.002 + 2e-5, 2e-5, 1, [2]float64{0, 1}},
	} {
		text := "time t from 0 to 0.1\nparam A = 1, a = 0.002, w = 2e-05\n" +
			fmt.Sprintf("param a2 = %.17g, w2 = %.17g\nstate y = 0\n", c.a, c.w) +
			"y' = " + fmt.Sprintf(c.form, "a", "w") + " + " + fmt.Sprintf(c.form, "a2", "w2") +
			"\nobjective J = final(y)"
		s := modeltest.Run(t, text, "sens.trust", "off", "solver.max_events", "1000000")
		want := []float64{c.at * (2e-5 + c.w), 0, c.at, c.want[0], c.want[1]}
		for k, w := range want {
			if got := s.Gradient[k]; !(math.Abs(got-w) < 1e-9) {
				t.Errorf("%s, a2 = %v, w2 = %v: dJ/d%s = %v, want %v", c.form, c.a, c.w, s.Variables[k].Name, got, w)
			}
		}
	}
}
