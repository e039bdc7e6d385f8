package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestFamilyProblems compiles the models of which families of methods are compared.
func TestFamilyProblems(t *testing.T) {
	t.Chdir("..")
	list := familyProblems()
	if len(list) < 8 {
		t.Fatalf("%d problems", len(list))
	}
	for _, p := range list {
		if p.species > 100 {
			continue
		}
		if _, params, err := p.sizes(); err != nil || params == 0 {
			t.Errorf("%s: %d params, %v", p.name, params, err)
		}
		if same, err := stiffNamed(p.name); err != nil || same.title != p.title {
			t.Errorf("%s is not found by its name: %v", p.name, err)
		}
	}
}

// TestFamilyTable shows which of two made-up methods wins where.
func TestFamilyTable(t *testing.T) {
	d := &stiffDiagram{problem: mildProblems()[0]}
	d.curves = []*curve{
		{name: "dopri5", points: []point{{Error: 1e-4, Seconds: 1}, {Error: 1e-8, Seconds: 5}}},
		{name: "rodas5p", points: []point{{Error: 1e-6, Seconds: 2}}},
	}
	var b bytes.Buffer
	familyTable(&b, []*stiffDiagram{d})
	for _, want := range []string{
		"| 1e-03 | 1000 | `dopri5` | **1** | 2 | – | – | – |", "| 1e-05 | 1495 | `dopri5` | **1** | 1.3 |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestMultistep compares made-up curves of a large model, of which one is a multistep method.
func TestMultistep(t *testing.T) {
	p, err := stiffNamed("brusselator200")
	if err != nil {
		t.Fatal(err)
	}
	d := &stiffDiagram{problem: p, states: 400}
	own := &curve{name: "odes, auto", ours: true, auto: true}
	own.points = []point{{Error: 1e-7, Seconds: 1, Tol: 1e-6, Steps: 7}}
	other := &curve{name: bdf, points: []point{{Error: 1e-7, Seconds: 3, Tol: 1e-6, Steps: 9}}}
	d.curves = []*curve{own, other}
	page := func() string {
		var b bytes.Buffer
		multistep(&b, []*stiffDiagram{d})
		return b.String()
	}
	for _, want := range []string{
		"| 400 | 1e-04 | 1000 | 3000 | 3 | 7, 1e-07 | 9, 1e-07 |", "at least 3 times as long",
	} {
		if !strings.Contains(page(), want) {
			t.Errorf("no %q in\n%s", want, page())
		}
	}
	other.points[0].Seconds = 0.5
	if want := "took less time in 2 of 2 rows"; !strings.Contains(page(), want) {
		t.Errorf("no %q in\n%s", want, page())
	}
	if d.states = large - 1; page() != "" {
		t.Error("a small model counts")
	}
}
