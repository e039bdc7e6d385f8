package verify_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestVerify checks the gradients of the examples by the other methods.
func TestVerify(t *testing.T) {
	checked, linear := 0, 0
	for _, model := range []string{
		"bounce/bounce", "vdp/vdp", "swing/swing", "harvest/harvest", "switched/switched", "stairs/stairs",
		"projectile/projectile", "pk/pk", "glv/glv", "thermostat/thermostat", "izhikevich/izhikevich",
	} {
		m, err := odes.ParseFile(modeltest.Path("examples/" + model + ".ode"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := m.Verify(t.Context(), odes.Options{}, odes.VerifyOptions{Seed: 1})
		if err != nil {
			t.Errorf("%s: %v", model, err)
			continue
		}
		for _, o := range v.Objectives {
			checked++
			if math.IsNaN(o.Order) {
				linear++
			} else if math.Abs(o.Order-2) > 0.1 {
				t.Errorf("%s: %s: remainders %v are of order %.2f, want 2", model, o.Name, o.Remainders, o.Order)
			}
			if o.Outcome != "ok" {
				t.Errorf("%s: %s is %s: off by %.2g from complex steps, by %.2g from %s", model, o.Name, o.Outcome,
					o.Complex, o.CrossCheck, v.CrossCheck)
			}
		}
	}
	if checked < 30 || linear > checked/4 {
		t.Fatalf("only %d objectives were checked, %d had remainders of no order", checked, linear)
	}
}

// TestVerifyChaos verifies a chaotic run over many times its horizon. The comparison is with the run's
// own steps, so chaos must not disturb it. Modes that differentiate the equations first, whose
// derivatives are not those of the computed numbers, must not be called wrong.
func TestVerifyChaos(t *testing.T) {
	for _, c := range []struct {
		model string
		opts  odes.Options
	}{
		{"lorenz/lorenz", odes.Options{Set: []odes.Assignment{{Name: "T", Values: []float64{30}}}}},
		{"lorenz/lorenz", odes.Options{Settings: modeltest.Settings("sens.mode", "continuous", "solver.rtol", "1e-6")}},
		{"lorenz/lorenz", odes.Options{Settings: modeltest.Settings("sens.mode", "forward")}},
		{"pk/pk_oral", odes.Options{Settings: modeltest.Settings("sens.mode", "continuous")}},
		// an amount as small as atol
	} {
		m, err := odes.ParseFile(modeltest.Path("examples/" + c.model + ".ode"))
		if err != nil {
			t.Fatal(err)
		}
		opts := c.opts
		v, err := m.Verify(t.Context(), opts, odes.VerifyOptions{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		if v.Wrong() {
			t.Errorf("%v: %+v", opts, v.Objectives)
		}
	}
}

// TestVerifyLarge checks a gradient of two thousand columns by tangents along the directions, which
// must notice a wrong derivative too.
func TestVerifyLarge(t *testing.T) {
	m, err := odes.ParseFile(modeltest.Path("examples/gray_scott/gray_scott.ode"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Verify(t.Context(), odes.Options{}, odes.VerifyOptions{Seed: 1, Directions: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Large || v.CrossCheck != "tangent" || v.Wrong() || v.Objectives[0].CrossCheck == 0 {
		t.Errorf("%+v", v)
	}
}

// TestVerifyTightened checks that Verify looks at the gradient that sens_tol asked for, not at that of
// the tolerances in the settings.
func TestVerifyTightened(t *testing.T) {
	m, err := odes.ParseFile(modeltest.Path("examples/vdp/vdp_classic.ode"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Verify(t.Context(), odes.Options{Settings: modeltest.Settings(
		"solver.rtol", "1e-3",
		"solver.sens_tol", "1e-5",
	)},
		odes.VerifyOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range v.Objectives {
		if o.Outcome != "ok" || o.Complex > 1e-11 || math.Abs(o.Order-2) > 0.1 {
			t.Errorf("%+v", o)
		}
	}
}

// TestVerifyExperiments: moves along a direction are moves of all experiments, or remainders would be rounding.
func TestVerifyExperiments(t *testing.T) {
	m, err := odes.Parse("m.ode", `
time t from 0 to 3
param k = 0.5, s = 0.2, dose = 1
state x = dose
x' = -k*x
data D {
  time = [1, 2, 1, 2]
  y    = [0.6, 0.4, 1.3, 0.7]
  who  = ["a", "a", "b", "b"]
}
observe y = x ~ normal(s) from D.y
experiment a { use D where who == "a" }
experiment b { dose = 2*dose  use D where who == "b" }
objective loss = nll()
objective square = nll()^2 + final(x)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Verify(t.Context(), odes.Options{Threads: 1}, odes.VerifyOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range v.Objectives {
		if o.Outcome != "ok" || !(math.Abs(o.Order-2) < 0.1) || o.Remainders[0] < 1e-6 {
			t.Errorf("%s: %s, remainders %.2g of order %.3g", o.Name, o.Outcome, o.Remainders, o.Order)
		}
	}
}

// TestVerifyApproximations verifies modes that differentiate the equations first. What converges
// slowly is inaccurate and not wrong, and what does not converge is wrong.
func TestVerifyApproximations(t *testing.T) {
	for _, c := range []struct {
		model, objective string
		settings         []odes.Setting
		want             string
	}{
		{"thermostat/thermostat", "cost", modeltest.Settings(
			"sens.mode", "forward",
			"solver.method", "euler",
			"solver.rtol", "1e-4",
			"solver.atol", "1e-4",
		), "inaccurate"},
		{"vdp/vdp_classic", "x_T", modeltest.Settings("sens.mode", "backsolve"), "inaccurate"},
		{"heat_adjoint/heat10", "mid", modeltest.Settings(
			"sens.mode", "continuous",
			"solver.method", "rkc2",
			"solver.rtol", "1e-11",
			"solver.atol", "1e-11",
		), "ok"},
		{"vdp/vdp_classic", "x_T", modeltest.Settings(
			"sens.mode", "continuous",
			"sens.rtol", "0.1",
			"sens.atol", "1",
			"solver.rtol", "1e-3",
			"solver.atol", "1e-3",
		), "inaccurate"},
	} {
		m, err := odes.ParseFile(modeltest.Path("examples/" + c.model + ".ode"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := m.Verify(t.Context(), odes.Options{Settings: c.settings, Of: []string{c.objective}},
			odes.VerifyOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if o := v.Objectives[0]; o.Outcome != c.want {
			t.Errorf("%s, %v: %+v, want %s", c.model, c.settings, o, c.want)
		}
	}
}

// TestVerifyNoise has gradients of which rounding leaves fewer and fewer digits. No comparison may
// call them wrong.
func TestVerifyNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	m, err := odes.ParseFile(modeltest.Path("examples/lorenz/lorenz.ode"))
	if err != nil {
		t.Fatal(err)
	}
	for _, T := range []float64{30, 38, 60} {
		v, err := m.Verify(t.Context(), odes.Options{
			Set:      []odes.Assignment{{Name: "T", Values: []float64{T}}},
			Settings: modeltest.Settings("solver.rtol", "1e-8"),
		}, odes.VerifyOptions{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range v.Objectives {
			if o.Outcome == "wrong" {
				t.Errorf("T = %v: %+v", T, o)
			}
		}
	}
}

// TestVerifyBattery: a move of length one takes each param by its own size, so that remainders of moves vanish like
// their squares whatever the unit of a param is.
func TestVerifyBattery(t *testing.T) {
	m, err := odes.ParseFile(modeltest.Path("examples/battery/battery.ode"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Verify(t.Context(), odes.Options{}, odes.VerifyOptions{Directions: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range v.Objectives {
		if o.Outcome != "ok" || !(math.Abs(o.Order-2) < 0.1) {
			t.Errorf("%s: %s, remainders %.2g of order %.3g", o.Name, o.Outcome, o.Remainders, o.Order)
		}
	}
}

// TestVerifyEdge: at the edge of where an objective has a value, rounding leads to where it has none. Then nothing can
// be compared well, which is no sign of a wrong gradient.
func TestVerifyEdge(t *testing.T) {
	m, err := odes.Parse("m.ode", "time t from 0 to 1\nparam k = 1\nstate x = 1, y = 0\nx' = -k\ny' = x\n"+
		"objective S = sqrt(final(x) - k + 1)\n", odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Verify(t.Context(), odes.Options{}, odes.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := v.Objectives[0]
	if !math.IsNaN(o.Noise) {
		t.Errorf("this is no edge: value %g, noise %g", o.Value, o.Noise)
	}
	if o.Outcome != "discrete only" {
		t.Errorf("%s", o.Outcome)
	}
}
