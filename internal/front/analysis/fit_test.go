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

// TestLowest: of several searches at one value of a profile, the best counts.
func TestLowest(t *testing.T) {
	list := lowest([]fit.ProfilePoint{
		{Value: 1, Rise: 3}, {Value: 1, Rise: 2}, {Value: 1 + 1e-12, Rise: 4}, {Value: 2},
	})
	if len(list) != 2 || list[0].Rise != 2 || list[1].Value != 2 {
		t.Errorf("%v", list)
	}
}
