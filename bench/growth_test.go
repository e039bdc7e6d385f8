package main

import (
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestGrowths checks the models that grow, at their smallest, and that there is about as much of what grows as is asked
// for.
func TestGrowths(t *testing.T) {
	for _, g := range growths {
		n := g.sizes[0]
		m, err := odes.Parse(g.name, g.model(n), odes.ParseOptions{})
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Events: -1})
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		if g.name == "events" && (s.MoreEvents < n*95/100 || s.MoreEvents > n*105/100) {
			t.Errorf("%d events instead of %d", s.MoreEvents, n)
		}
		if s.Status != "ok" {
			t.Errorf("%s: status %s, %v", g.name, s.Status, s.Warnings)
		}
	}
}

// TestGrowthSection holds that docs/benchmarks.md has the section that is measured alone.
func TestGrowthSection(t *testing.T) {
	page, err := os.ReadFile("../docs/benchmarks.md")
	if err != nil || strings.Count(string(page), growthHeading) != 1 {
		t.Errorf("no section %q: %v", growthHeading, err)
	}
}
