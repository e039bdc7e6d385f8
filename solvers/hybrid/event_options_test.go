package hybrid_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/solvers"
)

// finals runs a model and returns the values of its objectives by their names.
func finals(t *testing.T, text string, settings ...odes.Setting) map[string]float64 {
	t.Helper()
	s, err := modeltest.Sensitivities(t, text, "adjoint",
		append(settings, odes.Setting{Key: "sens.trust", Value: "off"})...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, v := range s.Values {
		out[v.Name] = v.Value
	}
	return out
}

// TestSemantics runs models that show which events fire, how often, and in which order.
func TestSemantics(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       map[string]float64
	}{
		{"directions of crosses", `
time t from 0 to 10
state x = 0
discrete up = 0, down = 0, both = 0, filtered = 0
x' = cos(t)
event a when x crosses 0.5 up { up += 1 }
event b when x crosses 0.5 down { down += 1 }
event c when x crosses 0.5 { both += 1 }
event d when t > 4 and x crosses 0.5 up { filtered += 1 }
objective A = final(up)
objective B = final(down)
objective C = final(both)
objective D = final(filtered)`, map[string]float64{"A": 2, "B": 2, "C": 4, "D": 1}},
		{"at start", `
time t from 0 to 10
state x = 2
discrete with = 0, without = 0, falling = 0
x' = -cos(t)*1.5
event a when x > 1 at start { with += 1 }
event b when x > 1 { without += 1 }
event c when x < 1 at start { falling += 1 }
objective A = final(with)
objective B = final(without)
objective C = final(falling)`, map[string]float64{"A": 3, "B": 2, "C": 2}},
		{"at start, with a body that makes the condition false", `
time t from 0 to 4.5
state x = 2
discrete n = 0
x' = 1
event a when x > 1 at start { x = 0; n += 1 }
objective N = final(n)
objective X = final(x)`, map[string]float64{"N": 5, "X": 0.5}},
		// An event re-arms where its condition is false, whatever made it so: its own body, another event's, or the
		// flow; and not where its condition stays true.
		{"its own body arms again", `
time t from 0 to 3.5
state x = 0
discrete n = 0
x' = 1
event a when x >= 1 { x = 0; n += 1 }
objective N = final(n)`, map[string]float64{"N": 3}},
		{"its own body does not arm again", `
time t from 0 to 3.5
state x = 0
discrete n = 0
x' = 1
event a when x >= 1 { x = 1.25; n += 1 }
objective N = final(n)`, map[string]float64{"N": 1}},
		{"its own body leaves it on the threshold", `
time t from 0 to 3.5
state x = 0
discrete n = 0
x' = 1
event a when x >= 1 { x = 1; n += 1 }
objective N = final(n)`, map[string]float64{"N": 1}},
		{"another event's jump arms again, and fires", `
time t from 0 to 3.5
state x = 0
discrete n = 0
x' = 1
event a when x >= 1 { n += 1 }
event b at 2 { x = 0.5 }
event c at 3 { x = 0.9 }
event d at 3.05 { x = 5 }
objective N = final(n)`, map[string]float64{"N": 3}},
		{"a jump within one group arms nothing, unless every body counts", `
time t from 0 to 2
state x = 0
discrete m = 2, n = 0
x' = 1
event a when m > 1 { n += 1 }
event b at 1 priority 2 { m = 0 }
event c at 1 priority 1 { m = 2 }
objective N = final(n)`, map[string]float64{"N": 0}},
		{"the same, every body", `
time t from 0 to 2
state x = 0
discrete m = 2, n = 0
x' = 1
event a when m > 1 { n += 1 }
event b at 1 priority 2 { m = 0 }
event c at 1 priority 1 { m = 2 }
objective N = final(n)
solver { recheck = body }`, map[string]float64{"N": 1}},
		{"a crossing event that is put on the other side", `
time t from 0 to 5.5
state x = 0
discrete n = 0, m = 0
x' = 1
event a when x crosses 1 up { n += 1 }
event b when x crosses 1 down { m += 1 }
event back at 2, 4 { x = 0 }
objective N = final(n)
objective M = final(m)`, map[string]float64{"N": 3, "M": 2}},
		{"priorities that depend on the state", `
time t from 0 to 3
state x = 0
discrete last = 0, p = 0
x' = 1
event a at 1, 2 priority x { last = 1 }
event b at 1, 2 priority 3 - x { last = 2; p = 10*p + last }
event c at 1, 2 priority -5 { p = 10*p + last }
objective P = final(p)`, map[string]float64{"P": 112}},
		{"priorities are found anew after every body", `
time t from 0 to 2
state x = 0
discrete order = 0, p = 1
x' = 0
event a at 1 priority 5 { p = 9; order = 10*order + 1 }
event b at 1 priority 3 { order = 10*order + 2 }
event c at 1 priority p { order = 10*order + 3 }
objective O = final(order)`, map[string]float64{"O": 132}},
		// SBML semantic test 00978: three events are triggered five times at one moment.
		{"SBML 00978", `
time t from 0 to 2
discrete m = 0, x = 0, y = 0, z = 0
state s = 0
s' = 0
event e0 at 0.99 priority 10 { m = 2 }
event e1 at 0.99 priority 9 { m = 0 }
event e2 at 0.99 priority 8 { m = 2 }
event e3 at 0.99 priority 7 { m = 0 }
event e4 at 0.99 priority 6 { m = 2 }
event e5 at 0.99 priority 5 { m = 0 }
event e6 at 0.99 priority 4 { m = 2 }
event e7 at 0.99 priority 3 { m = 0 }
event e8 at 0.99 priority 2 { m = 2 }
event e9 when m > 1 priority 1 { x = x + 1 }
event e10 when m > 1 priority 1, delay = 0 { y = y + 1 }
event e11 when m > 1 priority 1, persistent = false { z = z + 3 }
event e12 when m > 1 priority 1, delay = 0, persistent = false { s = s + 3 }
objective X = final(x)
objective Y = final(y)
objective Z = final(z)
objective S = final(s)
solver { recheck = body }`, map[string]float64{"X": 5, "Y": 1, "Z": 3, "S": 3}},
		{"given up by another event of the group", `
time t from 0 to 2
state x = 0
discrete n = 0, kept = 0
x' = 1
event first when x >= 1 priority 1 { x = 0 }
event gone when x >= 1, persistent = false { n += 1 }
event stays when x >= 1 { kept += 1 }
objective N = final(n)
objective K = final(kept)`, map[string]float64{"N": 0, "K": 2}},
		{"at start, with a condition that never changes", `
time t from 0 to 2
param p = 3
state x = 0
discrete n = 0, m = 0
x' = 1
event a when p > 2 at start { n += 1 }
event b when 1 > 0 at start { m += 1 }
event c when p > 2, delay = 1 { m += 10 }
objective N = final(n)
objective M = final(m)`, map[string]float64{"N": 1, "M": 1}},
		{"a condition of time, at the time of one that reads a state as well", `
time t from 0 to 7
state x = -0.7
discrete n = 0, m = 0, k = 0
x' = 0.1
event a when x < 0.6 and t > 3.75 { n += 1 }
event b when t > 3.75 { m += 1 }
event c when t > 3.75 and x < 0.6 priority 1 { k += 1 }
objective N = final(n)
objective M = final(m)
objective K = final(k)`, map[string]float64{"N": 1, "M": 1, "K": 1}},
		// None of them sets another off, so their number is no cascade.
		{"many at one time, every body", `
time t from 0 to 2
state x = 0
discrete n[150] = 0
x' = 1
event e at 1 for i in 1:150, delay = 0 { n[i] += 1 }
objective N = sum(i*final(n[i]) for i in 1:150)
solver { recheck = body }`, map[string]float64{"N": 150 * 151 / 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := finals(t, c.text)
			for name, want := range c.want {
				if math.Abs(got[name]-want) > 1e-9 {
					t.Errorf("%s = %v, want %v", name, got[name], want)
				}
			}
		})
	}
}

// TestShuffledTies draws the order of events of equal priority: the same one for a seed, all of them for many.
func TestShuffledTies(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	const text = `
time t from 0 to 2
state x = 0
discrete order = 0
x' = 1
event a at 1 { order = 10*order + 1 }
event b when x >= 1 { order = 10*order + 2 }
event c at 1 { order = 10*order + 3 }
event d at 1 priority 1 { order = 4 }
objective O = final(order)`
	if got := finals(t, text)["O"]; got != 4123 {
		t.Errorf("in the order of the file: %v", got)
	}
	seen := map[float64]int{}
	const seeds = 120
	for seed := range seeds {
		set := odes.Setting{Key: "solver.ties", Value: fmt.Sprintf("random(seed = %d)", seed)}
		got := finals(t, text, set)["O"]
		seen[got]++
		if seed < 5 && finals(t, text, set)["O"] != got {
			t.Errorf("seed %d gives two orders", seed)
		}
	}
	if len(seen) != 6 {
		t.Errorf("orders %v, want all six", seen)
	}
	for order, n := range seen {
		if n < seeds/6/3 {
			t.Errorf("order %v came %d times of %d", order, n, seeds)
		}
	}
}

// TestEventTolerance locates an event no better than its tolerance, with fewer steps. What is left of the condition is
// held fixed by derivatives, and so modes agree.
func TestEventTolerance(t *testing.T) {
	text := func(option string) string {
		return `
time t from 0 to 6
param c = 0.5, w = 1.1
state x = 0, v = 1, n = 0
x' = v
v' = -w^2*x*(1 + 0.2*x^2)
n' = 0
event e when x crosses c up` + option + ` { n += 1 + x }
objective T = event_time(e, 2)
objective N = final(n)`
	}
	exact := finals(t, text(""))["T"]
	var first *odes.Sensitivities
	for _, mode := range discreteModes {
		s, err := modeltest.Sensitivities(t, text(", tol = 1e-3"), mode, odes.Setting{Key: "sens.trust", Value: "off"})
		if err != nil {
			t.Fatal(err)
		}
		if late := s.Values[0].Value - exact; !(late >= 0 && late <= 1.1e-3) || late == 0 {
			t.Errorf("%s: the event is %v late", mode, late)
		}
		if first == nil {
			first = s
		}
		for i, g := range s.Gradient {
			modeltest.WantNear(t, mode, g, first.Gradient[i], 1e-10)
		}
	}
}

// TestManyEvents tells a Zeno point from a sequence that is only long, and from a solution that slides.
func TestManyEvents(t *testing.T) {
	for _, c := range []struct {
		name, text, want, not string
		kind                  solvers.ChatterKind
	}{
		{
			"a neuron", "time t from 0 to 2000\nstate v = 0\nv' = 10\nevent spike when v >= 1 { v = 0 }",
			"more than max_events = 10000 events and changes of mode happened before t = 1000", "chattering",
			solvers.Regular,
		},
		{
			"a neuron, what to do", "time t from 0 to 2000\nstate v = 0\nv' = 10\nevent spike when v >= 1 { v = 0 }",
			"comes every 0.1 (", "Zeno", solvers.Regular,
		},
		{
			"a fast clock", "time t from 0 to 1\nstate v = 0\nv' = 1\nevent tick every 1e-7 { v = 0 }",
			"if that is meant, raise solver.max_events", "chattering", solvers.Regular,
		},
		{
			"a fast clock in a long run", "time t from 0 to 1e5\nstate v = 0\nv' = 1\nevent tick every 1e-7 { v = 0 }",
			"comes every 1e-07", "chattering", solvers.Regular,
		},
		{
			"a ball", "time t from 0 to 20\nstate h = 1, v = 0\nh' = v\nv' = -9.81\n" +
				"event bounce when h <= 0 { v = -0.9*v }\nsolver { max_events = 30 }",
			"a Zeno point", "raise solver.max_events (", solvers.Zeno,
		},
		{
			"times that rounding ends", "time t from 0 to 3\nstate x = 0\ndiscrete next = 1, gap = 0.05\nx' = 1\n" +
				"event e when x >= next { next = next + gap; gap = 0.05*gap }",
			"at about t = 1.0526316 (a Zeno point)", "max_events)", solvers.Zeno,
		},
		{
			"times that rounding ends, known beforehand", "time t from 0 to 3\nstate x = 0\n" +
				"discrete next = 1, gap = 1e-4\nx' = 1\nevent e at next { next = next + gap; gap = 1e-4*gap }",
			"at about t = 1.0001 (a Zeno point)", "max_events)", solvers.Zeno,
		},
		{
			"a relay", "time t from 0 to 5\nstate x = 0.5\nx' = if x > 1 then -1 else 1",
			"the solution slides along it: give the switch a hysteresis", "stop", solvers.Sliding,
		},
		{
			"friction", "time t from 0 to 5\nstate x = 0, v = 1\nx' = v\nv' = -0.5*sign(v) - 0.1*x",
			"the solution slides along it", "stop", solvers.Sliding,
		},
		{
			"two events without a hysteresis",
			"time t from 0 to 5\nstate x = 0.5\ndiscrete u = 1\nx' = u\n" +
				"event off when x > 1 { u = -1 }\nevent on when x < 1 { u = 1 }",
			"it fires in turn with event", "stop", solvers.Sliding,
		},
		{
			"a condition that rounding decides", "time t from 0 to 1\nstate x = 0\nx' = if t*t <= t^2 then 1 else 2",
			"the condition of if@3 stays so near its threshold that rounding alone decides whether it holds", "stop",
			solvers.Undecided,
		},
		{
			"an event that rounding decides",
			"time t from 0 to 1\nstate x = 0\nx' = 1\nevent e when sin(t)^2 + cos(t)^2 > 1 + 0*t { x = 0 }",
			"the condition of event e stays so near its threshold", "smooth", solvers.Undecided,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := odes.Parse("m.ode", c.text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Solve(context.Background(), odes.Options{})
			var e *solvers.ChatteringError
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want a ChatteringError", err)
			}
			said := ""
			for _, d := range diag.Of(err) {
				said += d.Message
			}
			if e.Kind != c.kind || !strings.Contains(said, c.want) || strings.Contains(said, c.not) {
				t.Errorf("kind %d, message %q", e.Kind, said)
			}
		})
	}
}

// TestRaisedMaxEvents runs what is only long.
func TestRaisedMaxEvents(t *testing.T) {
	got := finals(t, "time t from 0 to 2000.05\nstate v = 0, n = 0\nv' = 10\nn' = 0\n"+
		"event spike when v >= 1 { v = 0  n += 1 }\nobjective N = final(n)\nsolver { max_events = 30000 }")
	if got["N"] != 20000 {
		t.Errorf("%v spikes", got["N"])
	}
}

// TestTriggersAreNoTies has a trigger at the time of an observation, which sees nothing of it, and an execution at
// another, which it sees.
func TestTriggersAreNoTies(t *testing.T) {
	for delay, want := range map[string]bool{"0.5": false, "1": true} {
		s, err := modeltest.Sensitivities(t, `
time t from 0 to 10
param c = 3
state x = 0
x' = 1
event f when x > c, delay = `+delay+` { x = 0 }
objective J = sum_at([3, 4], x)`, "adjoint")
		if err != nil {
			t.Fatal(err)
		}
		if modeltest.Warned(s, odes.CodeTie) != want {
			t.Errorf("delay %s: warnings %v", delay, s.Warnings)
		}
	}
}

// TestFairTies draws again each time that two events meet, also for one that was given up the last time.
func TestFairTies(t *testing.T) {
	const text = `
time t from 0 to 40.05
state x = 0
discrete last = 0, n = 0, m = 0
x' = 1
event a when t - last >= 0.1, delay = 0, persistent = false { last = t  n += 1 }
event b when t - last >= 0.1, delay = 0, persistent = false { last = t  m += 1 }
objective N = final(n)
objective M = final(m)`
	for seed := range 3 {
		got := finals(t, text, odes.Setting{Key: "solver.ties", Value: fmt.Sprintf("random(seed = %d)", seed)})
		if got["N"]+got["M"] != 400 || math.Abs(got["N"]-got["M"]) > 4*20 { // four standard deviations
			t.Errorf("seed %d: %v", seed, got)
		}
	}
}

// TestNeverFires notes which events cannot fire, and not those that can.
func TestNeverFires(t *testing.T) {
	const text = `
time t from 0 to 2
param p = 1
state x = 0
discrete m = 0
x' = 1
event jump at 1 { m = 2 }
event reached when m crosses 1 up { x = 0 }
event first when p > 0 at start { x = 0 }
event none when p > 0 { x = 0 }
event never when p crosses 2 { x = 0 }
objective X = final(x)`
	_, notes, err := odes.Check("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, d := range notes {
		if d.Code == "event-never-fires" {
			said = append(said, strings.Fields(d.Message)[1])
		}
	}
	if got := strings.Join(said, " "); got != `"none" "never"` {
		t.Errorf("noted %s", got)
	}
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Solve(context.Background(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fired := ""
	for _, e := range s.Events {
		fired += e.Name + " "
	}
	if fired != "first jump reached " {
		t.Errorf("fired %s", fired)
	}
}
