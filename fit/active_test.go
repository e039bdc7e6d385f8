package fit_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/fit"
)

// messages returns those of the warnings of a fit.
func messages(r *fit.Result) string {
	var list []string
	for _, d := range r.Warnings {
		list = append(list, d.Message)
	}
	return strings.Join(list, "\n")
}

// TestConstrainedErrors fits y = A·B·exp(-k·t) and more under constraints. The data tell of A and B their product
// alone. What an active constraint decides is told, and standard errors are those of the model in which it was solved.
func TestConstrainedErrors(t *testing.T) {
	const head = `time t from 0 to 5
param k = 0.3 in [0.01, 5], A = 2 in [0.1, 10], B = 1 in [0.1, 10]
state x = 1
x' = -k*x
data D { time = [1, 2, 3, 5]  y = [1.8, 1.2, 0.85, 0.35] }
solver { rtol = 1e-9  atol = 1e-11 }
objective L = nll()
`
	const both = "observe o = A*B*x ~ normal(0.05) from D.y\n"
	fitted := func(text string) *fit.Result { return run(t, parse(t, head+text), fit.Options{}) }
	for _, c := range []struct {
		text string
		lost []string
		free string // the same without the constraint, which has the same standard errors; "": none
		said string
	}{
		{both + "constraint c: k <= 3", []string{"A", "B"}, "", "A and B are not identifiable"},
		{both + "constraint c: A*B == 3", []string{"A", "B"}, "", "A and B are not identifiable"},
		{both + "constraint c: k <= 0.35", []string{"A", "B"}, "", "constraint c is active"},
		{both + "constraint c: A == 3", nil, "observe o = 3*B*x ~ normal(0.05) from D.y\nfit { over = [k, B] }", ""},
		{
			both + "constraint c: A - B == 1", nil,
			"observe o = (B + 1)*B*x ~ normal(0.05) from D.y\nfit { over = [k, B] }", "",
		},
		{
			"observe o = A*x + B*0 ~ normal(0.05) from D.y\nconstraint c: k <= 3",
			[]string{"B"},
			"", "B is not identifiable",
		},
		// The search moves B onto the constraint, which asks nothing of it.
		{
			"observe o = A*x + B*0 ~ normal(0.05) from D.y\nconstraint c: A - B <= 1",
			[]string{"B"},
			"", "B is not identifiable",
		},
		{
			"observe o = A*x ~ normal(0.05) from D.y\nconstraint c: k <= 3\nfit { over = [k, A] }", nil,
			"observe o = A*x ~ normal(0.05) from D.y\nfit { over = [k, A] }", "the intervals are Wald's",
		},
	} {
		r := fitted(c.text)
		for i := range r.Estimates {
			x := &r.Estimates[i]
			alone := strings.Contains(c.text, "constraint c: "+x.Name+" == ") ||
				strings.Contains(c.text, "constraint c: "+x.Name+" <= 0.35")
			if math.IsInf(x.StdErr, 1) != slices.Contains(c.lost, x.Name) || x.Decided != alone ||
				math.IsNaN(x.StdErr) != alone || math.IsNaN(x.Upper) != alone {
				t.Errorf("%s: %s ± %g to %g, decided: %t", c.text, x.Name, x.StdErr, x.Upper, x.Decided)
			}
		}
		if r.Identifiable != (c.lost == nil) || !strings.Contains(messages(r), c.said) {
			t.Errorf("%s: %s", c.text, messages(r))
		}
		if c.free == "" {
			continue
		}
		for _, x := range fitted(c.free).Estimates {
			y := estimate(t, r, x.Name)
			near(t, c.text+": "+x.Name, y.Value, x.Value, 1e-6)
			// With an equality the information is the expected one; these residuals are small.
			near(t, c.text+": error of "+x.Name, y.StdErr, x.StdErr, 0.02)
		}
	}
}

// TestConstrainedVague: what a minimum that is no likelihood's does not tell is said where a constraint that is not
// active stands in the model, too.
func TestConstrainedVague(t *testing.T) {
	r := run(t, parse(t, `time t from 0 to 4
param u = 0.7, w = 1.3
state x = 1
x' = -u*w*x
objective L = sum_at([0.5, 1, 2, 3], (x - exp(-0.8*t))^2)
constraint c: u <= 5
fit { over = [u, w] }
solver { rtol = 1e-8  atol = 1e-11 }
`), fit.Options{})
	if !strings.Contains(messages(r), "does not tell u and w apart") {
		t.Error(messages(r))
	}
}

// TestNoScatter: where there are no more values than estimates, nothing is left to estimate the scatter from. Wald's
// intervals were those of a known one.
func TestNoScatter(t *testing.T) {
	for text, want := range map[string]string{
		"time = [1, 2]  y = [1.8, 1.2]":          "2 values with a standard deviation and 2 free estimates",
		"time = [1]  y = [1.8]":                  "1 value with a standard deviation and 2 free estimates",
		"time = [1, 2, 3]  y = [1.8, 1.2, 0.85]": "",
	} {
		for _, intervals := range []string{"wald", "profile"} {
			r := run(t, parse(t, `time t from 0 to 5
param k = 0.3 in [0.01, 5], A = 2 in [0.1, 10]
state x = A
x' = -k*x
data D { `+text+` }
observe o = x ~ normal(0.05) from D.y
objective L = nll()
fit { scatter = estimated  intervals = `+intervals+` }
`), fit.Options{})
			said := messages(r)
			if want != "" != math.IsNaN(r.Factor) || !strings.Contains(said, want) || want == "" && said != "" {
				t.Errorf("%s, %s: factor %g, %s", text, intervals, r.Factor, said)
			}
			for i := range r.Estimates {
				x := &r.Estimates[i]
				if known := x.StdErr-x.StdErr == 0; known != (want == "") || known != (x.Lower-x.Lower == 0) {
					t.Errorf("%s, %s: %s ± %g, from %g", text, intervals, x.Name, x.StdErr, x.Lower)
				}
			}
		}
	}
}
