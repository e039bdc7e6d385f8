package trust_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
)

// TestTraces: what grows out of a state far below its absolute tolerance is seen, by an independent run that follows
// such states, and what stays below is no reason for a warning.
//
//odes:goroutines
func TestTraces(t *testing.T) {
	const logistic = "time t from 0 to 120\nparam c = 1\nstate x = 1e-50\nx' = x*(1-x)\nobjective J = c + final(x)\n"
	for _, c := range []struct {
		name, text string
		want       float64
		sound      bool
	}{
		{"growth", logistic, 1 + 1/(1+math.Exp(-120)/1e-50), false},
		{"growth, implicit", logistic + "solver { method = rodas5p }", 1 + 1/(1+math.Exp(-120)/1e-50), false},
		{"growth, below an own tolerance", logistic + "solver { atol = 1e-60 }", 1 + 1/(1+math.Exp(-120)/1e-50), true},
		{"an epidemic", `
time t from 0 to 400
state S = 1 - 1e-40
state I = 1e-40
S' = -2*S*I
I' = 2*S*I - I
objective J = final(S)
solver { method = radau5 }`, 0.2031878, false},
		{"an unstable direction between states", `
time t from 0 to 150
state E = 0
state I = 1e-45
state S = 1
S' = -4*S*I
E' = 4*S*I - E
I' = E - I
objective J = final(S)
solver { method = rodas4p }`, 0.0198, false},
		{"made small by an event", `
time t from 0 to 120
state x = 0.5
x' = 2*x*(1 - x)
event cut at 20 { x = 1e-60 }
objective J = 1 + final(x)
solver { method = rodas5p }`, 2, false},
		{"decay", `
time t from 0 to 1000
state x = 1e-30
state y = 1
x' = -x
y' = -y/1000
objective J = final(x) + final(y)`, math.Exp(-1), true},
		{"a trace that follows", `
time t from 0 to 100
state x = 0
state y = 1
x' = 1000*(1e-20*y - x)
y' = -y/100
objective J = final(y) + final(x)`, math.Exp(-1), true},
	} {
		s := modeltest.RunTimes(t, c.text)
		v := s.Values[0]
		told := v.Trust != odes.Sound && messages(s, odes.CodeTrust, diag.Warning) != nil
		right := math.Abs(v.Value-c.want) < 1e-4
		if !right && !told {
			t.Errorf("%s: %v in place of %v, without a warning", c.name, v.Value, c.want)
		}
		if c.sound && (!right || told) {
			t.Errorf("%s: %v in place of %v, %v", c.name, v.Value, c.want, s.Warnings)
		}
		m, err := odes.Parse("trace.ode", c.text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		run, err := m.Solve(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if v := run.Values[0]; math.Abs(v.Value-c.want) > 1e-4 && v.Trust == odes.Sound {
			t.Errorf("%s: a run gives %v in place of %v, without a warning", c.name, v.Value, c.want)
		}
	}
}

// TestLostLargest: a derivative of which no digit is right is not large, so errors of others are not small beside it.
func TestLostLargest(t *testing.T) {
	const x0, a, span = 1.589874054701292e-70, 0.4337, 7.342
	s := modeltest.RunTimes(t, `
time t from 0 to 7.342
param x0 = 1.589874054701292e-70
param c = 0.5861
param a = 0.4337
param lam = 362.8
state x = x0
state w = c
x' = a*x*log(1/x)
w' = lam*(c + x - w)
objective J = final(x)
solver { rtol = 1e-5 }`)
	if d, trust := modeltest.By(t, s, 0, "c"); trust == odes.Sound && d[0] != 0 {
		t.Errorf("derivative %v by c, on which nothing depends, without a mark", d[0])
	}
	decay := math.Exp(-a * span)
	want := -math.Exp(math.Log(x0)*decay) * math.Log(x0) * span * decay
	if d, trust := modeltest.By(t, s, 0, "a"); trust == odes.Sound && math.Abs(d[0]-want) > 1e-2*want {
		t.Errorf("derivative %v in place of %v, without a mark", d[0], want)
	}
}
