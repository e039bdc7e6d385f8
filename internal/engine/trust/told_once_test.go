package trust_test

import (
	"maps"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// TestToldOnce has what both compilation and a run see: it is told once. A note on stiffness does not come where a run
// is short.
func TestToldOnce(t *testing.T) {
	m, err := odes.Parse("m.ode", "time t from 0 to 100\nparam q = 1, a = 20 in [0.01, 10] ~ lognormal(0, 1)\n"+
		"state x = 1\nx' = -x\nevent d at -1 { x += 1 }\nevent f at 700 { x += 1 }\nobjective J = final(x)\n"+
		"objective P = log_prior()", odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		number int
		about  diag.Code
	}
	one := map[diag.Code]diag.Code{"event-never-fires": "time", "time-outside": "time"}
	seen := map[line]int{}
	for _, d := range append(m.Warnings(), s.Warnings...) {
		about := d.Code
		if x, ok := one[about]; ok {
			about = x
		}
		l := line{d.Span.Begin().Line, about}
		if seen[l]++; seen[l] > 1 && d.Code != odes.CodeTrust {
			t.Errorf("told again: %s", d.Message)
		}
		if d.Code == odes.CodeStiff {
			t.Errorf("%d steps: %s", s.Stats.Steps, d.Message)
		}
	}
	for _, l := range []line{{5, "time"}, {6, "time"}, {2, odes.CodeNoInfluence}, {2, odes.CodeBounds}} {
		if seen[l] != 1 {
			t.Errorf("%v is told %d times", l, seen[l])
		}
	}
	want := `the value is infinite: the value 20 of "a" is outside its bounds, so that its prior is 0`
	if got := s.Values[1].Warnings; len(got) != 1 || got[0] != want {
		t.Errorf("P: %q", got)
	}
}

// TestStandingEvents has events whose conditions hold from the start on: they never fire, which is told once. Others
// are told of as well if their conditions become false and never true again, and not if they fire, fire at the start or
// wait for another element.
func TestStandingEvents(t *testing.T) {
	m, err := odes.Parse("m.ode", `
time t from 0 to 3
param k = 1, q = 2
state x = 1, z[2] = 1
discrete d = 1, n = 0
x' = k
z' = -z
event a when x > 0, delay = 0.1, persistent = false { n = n + 1 }
event b when d > 0 { n = n + 1 }
event c when q > 1 { n = n + 1 }
event g when z[i] < 2 for i in 1:2 { n = n + 1 }
event h when t >= 0 { n = n + 1 }
event fires when x > 2 { n = n + 1 }
event starts when x > 0 at start { n = n + 1 }
event crosses_ when x crosses 0.5 { n = n + 1 }
event ends when x > 0 and t < 1 { n = n + 1 }
event again when d > 0 and (t < 1 or t > 2) { n = n + 1 }
event other when z[i] < 2*(2 - i) for i in 1:2 { n = n + 1 }
event once_ when x > 0 and n < 2 once at start { n = n + 1 }
objective J = final(n)`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	for _, d := range append(m.Warnings(), s.Warnings...) {
		if d.Code == "event-never-fires" {
			told[strings.Split(d.Message, `"`)[1]]++
		}
	}
	if want := map[string]int{"a": 1, "b": 1, "c": 1, "g": 1, "h": 1, "ends": 1}; !maps.Equal(told, want) {
		t.Errorf("told of %v, want %v", told, want)
	}
	if got := s.Values[0].Value; got != 4 { // fires, starts, again, once_
		t.Errorf("%v events", got)
	}
}

// TestTieToldOnce has a dose of an experiment at the time of an observation: that is told once, of the experiment.
//
//odes:goroutines
func TestTieToldOnce(t *testing.T) {
	m, err := odes.Parse("m.ode", `time t from 0 to 4
param lag = 0, s = 0.1
state x = 1
x' = -x
data D { time = [0, 1, 1, 2]  y = [nan, nan, 1, 0.3]  amt = [nan, 1, nan, nan] }
observe o = x ~ normal(s) from D.y
experiment A { use D at D.time + lag where amt > 0 { x += D.amt } }
objective K = nll()
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, d := range s.Warnings {
		if d.Code == odes.CodeTie && d.Level == diag.Warning { // a note tells both values
			said = append(said, d.Message)
		}
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "experiment A: event@7[1] comes exactly at the time of an obs") {
		t.Errorf("%q", said)
	}
}
