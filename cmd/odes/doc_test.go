package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes/help"
)

// TestDoc asks for everything there is help on.
func TestDoc(t *testing.T) {
	names := help.Names()
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

// TestManualTellsWhatIsMissing holds the sentence of docs/language.md about what
// this version does not have against the checker.
func TestManualTellsWhatIsMissing(t *testing.T) {
	const base = "time t from 0 to 1\nparam k = 1\nstate x = 1\nx' = -k*x\n"
	for name, text := range map[string]string{
		"equilibrate": "equilibrate { }",
		"control":     "control u = 0 piecewise constant on grid(0, 1, 3)",
		"alg":         "alg z = 1\n0 = z - x",
		"steady":      "objective J = steady(x)",
	} {
		path := filepath.Join(t.TempDir(), name+".ode")
		if err := os.WriteFile(path, []byte(base+text), 0o666); err != nil {
			t.Fatal(err)
		}
		if status, errs := command(t, "sens", path); status != exitModel || !strings.Contains(errs, "[not-available]") {
			t.Errorf("%s: the manual says that it is missing, but: status %d\n%s", name, status, errs)
		}
	}
}
