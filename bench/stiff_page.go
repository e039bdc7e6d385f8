package main

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
)

// bdf is the curve of CVODES.
const bdf = "CVODES, BDF"

// base is the curve of odes that others are compared with: auto, or without it the first.
func (d *stiffDiagram) base() *curve {
	for _, c := range d.curves {
		if c.auto {
			return c
		}
	}
	for _, c := range d.curves {
		if c.ours {
			return c
		}
	}
	return nil
}

// stiffPage writes what the diagrams show.
func (r *runner) stiffPage(list []*stiffDiagram, before string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Stiff models

Written by `+"`bench/run -stiff`"+` on %s; do not edit. Version %s, backend %s.

| | |
|---|---|
| machine | %s |
| Go | %s |
| C | %s |
| load before and after | %s; %s |

To measure again, run `+"`FATODE=/path/to/FATODE bench/run -stiff`"+`. The other programs are in
[bench/peers](../bench/peers/README.md).

What does the gradient of a stiff model cost at a given accuracy? One objective, a value at the end, is differentiated
by all rate constants and all initial values. Each mark of a figure is one tolerance. The horizontal axis is the time
of the gradient, and the vertical axis is its error, so points at the lower left are best.

- **Times** are least times on one core. All programs of a figure take turns, %d turns each, with a new process for
  each turn. Times of odes include the whole call, from parameters to the finished gradient. Other
  programs print their own times, forward and backward, without the creation of their objects. *Compile* is the time of
  odes from the text of the model to the first run. After some thousands of steps of a small model, odes compiles a
  whole step, and its transpose, as one program. The first gradients of a process take about twice as long as the times
  here.
- **Tolerances** are the same for all programs. In each problem, the absolute tolerance is a fixed multiple of the
  relative tolerance.
  Features of odes that are not part of the gradient are off: `+"`trust`, `control` and `quad_tol`"+`.
- **Errors** are the largest error of p dJ/dp, over all parameters p, and the largest error of the derivatives by
  initial values, each relative to the largest of its kind. The larger of the two counts. %s
- **odes**: *auto* is the default. The other rows name their method. All use the discrete adjoint.
- **FATODE 1.2** (Rodas4 with its discrete adjoint), **CVODES** (BDF with the continuous adjoint; dense, band or KLU,
  as suits the problem) and **PETSc** (Crank–Nicolson with its discrete adjoint) have all derivatives written by hand.

`, time.Now().UTC().Format("2006-01-02"), odes.Version, backend(), processor(),
		strings.TrimPrefix(runtime.Version(), "go"), compiler(), before, load(), r.rounds, referenceNote(list))
	stiffRatios(&b, list)
	multistep(&b, list)
	for _, d := range list {
		d.write(&b)
	}
	fmt.Fprint(&b, "All points are in [figures/stiff.csv](figures/stiff.csv).\n")
	return b.Bytes()
}

func referenceNote(list []*stiffDiagram) string {
	if slices.ContainsFunc(list, func(d *stiffDiagram) bool { return !d.foreign }) {
		return "The\n  reference comes from the other programs or, if they have none, from a run of odes with tight " +
			"tolerances."
	}
	return "The\n  reference is Radau IIA of order 9 in long double with its adjoint."
}

// stiffRatios compares the others with odes at the errors of each problem.
func stiffRatios(b *bytes.Buffer, list []*stiffDiagram) {
	var others []string
	for _, d := range list {
		for _, c := range d.curves {
			if !c.ours && !slices.Contains(others, c.name) {
				others = append(others, c.name)
			}
		}
	}
	if len(others) == 0 {
		return
	}
	fmt.Fprint(b, `## How many times faster

The table has the time of another program divided by that of odes (*auto*), both interpolated on their curves at the
same error of the gradient. A dash means that the program does not reach this error, or was not run.

`)
	heads := append([]string{"", "error", "odes, ms"}, others...)
	var rows [][]string
	for _, d := range list {
		base := d.base()
		for _, e := range d.problem.errors {
			row := []string{d.problem.title, fmt.Sprintf("%.0e", e), "–"}
			own := math.Inf(1)
			if base != nil {
				own = base.at(e)
			}
			if !math.IsInf(own, 1) {
				row[2] = ms(own)
			}
			for _, name := range others {
				cell := "–"
				for _, c := range d.curves {
					if t := c.at(e); c.name == name && !math.IsInf(t, 1) && !math.IsInf(own, 1) {
						cell = ratio(t, own)
					}
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
	}
	table(b, heads, rows)
}

// large is the number of states from which a model counts as large for multistep.
const large = 400

// multistep says whether a multistep method costs less on large sparse models: CVODES beside odes.
func multistep(b *bytes.Buffer, list []*stiffDiagram) {
	steps := func(c *curve) string {
		for _, p := range c.points {
			if math.Abs(p.Tol-1e-6) < 1e-9 {
				return fmt.Sprintf("%d, %.0e", p.Steps, p.Error)
			}
		}
		return "–"
	}
	var rows [][]string
	lost, least := 0, math.Inf(1)
	for _, d := range list {
		i := slices.IndexFunc(d.curves, func(c *curve) bool { return c.name == bdf })
		base := d.base()
		if d.states < large || i < 0 || base == nil {
			continue
		}
		for _, e := range d.problem.errors {
			own, other := base.at(e), d.curves[i].at(e)
			if math.IsInf(own, 1) {
				continue
			}
			row := []string{
				d.problem.title, fmt.Sprint(d.states), fmt.Sprintf("%.0e", e), ms(own), "–", "–", steps(base),
				steps(d.curves[i]),
			}
			if !math.IsInf(other, 1) {
				row[4], row[5] = ms(other), ratio(other, own)
				if least = min(least, other/own); other < own {
					lost++
				}
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return
	}
	fmt.Fprint(b, `## Multistep methods

Multistep methods such as BDF suit large sparse models with smooth solutions. Each step solves one system of the size of
the model, with factors that serve many steps. odes has one-step methods only. The table compares it with CVODES, which
has BDF of orders 1 to 5 with variable steps, and a continuous adjoint:

`)
	table(b, []string{
		"", "states", "error", "odes, ms", "CVODES, ms", "ratio", "steps and error of odes at 1e-6", "of CVODES",
	}, rows)
	if lost == 0 {
		fmt.Fprintf(b, `At the same error of the gradient CVODES took at least %s times as long. A step of BDF
is cheaper, but at the same tolerance there are more steps, and the gradient has a larger error. So odes has no BDF.

`, digits(least, 2))
	} else {
		fmt.Fprintf(b, "At the same error of the gradient CVODES took less time in %d of %d rows.\n\n", lost, len(rows))
	}
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// write shows one diagram.
func (d *stiffDiagram) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "## %s\n\n%s, %s.", d.problem.title, counted(d.states, "state"), counted(d.params, "parameter"))
	for _, c := range d.curves {
		if c.ours && len(c.points) > 0 {
			fmt.Fprintf(b, " Compile: %s ms.", ms(c.points[0].Compile))
			break
		}
	}
	fmt.Fprintf(b, "\n\n![gradient error over time](figures/%s)\n\n", d.figure())
	heads := []string{"ms at an error of"}
	for _, e := range d.problem.errors {
		heads = append(heads, fmt.Sprintf("%.0e", e))
	}
	heads = append(heads, "steps at 1e-6", "ms", "error")
	var rows [][]string
	for _, c := range d.curves {
		row := []string{c.name}
		for _, e := range d.problem.errors {
			if t := c.at(e); math.IsInf(t, 1) {
				row = append(row, "–")
			} else {
				row = append(row, ms(t))
			}
		}
		cells := []string{"–", "–", "–"}
		for _, p := range c.points {
			if math.Abs(p.Tol-1e-6) < 1e-9 {
				cells = []string{fmt.Sprint(p.Steps), ms(p.Seconds), fmt.Sprintf("%.0e", p.Error)}
			}
		}
		rows = append(rows, append(row, cells...))
	}
	table(b, heads, rows)
}
