package explain_test

import (
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestLacking: of a firing that does not come about the message tells how often the event fired.
func TestLacking(t *testing.T) {
	m, err := odes.Parse("lacking.ode", `time t from 0 to 5
param h = 2
state x = h, v = 0
x' = v
v' = -9*x
event never when x <= -5 { }
event down when x crosses 0 down { }
event level when x >= k + 0.5 for k in 1:2 { }
objective a = event_time(never, 1)
objective b = at_event(down, pre(v), nth = 7)
objective c = 1 + event_time(level[2], 1)
objective d = event_time(down, 2)
objective e = sum_at([0.5, 70], v)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`"event_time(never, 1)" did not come about: never did not fire in this run`,
		`"at_event(down, pre(v), nth = 7)" did not come about: down fired 3 times in this run`,
		`"event_time(level[2], 1)" did not come about: this element of level did not fire in this run`,
		"",
		"t = 70 lies outside of the run, from 0 to 5",
	} {
		if got := strings.Join(s.Values[i].Warnings, ""); strings.TrimPrefix(got, "no value: ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
