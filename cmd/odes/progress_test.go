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
		2 * time.Second:        "forward  25%, t = 2.5, 3000 steps, 1.5e+03/s, 6s left",
		time.Minute:            "forward  25%, t = 2.5, 3000 steps, 50/s, 3m0s left",
	} {
		if got := describe(at, spent); got != want {
			t.Errorf("after %v: %q, want %q", spent, got, want)
		}
	}
}
