package hybrid_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// want is what an objective is, and its derivatives; those that are not named are not compared.
type want struct {
	value float64
	by    map[string]float64
}

// discreteModes are the modes that are exact for the computed solution.
var discreteModes = []string{"adjoint", "tangent", "complex"}

// delayCases are models whose steps make no error, so that every mode must agree with the closed form.
var delayCases = []struct {
	name, text string
	want       map[string]want
}{
	// x = k t, so the trigger is at c/k and the execution at c/k + tau c^2.
	{"values of the trigger", `
time t from 0 to 10
param k = 1.25, tau = 0.5, a = 2, c = 1.5
state x = 0, y = 1
x' = k
y' = 0.1
event e when x > c, delay = tau*x^2 { y += a*x*t }
objective T = event_time(e, 1)
objective J = final(y)
objective B = at_event(e, pre(y))`, map[string]want{
		"T": {1.2 + 1.125, map[string]float64{"c": 0.8 + 1.5, "k": -1.5 / (1.25 * 1.25), "tau": 2.25}},
		"J": {2 + 2*1.5*1.2, map[string]float64{"c": 2 * 2 * 1.5 / 1.25, "a": 1.5 * 1.2, "tau": 0}},
		"B": {1 + 0.1*2.325, map[string]float64{"tau": 0.225, "c": 0.23}},
	}},
	{"values of the execution", `
time t from 0 to 10
param k = 1.25, tau = 0.5, a = 2, c = 1.5
state x = 0, y = 1
x' = k
y' = 0.1
event e when x > c, delay = tau*x^2, values = execution { y += a*x*t }
objective J = final(y)`, map[string]want{
		// y jumps by a k T^2
		"J": {2 + 2*1.25*2.325*2.325, map[string]float64{
			"a": 1.25 * 2.325 * 2.325, "tau": 2 * 2 * 1.25 * 2.325 * 2.25, "c": 2 * 2 * 1.25 * 2.325 * 2.3,
		}},
	}},
	// What is set, rather than added, is what the trigger found, whatever happened since.
	{"an assignment of values of the trigger", `
time t from 0 to 4
param tau = 1.5, b = 3
state x = 1
discrete m = 2
x' = 1
event e at 1, delay = tau { x = b*x + m }
event f at 2 { x = 0  m = 7 }
objective J = final(x)`, map[string]want{
		"J": {3*2 + 2 + 4 - 2.5, map[string]float64{"b": 2, "tau": -1, "initial(x)": 3}},
	}},
	// Five executions are pending at once; each has an amount of its own.
	{"several pending", `
time t from 0 to 12
param P = 1, D = 4.75, a = 3
state x = 0, y = 0
x' = 2
y' = 0
event e every P from P count 6, delay = D { y += a*x }
event look at 5.5 { }
objective J = final(y)
objective early = at_event(look, pre(y))
objective third = event_time(e, 3)`, map[string]want{
		"J":     {3 * 2 * 21, map[string]float64{"a": 42, "P": 3 * 2 * 21, "D": 0}},
		"early": {0, map[string]float64{"D": 0}},
		"third": {7.75, map[string]float64{"P": 3, "D": 1}},
	}},
	// The later trigger is executed first.
	{"out of order", `
time t from 0 to 10
param a = 6, b = 1
state y = 1
discrete m = 0
y' = 0
event e at 1, 2, delay = if t < 1.5 then a else b { m += 1  y = 10*y + t }
objective J = final(y)
objective n = final(m)
objective first = event_time(e, 1)
objective second = event_time(e, 2)`, map[string]want{
		"J":      {11, nil}, // y is set to 10*1 + 2, then to 10*1 + 1
		"n":      {2, nil},
		"first":  {3, map[string]float64{"b": 1, "a": 0}},
		"second": {7, map[string]float64{"b": 0, "a": 1}},
	}},
	{"elements of an array", `
time t from 0 to 10
const n = 3
param c = 1, tau[n] = [0.5, 1, 1.5]
state x[n] = 0, y[n] = 0
x[i]' = i for i in 1:n
y[i]' = 0 for i in 1:n
event e when x[i] > c for i in 1:n, delay = tau[i]*x[i] { y[i] += i*t  y[wrap(i+1, n)] += 10*x[i] }
objective s = sum(i*final(y[i]) for i in 1:n)
objective T = event_time(e[2], 1)`, map[string]want{
		// y1 = 1*1 + 10, y2 = 2/2 + 10, y3 = 3/3 + 10, with c = 1: 11 (1 + 2 + 3)
		"s": {66, map[string]float64{"c": 66}},
		"T": {0.5 + 1, map[string]float64{"c": 0.5 + 1}},
	}},
	{"a vector that the trigger finds", `
time t from 0 to 3
param tau = 0.5
state x[2] = [1, 2], z[2] = 0
x[i]' = 1 for i in 1:2
z[i]' = 0 for i in 1:2
event e at 1, delay = tau { z = 2*x  x[j] = z[j] + x[j] for j in 1:2 }
objective J = final(z[1]) + 10*final(z[2]) + 100*final(x[1]) + 1000*final(x[2])`, map[string]want{
		"J": {4 + 60 + 100*(2+1.5) + 1000*(3+1.5), map[string]float64{"tau": -1100, "initial(x)[1]": 102}},
	}},
	// x > 1 from t = 1 to 2: too short for the delay, but for a persistent event.
	{"not persistent", `
time t from 0 to 4
param tau = 1.5, c = 1
state x = 0, y = 0, z = 0
x' = if t < 1.5 then 1 else -1
y' = 0
z' = 0
event e when x > c, delay = tau { y += t }
event f when x > c, delay = tau, persistent = false { z += t }
event g when x > c, delay = tau/3, persistent = false { z += 10*t }
objective Y = final(y)
objective Z = final(z)
objective T = event_time(g, 1)`, map[string]want{
		"Y": {1, map[string]float64{"c": 1, "tau": 0}},
		"Z": {10, map[string]float64{"c": 10, "tau": 0}},
		"T": {1.5, map[string]float64{"c": 1, "tau": 1. / 3}},
	}},
}

// TestDelays compares delayed events with closed forms, in every mode.
func TestDelays(t *testing.T) {
	for _, c := range delayCases {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range append([]string{"forward", "continuous"}, discreteModes...) {
				tol := 1e-10
				if mode == "forward" || mode == "continuous" {
					tol = 1e-7
				}
				s, err := modeltest.Sensitivities(t, c.text, mode)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, mode, s, c.want, tol)
			}
		})
	}
}

func compare(t *testing.T, mode string, s *odes.Sensitivities, wants map[string]want, tol float64) {
	t.Helper()
	compared := 0
	for i, v := range s.Values {
		w, ok := wants[v.Name]
		if !ok {
			continue
		}
		compared++
		modeltest.WantNear(t, mode+" "+v.Name, v.Value, w.value, tol)
		for _, x := range s.Variables {
			for k := range x.Size() {
				name := x.String()
				if x.Size() > 1 {
					name = fmt.Sprintf("%s[%d]", name, k+1)
				}
				if d, ok := w.by[name]; ok {
					modeltest.WantNear(t, mode+" d"+v.Name+"/d"+name, s.Derivative(i, x)[k], d, tol)
				}
			}
		}
	}
	if compared != len(wants) {
		t.Errorf("%s: %d objectives were compared, want %d", mode, compared, len(wants))
	}
}

// TestDelayStartsAndOnce has delayed events that fire at the start, and only once.
func TestDelayStartsAndOnce(t *testing.T) {
	s, err := modeltest.Sensitivities(t, `
time t from 0 to 4
param tau = 0.25
state x = 1, y = 0
x' = -1
y' = 0
event e when x > -3 at start, delay = tau, values = execution { y += x }
event f every 1 from 0.5 once, delay = 2*tau { y += 100 }
objective Y = final(y)
objective E = event_time(e, 1)
objective F = at_event(f, 1)`, "adjoint")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "adjoint", s, map[string]want{
		"Y": {100.75, map[string]float64{"tau": -1, "initial(x)": 1}},
		"E": {0.25, map[string]float64{"tau": 1}}, "F": {1, nil},
	}, 1e-12)
}

// TestDelayOfZero has a delay that is zero, not by the text but by the value of a param. Its derivative is that of a
// delay that becomes longer.
func TestDelayOfZero(t *testing.T) {
	const text = `
time t from 0 to 2
param tau = 0, c = 1
state x = 0, y = 0
x' = 1
y' = x^2
event e when x > c once, delay = tau, values = execution { x = 0 }
objective X = final(x)
objective Y = final(y)
objective T = event_time(e, 1)`
	for _, mode := range append([]string{"forward", "continuous"}, discreteModes...) {
		s, err := modeltest.Sensitivities(t, text, mode)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, mode, s, map[string]want{
			"X": {1, map[string]float64{"tau": -1, "c": -1}},
			"Y": {2. / 3, map[string]float64{"tau": 0, "c": 0}},
			"T": {1, map[string]float64{"tau": 1, "c": 1}},
		}, 1e-7)
	}
}

// swinging is a nonlinear model with delayed events of all kinds.
const swinging = `
time t from 0 to 12
param mu = 0.8, tau = 0.9, a = 0.35, c = 0.6, P = 1.1
state x = 1.2, v = 0.1, y = 0.5
discrete m = 0.4
x' = v
v' = mu*(1 - x^2)*v - x + 0.3*m
y' = -0.4*y + 0.1*x^2 + (if y > 1.1 then -0.2*x else 0)
event up when x > c + 0.05*m, delay = tau*(1 + 0.2*v^2) { v -= a*x  m = 0.3 + 0.1*v*t }
event down when v < -c, delay = 0.4*tau, values = execution, persistent = false { y += a*x^2*t/10 }
event tick every P from 0.3, delay = 2.7*tau + 0.1*y priority m { y = 0.8*y + a*m*x^2 }
objective J = final(x*y)
objective I = integral(x*v + y^2)
objective T = event_time(up, 2)
objective S = at_event(tick, pre(y)*t)`

// TestDelaysAgree compares modes with each other, and runs of which less is kept with whole ones.
func TestDelaysAgree(t *testing.T) {
	for _, method := range []string{"dopri5", "rodas5p"} {
		set := []odes.Setting{{Key: "solver.method", Value: method}, {Key: "sens.trust", Value: "off"}}
		first, err := modeltest.Sensitivities(t, swinging, "adjoint", set...)
		if err != nil {
			t.Fatal(err)
		}
		pending := 0
		for _, e := range first.Events {
			if e.Name == "tick.trigger" && e.T < 6 && e.T > 3 {
				pending++
			}
		}
		if pending < 2 {
			t.Errorf("%d triggers while others are pending: the model tests too little", pending)
		}
		for _, mode := range []string{"tangent", "complex"} {
			s, err := modeltest.Sensitivities(t, swinging, mode, set...)
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range s.Gradient {
				modeltest.WantNear(t, method+" "+mode, g, first.Gradient[i], 1e-10)
			}
		}
		for _, keep := range []string{"states", "states(5)", "binomial(6)"} {
			s, err := modeltest.Sensitivities(t, swinging, "adjoint",
				append(set, odes.Setting{Key: "solver.checkpoint", Value: keep})...)
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range s.Gradient {
				if math.Float64bits(g) != math.Float64bits(first.Gradient[i]) {
					t.Errorf("%s, %s: derivative %d is %v, want %v", method, keep, i, g, first.Gradient[i])
				}
			}
		}
	}
}

// TestPendingAndDelayErrors has more pending executions than there is room for, and a negative delay.
func TestPendingAndDelayErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"event e every 0.1, delay = 3 { x = 0 }", "more than 16 executions of event e are pending"},
		{"event e every 0.1, delay = 3, pending = 40 { x = 0 }", ""},
		{"event e at 1, delay = -k { x = 0 }", "the delay of event e is negative, -1"},
		{"event e at 0, delay = -k { x = 0 }", "the delay of event e is negative, -1"},
	} {
		m, err := odes.Parse("m.ode", "time t from 0 to 9\nparam k = 1\nstate x = 1\nx' = -k*x\n"+c.text+
			"\nobjective J = final(x)", odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Sensitivities(context.Background(), odes.Options{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}
