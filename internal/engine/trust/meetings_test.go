package trust_test

import (
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestModesThatEventsPrevent has a mode that is about to change when an event lifts its state again. By what moves one
// of the two to the other side of the other, the mode changes for a while.
func TestModesThatEventsPrevent(t *testing.T) {
	const text = `
time t from 0 to 1
param T1 = 0.5, c = 0.5, b = 2
state y = 1
y' = -y
event dose at T1 { y += 3 }
objective J = integral(if y < c then b else 1)`
	for _, z := range []struct {
		c    string
		want odes.Trust
	}{{"0.6065306597126334", odes.Loose}, {"0.606", odes.Sound}} {
		s := modeltest.Run(t, strings.Replace(text, "c = 0.5", "c = "+z.c, 1))
		for _, v := range s.Variables {
			if got := modeltest.Grade(s, 0, v); (v.Name == "T1" || v.Name == "c") && got != z.want {
				t.Errorf("c = %s: derivative by %s is %v, not %v", z.c, v.Name, got, z.want)
			}
		}
	}
}
