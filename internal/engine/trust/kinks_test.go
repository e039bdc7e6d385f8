package trust_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
)

// warnsOfKink wants a warning of a kink, or none, for derivatives of the model; text is its part that matters.
func warnsOfKink(t *testing.T, text, model string, want bool) {
	t.Helper()
	m, err := odes.Parse("m.ode", model, odes.ParseOptions{})
	if err != nil {
		t.Fatal(text, err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(text, err)
	}
	if got := slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool {
		return d.Code == odes.CodeKink
	}); got != want {
		t.Errorf("%s: warned %v, want %v: %v", text, got, want, s.Warnings)
	}
}

// TestKinksLeftAtOnce has runs that begin at a kink, or are set to one, and leave it. Derivatives are those of where
// they go, also by stages at the kink itself.
func TestKinksLeftAtOnce(t *testing.T) {
	for _, c := range []struct {
		text string
		want map[string]float64 // derivatives
	}{
		{"x' = -1\ny' = max(x, max(x, b))", map[string]float64{"b": 2, "q": 0}},
		{"x' = 1\ny' = max(b, max(b, x))", map[string]float64{"b": 0, "q": 2}},
		{"x' = -1\ny' = abs(x - b)", map[string]float64{"b": 2, "q": -2}},
		{"x' = -2*t\ny' = abs(x - b)", map[string]float64{"b": 2, "q": -2}},
		{"state w = 0\nx' = w\nw' = 1\ny' = abs(x - b)", map[string]float64{"b": -2, "q": 2}},
		{"x' = 0.1\ny' = abs(x - b)\nevent e at 1 { x = b }", map[string]float64{"b": -1, "q": 1}},
	} {
		for _, method := range []string{"dopri5", "vern7", "rodas5p"} {
			s := modeltest.Run(t, "time t from 0 to 2\nparam b = 1, q = 1\nstate x = q, y = 0\n"+c.text+
				"\nobjective J = final(y)", "solver.method", method, "solver.rtol", "1e-8")
			for _, v := range s.Variables {
				if want, ok := c.want[v.Name]; ok && !v.Initial {
					if d := s.Derivative(0, v)[0]; !(math.Abs(d-want) <= 3e-6) {
						t.Errorf("%s: %s: derivative by %s is %.9g, want %v", c.text, method, v.Name, d, want)
					}
				}
			}
		}
	}
}

// TestKinksBesideDiscretes reads a tie of time and a param, with a discrete that params move and without.
func TestKinksBesideDiscretes(t *testing.T) {
	const tie = "time t from 0 to 3\nparam a = 2, p = 1\nstate x = 1\nx' = -x\nobjective L = sum_at([2], min(t, a))\n"
	warnsOfKink(t, "no discrete", tie, true)
	warnsOfKink(t, "one", tie+"discrete d = p\nevent e when x > (if d <= 1 then 2 else p) once { d = 0.5*d }", true)
}

// TestThresholdsNothingMoves has a jump whose argument is a level: it stands at that of another jump, which nothing
// moves it from.
func TestThresholdsNothingMoves(t *testing.T) {
	warnsOfKink(t, "mod(floor(t/b), 2)", `time t from 0 to 0.008
param a = 1, b = 0.01455, u = 0.004947
state x = 1, y = 1
y' = -3*y + (if mod(floor(t/b), 2) < 0.5 then a else 0)
x' = -3*x + (if mod(floor(t/u), 2) < 0.5 then a else 0)
objective L = final(x)
`, false)
}

// TestKinksOfTheirParams has a kink of params alone: derivatives by others are right.
func TestKinksOfTheirParams(t *testing.T) {
	m, err := odes.Parse("m.ode", "time t from 0 to 1\nparam p = 1, k = 2, n = 3\nstate x = 1\n"+
		"x' = -k*x*(if n >= 3 then p else max(p, 1))\nobjective J = final(x)*max(p, 1)", odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Variables {
		want := odes.Sound
		if v.String() == "p" {
			want = odes.Loose
		}
		if got := s.Trust(0, v); got != want {
			t.Errorf("J by %v is %v, want %v", v, got, want)
		}
	}
}

// TestKinksOfPeaks reads largest values of what is at a kink where it is largest. One that the value only crosses there
// has a derivative, one that is met elsewhere does not matter, nor does what belongs to another element or value.
func TestKinksOfPeaks(t *testing.T) {
	const head = `
time t from 0 to 3
param u = 0, a = 1, b = 1, c = 0.5, k = 1
state x = 0  # at rest
state y = 1  # decays
state z = 0  # rises and falls
x' = u - x
y' = -k*y
z' = y - z
state v = 1  # falls
v' = y - 1
state w[2] = [0, 1]
w[1]' = u
w[2]' = -k*w[2]
`
	for text, want := range map[string]bool{
		"max_over(abs(x))":                                          true,
		"max_over(max(v, 1))":                                       true, // where it begins
		"max_over(y + abs(x))":                                      true, // at the start
		"max_over(z + abs(x))":                                      true, // within
		"max_over(k*t + abs(x))":                                    true, // at the end
		"max_over(z*max(a, b))":                                     true,
		"max_over(z*max(a, c))":                                     false,
		"max_over(max(x, z))":                                       false,
		"max_over(min(y, z))":                                       false, // their crossing is the peak
		"max_over(abs(z - 0.1))":                                    false,
		"max_over(abs(x)*x + z)":                                    false, // flat there
		"max_over(-max(y, z))":                                      false,
		"max_over(z + abs(sin(pi*t)))":                              false,
		"max_over(w[2]*k) + max_over(z)":                            false,
		"sum(max_over(abs(w)))":                                     true,
		"sum(max_over(abs(w + [c, 0])))":                            true, // u moves what is kept
		"max_over(max(x, c*(y - 0.5)) - 2*t)":                       false,
		"max_over(noevent(if x > 0 then 2 else 1)*z)":               true,
		"max_over(max(k*t, c))\nevent when k*t >= c { stop }":       false,
		"max_over(max(k*t, a))\nevent when k*t >= 0.5 + c { stop }": true,
		"max_over(max(k*t, a + x))\nevent at 1 { stop }":            true,
	} {
		warnsOfKink(t, text, head+"objective L = "+text, want)
	}
}

// TestPeakOfNoTime takes a largest value over a run without length: it follows the end where that is later and the
// value rises, and stays at the start otherwise.
func TestPeakOfNoTime(t *testing.T) {
	for text, want := range map[string]bool{
		"param T = 0\ntime t from 0 to T\nobjective K = max_over(-x)": true,
		"param T = 0\ntime t from T to 0\nobjective K = max_over(-x)": true,
		"param T = 1\ntime t from 0 to T\nobjective K = max_over(-x)": false,
		"param T = 0\ntime t from 0 to T\nobjective K = integral(-x)": false,
		"param T = 0\ntime t from T to T\nobjective K = integral(-x)": false,
	} {
		warnsOfKink(t, text, text+"\nstate x = 1\nx' = x\n", want)
	}
}

// TestThresholdsThatBodiesSet sets a state to the threshold of a condition, by what moves and by what does not.
func TestThresholdsThatBodiesSet(t *testing.T) {
	for text, want := range map[string]bool{
		"x' = 0\nevent at 0.5 { x = y }\nobjective K = integral(if x > 1 then x else 2)":             true,
		"x' = 0\nevent every 0.3 { x = 0.7*y }\nobjective K = integral(if x > 0.7 then 1 else 2)":    true,
		"x' = 0\nevent at 0.5 { x = y }\nevent when x > 1 { x = 3 }":                                 true,
		"x' = 0\nevent at 0.5 { x = p }\nobjective K = integral(if x > 1 then x else 2)":             true,
		"x' = 0\nevent at 0.5 { x = p }\nobjective K = integral(if x > p then x else 2)":             false,
		"x' = 0\nevent at 0.5 { x = p }\nobjective K = integral(if x > q then x else 2)":             true, // by q
		"x' = 0\nevent at 0.5 { x = 1 }\nobjective K = integral(if x > 1 then x else 2)":             false,
		"x' = 0\nevent at 0.5 { x = 2*y }\nobjective K = integral(if x > 1 then x else 2)":           false,
		"x' = 1\nevent when x > 0.5 { x = p }\nobjective K = integral(if x > 3 then x else 2)":       false,
		"x' = 1\nevent at 0.5 { x = 0 }\nobjective K = integral(if x > 0.25 then x else 2)":          false,
		"x' = 1\nevent when x > 0.5 { x = 2*p }\nevent when x > 2 { x = 3 }":                         true,
		"x' = 1\nevent when x > 0.5 { x = x + 0.5 }\nobjective K = integral(if x > 1 then x else 2)": false,
		"x' = 1\nevent when x > 0.5 { x = x + p - 0.5 }\nevent when x > p { x = 3 }":                 false,
		"x' = y\nevent when x > 0.5 { x = t + 0.6 }\nevent when x > 1 { x = 3 }":                     true,
		// A dose of nothing at a threshold that the run leaves for the other side.
		"state z = p\nz' = -z\nevent at 0 { z += p - q }\nevent when z > 1 { x = 3 }\nx' = 1": true,
		"state z = p\nz' = -z\nevent at 0 { z += p - p }\nevent when z > p { x = 3 }\nx' = 1": false,
	} {
		warnsOfKink(t, text, "time t from 0 to 1\nparam p = 1, q = p\nstate x = 0.1, y = 1\ny' = 0\n"+
			text+"\nobjective J = final(x)", want)
	}
}

// TestThresholdsOfBodiesHaveSides: where the run goes on from the threshold, both sides are known. The numbers are
// worked out by hand: of x = y at 0.5, integral from there of x from y on, or of 2 until x is 1 and of x from then on.
func TestThresholdsOfBodiesHaveSides(t *testing.T) {
	for text, want := range map[string][2]float64{
		"x' = 1\nevent at 0.5 { x = p }\nobjective K = integral(if x >= 1 then x else 2)":              {-0.5, 0.5},
		"x' = 1\nevent when x > 0.5*p { x = x + 0.5 }\nobjective K = integral(if x > 1 then x else 2)": {0, 0.5},
	} {
		m, err := odes.Parse("m.ode", "time t from 0 to 1\nparam p = 1\nstate x = 0.1\n"+text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, known := s.OnBothSides(0, 0)
		if off := max(math.Abs(b.Left-want[0]), math.Abs(b.Right-want[1])); !known || off > 1e-6 || s.Trusts != nil {
			t.Errorf("%s: %v, want %v", text, b, want)
		}
	}
}

// TestCutOfAngles: atan2 jumps where its second argument is negative and the first one passes 0. Along a line, the
// derivative of the integral by where it begins is the difference of the angles at the ends over the speed.
func TestCutOfAngles(t *testing.T) {
	for _, c := range []struct{ y, v, x float64 }{{-0.636, 1.7, -0.983}, {0.636, -1.7, -0.983}, {-0.636, 1.7, 0.983}} {
		m, err := odes.Parse("cut.ode", fmt.Sprintf(`
time t from 0 to 1
param v = %v
state y = %v, x = %v, n = 0, s = 0
y' = v
x' = 0
s' = atan2(y, x)
n' = atan2(v*t + %v, x)
objective J = integral(atan2(y, x))
objective K = final(s)
objective L = final(n)
sens { wrt = [initial(y), v] }
`, c.v, c.y, c.x, c.y), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		to := c.y + c.v
		dy := (math.Atan2(to, c.x) - math.Atan2(c.y, c.x)) / c.v
		// ∫θ dt = (Θ(to) - Θ(y))/v with Θ = yθ - x log(y²+x²)/2, which is continuous at y = 0.
		area := func(y float64) float64 { return y*math.Atan2(y, c.x) - c.x*math.Log(y*y+c.x*c.x)/2 }
		value := (area(to) - area(c.y)) / c.v
		dv := (math.Atan2(to, c.x) - value) / c.v
		for _, mode := range []string{"adjoint", "tangent", "complex", "continuous", "forward"} {
			s, err := m.Sensitivities(context.Background(), odes.Options{
				Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range s.Values {
				want := []float64{dy, dv}
				if v.Name == "L" {
					want[0] = 0
				}
				got := s.Gradient[i*s.Columns : (i+1)*s.Columns]
				off := max(math.Abs(v.Value-value), math.Abs(got[0]-want[0]), math.Abs(got[1]-want[1]))
				if !(off <= 1e-5) {
					t.Errorf("%v %s: %s = %g, %v, want %g, %v", c, mode, v.Name, v.Value, got, value, want)
				}
			}
		}
	}
}

// TestKinksOfDiscretes has conditions on discretes that stand exactly on their thresholds. Only those have a kink whose
// discretes move with what derivatives are taken by.
func TestKinksOfDiscretes(t *testing.T) {
	for text, want := range map[string]bool{
		"discrete d = p\ny' = if d > 1 then 3 else d":                                              true,
		"discrete d = p\ny' = if d >= 1 then 3 else d":                                             true,
		"discrete d = p\ny' = if d > 2 then 3 else d":                                              false,
		"discrete d = 1\ny' = if d > 1 then 3 else p":                                              false,
		"discrete d = p\ny' = if d > p then 3 else d":                                              false,
		"discrete d = p\ny' = floor(d)":                                                            true,
		"discrete d[2] = [p, 1]\ny' = if d[2] > 1 then 3 else d[1]":                                false,
		"discrete d[2] = [1, p]\ny' = if d[2] > 1 then 3 else d[1]":                                true,
		"discrete d = 0\ny' = if d > 1 then 3 else p\nevent at 1 { d = p }":                        true,
		"discrete d = 0\ny' = if d > 1 then 3 else p\nevent at 1 { d = 1 }":                        false,
		"discrete d = 2*p\ny' = if d > 1 then 3 else p\nevent at 1 { d = 1 }":                      false,
		"discrete d = 2*p\ny' = if d > 1 then 3 else p\nevent at 1 { d = d - 1 }":                  true,
		"discrete d = 0\ny' = if d >= 2 then 3 else p\nevent every 1 { d = d + 1 }":                false,
		"discrete d = 0\ny' = if d > 1 then 3 else p\nevent at p { d = t }":                        true,
		"discrete d = 0\ny' = if d > 1 then 3 else p\nevent at 1 { d = t }":                        false,
		"discrete d = 0\ny' = if d > 1 then 3 else p\nevent at 1 { d = x }":                        true,
		"discrete d = p\ny' = p\nevent at 2 { y = if d > 1 then y else 2*y }":                      true,
		"discrete d = p\ny' = p\nevent at 2 { y = if d > 2 then y else 2*y }":                      false,
		"discrete d = p\ny' = p\nevent when y > 1.5 and d > 1 { y = 0 }":                           true,
		"discrete d = p\ny' = p\nevent when y > 1.5 and d > 0 { y = 0 }":                           false,
		"discrete on = 0\ny' = p + max(on, 0)\nevent at 1 { on = 2 }":                              false,
		"discrete on = 0, d = p\ny' = p + max(on, 0) + (if d > 2 then 1 else 2)":                   false,
		"discrete on = 0, d = p - 1\ny' = p + max(on, d) + (if d > 2 then 1 else 2)":               true,
		"discrete d = p\ny' = if d > 1 then 3 else d\nevent at 0 { d = 2 }":                        false,
		"discrete d = p\ny' = if t > 9 and d > 1 then 3 else d":                                    false,
		"discrete d = p\ny' = if d > 1 then 3 else 3":                                              false,
		"discrete d = p\ny' = if d > 1 then d + 2 else 3":                                          true,
		"param q = 1\ndiscrete d = q\ny' = if d > 1 then 3 else p\nsens { wrt = [p] }":             false,
		"param q = 1\ndiscrete d = q\ny' = if d > p then 3 else q\nsens { wrt = [p] }":             true,
		"discrete d = p\ny' = if d*p^2 > 1 then 3 else d":                                          true,
		"discrete d = p\ny' = if d + p > 2 then 3 else d\nevent when y > 1, delay = p { y = y/2 }": true,
	} {
		warnsOfKink(t, text, "time t from 0 to 3\nparam p = 1\nstate x = 1, y = 0\nx' = 0\n"+
			"objective J = final(y)\n"+text, want)
	}
	for text, want := range map[string]string{
		"event at 1 { d = x/2 }\nx' = 0":                       "b initial(x)",
		"event at 1 { d = x - b }\nx' = 0":                     "b initial(x)",
		"event at 1 { d = 0.5*exp(1)*x }\nx' = -x":             "b initial(x)", // but for errors of steps
		"event at 1 { d = 0.5*x + 0.1 }\nx' = 0":               "",
		"event at 1 { d = 0 }\nevent at 2 { d = x/2 }\nx' = 0": "b initial(x)",
	} {
		s, err := modeltest.Sensitivities(t, "time t from 0 to 3\nparam b = 0.5\ndiscrete d = 0\nstate x = 1, y = 0\n"+
			"y' = max(d, b)\nobjective J = final(y)\nsolver { rtol = 1e-10 }\n"+text, "adjoint")
		if err != nil {
			t.Fatal(text, err)
		}
		if got := modeltest.Marked(s, 0); got != want {
			t.Errorf("%s: by %q, want %q: %v", text, got, want, s.Warnings)
		}
	}
	s, err := modeltest.Sensitivities(t, `
time t from 0 to 4
param p = 1, q = 2
state x = 0
discrete d = p, on = 0
x' = q + (if d > 1 then 3*d else d) + (if on > 0 then 1 else 0)
event at 1 { on = 1 }
event at 2.5 { on = 0  d = 2 }
objective J = final(x)`, "adjoint")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Variables {
		if got, want := s.Trust(0, v), map[bool]odes.Trust{true: odes.Lost}[v.Name == "p"]; got != want {
			t.Errorf("J by %v is %v, want %v", v, got, want)
		}
	}
}

// TestKinksOfZeros has derivatives that are zero on one side of a kink and not on the other: they are marked, and those
// that are zero on both sides are not.
func TestKinksOfZeros(t *testing.T) {
	for text, want := range map[string]string{
		"objective J = integral(max(0, x))":                                   "p",
		"objective J = integral(min(x, 0) - x)":                               "p",
		"objective J = integral(abs(x))":                                      "p",
		"objective J = integral(abs(p - 1))":                                  "p",
		"objective J = integral(abs(z - 1)) + final(y)":                       "z",
		"objective J = final(abs(x))":                                         "p",
		"objective J = sum_at([0.5], abs(x))":                                 "p",
		"objective J = abs(final(x))":                                         "p",
		"state u = 0\nu' = abs(x)\nobjective J = final(u)":                    "p",
		"state u = 0\nu' = if x > 0 then x else 0\nobjective J = final(u)":    "p",
		"state u = 0\nu' = if x > 0 then x^2 else 0\nobjective J = final(u)":  "",
		"state u = 0\nu' = if x > 0 then x else x\nobjective J = final(u)":    "",
		"state u = 0\nu' = if x > 1 then x else 0\nobjective J = final(u)":    "",
		"objective J = integral(max(0, x - 1))":                               "",
		"objective J = final(z) + 0*integral(max(0, x))":                      "",
		"objective J = integral(max(0, x))*0 + final(v)":                      "",
		"objective J = final(v)\nobjective K = integral(max(0, x))":           "",
		"discrete d = 0\nevent at 0.5 { d = abs(x) }\nobjective J = final(d)": "p",
		"discrete d = p\nobjective J = integral(abs(d - 1))":                  "p",
		"objective J = integral(if p > 1 then 2 else 1)":                      "p",
		"objective J = integral(if p > 1 then 2 else 2)":                      "",
	} {
		m, err := odes.Parse("m.ode", "time t from 0 to 1\nparam p = 1, q = 2\nstate x = p - 1, y = q, z = 1, v = 2\n"+
			"x' = 0\ny' = 0\nz' = 0\nv' = 0\n"+text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(text, err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(text, err)
		}
		got := ""
		for _, v := range s.Variables {
			if s.Gradient[v.Offset] == 0 && s.Trust(0, v) != odes.Sound {
				got += " " + v.Name
			}
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%s: by %q, want %q", text, got, want)
		}
	}
}

// TestKinksByWhatTheyDo has kinks at rest. Only derivatives of values that a kink makes bend, by what moves it, are
// those of one side: not by what leaves its argument at 0, and not where its slope has a factor 0, as in x·abs(x).
func TestKinksByWhatTheyDo(t *testing.T) {
	const drug = "param vm = 2, km = 1.5, ka = 1, V = 3, dose = 10\nstate depot = 0, c = 0\ndepot' = -ka*depot\n"
	for text, want := range map[string]string{
		// Nothing but initial values moves a concentration before the first dose.
		drug + "c' = ka*depot/V - vm*max(c, 0)/(km + max(c, 0))\nevent at 1 { depot += dose }\n" +
			"objective J = integral(c)": "J/initial(depot) J/initial(c)",
		drug + "c' = ka*depot/V - vm*max(c, 0)/(km + max(c, 0))\nevent at 1 { depot += dose }\n" +
			"objective J = integral(c)\n" +
			"sens { wrt = [vm, km, ka, V, dose] }": "",
		drug + "c' = ka*depot/V - vm*abs(c/V)\nevent at V { depot += dose }\nobjective J = final(c)\n" +
			"sens { wrt = [vm, km, ka, V, dose] }": "",
		// An infusion that begins at a param, and one that is on with a rate of 0.
		drug + "c' = (if t > ka then dose else 0) - max(c, 0)\nobjective J = final(c)\n" +
			"sens { wrt = [ka, dose] }": "",
		drug + "param r = 0\nc' = r - max(c, 0)\nobjective J = final(c)\nsens { wrt = [ka, r] }": "J/r",
		// Drag, and other factors 0.
		"state v = 0, x = 0\nparam k = 0.3, g = 0\nv' = g - k*v*abs(v)\nx' = v\n" +
			"objective J = final(x)": "",
		"state v = 0, x = 0\nparam k = 0.3, g = 0\nv' = g - k*max(v, 0)^2\nx' = v\n" +
			"objective J = final(x)": "",
		"state x = 0\nparam k = 0.3\nx' = -k*x*hypot(x, 0)\nobjective J = final(x)": "",
		"state x = 0\nparam k = 0.3\nx' = -k*x*sqrt(x^2)\nobjective J = final(x)":   "",
		"state x = 0\nparam k = 0.3\nx' = -k*x\nobjective J = final(x*abs(x))":      "",
		"state x = 0\nparam k = 0.3\nx' = -k*x\nobjective J = final(abs(x))*k":      "J/initial(x)",
		"state v = 0, x = 0, w = 1\nparam k = 0.3\nv' = -k*v\nw' = 0\nx' = w*abs(v)\n" +
			"objective J = final(x)": "J/initial(v)",
		"state v = 0, x = 0, w = 0\nparam k = 0.3\nv' = -k*v\nw' = 0\nx' = w*abs(v)\n" +
			"objective J = final(x)": "",
		"state v = 0, x = 0, w = 0\nparam k = 0.3\nv' = -k*v\nw' = k\nx' = w*abs(v)\n" +
			"objective J = final(x)": "J/initial(v)",
		"state v = 0, x = 0, w = 0\nparam k = 1\nv' = 0\nw' = 0\nx' = sin(t)*abs(v)\n" +
			"objective J = final(x)": "J/initial(v)",
		"state v = 0, x = 0, w = 0\nparam k = 1\nv' = 0\nw' = 0\nx' = w*abs(k - 1)\nevent at 2 { w = 1 }\n" +
			"objective J = final(x)": "J/k",
		// A chain: the second kink is moved by what the first one lets through on one of its sides.
		"state x = 0, y = 0, z = 0\nparam k = 1\nx' = 0\ny' = max(-x, 0)\nz' = max(y, 0)*k\n" +
			"objective J = final(z)": "J/initial(x) J/initial(y)",
		// What does not read the kink.
		"state x = 0, y = 1\nparam k = 1, q = 2\nx' = -k*x\ny' = -q*y\nobjective J = integral(abs(x))\n" +
			"objective K = final(y)": "J/initial(x)",
		"state x = 0, y = 1\nparam k = 1, q = 2\nx' = -k*abs(x)\ny' = -q*y\nobjective J = final(x)\n" +
			"objective K = final(y)": "J/initial(x)",
		"state x = 0, y = 1\nparam k = 1, q = 2\nx' = -k*x\ny' = -q*y\nobjective J = abs(final(x))\n" +
			"objective K = final(y) + final(x)": "J/initial(x)",
		"state x = 0, y = 1\nparam k = 1\nx' = -k*x + 0*y\ny' = abs(x)\nevent when y > 1.5 { stop }\n" +
			"objective J = final(x)": "", // the event does not come: runs on both sides show it
		// Bodies of events with conditions: what is cut off where it is 0 by the condition does not leave that place.
		"state x = 1, y = 0\nparam k = 1\nx' = -k\ny' = 0\nevent when x < 0 { x = max(x, 0) + 1 }\n" +
			"objective J = final(x)": "",
		"state x = 1, y = 0\nparam k = 1\nx' = -k\ny' = 0\nevent when x < 0 { x = abs(y) + 1 }\n" +
			"objective J = final(x)": "J/initial(y)",
		// Times that move read a state that moves along the run.
		"state x = 0\nparam k = 1, tau = 1\nx' = 0\n" +
			"objective J = sum_at([tau], abs(x))*k": "J/initial(x)",
		"param q = 1\nparam r = min(q, 1)\nstate x = 0\nx' = abs(r - 1)\nobjective J = final(x)": "J/q J/r",
	} {
		s, err := modeltest.Sensitivities(t, "time t from 0 to 3.3\n"+text, "adjoint")
		if err != nil {
			t.Fatal(text, err)
		}
		var got []string
		for i, x := range s.Values {
			for _, v := range s.Variables {
				if s.Trust(i, v) != odes.Sound {
					got = append(got, x.Name+"/"+v.String())
				}
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s:\nmarked %q, want %q: %v", text, got, want, s.Warnings)
		}
	}
}

// TestKinksAtTimesThatMove has a body that reads a state at its kink. A time that moves takes it away from there, if
// the state moves along the run.
func TestKinksAtTimesThatMove(t *testing.T) {
	for text, want := range map[string]bool{
		"x' = 1\nevent at tau { y = abs(x) }":     true,
		"x' = 1\nevent at tau { y = x*abs(x) }":   false,
		"x' = 1\nevent at 1 { y = abs(x) }":       false,
		"x' = 1 + x\nevent at tau { y = abs(z) }": false,
	} {
		warnsOfKink(t, text, "time t from 0 to 3\nparam tau = 1\nstate x = -1, y = 0, z = 0\ny' = 0\nz' = 0\n"+text+
			"\nobjective J = final(y)\nsolver { method = euler  fixed_step = 0.125 }\nsens { wrt = [tau] }\n", want)
	}
}

// TestSecondDerivativesOfManyKinks holds that second derivatives are marked where steps do not end at kinks: what these
// contribute to those by two variables that move them is missing.
//
//odes:goroutines
func TestSecondDerivativesOfManyKinks(t *testing.T) {
	for n, want := range map[string]bool{"9": false, "40": true} {
		s, err := modeltest.Sensitivities(t, `
time t from 0 to 5
param r = 0.2, c = 0.1, A = 3
state x[`+n+`] = [-0.02*i for i in 1:`+n+`], y = 0
x[i]' = r for i in 1:`+n+`
y' = A*sum(max(x[i] - c, 0) for i in 1:`+n+`)
objective J = final(y)
`, "adjoint", odes.Setting{Key: "sens.order", Value: "2"})
		if err != nil {
			t.Fatal(err)
		}
		marked := s.HessianTrusts != nil && s.HessianTrusts[0] != odes.Sound
		if k := 2*s.Columns + 2; s.HessianTrusts != nil && (s.HessianTrusts[2] != odes.Sound || // by r and A
			s.HessianTrusts[k] != odes.Sound || s.HessianTrusts[s.Columns] == odes.Sound) { // by A and A, c and r
			t.Errorf("%s kinks: marks %v", n, s.HessianTrusts)
		}
		if marked != want || modeltest.Warned(s, odes.CodeKink) != want {
			t.Errorf("%s kinks: d²J/dr² = %g, marked %v: %v", n, s.Hessian[0], marked, s.Warnings)
		}
	}
}

// What a condition reads is looked up once, not for each event that happens: with as many events as conditions, that
// took time in proportion to the cube of their number.
//
//odes:goroutines
func TestKinksOfManyConditions(t *testing.T) {
	cost := func(n int) float64 {
		text := strings.Builder{}
		text.WriteString("time t from 0 to 10\nparam k = 1\nstate x = 0\nx' = k\nobjective J = final(x)\n")
		for i := range n {
			fmt.Fprintf(&text, "event e%d when x > %g { }\n", i, 0.5+9*float64(i)/float64(n))
		}
		m, err := odes.Parse("many.ode", text.String(), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(1, func() {
			s, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1})
			if err != nil || len(s.Events) != n {
				t.Fatal(len(s.Events), err)
			}
		})
	}
	if few, many := cost(40), cost(160); many > 8*few {
		t.Errorf("%g allocations with 160 conditions, %g with 40", many, few)
	}
}

// TestThresholdsOfBoth has the conditions of a param and of a state at their thresholds. Rounding decides the latter,
// so runs on both sides of the param do not tell whether there is a derivative by it.
func TestThresholdsOfBoth(t *testing.T) {
	const head = "time t from 0 to 1\nparam p = 1, r = 2\nstate y = 0.5\ny' = r\n"
	for _, text := range []string{
		"objective J = final(if y > 2.5 then 1 elseif p >= 1 then 1 else p)",
		"objective J = final(if y > 2.5 or p >= 1 then 1 else p)",
		"objective J = final(if p >= 1 or y > 2.5 then 1 else p)",
		"objective J = final(if y <= 2.5 and p >= 1 then 1 else p)",
		"objective J = sum_at([0.5], if y > 1.5 or p >= 1 then 1 else p)",
	} {
		if marked := modeltest.Marked(modeltest.Run(t, head+text), 0); !strings.Contains(marked, "p") {
			t.Errorf("%s: only %q are marked", text, marked)
		}
	}
}

// TestSidesOfOneValue has conditions at their thresholds whose sides have one value there. They have a kink where the
// derivatives of these differ, and none where they do not.
func TestSidesOfOneValue(t *testing.T) {
	const head = "time t from 0 to 2\nparam p = 1, a = 2, T = 1\nstate x = 1\nx' = 0\n"
	for text, want := range map[string]bool{
		"objective J = final(if p > 1 then p else 2*p - 1)":                       true,
		"objective J = final(if p > 1 then p^2 else 2*p - 1)":                     false,
		"objective J = final(if p > 1 then 2*p - 1 else p + p - 1)":               false,
		"objective J = final(if x > p then x*p else x)":                           true,
		"objective J = sum_at(T, if a <= 1 + t then 1 + t else 2)":                true,
		"objective J = sum_at(1, if a <= 1 + t then 1 + t else 2)":                false,
		"objective J = final(if p > 3 then (if a > 2 then a else 2) else 5)":      false,
		"objective J = final(if p >= 1 and a >= 2 then p*a else 2 + (p - 1)^2/8)": true,
		"objective J = integral(if p > 1 then (p - 1)^2 else 0)":                  false,
		"objective J = integral(a*(if x > p then p*(x - p)^2 else 0))":            false,
		"objective J = integral(if a >= 2*p then exp(p - 1) - p else 0)":          false,
		"objective J = integral(if p > 1 then p - 1 else 0)":                      true,
		"objective J = integral(if p > 1 then 1e-6*(p - 1) else 0)":               true,
	} {
		warnsOfKink(t, text, head+text, want)
	}
}
