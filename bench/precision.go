package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// diagram is a work–precision diagram: one problem, and the curves of all that take part.
type diagram struct {
	problem string // of the worker
	n       int
	title   string
	name    string // of its figures
	curves  []*curve
}

// curve is one way to compute the gradient, over tolerances.
type curve struct {
	name string
	ours bool
	way  bool // among the ways to differentiate; else among methods and programs
	auto bool // the adjoint as it is: among both
	bare bool // in tables only
	// columns tells that only the derivatives by initial values were computed, one of so many columns, and that times
	// are multiplied by that number: the methods that go column by column are linear in it.
	columns float64
	once    bool // slow: one turn
	tols    []float64
	run     func(r *runner, tols []float64) ([]point, error)
	points  []point
	failed  error
}

var precisionTols = []float64{1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13}

// someTols are for what is slow.
var someTols = []float64{1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13}

func diagrams(r *runner) []*diagram {
	list := []*diagram{{problem: "lv", n: 2, title: "Lotka–Volterra, the classical model", name: "classic"}}
	for _, n := range []int{2, 10, 30, 40, 100, 200} {
		list = append(list, &diagram{
			problem: "glv-own", n: n,
			title: fmt.Sprintf("Generalised Lotka–Volterra, N = %d", n), name: fmt.Sprintf("n%d", n),
		})
	}
	for _, d := range list {
		for _, method := range []string{"auto", "dopri5", "vern7", "vern9"} {
			d.curves = append(d.curves, d.own("adjoint", method))
		}
		d.curves = append(d.curves, d.own("adjoint", "sens_tol"))
		for _, mode := range []string{"tangent", "forward", "continuous", "backsolve", "complex", "differences"} {
			d.curves = append(d.curves, d.own(mode, "auto"))
		}
		if d.problem == "glv-own" {
			d.curves = append(d.curves, d.rivals(r)...)
		}
	}
	return list
}

// own is a curve of odes.
func (d *diagram) own(mode, method string) *curve {
	c := &curve{
		name: "odes, " + method, ours: true, way: mode != "adjoint",
		auto: mode == "adjoint" && method == "auto", tols: precisionTols,
	}
	if c.way {
		c.name = "odes, " + mode
	}
	wanted := method == "sens_tol"
	if wanted {
		method, c.auto, c.bare = "auto", false, true
		c.tols = c.tols[:10] // rounding is in the way of more
	}
	wrt := ""
	one := mode == "complex" || mode == "differences" // run after run, column after column
	switch all := mode == "tangent" || mode == "forward"; {
	case one && d.n >= 100:
		wrt, c.columns, c.once, c.tols = "initial(x)", float64(d.n+2), true, []float64{1e-3, 1e-7}
		if mode == "differences" {
			c.tols = c.tols[:1]
		}
	case one && d.n >= 30:
		c.once, c.tols = true, someTols[:4]
		if mode == "differences" {
			c.tols = c.tols[:3]
		}
	case all && d.n >= 200:
		c.once, c.tols = true, []float64{1e-5}
	case all && d.n >= 100:
		c.once, c.tols = true, []float64{1e-3, 1e-6, 1e-9, 1e-12}
	case c.way && d.n >= 100:
		c.once, c.tols = true, someTols[:5]
	}
	c.run = func(r *runner, tols []float64) ([]point, error) {
		var list []string
		for _, tol := range tols {
			list = append(list, fmt.Sprint(tol))
		}
		out, err := r.output([]string{
			r.self, "-worker", "precision", "-problem", d.problem, "-n", fmt.Sprint(d.n), "-mode", mode, "-method",
			method,
			"-wrt", wrt, "-wanted=" + fmt.Sprint(wanted), "-tols", strings.Join(list, ","),
		}, 1)
		if err != nil {
			return nil, err
		}
		var points []point
		for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
			var p point
			if err := dec.Decode(&p); err != nil {
				return nil, err
			}
			if wrt != "" {
				p.Seconds *= c.columns
			}
			points = append(points, p)
		}
		return points, nil
	}
	return c
}

// rivals are the curves of other programs that are there.
func (d *diagram) rivals(r *runner) []*curve {
	n, reps := d.n, max(2, 400/(d.n*d.n/10+10))
	petsc := func(rk, params string) func(tol float64, dump string) *entrant {
		return func(tol float64, dump string) *entrant {
			return r.peer("", "petsc_glv", "-n", n, "-rtol", tol, "-first", 0.1, "-reps", reps, "-rk", rk, "-params",
				params, "-dump", dump)
		}
	}
	cvodes := func(reps int, mode string) func(tol float64, dump string) *entrant {
		return func(tol float64, dump string) *entrant {
			return r.peer("", "cvodes_glv", "-n", n, "-rtol", tol, "-reps", reps, "-mode", mode, "-interpolation",
				"polynomial", "-dump", dump)
		}
	}
	slowly := max(1, min(reps, 100/n))
	var list []*curve
	add := func(name string, once bool, of func(tol float64, dump string) *entrant) {
		if of(1e-3, "") == nil {
			return
		}
		c := &curve{name: name, way: strings.Contains(name, "forward"), once: once, tols: precisionTols}
		if n >= 100 {
			c.tols = someTols
			if once {
				c.tols = someTols[:4]
			}
		}
		c.run = func(r *runner, tols []float64) ([]point, error) {
			var points []point
			for _, tol := range tols {
				p, err := d.rival(r, of, tol)
				if err != nil {
					return nil, err
				}
				points = append(points, p)
			}
			return points, nil
		}
		list = append(list, c)
	}
	add("PETSc, 5dp", false, petsc("dormand_prince", "mu"))
	add("PETSc, 7vr, sums put off", false, petsc("7vr", "deferred"))
	add("CVODES, adjoint", n >= 100, cvodes(slowly, "adjoint"))
	if n <= 100 {
		add("CVODES, adjoint, all at once", n >= 100, cvodes(slowly, "together"))
	}
	if n <= 40 {
		add("CVODES, forward", n >= 30, cvodes(slowly, "forward"))
	}
	return list
}

// rival runs another program at one tolerance.
func (d *diagram) rival(r *runner, of func(tol float64, dump string) *entrant, tol float64) (point, error) {
	p := point{Tol: tol, Seconds: math.Inf(1)}
	to := filepath.Join(r.work, "rival.bin")
	defer os.Remove(to)
	out, err := r.output(of(tol, to).args, 1)
	if err != nil {
		return p, err
	}
	var samples []sample
	for line := range bytes.Lines(out) {
		var s sample
		if json.Unmarshal(line, &s) == nil && s.Total > 0 {
			samples = append(samples, s)
		}
	}
	if len(samples) > 1 {
		samples = samples[1:]
	}
	for _, s := range samples {
		p.Seconds, p.Steps = min(p.Seconds, s.Total), int(s.Steps)
	}
	x, err := readDump(to)
	if err != nil {
		return p, err
	}
	ref, err := r.tightly(d.n)
	if err != nil {
		return p, err
	}
	if len(x) != len(ref) {
		return p, fmt.Errorf("%d numbers, not %d", len(x), len(ref))
	}
	params, initial := difference(x, ref, d.n)
	p.Error = max(params, initial)
	return p, nil
}

// tightly returns the derivatives that others are measured by: parameters, then initial values, row by row.
func (r *runner) tightly(n int) ([]float64, error) {
	path := filepath.Join(r.work, fmt.Sprintf("tight%d.bin", n))
	if _, err := os.Stat(path); err != nil {
		e := r.own("", job{problem: "glv-tight", n: n, tol: 1e-14})
		if _, err := r.output(append(e.args, "-dump", path), 1); err != nil {
			return nil, err
		}
	}
	return readDump(path)
}

// measure gives every curve its turns; a point keeps its least time.
func (d *diagram) measure(r *runner) {
	for round := range r.rounds {
		for _, c := range d.curves {
			if c.failed != nil || c.once && round > 0 {
				continue
			}
			points, err := c.run(r, c.tols)
			if err != nil {
				fmt.Fprintln(os.Stderr, c.name+":", err)
				c.failed = err
				continue
			}
			if round == 0 {
				c.points, c.tols = points, nil // those that it could be measured at
				for _, p := range points {
					c.tols = append(c.tols, p.Tol)
				}
				continue
			}
			for i, p := range points {
				c.points[i].Seconds = min(c.points[i].Seconds, p.Seconds)
			}
		}
	}
	d.curves = slices.DeleteFunc(d.curves, func(c *curve) bool { return len(c.points) == 0 })
}

// writePrecision measures all diagrams, or only one, and writes the page with its figures and
// numbers in a folder beside it.
func (r *runner) writePrecision(out, only string) error {
	out = cmp.Or(out, "docs/precision.md")
	list := diagrams(r)
	if only != "" {
		list = slices.DeleteFunc(list, func(d *diagram) bool { return d.name != only })
	}
	if len(list) == 0 {
		return fmt.Errorf("there is no diagram %q", only)
	}
	before := load()
	for _, d := range list {
		start := time.Now()
		d.measure(r)
		fmt.Fprintf(os.Stderr, "%s: %.1f s\n", d.name, time.Since(start).Seconds())
	}
	folder := filepath.Join(filepath.Dir(out), "figures")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "precision.csv"), precisionTable(list), 0o644); err != nil {
		return err
	}
	for _, d := range list {
		if err := d.draw(folder); err != nil {
			return err
		}
	}
	return os.WriteFile(out, r.precisionPage(list, before), 0o644)
}
