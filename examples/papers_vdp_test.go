package examples_test

import (
	"fmt"
	"math"
	"testing"
)

// TestPaperVanDerPol repeats the Van der Pol study of the VectorizedAdjoint paper with its two methods and the steps of
// odeint.
func TestPaperVanDerPol(t *testing.T) {
	var rows [][]string
	for _, method := range []string{"ck45", "dopri5"} {
		for e := 3; e <= 15; e += 2 {
			row, errs := vdpRow(t, method, e, "solver.controller", "odeint", "solver.stability", "off", "sens.control",
				"off")
			if e >= 7 && (errs[0] > 1e-6 || errs[2] > 1e-6) {
				t.Errorf("%s at 1e-%d: the solution is off by %g, derivatives by x0 by %g", method, e, errs[0], errs[2])
			}
			rows = append(rows, row)
		}
	}
	tabled(t, "papers/vectorized_adjoint/README.md", "vdp", vdpHeads, rows)
}

var vdpHeads = []string{"method", "tolerance", "steps", "solution", "by μ", "by x0", "by v0"}

// vdpRow measures the errors of the solution and of derivatives by μ, x0 and v0 at the tolerance 1e-e.
func vdpRow(t *testing.T, method string, e int, settings ...string) (row []string, errs [4]float64) {
	t.Helper()
	values, d := vdpTruth(t)
	tol := fmt.Sprintf("1e-%d", e)
	s := studied(t, "vdp_study/vdp_study.ode", append([]string{
		"solver.method", method, "solver.rtol", tol, "solver.atol", tol,
	}, settings...)...)
	for i := range values {
		errs[0] = max(errs[0], math.Abs(s.Values[i].Value-values[i])/math.Abs(values[i]))
		for k := range 3 {
			size := max(math.Abs(d[0][k]), math.Abs(d[1][k]))
			errs[1+k] = max(errs[1+k], math.Abs(s.Gradient[i*s.Columns+k]-d[i][k])/size)
		}
	}
	row = []string{"`" + method + "`", tol, fmt.Sprint(s.Stats.Steps)}
	for _, x := range errs {
		row = append(row, fmt.Sprintf("%.0e", x))
	}
	return row, errs
}

// TestPaperVanDerPolImplicit has implicit methods and an additive one beside them. The implicit ones lose nothing at
// any tolerance.
func TestPaperVanDerPolImplicit(t *testing.T) {
	var rows [][]string
	for _, method := range []string{"rodas5p", "radau5", "radau9", "esdirk54", "kencarp4"} {
		for e := 3; e <= 11; e += 2 {
			row, errs := vdpRow(t, method, e, "sens.control", "off")
			worst := max(errs[0], errs[2])
			if worst > 2e-3 || // twice the loosest tolerance
				e == 11 && worst > 1e-9 || method != "kencarp4" && errs[3] > 1e-3 {
				t.Errorf("%s at 1e-%d: off by %g, by v0 %g", method, e, worst, errs[3])
			}
			rows = append(rows, row)
		}
	}
	tabled(t, "papers/vectorized_adjoint/README.md", "vdp implicit", vdpHeads, rows)
}

// TestPaperBackwards: the errors of continuous adjoints stay below a thousand times the tolerance, down to 1e-14.
func TestPaperBackwards(t *testing.T) {
	const model = "glv/glv.ode"
	want := exactly(t, model)
	var rows [][]string
	for e := 3; e <= 13; e += 2 {
		row := []string{fmt.Sprintf("1e-%d", e)}
		for _, mode := range []string{"adjoint", "continuous", "backsolve"} {
			tol := fmt.Sprintf("1e-%d", e)
			s := studied(t, model, "solver.method", "vern9", "solver.rtol", tol, "solver.atol", tol, "sens.rtol", tol,
				"sens.atol", tol, "sens.mode", mode)
			_, d := off(s, want)
			if d > 1e3*math.Pow(10, -float64(e)) {
				t.Errorf("%s at %s: off by %g", mode, tol, d)
			}
			row = append(row, fmt.Sprintf("%.0e", d))
		}
		rows = append(rows, row)
	}
	tabled(t, "papers/vectorized_adjoint/README.md", "backwards", []string{
		"tolerance", "discrete", "continuous", "backsolve",
	}, rows)
}
