package examples_test

import (
	"fmt"
	"math"
	"testing"
)

// TestPaperVanDerPol repeats the Van der Pol study of the VectorizedAdjoint paper with its two methods and the steps of
// odeint.
func TestPaperVanDerPol(t *testing.T) {
	values, d := vdpTruth(t)
	var rows [][]string
	for _, method := range []string{"ck45", "dopri5"} {
		for e := 3; e <= 15; e += 2 {
			tol := fmt.Sprintf("1e-%d", e)
			s := studied(t, "vdp_study/vdp_study.ode", "solver.method", method, "solver.rtol", tol, "solver.atol", tol,
				"solver.controller", "odeint", "solver.stability", "off", "sens.control", "off")
			solution := 0.0
			var by [3]float64
			for i := range values {
				solution = max(solution, math.Abs(s.Values[i].Value-values[i])/math.Abs(values[i]))
				for k := range by {
					size := max(math.Abs(d[0][k]), math.Abs(d[1][k]))
					by[k] = max(by[k], math.Abs(s.Gradient[i*s.Columns+k]-d[i][k])/size)
				}
			}
			if e >= 7 && (solution > 1e-6 || by[1] > 1e-6) {
				t.Errorf("%s at %s: the solution is off by %g, derivatives by x0 by %g", method, tol, solution, by[1])
			}
			rows = append(rows, []string{
				"`" + method + "`", tol, fmt.Sprint(s.Stats.Steps), fmt.Sprintf("%.0e", solution),
				fmt.Sprintf("%.0e", by[0]), fmt.Sprintf("%.0e", by[1]), fmt.Sprintf("%.0e", by[2]),
			})
		}
	}
	tabled(t, "papers/vectorized_adjoint/README.md", "vdp", []string{
		"method", "tolerance", "steps", "solution", "by μ", "by x0", "by v0",
	}, rows)
}
