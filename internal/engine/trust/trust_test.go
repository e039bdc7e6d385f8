package trust_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
)

// messages returns the messages of s with a code and level.
func messages(s *odes.Sensitivities, code diag.Code, level diag.Level) (list []string) {
	for _, d := range s.Warnings {
		if d.Code == code && d.Level == level {
			list = append(list, d.Message)
		}
	}
	return list
}

// resting are models whose states rest, so that nothing but stability controls the errors of their derivatives. Where
// that is not enough, noticed is set.
var resting = []struct {
	name, text, by string
	want           float64
	noticed        bool
}{
	{"pendulum", `
time t from 0 to 240
param w = 1, x0 = 0
state x = x0, v = 0
x' = v
v' = -w^2*x
objective J = final(x)`, "x0", math.Cos(240), true},
	{"damped", `
time t from 0 to 100
param x0 = 0
state x = x0, v = 0
x' = v
v' = -x - 0.02*v
objective J = final(x)`, "x0", math.Exp(-1) * (math.Cos(100*damped) + 0.01/damped*math.Sin(100*damped)), true},
	{"decay", `
time t from 0 to 240
param k = 0.1, x0 = 0
state x = x0
x' = -k*x
objective J = integral(x)`, "x0", 10 * (1 - math.Exp(-24)), false},
	{"depot", `
time t from 0 to 100
param d = 0, ka = 10, ke = 0.1
state depot = d, y = 0
depot' = -ka*depot
y' = ka*depot - ke*y
objective J = final(y)`, "d", 10 / 9.9 * math.Exp(-10), false},
}

// damped is the frequency of a pendulum of frequency 1 that is damped by 0.01.
var damped = math.Sqrt(1 - 1e-4)

// TestManyVariables runs models with derivatives by many variables that are not sound at first: where errors follow
// tolerances, tighter ones are enough, and at rest, where they do not, derivatives are under error control.
func TestManyVariables(t *testing.T) {
	const k = "param k[20] = 0.04\n"
	for _, c := range []struct {
		name, text, by string
		want           float64
		note           string
	}{
		{"cancels", "time t from 0 to 1\n" + k + `param p = 1 - 1e-6
state x = 1
x' = -x*sum(k[i] for i in 1:20)
objective J = (final(x) - p*exp(-0.8))^2`, "k", -2e-6 * math.Exp(-1.6), "tighter tolerances"},
		{"rests", "time t from 0 to 240\n" + k + `param x0 = 0
state x = x0, v = 0
x' = v
v' = -x
objective J = final(x) + k[1]`, "x0", math.Cos(240), "error control"},
	} {
		s := modeltest.RunTimes(t, c.text, "sens.control", "off", "solver.stability", "off")
		if _, trust := modeltest.By(t, s, 0, c.by); trust == odes.Sound {
			t.Errorf("%s: uncontrolled: trust %s", c.name, trust)
		}
		s = modeltest.RunTimes(t, c.text, "solver.stability", "off")
		d, trust := modeltest.By(t, s, 0, c.by)
		if math.Abs(d[0]-c.want) > 1e-3*math.Abs(c.want) || trust != odes.Sound || s.Status != "ok" {
			t.Errorf("%s: %g, want %g; trust %s, status %s", c.name, d[0], c.want, trust, s.Status)
		}
		if notes := messages(s, odes.CodeTrust, diag.Note); len(notes) != 1 || !strings.Contains(notes[0], c.note) {
			t.Errorf("%s: notes %q", c.name, notes)
		}
	}
}

// TestTrustOfRest runs models at rest. Without error control of derivatives these must be called lost. With default
// settings the run must notice that they need it, and come out right.
func TestTrustOfRest(t *testing.T) {
	for _, c := range resting {
		s := modeltest.RunTimes(t, c.text, "sens.control", "off", "solver.stability", "off")
		if _, trust := modeltest.By(t, s, 0, c.by); c.noticed && (trust != odes.Lost || s.Status != "partial" ||
			len(messages(s, odes.CodeTrust, diag.Warning)) == 0) {
			t.Errorf("%s: uncontrolled: trust %s, status %s, warnings %v", c.name, trust, s.Status, s.Warnings)
		}
		s = modeltest.RunTimes(t, c.text, "solver.stability", "off")
		d, trust := modeltest.By(t, s, 0, c.by)
		if math.Abs(d[0]-c.want) > 1e-3*math.Abs(c.want) || trust != odes.Sound || s.Status != "ok" {
			t.Errorf("%s: %g, want %g; trust %s, status %s", c.name, d[0], c.want, trust, s.Status)
		}
		if notes := messages(s, odes.CodeTrust, diag.Note); c.noticed && (len(notes) != 1 ||
			!strings.Contains(notes[0], "needed error control")) {
			t.Errorf("%s: notes %q", c.name, notes)
		}
		off := modeltest.RunTimes(t, c.text, "sens.trust", "off")
		if off.Status != "ok" || off.Errors != nil || off.Trusts != nil {
			t.Errorf("%s: trust = off still judges", c.name)
		}
	}
}

// TestTrustOfRunner repeats runs with other values: what they say must not depend on the runs before.
// TestTrustOfFaded has derivatives by what is zero that decay to far below what they were, where their digits do not
// matter, and states that are small, where they do.
//
//odes:goroutines
func TestTrustOfFaded(t *testing.T) {
	const swings = "c' = -k*c*(1 + 0.9*sin(20*t))\n"
	for _, test := range []struct {
		text  string
		sound bool
	}{
		{"param k = 720, c0 = 0\nstate c = c0\nc' = -k*c", true},
		{"param k = 720, D = 0, td = 1\nstate c = 0\nc' = -k*c\nevent d at td { c += D }", true},
		{"solver { atol = 1e-9 }\nparam k = 0.5, c0 = 1e-12\nstate c = c0\n" + swings, false},
		{
			"solver { atol = 1e-9 }\nparam k = 0.5, c0 = 1e-12, D = 0\nstate c = c0\n" + swings +
				"event d at 1 { c += D }",
			false,
		},
	} {
		s := modeltest.RunTimes(t,
			"time t from 0 to 10\n"+test.text+"\nobjective J = final(c)\nobjective H = final(c)/100\n")
		for i, v := range s.Values {
			sound := v.Trust == odes.Sound
			for _, x := range s.Variables {
				sound = sound && s.Trust(i, x) == odes.Sound
			}
			if sound != test.sound {
				t.Errorf("%s: %s is sound: %v; %v", test.text, v.Name, sound, s.Warnings)
			}
		}
		if !test.sound {
			continue
		}
		for i, v := range s.Values {
			if math.Abs(v.Value) > 1e-8 || math.Abs(v.Value) > 10*v.Error {
				t.Errorf("%s: %s = %g ± %g", test.text, v.Name, v.Value, v.Error)
			}
			for k, d := range s.Gradient[i*s.Columns : (i+1)*s.Columns] {
				if math.Abs(d) > 1e-8 {
					t.Errorf("%s: derivative %d of %s = %g", test.text, k, v.Name, d)
				}
			}
		}
	}
}

func TestTrustOfRunner(t *testing.T) {
	m, err := odes.Parse("trust.ode", resting[0].text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(odes.Options{Set: []odes.Assignment{{Name: "x0", Values: []float64{0}}}})
	if err != nil {
		t.Fatal(err)
	}
	var first []float64
	for i, x0 := range []float64{0, 5, 0} {
		if err := r.Set(odes.Assignment{Name: "x0", Values: []float64{x0}}); err != nil {
			t.Fatal(err)
		}
		s, err := r.Sensitivities(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d, trust := modeltest.By(t, s, 0, "x0")
		if math.Abs(d[0]-resting[0].want) > 1e-3*math.Abs(resting[0].want) || trust != odes.Sound {
			t.Errorf("x0 = %g: %g, trust %s", x0, d[0], trust)
		}
		if i == 0 {
			first = append(first, s.Gradient...)
		} else if x0 == 0 {
			for k, x := range first {
				if x != s.Gradient[k] {
					t.Errorf("derivative %d is %g, and was %g", k, s.Gradient[k], x)
				}
			}
		}
	}
}

// TestTrustOfNothing has values and derivatives that are not finite.
func TestTrustOfNothing(t *testing.T) {
	for _, trust := range []string{"on", "off"} {
		s := modeltest.RunTimes(t, `
time t from 0 to 1
param k = 1
state x = 1
x' = k*x
objective J = exp(1000*final(x))
objective K = final(x)`, "sens.trust", trust)
		if s.Values[0].Trust != odes.Lost || s.Status != "partial" {
			t.Errorf("trust = %s: J = %g: trust %s, status %s", trust, s.Values[0].Value, s.Values[0].Trust, s.Status)
		}
		if _, trust := modeltest.By(t, s, 1, "k"); trust != odes.Sound || s.Values[1].Trust != odes.Sound {
			t.Errorf("K = %g is %s", s.Values[1].Value, trust)
		}
	}
}

// TestTrustOfTies has two events at one time whose order decides: derivatives are those of one order.
//
//odes:goroutines
func TestTrustOfTies(t *testing.T) {
	s := modeltest.RunTimes(t, `
time t from 0 to 2
param a = 1, b = 1
state x = 1
x' = 0.1*x
event f at a { x = 2*x }
event g at b { x = x + 1 }
objective J = final(x)`)
	if _, trust := modeltest.By(t, s, 0, "a"); trust < odes.Loose {
		t.Errorf("the derivative by a is %s: %v", trust, s.Warnings)
	}
}

// TestTrustUnchecked has an independent run that fails: nothing confirms the result, which must be said.
func TestTrustUnchecked(t *testing.T) {
	s := modeltest.RunTimes(t, `
time t from 0 to 10
param k = 1
state x = 1
x' = -k*x
objective J = final(x)
solver { method = euler  fixed_step = 0.1  max_steps = 110 }`)
	if s.Values[0].Trust != odes.Loose || s.Status != "ok" || s.Errors != nil {
		t.Errorf("trust %s, status %s, %d errors", s.Values[0].Trust, s.Status, len(s.Errors))
	}
	all := strings.Join(messages(s, odes.CodeTrust, diag.Warning), "\n")
	if !strings.Contains(all, "nothing confirms") {
		t.Errorf("it is not said: %q", all)
	}
}

// TestTrustOfElements marks single elements of an array.
func TestTrustOfElements(t *testing.T) {
	s := modeltest.RunTimes(t, `
time t from 0 to 240
param x0[2] = [0, 1]
state x = x0[1], v = 0, y = x0[2]
x' = v
v' = -x
y' = -0.001*y
objective J = final(x) + final(y)
sens { control = off }
solver { stability = off }`)
	v := s.Variables[0]
	if s.Trust(0, v) == odes.Sound || s.Trusts[v.Offset] == odes.Sound || s.Trusts[v.Offset+1] != odes.Sound {
		t.Errorf("trust %v of %v", s.Trusts, s.Gradient)
	}
}

// TestVerifyModel verifies models whose gradients are those of their steps, exactly, and not those of the model.
func TestVerifyModel(t *testing.T) {
	for _, c := range resting {
		if !c.noticed {
			continue
		}
		m, err := odes.Parse("trust.ode", c.text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for control, want := range map[string]string{"off": "discrete only", "auto": "ok"} {
			o := odes.Options{Settings: []odes.Setting{
				{Key: "sens.control", Value: control},
				{Key: "solver.stability", Value: "off"},
				{Key: "sens.trust", Value: "off"}, // which verify sees to itself
			}}
			v, err := m.Verify(t.Context(), o, odes.VerifyOptions{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Objectives[0]; got.Outcome != want || got.Complex > 1e-8 || got.CrossCheck > 1e-8 || v.Wrong() {
				t.Errorf("%s: control = %s: %+v, want %s", c.name, control, got, want)
			}
		}
	}
}

// TestTrustOfSecond compares second derivatives: those of a run with loose tolerances are not right.
func TestTrustOfSecond(t *testing.T) {
	const model = `
time t from 0 to 20
param w = 1, a = 0.5
state x = a, v = 0
x' = v
v' = -w^2*sin(x)
objective J = final(x)
sens { order = 2  control = off }
solver { method = bs3 }`
	for rtol, want := range map[string]string{"1e-3": "second derivatives of J are", "1e-9": ""} {
		s := modeltest.RunTimes(t, model, "solver.rtol", rtol, "solver.atol", rtol)
		all := strings.Join(messages(s, odes.CodeTrust, diag.Warning), "\n")
		if (want == "") != (all == "") || !strings.Contains(all, want) {
			t.Errorf("rtol = %s: %q", rtol, all)
		}
	}
}

// TestGrazingConfirmed keeps the warning that an event hardly happens from events that are well crossed: a narrow
// parabola has a small slope at its roots.
//
//odes:goroutines
func TestGrazingConfirmed(t *testing.T) {
	for text, want := range map[string]bool{
		"time t from 0 to 100\nparam w = 1e-4\nstate x = 0\nx' = 0.1\n" +
			"event e when (x - 3)^2 < w^2 { n += 1 }": false,
		"time t from 0 to 2\nparam top = 1\nstate x = 0, y = 1\nx' = y\ny' = -x\n" +
			"event e when x >= top - 1e-7 { n += 1 }\n" +
			"solver { rtol = 1e-10  atol = 1e-12  hmax = 1e-3 }": true,
	} {
		s := modeltest.RunTimes(t, text+"\ndiscrete n = 0\nobjective J = final(n)\n")
		if got := slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool {
			return d.Code == odes.CodeGrazing
		}); got != want {
			t.Errorf("%s: warned %v, want %v: %v", text, got, want, s.Warnings)
		}
	}
}

// TestTrustBesideTimes marks a derivative of which few digits are right, where that by a time far from zero is large:
// relative to the time, but not to the span.
//
//odes:goroutines
func TestTrustBesideTimes(t *testing.T) {
	s := modeltest.RunTimes(t, `
time t from 9500 to tend
param tend = 9500.2963, P = 0.1465, A = 0.00668, ke = 7.087
state y = 6.645
y' = (A*(ceil(t/P) - t/P)) - ke*y
objective J = final(y)
objective J2 = integral(y)
`)
	const truth = -5.7572623
	if got := modeltest.Derivative(t, s, "J", "P"); math.Abs(got-truth) > 1e-3*math.Abs(truth) {
		for _, v := range s.Variables {
			if v.Name == "P" && s.Trust(0, v) == odes.Sound {
				t.Errorf("dJ/dP = %v is sound, want %v", got, truth)
			}
		}
	}
}

// TestLongRows holds that derivatives that are not finite are found in long rows of a gradient, which are not read
// where the sweep knows that they are finite: in products of cotangents and states, and in what params alone make. With
// short steps the products are more numbers than the rows, which are read then.
func TestLongRows(t *testing.T) {
	const text = `
time t from 0 to 1
const n = 70
param A[n,n] = 0
param p[n] = 1
param a = SIZE
param b = 1
state x[n] = p * a
state z = 1
x' = 0*x
z' = sum(A @ x)
objective f = 1e160*final(z) + sqrt(b)
sens { of = [f]  wrt = [A, b, initial(x)]  mode = adjoint  trust = off }
solver { method = rk4  fixed_step = STEP }
`
	for _, c := range []struct{ size, b, step, bad string }{
		{"1", "1", "0.25", ""},
		{"1", "1", "0.01", ""},
		{"1e148", "1", "0.25", ""}, // sums of squares overflow, and yet derivatives do not
		{"1e149", "1", "0.25", "A"},
		{"1e149", "1", "0.01", "A"},
		{"1", "0", "0.25", "b"},
		{"1", "0", "0.01", "b"},
	} {
		s := modeltest.RunTimes(t, strings.NewReplacer("SIZE", c.size, "b = 1", "b = "+c.b, "STEP",
			c.step).Replace(text))
		for _, name := range []string{"A", "b", "initial(x)"} {
			d, trust := modeltest.By(t, s, 0, name)
			if finite := !slices.ContainsFunc(d, func(x float64) bool { return x-x != 0 }); finite != (name != c.bad) {
				t.Errorf("%v: derivatives by %s are finite: %v", c, name, finite)
			}
			if (trust == odes.Lost) != (name == c.bad) {
				t.Errorf("%v: derivatives by %s are %v", c, name, trust)
			}
		}
		if partial := s.Status == "partial"; partial != (c.bad != "") {
			t.Errorf("%v: the status is %q", c, s.Status)
		}
	}
}

// TestTrustBesideSteep has derivatives with errors of per cents beside others that are far larger, times the sizes of
// their variables: by the place of a narrow bell, and by an initial value of zero in small units.
func TestTrustBesideSteep(t *testing.T) {
	s := modeltest.RunTimes(t, `
time t from 0 to 1.46
param c = 0.89081, w = 1.9091e-06, A = 0.19172
param x0 = 0.0292
state a = x0 + 1.46
a' = -a/1.46
state y = 0
y' = A*((((a - c)/w)*exp(-((a - c)/w)^2) + exp(-((a - c)/w)^2)))
objective J = final(y)`, "sens.control", "off")
	const want = -1.193583460160471e-06
	d, trust := modeltest.By(t, s, 0, "c")
	if off := math.Abs(d[0]/want - 1); off > 1e-3 && trust == odes.Sound {
		t.Errorf("by c: %g, want %g, and no mark", d[0], want)
	}
}

// TestNarrowLeftOut has more narrow parts than are watched, which the run says, with the place.
func TestNarrowLeftOut(t *testing.T) {
	s := modeltest.RunTimes(t, `
time t from 0 to 1
state x[100] = [i/100 for i in 1:100]
state y = 0
x[i]' = 1 - x[i] for i in 1:100
y' = sum(exp(-(x[i] - 0.5)^2) for i in 1:100)
objective J = final(y)`)
	list := messages(s, odes.CodeUnseen, diag.Note)
	if len(list) != 1 || !strings.Contains(list[0], "64 elements") {
		t.Errorf("%q", list)
	}
}
