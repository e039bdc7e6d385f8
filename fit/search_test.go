package fit_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"odes.dev/odes/fit"
)

// pendulum swings up in the least time with a torque that is too small to do so at once. From the values here a search
// ends where the violation of the constraints is least nearby.
const pendulum = `
param T = 4 in [0.5, 20]
time t from 0 to T
control u = 0.3 in [-0.6, 0.6] piecewise constant on grid(0, T, 13)
state th = 0
state w = 0
th' = w
w' = -sin(th) + u
objective J = T
constraint c1: final(th) == 3.141592653589793
constraint c2: final(w) == 0
fit { minimize = J  over = [T, u]  intervals = none }
solver { rtol = 1e-10  atol = 1e-12 }
`

// TestReach: where one search finds no feasible point, others are made from elsewhere.
func TestReach(t *testing.T) {
	r := run(t, parse(t, "model Pendulum\n"+pendulum), fit.Options{})
	if r.Status != "ok" || len(r.Starts) < 2 {
		t.Errorf("%s, %d searches", r.Status, len(r.Starts))
	}
	near(t, "the least time", r.Objective.Value, 6.736389210364716, 1e-8)
	if why := r.Starts[len(r.Starts)-1].Why; !r.Starts[len(r.Starts)-1].Violated {
		t.Errorf("the first search came to a feasible point: %s", why)
	}
}

// TestMaxTime ends searches after some seconds, with the best point so far.
func TestMaxTime(t *testing.T) {
	m := parse(t, "model Pendulum\n"+strings.Replace(pendulum, "intervals = none", "intervals = none  starts = 10000  "+
		"max_time = 1", 1))
	began := time.Now()
	r, err := fit.Run(t.Context(), m, fit.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	if took > 20*time.Second || len(r.Starts) == 10000 || math.IsNaN(r.Objective.Value) {
		t.Errorf("%d searches in %v, %v", len(r.Starts), took, r.Objective.Value)
	}
}

// TestIterated: every iteration of a search is told of, and the last has the value that is found.
func TestIterated(t *testing.T) {
	var told []fit.Iteration
	m := parse(t, "model Pendulum\n"+strings.Replace(pendulum, "u = 0.3", "u = 0.1", 1))
	r := run(t, m, fit.Options{Iterated: func(at fit.Iteration) { told = append(told, at) }})
	if len(told) < r.Starts[0].Iterations/2 || len(told) == 0 {
		t.Fatalf("%d iterations were told of %d", len(told), r.Starts[0].Iterations)
	}
	last := told[len(told)-1]
	if math.Abs(last.Value-r.Objective.Value) > 1e-8 || last.Violation > 1e-8 || !(last.Radius > 0) {
		t.Errorf("%+v, not %g", last, r.Objective.Value)
	}
}

// TestLeastLargest makes a largest value as small as it can be: it is reached over most of the run. A mass moves by 1
// in the time 2, with a force of at most 2, in 20 pieces: its speed is 0.2 and 0.4 after the first two and before the
// last two, and s after the other 15, and 0.1 (1.2 + 15 s) = 1.
func TestLeastLargest(t *testing.T) {
	r := run(t, parse(t, `model LeastSpeed
time t from 0 to 2
control u = 0.3 in [-2, 2] piecewise constant on grid(0, 2, 21)
state x = 0
state v = 0
x' = v
v' = u
objective J = max_over(v)
constraint c1: final(x) == 1
constraint c2: final(v) == 0
fit { minimize = J  over = [u]  intervals = none }
solver { rtol = 1e-10  atol = 1e-12 }
`), fit.Options{})
	if r.Status != "ok" {
		t.Errorf("%s: %+v", r.Status, r.KKT)
	}
	near(t, "the least largest speed", r.Objective.Value, 8.8/15, 1e-6)
}

// optima are problems of optimal control with starts and known optima.
type optima struct {
	Cases []struct {
		ID     string
		Text   string
		Starts []map[string]float64
		Expect string
		Optima []struct{ Objective float64 }
	}
}

// TestOptima goes from some starts of small problems to their optima. ../shared/reference/optima.json has more of them.
func TestOptima(t *testing.T) {
	text, err := os.ReadFile("testdata/optima.json")
	if err != nil {
		t.Fatal(err)
	}
	var problems optima
	if err := json.Unmarshal(text, &problems); err != nil {
		t.Fatal(err)
	}
	for _, c := range problems.Cases {
		for _, start := range c.Starts {
			m := c.Text
			for name, v := range start {
				m = setStart(t, m, name, v)
			}
			r := run(t, parse(t, m), fit.Options{})
			if c.Expect == "infeasible" {
				if r.Status != "partial" || !r.Starts[0].Violated {
					t.Errorf("%s from %v: %s", c.ID, start, r.Status)
				}
				continue
			}
			found := false
			for _, o := range c.Optima {
				found = found || math.Abs(r.Objective.Value-o.Objective) <= 1e-6*math.Max(1e-3, math.Abs(o.Objective))
			}
			if r.Status != "ok" || !found {
				t.Errorf("%s from %v: %s, %.10g after %d evaluations", c.ID, start, r.Status, r.Objective.Value,
					r.Stats.Evaluations)
			}
		}
	}
}

// setStart gives a param or control of a model another value.
func setStart(t *testing.T, model, name string, v float64) string {
	t.Helper()
	lines := strings.Split(model, "\n")
	for i, line := range lines {
		for _, kind := range []string{"param ", "control "} {
			head := kind + name + " = "
			if rest, ok := strings.CutPrefix(line, head); ok {
				if _, after, ok := strings.Cut(rest, " in "); ok {
					number, _ := json.Marshal(v)
					lines[i] = head + string(number) + " in " + after
					return strings.Join(lines, "\n")
				}
			}
		}
	}
	t.Fatalf("%s is not in the model", name)
	return ""
}

// TestMaxTimeOfAll: what follows the searches ends, too, where it takes long, and the fit says so.
func TestMaxTimeOfAll(t *testing.T) {
	m := parse(t, "model Pendulum\n"+strings.Replace(pendulum, "intervals = none", "intervals = none  max_time = 2", 1))
	began := time.Now()
	r, err := fit.Run(t.Context(), m, fit.Options{Workers: 1, Iterated: func(fit.Iteration) {
		time.Sleep(time.Until(began.Add(3100 * time.Millisecond))) // the first iteration takes it all
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != "partial" || r.KKT.Certified || math.IsNaN(r.Objective.Value) {
		t.Errorf("%s, %+v, %v", r.Status, r.KKT, r.Objective.Value)
	}
	for _, d := range r.Warnings {
		if strings.Contains(d.Message, "fit.max_time = 2") && strings.Contains(d.Message, "is violated by") {
			return
		}
	}
	t.Errorf("no words about max_time and constraints: %v", r.Warnings)
}
