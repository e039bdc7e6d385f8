package analysis

import (
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestSteadyWork: what was saved is said where it was counted; periodic steady states take no steps of runs.
func TestSteadyWork(t *testing.T) {
	periods := fit.SteadyWork{SteadyWork: odes.SteadyWork{Searches: 9, Periods: 40, Warm: 7}, Confirmed: 1}
	if got := steadyWork(periods); !strings.Contains(got, "7 began") || strings.Contains(got, "saved") {
		t.Error(got)
	}
	steps := fit.SteadyWork{SteadyWork: odes.SteadyWork{Searches: 9, Steps: 40, Warm: 7, Saved: 1}}
	if got := steadyWork(steps); !strings.Contains(got, ", which saved about 1 step;") {
		t.Error(got)
	}
}
