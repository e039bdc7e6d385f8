package run_test

import (
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// TestUnread: notes say which parts of a model its derivatives leave out: blocks that all have names, where none is
// asked for, and experiments that no objective reads.
//
//odes:goroutines
func TestUnread(t *testing.T) {
	const (
		base = "model M\ntime t from 0 to 2\nparam k = 1, sd = 0.1\nstate x = 1\nx' = -k*x\n" +
			"data D { time = [1, 2]  c = [0.4, 0.1] }\nobserve y = x ~ normal(sd) from D.c\n" +
			"experiment a { use D }\nexperiment b { k = 2*k  use D }\nobjective J = final(x)\n"
		likelihood = "objective L = nll()\n"
		named      = "solver tight { rtol = 1e-12 }\nsolver loose { rtol = 1e-3 }\nsens one { of = [J] }\n"

		noSolver = "no solver block holds: each has a name (tight, loose)"
		noSens   = "no sens block holds: each has a name (one)"
		noRuns   = "nothing here is of the experiments (a, b)"
	)
	for _, c := range []struct {
		text string
		opts odes.Options
		want []string
	}{
		{base, odes.Options{}, []string{noRuns}},
		{base + likelihood, odes.Options{}, nil},
		{base + likelihood, odes.Options{Of: []string{"J"}}, []string{noRuns}},
		{base + likelihood + named, odes.Options{}, []string{noSolver, noSens}},
		{base + likelihood + named, odes.Options{Solver: "tight"}, []string{noSens}},
		{base + likelihood + named, odes.Options{Solver: "loose", Sens: "one"}, []string{noRuns}},
		{base + likelihood + named + "solver { rtol = 1e-8 }\nsens { of = [L] }\n", odes.Options{}, nil},
	} {
		m, err := odes.Parse("m.ode", c.text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), c.opts)
		if err != nil {
			t.Fatal(err)
		}
		run, err := m.Solve(t.Context(), c.opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, say := range []string{noSolver, noSens, noRuns} {
			count := func(list []diag.Diagnostic) (n int) {
				for _, d := range list {
					if d.Level == diag.Note && strings.HasPrefix(d.Message, say) {
						n++
					}
				}
				return n
			}
			want := 0
			if slices.Contains(c.want, say) {
				want = 1
			}
			if got, left := count(s.Warnings), count(m.LeftOut(c.opts)); got != want || left != want {
				t.Errorf("%q is said %d times by derivatives, %d by LeftOut, not %d: %+v of\n%s", say, got, left, want,
					c.opts, c.text)
			}
			if say != noSolver {
				want = 0 // a run has neither derivatives nor objectives
			}
			if got := count(run.Warnings); got != want {
				t.Errorf("%q is said %d times by a run, not %d: %+v of\n%s", say, got, want, c.opts, c.text)
			}
		}
	}
}

// TestUnchosenFit: where a fit has nothing to search for, an error is joined by the note that its blocks have names.
func TestUnchosenFit(t *testing.T) {
	m, err := odes.Parse("m.ode", "model M\ntime t from 0 to 1\nparam k = 1\nstate x = 1\nx' = -k*x\n"+
		"objective J = final(x)\nfit f { over = [k] }\nensemble e { k ~ uniform(0, 1) }\n", odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.FitSettings(odes.Options{})
	if list := diag.Of(err); len(list) != 2 || list[1].Code != odes.CodeUnchosen {
		t.Errorf("%v", err)
	}
	if _, err := m.FitSettings(odes.Options{Fit: "f"}); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]int{"": 1, "e": 0} {
		if e, err := m.Members(name, nil); err != nil || len(e.Notes) != want {
			t.Errorf("block %q: %v %v", name, e.Notes, err)
		}
	}
}
