package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/testing/seeds"
)

// farCase is a fit that starts far away: data are made at the true values, with little noise, and whole runs from the
// start mostly do not come back to them.
type farCase struct {
	name, model, observe, over string
	truth, start               map[string]float64
	to                         float64
	rows                       int
	shooting                   []string
	more                       string // of the block fit
	easy                       bool   // whole runs come there as well
}

var fars = []farCase{{
	name: "FitzHugh and Nagumo's neuron, one state in two observed",
	model: "param a = 0.2 in [-1, 2], b = 0.2 in [-1, 2], c = 3 in [0.5, 10]\nstate V = -1, R = 1\n" +
		"V' = c*(V - V^3/3 + R)\nR' = -(V - a + b*R)/c\n",
	observe: "V", over: "a, b, c", truth: map[string]float64{"a": 0.2, "b": 0.2, "c": 3},
	start: map[string]float64{"a": 0.1, "b": 0.4, "c": 1.5}, to: 60, rows: 120, shooting: []string{"20", "auto"},
	easy: true,
}, {
	name: "Lorenz' equations, initial values and logarithmic scales",
	model: "param s = 10 in [1, 30], r = 28 in [1, 60], b = 2.5 in [0.1, 10]\nstate x = 1, y = 1, z = 1\n" +
		"x' = s*(y - x)\ny' = x*(r - z) - y\nz' = x*y - b*z\n",
	observe: "x", over: "s, r, b, initial(x), initial(z)", truth: map[string]float64{"s": 10, "r": 28, "b": 2.5},
	start: map[string]float64{"s": 13, "r": 23, "b": 2.2}, to: 10, rows: 100, shooting: []string{"D.time"},
	more: "log = [s, r, b]",
	easy: true,
}, {
	name: "heater with hysteresis: a discrete that chooses",
	model: "param power = 3 in [0.5, 10], loss = 0.1 in [0.01, 1]\nstate x = 20\ndiscrete on = 1\n" +
		"x' = power*on - loss*(x - 5)\nevent off when x > 21 { on = 0 }\nevent heat when x < 19 { on = 1 }\n",
	observe: "x", over: "power, loss", truth: map[string]float64{"power": 3, "loss": 0.1},
	start: map[string]float64{"power": 3.6, "loss": 0.13}, to: 30, rows: 151, shooting: []string{"15"},
}, {
	name: "bouncing ball",
	model: "param g = 9.81 in [1, 30], e = 0.9 in [0.3, 0.99]\nstate h = 2, v = 0\nh' = v\nv' = -g\n" +
		"event bounce when h <= 0 { v = -e*v }\n",
	observe: "h", over: "g, e", truth: map[string]float64{"g": 9.81, "e": 0.9},
	start: map[string]float64{"g": 7.5, "e": 0.95}, to: 6, rows: 120, shooting: []string{"20"},
}, {
	name: "pushes by time that add up in a discrete, and an algebraic unknown",
	model: "param k = 1 in [0.05, 10], q = 0.5 in [0.1, 2]\nstate x = 1, v = 0\ndiscrete sum = 0\nalg f = -1\n" +
		"0 = f + k*x^3 + x\nx' = v\nv' = f + 0.02*sum\nevent push every 4 from 2 { v += q  sum += q*k }\n",
	observe: "x", over: "k, q", truth: map[string]float64{"k": 1, "q": 0.5},
	start: map[string]float64{"k": 1.5, "q": 0.3}, to: 24, rows: 96, shooting: []string{"10"}, easy: true,
}}

// text returns the model with data, or without.
func (c *farCase) text(data string) string {
	s := fmt.Sprintf("time t from 0 to %g\n%s", c.to, c.model)
	if data == "" {
		return s
	}
	return s + "\n" + data + fmt.Sprintf("observe o = %s ~ normal(0.01) from D.y\nobjective L = nll()\n", c.observe)
}

// data returns a table of the model at its true values, with drawn noise of a standard deviation of 0.01.
func (c *farCase) data(t *testing.T, seed uint64) string {
	m := parse(t, c.text(""))
	var times []float64
	for k := range c.rows {
		times = append(times, c.to*(float64(k)+0.5)/float64(c.rows))
	}
	s, err := m.Solve(t.Context(), odes.Options{
		Times: times, Settings: []odes.Setting{{Key: "solver.rtol", Value: "1e-10"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	var at, y []string
	for _, o := range s.Outputs {
		if o.Name != c.observe {
			continue
		}
		for k := range times {
			at = append(at, fmt.Sprint(times[k]))
			y = append(y, fmt.Sprint(o.Values[k]+0.01*r.NormFloat64()))
		}
	}
	return fmt.Sprintf("data D {\n  time = [%s]\n  y = [%s]\n}\n", strings.Join(at, ", "), strings.Join(y, ", "))
}

// TestFar: multiple shooting finds the values that data were made with, from where whole runs mostly do
// not.
func TestFar(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for i, c := range fars {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && i%2 == 1 {
				t.Skip("some hundred runs")
			}
			text := c.text(c.data(t, seeds.Of(t, 55))) + fmt.Sprintf(
				"fit { over = [%s]  intervals = none  %s }\nsolver { rtol = 1e-9 }\n", c.over, c.more)
			m := parse(t, text)
			var o fit.Options
			for name, v := range c.start {
				o.Set = append(o.Set, odes.Assignment{Name: name, Values: []float64{v}})
			}
			made := func(shooting string) *fit.Result {
				o := o
				text := strings.Replace(text, "intervals", "shooting = "+shooting+"  intervals", 1)
				return run(t, parse(t, text), o)
			}
			truth, _, err := fit.Likelihood(t.Context(), m, odes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, shooting := range c.shooting {
				r := made(shooting)
				if r.Status != "ok" || !(r.Objective.Value < truth) || r.Objective.Value < truth-20 {
					t.Errorf("shooting = %s: %s at %g; the truth has %g", shooting, r.Status, r.Objective.Value, truth)
				}
				for _, e := range r.Estimates {
					if want, ok := c.truth[e.Text()]; ok && math.Abs(e.Value-want) > 6*e.StdErr {
						t.Errorf("shooting = %s: %s is %g ± %g, not %g", shooting, e.Text(), e.Value, e.StdErr, want)
					}
				}
			}
			if r := made("off"); !c.easy && r.Objective.Value < truth+100 {
				t.Errorf("whole runs come to %g as well: this tests nothing", r.Objective.Value)
			}
		})
	}
}

// TestFarExperiments: experiments are divided each for itself, and a standard deviation that is searched for, and a
// prior, count as in the ordinary search from near by.
func TestFarExperiments(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	c := fars[0]
	one := c.data(t, seeds.Of(t, 55))
	text := "time t from 0 to 60\nparam a = 0.1 in [-1, 2], b = 0.4 in [-1, 2]\n" +
		"param c = 1.5 in [0.5, 10] ~ lognormal(1, 1)\n" +
		"param sd = 0.1 in [1e-3, 10]\nparam V0 = -1\nstate V = V0, R = 1\nV' = c*(V - V^3/3 + R)\n" +
		"R' = -(V - a + b*R)/c\n" + one + strings.Replace(one, "data D", "data E", 1) +
		"observe o = V ~ normal(sd) from D.y\nobserve p = V ~ normal(2*sd) from E.y\n" +
		"experiment first { use D }\nexperiment second { V0 = -1.0  use E }\nobjective L = nll() - log_prior()\n" +
		"fit { over = [a, b, c, sd]  intervals = none  %s }\nsolver { rtol = 1e-9 }\n"
	r := run(t, parse(t, fmt.Sprintf(text, "shooting = 20")), fit.Options{})
	var near []odes.Assignment
	for name, v := range c.truth {
		near = append(near, odes.Assignment{Name: name, Values: []float64{v}})
	}
	want := run(t, parse(t, fmt.Sprintf(text, "")), fit.Options{Options: odes.Options{Set: near}})
	if r.Status != "ok" || math.Abs(r.Objective.Value-want.Objective.Value) > 1e-6*math.Abs(want.Objective.Value) {
		t.Errorf("%s at %.10g, from near by %.10g", r.Status, r.Objective.Value, want.Objective.Value)
	}
}

// TestFarConstraints: parts of runs know nothing of constraints; the search by whole runs, which comes last, keeps
// them.
func TestFarConstraints(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	c := fars[0]
	text := c.text(c.data(t, seeds.Of(t, 55))) + "constraint sum: a + b <= 0.39\nconstraint late: final(V) >= -3\n" +
		"fit { over = [a, b, c]  intervals = none  %s }\nsolver { rtol = 1e-9 }\n"
	var far, near []odes.Assignment
	for name, v := range c.start {
		far = append(far, odes.Assignment{Name: name, Values: []float64{v}})
		near = append(near, odes.Assignment{Name: name, Values: []float64{c.truth[name]}})
	}
	want := run(t, parse(t, fmt.Sprintf(text, "")), fit.Options{Options: odes.Options{Set: near}})
	for _, shooting := range []string{"20", "auto"} {
		r := run(t, parse(t, fmt.Sprintf(text, "shooting = "+shooting)), fit.Options{Options: odes.Options{Set: far}})
		if r.Status != "ok" || math.Abs(r.Objective.Value-want.Objective.Value) > 1e-6*math.Abs(want.Objective.Value) {
			t.Errorf("%s: %s at %.10g, from near by %.10g", shooting, r.Status, r.Objective.Value, want.Objective.Value)
		}
		if v := r.Constraints[0].Value; math.Abs(v) > 1e-6 { // active: what is left to the bound
			t.Errorf("%s: %g is left of the sum", shooting, v)
		}
	}
}

// TestStages: the parts of runs begin apart and end as one run, whose predictions those of the parts then are.
//
//odes:goroutines
func TestStages(t *testing.T) {
	c := fars[0]
	text := c.text(c.data(t, seeds.Of(t, 55))) +
		"fit { over = [a, b, c]  intervals = none  shooting = 20 }\nsolver { rtol = 1e-9 }\n"
	var o fit.Options
	for name, v := range c.start {
		o.Set = append(o.Set, odes.Assignment{Name: name, Values: []float64{v}})
	}
	r := run(t, parse(t, text), o)
	s := r.Starts[0].Stages
	if len(s) < 4 || s[0].Weight != 0 || s[0].Gap < 0.01 || s[1].Weight != 0.1 {
		t.Fatalf("%d stages", len(s))
	}
	last := s[len(s)-1]
	if !math.IsInf(last.Weight, 1) || last.Gap > 1e-9 || len(last.Parts) != 20 {
		t.Errorf("joined: weight %g, gap %g, %d parts", last.Weight, last.Gap, len(last.Parts))
	}
	k := 0
	for _, p := range last.Parts {
		for i := range p.T {
			if x := r.Predictions[k]; x.T != p.T[i] || math.Abs(x.Value-p.Values[i]) > 1e-3 {
				t.Fatalf("at %g the parts say %g, and the run %g at %g", p.T[i], p.Values[i], x.Value, x.T)
			}
			k++
		}
	}
	if k != len(r.Predictions) {
		t.Errorf("%d rows of %d", k, len(r.Predictions))
	}
}

// TestShootingRefused: what cannot be divided is refused by name, and auto searches by whole runs.
func TestShootingRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	const text = `time t from 0 to 10
param k = 0.5 in [0.01, 5]
param T = 10 in [9, 12]
state x = 1
x' = -k*x
data D { time = [1, 2, 3, 4, 5, 6, 7, 8, 9]  y = [0.6, 0.37, 0.22, 0.13, 0.08, 0.05, 0.03, 0.02, 0.01] }
observe o = x ~ normal(0.05) from D.y
`
	for _, c := range []struct{ more, shooting, want string }{
		{"objective L = nll()\nevent e when x < 0.3 once { x = x/2 }", "4", "e fires once"},
		{"objective L = nll()\nevent e when x < 0.3, delay = 1 { x = x/2 }", "4", "e has a delay"},
		{"objective L = nll()\nevent e when x < 0.001 { stop }", "4", "e may stop the run"},
		{"objective L = nll()", "[20, 30]", "lies within the run"},
	} {
		model := text + c.more + "\nfit { minimize = L  over = k  intervals = none  shooting = %s }\n"
		_, err := fit.Run(t.Context(), parse(t, fmt.Sprintf(model, c.shooting)), fit.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.more, err, c.want)
		}
		if r, err := fit.Run(t.Context(), parse(t, fmt.Sprintf(model, "auto")), fit.Options{}); err != nil {
			t.Errorf("%s: auto: %v", c.more, err)
		} else if r.Status != "ok" {
			t.Errorf("%s: auto: %s", c.more, r.Status)
		}
	}
	for _, wrong := range []string{"1", "2.5", "on", `"4"`, "[k]"} {
		text := text + "objective L = nll()\nfit { shooting = " + wrong + " }\n"
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
		if err == nil {
			_, err = fit.Run(t.Context(), m, fit.Options{})
		}
		if err == nil {
			t.Errorf("shooting = %s is taken", wrong)
		}
	}
}

// TestShootingEasy: auto makes the very search of a fit that is easy without it.
func TestShootingEasy(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	text := decay + "observe o = x ~ normal(0.2) from D.y\nobjective L = nll()\n" +
		"fit { over = [k, x0]  intervals = none %s }\n"
	a := run(t, parse(t, fmt.Sprintf(text, "")), fit.Options{})
	b := run(t, parse(t, fmt.Sprintf(text, "shooting = auto")), fit.Options{})
	if a.Stats.Evaluations != b.Stats.Evaluations || a.Objective.Value != b.Objective.Value {
		t.Errorf("%d evaluations to %v, and with auto %d to %v", a.Stats.Evaluations, a.Objective.Value,
			b.Stats.Evaluations, b.Objective.Value)
	}
}
