package hybrid_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// TestTimesThatNeverCome has explicit times of events that do not come: a warning where the run would be another one
// otherwise, a note where not.
func TestTimesThatNeverCome(t *testing.T) {
	const model = `
time t from 0 to 10
param lag = 1
state x = 0
discrete next = 5, wait = -1
x' = 1
objective J = final(x)
`
	for _, c := range []struct {
		events string
		level  diag.Level
		want   string // a part of the message; "" for none
	}{
		{
			"event e at next { x += 10 }\nevent f at 4 { next = 3 }", diag.Warning,
			"at t = 4, the body of f sets the time of e to 3",
		},
		{"event e at wait { x += 10 }\nevent f when x > 4 { wait = 1 }", diag.Warning, "sets the time of e to 1"},
		{"event e at next { x += 10 }\nevent f at 6 { next = 3 }", diag.Warning, "sets the time of e to 3"},
		{"event e at [next, 8] { next = lag }", diag.Warning, "the body of e sets the time of e to 1"},
		{"event e at next + k for k in 1:2 { x += 1 }", diag.Note, ""},
		{"event e at next { x += 10 }\nevent f at 4 { next = 4 }", diag.Note, ""},
		{"event e at next { x += 10 }\nevent f at 4 { next = 6 }", diag.Note, ""},
		{"event e at next { x += 10 }\nevent f at 4 { next = -7 }", diag.Note, ""},
		{"event e at next once { x += 10 }\nevent f at 6 { next = 3 }", diag.Note, ""},
		{"event e at wait { x += 10 }\nevent f when x > 4 { wait = 7 }", diag.Note, "e at t = -1 lies outside"},
		{"event e at lag - 2 { x += 10 }", diag.Warning, "e at t = -1 lies outside"},
		{"event e at lag + 20 { x += 10 }", diag.Note, "e at t = 21 lies outside"},
		{"event e at lag + 20 { x += 10 }\nobjective K = at_event(e, pre(x))", diag.Warning, "e at t = 21"},
		{"event e at 4 { stop }\nevent f at [5, 6] { x += 1 }", diag.Note, ""},
	} {
		m, err := odes.Parse("m.ode", model+c.events, odes.ParseOptions{})
		if err != nil {
			t.Fatal(c.events, err)
		}
		for _, mode := range []string{"adjoint", "tangent"} {
			s, err := m.Sensitivities(context.Background(), odes.Options{
				Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
			})
			if err != nil {
				t.Fatal(c.events, err)
			}
			var got []diag.Diagnostic
			for _, d := range s.Warnings {
				if d.Code == odes.CodeOutside {
					got = append(got, d)
				}
			}
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("%s: %s", c.events, got[0].Message)
			case c.want == "":
			case !slices.ContainsFunc(got, func(d diag.Diagnostic) bool {
				return d.Level == c.level && strings.Contains(d.Message, c.want)
			}):
				t.Errorf("%s: %+v, want %s: %s", c.events, got, c.level, c.want)
			}
		}
	}
}
