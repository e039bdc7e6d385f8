package sens_test

import (
	"context"
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestControl lets derivatives take part in error control. A generator at rest has no error to control
// until it is disturbed. Its steps are then too long for the effect of the disturbance, and its
// derivatives are wrong unless they take part. On the other models derivatives become more accurate,
// at the cost of some more steps. Integrals are left to the states here: only states are compared.
func TestControl(t *testing.T) {
	for _, c := range []struct {
		model        string
		before, gain float64 // least error without, and least quotient of the errors
	}{
		{"swing/swing.ode", 1e-3, 100},
		{"vdp/vdp_classic.ode", 0, 3},
		{"lotka_volterra/lotka_volterra.ode", 0, 1},
		{"thermostat/thermostat.ode", 0, 0.5}, // events, modes: derivatives jump
		{"pendulum_wall/pendulum_wall.ode", 0, 0.5},
		{"harvest/harvest.ode", 0, 0.5},
	} {
		m, err := odes.ParseFile(modeltest.Path("examples/" + c.model))
		if err != nil {
			t.Fatal(err)
		}
		run := func(settings ...string) *odes.Sensitivities {
			o := odes.Options{Threads: 1}
			for i := 0; i < len(settings); i += 2 {
				o.Settings = append(o.Settings, odes.Setting{Key: settings[i], Value: settings[i+1]})
			}
			s, err := m.Sensitivities(context.Background(), o)
			if err != nil {
				t.Fatalf("%s: %v", c.model, err)
			}
			return s
		}
		truth := run("solver.method", "vern9", "solver.rtol", "1e-13", "solver.atol", "1e-15")
		off := func(s *odes.Sensitivities) (worst float64) {
			for i := range s.Values {
				for _, v := range s.Variables {
					size, d := 0.0, 0.0
					for k, x := range truth.Derivative(i, v) {
						size = math.Max(size, math.Abs(x))
						d = math.Max(d, math.Abs(x-s.Derivative(i, v)[k]))
					}
					if size > 1e-9 { // not zero but for rounding
						worst = math.Max(worst, d/size)
					}
				}
			}
			return worst
		}
		base := []string{
			"solver.rtol", "1e-6", "solver.atol", "1e-8", "solver.hmax", "10", "solver.quad_tol", "off", "sens.control",
		}
		without, with := run(append(base, "off")...), run(append(base, "on")...)
		a, b := off(without), off(with)
		t.Logf("%s: %d steps and derivatives off by %.2g without, %d steps and %.2g with", c.model, without.Stats.Steps,
			a, with.Stats.Steps, b)
		if a < c.before || a < c.gain*b {
			t.Errorf("%s: derivatives are off by %g without and %g with a look at them", c.model, a, b)
		}
		o := odes.Options{Settings: []odes.Setting{
			{Key: "sens.control", Value: "on"},
			{Key: "solver.rtol", Value: "1e-5"},
		}}
		v, err := m.Verify(context.Background(), o, odes.VerifyOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if v.Wrong() {
			t.Errorf("%s: %+v", c.model, v.Objectives)
		}
	}
}
