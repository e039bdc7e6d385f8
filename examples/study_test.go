package examples_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
)

// studied runs a model with settings given as key and value.
func studied(t *testing.T, model string, settings ...string) *odes.Sensitivities {
	t.Helper()
	m, err := odes.ParseFile(model)
	if err != nil {
		t.Fatal(err)
	}
	o := odes.Options{Threads: 1}
	for i := 0; i < len(settings); i += 2 {
		o.Settings = append(o.Settings, odes.Setting{Key: settings[i], Value: settings[i+1]})
	}
	s, err := m.Sensitivities(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// exactly returns a run accurate enough to measure others by.
func exactly(t *testing.T, model string) *odes.Sensitivities {
	return studied(t, model, "solver.method", "vern9", "solver.rtol", "1e-14", "solver.atol", "1e-16")
}

// off returns the largest errors of values and of derivatives, each relative to the largest number of its row.
func off(got, want *odes.Sensitivities) (values, derivatives float64) {
	for i, v := range want.Values {
		values = max(values, math.Abs(got.Values[i].Value-v.Value)/math.Abs(v.Value))
		row := want.Gradient[i*want.Columns : (i+1)*want.Columns]
		size := 0.0
		for _, x := range row {
			size = max(size, math.Abs(x))
		}
		for k, x := range row {
			derivatives = max(derivatives, math.Abs(got.Gradient[i*want.Columns+k]-x)/size)
		}
	}
	return values, derivatives
}

// TestOrdersOfAdjoints observes, as the authors of DENSERKS did, that the
// adjoint of a method converges with the method's order: steps of fixed length on the Arenstorf orbit and on the oscillator of Van der Pol.
func TestOrdersOfAdjoints(t *testing.T) {
	for _, c := range []struct {
		model, method string
		order         float64
		between       float64 // order of the dense output
		steps         []float64
	}{
		{"vdp/vdp_classic.ode", "dopri5", 5, 4, []float64{0.04, 0.02, 0.01}},
		{"vdp/vdp_classic.ode", "dopri8", 8, 3, []float64{0.16, 0.08, 0.04}},
		{"vdp/vdp_classic.ode", "rk4", 4, 3, []float64{0.04, 0.02, 0.01}},
		{"vdp/vdp_classic.ode", "vern9", 9, 9, []float64{0.2, 0.1, 0.05}},
		{"lorenz/lorenz.ode", "dopri5", 5, 4, []float64{0.01, 0.005, 0.0025}},
		{"lorenz/lorenz.ode", "dopri8", 8, 3, []float64{0.04, 0.02, 0.01}},
	} {
		want := exactly(t, c.model)
		for _, mode := range []string{"adjoint", "continuous"} {
			var errs []float64
			for _, h := range c.steps {
				got := studied(t, c.model, "solver.method", c.method, "solver.fixed_step", fmt.Sprint(h), "sens.mode", mode)
				_, d := off(got, want)
				errs = append(errs, d)
			}
			n := len(errs) - 1
			order := math.Log(errs[0]/errs[n]) / math.Log(c.steps[0]/c.steps[n])
			t.Logf("%s %s %s: errors %.2g at h = %v, order %.2f", c.model, c.method, mode, errs, c.steps, order)
			least := c.order
			if mode == "continuous" { // no better than what it reads between steps
				least = min(least, c.between+1)
			}
			if order < least-0.55 {
				t.Errorf("%s %s %s: errors %.2g at h = %v, order %.2f, want %v", c.model, c.method, mode, errs, c.steps, order, least)
			}
		}
	}
}

// TestTolerancesForwardAndBack varies the tolerances of the run and of the continuous adjoint apart. The run decides: its steps
// bound those of the way back, whose tolerance matters only where the adjoint is rougher than the solution.
func TestTolerancesForwardAndBack(t *testing.T) {
	const model = "vdp/vdp_classic.ode"
	want := exactly(t, model)
	at := func(forward, back string) float64 {
		_, d := off(studied(t, model, "sens.mode", "continuous", "solver.method", "dop853",
			"solver.rtol", forward, "solver.atol", forward, "sens.rtol", back), want)
		return d
	}
	tols := []string{"1e-4", "1e-7", "1e-10", "1e-13"}
	var table [4][4]float64
	for i, f := range tols {
		for j, b := range tols {
			table[i][j] = at(f, b)
		}
		t.Logf("forward %s: %.1e back", f, table[i])
	}
	for i := range 3 {
		if !(table[i][3] > 10*table[i+1][3]) {
			t.Errorf("a tighter run does not help: %.1e", table)
		}
	}
	for i, row := range table {
		for _, d := range row {
			if d > 10*row[3]+1e-11 {
				t.Errorf("forward at %s: a loose way back costs accuracy: %.1e", tols[i], row)
			}
		}
	}
}

// TestSolutionAndGradient follows the errors of solution and gradient over the tolerances from 1e-3 to 1e-13, for every way
// to differentiate: the gradient loses about as many digits as the problem does, and no way loses its footing.
func TestSolutionAndGradient(t *testing.T) {
	for _, model := range []string{"vdp/vdp_classic.ode", "lotka_volterra/lotka_volterra.ode"} {
		want := exactly(t, model)
		for _, mode := range []string{"adjoint", "tangent", "forward", "continuous"} {
			last := math.Inf(1)
			line := ""
			for e := 3; e <= 13; e += 2 {
				tol := fmt.Sprintf("1e-%d", e)
				v, d := off(studied(t, model, "sens.mode", mode, "solver.method", "dop853", "solver.rtol", tol, "solver.atol", tol), want)
				line += fmt.Sprintf("  %.1e/%.1e", v, d)
				if e >= 7 && !(d < last) && d > 1e-11 {
					t.Errorf("%s %s at %s: derivatives off by %.2g, %.2g at the tolerance before", model, mode, tol, d, last)
				}
				last = d
			}
			if last > 1e-9 {
				t.Errorf("%s %s at 1e-13: derivatives off by %.2g", model, mode, last)
			}
			t.Logf("%-35s %-10s %s", model, mode, line)
		}
	}
}
