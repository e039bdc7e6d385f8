package main

import (
	"bytes"
	"strings"
	"testing"

	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/plot"
)

// TestDoc asks for everything there is help on.
func TestDoc(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	names := subjectNames()
	if len(names) < 150 {
		t.Fatalf("there is help on %d names only", len(names))
	}
	for _, name := range names {
		var out, errs bytes.Buffer
		status := run(t.Context(), []string{"doc", "--", name}, strings.NewReader(""), &out, &errs)
		if status != exitDone || out.Len() == 0 {
			t.Errorf("odes doc %s: status %d: %s", name, status, &errs)
		}
	}
}

// TestDocFormats asks for every format of results and pictures, which stand in the list of all names as well.
func TestDocFormats(t *testing.T) {
	explain := func(args ...string) string {
		var out, errs bytes.Buffer
		if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != exitDone {
			t.Errorf("%q: status %d: %s", args, status, &errs)
		}
		return out.String()
	}
	all := explain("doc")
	for _, name := range append(report.Names(report.Formats()), plot.Formats()...) {
		if text := explain("doc", name); !strings.Contains(text, "A format ") || !strings.Contains(text, "."+name) {
			t.Errorf("odes doc %s says\n%s", name, text)
		}
		if !strings.Contains(all, " "+name) {
			t.Errorf("odes doc does not list %s", name)
		}
	}
}
