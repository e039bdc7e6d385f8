package lag_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// resting are models that come to rest, with what to read there.
var resting = []struct{ name, text, read string }{
	{"hutchinson", `
param r = 0.9, K = 3, h = 0.3, tau = 1.2, n0 = 0.5
state n = n0
n' = r*n*(1 - delay(n, tau)/K) - h*n
`, "%[1]s(n) + 3*%[1]s(delay(n^2, tau)*n)"},
	{"two delays and a sum that is conserved", `
param k = 0.7, m = 0.4, tau = 0.6, rho = 0.9, a0 = 1.5, b0 = 0.25
state A = a0, B = b0
A' = -k*delay(A, tau) + m*delay(B, rho)
B' = k*delay(A, tau) - m*delay(B, rho)
`, "%[1]s(A) - %[1]s(B^2)"},
	{"discretes and arrays", `
param a = [1, 1.5], b = 0.3, tau = [0.4, 0.7], c = 2, t1 = 0.8, sets = 1.25
discrete u = 0.5
state x[2] = [0.1, 0.2]
x[i]' = c*delay(u, tau[2]) - a[i]*x[i]*(1 + b*delay(x[3 - i]^2, tau[i])) for i in 1:2
event set at t1 { u = sets; x[1] += 0.3 }
`, "%[1]s(x[1]*u) + %[1]s(delay(x[2]*u, tau[1]))"},
	{"two states to come to, and the past decides", `
param g = 2, tau = 1, p = -1, x0 = 0.4
state x = x0
past x = p*(1 + t)
x' = -x + g*tanh(delay(x, tau))
`, "%[1]s(x)"},
	{"a jump of the past, stiff", `
param k = 200, m = 0.5, tau = 0.8, p = 2
state x = 1, y = 0
past x = p
x' = -k*(x - y^2) + 1
y' = m*delay(x, tau) - 0.8*y + 0.1
`, "%[1]s(x + y)"},
}

// TestSteady compares steady states behind short runs with the ends of long ones, in values and derivatives.
func TestSteady(t *testing.T) {
	for _, c := range resting {
		run := func(to, read, mode, rtol string) *odes.Sensitivities {
			t.Helper()
			text := "time t from 0 to " + to + c.text + "objective J = " + fmt.Sprintf(c.read, read) + "\n"
			m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(c.name, err)
			}
			s, err := m.Sensitivities(context.Background(), odes.Options{Settings: []odes.Setting{
				{Key: "solver.rtol", Value: rtol}, {Key: "sens.mode", Value: mode}, {Key: "sens.trust", Value: "off"},
			}})
			if err != nil {
				t.Fatal(c.name, err)
			}
			return s
		}
		long := run("80", "final", "tangent", "1e-9")
		want := map[string]expected{"J": {long.Values[0].Value, map[string]float64{}}}
		var by []string
		for _, v := range long.Variables {
			if long.Derivative(0, v); len(long.Derivative(0, v)) == 1 {
				by = append(by, v.String())
				want["J"].by[v.String()] = long.Derivative(0, v)[0]
			}
		}
		for _, mode := range []string{"adjoint", "tangent"} {
			s := run("2", "steady", mode, "1e-6")
			check(t, s, want, by, 1e-7, 1e-5)
			for i, v := range s.Variables { // the others
				for e, got := range s.Derivative(0, v) {
					if w := long.Derivative(0, long.Variables[i])[e]; !(got-w < 1e-5 && w-got < 1e-5) {
						t.Errorf("%s: by %v: %v, want %v", c.name, v, got, w)
					}
				}
			}
			if t.Failed() {
				t.Fatalf("%s, %s", c.name, mode)
			}
		}
	}
}

// TestNotAtRest: what does not come to rest says so.
func TestNotAtRest(t *testing.T) {
	const begin = "time t from 0 to 3\nparam tau = 1\nstate x = 0.5\n"
	for _, c := range []struct{ text, want string }{
		// The root of λ = -2 exp(-λ) grows; without the delay it would decay.
		{begin + "x' = 2*x*(1 - delay(x, tau))", "still move"},
		{begin + "past x = 1\nx' = 2*x*(1 - delay(x, tau))\nevent e at 0 { x = 1 }", "unstable"},
		{begin + "x' = delay(x, tau) - x", "marginal"},
		{begin + "x' = sin(t) - delay(x, tau)", "still move"},
		{begin + "x' = 1/(1 + t) - delay(x, tau)", "depends on time"},
		{begin + "x' = 1 - delay(x, 5)", "the run is shorter"},
		{begin + "x' = 1 - delay(x, tau)\nequilibrate { }", "equilibrate does not go with delays yet"},
		{begin + "x' = 1 - delay(x, tau)\nevent e when x > 0.9 { x = 0 }", "events by conditions"},
		{begin + "x' = 1 - delay(x, 1 + x)", "where delays move"},
	} {
		m, err := odes.Parse("m.ode", c.text+"\nobjective J = steady(x)\n", odes.ParseOptions{})
		if err == nil {
			_, err = m.Sensitivities(context.Background(), odes.Options{})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\nthe message is\n%v\nwant %q", c.text, err, c.want)
		}
	}
}

// TestRestsAtOneValue: where the amplitude of a forcing is zero, there is a steady state at no other value of it, and
// no derivative by it.
func TestRestsAtOneValue(t *testing.T) {
	for _, forcing := range []string{"sin(t)", "delay(x*t, tau)", "delay(sin(t) + 0*x, tau)"} {
		s := modeltest.Run(t, `
time t from 0 to 3
param a = 0, b = 1, tau = 0.5
state x = 0.3
x' = b + a*`+forcing+` - delay(x, tau)
objective J = steady(x)
`)
		for _, v := range s.Variables {
			d := s.Derivative(0, v)[0]
			switch v.String() {
			case "a":
				if d == d {
					t.Errorf("%s: by a: %v", forcing, d)
				}
			case "b":
				modeltest.WantNear(t, forcing, d, 1, 1e-6)
			}
		}
		if !strings.Contains(fmt.Sprint(s.Values[0].Warnings), "only at this value of a") {
			t.Errorf("%s: %v", forcing, s.Values[0].Warnings)
		}
	}
}

// TestBench: models with delays are measured but for single steps, which have no past.
func TestBench(t *testing.T) {
	m, err := odes.Parse("m.ode", "time t from 0 to 3\nparam k = 1, tau = 0.5\nstate x = 1\n"+
		"x' = -k*delay(x, tau)\nobjective J = final(x)\n", odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Bench(context.Background(), 1, odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !(b.Gradient.Min > 0 && b.RHS.Nanoseconds > 0 && b.VJP.Nanoseconds > 0 && b.Step.Nanoseconds == 0) {
		t.Errorf("%+v", b)
	}
}
