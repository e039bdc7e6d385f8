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
)

// TestPeaksInClosedForm compares largest values and their derivatives with formulas: within a step, on either side of a
// jump, at an event that a guard finds, at a kink, and at both ends.
func TestPeaksInClosedForm(t *testing.T) {
	const ka, ke = 1.2, 0.15
	cmax := 5 * math.Pow(ka/ke, -ke/(ka-ke))
	const z, w = 0.2, 3.0
	s := math.Sqrt(1 - z*z)
	swing := math.Exp(-z*math.Acos(z)/s) / w
	doses := func(power float64) float64 { // Σ j^power e^(-k τ j)
		sum := 0.0
		for j := range 4 {
			sum += math.Pow(float64(j), power) * math.Exp(-0.3*2*float64(j))
		}
		return sum
	}
	for _, c := range []struct {
		name, text string
		value      float64
		wrt        map[string]float64
	}{
		{"one compartment, oral dose", `
time t from 0 to 24
param ka = 1.2, ke = 0.15, V = 20, dose = 100
state gut = dose, A = 0
gut' = -ka*gut
A' = ka*gut - ke*A
objective J = max_over(A/V)`, cmax, map[string]float64{
			"ka":   cmax * (ke*math.Log(ka/ke)/(ka-ke)/(ka-ke) - ke/(ka-ke)/ka),
			"ke":   cmax * (1/(ka-ke) - ka*math.Log(ka/ke)/(ka-ke)/(ka-ke)),
			"V":    -cmax / 20,
			"dose": cmax / 100,
		}},
		{"highest point of a ball", `
time t from 0 to 3
param g = 9.81, h0 = 2, u0 = 6, e = 0.7
state h = h0, v = u0
h' = v
v' = -g
event bounce when h <= 0 { v = -e*v }
objective J = max_over(h)`, 2 + 36/(2*9.81), map[string]float64{
			"g": -36 / (2 * 9.81 * 9.81), "h0": 1, "u0": 6 / 9.81,
			"e": 0,
		}},
		{"second arc of a ball", `
time t from 0 to 1.3
param g = 9.81, h0 = 2, e = 0.7
state h = h0, v = 0
discrete n = 0
h' = v
v' = -g
event bounce when h <= 0 { v = -e*v; n = 1 }
objective J = max_over(n*h)`, 0.98, map[string]float64{"g": 0, "h0": 0.49, "e": 2.8}},
		{"damped oscillator", `
time t from 0 to 10
param w = 3, z = 0.2
state x = 0, v = 1
x' = v
v' = -w^2*x - 2*z*w*v
objective J = max_over(x)`, swing, map[string]float64{"w": -swing / w, "z": -swing * (math.Acos(z)/(s*s*s) - z/(s*s))}},
		{"smallest value", `
time t from 0 to 10
param w = 3, z = 0.2
state x = 0, v = -1
x' = v
v' = -w^2*x - 2*z*w*v
objective J = max_over(-x)`, swing, map[string]float64{"w": -swing / w}},
		{"behind a jump", `
time t from 0 to 8
param k = 0.3, tau = 2, amt = 10
state A = 0
A' = -k*A
event dose every tau from 0 count 4 { A += amt }
objective J = max_over(A)`, 10 * doses(0), map[string]float64{
			"k": -20 * doses(1), "tau": -3 * doses(1),
			"amt": doses(0),
		}},
		{"before a jump", `
time t from 0 to 4
param r = 0.5, T1 = 3, x0 = 1, keep = 0.5
state x = x0
x' = r*x
event harvest at T1 { x = keep*x }
objective J = max_over(x)`, math.Exp(1.5), map[string]float64{
			"r": 3 * math.Exp(1.5), "T1": 0.5 * math.Exp(1.5),
			"x0": math.Exp(1.5), "keep": 0,
		}},
		{"at a change of mode", `
time t from 0 to 6
param k = 1, level = 0.75, x0 = 0.2
state x = x0
discrete on = 1
x' = k*(on - x)
event hot when x > level { on = 0 }
objective J = max_over(x)`, 0.75, map[string]float64{"k": 0, "level": 1, "x0": 0}},
		{"what jumps where its own condition changes", `
time t from 0 to 6
param k = 1, level = 0.75
state x = 0
x' = k*(1 - x)
objective J = max_over(if x < level then 3*x else x)`, 2.25, map[string]float64{"k": 0, "level": 3}},
		{"behind the last event", `
time t from 0 to 6
param k = 1, level = 0.75, jump = 2
state x = 0
x' = k*(1 - x)
event done when x > level { x = jump*x; stop }
objective J = max_over(x)`, 1.5, map[string]float64{"k": 0, "level": 2, "jump": 0.75}},
		{"at the start", `
time t from t0 to 4
param k = 1, x0 = 3, t0 = 1
state x = x0
x' = -k*x
objective J = max_over(x - t)`, 2, map[string]float64{"k": 0, "x0": 1, "t0": -1}},
		{"at the start, behind an event", `
time t from 0 to 4
param k = 1, x0 = 3, amt = 2
state x = x0
x' = -k*x
event load at 0 { x += amt - 4 }
objective J = max_over(x)`, 1, map[string]float64{"k": 0, "x0": 1, "amt": 1}},
		{"at the end", `
time t from 0 to T
param k = 0.5, x0 = 3, T = 2
state x = x0
x' = k*x
objective J = max_over(x)`, 3 * math.E, map[string]float64{"k": 6 * math.E, "x0": math.E, "T": 1.5 * math.E}},
		{"at a kink", `
time t from 0 to 20
param b = 1
state x = 0
x' = b
objective J = max_over(min(x, 9*b - t))`, 4.5, map[string]float64{"b": 6.75}},
		{"at a knot of a table that is read at a state", `
time t from 0 to 4
param k = 1, y[4] = [0, 2, 1, 1.5]
state x = 0
x' = k
objective J = max_over(interp([0, 0.5, 1.2, 4.1], y, x))`, 2, map[string]float64{"k": 0}},
		{"of what stands still", `
time t from 0 to 4
param k = 2
state x = 1
x' = -x
objective J = max_over(k^2)`, 4, map[string]float64{"k": 4}},
		{
			"in an expression", `
time t from 0 to 3
param g = 9.81, u0 = 6
state h = 0, v = u0
h' = v
v' = -g
objective J = max_over(h)^2 + 2*final(v) + max_over(v)*max_over(-h)`,
			math.Pow(36/(2*9.81), 2) + 2*(6-3*9.81) + 6*(4.5*9.81-18),
			map[string]float64{
				"g":  -2*math.Pow(36/(2*9.81), 2)/9.81 - 6 + 27,
				"u0": 4*math.Pow(36/(2*9.81), 2)/6 + 2 + (4.5*9.81 - 18) - 18,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range []string{"adjoint", "tangent", "complex", "forward", "continuous"} {
				got := modeltest.Run(t, c.text, "sens.mode", mode, "solver.method", "vern9", "solver.rtol", "1e-11",
					"solver.atol", "1e-13")
				if d := math.Abs(got.Values[0].Value - c.value); !(d <= 1e-9*c.value) {
					t.Errorf("%s: the largest value is %v, the formula gives %v", mode, got.Values[0].Value, c.value)
				}
				for _, w := range got.Warnings {
					if w.Code == "tie" || w.Code == "kink" {
						t.Errorf("%s: warns: %s", mode, w.Message)
					}
				}
				checked := 0
				for _, v := range got.Variables {
					want, ok := c.wrt[v.String()]
					if !ok {
						continue
					}
					checked++
					if d := math.Abs(got.Derivative(0, v)[0] - want); !(d <= 1e-8*(1+math.Abs(want))) {
						t.Errorf("%s: the derivative by %s is %v, the formula gives %v", mode, v,
							got.Derivative(0, v)[0], want)
					}
				}
				if checked != len(c.wrt) {
					t.Errorf("%d derivatives were compared, want %d", checked, len(c.wrt))
				}
			}
		})
	}
}

// peaky is a model with many largest values: in arrays and loops, beside events and changes of
// mode, at times that move.
const peaky = `
const n = 3
time t from 0 to T
param T = 4.3
param w[n] = [1 + 0.3*i for i in 1:n], z = 0.1, g = 9.81, e = 0.9, h0 = 2, td = 3.2, amt = 0.7, lev = 0.5, period = 1.3
state x[n] = [0.1*i for i in 1:n], v[n] = 1
state h = h0, u = 1.5
state q = 0.2
discrete k = 1
x' = v
v' = -w^2*x - 2*z*w*v
h' = u
u' = -g
q' = if q > lev then 0.2 - 0.3*k*q else 0.4 - 0.2*q
event bounce when h <= 0 { u = -e*u }
event dose at td { q += amt }
event tick every period from period { k = k*1.1 }
objective area = integral(q)
objective peak[i] = max_over(x[i]) for i in 1:n
objective high = max_over(h)
objective fast = max_over(abs(u))
objective low = -max_over(-u)
objective all = max_over(x)
objective top = max(max_over(x + 0.3*v))^2 + final(q)*max_over(h*q)
objective con = max_over(q)*2
objective sw = max_over(if q > 0.8 then 3*q else q + 0.1*t)
objective dis = max_over(k*x[1] + t*0.1)
objective start = max_over(h0 - t - q^2)
objective seen = sum_at(grid(0.1, 4, 30), x[1]) + max_over(x[1]*x[2])
constraint safe: max_over(q) <= 5
solver { rtol = 1e-7  atol = 1e-9 }
`

// TestPeakDerivatives compares the derivatives of largest values by the adjoint, in any number of
// lanes and threads, with those by tangents and complex steps, for methods with dense output of all
// kinds.
func TestPeakDerivatives(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	m, err := odes.Parse("peaky.ode", peaky, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(method, mode string, lanes, threads int) *odes.Sensitivities {
		s, err := m.Sensitivities(context.Background(), odes.Options{
			Lanes: lanes, Threads: threads, EventTimes: true,
			Settings: []odes.Setting{
				{Key: "sens.mode", Value: mode},
				{Key: "solver.method", Value: method},
				{Key: "solver.observe", Value: "dense"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, method := range []string{"dopri5", "tsit5", "bs3", "dop853", "vern7", "dopri8"} {
		t.Run(method, func(t *testing.T) {
			want := run(method, "adjoint", 1, 1)
			close := func(what string, got *odes.Sensitivities, tol float64) {
				for i, v := range got.Values {
					size := 0.0
					for k := i * got.Columns; k < (i+1)*got.Columns; k++ {
						size = max(size, math.Abs(want.Gradient[k]))
					}
					for k := i * got.Columns; k < (i+1)*got.Columns; k++ {
						if d := math.Abs(got.Gradient[k] - want.Gradient[k]); !(d <= tol*size) {
							t.Errorf("%s: derivative %d of %s is %v, want %v", what, k-i*got.Columns, v.Name,
								got.Gradient[k], want.Gradient[k])
						}
					}
				}
			}
			close("tangent", run(method, "tangent", 4, 1), 1e-12)
			close("complex", run(method, "complex", 1, 1), 1e-12)
			first := 1e-5 // of those that differentiate first, which agree as far as the dense output is right
			if method == "dopri8" {
				first = 1e-2
			}
			close("forward", run(method, "forward", 2, 1), first)
			close("continuous", run(method, "continuous", 1, 1), first)
			for _, lanes := range []int{2, 8, 19} {
				if got := run(method, "adjoint", lanes, 2); !slices.Equal(got.Gradient, want.Gradient) {
					t.Errorf("%d lanes and two threads give other bits", lanes)
				}
			}
			values, err := m.Solve(context.Background(), odes.Options{Settings: []odes.Setting{{
				Key:   "solver.method",
				Value: method,
			}, {Key: "solver.observe", Value: "dense"}}})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range values.Values {
				if v.Value != want.Values[i].Value {
					t.Errorf("%s is %v in a run, %v with its derivatives", v.Name, v.Value, want.Values[i].Value)
				}
			}
		})
	}
	// One without the others, for which nothing else is looked for.
	all := run("dopri5", "adjoint", 1, 1)
	for _, name := range []string{"area", "sw"} {
		s, err := m.Sensitivities(context.Background(), odes.Options{
			Of:       []string{name},
			Settings: []odes.Setting{{Key: "solver.observe", Value: "dense"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all.Values, func(v odes.Value) bool { return v.Name == name })
		if s.Values[0].Value != all.Values[i].Value || !slices.Equal(s.Gradient,
			all.Gradient[i*all.Columns:(i+1)*all.Columns]) {
			t.Errorf("%s alone gives other bits than with the others", name)
		}
	}
}

// TestPeakVerify verifies the gradients, also with fixed steps. Some of these are right for the steps alone.
//
//odes:goroutines
func TestPeakVerify(t *testing.T) {
	m, err := odes.Parse("peaky.ode", peaky, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, settings := range [][]odes.Setting{nil, {
		{Key: "solver.method", Value: "rk4"},
		{Key: "solver.fixed_step", Value: "0.05"},
	}, {
		{Key: "solver.method", Value: "euler"},
		{Key: "solver.fixed_step", Value: "0.01"},
	}} {
		v, err := m.Verify(context.Background(), odes.Options{Settings: settings}, odes.VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range v.Objectives {
			right := o.Outcome == "ok" || o.Outcome == "discrete only" && settings != nil
			if !right || !math.IsNaN(o.Order) && math.Abs(o.Order-2) > 0.1 {
				t.Errorf("%v: %s: %s, remainders of order %v", settings, o.Name, o.Outcome, o.Order)
			}
		}
	}
}

// TestPeaksWithinSteps samples the dense output much more finely than the search does, and must find
// nothing larger.
func TestPeaksWithinSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	const model = `
time t from 0 to 30
param a = 10, b = 28, c = 2.6666666666666665
state x = 1, y = 1, z = 1
x' = a*(y - x)
y' = x*(b - z) - y
z' = x*y - c*z
output out = x*y - 3*z
objective big = max_over(x*y - 3*z)
objective small = -max_over(3*z - x*y)
`
	m, err := odes.Parse("lorenz.ode", model, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var times []float64
	for i := range 300_001 {
		times = append(times, 1e-4*float64(i))
	}
	for _, method := range []string{"dopri5", "vern9", "rk4", "bs3"} {
		s, err := m.Solve(context.Background(), odes.Options{
			Times:    times,
			Settings: []odes.Setting{{Key: "solver.method", Value: method}, {Key: "solver.rtol", Value: "1e-4"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		most, least := math.Inf(-1), math.Inf(1)
		for _, v := range s.Outputs[0].Values {
			most, least = max(most, v), min(least, v)
		}
		for i, want := range []float64{most, least} {
			got := s.Values[i].Value
			if i == 1 {
				got, want = -got, -want
			}
			if !(got >= want-1e-12*math.Abs(want) && got <= want+1e-4*math.Abs(want)) {
				t.Errorf("%s: %s is %v, but along the run %v is reached", method, s.Values[i].Name, got, want)
			}
		}
	}
}

// TestPeakTies wants a warning where two maxima are equally large, with both times, and none where
// they are not.
func TestPeakTies(t *testing.T) {
	const text = `
time t from 0 to 20
param w = 1, a = 1, d = 0
state x = 0, v = a
x' = v
v' = -w^2*x - d*v
objective J = max_over(x)
`
	ties := func(s *odes.Sensitivities) (list []string) {
		for _, w := range s.Warnings {
			if w.Code == "tie" {
				list = append(list, w.Message)
			}
		}
		return list
	}
	got := ties(modeltest.Run(t, text))
	if len(got) != 1 || !strings.Contains(got[0], "max_over(x)") {
		t.Fatalf("warnings of a periodic orbit: %q", got)
	}
	found := 0
	for n := range 4 {
		if at := math.Pi/2 + 2*math.Pi*float64(n); strings.Contains(got[0], fmt.Sprintf("t = %.3f", at)[:8]) {
			found++
		}
	}
	if found != 2 {
		t.Errorf("the warning names %d of the times: %s", found, got[0])
	}
	if got := ties(modeltest.Run(t, strings.Replace(text, "d = 0", "d = 0.01", 1))); len(got) != 0 {
		t.Errorf("warnings of a damped oscillator: %q", got)
	}
	if got := ties(modeltest.Run(t, strings.Replace(text, "max_over(x)", "max_over(2 + 0*x)", 1))); len(got) != 0 {
		t.Errorf("warnings of what stands still: %q", got)
	}
}

// TestPeakWithoutValue wants no value where the expression is NaN somewhere. Other objectives must not
// suffer.
func TestPeakWithoutValue(t *testing.T) {
	s := modeltest.Run(t, `
time t from 0 to 2
param k = 1
state x = 1
x' = -k
objective lost = max_over(sqrt(x))
objective kept = max_over(x)
`)
	if v := s.Values[0]; !math.IsNaN(v.Value) || len(v.Warnings) == 0 || s.Status != "partial" {
		t.Errorf("the largest square root is %v, %q, status %s", v.Value, v.Warnings, s.Status)
	}
	if s.Values[1].Value != 1 || s.Derivative(1, s.Variables[0])[0] != 0 {
		t.Errorf("the other objective is %v, its derivative %v", s.Values[1].Value, s.Derivative(1, s.Variables[0]))
	}
}

// TestPeakTwice wants an error for second derivatives of largest values, but not for those of other
// objectives.
//
//odes:goroutines
func TestPeakTwice(t *testing.T) {
	m, err := odes.Parse("peaky.ode", peaky, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	twice := []odes.Setting{{Key: "sens.order", Value: "2"}}
	if _, err := m.Sensitivities(context.Background(), odes.Options{
		Of:       []string{"area", "con"},
		Settings: twice,
	}); err == nil || !strings.Contains(err.Error(), "max_over") {
		t.Errorf("second derivatives of max_over: %v", err)
	}
	if _, err := m.Sensitivities(context.Background(), odes.Options{
		Of:       []string{"area"},
		Settings: twice,
	}); err != nil {
		t.Errorf("second derivatives of an integral: %v", err)
	}
}

// TestPeaksAtTheEnd reads the largest value at the end of a run, where a level jumps at the same time: it is largest at
// the end, whichever comes first.
func TestPeaksAtTheEnd(t *testing.T) {
	for _, mode := range []string{"adjoint", "tangent", "complex"} {
		s, err := modeltest.Sensitivities(t, `
time t from 0 to 10
param P = 0.5, B = 3
state y = 0, z = 0
z' = 1
y' = B + 0*floor(t/P)
objective J = max_over(y)
objective L = max_over(z*y)
`, mode)
		if err != nil {
			t.Fatal(err)
		}
		for what, want := range map[[2]string]float64{{"J", "P"}: 0, {"J", "B"}: 10, {"L", "P"}: 0, {"L", "B"}: 100} {
			if got := modeltest.Derivative(t, s, what[0], what[1]); math.Abs(got-want) > 1e-6*max(want, 1) {
				t.Errorf("%s: d%s/d%s = %v, want %v", mode, what[0], what[1], got, want)
			}
		}
	}
}

// TestPeaksAtMeetings has a dose that comes at the same time as a kink of time, which is separated from it by a step of
// length zero: what is largest just after the dose, and falls, is so at the time of the dose. The other parts of the
// model rise after it, or are the same as before.
func TestPeaksAtMeetings(t *testing.T) {
	type moved struct{ J, L, M float64 } // derivatives by T
	for _, c := range []struct {
		name, model string
		want        moved
	}{
		{"max", `
x' = -max(1, t)*x
y' = max(1, t) - 1
z' = -max(1, t)`, moved{J: -math.Exp(-1)}},
		{"a table", `
x' = -interp([0, 1, 3], [1, 1, 4], t)*x
y' = interp([0, 1, 3], [0, 0, 4], t)
z' = -interp([0, 1, 3], [1, 1, 4], t)`, moved{J: -math.Exp(-1)}},
		{"a switch", `
x' = -x
y' = if t < 1 then 0 else 1
z' = if t < 1 then -1 else -2`, moved{J: -math.Exp(-1)}},
		{"another event", `
x' = -x
y' = 0.1
z' = -1
event other at 1 { n += 1 }`, moved{J: -math.Exp(-1)}},
		{"two others", `
x' = -max(1, t)*x
y' = 0.1
z' = -1
event other at 1 { n += 1 }`, moved{J: -math.Exp(-1)}},
	} {
		text := `
time t from 0 to 3
param T = 1, A = 2
discrete n = 0
state x = 1, y = 0, z = 0` + c.model + `
event dose at T { x += A }
objective J = max_over(x)
objective L = max_over(y)
objective M = max_over(z)
`
		for _, method := range []string{"dopri5", "rodas5p", "radau5"} {
			for _, mode := range []string{"adjoint", "tangent", "complex"} {
				s := modeltest.Run(t, text, "sens.mode", mode, "solver.method", method, "solver.rtol", "1e-8")
				if !(math.Abs(s.Values[0].Value-math.Exp(-1)-2) < 1e-6) {
					t.Fatalf("%s, %s, %s: J = %v", c.name, method, mode, s.Values[0])
				}
				for what, want := range map[string]float64{"J": c.want.J, "L": c.want.L, "M": c.want.M} {
					if got := modeltest.Derivative(t, s, what, "T"); math.Abs(got-want) > 1e-6 {
						t.Errorf("%s, %s, %s: d%s/dT = %v, want %v", c.name, method, mode, what, got, want)
					}
				}
			}
		}
	}
}

// TestPeaksBehindTheStart: what an event at the start has changed counts, also where it shows in no value.
func TestPeaksBehindTheStart(t *testing.T) {
	s := modeltest.Run(t, `
time t from 0 to 2
param u = 0, tau = 0.5
discrete d = 1
state y = u
y' = -y - 1
event e every tau { d = 0.5*d }
objective J = max_over(d*y)
sens { wrt = [u, initial(y)] }`)
	for _, v := range s.Variables {
		if got := s.Derivative(0, v)[0]; got != 0.5 || s.Trust(0, v) != odes.Sound {
			t.Errorf("by %v: %v, %v", v, got, s.Trust(0, v))
		}
	}
}

// TestHeldPeaks: a largest value that is held for a while has derivatives of one side, by whatever moves its beginning
// otherwise than its end. Where both move alike it has a derivative.
func TestHeldPeaks(t *testing.T) {
	for _, c := range []struct {
		name, text string
		sound      map[string]bool
	}{
		{"at rest", `
time t from 0 to 2
param k = 1.5
state x = 1
x' = k*(1 - x)
objective J = -max_over(-x)
sens { wrt = [k, initial(x)] }`, map[string]bool{"k": true, "initial(x)": false}},
		{"without a rate", `
time t from 0 to 3
param k = 0
state x = 1.13
x' = k
objective J = max_over(x)
sens { wrt = [k, initial(x)] }`, map[string]bool{"k": false, "initial(x)": true}},
		{"come to rest", `
time t from 0 to 60
param k = 1.5, s = 0.7
state x = 0
x' = k*(s - x)
objective J = max_over(x)
sens { wrt = [k, s, initial(x)] }`, map[string]bool{"k": true, "s": true, "initial(x)": true}},
		{"a harvest of nothing at the end", `
time t from 0 to 4
param r = 0.3, h = 0
state N = 1
N' = r*N
event harvest every 2 { N -= h }
objective J = max_over(N)
sens { wrt = [r, h, initial(N)] }`, map[string]bool{"r": true, "h": false, "initial(N)": true}},
		{"a dose of nothing", `
time t from 0 to 4
param k = 0.3, d = 0
state c = 0
c' = (if t < 2 then 1 else 0) - k*c
event at 2 { c += d }
objective J = max_over(c)
sens { wrt = [k, d, initial(c)] }`, map[string]bool{"k": true, "d": false, "initial(c)": true}},
	} {
		for _, mode := range []string{"adjoint", "tangent"} {
			s := modeltest.Run(t, c.text, "sens.mode", mode)
			for _, v := range s.Variables {
				want := odes.Loose
				if c.sound[v.String()] {
					want = odes.Sound
				}
				if got := s.Trust(0, v); got != want {
					t.Errorf("%s, %s: derivative by %s is %v, not %v", c.name, mode, v, got, want)
				}
			}
		}
	}
}
