package run_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestSharedThreshold has an event by a crossing and an integral with a condition of the same threshold, where the root
// lies exactly on it: the condition, which is strict, changes once with the event, and nothing is in doubt.
func TestSharedThreshold(t *testing.T) {
	s := modeltest.RunTimes(t, `
time t from 0 to 6
param w = 1.3, th = 0.5
state x = 0, y = 1
discrete n = 0
x' = y*w
y' = -x*w
event up when x crosses th up { n += 1 }
objective n_end = final(n)
objective above = integral(if x > th then 1 else 0)
solver { rtol = 1e-9 }
`)
	if len(s.Events) != 5 || len(s.Warnings) > 0 {
		t.Errorf("%d events, want 5: %v; %v", len(s.Events), s.Events, s.Warnings)
	}
	d, trust := modeltest.By(t, s, 1, "th")
	if want := -3 / (1.3 * math.Sqrt(0.75)); trust != odes.Sound || math.Abs(d[0]-want) > 1e-6 {
		t.Errorf("%v (%s), want %v", d, trust, want)
	}
}
