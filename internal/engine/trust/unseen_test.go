package trust_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
)

// TestPeaksInTime has right-hand sides with peaks in time that are narrow against the run.
func TestPeaksInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
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
			s := modeltest.Run(t, text, "solver.method", method, "solver.rtol", "1e-8", "solver.atol", "1e-10",
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
		got := modeltest.Run(t, "time t from 0 to 100\nparam c = 31.72, s = "+s+"\nstate x = 0\n"+
			"x' = exp(-((t - c)/s)^2)\nobjective J = final(x)", "solver.method", "rk4", "solver.fixed_step", "0.1")
		found := slices.ContainsFunc(got.Warnings, func(d diag.Diagnostic) bool {
			return d.Code == odes.CodeUnseen && strings.Contains(d.Message, "t = 31.")
		})
		if found != warned {
			t.Errorf("s = %s: warned: %v, want %v: %v", s, found, warned, got.Warnings)
		}
	}
}

// TestEventsBetweenLongSteps holds that a step whose dense output puts an event far from where steps put it says so:
// the second event here lies between the two.
func TestEventsBetweenLongSteps(t *testing.T) {
	for length, warned := range map[string]bool{"10": true, "0.05": false} {
		got := modeltest.Run(t, "time t from 0 to 10\ndiscrete n = 0\nstate x = 0\nx' = cos(t)\n"+
			"event up when x >= 0.9 { n = n + 1 }\nevent other when x >= 0.95 { n = n + 10 }\n"+
			"objective J = final(n)", "solver.method", "rk4", "solver.fixed_step", length)
		found := slices.ContainsFunc(got.Warnings, func(d diag.Diagnostic) bool {
			return d.Code == odes.CodeHidden && strings.Contains(d.Message, "too long to tell when")
		})
		if found != warned {
			t.Errorf("steps of %s: warned: %v, want %v: %v", length, found, warned, got.Warnings)
		}
		if !warned && got.Values[0].Value != 22 {
			t.Errorf("n = %v, want 22", got.Values[0].Value)
		}
	}
}

// TestEventAloneIsNotDisputed holds that where the only condition is met nearly tangentially, as when a tank runs dry,
// nothing is said of other events that may have come between.
func TestEventAloneIsNotDisputed(t *testing.T) {
	for _, rtol := range []string{"1e-3", "1e-6", "1e-9"} {
		got := modeltest.Run(t, "time t from 0 to 3\nstate y = 1\ny' = -sqrt(max(y, 0))\nobjective J = integral(y)",
			"solver.rtol", rtol)
		if slices.ContainsFunc(got.Warnings, func(d diag.Diagnostic) bool { return d.Code == odes.CodeHidden }) {
			t.Errorf("rtol %s: %v", rtol, got.Warnings)
		}
	}
}

// TestLargestPeaksInTime has largest values of functions of time with narrow peaks, and of what they are part of.
func TestLargestPeaksInTime(t *testing.T) {
	for _, c := range []struct {
		name, params, f string
		value           float64
		wrt             map[string]float64
	}{
		{
			"a bell", "am = 4.25, c = 31.7, s = 1e-3", "1 + am*exp(-((t - c)/s)^2)", 5.25,
			map[string]float64{"am": 1, "c": 0, "s": 0},
		},
		{
			"a narrow bell", "am = 4.25, c = 31.7, s = 1e-7", "1 + am*exp(-((t - c)/s)^2)", 5.25,
			map[string]float64{"am": 1, "c": 0, "s": 0},
		},
		{
			"a Lorentzian", "am = 4.25, c = 31.7, s = 1e-4", "am*s^2/((t - c)^2 + s^2)", 4.25,
			map[string]float64{"am": 1, "c": 0, "s": 0},
		},
		{
			"with a state", "am = 4.25, c = 31.7, s = 1e-5", "exp(-0.1*x*t) + 10*y*exp(-((t - c)/s)^2)",
			math.Exp(-3.17) + 10*math.Exp(-0.317),
			map[string]float64{
				"c": -0.1*math.Exp(-3.17) - 0.1*math.Exp(-0.317),
			},
		},
		{
			"a pulse by tanh", "am = 3, c = 31.7, w = 1e-2, s = 1e-3", "am*(tanh((t - c)/s) - tanh((t - c - w)/s))",
			6 * math.Tanh(5),
			map[string]float64{"am": 2 * math.Tanh(5), "c": 0},
		},
		{"a wave", "am = 2, om = 30", "am*sin(om*t)", 2, map[string]float64{"am": 1, "om": 0}},
		{"a kink", "am = 2, om = 3", "am*(1 - abs(sin(om*t - 1)))", 2, map[string]float64{"am": 1, "om": 0}},
		{"waves", "am = 1, om = 0.1", "am*sin(om*t)*sin(50*t)", 1, map[string]float64{"am": 1}},
	} {
		text := fmt.Sprintf("time t from 0 to 100\nparam %s\nstate x = 1, y = 1\nx' = 0*x\ny' = -0.01*y\n"+
			"objective J = max_over(%s)", c.params, c.f)
		for _, method := range []string{"dopri5", "vern7"} {
			s := modeltest.Run(t, text, "solver.method", method, "solver.rtol", "1e-8")
			if got := s.Values[0].Value; math.Abs(got-c.value) > 1e-3*c.value*c.value/100 {
				t.Errorf("%s, %s: %v, want %v", c.name, method, got, c.value)
			}
			for k, v := range s.Variables {
				got := s.Gradient[k]
				if want, ok := c.wrt[v.Name]; ok && math.Abs(got-want) > 2e-3*max(1, math.Abs(want)) {
					t.Errorf("%s, %s: d/d%s = %v, want %v", c.name, method, v.Name, got, want)
				}
			}
		}
	}
}

// TestRandomPeaksInTime adds bells, Lorentzians and smooth pulses of random heights and widths to waves and drifts.
func TestRandomPeaksInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	r := elem.NewRand(11)
	u := func(a, b float64) float64 { return a + r.Float64()*(b-a) }
	methods := []string{"dopri5", "tsit5", "vern7", "vern9", "dop853", "bs3"}
	for range 150 {
		to := math.Pow(10, u(-3, 4))
		om := u(0, 30) / to
		f, value := fmt.Sprintf("1 + 0.5*sin(%g*t)", om), to+0.5*(1-math.Cos(om*to))/om
		size := to
		for range 1 + int(r.Uint64()%3) {
			c, w := u(0.05, 0.9)*to, math.Pow(10, u(-6, -2))*to
			area := u(0.5, 2) * to // as much as the rest
			switch r.Uint64() % 3 {
			case 0:
				f += fmt.Sprintf(" + %g*exp(-((t - %g)/%g)^2)", area/w, c, w)
				value += area * math.Sqrt(math.Pi) * 0.5 * (math.Erf((to-c)/w) + math.Erf(c/w))
			case 1:
				f += fmt.Sprintf(" + %g/(1 + ((t - %g)/%g)^2)", area/w, c, w)
				value += area * (math.Atan((to-c)/w) + math.Atan(c/w))
			default:
				e := w / u(3, 20)
				f += fmt.Sprintf(" + %g*(tanh((t - %g)/%g) - tanh((t - %g - %g)/%g))", area/w, c, e, c, w, e)
				value += area / w * 2 * w
			}
			size += area
		}
		method := methods[r.Uint64()%uint64(len(methods))]
		text := fmt.Sprintf("time t from 0 to %g\nstate x = 0\nparam a = 1\nx' = a*(%s)\nobjective J = final(x)", to, f)
		s := modeltest.Run(t, text, "solver.method", method, "solver.rtol", "1e-6", "solver.atol", fmt.Sprint(1e-6*to))
		if got := s.Values[0].Value; math.Abs(got-value) > 1e-3*size {
			t.Errorf("%s: %v, want %v, by %s to %g in %d steps", f, got, value, method, to, s.Stats.Steps)
		}
	}
}

// TestPeaksOfQuotients has peaks of time that no part of a rate has by itself: what they are made of stands before and
// behind a state, in numerators and denominators.
func TestPeaksOfQuotients(t *testing.T) {
	for _, c := range []struct {
		rate string
		area float64 // of the peak, by q
	}{
		{"y*A/cosh(q)^2", 2},
		{"A/cosh(q)*y/cosh(q)", 2},
		{"y*A/(1 + exp(-(q)))/(1 + exp(q))", 1},
		{"A/(1 + exp(-(q)))*y*1/(1 + exp(q))", 1},
		{"y*A/((1 + exp(-(q)))*(1 + exp(q)))", 1},
		{"A/((1 + exp(-(q)))*(1 + exp(q)))*y", 1},
		{"y*exp(q)/(1 + exp(q))^2*A", 1},
		{"exp(-(q)^2)*y*A", math.Sqrt(math.Pi)},
		{"y*A/(1 + (q)^2)", math.Pi},
		{"y*A/exp((q)^2)", math.Sqrt(math.Pi)},
	} {
		for _, moving := range []struct {
			text, q string
			by      float64
		}{
			{"state x = 300\nx' = b\n", "(x - c)/w", 1.79},
			{"", "(300 + b*t - c)/w", 1.79},
		} {
			for _, w := range []float64{0.008, 0.0008} {
				s, err := modeltest.Try(t, fmt.Sprintf(`
time t from 0 to 4
param b = %v, c = 303, w = %v, A = 8
%sstate y = 1
y' = -%s
objective J = final(y)
sens { wrt = [A] }
`, moving.by, w, moving.text, strings.ReplaceAll(c.rate, "(q)", "("+moving.q+")")))
				if err != nil {
					t.Errorf("%s, %v: %v", c.rate, w, err)
					continue
				}
				area := c.area * w / moving.by
				if c.area == math.Pi { // it has skirts
					area = (math.Atan((300+4*moving.by-303)/w) + math.Atan(3/w)) * w / moving.by
				}
				want := elem.Exp(-8 * area)
				off := math.Abs(s.Values[0].Value - want)
				if off > 1e-3*(1-want)+1e-5 && s.Values[0].Trust == odes.Sound {
					t.Errorf("%s, %v: %.7g ± %.1g in place of %.7g, %d steps", c.rate, w, s.Values[0].Value,
						s.Values[0].Error, want, s.Stats.Steps)
				}
			}
		}
	}
}
