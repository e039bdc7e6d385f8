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

// stiffDiagram is the work–precision diagram of a stiff problem.
type stiffDiagram struct {
	problem *stiffProblem
	diagram
	states, params int
	ref            string // file of the gradient that errors are measured by
	foreign        bool   // it is not a run of odes
}

var stiffTols = []float64{1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12}

// stiffMethods are the curves of odes.
var stiffMethods = []string{"auto", "rodas4p", "rodas5p"}

// writeStiff measures all stiff problems, or some, and writes the page with its figures and numbers in a folder
// beside it.
func (r *runner) writeStiff(out, only string) error {
	out = cmp.Or(out, "docs/stiff.md")
	list := stiffProblems()
	if only != "" {
		list = nil
		for name := range strings.SplitSeq(only, ",") {
			p, err := stiffNamed(name)
			if err != nil {
				return err
			}
			list = append(list, p)
		}
	}
	return r.writeDiagrams(out, "stiff.csv", list, r.stiffDiagram, (*stiffDiagram).figure, r.stiffPage)
}

// writeDiagrams measures problems one after the other, and writes a page, with its figures and a table of its numbers
// in a folder beside it.
func (r *runner) writeDiagrams(
	out, table string, list []*stiffProblem, prepare func(*stiffProblem) (*stiffDiagram, error),
	figure func(*stiffDiagram) string, page func(d []*stiffDiagram, before string) []byte,
) error {
	before := load()
	var diagrams []*stiffDiagram
	for _, p := range list {
		start := time.Now()
		d, err := prepare(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		d.measure(r)
		diagrams = append(diagrams, d)
		fmt.Fprintf(os.Stderr, "%s: %.1f s\n", p.name, time.Since(start).Seconds())
	}
	folder := filepath.Join(filepath.Dir(out), "figures")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, table), stiffTable(diagrams), 0o644); err != nil {
		return err
	}
	for _, d := range diagrams {
		if err := drawCurves(filepath.Join(folder, figure(d)), d.problem.title, d.curves,
			func(c *curve) string { return c.name }); err != nil {
			return err
		}
	}
	return os.WriteFile(out, page(diagrams, before), 0o644)
}

func (d *stiffDiagram) figure() string { return "stiff_" + d.problem.name + ".svg" }

// stiffDiagram prepares the curves of all that take part, and the reference.
func (r *runner) stiffDiagram(p *stiffProblem) (*stiffDiagram, error) {
	d := &stiffDiagram{problem: p}
	var err error
	if d.states, d.params, err = p.sizes(); err != nil {
		return nil, err
	}
	if d.ref, d.foreign, err = r.stiffReference(p, d.params); err != nil {
		return nil, err
	}
	for _, method := range stiffMethods {
		c := &curve{name: "odes, " + method, ours: true, auto: method == "auto", tols: stiffTols}
		c.run = func(r *runner, tols []float64) ([]point, error) {
			return r.stiffOwn(p, method, d.ref, tols, slowest)
		}
		d.curves = append(d.curves, c)
	}
	add := func(name, program string, tols []float64, args ...any) {
		if r.peer("", program) == nil {
			return
		}
		c := &curve{name: name, tols: tols}
		c.run = func(r *runner, tols []float64) ([]point, error) {
			return r.stiffRival(p, program, args, d.ref, tols, c.points)
		}
		d.curves = append(d.curves, c)
	}
	if p.fatode {
		add("FATODE, Rodas4", "fatode_stiff_ros", stiffTols)
	}
	add(bdf, "cvodes_stiff", stiffTols, p.cvodes...)
	if p.petsc {
		add("PETSc, CN", "petsc_stiff", stiffTols[:6])
	}
	return d, nil
}

// sizes returns how many states the model has, and by how many params it is differentiated.
func (p *stiffProblem) sizes() (states, params int, err error) {
	m, err := p.parse()
	if err != nil {
		return 0, 0, err
	}
	symbols, err := m.Symbols(p.set)
	if err != nil {
		return 0, 0, err
	}
	for _, s := range symbols {
		n := 1
		for _, k := range s.Shape {
			n *= k
		}
		switch {
		case s.Kind == "state":
			states += n
		case s.Kind == "param" && slices.Contains(p.wrt, s.Name):
			params += n
		}
	}
	return states, params, nil
}

// stiffReference returns a file of the gradient that errors are measured by: that of the peers if they have one, else
// that of a run of odes with tight tolerances.
func (r *runner) stiffReference(p *stiffProblem, params int) (path string, foreign bool, err error) {
	path = filepath.Join(r.work, p.name+".ref")
	if b, err := os.ReadFile(filepath.Join(r.peers, "stiff_reference.json")); r.peers != "" && err == nil {
		var file struct {
			Cases []struct {
				ID      string
				J       float64
				Params  []float64 `json:"dJ_dp"`
				Initial []float64 `json:"dJ_dy0"`
			}
		}
		if err := json.Unmarshal(b, &file); err != nil {
			return "", false, err
		}
		for _, c := range file.Cases {
			if c.ID != p.name {
				continue
			}
			if len(c.Params) != params {
				return "", false, fmt.Errorf("the reference has derivatives by %d params, not %d", len(c.Params),
					params)
			}
			return path, true, gradient{c.J, c.Params, c.Initial}.write(path)
		}
	}
	tol := "1e-12"
	if p.species >= 100 || p.points > 0 {
		tol = "1e-9"
	}
	_, err = r.output([]string{
		r.self, "-worker", "stiff", "-problem", p.name, "-method", "rodas5p", "-tols", tol, "-dump",
		path,
	}, 1)
	return path, false, err
}

// stiffOwn measures odes at some tolerances, up to where a gradient takes longer than most seconds.
func (r *runner) stiffOwn(p *stiffProblem, method, ref string, tols []float64, most float64) ([]point, error) {
	var list []string
	for _, tol := range tols {
		list = append(list, fmt.Sprint(tol))
	}
	out, err := r.output([]string{
		r.self, "-worker", "stiff", "-problem", p.name, "-method", method, "-ref", ref, "-tols",
		strings.Join(list, ","), "-slowest", fmt.Sprint(most),
	}, 1)
	if err != nil {
		return nil, err
	}
	var points []point
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var pt point
		if err := dec.Decode(&pt); err != nil {
			return nil, err
		}
		points = append(points, pt)
	}
	return points, nil
}

// stiffRival measures another program. What is known from the round before says how often a process repeats itself.
func (r *runner) stiffRival(p *stiffProblem, program string, args []any, ref string, tols []float64, known []point) (
	[]point, error,
) {
	var points []point
	var failed error
	for i, tol := range tols {
		reps := 3
		if i < len(known) {
			reps = max(1, min(800, int(16*pointTime.Seconds()/known[i].Seconds)))
		}
		e := r.peer("", program, append([]any{
			"-problem", p.name, "-rtol", tol, "-reps", reps, "-ref", ref,
		}, args...)...)
		out, err := r.output(append([]string{"timeout", fmt.Sprint(2 * patience * slowest)}, e.args...), 1)
		if err != nil {
			failed = err // at this tolerance
			if i < len(known) {
				points = append(points, known[i])
			}
			continue
		}
		var s struct {
			Steps   int
			Total   float64 `json:"total_s"`
			Params  float64 `json:"err_p"`
			Initial float64 `json:"err_y0"`
		}
		if err := json.Unmarshal(out, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", program, err)
		}
		pt := point{Tol: tol, Steps: s.Steps, Error: max(s.Params, s.Initial), Seconds: s.Total}
		points = append(points, pt)
		if len(known) == 0 && (pt.Seconds > slowest || pt.Error < closest) {
			break
		}
	}
	if len(points) == 0 {
		return nil, failed
	}
	return points, nil
}

// at returns the time at which a curve reaches an error, between two of its points on logarithmic scales; infinite
// where it does not. A curve that has less error at its loosest tolerance has the time of that.
func (c *curve) at(err float64) float64 {
	t := c.within(err)
	for i := 1; i < len(c.points); i++ {
		a, b := c.points[i-1], c.points[i]
		if a.Error > err && b.Error < err && b.Error > 0 {
			s := math.Log(a.Error/err) / math.Log(a.Error/b.Error)
			t = min(t, a.Seconds*math.Pow(b.Seconds/a.Seconds, s))
		}
	}
	return t
}

// stiffTable writes all points as CSV.
func stiffTable(list []*stiffDiagram) []byte {
	var b bytes.Buffer
	b.WriteString("problem,states,params,curve,tolerance,steps,error,seconds\n")
	for _, d := range list {
		for _, c := range d.curves {
			for _, p := range c.points {
				fmt.Fprintf(&b, "%s,%d,%d,%q,%g,%d,%.3g,%.4g\n", d.problem.name, d.states, d.params, c.name, p.Tol,
					p.Steps, p.Error, p.Seconds)
			}
		}
	}
	return b.Bytes()
}
