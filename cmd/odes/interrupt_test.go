package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// slow is a model with more steps than anybody waits for.
const slow = `
time t from 0 to 1e9
param w = 1
state x = 1, v = 0
x' = v
v' = -w^2*x
objective J = final(x)
solver { rtol = 1e-10  atol = 1e-12  max_steps = 1000000000 }
`

//odes:goroutines
func TestInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow.ode")
	if err := os.WriteFile(path, []byte(slow), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"sens", "run"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var out, errs bytes.Buffer
		status := make(chan int, 1)
		go func() { status <- run(ctx, []string{command, path}, strings.NewReader(""), &out, &errs) }()
		time.Sleep(200 * time.Millisecond)
		cancel()
		select {
		case got := <-status:
			if got != exitInterrupted {
				t.Errorf("%s: exit status %d, want %d: %s", command, got, exitInterrupted, &errs)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s does not stop", command)
		}
		if out.Len() > 0 || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("%s wrote %q and %q", command, &out, &errs)
		}
	}
}

// TestPanicsAreMessages makes sure that a mistake of ours reaches users as a
// sentence, not as a stack.
func TestPanicsAreMessages(t *testing.T) {
	c := &call{ctx: t.Context()}
	err := c.work(func() error { panic("index out of range") })
	const start = "internal error: index out of range"
	if err == nil || !strings.HasPrefix(err.Error(), start) || strings.Contains(err.Error(), "goroutine") {
		t.Errorf("got %v", err)
	}
}
