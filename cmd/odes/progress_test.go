package main

import (
	"strings"
	"testing"
	"time"

	"odes.dev/odes"
)

// TestGoesOn says how long the work has gone on where nothing is reported: a second after the beginning, and two
// seconds after each line.
func TestGoesOn(t *testing.T) {
	var shown strings.Builder
	start := time.Now()
	p := &progress{c: &call{err: &shown}, start: start, line: "compiling"}
	see := func(after time.Duration, want string) {
		t.Helper()
		if p.goesOn(start.Add(after)); shown.String() != want {
			t.Errorf("after %v: %q, want %q", after, shown.String(), want)
		}
		shown.Reset()
	}
	see(900*time.Millisecond, "")
	see(1100*time.Millisecond, "\r\x1b[0Kcompiling (1s)")
	see(2900*time.Millisecond, "")
	see(3200*time.Millisecond, "\r\x1b[0Kcompiling (3s)")
	p.update(odes.Progress{Phase: "forward", Done: 0.5, T: 2, Steps: 7})
	shown.Reset()
	see(9*time.Second, "\r\x1b[0Kforward  50%, t = 2, 7 steps (9s)")
	p.clear()
	shown.Reset()
	see(20*time.Second, "")
}

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
