package main

import (
	"testing"
	"time"

	"odes.dev/odes"
)

func TestDescribe(t *testing.T) {
	at := odes.Progress{Phase: "forward", T: 2.5, Steps: 3000, Done: 0.25}
	for spent, want := range map[time.Duration]string{
		100 * time.Millisecond: "forward  25%, t = 2.5, 3000 steps",
		2 * time.Second:        "forward  25%, t = 2.5, 3000 steps, 1.5k/s, 6s left",
		time.Minute:            "forward  25%, t = 2.5, 3000 steps, 50/s, 3m0s left",
	} {
		if got := describe(at, spent); got != want {
			t.Errorf("after %v: %q, want %q", spent, got, want)
		}
	}
	at = odes.Progress{Phase: "experiments", Steps: 3000, Done: 0.25}
	if got, want := describe(at, 2*time.Second), "experiments  25%, 3000 steps, 1.5k/s, 6s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	at = odes.Progress{Phase: odes.PhaseRuns, Steps: 25, Done: 0.25}
	if got, want := describe(at, 2*time.Second), "runs  25%, 25 done, 6s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	at = odes.Progress{Phase: "adjoint", T: 7.5, Steps: 25_000_000, Done: 0.001}
	for spent, want := range map[time.Duration]string{
		time.Second:      "adjoint   0%, t = 7.5, 25000000 steps, 25M/s",
		10 * time.Second: "adjoint   0%, t = 7.5, 25000000 steps, 2.5M/s, 2h47m left",
		time.Hour:        "adjoint   0%, t = 7.5, 25000000 steps, 6.94k/s, days left",
	} {
		if got := describe(at, spent); got != want {
			t.Errorf("after %v: %q, want %q", spent, got, want)
		}
	}
}
