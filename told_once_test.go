package odes_test

import (
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// TestToldOnce has what both compilation and a run see: it is told once. A note on stiffness does not come where a run
// is short.
func TestToldOnce(t *testing.T) {
	m, err := odes.Parse("m.ode", "time t from 0 to 100\nparam q = 1, a = 20 in [0.01, 10] ~ lognormal(0, 1)\n"+
		"state x = 1\nx' = -x\nevent d at -1 { x += 1 }\nevent f at 700 { x += 1 }\nobjective J = final(x)\n"+
		"objective P = log_prior()", odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		number int
		about  diag.Code
	}
	one := map[diag.Code]diag.Code{"event-never-fires": "time", "time-outside": "time"}
	seen := map[line]int{}
	for _, d := range append(m.Warnings(), s.Warnings...) {
		about := d.Code
		if x, ok := one[about]; ok {
			about = x
		}
		l := line{d.Span.Begin().Line, about}
		if seen[l]++; seen[l] > 1 && d.Code != odes.CodeTrust {
			t.Errorf("told again: %s", d.Message)
		}
		if d.Code == odes.CodeStiff {
			t.Errorf("%d steps: %s", s.Stats.Steps, d.Message)
		}
	}
	for _, l := range []line{{5, "time"}, {6, "time"}, {2, odes.CodeNoInfluence}, {2, odes.CodeBounds}} {
		if seen[l] != 1 {
			t.Errorf("%v is told %d times", l, seen[l])
		}
	}
	want := `the value is infinite: the value 20 of "a" is outside its bounds, so that its prior is 0`
	if got := s.Values[1].Warnings; len(got) != 1 || got[0] != want {
		t.Errorf("P: %q", got)
	}
}
