package odes_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// TestPeaksInTime has right-hand sides with peaks in time that are narrow against the run.
func TestPeaksInTime(t *testing.T) {
	rootPi := math.Sqrt(math.Pi)
	for _, c := range []struct {
		name, params, f string
		to, value       float64
		wrt             map[string]float64
	}{
		{
			"a bell", "am = 4.25, c = 31.7, s = 1e-3", "1 + am*exp(-((t - c)/s)^2)", 100, 100 + 4.25e-3*rootPi,
			nil,
		},
		{
			"a bell alone", "am = 4.25, c = 31.7, s = 1e-3", "am*exp(-((t - c)/s)^2)", 100, 4.25e-3 * rootPi,
			map[string]float64{"am": 1e-3 * rootPi, "c": 0, "s": 4.25 * rootPi},
		},
		{
			"a narrow bell", "am = 1e6, c = 31.7, s = 1e-6", "am*exp(-((t - c)/s)^2)", 100, rootPi,
			map[string]float64{"am": 1e-6 * rootPi, "s": 1e6 * rootPi},
		},
		{
			"a bell on a ramp", "am = 4.25, c = 31.7, s = 1e-1", "t + am*exp(-((t - c)/s)^2)", 100,
			5000 + 4.25e-1*rootPi,
			map[string]float64{"am": 1e-1 * rootPi, "s": 4.25 * rootPi},
		},
		{
			"a bell on a wave", "am = 4.25, c = 31.7, s = 1e-2", "sin(t) + am*exp(-((t - c)/s)^2)", 20 * math.Pi,
			4.25e-2 * rootPi,
			map[string]float64{"am": 1e-2 * rootPi, "s": 4.25 * rootPi},
		},
		{
			"a dip", "c = 77.7, s = 1e-2", "1 - exp(-((t - c)/s)^2)", 100, 100 - 1e-2*rootPi,
			map[string]float64{"s": -rootPi},
		},
		{
			"a Lorentzian", "c = 31.7, s = 1e-3", "s/((t - c)^2 + s^2)", 100,
			math.Atan(31.7e3) + math.Atan(68.3e3),
			map[string]float64{"s": -(1/31.7 + 1/68.3)},
		},
		{
			"a smooth pulse", "c = 31.7, w = 0.05, s = 1e-3", "tanh((t - c)/s) - tanh((t - c - w)/s)", 100, 0.1,
			map[string]float64{"w": 2, "c": 0},
		},
		{
			"two bells", "c = 31.7, d = 32.7, s = 1e-3", "exp(-((t - c)/s)^2) + exp(-((t - d)/s)^2)", 100,
			2e-3 * rootPi,
			map[string]float64{"c": 0, "d": 0, "s": 2 * rootPi},
		},
		{
			"a train", "P = 2.5, s = 1e-2", "exp(-(sin(pi*(t/P - 0.5))*P/(pi*s))^2)", 100,
			40 * 1e-2 * rootPi * (1 + 3.948e-5),
			map[string]float64{"s": 40 * rootPi},
		},
		{"a wave", "om = 20", "cos(om*t)", 10, math.Sin(200) / 20, map[string]float64{
			"om": 10*math.Cos(200)/20 - math.Sin(200)/400,
		}},
	} {
		text := fmt.Sprintf("time t from 0 to %v\nparam %s\nstate x = 0, y = 1\nx' = %s\ny' = -0.01*y\n"+
			"objective J = final(x)\nobjective K = integral(%s)", c.to, c.params, c.f, c.f)
		for _, method := range []string{"dopri5", "tsit5", "vern7", "bs3"} {
			s := largest(t, text, "solver.method", method, "solver.rtol", "1e-8", "solver.atol", "1e-10",
				"solver.quad_tol", "1e-8")
			for o := range 2 {
				if got := s.Values[o].Value; math.Abs(got-c.value) > 1e-5*math.Abs(c.value)+1e-7 {
					t.Errorf("%s, %s: objective %d is %v, want %v", c.name, method, o, got, c.value)
				}
				for k, v := range s.Variables {
					got := s.Gradient[o*s.Columns+k]
					if want, ok := c.wrt[v.Name]; ok && math.Abs(got-want) > 1e-3*max(0.2, math.Abs(want)) {
						t.Errorf("%s, %s: %d, d/d%s = %v, want %v", c.name, method, o, v.Name, got, want)
					}
				}
			}
		}
	}
}

// TestPeaksBetweenFixedSteps holds that steps of fixed length, which cannot be shortened, do not miss a peak silently.
func TestPeaksBetweenFixedSteps(t *testing.T) {
	for s, warned := range map[string]bool{"0.01": true, "2": false} {
		got := largest(t, "time t from 0 to 100\nparam c = 31.72, s = "+s+"\nstate x = 0\n"+
			"x' = exp(-((t - c)/s)^2)\nobjective J = final(x)", "solver.method", "rk4", "solver.fixed_step", "0.1")
		found := slices.ContainsFunc(got.Warnings, func(d diag.Diagnostic) bool {
			return d.Code == odes.CodeUnseen && strings.Contains(d.Message, "t = 31.")
		})
		if found != warned {
			t.Errorf("s = %s: warned: %v, want %v: %v", s, found, warned, got.Warnings)
		}
	}
}
