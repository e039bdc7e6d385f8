package sens_test

import (
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

const bouncing = `
time t : [s] from 0 to T
param T = 2 [s], g = 9.81 [m/s^2], e = 0.8, h0 = 2 [m], v0 = 0 [m/s]
state x = h0
state v = v0
x' = v
v' = -g
event bounce when x <= 0 { v = -e*v }
objective height = final(x)
objective velocity = final(v)
objective area2 = integral(x^2)
objective lost = at_event(bounce, 0.5*pre(v)^2 - 0.5*post(v)^2)
objective second = event_time(bounce, 2)
solver { rtol = 1e-10  atol = 1e-12 }
`

// TestCostatesOfStiffRun has a run that changes to an implicit method: its adjoint states are those of all its steps.
func TestCostatesOfStiffRun(t *testing.T) {
	const text = "time t from 0 to 1\nparam k = 1e4\nstate x = 2\nx' = -k*(x - exp(-t))\nobjective J = final(x)\n"
	m, err := odes.Parse("stiff.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Solve(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Stats.Changes == 0 {
		t.Fatal("the run does not change its method")
	}
	c, err := m.Costates(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.T); n == 0 || c.T[0] != 0 || c.T[n-1] != 1 || len(c.Of[0][0].Values) != n {
		t.Fatalf("%d times: %v", n, c.T)
	}
	if last := c.Of[0][0].Values[len(c.T)-1]; last != 1 {
		t.Errorf("∂J/∂x at the end is %g", last)
	}
}

// TestCostates compares adjoint states of the bouncing ball, at every limit of the run, with the
// derivatives of a run that starts there.
func TestCostates(t *testing.T) {
	m, err := odes.Parse("bounce.ode", bouncing, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	of := []string{"height", "area2", "lost", "second"}
	for _, lanes := range []int{1, 3, 4} {
		c, err := m.Costates(t.Context(), odes.Options{Of: of, Lanes: lanes})
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Objectives) != len(of) || len(c.Of) != len(of) || len(c.T) < 10 || len(c.Events) != 2 {
			t.Fatalf("%d objectives, %d times, %d events", len(c.Of), len(c.T), len(c.Events))
		}
		if c.T[0] != 0 || c.T[len(c.T)-1] != 2 {
			t.Errorf("from %g to %g", c.T[0], c.T[len(c.T)-1])
		}
		jumps := 0
		checked := 0
		for k, at := range c.T {
			if k > 0 && at < c.T[k-1] {
				t.Fatalf("times descend: %g, %g", c.T[k-1], at)
			}
			if k > 0 && at == c.T[k-1] {
				jumps++
			}
			if beside(at, c.Events) || at == 2 {
				continue
			}
			now, err := m.Solve(t.Context(), odes.Options{Set: []odes.Assignment{{
				Name:   "T",
				Values: []float64{max(at, 1e-9)},
			}}, Of: []string{"height", "velocity"}})
			if err != nil {
				t.Fatal(err)
			}
			bounces := 0
			for _, e := range c.Events {
				if e.T < at {
					bounces++
				}
			}
			rest, err := m.Sensitivities(t.Context(), odes.Options{
				Set: []odes.Assignment{
					{Name: "T", Values: []float64{2 - at}},
					{Name: "h0", Values: []float64{now.Values[0].Value}},
					{Name: "v0", Values: []float64{now.Values[1].Value}},
				},
				Of: of, Wrt: []string{"h0", "v0"},
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range of {
				if name == "second" && bounces > 0 { // it is another bounce then
					continue
				}
				for s, v := range rest.Variables {
					want, got := rest.Derivative(i, v)[0], c.Of[i][s].Values[k]
					if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
						t.Errorf("lanes %d, t = %g: adjoint state of %s by %s is %.12g, want %.12g", lanes, at, name,
							c.Of[i][s].Name, got, want)
					}
					checked++
				}
			}
		}
		if jumps < 2 || checked < 40 {
			t.Errorf("%d jumps, %d numbers checked", jumps, checked)
		}
		if u := c.Of[0][1].Unit; u != "s" {
			t.Errorf("unit of the height by the velocity: %q", u)
		}
	}
}

// TestCostatesMemory asks for more adjoint states than the allowed memory holds.
func TestCostatesMemory(t *testing.T) {
	m, err := odes.Parse("many.ode", "time t from 0 to 1\nstate x = 1\nx' = -x\n"+
		"objective J[i] = i*final(x) for i in 1:300", odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Costates(t.Context(), odes.Options{Settings: []odes.Setting{
		{Key: "solver.memory", Value: `"1 MB"`},
		{Key: "solver.hmax", Value: "0.001"},
	}})
	var found bool
	for _, d := range diag.Of(err) {
		found = found || d.Code == odes.CodeMemory && strings.Contains(d.Message, "adjoint states")
	}
	if !found {
		t.Errorf("no complaint about memory: %v", err)
	}
}

func beside(at float64, events []odes.EventRecord) bool {
	for _, e := range events {
		if math.Abs(at-e.T) < 1e-6 {
			return true
		}
	}
	return false
}

// TestCostatesOfExperiments compares sums of adjoint states at the start of all runs with derivatives
// by the initial value, which moves all of them.
//
//odes:goroutines
func TestCostatesOfExperiments(t *testing.T) {
	m, err := odes.Parse("arms.ode", `
time t : [h] from 0 to 24
param k = 0.2 [1/h], dose = 100 [mg]
state A = dose
A' = -k*A
data D {
  time = [1, 4, 12, 1, 4, 12] [h]
  y    = [80, 40, 8, 170, nan, 20] [mg]
  arm  = ["low", "low", "low", "high", "high", "high"]
}
observe y = A ~ normal(5 [mg]) from D.y
experiment low  { use D where arm == "low" }
experiment high { at 2 [h] { A += 100 [mg] }  use D where arm == "high" }
objective loss = nll()^2 + 0.01*final(A)/1 [mg]
objective last = final(A)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	opts := odes.Options{Wrt: []string{"initial(A)"}}
	want, err := m.Sensitivities(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.Costates(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Experiments) != 2 || c.Experiments[1].Name != "high" || len(c.Experiments[1].Events) != 1 {
		t.Fatalf("experiments %+v", c.Experiments)
	}
	for o, value := range c.Objectives {
		sum := c.Of[o][0].Values[0]
		for _, x := range c.Experiments {
			if x.Of[o][0].Unit != c.Of[o][0].Unit {
				t.Errorf("%s: units %q and %q", value.Name, x.Of[o][0].Unit, c.Of[o][0].Unit)
			}
			sum += x.Of[o][0].Values[0]
		}
		if got := want.Gradient[o]; math.Abs(got-sum) > 1e-12*math.Abs(got) {
			t.Errorf("%s: derivative by the initial value %g, adjoint states %g", value.Name, got, sum)
		}
	}
	if c.Experiments[0].Of[1][0].Values[0] != 0 {
		t.Error("an objective that reads no likelihood depends on an experiment")
	}
}
