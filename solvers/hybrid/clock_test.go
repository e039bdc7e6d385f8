package hybrid_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/modeltest"
)

// clockCase is a model whose conditions depend on time, with what is known of it: values, and derivatives as "J/p".
type clockCase struct {
	name, text string
	want       map[string]float64
}

var clockCases = []clockCase{
	{"an infusion by hand", `
time t from 0 to 48
param D = 100, dur = 0.5, start = 24
state X = 0
X' = if t >= start and t < start + dur then D/dur else 0
objective J = final(X)
`, map[string]float64{"J": 100, "J/D": 1, "J/dur": 0, "J/start": 0}},
	{"infusions of the library", `
import "std/pharmacology.ode"
time t from 0 to 120
param dose = 100, dur = 1
state X = 0
X' = sum(infusion(t, 24*(i - 1) + 2, dose, dur) for i in 1:5)
objective J = final(X)
`, map[string]float64{"J": 500, "J/dose": 5, "J/dur": 0}},
	{"short infusions", `
import "std/pharmacology.ode"
time t from 0 to 84
param dose = 400, dur = 0.04
state X = 0
X' = sum(infusion(t, 14*(i - 1), dose, dur) for i in 1:6)
objective J = final(X)
`, map[string]float64{"J": 2400, "J/dose": 6, "J/dur": 0}},
	{"a pulse", `
import "std/signals.ode"
time t from 0 to 100
param start = 61.7, width = 0.01
state x = 0
x' = pulse(t, start, width)
objective J = final(x)
`, map[string]float64{"J": 0.01, "J/start": 0, "J/width": 1}},
	{"a negated or", `
time t from 0 to 50
param a = 13.7, w = 0.21
state x = 0
x' = if not (t < a or t > a + w) then 1 else 0
objective J = final(x)
`, map[string]float64{"J": 0.21, "J/a": 0, "J/w": 1}},
	{"an event in a window", `
time t from 0 to 200
param a = 100.3
discrete T = 0
state x = 0
x' = 0.01
event e when t > a and t < a + 0.05 { T += t }
objective J = final(T)
`, map[string]float64{"J": 100.3, "J/a": 1}},
	{"a window of time and state", `
time t from 0 to 200
param a = 100.3, w = 0.05, c = 1.0032
state x = 0, y = 0
x' = 0.01
y' = if t > a and t < a + w and x < c then 1 else 0
objective J = final(y)
`, map[string]float64{"J": 0.02, "J/a": -1, "J/w": 0, "J/c": 100}},
	{"a condition inside a condition", `
time t from 0 to 10
param a = 1.3, w = 0.4, b = 4
state x = 0
x' = if (t - a > 0 and t - a < w) or (if t > b and t < 5 then 1 else 0) > 0 then 1 else 0
objective J = final(x)
`, map[string]float64{"J": 1.4, "J/a": 0, "J/w": 1, "J/b": -1}},
	{"an event on a condition inside a condition", `
time t from 0 to 10
param a = 2
state x = 0
discrete n = 0, T = 0
x' = 1
event e when (t > 7 and t < 7.5) or (if t > a and t < a + 1 then 1 else 0) > 0 { n += 1; T += t }
objective J = final(n)
objective K = final(T)
`, map[string]float64{"J": 2, "J/a": 0, "K": 9, "K/a": 1}},
	{"an infusion inside a condition", `
import "std/pharmacology.ode"
time t from 0 to 100
param a = 37.1, w = 0.5
state x = 0
x' = if infusion(t, a, 7, w) > 0 then 3 else 0
objective J = final(x)
`, map[string]float64{"J": 1.5, "J/a": 0, "J/w": 3}},
	{"mod", `
time t from 0 to 3
param P = 0.6, w = 0.4
state x = 0
x' = if mod(t, P) < w then 1 else 0
objective J = final(x)
`, map[string]float64{"J": 2, "J/w": 5}},
	{"floor", `
time t from 0 to 7
param P = 0.8
state x = 0
x' = if t/P - floor(t/P) < 0.25 then 2 else 0
objective J = final(x)
`, map[string]float64{"J": 3.6, "J/P": 4.5}},
	{"a condition at a time far away", `
time t from 1e6 to 1000010
param s = 1e-7, c = 1e-1
state x = 0
x' = if s*t > c + 3*s and s*t < c + 3.001*s then 1 else 0
objective J = final(x)
`, map[string]float64{"J": 1e-3}},
	{"windows in integrals, of conditions and of bounds", `
time t from 0 to 100
param a = 33.3, w = 0.02
state x = 0
x' = 0
objective J = integral(if t > a and t < a + w then t else 0)
objective K = integral(if t > a and t < a + w then 1 else 0, from = 0, to = 33.31)
`, map[string]float64{"J": 33.31 * 0.02, "J/a": 0.02, "J/w": 33.32, "K": 0.01, "K/a": -1, "K/w": 0}},
	{"the largest value", `
time t from 0 to 100
param a = 33.3, w = 0.02, h = 5
state x = 0
x' = 0
objective J = max_over(1 + (if t > a and t < a + w then h else 0))
`, map[string]float64{"J": 6, "J/a": 0, "J/w": 0, "J/h": 1}},
	{"a fault in a swing model at rest", `
time t from 0 to 20
param tf = 7.7, clear = 0.12
state delta = 0.5235987755982989, w = 0
discrete on = 0, off = 0
delta' = 0*w
w' = (if t >= tf and t < tf + clear then 1 else 0)
event e when t >= tf and t < tf + clear { on = t }
event f when not (t < tf + clear) { off = t }
objective J = final(w)
objective K = final(on) + 10*final(off)
`, map[string]float64{"J": 0.12, "J/tf": 0, "J/clear": 1, "K": 7.7 + 78.2, "K/tf": 11, "K/clear": 10}},
	{"a table that is read later", `
time t from 0 to 200
param lag = 0.3
const T = [0, 100, 100.1, 100.5, 100.6, 200], R = [0, 0, 10, 10, 0, 0]
state a = 0
a' = interp(T, R, t - lag)
objective J = final(a)
`, map[string]float64{"J": 5, "J/lag": 0}},
	{"a table that is read at another pace, within bounds", `
time t from 0 to 50
param a = 1.1, b = 2, h = 10, lo = 1, hi = 60
discrete c = 2
const T = [0, 20, 20.1, 20.5, 20.6, 200], R = [0, 0, 1, 1, 0, 0]
state x = 0, y = 0
x' = h*interp(T, R, min(max(t/(1/a) - b, lo), hi))
y' = interp(T, R, -(c - t)*a)
event e at 25 { c = 22.3 }
objective J = final(x)
objective K = final(y)
`, map[string]float64{
		"J": 5 / 1.1, "J/a": -5 / 1.21, "J/b": 0, "J/h": 0.5 / 1.1, "J/lo": 0, "J/hi": 0,
		"K": 0.5/1.1 + 0.5/1.1, "K/a": -1 / 1.21,
	}},
	{"a table that is read at a time of its own in each element", `
time t from 0 to 50
param lag[3] = [1.3, 2.7, 3.9]
const T = [0, 20, 20.1, 20.5, 20.6, 200], R = [0, 0, 10, 10, 0, 0]
state x[3] = 0
x[i]' = i*interp(T, R, t - lag[i]) for i in 1:3
objective J = sum(final(x))
`, map[string]float64{"J": 30}},
	{"a distance in time", `
time t from 0 to 10
param a = 3.3
state x = 0
x' = abs(a - t)
objective J = final(x)
`, map[string]float64{"J": (3.3*3.3 + 6.7*6.7) / 2, "J/a": 3.3 - 6.7}},
	{"windows in a trigger, as in models of the SBML suite", `
time t from 0 to 10
param k = 0.5
state S1 = 1, S2 = 0
discrete n = 0
S1' = -k*S1*0
S2' = if t >= 2 and t < 2.01 then 100 elseif t >= 4.5 and t < 4.52 then -25 else 0
event e when t > 1 and t < 1.05 or t >= 3 and t <= 3.001 { S1 = S1 + 1 }
event f when not (t < 6) and S1 > 2.5 and not (t > 6.001) { n += 1 }
event g when t >= 7 and t <= 7 { n += 10 }
objective J = final(S1)
objective K = final(S2)
objective N = final(n)
`, map[string]float64{"J": 3, "K": 0.5, "N": 11}},
	{"windows at times that discretes set", `
time t from 0 to 100
param lag = 3.7, w = 0.02
discrete start = 1e9
state x = 0
x' = if t >= start + lag and t < start + lag + w then 1/w else 0
event dose every 20 from 5 count 4 { start = t }
objective J = final(x)
`, map[string]float64{"J": 4, "J/lag": 0, "J/w": 0}},
	{"times read of data inside windows", `
data D { time = [33.305, 33.31, 33.33]  y = [0, 0, 0] }
time t from 0 to 100
param a = 33.3, w = 0.02
state x = 0
x' = if t > a and t < a + w then 1 else 0
objective J = sum_at(D.time, x)
`, map[string]float64{"J": 0.005 + 0.01 + 0.02, "J/a": -2, "J/w": 1}},
	{"a function of time that is not affine", `
time t from 0 to 10
param a = 2, w = 1e-3
state x = 0, y = 0
x' = if (t - a)*(t - a - w) < 0 then 1 else 0
y' = if t^2 > a^2*4 and sqrt(t) < 2*sqrt(a)*1.00001 then 1 else 0
objective J = final(x)
objective K = final(y)
`, map[string]float64{"J": 1e-3, "J/a": 0, "J/w": 1, "K": 4*2*1.00001*1.00001 - 4}},
	{"a hat, whose knot is met where its margin is exactly zero", `
time t from 0 to 19.54
param A = 1.9, a = 6.839, w = 3.706738
state x = 0
x' = A*max(0, 1 - abs((t - a)/w))
objective J = final(x)
objective K = integral(A*max(0, 1 - abs((t - a)/w)))
`, map[string]float64{
		"J": 1.9 * 3.706738, "J/a": 0, "J/w": 1.9, "J/A": 3.706738, "K": 1.9 * 3.706738, "K/a": 0, "K/w": 1.9,
	}},
	{"a condition on a discrete beside one on a state", `
time t from 0 to 10
param c = 1
state x = 0
discrete n = 3, T = 0
x' = 0.5
event e when x > c and n >= 3 { T = t }
objective J = final(T)
`, map[string]float64{"J": 2, "J/c": 2}},
}

func TestClocks(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for _, c := range clockCases {
		for _, mode := range []string{"adjoint", "tangent", "complex"} {
			for _, method := range []string{"tsit5", "dopri5", "rk4"} {
				settings := []odes.Setting{{Key: "solver.method", Value: method}}
				if method == "rk4" {
					settings = append(settings, odes.Setting{Key: "solver.fixed_step", Value: "0.25"})
				}
				checkClock(t, c, mode, settings...)
			}
		}
	}
}

// checkClock compares a model with what is known of it.
func checkClock(t *testing.T, c clockCase, mode string, settings ...odes.Setting) {
	t.Helper()
	s, err := modeltest.Sensitivities(t, c.text, mode, settings...)
	if err != nil {
		t.Errorf("%s, %s, %v: %v", c.name, mode, settings, err)
		return
	}
	for _, w := range s.Warnings {
		if w.Code == odes.CodeGrazing {
			t.Errorf("%s, %s, %v: %s", c.name, mode, settings, w.Message)
		}
	}
	for what, want := range c.want {
		objective, by, derivative := strings.Cut(what, "/")
		got := math.NaN()
		if derivative {
			got = modeltest.Derivative(t, s, objective, by)
		} else {
			for _, v := range s.Values {
				if v.Name == objective {
					got = v.Value
				}
			}
		}
		if math.Abs(got-want) > 1e-6*math.Max(math.Abs(want), 1e-3) {
			t.Errorf("%s, %s, %v: %s = %v, want %v", c.name, mode, settings, what, got, want)
		}
	}
}

// TestPeriodicSignals draws periods, widths and lengths of runs at random. The integrals are sums of overlaps.
func TestPeriodicSignals(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	r := elem.NewRand(11)
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }
	for k := range 60 {
		period, end := between(0.1, 3), between(2, 40)
		width, start := period*between(0.02, 0.9), between(0, 3)
		duty := width / period
		// on is how long a signal is on until the end that is so for a width from every multiple of the period on.
		on := func(from, width float64) (sum float64) {
			for n := 0.0; from+n*period < end; n++ {
				sum += math.Min(width, end-(from+n*period))
			}
			return sum
		}
		teeth := math.Floor(end / period)
		last := end/period - teeth
		periods := 0.0 // that have ended with the whole of the width, for derivatives by the width
		for n := 0.0; start+n*period+width < end; n++ {
			periods++
		}
		text := fmt.Sprintf(`
import "std/signals.ode"
time t from 0 to %.17g
param period = %.17g, width = %.17g, start = %.17g, duty = %.17g
state train = 0, wide = 0, s = 0, saw = 0
train' = pulse_train(t, start, period, width)
wide' = pwm(t, period, duty)
s' = square(t, period)
saw' = sawtooth(t, period)
objective A = final(train)
objective B = final(wide)
objective C = final(s)
objective D = final(saw)
objective E = integral(pulse_train(t, start, period, width))
`, end, period, width, start, duty)
		c := clockCase{fmt.Sprint("signals ", k), text, map[string]float64{
			"A": on(start, width), "A/width": periods, "B": on(0, duty*period), "C": 2*on(0, period/2) - end,
			"D": period * (teeth + last*last) / 2, "E": on(start, width),
		}}
		checkClock(t, c, "adjoint")
	}
}

// TestEventsOfPeriodicSignals counts how often an event fires with every method.
func TestEventsOfPeriodicSignals(t *testing.T) {
	const model = `
import "std/signals.ode"
time t from 0 to 10
param c = 0.4
state x = 0
discrete n = 0, T = 0
x' = 1
event f when sawtooth(t, 1) > c { n += 1; T += t }
objective J = final(n)
objective K = final(T)
`
	c := clockCase{"sawtooth", model, map[string]float64{"J": 10, "K": 49, "K/c": 10}}
	for _, method := range []string{"dopri5", "tsit5", "dop853", "vern9"} {
		checkClock(t, c, "adjoint", odes.Setting{Key: "solver.method", Value: method})
	}
	for _, h := range []string{"0.01", "0.3", "1.7"} {
		checkClock(t, c, "adjoint", odes.Setting{Key: "solver.method", Value: "rk4"},
			odes.Setting{Key: "solver.fixed_step", Value: h})
	}
}

// TestClocksVerify checks derivatives of what conditions of time switch by other methods, and second derivatives by
// differences.
func TestClocksVerify(t *testing.T) {
	const text = `
import "std/signals.ode"
time t from 0 to 10
param P = 0.9, w = 0.35, a = 2.3, k = 0.7, lag = 0.4
const T = [0, 5, 5.1, 5.5, 5.6, 20], R = [0, 0, 3, 3, 0, 0]
state x = 1, y = 0
x' = -k*x + pulse_train(t, a, P, w)*(1 + t/10) + interp(T, R, t - lag)
y' = abs(sin(P*t))*x
event e when t > a and mod(t, 2*P) > w { x = 0.5*x + 0.1*t }
objective J = final(y)
`
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := odes.Options{Settings: []odes.Setting{
		{Key: "solver.rtol", Value: "1e-10"}, {Key: "solver.atol", Value: "1e-12"},
	}}
	v, err := m.Verify(t.Context(), o, odes.VerifyOptions{})
	if err != nil || v.Wrong() {
		t.Errorf("%+v, %v", v, err)
	}
}
