package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/memory"
)

// TestExhausted ends a command that takes its memory in small pieces, with the status of a run that failed.
func TestExhausted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow.ode")
	if err := os.WriteFile(path, []byte(slow), 0o666); err != nil {
		t.Fatal(err)
	}
	defer memory.Force(1 << 20)() // less than the test has
	var out, errs bytes.Buffer
	got := run(t.Context(), []string{"sens", path}, strings.NewReader(""), &out, &errs)
	if got != exitRun || out.Len() > 0 || !strings.Contains(errs.String(), "of memory that odes may use") {
		t.Errorf("exit status %d, %q, %q", got, &out, &errs)
	}
}
