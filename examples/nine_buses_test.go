package examples_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

// nineBuses returns the model of three generators as PETSc's program ex9busopt.c has it: regulators without limits, and
// an integral that does not look for the times at which frequencies leave their band.
func nineBuses(t *testing.T) *odes.Model {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("nine_buses", "nine_buses.ode"))
	if err != nil {
		t.Fatal(err)
	}
	const integrand = "max(0, max(f[i] - fu, fl - f[i]))^2"
	plain := strings.Replace(string(text), integrand, "noevent("+integrand+")", 1)
	if plain == string(text) {
		t.Fatal("the integrand is another one")
	}
	m, err := odes.Parse("nine_buses.ode", plain, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestNineBusesPETSc compares with what PETSc's programs print that solve the model by the trapezoidal rule with steps
// of 0.01 s (src/ts/tutorials/power_grid/stability_9bus/output): ex9busopt the objective at two sets of powers, of
// which the second is printed to six digits, and its differences by the powers at the first (-tao_test_gradient), and
// ex9bus when a regulator meets its limit.
func TestNineBusesPETSc(t *testing.T) {
	steps := []odes.Setting{
		{Key: "solver.method", Value: "trapezoidal"},
		{Key: "solver.fixed_step", Value: "0.01"},
		{Key: "sens.trust", Value: "off"},
	}
	m := nineBuses(t)
	for _, c := range []struct {
		powers     []float64
		cost, most float64
	}{
		{[]float64{0.69, 1.59, 0.69}, 0.000217269, 5e-10},
		{[]float64{0.682262, 1.58035, 0.664403}, 1.08986e-05, 5e-9},
	} {
		s, err := m.Solve(t.Context(), odes.Options{
			Threads: 1, Of: []string{"cost"}, Settings: steps,
			Set: []odes.Assignment{
				{Name: "PG", Values: c.powers},
				{Name: "VRmax", Values: []float64{100}},
				{Name: "VRmin", Values: []float64{-100}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Values[0].Value; !(math.Abs(got-c.cost) <= c.most) {
			t.Errorf("powers %v cost %.9g, by PETSc %g", c.powers, got, c.cost)
		}
	}
	for _, mode := range []string{"adjoint", "complex"} {
		g, err := m.Sensitivities(t.Context(), odes.Options{
			Threads: 1, Of: []string{"cost"}, Wrt: []string{"PG"},
			Settings: append([]odes.Setting{{Key: "sens.mode", Value: mode}}, steps...),
			Set: []odes.Assignment{
				{Name: "VRmax", Values: []float64{100}},
				{Name: "VRmin", Values: []float64{-100}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{0.00419441, 0.00514051, 0.0136655} { // differences of PETSc's objective
			if got := g.Gradient[i]; !(math.Abs(got-want) <= 1e-5*want) {
				t.Errorf("%s: the derivative by PG[%d] is %.9g, not %g", mode, i+1, got, want)
			}
		}
	}
	s, err := m.Solve(t.Context(), odes.Options{Threads: 1, Of: []string{"Eq1"}, Set: []odes.Assignment{
		{Name: "PG", Values: []float64{0.716786142395021, 1.63, 0.85}}, // of ex9bus
	}})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, e := range s.Events {
		if e.Name == "at_top" {
			found = true
			if !slices.Equal(e.Index, []int{3}) || !(math.Abs(e.T-1.0895) <= 3e-5) {
				t.Errorf("regulator %v is at its limit from %g s on, by PETSc the third from 1.08949 or 1.08954 s on",
					e.Index, e.T)
			}
		}
	}
	if !found {
		t.Error("no regulator meets its limit")
	}
}

// TestNineBusesAtRest requires steps of all implicit Runge–Kutta methods from the steady state before the fault, in
// which a voltage is zero but for rounding.
func TestNineBusesAtRest(t *testing.T) {
	m := nineBuses(t)
	for _, method := range []string{
		"backward_euler", "trapezoidal", "implicit_midpoint", "trbdf2", "sdirk4", "esdirk54", "kvaerno5", "gauss4",
		"gauss6", "radau5", "radau9", "radau13", "lobatto_iiic4",
	} {
		s, err := m.Solve(t.Context(), odes.Options{
			Threads: 1, Of: []string{"Eq1"}, Set: []odes.Assignment{
				{Name: "T", Values: []float64{0.05}}, {Name: "PG", Values: []float64{0.716786142395021, 1.63, 0.85}},
			},
			Settings: []odes.Setting{
				{Key: "solver.method", Value: method},
				{Key: "solver.fixed_step", Value: "0.01"},
				{Key: "sens.trust", Value: "off"},
			},
		})
		if err != nil {
			t.Errorf("%s: %v", method, err)
			continue
		}
		if got := s.Values[0].Value; !(math.Abs(got-1.0322878) < 1e-6) {
			t.Errorf("%s: Eq[1] = %.9g", method, got)
		}
	}
}
