package main

import (
	"math"
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestPaperTables: the documents have the tables, with a row for each tolerance or size.
func TestPaperTables(t *testing.T) {
	rows := map[string]int{"glv times": len(paperTols), "products": len(productSizes) + 1}
	for _, p := range paperTables {
		text, err := os.ReadFile("../" + p.path)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "<!-- "+p.name+" -->\n")
		table, _, found := strings.Cut(rest, "<!-- end "+p.name+" -->\n")
		if got := strings.Count(table, "\n") - 2; !found || got != rows[p.name] {
			t.Errorf("%s: the table %q has %d rows, want %d", p.path, p.name, got, rows[p.name])
		}
	}
}

// solved returns the derivatives of a problem, with one param set.
func solved(t *testing.T, name string, n int, set ...odes.Assignment) *odes.Sensitivities {
	t.Helper()
	p, opts, err := named(name, n, 1e-7)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.parse(name)
	if err != nil {
		t.Fatal(err)
	}
	opts.Set = append(opts.Set, set...)
	s, err := m.Sensitivities(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPaperProblems: draws differ by seed, and the product of the Hessian is what differences of gradients say.
func TestPaperProblems(t *testing.T) {
	var seen []float64
	for _, name := range []string{"glv-paper1", "glv-paper2", "glv-paper3"} {
		x := norm(solved(t, name, 10))
		for _, old := range seen {
			if math.Abs(x-old) < 1e-3 {
				t.Errorf("%s: the norm %g once more", name, x)
			}
		}
		seen = append(seen, x)
	}
	const n = 20
	gradient := func(eps float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = 1./n + eps/float64(i+1)
		}
		return solved(t, "controlled", n, odes.Assignment{Name: "p", Values: values}).Gradient
	}
	up, down := gradient(1e-4), gradient(-1e-4)
	for i, x := range solved(t, "controlled-product", n).Products {
		if want := (up[i] - down[i]) / 2e-4; math.Abs(x-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("product %d is %g, by differences %g", i, x, want)
		}
	}
}

func TestFittedSlope(t *testing.T) {
	if got := fittedSlope([]float64{1, 2, 4, 8}, []float64{3, 24, 192, 1536}); math.Abs(got-3) > 1e-12 {
		t.Errorf("%g, not 3", got)
	}
}
