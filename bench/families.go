package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
)

// families are the families of methods, with those of their methods that are measured.
var families = []struct {
	name    string
	methods []string
}{
	{"explicit", []string{"dopri5", "dop853", "rkc2"}},
	{"Rosenbrock", []string{"rodas4p", "rodas5p"}},
	{"ESDIRK", []string{"kvaerno3", "esdirk54"}},
	{"Radau", []string{"radau5", "radau9"}},
	{"additive", []string{"kencarp4", "kencarp5"}},
}

// familyErrors are the errors of gradients that families are compared at.
var familyErrors = []float64{1e-3, 1e-5, 1e-7, 1e-9}

const (
	familySlowest = 1.5 // seconds of a gradient, where its curve ends
	familyShort   = 0.3 // of one that is measured in every turn
)

// mildProblems are those of families that are hardly stiff.
func mildProblems() []*stiffProblem {
	return []*stiffProblem{
		{
			name: "lotka_volterra", title: "Lotka–Volterra, not stiff", path: "lotka_volterra", of: "x_T",
			wrt: []string{"a", "b", "c", "d", "x0", "y0"}, atol: 1,
		},
		{
			name: "burgers", title: "Burgers' equation, 200 points", path: "burgers", of: "energy",
			wrt: []string{"nu", "a", "c", "initial(u)"}, atol: 1e-2,
		},
		{
			name: "gray_scott", title: "Gray–Scott, 32² points", path: "gray_scott", of: "cost",
			wrt: []string{"Du", "Dv", "gamma", "kappa"}, atol: 1e-2,
		},
	}
}

// familyProblems are from not stiff at all to small and very stiff ones, and to grids.
func familyProblems() []*stiffProblem {
	list := mildProblems()
	for _, name := range []string{"robertson40", "hires", "oregonator", "network100", "brusselator200"} {
		if p, err := stiffNamed(name); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// writeFamilies measures one curve for each method, and writes the page with its figures and numbers.
func (r *runner) writeFamilies(out, only string) error {
	out = cmp.Or(out, "docs/families.md")
	list := slices.DeleteFunc(familyProblems(), func(p *stiffProblem) bool {
		return only != "" && !slices.Contains(strings.Split(only, ","), p.name)
	})
	return r.writeDiagrams(out, "families.csv", list, r.familyDiagram, familyFigure, r.familyPage)
}

func familyFigure(d *stiffDiagram) string { return "families_" + d.problem.name + ".svg" }

// familyDiagram prepares the curves of all methods that take the model.
func (r *runner) familyDiagram(p *stiffProblem) (*stiffDiagram, error) {
	d := &stiffDiagram{problem: p}
	var err error
	if d.states, d.params, err = p.sizes(); err != nil {
		return nil, err
	}
	if d.ref, d.foreign, err = r.stiffReference(p, d.params); err != nil {
		return nil, err
	}
	for _, f := range families {
		for _, method := range f.methods {
			c := &curve{name: method, ours: true, tols: stiffTols}
			c.run = func(_ *runner, tols []float64) ([]point, error) {
				// A turn after the first is for what is so short that it varies.
				if i := slices.IndexFunc(c.points, func(p point) bool { return p.Seconds > familyShort }); i >= 0 {
					tols = tols[:i]
				}
				if len(tols) == 0 {
					return nil, nil
				}
				return r.stiffOwn(p, method, d.ref, tols, familySlowest)
			}
			d.curves = append(d.curves, c)
		}
	}
	return d, nil
}

// best returns the least time at which a method of a family reaches an error, and the method; infinite where none does.
func (d *stiffDiagram) best(methods []string, e float64) (seconds float64, method string) {
	seconds = math.Inf(1)
	for _, c := range d.curves {
		if t := c.at(e); slices.Contains(methods, c.name) && t < seconds {
			seconds, method = t, c.name
		}
	}
	return seconds, method
}

// familyPage writes what the diagrams show.
func (r *runner) familyPage(list []*stiffDiagram, before string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Families of methods

Written by `+"`bench/run -families`"+` on %s; do not edit. Version %s, backend %s.

| | |
|---|---|
| machine | %s |
| Go | %s |
| load before and after | %s; %s |

Which family of methods gives the gradient of a model at a given accuracy in the least time? One objective is
differentiated by params and initial values, by the discrete adjoint. Each mark of a figure is one tolerance. The
horizontal axis is the time of the gradient, and the vertical axis is its error, so the lower left is best.

Times are least times of a whole call on one core, in %d turns. Errors are defined as in [stiff models](stiff.md).
Features of odes that are not part of the gradient are off. A curve ends where a gradient takes more than %.1f s.

`, time.Now().UTC().Format("2006-01-02"), odes.Version, backend(), processor(),
		strings.TrimPrefix(runtime.Version(), "go"), before, load(), r.rounds, familySlowest)
	familyTable(&b, list)
	for _, d := range list {
		fmt.Fprintf(&b, "## %s\n\n%s, %s.\n\n![gradient error over time](figures/%s)\n\n",
			d.problem.title, counted(d.states, "state"), counted(d.params, "parameter"), familyFigure(d))
	}
	fmt.Fprint(&b, "All points are in [figures/families.csv](figures/families.csv).\n")
	return b.Bytes()
}

// familyTable shows which family wins where: the best time, and those of the families relative to it.
func familyTable(b *bytes.Buffer, list []*stiffDiagram) {
	fmt.Fprint(b, `## Which family wins

The table has the least time of all methods, and the method that needs it. The other columns have the time of the best
method of each family, relative to that. A dash means that no method of the family reaches the error or accepts the
model.

`)
	heads := []string{"", "error", "ms", "by"}
	for _, f := range families {
		heads = append(heads, f.name)
	}
	var rows [][]string
	for _, d := range list {
		for _, e := range familyErrors {
			least, by := math.Inf(1), ""
			var times []float64
			for _, f := range families {
				t, method := d.best(f.methods, e)
				if times = append(times, t); t < least {
					least, by = t, method
				}
			}
			if by == "" {
				continue
			}
			row := []string{d.problem.title, fmt.Sprintf("%.0e", e), ms(least), "`" + by + "`"}
			for _, t := range times {
				switch {
				case math.IsInf(t, 1):
					row = append(row, "–")
				case t == least:
					row = append(row, "**1**")
				default:
					row = append(row, ratio(t, least))
				}
			}
			rows = append(rows, row)
		}
	}
	table(b, heads, rows)
}
