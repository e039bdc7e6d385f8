package fit_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes/fit"
)

// controls are problems of optimal control whose exact optima are known, for the control on its grid.
type controls struct {
	Cases []struct {
		ID         string
		States     []string
		Equations  map[string]string
		Parameters map[string]float64
		Initial    map[string]any
		T          float64
		Control    map[string]struct {
			Grid   string `json:"piecewise_constant_on"`
			Bounds []any
			Start  any
		}
		Definitions map[string]string
		Minimize    string
		Constraints map[string]any
		Optimum     map[string]any
		AtStart     map[string]any `json:"at_start"`
	}
}

// TestControls solves problems of optimal control: their optima to 1e-7, and the controls to 1e-4.
//
//odes:goroutines
func TestControls(t *testing.T) {
	var problems controls
	read(t, "testdata/controls.json", &problems)
	if len(problems.Cases) != 8 {
		t.Fatalf("%d problems", len(problems.Cases))
	}
	for _, c := range problems.Cases {
		t.Run(c.ID, func(t *testing.T) {
			var b strings.Builder
			free := strings.HasPrefix(c.ID, "minimum_time")
			end := fmt.Sprint(c.T)
			over := []string{}
			for name, u := range c.Control {
				if g := u.Grid; end == "0" { // the end is that of the grid
					end = strings.Split(g[len("grid("):], ",")[1]
				}
				over = append(over, name)
			}
			fmt.Fprintf(&b, "time t from 0 to %s\n", end)
			if free {
				fmt.Fprintln(&b, "param T = 4 in [0.5, 10]")
				over = append(over, "T")
			}
			for name, v := range c.Parameters {
				fmt.Fprintf(&b, "param %s = %v\n", name, v)
			}
			for name, u := range c.Control {
				within := ""
				if len(u.Bounds) == 2 {
					within = fmt.Sprintf("in [%v, %v]", u.Bounds[0], u.Bounds[1])
				}
				start := u.Start
				if start == nil {
					start = 0
				}
				fmt.Fprintf(&b, "control %s = %v %s piecewise constant on %s\n", name, start, within, u.Grid)
			}
			for name, v := range c.Definitions {
				fmt.Fprintf(&b, "let %s = %s\n", name, v)
			}
			for _, x := range c.States {
				fmt.Fprintf(&b, "state %s = %v\n%s' = %s\n", x, c.Initial[x], x, c.Equations[x+"'"])
			}
			fmt.Fprintf(&b, "objective J = %s\n", c.Minimize)
			i := 0
			for at, v := range c.Constraints {
				i++
				fmt.Fprintf(&b, "constraint c%d: final(%s) == %v\n", i, strings.TrimSuffix(at, "(T)"), v)
			}
			fmt.Fprintf(&b, "fit { minimize = J  over = [%s] }\nsolver { rtol = 1e-10  atol = 1e-12 }\n",
				strings.Join(over, ", "))

			r := run(t, parse(t, b.String()), fit.Options{})
			if best := r.Starts[0]; best.Status != "converged" || best.Evaluations > 200 {
				t.Errorf("%s after %d evaluations: %s", best.Status, best.Evaluations, best.Why)
			}
			want := c.Optimum["objective"]
			if free {
				want = c.Optimum["T"]
			}
			near(t, "the optimum", r.Objective.Value, want.(float64), 1e-7)
			for name := range c.Control {
				for i, u := range c.Optimum[name].([]any) {
					got := estimate(t, r, fmt.Sprintf("%s[%d]", name, i+1)).Value
					if math.Abs(got-u.(float64)) > 1e-4 {
						t.Errorf("%s[%d] = %.9g, want %.9g", name, i+1, got, u)
					}
				}
			}
			for _, k := range r.Constraints {
				if math.Abs(k.Value) > 1e-8 {
					t.Errorf("constraint %s is violated by %g", k.Name, k.Value)
				}
			}
			if t.Failed() {
				t.Log(b.String())
			}
		})
	}
}

// TestControlsOfExperiments: experiments give a control values of their own, a vector, a number for all intervals, or
// what follows from those of the model; a fit to exact data finds what these were made with.
func TestControlsOfExperiments(t *testing.T) {
	const k = 0.7
	at := []float64{1, 4, 6, 9}
	var times, values, ids []float64
	for id, u := range [][2]float64{{1, 2}, {3, 3}, {-1, -1}, {0.5, 0.5}} {
		for _, s := range at {
			x := u[0]/k + (1-u[0]/k)*math.Exp(-k*min(s, 5))
			if s > 5 {
				x = u[1]/k + (x-u[1]/k)*math.Exp(-k*(s-5))
			}
			times, values, ids = append(times, s), append(values, x), append(ids, float64(id))
		}
	}
	m := parse(t, fmt.Sprintf(`
time t from 0 to 10
param k = 2 in [0.1, 10]
control u = 0.5 piecewise constant on grid(0, 10, 3)
state x = 1
x' = -k*x + u
data D { time = %s  y = %s  id = %s }
observe seen = x ~ normal(0.1) from D.y
experiment a { use D where id == 0  u = [1, 2] }
experiment b { use D where id == 1  u = 3 }
experiment c { use D where id == 2  u = -2*u }
experiment d { use D where id == 3 }
objective loss = nll()
fit { over = [k]  intervals = wald }
solver { rtol = 1e-10  atol = 1e-12 }
`, list(times), list(values), list(ids)))
	r := run(t, m, fit.Options{})
	near(t, "k", r.Estimates[0].Value, k, 1e-8)
	for _, p := range r.Predictions {
		if math.Abs(p.Value-p.Data) > 1e-8 {
			t.Errorf("%s at %v: %v, not %v", p.Experiment, p.T, p.Value, p.Data)
		}
	}
}

// TestControlAtZero: the least effort is none. That the controls are zero but for rounding does not make them, or the
// objective, any less known: it curves with each.
func TestControlAtZero(t *testing.T) {
	r := run(t, parse(t, `
time t from 0 to 2.1
control u = -0.052 in [-2.6, 2.6] piecewise constant on [0, 0.012, 0.137, 0.587, 0.628, 0.663, 0.918, 1.018, 2.1]
state x = 0.83
x' = 0.21*x + 0.56*u
objective J = 0.99*integral(u^2)
fit { minimize = J  over = u  intervals = none }
solver { rtol = 1e-9  atol = 1e-11 }
`), fit.Options{})
	if len(r.Warnings) > 0 || !r.KKT.Certified {
		t.Errorf("%+v, %v", r.Warnings, r.KKT)
	}
}
