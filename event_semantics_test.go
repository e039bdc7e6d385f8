package odes_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"odes.dev/odes"
)

// TestEventSemantics runs models of a few events each, as in test suites of other languages. Comments at their head
// say what comes out: `# n = 2`, worked out by hand.
func TestEventSemantics(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "events", "*.ode"))
	if err != nil || len(files) < 12 {
		t.Fatalf("found %d models: %v", len(files), err)
	}
	answer := regexp.MustCompile(`(?m)^# (\w+) = (\S+)$`)
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := odes.ParseFile(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		want := answer.FindAllStringSubmatch(string(text), -1)
		if len(want) != len(s.Values) {
			t.Errorf("%s: %d answers for %d objectives", path, len(want), len(s.Values))
		}
		for _, w := range want {
			x, err := strconv.ParseFloat(w[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, v := range s.Values {
				if v.Name == w[1] {
					found = true
					if !near(v.Value, x, 1e-9) {
						t.Errorf("%s: %s = %.12g, want %g", path, v.Name, v.Value, x)
					}
				}
			}
			if !found {
				t.Errorf("%s: no objective %s", path, w[1])
			}
		}
	}
}
