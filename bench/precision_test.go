package main

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestVerdict compares curves whose points are made up.
func TestVerdict(t *testing.T) {
	fast := &curve{
		name: "odes, auto", ours: true, auto: true,
		points: []point{{Error: 1e-4, Seconds: 1}, {Error: 1e-8, Seconds: 3}},
	}
	slow := &curve{name: "odes, dopri5", ours: true, points: []point{
		{Error: 1e-4, Seconds: 2},
		{Error: 1e-9, Seconds: 8},
	}}
	other := &curve{name: "rival", points: []point{
		{Error: 1e-3, Seconds: 4},
		{Error: 2e-8, Seconds: 6},
		{Error: 5e-9, Seconds: 7},
	}}
	d := &diagram{curves: []*curve{fast, slow, other}}
	least, at, by := d.verdict()
	if least != 7.0/8 || at.Error != 5e-9 || by != "rival" {
		t.Errorf("least ratio %v at %v by %s, want 7/8 at 5e-9 by rival", least, at.Error, by)
	}
	if s, c := fastest(d.curves, 1e-9, ours); s != 8 || c != slow {
		t.Errorf("fastest within 1e-9: %v, %v", s, c)
	}
	if _, c := fastest(d.curves, 1e-9, theirs); c != nil {
		t.Errorf("%s is not within 1e-9", c.name)
	}
	other.points = append(other.points, point{Error: 1e-12, Seconds: 9}) // none of ours is so accurate
	if least, _, _ := d.verdict(); least != 0 {
		t.Errorf("least ratio %v where none of ours is as accurate, want 0", least)
	}
	if got := d.over(theirs, ours); got != 2 {
		t.Errorf("median %v, want 2", got)
	}
}

// TestDistance measures gradients of known accuracy.
func TestDistance(t *testing.T) {
	p, opts, err := named("lv", 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.parse("lv")
	if err != nil {
		t.Fatal(err)
	}
	run := func(settings []odes.Setting) *odes.Sensitivities {
		opts.Settings = settings
		s, err := m.Sensitivities(context.Background(), opts)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ref := run(tight)
	if e := distance(ref, ref); e != 0 {
		t.Errorf("differs from itself by %g", e)
	}
	last := 1.0
	for _, tol := range []string{"1e-3", "1e-6", "1e-9", "1e-12"} {
		e := distance(run([]odes.Setting{{Key: "solver.rtol", Value: tol}, {Key: "solver.atol", Value: tol}}), ref)
		if !(e < last/10) {
			t.Errorf("differs by %g at %s, by %g before", e, tol, last)
		}
		last = e
	}
}

// TestPrecisionFiles writes figures and numbers of a diagram.
func TestPrecisionFiles(t *testing.T) {
	d := &diagram{problem: "lv", n: 2, title: "title", name: "small", curves: []*curve{
		{name: "odes, auto", ours: true, auto: true, points: []point{
			{Error: 1e-4, Seconds: 1},
			{Error: 1e-8, Seconds: 3},
		}},
		{name: "odes, tangent", ours: true, way: true, columns: 4, points: []point{{Error: 1e-4, Seconds: 2}}},
		{name: "rival", points: []point{{Error: 1e-3, Seconds: 4}}},
	}}
	rows, err := csv.NewReader(strings.NewReader(string(precisionTable([]*diagram{d})))).ReadAll()
	if err != nil || len(rows) != 5 || len(rows[0]) != len(rows[4]) {
		t.Errorf("%v: %v", rows, err)
	}
	folder := t.TempDir()
	if err := d.draw(folder); err != nil {
		t.Fatal(err)
	}
	for kind, curves := range d.figures() {
		text, err := os.ReadFile(filepath.Join(folder, d.figureName(kind)))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range curves {
			if name := strings.TrimPrefix(c.name, "odes, "); name != "auto" && !strings.Contains(string(text), name) {
				t.Errorf("%s is not in the figure of %s", name, kind)
			}
		}
	}
	page := string((&runner{rounds: 1}).precisionPage([]*diagram{d}, "0"))
	for _, want := range []string{
		"precision_small_programs.svg", "**1000**", "tangent *",
		"smallest ratio of times is 4.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
