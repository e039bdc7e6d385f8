package trust_test

import (
	"slices"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
)

// TestHiddenEvents has a condition of states that swings fast beside its threshold, so that roots cannot be ruled out
// with the evaluations that a run has for that. A warning says so, and numbers are marked. It has none where the
// search ends.
func TestHiddenEvents(t *testing.T) {
	for _, c := range []struct {
		condition, rate string
		hidden          bool
	}{
		{"sin(x)^2 + cos(x)^2 + 0.001*exp(-((x - 70000.5)/2)^2) > 1.0001", "1000000", true},
		{"sin(x)^2 + cos(x)^2 + 0.001*exp(-((x - 70000.5)/2)^2) > 1.0001 and y < 5", "1000000", true},
		{"sin(x) > 1.0001", "10", false},
		{"x^2 + y^2 < -1e-3", "1000000", false},
		{"exp(-x) - exp(-2*x) > 0.2500001", "0.5", false},
		{"sin(x) > 1.0001", "1000000", false},
	} {
		s := modeltest.Run(t,
			"time t from 0 to 100\nstate x = 0, y = 0\ndiscrete n = 0\nx' = "+c.rate+"\ny' = 0.1*cos(y)\n"+
				"event e when "+c.condition+" { n += 1 }\nobjective N = final(n)\nobjective J = final(y)")
		said := slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool { return d.Code == odes.CodeHidden })
		if said != c.hidden {
			t.Errorf("%s: warned: %v, want %v", c.condition, said, c.hidden)
		}
		if marked := s.Values[0].Trust != odes.Sound; marked != c.hidden {
			t.Errorf("%s: N is %v", c.condition, s.Values[0].Trust)
		}
	}
}
