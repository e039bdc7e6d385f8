package explain_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// TestCausesAreNamed has models whose runs, or values, come to nothing. Messages name what did it: the assignment, the
// condition, the knots, the row.
//
//odes:goroutines
func TestCausesAreNamed(t *testing.T) {
	const decay = "time t from 0 to 10\nparam k = 1, p = 0.1\n"
	const late = decay + "state x = 0\nx' = if t < 3 then 0 else k\nobjective J = nll()\n"
	for _, c := range []struct{ name, text, want string }{
		{"a body", `
time t from 0 to 10
param a = -1
state x = 0, nx = 1
x' = 1
nx' = 0
event e when x > 2 { x = 0  nx = sqrt(a) }
objective J = final(nx)`, `"nx = sqrt(a)" in the body of e makes nx something that is not a finite ` +
			`number, at t = 2 (step 6, h = 88.901099) with x = 2, nx = 1, after event e at 2: "sqrt(a)" is the ` +
			`square root of a negative number`},
		{"an element of a body", `
time t from 0 to 10
param a = 1
state x[3] = 0
x[i]' = i for i in 1:3
event e when x[i] > 2 for i in 1:3 { x[i] += a/(i-3) }
objective J = final(x[1])`, `"x[i] += a/(i-3)" in the body of e[3] makes x something`},
		{"a guard", `
time t from 0 to 10
param a = 1
state x = 0
x' = 1
event e when log(a - 2*x) > 7 { x = -5 }
objective J = final(x)`, `"log(a - 2*x)" is the logarithm of a negative number at t = 0.5; the condition of e is ` +
			`not a number`},
		{"a guard at the start", `
time t from 0 to 10
param a = 1
state x = 2
x' = 1
event e when sqrt(a - x) < 0.5 { x = -5 }
objective J = final(x)`, `"sqrt(a - x)" is the square root of a negative number at t = 0; the condition of e is ` +
			`not a finite`},
		{
			"a period of 0", decay + "state x = 2\nx' = mod(t, p - 0.1)\nobjective J = final(x)",
			`"mod(t, p - 0.1)" is 0/0 at t = 0; the condition of mod@4 is not a finite number`,
		},
		{
			"a divisor in a floor", decay + "state x = 2\nx' = floor((t + 1)/(k - 1))\nobjective J = final(x)",
			`"(t + 1)/(k - 1)" is a division by 0 at t = 0; the condition of floor@4`,
		},
		{
			"a divisor of params alone", decay + "state x = 2\nx' = mod(p, k - 1)\nobjective J = final(x)",
			`"mod(p, k - 1)" is a division by 0 at t = 0; the right-hand side`,
		},
		{
			"a branch", decay + "state x = 2\nx' = if k > 0 then log(p-1) else log(p-2)\nobjective J = 1",
			`"log(p-1)" is the logarithm of a negative`,
		},
		{
			"another branch", decay + "state x = 2\nx' = if k < 0 then log(p-1) else log(p-2)\nobjective J = 1",
			`"log(p-2)" is the logarithm of a negative`,
		},
		{"a param", decay + "param K = inf\nstate x = 2\nx' = -K*x\nobjective J = final(x)", `"K" is +Inf at t = 0; ` +
			`the right-hand side`},
		{
			"a count that is not whole", decay + "state x = 2\nx' = 0\nevent e every 1 count k + 1.5 { x += 1 }\n" +
				"objective J = 1",
			"the number of firings of event e is 2.5; it must be a whole number",
		},
		{
			"a count without end", decay + "param n = inf\nstate x = 2\nx' = 0\nevent e every 1 count n { x += 1 }\n" +
				"objective J = 1",
			"the number of firings of event e is +Inf; it must be a whole number",
		},
		{"equal knots", `
time t from 0 to 10
param a = 1, b = 2, c = 2
state x = 0
x' = interp([a, b, c, 5], [1, 2, 3, 4], t)
objective J = final(x)`, `the knots of interp ascend, but knot 2, "b", does not lie before knot 3, "c"`},
		{"equal knots of an array", `
time t from 0 to 10
param a[3] = [1, 4, 3]
state x = 0
x' = interp(a, [1, 2, 3], t)
objective J = final(x)`, `the knots of interp ascend, but knot 2 does not lie before knot 3`},
		{
			"no data at all", late + "data D { time = [1, 2]  y = [nan, nan] }\nobserve o = x ~ normal(1) from D.y",
			"there is nothing to compare with: all values of D.y are missing",
		},
		{
			"a negative sd",
			late + "data D { time = [1, 2, 5]  y = [nan, 1, 2] }\nobserve o = x ~ normal(k - 2) from D.y",
			`no value: "o" is not a number in row 2 of "D" (t = 2), where "x" is 0, since "log(sd)" is the logarithm ` +
				`of a negative number; normal needs sd > 0`,
		},
		{
			"a proportional error of nothing",
			late + "data D { time = [5, 2]  y = [1, 2] }\nobserve o = x ~ normal(p*o) from D.y",
			`no value: "o" is not a number in row 2 of "D" (t = 2), where "x" is 0, since "(y - mean)/sd" is a ` +
				`division by 0`,
		},
		{
			"the logarithm of nothing",
			late + "data D { time = [5, 2]  y = [1, 2] }\nobserve o = x ~ lognormal(p) from D.y",
			`the value is infinite: "o" is infinite in row 2 of "D" (t = 2), where "x" is 0`,
		},
		{
			"in an experiment",
			late + "data D { time = [5, 2]  y = [1, 2]  id = [1, 2] }\nobserve o = x ~ normal(p*o) from D.y\n" +
				"experiment s from D by D.id { }",
			`no value: in experiment s_2, "o" is not a number in row 2 of "D" (t = 2), where "x" is 0`,
		},
		{
			"a missing amount",
			decay + "state x = 0\nx' = -k*x\ndata D { time = [1, 2, 3]  amt = [10, nan, 5] }\n" +
				"event e at D.time[i] for i in 1:3 { x += D.amt[i] }\nobjective J = final(x)",
			`row 2 of "D" has no amt; what reads it there is not a number`,
		},
		{
			"many times outside",
			decay + "state x = 1\nx' = -k*x\nconst n = 2000\nevent e at i - 1 + p for i in 1:n { x += 1 }\n" +
				"objective J = at_event(e, pre(x))",
			"lies outside the time span and never happens; and so on, 1990 in all",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said []string
			keep := func(list []diag.Diagnostic) {
				for _, d := range list {
					said = append(said, d.Message)
				}
			}
			m, err := odes.Parse("m.ode", c.text, odes.ParseOptions{})
			keep(diag.Of(err))
			if err == nil {
				keep(m.Warnings())
				s, err := m.Sensitivities(context.Background(), odes.Options{})
				if keep(diag.Of(err)); err == nil {
					keep(s.Warnings)
					for _, v := range s.Values {
						said = append(said, v.Warnings...)
					}
				}
			}
			if len(said) > 5 {
				t.Errorf("%d messages", len(said))
			}
			if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, c.want) }) {
				t.Errorf("said %q, want %q", said, c.want)
			}
		})
	}
}

// TestNanIsRefused: no value that is set is nan, whoever sets it. The message names what was set.
func TestNanIsRefused(t *testing.T) {
	const text = "time t from 0 to 1\nparam k = 1, top = 5, A[2] = 1\nstate x = 2\nx' = -k*min(x, top)*A[1]\n" +
		"objective J = final(x)\n"
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []odes.Assignment{
		{Name: "k", Values: []float64{math.NaN()}},
		{Name: "A", Values: []float64{1, math.NaN()}},
		{Name: "A[2]", Values: []float64{math.NaN()}},
		{Name: "initial(x)", Values: []float64{math.NaN()}},
	} {
		_, err := m.Sensitivities(t.Context(), odes.Options{Set: []odes.Assignment{a}})
		for _, err := range []error{err, r.Set(a)} {
			if list := diag.Of(err); len(list) != 1 || list[0].Code != odes.CodeOverride ||
				list[0].Message != a.Name+" cannot be nan" {
				t.Errorf("%s: %v", a.Name, err)
			}
		}
	}
	top := odes.Assignment{Name: "top", Values: []float64{math.Inf(1)}}
	s, err := m.Sensitivities(t.Context(), odes.Options{Set: []odes.Assignment{top}})
	if err != nil || s.Values[0].Value == 0 {
		t.Error(err)
	}
}
