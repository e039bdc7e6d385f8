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
					if c.ID == "lqr_bounded" { // bounds are constants
						within = "in [-2, 2]"
					}
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
