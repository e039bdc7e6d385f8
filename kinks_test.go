package odes_test

import (
	"slices"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// TestKinksOfTheClock reads tables at their knots. Rates that are at one for a moment have a derivative all the same;
// readings of objectives have none if the knot, or the reading, is at a time that a param moves.
func TestKinksOfTheClock(t *testing.T) {
	const head = `
data F { time = [0, 1, 2, 4]  u = [0.5, 1, 0.5, 2] }
param k = 0.5, tau = 1
state c = 1
c' = interp(F.time, F.u, t) - k*c
objective L = final(c)
`
	for text, want := range map[string]bool{
		"time t from 0 to 4\nevent at 1 { c += 1 }":                                 false,
		"time t from 0 to 4\nevent at [1, 2] { c += 1 }":                            false,
		"time t from 0 to 4\nevent every 1 from 1 { c += 1 }":                       false,
		"time t from 0 to 4\nevent at tau { c += 1 }":                               false,
		"time t from 0 to 4\nevent every tau count 2 { c += 1 }":                    false,
		"param t0 = 0\ntime t from t0 to 4\nstate y = t0\ny' = c":                   false,
		"time t from 0 to 4\nobjective K = sum_at([tau], c*interp(F.time, F.u, t))": true,
		"time t from 0 to 4\nstate y = 0\ny' = abs(sin(tau*t))":                     false,
		"time t from 0 to 4\nstate y = 0\ny' = abs(y)":                              true,
		"time t from 0 to 4\nstate y = 0\ny' = interp(F.time, F.u, t - y)":          false,
		"time t from 0 to 4\nstate y = 0, z = 0\ny' = 1\nz' = max(y, 0)":            false,
		"time t from 0 to 4\nstate y = 0, z = 0\ny' = -z\nz' = max(y, 0)":           true,
	} {
		m, err := odes.Parse("m.ode", text+head, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool {
			return d.Code == odes.CodeKink
		}); got != want {
			t.Errorf("%s: warned %v, want %v: %v", text, got, want, s.Warnings)
		}
	}
}
