package run_test

import (
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/result"
)

// TestBothSides has derivatives that are suspect for what comes at one time or rests at a kink. Those that are the same
// on both sides have no mark, by runs on either side; the others have one.
func TestBothSides(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		sound map[string]bool // by variable
	}{
		// The kink is moved by c, and what it makes of c is smooth: c·|c|.
		"smooth at a kink": {
			"time t from 0 to 1\nparam c = 0, k = 1\nstate x = 1\nx' = -k*x + c*abs(c)\nobjective J = final(x)",
			map[string]bool{"c": true, "k": true},
		},
		"a kink": {
			"time t from 0 to 1\nparam c = 0, k = 1\nstate x = 1\nx' = -k*x + abs(c)\nobjective J = final(x)",
			map[string]bool{"c": false, "k": true},
		},
		// Slopes beside go to that at the kink as a root of the distance does; a little of a slope of its own shows.
		"a power at a kink": {
			"time t from 0 to 1\nparam c = 0, d = 0, e = 0, k = 1\nstate x = 1\nx' = -k*x\n" +
				"objective J = final(x)*(abs(c)^1.5 + d + max(d, 0)^1.2 + abs(e)^1.5 + 1e-5*abs(e))",
			map[string]bool{"c": true, "d": true, "e": false, "k": true},
		},
		// Both events come at the root of one condition, which the body of g moves off it: e comes with g all the same.
		"one condition": {
			"time t from 0 to 3\nparam a = 0, k = 0.5\nstate y = 1\nalg z = 1\n0 = z + z^3 - y - 1\ny' = -k*z\n" +
				"event e when y < 0.5 { y += 1 }\nevent g when y < 0.5 priority 2 { y *= 1 + a }\n" +
				"objective J = final(y)",
			map[string]bool{"a": true, "k": true},
		},
	} {
		m, err := odes.Parse(name+".ode", c.text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range s.Variables {
			want, listed := c.sound[v.Name]
			if got := s.Trusts == nil || s.Trusts[v.Offset] == result.Sound; listed && got != want {
				t.Errorf("%s: the derivative by %s is sound: %v, want %v", name, v.Name, got, want)
			}
		}
	}
}
