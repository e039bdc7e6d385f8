package trust_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
)

// TestPoles has runs that step across a pole at c. Where the independent run does not, nothing is right from c on.
func TestPoles(t *testing.T) {
	alone := 0
	for _, rate := range []string{"1/(t - c)", "1/(t - c)^3", "tan(1.570796326794896619*t/c)"} {
		for c := 1.2345; c < 1.7; c += 0.1 {
			text := fmt.Sprintf(`
time t from 0 to 2
param c = %v, a = 1.9
state y = 0
y' = %s
event e at a { y = 2*y }
objective J = final(y)`, c, rate)
			s, err := modeltest.Try(t, text, "sens.order", "2")
			if err != nil { // the run itself ends there
				continue
			}
			if s.Status != "partial" {
				t.Errorf("%s, c = %v: %s, %v ± %v", rate, c, s.Status, s.Values, s.Trusts)
			}
			if !slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool {
				return strings.HasPrefix(d.Message, "nothing confirms")
			}) {
				continue
			}
			alone++
			at := s.Variables[0].Offset
			if s.Values[0].Trust != odes.Lost || s.Trusts[at] != odes.Lost ||
				s.HessianTrusts[at*s.Columns+at] != odes.Lost || s.Events[0].Trust != odes.Lost {
				t.Errorf("%s, c = %v: %v, %v, %v", rate, c, s.Values, s.Trusts, s.HessianTrusts)
			}
			m, err := odes.Parse("pole.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for last, want := range map[float64]odes.Trust{1: odes.Loose, 2: odes.Lost} {
				s, err := m.Solve(context.Background(), odes.Options{Threads: 1, Times: []float64{0.5, last}})
				if err != nil {
					t.Fatal(err)
				}
				if s.Status != "partial" || s.Values[0].Trust != odes.Lost || s.Outputs[0].Trust != want {
					t.Errorf("%s, c = %v: a solution to %v that is %s", rate, c, last, s.Outputs[0].Trust)
				}
			}
		}
	}
	if alone < 2 {
		t.Errorf("%d runs step across a pole that the independent run does not pass", alone)
	}
}
