package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
)

var update = flag.Bool("update", false, "rewrite the files of the example network")

// TestStiffNetwork compares the files of the example network with what the rule draws.
func TestStiffNetwork(t *testing.T) {
	files := newStiffNetwork(100, 300, 1).files()
	files["network20.ode"] = newStiffNetwork(20, 60, 1).text()
	for name, text := range files {
		path := filepath.Join("..", "examples", "network", name)
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// the formatter lines up what the rule wrote
		if a, b := strings.Join(strings.Fields(string(got)), ""), strings.Join(strings.Fields(text), ""); a != b {
			t.Errorf("%s does not hold what the rule draws", path)
		}
	}
}

// files are the network as matrices and vectors.
func (net *stiffNetwork) files() map[string]string {
	n, m := len(net.start), len(net.k)
	matrix := func(rows, cols int, entries []string) string {
		return fmt.Sprintf("%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n%s", rows, cols, len(entries),
			strings.Join(entries, ""))
	}
	column := func(x []float64) string {
		var b strings.Builder
		for _, v := range x {
			b.WriteString(strconv.FormatFloat(v, 'g', -1, 64) + "\n")
		}
		return b.String()
	}
	var first, second, changes []string
	alone := make([]float64, m)
	for r, re := range net.reactions {
		first = append(first, fmt.Sprintf("%d %d 1\n", r+1, re.from[0]+1))
		if len(re.from) > 1 {
			second = append(second, fmt.Sprintf("%d %d 1\n", r+1, re.from[1]+1))
		} else {
			alone[r] = 1
		}
		for _, c := range re.changes() {
			changes = append(changes, fmt.Sprintf("%d %d %d\n", c.species+1, r+1, c.by))
		}
	}
	return map[string]string{
		"first.mtx": matrix(m, n, first), "second.mtx": matrix(m, n, second), "changes.mtx": matrix(n, m, changes),
		"alone.csv": column(alone), "k.csv": column(net.k), "start.csv": column(net.start),
		"weights.csv": column(net.weights),
	}
}

// TestStiffProblems compiles the small problems, and reads and writes their gradients.
func TestStiffProblems(t *testing.T) {
	t.Chdir("..")
	for _, p := range stiffProblems() {
		if p.species > 100 || p.points > 200 {
			continue
		}
		if _, err := p.parse(); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
	if _, err := stiffNamed("network7"); err != nil {
		t.Error(err)
	}
	if _, err := stiffNamed("network"); err == nil {
		t.Error("a network without a size is no error")
	}
	b, err := stiffNamed("brusselator200")
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.parse()
	if err != nil {
		t.Fatal(err)
	}
	o := b.options("rkc2", "adjoint", 1e-2)
	o.Set = []odes.Assignment{{Name: "T", Values: []float64{1e-3}}}
	s, err := m.Sensitivities(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	pairs := b.gradient(s)
	if u, v := s.Derivative(0, s.Variables[3]), s.Derivative(0, s.Variables[4]); len(pairs.params) != 3 ||
		len(pairs.initial) != 400 || pairs.initial[6] != u[3] || pairs.initial[7] != v[3] {
		t.Errorf("derivatives by two arrays are not side by side")
	}
	g := gradient{1, []float64{2, 3}, []float64{4, math.Pi}}
	path := filepath.Join(t.TempDir(), "g")
	if err := g.write(path); err != nil {
		t.Fatal(err)
	}
	h, err := readGradient(path, 2)
	if err != nil || fmt.Sprint(h) != fmt.Sprint(g) {
		t.Errorf("wrote %v, read %v: %v", g, h, err)
	}
	h.params[1], h.initial[0] = 3.3, 4.1
	if got, want := h.apart(g, []float64{10, -1}), 0.1/4; math.Abs(got-want) > 1e-12 { // the other: 0.3/20
		t.Errorf("apart by %g", got)
	}
}

// TestSpecies compares a gradient of a small network with one at a tighter tolerance, and looks for the table.
func TestSpecies(t *testing.T) {
	ref := filepath.Join(t.TempDir(), "ref")
	if _, err := (&job{n: 40, tol: 1e-9, seed: 3, dump: ref}).drawn(); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ tol, least, most float64 }{{1e-3, 1e-9, 1e-2}, {1e-7, 1e-12, 1e-7}} {
		out, err := (&job{n: 40, tol: x.tol, seed: 3, ref: ref}).drawn()
		if err != nil || out.Error < x.least || out.Error > x.most || out.Steps < 10 {
			t.Errorf("at %g: %+v, %v", x.tol, out, err)
		}
	}
	text, err := os.ReadFile("../docs/methods-linear.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<!-- species -->\n")
	table, _, found := strings.Cut(rest, "<!-- end species -->\n")
	if rows := strings.Count(table, "\n") - 2; !found || rows < len(speciesSizes) {
		t.Errorf("the table of docs/methods-linear.md has %d rows", rows)
	}
}

// TestAt interpolates a curve whose points are made up.
func TestAt(t *testing.T) {
	c := &curve{points: []point{
		{Error: 1e-2, Seconds: 1},
		{Error: 1e-4, Seconds: 100},
		{Error: 1e-3, Seconds: 200},
		{Error: 1e-8, Seconds: 1e4},
	}}
	for _, x := range []struct{ err, seconds float64 }{
		{1, 1},     // less error than asked for at the loosest tolerance
		{1e-3, 10}, // between two points
		{1e-4, 100},
		{1e-9, math.Inf(1)},
	} {
		if got := c.at(x.err); got != x.seconds && !(math.Abs(got/x.seconds-1) < 1e-12) {
			t.Errorf("%g at an error of %g, want %g", got, x.err, x.seconds)
		}
	}
}

// TestStiffPage writes figures and numbers of a diagram.
func TestStiffPage(t *testing.T) {
	p, err := stiffNamed("hires")
	if err != nil {
		t.Fatal(err)
	}
	d := &stiffDiagram{problem: p, states: 8, params: 12}
	d.curves = []*curve{
		{name: "odes, auto", ours: true, auto: true, points: []point{
			{Error: 1e-3, Seconds: 1, Tol: 1e-4, Compile: 0.5}, {Error: 1e-8, Seconds: 2, Tol: 1e-6, Steps: 77},
		}},
		{name: "rival", points: []point{{Error: 1e-6, Seconds: 8, Tol: 1e-6}}},
	}
	list := []*stiffDiagram{d}
	page := string((&runner{rounds: 1}).stiffPage(list, "0"))
	for _, want := range []string{
		"figures/stiff_hires.svg", "| HIRES | 1e-04 | 1149 | 7 |", "8 states, 12 parameters. Compile: 500 ms.",
		"| 77 | 2000 | 1e-08 |",
		"a run of odes with tight tolerances",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if rows := strings.Count(string(stiffTable(list)), "\n"); rows != 4 {
		t.Errorf("%d lines, not 4", rows)
	}
}

// BenchmarkStiff times gradients of the small stiff problems at a tolerance of 1e-6, one thread.
func BenchmarkStiff(b *testing.B) {
	b.Chdir("..")
	for _, name := range []string{
		"robertson40", "hires", "oregonator", "pollution", "network20", "vdpjump", "network100", "brusselator200",
	} {
		for _, method := range stiffMethods {
			b.Run(name+"/"+method, func(b *testing.B) {
				p, err := stiffNamed(name)
				if err != nil {
					b.Fatal(err)
				}
				m, err := p.parse()
				if err != nil {
					b.Fatal(err)
				}
				r, err := m.Prepare(p.options(method, "adjoint", 1e-6))
				if err != nil {
					b.Fatal(err)
				}
				var forward, adjoint float64
				steps := 0
				b.ReportAllocs()
				for b.Loop() {
					s, err := r.Sensitivities(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					forward += s.Stats.Seconds.Forward
					adjoint += s.Stats.Seconds.Adjoint
					steps += s.Stats.Steps
				}
				b.ReportMetric(1e9*forward/float64(steps), "forward-ns/step")
				b.ReportMetric(1e9*adjoint/float64(steps), "adjoint-ns/step")
				b.ReportMetric(float64(steps)/float64(b.N), "steps")
			})
		}
	}
}
