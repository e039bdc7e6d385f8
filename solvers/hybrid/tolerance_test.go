package hybrid_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
)

// TestQuadTol has integrals that vary while the state rests. Where only states are under control, steps pass over them.
func TestQuadTol(t *testing.T) {
	const model = `
time t from 0 to 10
param a = 100
state x = 1
x' = 0*x
objective S = integral(exp(-a*(t*x - 5)^2))
`
	value, slope := math.Sqrt(math.Pi/100), -0.5*math.Sqrt(math.Pi/100)/100
	for _, no := range []string{"off", "0"} {
		s, err := modeltest.Try(t, model, "solver.rtol", "1e-6", "solver.quad_tol", no)
		if err != nil {
			t.Fatal(err)
		}
		if off := math.Abs(s.Values[0].Value/value - 1); off < 0.1 {
			t.Fatalf("off by %g with quad_tol = %s: the test can fail no more", off, no)
		}
	}
	for _, tol := range []string{"1e-4", "1e-7", "1e-10"} {
		s, err := modeltest.Try(t, model, "solver.rtol", "1e-6", "solver.quad_tol", tol, "solver.hmax", "0.5")
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

// TestIntegralsUnderControl: by default an integral that an objective reads is as accurate as a state, whatever its
// unit, where it begins at zero, crosses it or changes sign, and other objectives do not change its steps.
func TestIntegralsUnderControl(t *testing.T) {
	day := math.Exp(-1.68)
	for _, c := range []struct {
		integrand string
		value     float64
		size      float64 // of the integral of the size of the integrand
	}{
		{"A*(1 + m*cos(2*pi*t))", 100*(1-day)/0.03 + 50*0.03*(1-day)/(0.0009+4*math.Pi*math.Pi), 2712},
		{"1e9*A*(1 + m*cos(2*pi*t))", 1e9 * (100*(1-day)/0.03 + 50*0.03*(1-day)/(0.0009+4*math.Pi*math.Pi)), 2712e9},
		{"cos(2*pi*t)", 0, 35},
		{"sin(t)*t^8", sineOfPower(56, 8), math.Pow(56, 9) / 9},
		{"sqrt(t)", math.Pow(56, 1.5) / 1.5, math.Pow(56, 1.5) / 1.5},
		{"A - A", 0, 1},
		{"1e6*((A + 1/3) - 1/3 - A)", 0, 1},
		{"exp(-((t - 20)/2)^2)", 2 * math.Sqrt(math.Pi), 2 * math.Sqrt(math.Pi)},
	} {
		model := fmt.Sprintf(`
time t from 0 to 56
param k = 0.03, m = 0.5
state A = 100
A' = -k*A
objective J = integral(%s)
objective S = final(A)
objective H = integral(sin(50*t))
`, c.integrand)
		s, err := modeltest.Try(t, model, "sens.trust", "off", "sens.of", "[J, S]")
		if err != nil {
			t.Fatal(err)
		}
		if off := math.Abs(s.Values[0].Value-c.value) / c.size; !(off < 2e-5) {
			t.Errorf("%s: %g, not %g", c.integrand, s.Values[0].Value, c.value)
		}
		if s.Stats.Steps > 400 {
			t.Errorf("%s takes %d steps", c.integrand, s.Stats.Steps)
		}
		more, err := modeltest.Try(t, model, "sens.trust", "off", "sens.of", "[J, S, H]")
		if err != nil {
			t.Fatal(err)
		}
		if less := s.Stats.Steps; more.Stats.Steps < 3*less && more.Stats.Steps < 1000 {
			t.Errorf("%s: %d steps, and %d with a fast integral", c.integrand, less, more.Stats.Steps)
		}
		off, err := modeltest.Try(t, model, "sens.trust", "off", "sens.of", "[J, S, H]", "solver.quad_tol", "off")
		if err != nil {
			t.Fatal(err)
		}
		alone, err := modeltest.Try(t, model, "sens.trust", "off", "sens.of", "S")
		if err != nil {
			t.Fatal(err)
		}
		if off.Stats.Steps != alone.Stats.Steps {
			t.Errorf("%s: %d steps with quad_tol = off, %d of an objective without integral", c.integrand,
				off.Stats.Steps, alone.Stats.Steps)
		}
	}
}

// TestIntegralsOfWhatArrives integrates the last state of a line at rest, into which something flows at its start. In
// the first steps the state is zero at all stages, and then at all but the last one, which only estimates of errors
// read.
func TestIntegralsOfWhatArrives(t *testing.T) {
	for _, method := range []string{"dopri5", "tsit5", "bs3"} {
		for n := 2; n <= 20; n++ {
			s, err := modeltest.Try(t, fmt.Sprintf(`
time t from 0 to 2
param k = 3
state u[%[1]d] = [0 for i in 1:%[1]d]
u[i]' = k*((if i == 1 then 1 else u[clamp(i-1, 1, %[1]d)]) - u[i]) for i in 1:%[1]d
objective J = integral(u[%[1]d])
`, n), "solver.method", method, "sens.trust", "off")
			if err != nil {
				t.Errorf("%s, %d states: %v", method, n, err)
				continue
			}
			// The state is the probability that n events of a Poisson process have come.
			const kt = 6.0
			term, want := math.Exp(-kt), 0.0
			for i := range 200 {
				if i > n {
					want += term * float64(i-n) / 3
				}
				term *= kt / float64(i+1)
			}
			if off := math.Abs(s.Values[0].Value - want); off > 1e-5*want {
				t.Errorf("%s, %d states: the integral is %g in place of %g", method, n, s.Values[0].Value, want)
			}
		}
	}
}

// sineOfPower returns the integral of sin(t) t^n from 0 to x: n(n-1) times less of t^(n-2) for two powers less.
func sineOfPower(x float64, n int) float64 {
	if n == 0 {
		return 1 - math.Cos(x)
	}
	p := math.Pow(x, float64(n))
	return -p*math.Cos(x) + float64(n)*p/x*math.Sin(x) - float64(n*(n-1))*sineOfPower(x, n-2)
}

// TestIntegralsDoNotHideStates: many easy integrals beside a state must not loosen its control, nor easy states that
// of an integral.
//
//odes:goroutines
func TestIntegralsDoNotHideStates(t *testing.T) {
	off := func(text string, value float64, settings ...string) float64 {
		t.Helper()
		s, err := modeltest.Try(t, text, settings...)
		if err != nil {
			t.Fatal(err)
		}
		return math.Abs(s.Values[0].Value - value)
	}
	const state = `
time t from 0 to 20
state x = 1, v = 0
x' = v
v' = -x
objective S = final(x)
objective I[i] = integral(i) for i in 1:200
`
	with, without := off(state, math.Cos(20)), off(state, math.Cos(20), "solver.quad_tol", "off")
	if with > without {
		t.Errorf("the state is off by %g, and by %g without integrals", with, without)
	}
	const integral = `
time t from 0 to 20
state x[200] = 1
x[i]' = 0*x[i] for i in 1:200
objective J = integral(cos(3*t)^2)
`
	if d := off(integral, 10+math.Sin(120)/12); d > 1e-4 {
		t.Errorf("the integral is off by %g", d)
	}
}

// TestToleranceOfEachState gives two equal equations different tolerances. Each must have an error of
// its own tolerance.
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
		s, err := modeltest.Try(t, model, "solver.rtol", "1e-12", "solver.atol", atol)
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
	_, err := modeltest.Try(t, model, "solver.atol", "[1e-3, 1e-3]")
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
		s, err := modeltest.Try(t, model, "solver.max_growth", growth)
		if err != nil {
			t.Fatal(err)
		}
		return s.Stats.Steps
	}
	own, err := modeltest.Try(t, model)
	if err != nil {
		t.Fatal(err)
	}
	if slow, five, ten := steps("2"), steps("5"), steps("10"); slow <= five || five <= ten || five != own.Stats.Steps {
		t.Errorf("%d steps that may double, %d that may grow to five times, %d to ten; %d by the controller's own "+
			"bound of 5", slow, five, ten, own.Stats.Steps)
	}
	_, err = modeltest.Try(t, model, "solver.max_growth", "1")
	if list := diag.Of(err); len(list) != 1 || list[0].Code != odes.CodeSetting {
		t.Errorf("steps that may not grow: %v", err)
	}
}

// TestTolerancesByName checks that tolerances given to states by name are those given in order, to the
// last bit.
func TestTolerancesByName(t *testing.T) {
	const model = `
const n = 9
time t from 0 to 6
param k = 1, mu = 5
state x = 2, v = 0, q[n] = 1
x' = v
v' = mu*(1 - x^2)*v - x
q[i]' = -k*i*q[i] + x for i in 1:n
objective J = final(x)
objective S = final(sum(q))
solver loose { rtol = [x = 1e-4] }
`
	run := func(settings ...string) *odes.Sensitivities {
		s, err := modeltest.Try(t, model, append([]string{"solver.atol", "1e-9"}, settings...)...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	same := func(a, b *odes.Sensitivities) bool {
		return slices.Equal(a.Gradient, b.Gradient) && a.Stats.Steps == b.Stats.Steps &&
			a.Values[0].Value == b.Values[0].Value
	}
	nine := func(s string) string { return strings.Repeat(", "+s, 9) }
	for _, c := range []struct{ key, named, listed string }{
		{"solver.atol", "[v = 1e-12, x = 1e-8]", "[1e-8, 1e-12" + nine("1e-9") + "]"},
		{"solver.atol", "[q = 1e-12]", "[1e-9, 1e-9" + nine("1e-12") + "]"},
		{
			"solver.atol", "[x = 1e-11, q = [1e-3" + nine("1e-12")[7:] + "]]",
			"[1e-11, 1e-9, 1e-3" + nine("1e-12")[7:] + "]",
		},
		{"solver.rtol", "[x = 1e-9]", "[1e-9, 1e-6" + nine("1e-6") + "]"},
		{"solver.rtol", "[q = 1e-9, v = 1e-7]", "[1e-6, 1e-7" + nine("1e-9") + "]"},
	} {
		named, listed := run(c.key, c.named), run(c.key, c.listed)
		if !same(named, listed) {
			t.Errorf("%s = %s gives other bits than %s", c.key, c.named, c.listed)
		}
		if same(named, run()) {
			t.Errorf("%s = %s changes nothing", c.key, c.named)
		}
	}
	if !same(run("solver.rtol", "[x = 1e-6, v = 1e-6, q = 1e-6]"), run()) {
		t.Error("the same relative tolerance for each state gives other bits than one for all")
	}
	// What comes later wins; other states keep theirs.
	if !same(run("solver.atol", "1e-7", "solver.atol", "[x = 1e-9]", "solver.atol", "[v = 1e-8, x = 1e-10]"),
		run("solver.atol", "[1e-10, 1e-8"+nine("1e-7")+"]")) {
		t.Error("tolerances by name do not change those before them")
	}
	if !same(run("solver.atol", "[x = 1e-3]", "solver.atol", "1e-9"), run()) {
		t.Error("one tolerance for all does not replace those before it")
	}
	if s := run("solver.atol", "[x = 1e-12]", "solver.rtol", "[v = 1e-8]"); s.Settings.ATol != 1e-12 ||
		s.Settings.RTol != 1e-8 {
		t.Errorf("reported are rtol %g and atol %g, not the least", s.Settings.RTol, s.Settings.ATol)
	}
	for _, settings := range [][]string{
		{"solver.atol", "[v = 1e-12]", "solver.rtol", "[x = 1e-8]", "sens.error", "on"},
		{"solver.atol", "[v = 1e-12]", "solver.rtol", "[x = 1e-8]", "sens.control", "on"},
		{"solver.atol", "[v = 1e-12]", "solver.rtol", "[x = 1e-8]", "sens.mode", "continuous"},
	} {
		if s := run(settings...); s.Settings.RTol != 1e-8 {
			t.Errorf("%v: rtol %g", settings, s.Settings.RTol)
		}
	}
	for _, c := range []struct{ key, value, wants string }{
		{"solver.atol", "[w = 1e-12]", `names no state "w"`},
		{"solver.atol", "[xx = 1e-12]", `did you mean "x"`},
		{"solver.atol", "[k = 1e-12]", `names no state "k"`},
		{"solver.atol", "[x = 1e-12, x = 1]", "gives x twice"},
		{"solver.atol", "[x = 1e-12, 1]", "mixes"},
		{"solver.atol", "[q = [1, 2]]", "lists 2 tolerances for q"},
		{"solver.atol", "[x = -1]", "not negative"},
		{"solver.atol", "[x = [v = 1]]", "takes a number"},
		{"solver.atol", "[x = fast]", "takes a number"},
		{"solver.atol", "[]", "takes a number"},
		{"solver.atol", "[1, 2]", "lists 2 tolerances for 11 states"},
		{"solver.rtol", "[x = 1]", "[0, 1)"},
		{"solver.rtol", "[1e-6, 1e-6]", "lists 2 tolerances for 11 states"},
		{"solver.hmax", "[x = 1]", "without names"},
		{"solver.quad_tol", "-1", "not negative, or off"},
		{"solver.quad_tol", "on", "not negative, or off"},
		{"solver.stability", "1", "takes a name"},
		{"solver.stability", "always", "is on or off"},
		{"sens.of", "[x = J]", "without names"},
	} {
		if _, err := modeltest.Try(t, model, c.key, c.value); err == nil || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%s = %s: %v, want %q", c.key, c.value, err, c.wants)
		}
	}
}
