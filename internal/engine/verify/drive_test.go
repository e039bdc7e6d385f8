package verify_test

import (
	"context"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestDriving drives a model with every control signal: integrals are known in
// closed form, and derivatives by the times of jumps and corners are verified.
func TestDriving(t *testing.T) {
	for signal, want := range map[string]float64{
		"pulse(t, a, b)":             1.5,
		"pulse_train(t, a, 2*b, b)":  4.5,
		"ramp(t, a, b)":              10 - 1 - 0.75,
		"trapezoid(t, a, b, c, b)":   1.5 + 2,
		"soft_step(t, 5, b)":         5,
		"smooth_ramp(t, a, b)":       10 - 1 - 0.75,
		"square(t, 4*b)":             2,
		"pwm(t, c, 0.1*b)":           5 * 0.3,
		"sawtooth(t, c)":             5,
		"sine(t, a, c)":              0,
		"bell(t, 5, 0.5)":            0.5 * 2.5066282746310002,
		"infusion(t, a, 3, b)":       3,
		"sine(t, 0, c)*square(t, c)": 5 * 4 / 3.141592653589793,
	} {
		m, err := odes.Parse("signal.ode", `
import "std/signals.ode"
import "std/pharmacology.ode"
time t from 0 to 10
param a = 1, b = 1.5, c = 2, k = 0.3
state x = 0, y = 1
x' = `+signal+`
y' = -k*y + `+signal+`
objective X = final(x)
objective Y = final(y)
`, odes.ParseOptions{})
		if err != nil {
			t.Errorf("%s: %v", signal, err)
			continue
		}
		o := odes.Options{Settings: modeltest.Settings("solver.rtol", "1e-11", "solver.atol", "1e-12")}
		s, err := m.Solve(context.Background(), o)
		if err != nil {
			t.Errorf("%s: %v", signal, err)
			continue
		}
		if !modeltest.Near(s.Values[0].Value, want, 1e-8) {
			t.Errorf("%s: integral %.12g, want %.12g", signal, s.Values[0].Value, want)
		}
		v, err := m.Verify(context.Background(), o, odes.VerifyOptions{})
		if err != nil || v.Wrong() {
			t.Errorf("%s: %+v, %v", signal, v, err)
		}
	}
}
