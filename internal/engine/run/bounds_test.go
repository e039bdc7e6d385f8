package run_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// TestPriorOutsideBounds sets params outside of the bounds that truncate their priors, and outside of the domain of
// distributions on a logarithmic scale. There is no density there, and the result says so.
func TestPriorOutsideBounds(t *testing.T) {
	for _, c := range []struct {
		param  string
		value  float64
		inside bool
	}{
		{"param a = 20 in [0.01, 10] ~ lognormal(0, 1)", 20, false},
		{"param a = 1 in [0.01, 10] ~ lognormal(0, 1)", 10, true},
		{"param a = 1 in [0.01, 10] ~ lognormal(0, 1)", 0.01, true},
		{"param a = 1 in [0.01, 10] ~ lognormal(0, 1)", 10.001, false},
		{"param a = 1 in [0, 10] ~ normal(0, 1)", -1e-300, false},
		{"param a = 1 in [0, 10] ~ normal(0, 1)", 0, true},
		{"param a = 1 in [-inf, 10] ~ student(3, 0, 1)", -1e9, true},
		{"param a = 1 in [0.5, inf] ~ laplace(0, 1)", 0.1, false},
		{"param a[3] = [1, 1, 11] in [0, 10] ~ normal(0, 1)", math.NaN(), false},
		{"param a[3] = [1, 1, 9] in [0, 10] ~ normal(0, 1)", math.NaN(), true},
		{"param a = 1 ~ lognormal(0, 1)", -2, false},
		{"param a = 1 ~ loglaplace(0, 1)", 0, false},
		{"param a = 1 [h] in [60 [min] as [h], 3] ~ normal(1, 1)", 0.5, false},
		{"param a = 1 [h] in [60 [min] as [h], 3] ~ normal(1, 1)", 3, true},
	} {
		m, err := odes.Parse("m.ode", "time t from 0 to 1\n"+c.param+"\nstate x = 1\nx' = -x\n"+
			"objective J = log_prior()\nobjective F = final(x)", odes.ParseOptions{})
		if err != nil {
			t.Fatal(c.param, err)
		}
		var set []odes.Assignment
		if !math.IsNaN(c.value) {
			set = append(set, odes.Assignment{Name: "a", Values: []float64{c.value}})
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{Set: set})
		if err != nil {
			t.Fatal(c.param, err)
		}
		if got := s.Values[0].Value; c.inside != (got-got == 0) || !c.inside && !math.IsInf(got, -1) {
			t.Errorf("%s, a = %v: log_prior() = %v", c.param, c.value, got)
		}
		if (s.Status == "ok") != c.inside {
			t.Errorf("%s, a = %v: status %q", c.param, c.value, s.Status)
		}
	}
}

// TestValuesOutsideBounds gives params values that are, or are not, within their bounds: from outside, by a default in
// terms of others, and in an experiment.
//
//odes:goroutines
func TestValuesOutsideBounds(t *testing.T) {
	const model = `
time t from 0 to 1
param a = 1 in [0.01, 10]
param b = 2*a in [0, 8]
param c[2] = 1 in [0, 2]
state x = 0
x' = a + b + sum(c)
data D { time = [0.5]  v = [0.1] }
observe o = x ~ normal(0.1) from D.v
experiment one { use D }
experiment two { b = a/2 use D }
objective J = nll()
`
	m, err := odes.Parse("m.ode", model, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(odes.Options{Set: []odes.Assignment{{Name: "c", Values: []float64{1}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		value float64
		want  []string
	}{
		{"a", 10, []string{`20 of "b"`}},
		{"a", 4, nil},
		{"a", 11, []string{`11 of "a"`, `22 of "b"`}},
		{"a", 0.01, nil},
		{"c[2]", 2.5, []string{`2.5 of "c"`}},
		{"c[2]", 2, nil},
	} {
		set := odes.Assignment{Name: c.name, Values: []float64{c.value}}
		if err := r.Set(set); err != nil {
			t.Fatal(err)
		}
		s, err := r.Sensitivities(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		wantBounds(t, "Sensitivities", s.Warnings, c.want)
		v, err := m.Solve(context.Background(), odes.Options{Set: []odes.Assignment{set}})
		if err != nil {
			t.Fatal(err)
		}
		wantBounds(t, "Solve", v.Warnings, c.want)
	}
}

// wantBounds compares the warnings of values outside of bounds with parts of their texts.
func wantBounds(t *testing.T, what string, got []diag.Diagnostic, want []string) {
	t.Helper()
	var list []string
	for _, d := range got {
		if d.Code == odes.CodeBounds && d.Level == diag.Warning {
			list = append(list, d.Message)
		}
	}
	if !slices.EqualFunc(list, want, strings.Contains) {
		t.Errorf("%s: the warnings are %q, want %q", what, list, want)
	}
}

// TestMembersOutsideBounds counts members that are outside of bounds: by what they set, by defaults in terms of it, by
// single elements, and by what all of them have; with one warning for each param.
func TestMembersOutsideBounds(t *testing.T) {
	const model = `
time t from 0 to 1
param a = 1 in [0.01, 10], b = 1
param c[2] = 1 in [0, 2]
state x = 0
x' = a + b + sum(c)
`
	const following = model + "param d = 2*b in [0, 8]\n"
	for _, c := range []struct {
		model string
		set   string // a
		name  string
		want  []string
	}{
		{model, "", "a", []string{`"a" is outside its bounds [0.01, 10] in 10 of 20 members, as with 11`}},
		{model, "", "b", nil},
		{model, "20", "b", []string{`"a" is outside its bounds [0.01, 10] in 20 of 20 members, as with 20`}},
		{model, "20", "a", []string{`"a" is outside its bounds [0.01, 10] in 10 of 20 members, as with 11`}},
		{model, "", "c", []string{`"c" is outside its bounds [0, 2] in 18 of 20 members, as with 3`}},
		{model, "", "c[2]", []string{`"c" is outside its bounds [0, 2] in 18 of 20 members, as with 3`}},
		{model, "", "initial(x)", nil},
		{following, "", "b", []string{`"d" is outside its bounds [0, 8] in 16 of 20 members, as with 10`}},
		{following, "", "d", []string{`"d" is outside its bounds [0, 8] in 12 of 20 members, as with 9`}},
	} {
		m, err := odes.Parse("m.ode", c.model, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var set []odes.Assignment
		if c.set != "" {
			set = append(set, odes.Assignment{Name: "a", Values: []float64{20}})
		}
		got := m.Outside(set, 20, func(i int) []odes.Assignment {
			return []odes.Assignment{{Name: c.name, Values: []float64{float64(i + 1)}}}
		})
		wantBounds(t, c.name, got, c.want)
	}
}
