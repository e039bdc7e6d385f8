package trust_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
)

// TestTiesOfVariables: only what derivatives are taken by can move a time.
func TestTiesOfVariables(t *testing.T) {
	const text = `
param ts = 0.5, k = 0.7
time t from 0 to 2
state x = 1
x' = -k*x^2
event a at 4*ts { x += 1 }
objective J = final(x)
`
	for end, want := range map[string]bool{"": true, "sens { wrt = [k] }": false} {
		s, err := modeltest.Sensitivities(t, text+end, "adjoint")
		if err != nil || modeltest.Warned(s, odes.CodeTie) != want {
			t.Errorf("%s: %v, %v", end, s.Warnings, err)
		}
	}
}

// TestTurns has modes change where something else happens, and start on their threshold.
func TestTurns(t *testing.T) {
	const head = `
param ts = 0.5, tt = 0.5, tf = 2, k = 0.7, x0 = 1
time t from 0 to tf
state x = x0, y = 2
x' = -k*x^2
objective J = final(x) + final(y)
`
	for _, c := range []struct {
		text string
		ties int
	}{
		// an event and a mode
		{"y' = if t < ts then 1 else 3\nevent a at tt { y *= 2 }", 1},
		{"y' = if t < ts then 1 else 3\nevent a at 0.5 { y *= 2 }", 1},
		{"y' = if t < 0.5 then 1 else 3\nevent a at tt { y *= 2 }", 1},
		{"y' = if t < 0.5 then 1 else 3\nevent a at 0.5 { y *= 2 }", 0},
		{"y' = if t < tt then 1 else 3\nevent a at tt { y *= 2 }", 0},
		{"y' = if t < ts then 1 else 3\nevent a at tt { y += 2 }", 0}, // adding commutes with any rate
		{"y' = if t < ts then 1 else 3\nevent a at tt { x += 2 }", 0},
		{"y' = if t < ts then 1 else 1 + t - ts\nevent a at tt { y *= 2 }", 0}, // rates do not jump
		{"y' = if y > 2.5 then 1 else 3\nevent a when y >= 2.5 once { y *= 2 }", 0},
		// a mode that an event takes back
		{"y' = if t < ts then 1 else 3\ndiscrete n = 0\nevent a at tt { n = y }\nobjective N = final(n)", 1},
		// a mode and what is read
		{"y' = if t < ts then 1 else 3\nobjective O = sum_at([0.5], y)", 1},
		{"y' = if t < ts then 1 else 3\nobjective O = sum_at([ts], y)", 0},
		{"y' = if t < 0.5 then 1 else 3\nobjective O = sum_at([0.5], y)", 0},
		{"y' = if t < 0.5 then 1 else 3\nobjective O = sum_at([tt], y)", 1},
		{"y' = if t < 4*ts then 1 else 3", 1},
		{"y' = if t < tf then 1 else 3", 0},
		{"y' = 1\nobjective A = integral(if t < 4*ts then 1 else 3)", 1},
		// a mode that another one changes
		{"y' = 1\nobjective A = integral(if mod(t, ts) < 0.2 then 1 else 3)", 1}, // at the end
		{"y' = 1\nobjective A = integral(if mod(t, tf) < 0.2 then 1 else 3)", 0},
		{"y' = 1\nobjective A = integral(if mod(t, tf/4) < 0.2 then 1 else 3)", 0},
		{"y' = 1\nobjective A = integral(mod(t, tf/4))", 0},
		{"y' = 1\nobjective A = integral(step(floor(t/ts) - 3.5))", 1},
		{"y' = 1\nobjective A = integral(step(floor(t/ts) - 2.5))", 0},
		{"y' = 1\nobjective A = integral(floor(mod(t, ts) + 0.6))", 1},
		{"y' = if mod(t, 0.5) < 0.2 then 1 else 3\nevent a at tt { y *= 2 }\nsens { wrt = [tt] }", 1},
		{"y' = if mod(t, 0.5) < 0.2 then 1 else 3\nevent a at tt { y += 2 }\nsens { wrt = [tt] }", 0},
		// the start
		{"y' = if x > 1 then 1 else 3", 1},
		{"y' = if x > 1 then 1 else x", 0},
		{"state z = x0\nz' = 0\ny' = if z > 1 then 1 else 3", 1}, // it stays there
		{"state z = x0\nz' = 0\ny' = floor(z)", 1},
		{"state z = x0\nz' = 0\ny' = if z > x0 then 1 else 3", 0},
		{"state z = x0\nz' = 0\ny' = if z > 1 then 1 else z", 1}, // by x0, 0 on one side and 1 on the other
		{"state z = 1\nz' = 0\ny' = if z > 1 then 1 else 3\nsens { wrt = [k, x0] }", 0},
		{"state z = x0\nz' = 0\ndiscrete d = x0\ny' = if z > d then 1 else 3", 0},
		{"y' = if t > 0 then 1 else 3", 0},
		{"y' = if mod(x, x0) < 0.2 then 1 else 3\nsens { wrt = [k, initial(y)] }", 0},
		{"y' = if mod(x, 1) < 0.2 then 1 else 3\nsens { wrt = [x0] }", 1},
		{"y' = 1\nevent a when x < 1 { y += 1 }", 2},  // and by how much J leaps
		{"y' = 1\nevent a when x <= 1 { y += 1 }", 2}, // does not fire, but would from above
		{"y' = 1\nevent a when x > 1 { y += 1 }", 0},  // leaves its threshold to the side where it waits
		{"y' = 1\nevent a when x >= 1 { y += 1 }", 0},
		{"y' = 1\nevent a when x crosses 1 { y += 1 }", 2},
		{"y' = 1\nevent a when x < x0 { y += 1 }", 0},
		{"y' = k - 0.7\nevent a when y > 2 { y += 1 }", 1}, // k decides which way
		{"y' = 1\nevent a when y > 2 { x += 1 }\nsens { wrt = [k] }", 0},
		{"y' = 1\nevent a when y > 2 { x += 1 }\nsens { wrt = [initial(y)] }", 2},
	} {
		s, err := modeltest.Sensitivities(t, head+c.text, "adjoint", odes.Setting{Key: "solver.observe", Value: "clip"})
		if err != nil {
			t.Fatal(c.text, err)
		}
		var ties []diag.Diagnostic
		for _, w := range s.Warnings {
			if (w.Code == odes.CodeTie || w.Code == odes.CodeKink) &&
				!strings.Contains(w.Message, "by runs on both sides") {
				ties = append(ties, w)
			}
		}
		if len(ties) != c.ties {
			t.Errorf("%s\n%d warnings, want %d: %v", c.text, len(ties), c.ties, ties)
		}
	}
}

// TestBrink has bodies that leave the condition of an event within a few ulps of its threshold, where rounding decides
// whether it fires, and others that leave it exactly there, or clearly off.
func TestBrink(t *testing.T) {
	for set, want := range map[string]bool{
		"step + 0.2": true, // 0.30000000000000004
		"3*step":     true,
		"0.3":        false,
		"0.3 + 1e-9": false,
		"y + 1":      false,
	} {
		m, err := odes.Parse("m.ode", `
time t from 0 to 10
param k = 1, step = 0.1
state x = 0, y = 0
x' = k
y' = 0*step
event a at 2 { y = `+set+` }
event b when y > 0.3 { x = 0 }
objective J = final(x)`, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool {
			return strings.Contains(d.Message, "leaves its condition at the threshold")
		})
		if warned != want {
			t.Errorf("y = %s: warned %v, want %v: %v", set, warned, want, s.Warnings)
		}
	}
}

// TestBrinkOfLapses has triggers at roots, where the lapse of what they trigger stands at the same root. It is not the
// body of the trigger that leaves it there.
func TestBrinkOfLapses(t *testing.T) {
	for _, th := range []string{"0.3", "0.4", "0.5", "0.55", "0.6"} {
		m, err := odes.Parse("m.ode", `
time t from 0 to 4
param th = `+th+`, lag = 0.4
state x = 0, y = 0
x' = 1.4*sin(3*t) - 0.7*x
y' = -y
event up when x > th, delay = lag, persistent = false { y += 1 }
objective J = final(y)`, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Warnings) > 0 {
			t.Errorf("th = %s: %v", th, s.Warnings)
		}
	}
}

// TestTieOfUnknowns has an event at the bound of an integral of an algebraic unknown, which follows the state that the
// event moves. Derivatives by the two times are those of one side.
func TestTieOfUnknowns(t *testing.T) {
	for body, want := range map[string]odes.Trust{"x += 1": odes.Loose, "x += 0*k": odes.Sound} {
		m, err := odes.Parse("m.ode", `
time t from 0 to 2
param td = 1, b = 1, k = 0.5
state x = 1
alg z = 1
x' = -k*x
0 = z - x
event e at td { `+body+` }
objective J = integral(z, from = b)`, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range s.Variables {
			expected := odes.Sound
			if v.Name == "b" || v.Name == "td" && want != odes.Sound {
				expected = want
			}
			if got := modeltest.Grade(s, 0, v); got != expected {
				t.Errorf("%s: dJ/d%s is %v, want %v; %v", body, v.Name, got, expected, s.Warnings)
			}
		}
	}
}

// TestTieOfSetTimes has events at times that bodies set, just when the state is observed. They move away from it where
// what was set depends on anything, also by way of another discrete or of the event that sets it.
func TestTieOfSetTimes(t *testing.T) {
	for set, want := range map[string]bool{
		"event s at 0.5 { T = 4*t*k }":                         true,
		"event s at 0.5*k { T = t + 1.5 }":                     true,
		"event s when x > 0.5 { T = 2 }":                       false,
		"event s when x > 0.5 { T = t + 1.5 }":                 true,
		"event s at 0.5 { T = 4*t }":                           false,
		"event s at 0.5 { a = k }  event r at 1 { T = 2*a }":   true,
		"event s at 0.5 { a = 1 }  event r at 1 { T = 2*a }":   false,
		"event s at 0.5 { T = T - 8 }":                         false,
		"event s at 0.5 { a = a*1 }  event r at 1 { T = 2*a }": false,
	} {
		m, err := odes.Parse("m.ode", `
time t from 0 to 3
param k = 1
state x = 0
discrete T = 10, a = 1
x' = k
data D { time = [2]  y = [1.5] }
`+strings.ReplaceAll(set, "  event", "\nevent")+`
event e at T { x = 0 }
observe o = x ~ normal(1) from D.y
objective L = nll()`, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{
			Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool {
			return strings.Contains(d.Message, "exactly at the time of an observation")
		})
		if warned != want {
			t.Errorf("%s: warned %v, want %v: %v", set, warned, want, s.Warnings)
		}
	}
}

// TestTieOfSettledParams has a condition of a time that an equilibration sets and the run has back, just when the state
// is observed. It moves away from it where that time depends on what derivatives are taken by.
func TestTieOfSettledParams(t *testing.T) {
	for set, want := range map[string]bool{
		"step = 2": false, "step = 2*k": true, "step = 2*step": true, "step = 2*fixed": false,
	} {
		m, err := odes.Parse("m.ode", `
time t from 0 to 3
param k = 1, step = 1, fixed = 1, level = 0
state x = 1
let u = level*(if t - step < 0 then 0 else 1)
x' = 1 - k*x + u
data D { time = [2]  y = [1.5] }
experiment a { level = 1  `+set+`  equilibrate { level = 0  step = 0 }  use D }
observe o = x ~ normal(1) from D.y
objective L = nll()`, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{
			Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}, Wrt: []string{"k", "step"}, Threads: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool {
			return strings.Contains(d.Message, "exactly at the time of an observation")
		})
		if warned != want {
			t.Errorf("%s: warned %v, want %v: %v", set, warned, want, s.Warnings)
		}
	}
}

// TestTimeOfAGroup has two events that event_tol makes one. They happen at the time of the later one, with the state at
// the earlier one. The later one has priority and ends the step. Rates that read the time are differentiated where they
// were read: derivatives by what moves neither event are those of the closed form, in every mode.
func TestTimeOfAGroup(t *testing.T) {
	const k, a, b, end = 0.7, 0.5, 0.505, 2.0
	const text = "time t from 0 to 2\nparam a = 0.5, b = 0.505, k = 0.7\nstate x = 1\nx' = -k*x*t\n" +
		"event e at a { x += 0.3*t }\nevent f at b priority 1 { x *= 1.5 }\n" +
		"objective J = final(x)\nobjective K = sum_at([0.25, 0.503, 1], x)\n" +
		"sens { trust = off }\nsolver { event_tol = 1e-2  rtol = 1e-12  atol = 1e-14 }"
	at := func(from, to float64) float64 { return math.Exp(-k * (to*to - from*from) / 2) }
	byK := -1.5*at(0, a)*at(b, end)*(a*a+end*end-b*b)/2 - 0.3*b*at(b, end)*(end*end-b*b)/2
	for _, method := range []string{"dopri5", "dop853", "rodas5p", "radau5", "rk4"} {
		var want []float64
		for _, mode := range []string{"adjoint", "tangent", "complex", "differences"} {
			settings := []string{"sens.mode", mode, "solver.method", method}
			if method == "rk4" {
				settings = append(settings, "solver.fixed_step", "0.01")
			}
			s := modeltest.Run(t, text, settings...)
			if got := s.Derivative(0, s.Variables[2])[0]; math.Abs(got-byK) > 1e-8*math.Abs(byK) {
				t.Errorf("%s, %s: dJ/dk = %v, want %v", method, mode, got, byK)
			}
			if want == nil {
				want = s.Gradient
			}
			for i, got := range s.Gradient {
				if math.Abs(got-want[i]) > 1e-7*math.Abs(want[i]) {
					t.Errorf("%s: derivative %d is %v by %s, and %v by adjoint", method, i, got, mode, want[i])
				}
			}
		}
	}
}

// TestModesOfAGroup has things happen up to event_tol behind what ends the step before them, in the order of their
// times: a body, an observation, and a condition of time. The last happens once, and no mode sees another time.
func TestModesOfAGroup(t *testing.T) {
	const head = "time t from 0 to 3\nparam s = 2, c = 1.005\nstate x = 1\nx' = -x*t\ndiscrete n = 0, m = 0\n" +
		"event z at 2 { x *= 1.5 }\nsens { trust = off }\n" +
		"solver { event_tol = 1e-2  rtol = 1e-9  atol = 1e-11 }\nobjective J = final(x)\nobjective N = final(n)\n"
	for _, text := range []string{
		"event a at 1 { x += s*t }\nevent e at c { x *= s; n += 1 }",
		"objective S = sum_at([0.003, 1], x*t)\nevent e at c { x *= s; n += 1 }",
		"event a at 1 { m = 1 }\nevent e when t >= c { x *= s*t; n += 1 }\nobjective S = at_event(e, pre(x)*t)",
		"event a at 1 { m = 1 }\nevent e when t crosses c up { x *= s*t; n += 1 }",
		"objective S = sum_at([1], x*t)\nevent e when t >= c { x *= s*t; n += 1 }",
	} {
		var want []float64
		for _, mode := range []string{"adjoint", "tangent", "complex", "differences"} {
			s := modeltest.Run(t, head+text, "sens.mode", mode)
			if n := s.Values[1].Value; n != 1 {
				t.Errorf("%s\n%s: it happens %v times", text, mode, n)
			}
			if want == nil {
				want = s.Gradient
			}
			for i, got := range s.Gradient {
				if math.Abs(got-want[i]) > 1e-7*(1+math.Abs(want[i])) {
					t.Errorf("%s\nderivative %d is %v by %s, and %v by adjoint", text, i, got, mode, want[i])
				}
			}
		}
	}
}

// TestConsistentBehindAGroup has a body that reads the time of its condition, within event_tol behind that at which the
// run goes on. Its states are made consistent where the run was, also where that is repeated.
func TestConsistentBehindAGroup(t *testing.T) {
	const text = "time t from 0 to 3\nparam c = 0.605, k = 0.7\nstate x = 1, y = 0.4\nx' = -k*x*t\n" +
		"y' = z*cos(t) - y\nalg z = 1\n0 = z + 0.1*z^3 - x - 0.5*t\n" +
		"event b at 0.6 { x += 0.1 }\nevent e when t >= c { y = 0.5*y + x*t }\n" +
		"objective J = final(x*y)\nsens { trust = off }\nsolver { method = rodas5p  event_tol = 1e-2 }"
	want := modeltest.Run(t, text).Gradient
	for _, kept := range []string{"states", "states(7)", "binomial(3)", "stages(4)"} {
		if got := modeltest.Run(t, text, "solver.checkpoint", kept).Gradient; !slices.Equal(got, want) {
			t.Errorf("%s: %v, and %v where all is kept", kept, got, want)
		}
	}
}

// TestReadAtTheEnds: an event that changes nothing still counts where objectives read it. Exactly at the end or at the
// start of the run it comes or goes with what moves either, though no number moves.
func TestReadAtTheEnds(t *testing.T) {
	const text = `
time t from t0 to T
param T = 2, t0 = 0, tau = 0.5, k = 1
discrete d = 0
state y = 1
y' = -k*y
event e every tau from 0 { d = 0 }
objective n = at_event(e, 1)
objective s = at_event(e, post(y))
objective f = final(y)
`
	s, err := modeltest.Sensitivities(t, text, "adjoint")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"T t0 tau", "T t0 tau", ""} {
		if got := modeltest.Marked(s, i); got != want {
			t.Errorf("%s by %q, want %q", s.Values[i].Name, got, want)
		}
	}
}

// TestTiesOfPeaks: two maxima that are equally large make derivatives loose by what moves either of them, zero or not,
// and no other objective.
func TestTiesOfPeaks(t *testing.T) {
	const text = `
time t from 0 to 3
param k = 2, p = 1, D = 0, w = 1, c = 1
state x = 1, y = 1, z = 0
x' = -k*x
y' = k*(p - y)
z' = w - z
event at [1, 2] { x = y; y += D }
objective J = max_over(x)
objective K = max_over(c*x + 0*z)
objective L = final(z)
`
	s, err := modeltest.Sensitivities(t, text, "adjoint")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"p D initial(x) initial(y)", "p D initial(x) initial(y)", ""} {
		if got := modeltest.Marked(s, i); got != want {
			t.Errorf("%s by %q, want %q", s.Values[i].Name, got, want)
		}
	}
}

// TestOrderOfTheFile: where nothing moves one of two events alone, their order is that of the file, and derivatives
// exist. It is a note on the order, which a priority does without.
func TestOrderOfTheFile(t *testing.T) {
	const head = "time t from 0 to 2\nparam k = 0.1, T = 1\nstate x = 1\nx' = -k*x\nobjective J = final(x)\n"
	for _, c := range []struct {
		text string
		note int
	}{
		{"event e at 1 { x += 2 }\nevent f at 1 { x *= 3 }", 1},
		{"event e at T { x += 2 }\nevent f at T { x *= 3 }", 1},
		{"event e at 1 { x += 2 }\nevent f at 1 priority 1 { x *= 3 }", 0},
		{"event e at 1 { x += 2 }\nevent f at 1 { x += 3 }", 0},
	} {
		m, err := odes.Parse("m.ode", head+c.text+"\n", odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, d := range s.Warnings {
			if d.Code != odes.CodeTie {
				continue
			}
			if n++; d.Level != diag.Note || !strings.Contains(d.Message, "that of the file; give one a priority") {
				t.Errorf("%s\n%s: %s", c.text, d.Level, d.Message)
			}
		}
		if n != c.note || s.Status != "ok" {
			t.Errorf("%s\n%d notes, status %s", c.text, n, s.Status)
		}
	}
}

// TestMarksOfWhatIsReached: where something changes at an observation or at a bound of an integral, derivatives of what
// is not read there exist. What an event that never fires sets, and what it waits for, moves nothing.
//
//odes:goroutines
func TestMarksOfWhatIsReached(t *testing.T) {
	const never, ended = "discrete n = 1\nevent e when x > c { n = t + dose }\n",
		"discrete n = 1\nevent e when x < c { n = t + dose }\n"
	for _, c := range []struct {
		text, integral, read string
	}{
		{"x' = -k*x + (if t > T then dose else 0)", "", "T"},
		{"x' = -k*x + dose*floor(t/T)", "", "T"},
		{"x' = -k*x\nstate z = 0\nz' = if t > T then dose else 0", "", ""},
		{"x' = -k*x\nevent e at T { x += dose }\nobjective L = integral(x, from = 1)", "", "T"},
		{"x' = -k*x + interp([0, 1, 3], [1, 0, 0], t)\nevent e at T { x += dose }", "", "T"},
		{never + "x' = -k*x + (if t >= n and t < 1 then 1 else 0)", "", ""},
		{ended + "x' = -k*x + (if t >= n and t < T then 1 else 0)", "T", ""}, // what is read at 1 is the same
	} {
		s, err := modeltest.Sensitivities(t,
			"time t from 0 to 1.9\nparam k = 0.5, T = 1, dose = 1, c = 2\nstate x = 1\n"+
				"objective J = integral(x)\nobjective K = sum_at([1], x)\n"+c.text, "adjoint")
		if err != nil {
			t.Fatal(c.text, err)
		}
		if got, want := [2]string{modeltest.Marked(s, 0), modeltest.Marked(s, 1)},
			[2]string{c.integral, c.read}; got != want {
			t.Errorf("%s: by %q, want %q: %v", c.text, got, want, s.Warnings)
		}
	}
}

// TestNumbersOfEvents reads a time of an event by its number, where a param decides whether the event happens
// where causes meet, as at the start: then all later ones have another number.
func TestNumbersOfEvents(t *testing.T) {
	for _, text := range []string{
		"event e when y > a { z += 0.5 }",
		"event x at 1 priority 2 { w = 1 }\n" +
			"event e when z >= a + 1 and w < 1 or z >= 3 and z < 3.5 or z >= 5 { z += 0.1 }",
	} {
		s := modeltest.Run(t, `
time t from 0 to 14
param a = 0
state y = 0, z = 0
y' = cos(t)
z' = 1
discrete w = 0
`+text+`
objective J = event_time(e, 2)
objective K = at_event(e, pre(z), nth = 2)
`)
		for i := range s.Values {
			if marked := modeltest.Marked(s, i); !strings.Contains(marked, "a") {
				t.Errorf("%s: of objective %d only %q are marked", text, i, marked)
			}
		}
	}
}
