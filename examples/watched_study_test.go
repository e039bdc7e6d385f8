package examples_test

import (
	"fmt"
	"testing"
)

// TestWatchedDerivatives compares three kinds of runs: steps chosen for the states alone, steps in
// whose choice the derivatives take part, and runs that are repeated until the estimated errors of
// the derivatives are as small as asked.
func TestWatchedDerivatives(t *testing.T) {
	var rows [][]string
	for _, c := range []struct{ name, model string }{
		{"`vdp` (μ = 1000)", "vdp/vdp.ode"},
		{"`arenstorf`", "arenstorf/arenstorf.ode"},
		{"`lorenz`", "lorenz/lorenz.ode"},
	} {
		want := exactly(t, c.model)
		for _, tol := range []string{"1e-4", "1e-6"} {
			row := []string{c.name, tol}
			var errs []float64
			for _, how := range [][]string{nil, {"sens.control", "on"}, {"solver.sens_tol", tol}} {
				s := studied(t, c.model, append([]string{
					"solver.method", "dopri5", "solver.rtol", tol, "solver.atol", tol, "solver.stability", "off",
				}, how...)...)
				_, d := off(s, want)
				errs = append(errs, d)
				row = append(row, fmt.Sprintf("%d steps, %.1e", s.Stats.Steps, d))
			}
			if !(errs[1] < errs[0] && errs[2] < errs[1]) {
				t.Errorf("%s at %s: off by %.1e", c.model, tol, errs)
			}
			var asked float64
			if _, err := fmt.Sscan(tol, &asked); err != nil {
				t.Fatal(err)
			}
			if errs[2] > asked {
				t.Errorf("%s: sens_tol = %s, off by %.1e", c.model, tol, errs[2])
			}
			rows = append(rows, row)
		}
	}
	tabled(t, "../docs/methods-measured.md", "watched",
		[]string{"model", "tolerance", "as it is", "`control`", "`sens_tol`"}, rows)
}
