package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/plot"
)

// precisionTable writes all points as CSV.
func precisionTable(list []*diagram) []byte {
	var b bytes.Buffer
	b.WriteString("problem,n,curve,tolerance,steps,error,seconds,scaled_by\n")
	for _, d := range list {
		for _, c := range d.curves {
			for _, p := range c.points {
				fmt.Fprintf(&b, "%s,%d,%q,%g,%d,%.3g,%.4g,%g\n", d.problem, d.n, c.name, p.Tol, p.Steps, p.Error,
					p.Seconds, max(1, c.columns))
			}
		}
	}
	return b.Bytes()
}

// figures of a diagram: what they are called, and the curves that they show.
func (d *diagram) figures() map[string][]*curve {
	out := map[string][]*curve{}
	for _, c := range d.curves {
		if c.bare {
			continue
		}
		if !c.way {
			out["programs"] = append(out["programs"], c)
		}
		if c.way || c.auto {
			out["ways"] = append(out["ways"], c)
		}
	}
	return out
}

func (d *diagram) figureName(kind string) string {
	return fmt.Sprintf("precision_%s_%s.svg", d.name, kind)
}

// draw writes the figures of d.
func (d *diagram) draw(folder string) error {
	for kind, curves := range d.figures() {
		err := drawCurves(filepath.Join(folder, d.figureName(kind)), d.title, curves, func(c *curve) string {
			switch {
			case kind != "ways":
				return c.name
			case c.auto:
				return "adjoint"
			}
			return strings.TrimPrefix(c.name, "odes, ")
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mostError is the largest relative error that a figure shows: a gradient that is further off has no digit, and an axis
// up to there has no room for those that have some.
const mostError = 100

// drawCurves writes a figure of curves, error over time.
func drawCurves(path, title string, curves []*curve, name func(*curve) string) error {
	l := &plot.Lines{
		Title: title,
		X:     plot.Axis{Label: "time of a gradient", Unit: "ms", Log: true},
		Y:     plot.Axis{Label: "error of the gradient", Log: true},
	}
	for _, c := range curves {
		k := plot.Curve{Name: name(c), Loop: true}
		for _, p := range c.points {
			if p.Error <= mostError {
				k.X, k.Y = append(k.X, 1e3*p.Seconds), append(k.Y, p.Error)
			}
		}
		k.PX, k.PY = k.X, k.Y
		l.Curves = append(l.Curves, k)
	}
	var b bytes.Buffer
	if err := plot.Write(&b, "svg", l, plot.Page{}); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// within returns the least time of a curve for a gradient that is at least so accurate; infinite where it has none.
func (c *curve) within(err float64) float64 {
	t := math.Inf(1)
	for _, p := range c.points {
		if p.Error <= err {
			t = min(t, p.Seconds)
		}
	}
	return t
}

// fastest returns the least of the times, and whose it is.
func fastest(curves []*curve, err float64, which func(*curve) bool) (float64, *curve) {
	t, by := math.Inf(1), (*curve)(nil)
	for _, c := range curves {
		if s := c.within(err); which(c) && s < t {
			t, by = s, c
		}
	}
	return t, by
}

func ours(c *curve) bool { return c.ours }

func theirs(c *curve) bool { return !c.ours }

// wanted are the accuracies of the tables.
var wanted = []float64{1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12}

// verdict compares each point of another program with the fastest of ours that is as accurate: the least ratio of
// times and where it is, and whether all are at least 1.
func (d *diagram) verdict() (least float64, at point, by string) {
	least = math.Inf(1)
	for _, c := range d.curves {
		if c.ours {
			continue
		}
		for _, p := range c.points {
			t, _ := fastest(d.curves, p.Error, ours)
			if q := p.Seconds / t; q < least {
				least, at, by = q, p, c.name
			}
		}
	}
	return least, at, by
}

// precisionPage writes what the diagrams show.
func (r *runner) precisionPage(list []*diagram, before string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Work and precision

Written by `+"`bench/run -precision`"+` on %s; do not edit. Version %s, backend %s.

| | |
|---|---|
| machine | %s |
| Go | %s |
| C | %s |
| load before and after | %s; %s |

To measure again, run `+"`bench/run -precision`"+`. The other programs are in [bench/peers](../bench/peers/README.md).

What does a gradient of a given accuracy cost? Each mark of a figure is one tolerance, from 1e-2 to 1e-13, with
`+"`rtol = atol`"+`. The horizontal axis is the time of the gradient, and the vertical axis is its error, so points at
the lower left are best. The N end values of the Lotka–Volterra model of [benchmarks.md](benchmarks.md) are
differentiated by N + N² parameters and N initial values. The classical model has two end values and six variables.

- **Times** are least times on one thread. Turns of each program: %d (slow programs: 1). Times of odes
  include the whole call, from parameters to the finished gradient. Other programs print their own times, forward and
  backward, without the creation of their objects.
- **Errors** are the largest difference of a derivative from the reference, divided by the largest derivative.
  Derivatives by parameters and by initial values are treated separately, and the larger error counts. The reference
  is a run of `+"`vern9`"+` at 1e-14, which the accuracy table of benchmarks.md compares with another program. The
  reference is not accurate enough for errors below 1e-13.
- **odes**: *odes, auto* is `+"`method = auto`"+`, in which the tolerance chooses `+"`tsit5`, `dop853`"+` or `+
		"`vern9`"+`. *odes,
  sens_tol* also controls the errors of derivatives, to the same tolerance. For that it repeats the run and estimates
  these errors. Other rows of odes name their method. All of these use the discrete adjoint.
- **PETSc**: *5dp* is TSAdjoint as documented, with a hand-written right-hand side and transpose. *7vr, sums put
  off* is the fastest way that we found in PETSc. It uses Verner's method of order 7. Parameter gradients are collected
  outside of PETSc and multiplied in blocks by OpenBLAS. In both, the first step is 0.1.
- **CVODES** uses Adams methods with polynomial interpolation. Three ways are measured: a backward problem for each
  objective, as documented; one backward problem for all objectives; forward sensitivities under error control.
- **The second figure of each pair** shows every way of odes to differentiate, with the method that `+"`auto`"+` takes.

`, time.Now().UTC().Format("2006-01-02"), odes.Version, backend(), processor(),
		strings.TrimPrefix(runtime.Version(), "go"), compiler(), before, load(), r.rounds)
	r.verdicts(&b, list)
	alike(&b, list)
	for _, d := range list {
		d.write(&b)
	}
	fmt.Fprint(&b, "All points are in [figures/precision.csv](figures/precision.csv).\n")
	return b.Bytes()
}

// verdicts says who is fastest, what auto loses against the best method, and what the other ways cost.
func (r *runner) verdicts(b *bytes.Buffer, list []*diagram) {
	var rows [][]string
	least, lost := math.Inf(1), []string{}
	for _, d := range list {
		q, at, by := d.verdict()
		if by == "" {
			continue
		}
		least = min(least, q)
		row := []string{d.title, fmt.Sprintf("%s (%s, error %.0e)", digits(q, 2), by, at.Error)}
		if q < 1 {
			lost = append(lost, fmt.Sprintf("%s, by %s at an error of %.0e", d.title, by, at.Error))
		}
		alone := &diagram{}
		for _, c := range d.curves {
			if !c.ours || c.auto {
				alone.curves = append(alone.curves, c)
			}
		}
		q, at, by = alone.verdict()
		row = append(row, fmt.Sprintf("%s (%s, error %.0e)", digits(q, 2), by, at.Error))
		row = append(row, digits(d.over(theirs, ours), 2),
			digits(d.over(func(c *curve) bool { return c.auto }, ours), 2))
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		fmt.Fprint(b, "## Which program is fastest at each accuracy\n\n")
		if len(lost) == 0 {
			fmt.Fprintf(b,
				`odes is on the lower-left envelope of all diagrams, at every accuracy that another program reaches.
The smallest ratio of times is %s.
`, digits(least, 2))
		} else {
			fmt.Fprintf(b, "odes is not on the lower-left envelope everywhere: it is slower in %s.\n",
				strings.Join(lost, "; "))
		}
		fmt.Fprint(b, `
Each result of another program is compared with the fastest run of odes that is at least as accurate. The columns are:

- *least ratio to others*: the smallest ratio of the two times, and the other program;
- *`+"`auto`"+` alone*: the same, with `+"`auto`"+` as the only entry of odes;
- *others*: the time of the fastest other program over that of the fastest run of odes, as the median over the
  accuracies of the tables below;
- *`+"`auto`"+`*: the time of `+"`auto`"+` over that of the fastest run of odes, as the same median.

`)
		table(b, []string{"", "least ratio to others", "`auto` alone", "others", "`auto`"}, rows)
	}
	r.ways(b, list)
}

// ways compares the ways to differentiate with the adjoint.
func (r *runner) ways(b *bytes.Buffer, list []*diagram) {
	fmt.Fprint(b, `## The cost of the other ways to differentiate

The table shows the time of each way of odes over the time of the discrete adjoint by the same method, as the median
over the accuracies of the tables. The cost of the tangent, the forward equations, complex steps and differences grows
with the number of columns. Backsolve and the continuous adjoint integrate backwards in steps of their own. At the same
tolerance they are more accurate than the discrete adjoint, but in the same time they are not.

`)
	heads := []string{""}
	var names []string
	cells := map[string][]string{}
	for _, d := range list {
		heads = append(heads, d.short())
		for _, c := range d.curves {
			if !c.way || !c.ours {
				continue
			}
			if cells[c.name] == nil {
				names = append(names, c.name)
			}
			cells[c.name] = append(cells[c.name], digits(d.over(func(k *curve) bool { return k == c },
				func(k *curve) bool { return k.auto }), 2))
		}
	}
	var rows [][]string
	for _, name := range names {
		if len(cells[name]) == len(list) {
			rows = append(rows, append([]string{strings.TrimPrefix(name, "odes, ")}, cells[name]...))
		}
	}
	table(b, heads, rows)
}

// alike shows errors where all were asked for the same.
func alike(b *bytes.Buffer, list []*diagram) {
	fmt.Fprint(b, `## Errors at the same tolerance

The table shows the error of the gradient if all programs have the same tolerance. The steps of the run determine the
accuracy of a discrete adjoint, and error control does not include it. Backward problems have error control of their
own. `+"`sens_tol`"+` controls the error of the discrete adjoint. The other N are in the file of all points.

`)
	tols := []float64{1e-4, 1e-6, 1e-8, 1e-10}
	heads := []string{"", ""}
	for _, tol := range tols {
		heads = append(heads, fmt.Sprintf("%.0e", tol))
	}
	var rows [][]string
	for _, d := range list {
		if d.problem != "lv" && d.n != 10 {
			continue // much as N = 10
		}
		for _, c := range d.curves {
			row := []string{d.short(), c.name}
			for _, tol := range tols {
				for _, p := range c.points {
					if math.Abs(p.Tol-tol) < 1e-3*tol {
						row = append(row, fmt.Sprintf("%.0e", p.Error))
					}
				}
			}
			if len(row) == len(heads) && (!c.way || c.name == "odes, continuous") {
				rows = append(rows, row)
			}
		}
	}
	table(b, heads, rows)
}

func (d *diagram) short() string {
	if d.problem == "lv" {
		return "classical"
	}
	return fmt.Sprintf("N = %d", d.n)
}

// over is the median, over the accuracies of the tables, of the least time among some curves over that among others.
func (d *diagram) over(some, others func(*curve) bool) float64 {
	var list []float64
	for _, e := range wanted {
		t, by := fastest(d.curves, e, some)
		if s, than := fastest(d.curves, e, others); by != nil && than != nil {
			list = append(list, t/s)
		}
	}
	return median(list)
}

// write shows one diagram.
func (d *diagram) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "## %s\n\n", d.title)
	fmt.Fprintf(b, "![gradient error over time, methods and programs](figures/%s)\n", d.figureName("programs"))
	fmt.Fprintf(b, "![gradient error over time, ways to differentiate](figures/%s)\n\n", d.figureName("ways"))
	heads := []string{"ms for an error of at most"}
	for _, e := range wanted {
		heads = append(heads, fmt.Sprintf("%.0e", e))
	}
	var rows [][]string
	scaled := false
	for _, c := range d.curves {
		name := c.name
		if c.columns > 0 {
			name, scaled = name+" *", true
		}
		row := []string{name}
		for _, e := range wanted {
			t := c.within(e)
			best, by := fastest(d.curves, e, func(*curve) bool { return true })
			switch {
			case math.IsInf(t, 1):
				row = append(row, "–")
			case by != nil && t == best:
				row = append(row, "**"+ms(t)+"**")
			default:
				row = append(row, ms(t))
			}
		}
		rows = append(rows, row)
	}
	table(b, heads, rows)
	if scaled {
		fmt.Fprintf(b, `\* These modes compute one column at a time. Only the N derivatives by initial
values were computed, and have these errors. Times are multiplied by %d, which is N + N² + N columns over N.

`, d.n+2)
	}
}
