package odes_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

func tolerated(t *testing.T, text string, settings ...string) (*odes.Sensitivities, error) {
	t.Helper()
	m, err := odes.Parse("test.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := odes.Options{}
	for i := 0; i < len(settings); i += 2 {
		o.Settings = append(o.Settings, odes.Setting{Key: settings[i], Value: settings[i+1]})
	}
	return m.Sensitivities(context.Background(), o)
}

// TestQuadTol has integrals that vary while the state rests: without quad_tol steps pass over them.
func TestQuadTol(t *testing.T) {
	const model = `
time t from 0 to 10
param a = 100
state x = 1
x' = 0*x
objective S = integral(exp(-a*(t - 5)^2))
`
	value, slope := math.Sqrt(math.Pi/100), -0.5*math.Sqrt(math.Pi/100)/100
	s, err := tolerated(t, model, "solver.rtol", "1e-6")
	if err != nil {
		t.Fatal(err)
	}
	if off := math.Abs(s.Values[0].Value/value - 1); off < 0.1 {
		t.Fatalf("off by %g without quad_tol: the test can fail no more", off)
	}
	for _, tol := range []string{"1e-4", "1e-7", "1e-10"} {
		s, err := tolerated(t, model, "solver.rtol", "1e-6", "solver.quad_tol", tol, "solver.hmax", "0.5")
		if err != nil {
			t.Fatal(err)
		}
		var x float64
		if _, err := fmt.Sscan(tol, &x); err != nil {
			t.Fatal(err)
		}
		if off := math.Abs(s.Values[0].Value/value - 1); off > 100*x {
			t.Errorf("quad_tol = %s: the integral is off by %g", tol, off)
		}
		if off := math.Abs(s.Gradient[0]/slope - 1); off > 1e4*x {
			t.Errorf("quad_tol = %s: its derivative is off by %g", tol, off)
		}
	}
}

// TestToleranceOfEachState gives two equal equations tolerances of their own: each decides about its own error.
func TestToleranceOfEachState(t *testing.T) {
	const model = `
time t from 0 to 20
param k = 1
state x = 1, v[2] = [0, 1]
x'    = v[1]
v[1]' = -k*x
v[2]' = -3*v[2]
objective J = final(x)
`
	steps := func(atol string) int {
		t.Helper()
		s, err := tolerated(t, model, "solver.rtol", "1e-12", "solver.atol", atol)
		if err != nil {
			t.Fatal(err)
		}
		return s.Stats.Steps
	}
	all, last, first := steps("[1e-3, 1e-3, 1e-3]"), steps("[1e-3, 1e-3, 1e-9]"), steps("[1e-9, 1e-3, 1e-3]")
	if scalar := steps("1e-3"); scalar != all {
		t.Errorf("%d steps with one tolerance, %d with three equal ones", scalar, all)
	}
	if last <= all || first <= last {
		t.Errorf("%d steps with loose tolerances, %d with a tight one on v[2], %d with one on x", all, last, first)
	}
	_, err := tolerated(t, model, "solver.atol", "[1e-3, 1e-3]")
	if list := diag.Of(err); len(list) != 1 || list[0].Code != odes.CodeSetting {
		t.Errorf("two tolerances for three states: %v", err)
	}
}

// TestGrowthOfSteps lets steps grow at different rates from a first one that is much too short.
func TestGrowthOfSteps(t *testing.T) {
	const model = `
time t from 0 to 1
param k = 1
state x = 1
x' = -k*x
objective J = final(x)
solver { h0 = 1e-6  controller = i }
`
	steps := func(growth string) int {
		t.Helper()
		s, err := tolerated(t, model, "solver.max_growth", growth)
		if err != nil {
			t.Fatal(err)
		}
		return s.Stats.Steps
	}
	own, err := tolerated(t, model)
	if err != nil {
		t.Fatal(err)
	}
	if slow, five, ten := steps("2"), steps("5"), steps("10"); slow <= five || five <= ten || five != own.Stats.Steps {
		t.Errorf("%d steps that may double, %d that may grow to five times, %d to ten; %d by the controller's own bound of 5", slow, five, ten, own.Stats.Steps)
	}
	_, err = tolerated(t, model, "solver.max_growth", "1")
	if list := diag.Of(err); len(list) != 1 || list[0].Code != odes.CodeSetting {
		t.Errorf("steps that may not grow: %v", err)
	}
}
