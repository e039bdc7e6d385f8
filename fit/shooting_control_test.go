package fit_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes/fit"
)

// TestControlBlowsUp: whole runs from the start blow up before their end, so that a search by them has nowhere to
// begin, and parts come to the optimum, however many there are: the certificate is that of the whole run.
func TestControlBlowsUp(t *testing.T) {
	const text = `
time t from 0 to 5
control u = 0 in [-3, 3] piecewise constant on grid(0, 5, 21)
state x = 0.5
x' = x + x^3 + u
objective J = integral(u^2 + x^2)
constraint a: final(x) == 0.3
fit { minimize = J  over = u  intervals = none  shooting = %s }
solver { rtol = 1e-10  atol = 1e-12 }
`
	if _, err := fit.Run(t.Context(), parse(t, fmt.Sprintf(text, "off")), fit.Options{}); err == nil {
		t.Error("a search by whole runs begins as well: this tests nothing")
	}
	first := math.NaN()
	for _, shooting := range []string{"8", "[0.6, 1.2, 1.9, 2.5, 3.1, 3.8, 4.4]", "auto"} {
		r := run(t, parse(t, fmt.Sprintf(text, shooting)), fit.Options{})
		if r.Status != "ok" || !r.KKT.Certified {
			t.Errorf("shooting = %s: %s: %+v", shooting, r.Status, r.KKT)
		}
		if first-first != 0 {
			first = r.Objective.Value
		}
		near(t, "shooting = "+shooting, r.Objective.Value, first, 1e-9)
		s := r.Starts[0].Stages
		if len(s) != 2 || s[0].Gap < 0.1 || !(s[1].Gap <= 1e-9) || !math.IsInf(s[1].Weight, 1) {
			t.Errorf("shooting = %s: the parts went together by %+v", shooting, s)
		}
	}
}

// TestControlClosedForm: the least energy of a mass that has an algebraic unknown for its force, is kicked within a
// part and moves something that counts. What a force in each piece does at the end is linear, so that the least sum of
// squares is B'(BB')⁻¹ times what is missing.
func TestControlClosedForm(t *testing.T) {
	const n, h, kick, at = 20, 0.1, 0.2, 0.73
	r := run(t, parse(t, `
time t from 0 to 2
control u = 0.1 piecewise constant on grid(0, 2, 21)
state x = 0, v = 0
discrete passed = 0
alg F = 0
0 = 3*F - 2*u - u
x' = v
v' = F
event push at 0.73 { v += 0.2 }
event half when x > 0.5 { passed = passed + 1 }
objective J = integral(F^2)
constraint there: final(x) == 1
constraint halt: final(v) == 0
constraint once: final(passed) <= 1
fit { minimize = J  over = u  intervals = none  shooting = 7 }
solver { rtol = 1e-10  atol = 1e-12 }
`), fit.Options{})
	far, fast := 1-kick*(2-at), -kick
	var xx, xv, vv float64
	for k := range n {
		x := h * (2 - h*(float64(k)+0.5))
		xx, xv, vv = xx+x*x, xv+x*h, vv+h*h
	}
	det := xx*vv - xv*xv
	a, b := (vv*far-xv*fast)/det, (xx*fast-xv*far)/det
	if r.Status != "ok" {
		t.Errorf("%s: %+v", r.Status, r.KKT)
	}
	near(t, "the least energy", r.Objective.Value, h*(a*far+b*fast), 1e-9)
	for k, e := range r.Estimates {
		near(t, e.Text(), e.Value, a*h*(2-h*(float64(k)+0.5))+b*h, 1e-6)
	}
	if gap := r.Starts[0].Stages[1].Gap; !(gap <= 1e-9) {
		t.Errorf("the gap is %g", gap)
	}
}

// TestControlLargest: a largest value over the whole run is the objective, as that of TestLeastLargest: parts know
// theirs.
func TestControlLargest(t *testing.T) {
	r := run(t, parse(t, `
time t from 0 to 2
control u = 0.3 in [-2, 2] piecewise constant on grid(0, 2, 21)
state x = 0, v = 0
x' = v
v' = u
objective J = max_over(v)
constraint c1: final(x) == 1
constraint c2: final(v) == 0
fit { minimize = J  over = u  intervals = none  shooting = 4 }
solver { rtol = 1e-10  atol = 1e-12 }
`), fit.Options{})
	near(t, "the least speed", r.Objective.Value, 8.8/15, 1e-6)
}

// TestOptimaInParts goes from a start of some problems to their optima by parts: a free end, a largest value that no
// part may exceed, experiments, events, an objective that is maximised.
func TestOptimaInParts(t *testing.T) {
	var problems optima
	read(t, "testdata/optima.json", &problems)
	made := 0
	for _, c := range problems.Cases {
		if c.Expect != "feasible" {
			continue
		}
		made++
		t.Run(c.ID, func(t *testing.T) {
			text := strings.Replace(c.Text, "intervals = none", "intervals = none  shooting = 8", 1)
			for name, v := range c.Starts[0] {
				text = setStart(t, text, name, v)
			}
			r := run(t, parse(t, text), fit.Options{})
			near(t, "the optimum", r.Objective.Value, c.Optima[0].Objective, 1e-6)
			if s := r.Starts[0].Stages; r.Status != "ok" || len(s) != 2 || !(s[1].Gap <= 1e-9) {
				t.Errorf("%s: %+v", r.Status, s)
			}
		})
	}
	if made < 4 {
		t.Errorf("%d problems", made)
	}
}

// TestControlOfExperiments: what experiments add to a likelihood, in an objective that is none, comes from their parts.
// The optimum is that of a convex quadratic program.
func TestControlOfExperiments(t *testing.T) {
	r := run(t, parse(t, `
time t from 0 to 4.0
param k = 1.0
control u = 0.3 in [0, 2] piecewise constant on grid(0, 4.0, 9)
state x = 0
x' = -k*x + u
data D {
  time = [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]
  arm = [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2]
  y = [0.761, 1.238, 1.148, 0.488, -0.039, -0.781, -1.238, -1.002,
    1.363, 1.786, 1.718, 1.273, 0.397, -0.242, -0.632, -0.4]
}
observe o = x ~ normal(0.1) from D.y
experiment a { use D where arm == 1 }
experiment b { k = 0.5  use D where arm == 2 }
objective J = sqrt(nll()^2)
constraint c1: integral(u) <= 2.2
fit { minimize = J  over = [u]  intervals = none  shooting = 5 }
solver { rtol = 1e-10  atol = 1e-12 }
`), fit.Options{})
	near(t, "the optimum", r.Objective.Value, 338.72471656282744, 1e-8)
	if s := r.Starts[0].Stages; r.Status != "ok" || len(s) != 2 || s[0].Gap < 1e-3 || !(s[1].Gap <= 1e-9) {
		t.Errorf("%s: %+v", r.Status, s)
	}
}

// TestControlUndivided: what parts cannot tell is refused by name, and auto searches by whole runs.
func TestControlUndivided(t *testing.T) {
	const text = `
param T = 2 in [1, 5], late = 0.5
time t from 0 to %s
control u = 0.3 in [-2, 2] piecewise constant on grid(0, 2, 5)
state x = 0, v = 0
x' = v
v' = u
%s
fit { minimize = J  over = %s  intervals = none  shooting = %s }
`
	for _, c := range []struct{ to, more, over, want string }{
		{"2", "event up when x > 0.1 { v = v/2 }\nobjective J = event_time(up, 1) + integral(u^2)", "u", "one firing"},
		{"2", "objective J = sum_at([late], x^2) + integral(u^2)", "u", "times that params make"},
		{"2", "objective J = integral(u^2 + x, from = late)", "u", "times that params make"},
		{"T", "objective J = sum_at([0.5], x^2) + integral(u^2)", "[u, T]", "times of its own"},
		{"T", "event push at 0.7 { v += 1 }\nobjective J = integral(u^2 + x^2)", "[u, T]", "an event at a fixed time"},
		{"2", "objective J = integral(u^2 + x^2)\nstate y = 0\ny' = delay(x, 0.7)", "u", "earlier times"},
		{"2", "event e when x > 0.3 once { v = v/2 }\nobjective J = integral(u^2)", "u", "e fires once"},
	} {
		_, err := fit.Run(t.Context(), parse(t, fmt.Sprintf(text, c.to, c.more, c.over, "4")), fit.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.more, err, c.want)
		}
		if _, err := fit.Run(t.Context(), parse(t, fmt.Sprintf(text, c.to, c.more, c.over, "auto")),
			fit.Options{}); err != nil {
			t.Errorf("%s: auto: %v", c.more, err)
		}
	}
}
