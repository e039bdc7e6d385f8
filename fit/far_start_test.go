package fit_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestFarFromStart minimises convex objectives from starts where they are 10¹⁰ to 10¹⁶ times as large, since small
// changes grow by so much along the run: what is left to gain is no small part of the objective where a fit says that
// it has come to a minimum. The minima were computed by quadratic programs.
func TestFarFromStart(t *testing.T) {
	for _, c := range []struct {
		text string
		best float64
	}{
		{`time t from 0 to 3
control u = -1 piecewise linear on grid(0, 3, 9)
param d = 0 in [-1, 1]
state x = -1.3, z = -0.11
x' = 5.27*x + 0.88*z - 1.97*u - 0.08
z' = 0.36*z + u
objective J = integral(0.1*u^2) + (final(x) - 1)^2 + 0.5*d^2 + 1.5*max_over(x)
fit { minimize = J  over = [u, d]  intervals = none  max_iter = 100 }
solver { rtol = 1e-9  atol = 1e-11 }`, 1.5926},
		{`time t from 0 to 2
control v = 0.5 piecewise constant on grid(0, 2, 9)
state x = -0.49, z = 0.96
x' = 7.9*x - 0.84*z + 1.98*v
z' = -2.74*x - 0.48*z + v + 0.4
event every 0.364 from 0.182 { z -= 0.174 }
objective J = integral(0.5*(x - 1)^2 + 0.5*z^2 + 0.1*v^2 + 0.65*x) + 5*final(x)^2 + (final(z) - 1)^2 + 1.5*max_over(z)
constraint a: final(x) == 0
constraint b: final(z) == 1
constraint c: sum_at([0, 0.22], z) <= 1.03
fit { minimize = J  over = [v]  intervals = none }
solver { rtol = 1e-9  atol = 1e-11 }`, 4880.96},
	} {
		m, err := odes.Parse("far.ode", c.text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := fit.Run(t.Context(), m, fit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if off := math.Abs(r.Objective.Value/c.best - 1); r.Status == "ok" && off > 1e-3 {
			t.Errorf("ok at %g, not %g", r.Objective.Value, c.best)
		}
	}
}
