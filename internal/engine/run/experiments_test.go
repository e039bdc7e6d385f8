package run_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

const twoArms = `
time t : [h] from 0 to 10
param k = 0.3 [1/h], dose = 10 [mg], V = 2 [L], sd = 0.5 [mg/L], w0 = 0.5*dose
const scale = 1
state A : [mg] = dose, W : [mg] = w0
A' = -k*A
W' = -k*W*scale
let c = (A + W)/V
data D {
  time = [1, 2, 4, 1, 2, 4] [h]
  dv = [3.5, 2.8, 1.6, 7.5, 5.6, nan] [mg/L]
  arm = ["low", "low", "low", "high", "high", "high"]
}
observe y = c ~ normal(sd) from D.dv
experiment low { use D where arm == "low" }
experiment high {
  dose = 2*dose
  scale = 1.5
  at 3 [h] { A += 1 [mg] }
  use D where arm != "low" and D.time > 0
}
objective J = nll() + final(c)/10 [mg/L]
objective L = exp(nll(D)/50)
objective F = final(A)
`

// oneRun is the same as one run, in which each arm has states of its own.
const oneRun = `
time t : [h] from 0 to 10
param k = 0.3 [1/h], dose = 10 [mg], V = 2 [L], sd = 0.5 [mg/L], w0 = 0.5*dose
state A : [mg] = dose, W : [mg] = w0, B : [mg] = 2*dose, X : [mg] = w0 + 0.5*dose
A' = -k*A
W' = -k*W
B' = -k*B
X' = -k*X*1.5
event at 3 [h] { B += 1 [mg] }
data D { time = [1, 2, 4] [h]  dv = [3.5, 2.8, 1.6] [mg/L] }
data E { time = [1, 2] [h]  dv = [7.5, 5.6] [mg/L] }
observe y = (A + W)/V ~ normal(sd) from D.dv
observe z = (B + X)/V ~ normal(sd) from E.dv
objective J = nll() + final((A + W)/V)/10 [mg/L]
objective L = exp(nll()/50)
objective F = final(A)
`

// TestExperiments compares experiments with one run of a model that holds all
// arms. The override of dose reaches w0 through its default.
//
//odes:goroutines
func TestExperiments(t *testing.T) {
	tight := modeltest.Settings("solver.rtol", "1e-12", "solver.atol", "1e-12")
	parts, err := odes.Parse("two.ode", twoArms, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := odes.Parse("one.ode", oneRun, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := whole.Sensitivities(context.Background(), odes.Options{Settings: tight})
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range [][]odes.Assignment{nil, {{Name: "V", Values: []float64{2.5}}}} {
		if set != nil {
			want, err = whole.Sensitivities(context.Background(), odes.Options{Settings: tight, Set: set})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, mode := range []string{"adjoint", "tangent", "complex", "differences"} {
			got, err := parts.Sensitivities(context.Background(),
				odes.Options{Settings: append(tight, odes.Setting{Key: "sens.mode", Value: mode}), Set: set})
			if err != nil {
				t.Fatal(err)
			}
			tol := 1e-9
			if mode == "differences" {
				tol = 1e-5
			}
			if len(got.Variables) != 5 || got.Columns != want.Columns {
				t.Fatalf("%s: variables %v", mode, got.Variables)
			}
			for i, v := range want.Values {
				if !modeltest.Near(got.Values[i].Value, v.Value, tol) {
					t.Errorf("%s: %s = %.15g, want %.15g", mode, v.Name, got.Values[i].Value, v.Value)
				}
				for _, x := range want.Variables {
					a, b := got.Derivative(i, x)[0], want.Derivative(i, x)[0]
					if !modeltest.Near(a, b, tol) {
						t.Errorf("%s: d%s/d%s = %.15g, want %.15g", mode, v.Name, x, a, b)
					}
				}
			}
		}
		solved, err := parts.Solve(context.Background(), odes.Options{Settings: tight, Set: set})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want.Values {
			if !modeltest.Near(solved.Values[i].Value, v.Value, 1e-9) {
				t.Errorf("solve: %s = %.15g, want %.15g", v.Name, solved.Values[i].Value, v.Value)
			}
		}
	}
}

// TestExperimentAlone checks that an experiment as a model has the objectives of the text, of its own
// run and rows.
//
//odes:goroutines
func TestExperimentAlone(t *testing.T) {
	whole, err := odes.Parse("two.ode", twoArms, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	total, err := whole.Sensitivities(t.Context(), odes.Options{Of: []string{"L"}, Wrt: []string{"k"}})
	if err != nil {
		t.Fatal(err)
	}
	product, slope := 1.0, 0.0 // of L, and of its logarithm
	for _, name := range whole.Experiments() {
		m, err := odes.Parse("two.ode", twoArms, odes.ParseOptions{Experiment: name})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Of: []string{"L", "F"}, Wrt: []string{"k"}})
		if err != nil {
			t.Fatal(err)
		}
		product *= s.Values[0].Value
		slope += s.Gradient[0] / s.Values[0].Value
		run, err := whole.Experiment(name).Solve(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		amount := run.Outputs[0].Values // of A
		if got, want := s.Values[1].Value, amount[len(amount)-1]; got != want {
			t.Errorf("%s: F = %v, want %v", name, got, want)
		}
		if len(m.Experiments()) > 0 {
			t.Errorf("%s has experiments", name)
		}
	}
	if got, want := product, total.Values[0].Value; !modeltest.Near(got, want, 1e-14) {
		t.Errorf("the product of L is %v, want %v", got, want)
	}
	if got, want := slope, total.Gradient[0]/total.Values[0].Value; !modeltest.Near(got, want, 1e-13) {
		t.Errorf("the slope of log L is %v, want %v", got, want)
	}
	if _, err := odes.Parse("two.ode", twoArms, odes.ParseOptions{Experiment: "hihg"}); err == nil ||
		!strings.Contains(err.Error(), `there is no experiment "hihg"; did you mean "high"?`) {
		t.Errorf("got %v", err)
	}
	// The others are not checked: pictures of many experiments ask for each in turn.
	if _, err := odes.Parse("two.ode", twoArms+"\nexperiment odd { nothing = 1 }\n",
		odes.ParseOptions{Experiment: "high"}); err != nil {
		t.Error(err)
	}
}

// TestExperimentsAtPoints runs a Runner of experiments at several points, with different numbers of
// threads.
//
//odes:goroutines
func TestExperimentsAtPoints(t *testing.T) {
	m, err := odes.Parse("two.ode", twoArms, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(odes.Options{Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []float64{0.3, 0.4, 0.3} {
		if err := r.Set(odes.Assignment{Name: "k", Values: []float64{k}}); err != nil {
			t.Fatal(err)
		}
		got, err := r.Sensitivities(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		set := []odes.Assignment{{Name: "k", Values: []float64{k}}}
		want, err := m.Sensitivities(context.Background(), odes.Options{Threads: 1, Set: set})
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range want.Gradient {
			if got.Gradient[i] != x {
				t.Errorf("k = %g: derivative %d is %v, and %v at once", k, i, got.Gradient[i], x)
			}
		}
	}
}

// TestExperimentsNotNeeded checks that objectives of the unchanged run alone start no experiment.
//
//odes:goroutines
func TestExperimentsNotNeeded(t *testing.T) {
	m, err := odes.Parse("two.ode", twoArms, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	one, err := m.Sensitivities(context.Background(), odes.Options{Of: []string{"F"}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.Sensitivities(context.Background(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if one.Stats.Steps >= all.Stats.Steps || one.Values[0].Value != all.Values[2].Value {
		t.Errorf("%d steps and %v; all have %d and %v", one.Stats.Steps, one.Values[0], all.Stats.Steps, all.Values[2])
	}
	for i, x := range one.Gradient {
		if !modeltest.Near(x, all.Gradient[2*all.Columns+i], 1e-12) {
			t.Errorf("derivative %d is %v, and %v among others", i, x, all.Gradient[2*all.Columns+i])
		}
	}
	v, err := m.Verify(context.Background(), odes.Options{Of: []string{"F"}}, odes.VerifyOptions{})
	if err != nil || v.Wrong() {
		t.Errorf("%+v, %v", v, err)
	}
}

//odes:goroutines
func TestExperimentsVerify(t *testing.T) {
	m, err := odes.Parse("two.ode", twoArms, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Verify(context.Background(), odes.Options{}, odes.VerifyOptions{})
	if err != nil || v.Wrong() {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestExperimentsOwnSettings changes consts that settings read in experiments. Runs that repeat others
// must use the changed settings.
//
//odes:goroutines
func TestExperimentsOwnSettings(t *testing.T) {
	m, err := odes.Parse("own.ode", `
const tol = 1e-2
time t from 0 to 3
param k = 1
state x = 1
x' = -k*x
data D { time = [1, 3] y = [0.4, 0.1] }
observe y = x ~ normal(1) from D.y
experiment loose { use D }
experiment tight { tol = 1e-11  use D }
objective J = nll()
solver { rtol = tol  atol = tol }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	steps := func(rtol string) int {
		opts := odes.Options{}
		if rtol != "" {
			opts.Settings = modeltest.Settings("solver.rtol", rtol, "solver.atol", rtol)
		}
		s, err := m.Sensitivities(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		return s.Stats.Steps
	}
	if own, loose := steps(""), steps("1e-2"); own < 2*loose {
		t.Fatalf("%d steps, and %d with loose tolerances for all: the test shows nothing", own, loose)
	}
	v, err := m.Verify(t.Context(), odes.Options{}, odes.VerifyOptions{})
	if err != nil || v.Wrong() {
		t.Errorf("%+v, %v", v, err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{Settings: modeltest.Settings("sens.error", "on")})
	if err != nil {
		t.Fatal(err)
	}
	if e := s.Errors[0] / math.Abs(s.Gradient[0]); !(e > 1e-6 && e < 1e-1) {
		t.Errorf("the derivative by k has a relative error of %g", e)
	}
}

//odes:goroutines
func TestExperimentFails(t *testing.T) {
	m, err := odes.Parse("fails.ode", `
time t from 0 to 1
param k = 1
state x = 1
x' = sqrt(k)*x
data D { time = [1] y = [1] }
observe y = x ~ normal(1) from D.y
experiment good { use D }
experiment wrong { k = k - 2  use D }
objective J = nll()
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Sensitivities(context.Background(), odes.Options{})
	if err == nil || !strings.Contains(err.Error(), "experiment wrong") {
		t.Errorf("error %v", err)
	}
	_, err = m.Solve(context.Background(), odes.Options{})
	if err == nil || !strings.Contains(err.Error(), "experiment wrong") {
		t.Errorf("error %v", err)
	}
}

// TestUnreadTotals differentiates objectives of a model with experiments that read no total. One of
// them has no value.
func TestUnreadTotals(t *testing.T) {
	m, err := odes.Parse("two.ode", twoArms+`
event never when A <= -1 [mg] { W = 0 [mg] }
objective N = nll()*event_time(never, 1)
objective T = event_time(never, 1)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"adjoint", "tangent", "complex", "forward", "continuous"} {
		s, err := m.Sensitivities(context.Background(), odes.Options{
			Of:       []string{"T", "F"},
			Settings: modeltest.Settings("sens.mode", mode),
		})
		if err != nil {
			t.Fatal(err)
		}
		if !math.IsNaN(s.Values[0].Value) || !modeltest.Near(s.Gradient[s.Columns], -10*s.Values[1].Value, 1e-5) {
			t.Errorf("%s: T = %v, dF/dk = %v for F = %v", mode, s.Values[0].Value, s.Gradient[s.Columns],
				s.Values[1].Value)
		}
	}
}
