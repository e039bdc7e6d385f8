package trust_test

import (
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// chaotic is a model whose solution no tolerance near the default determines until its end.
const chaotic = `
time t from 0 to 60
param s = 10
state x = 1
state y = 1
state z = 20
output p = x*y
x' = s*(y - x)
y' = x*(28 - z) - y
z' = x*y - 8/3*z
objective J = final(x)`

// TestSolveTrust: numbers of a run are compared with those of an independent one.
func TestSolveTrust(t *testing.T) {
	for _, c := range []struct {
		name, text     string
		settings       []odes.Setting
		times          []float64
		status         string
		value, output  odes.Trust
		warned, silent string
	}{
		{name: "chaos", text: chaotic, status: "partial", value: odes.Lost, output: odes.Lost, warned: "J (its value)"},
		{
			name: "chaos, the outputs", text: chaotic, status: "partial", value: odes.Lost, output: odes.Lost,
			warned: ": p",
		},
		{
			name: "times at which nothing is wrong", text: chaotic, times: []float64{0, 1, 2},
			status: "partial", value: odes.Lost,
		},
		{
			name: "not compared", text: chaotic, settings: []odes.Setting{{Key: "sens.trust", Value: "off"}},
			status: "ok", silent: "trust",
		},
		{name: "jumps of an event", text: `
time t from 0 to 6
param e = 0.9
state h = 5
state v = 0
output w = v
h' = v
v' = -9.81
event hit when h <= 0 { v = -e*v }
objective J = final(h)`, status: "ok", silent: "trust"},
		{name: "jumps of a condition, and at times known beforehand", text: `
time t from 0 to 48
param dur = 0.5
state X = 0
output dosing = if t >= 24 and t < 24 + dur then 100/dur else 0
X' = if t >= 24 and t < 24 + dur then 100/dur else 0
event dose at 30.3 { X += 5 }
objective J = final(X)`, status: "ok", silent: "trust"},
		{name: "no value", text: `
time t from 0 to 1
state x = 1
x' = -x
event never when x > 5 { x = 0 }
objective J = event_time(never, 1)`, status: "partial", value: odes.Lost},
		{
			name: "an infinite value", text: `
time t from 0 to 1
state x = 1
x' = -x
objective J = 1/(0*final(x))`, settings: []odes.Setting{{Key: "sens.trust", Value: "off"}},
			status: "partial", value: odes.Lost, warned: "not a finite number: J",
		},
		{
			name: "an infinite output", text: `
time t from 0 to 1
state x = 1
output r = x/t
x' = -x
objective J = final(x)`, status: "partial", output: odes.Lost,
			warned: `not always a finite number, since "x/t" is a division by 0 at t = 0: r`,
		},
	} {
		m, err := odes.Parse("m.ode", c.text, odes.ParseOptions{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		s, err := m.Solve(t.Context(), odes.Options{Settings: c.settings, Times: c.times})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		output := odes.Sound
		for _, o := range s.Outputs {
			output = max(output, o.Trust)
		}
		if s.Status != c.status || s.Values[0].Trust != c.value || output != c.output {
			t.Errorf("%s: status %s, value %v, output %v", c.name, s.Status, s.Values[0].Trust, output)
		}
		var text strings.Builder
		for _, d := range s.Warnings {
			text.WriteString(string(d.Code) + ": " + d.Message + "\n")
		}
		if !strings.Contains(text.String(), c.warned) || c.silent != "" && strings.Contains(text.String(), c.silent) {
			t.Errorf("%s: warnings\n%s", c.name, &text)
		}
	}
}

// TestSolveSeesTheSame: the comparison changes nothing of a run, and shows where steps are too long for what happens.
func TestSolveSeesTheSame(t *testing.T) {
	m, err := odes.Parse("m.ode", `
time t from 0 to 10
state x = 1
state y = 0
x' = 5*y
y' = -5*x
solver { method = rk4; fixed_step = 0.2 }
objective J = final(x)`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Solve(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := m.Solve(t.Context(), odes.Options{Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Values[0].Value != alone.Values[0].Value || len(s.T) != len(alone.T) || s.Stats.Steps != alone.Stats.Steps {
		t.Error("another run than without a comparison")
	}
	off := math.Abs(s.Values[0].Value - math.Cos(50))
	if off < 0.01 || s.Values[0].Trust != odes.Lost || s.Values[0].Error < off/2 {
		t.Errorf("the value is off by %g; error %g, %v", off, s.Values[0].Error, s.Values[0].Trust)
	}
	for _, o := range s.Outputs {
		if o.Trust == odes.Sound {
			t.Errorf("output %s is sound", o.Name)
		}
	}
	for _, d := range s.Warnings {
		if d.Level == diag.Warning && d.Code == odes.CodeTrust && !strings.Contains(d.Message, "with steps of 0.12") {
			t.Error(d.Message)
		}
	}
}
