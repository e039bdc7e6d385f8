package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"

	"odes.dev/odes"
)

// paperTable is a table of times that a document of examples/papers has between two marks.
type paperTable struct {
	path, name string
	write      func(r *runner, b *bytes.Buffer) error
}

var paperTables = []paperTable{
	{"examples/papers/vectorized_adjoint/README.md", "glv times", (*runner).glvTimes},
	{"examples/papers/denserks/README.md", "products", (*runner).productTimes},
}

// papers writes the tables of times, or the one with a name.
func (r *runner) papers(only string) error {
	for _, t := range paperTables {
		if only != "" && t.name != only {
			continue
		}
		var b bytes.Buffer
		if err := t.write(r, &b); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if err := writeTable(t.path, t.name, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// The study of the VectorizedAdjoint paper: sizes, tolerances and how many matrices are drawn.
var (
	paperSizes = []int{2, 5, 10, 20, 55, 100, 200}
	paperTols  = []float64{1e-4, 1e-7, 1e-10}
)

const (
	paperSeeds = 3
	paperFrom  = 20 // slopes are fitted from this size on; calls rule below it
)

// paperSolver has the method of the paper and its steps.
func paperSolver(tol float64) string {
	return fmt.Sprintf("method = ck45  rtol = %g  atol = %g  h0 = 1e-3  controller = odeint  stability = off", tol, tol)
}

func (r *runner) glvTimes(b *bytes.Buffer) error {
	heads := []string{"tolerance", "steps"}
	for _, n := range paperSizes {
		heads = append(heads, fmt.Sprintf("N = %d", n))
	}
	heads = append(heads, "slope over N", "slope over P")
	var rows [][]string
	for _, tol := range paperTols {
		times := make([][]float64, len(paperSizes)) // by size and seed
		var steps []float64
		for i, n := range paperSizes {
			for seed := 1; seed <= paperSeeds; seed++ {
				t, s, err := r.cpu(job{problem: fmt.Sprintf("glv-paper%d", seed), n: n, tol: tol})
				if err != nil {
					return err
				}
				times[i], steps = append(times[i], 1e3*t), append(steps, s)
			}
		}
		row := []string{fmt.Sprintf("%g", tol), spanned(steps)}
		for _, t := range times {
			row = append(row, spread(t))
		}
		var overN, overP []float64
		for seed := range paperSeeds {
			var ns, ps, ts []float64
			for i, n := range paperSizes {
				if n >= paperFrom {
					ns, ps = append(ns, float64(n)), append(ps, float64(n+n*n))
					ts = append(ts, times[i][seed])
				}
			}
			overN, overP = append(overN, fittedSlope(ns, ts)), append(overP, fittedSlope(ps, ts))
		}
		rows = append(rows, append(row, spread(overN), spread(overP)))
	}
	table(b, heads, rows)
	return nil
}

// productSizes are the numbers of params of table III of DENSERKS.
var productSizes = []int{100, 200, 400, 800, 1600, 3200, 6400, 12800}

// controlled is the optimal control problem of DENSERKS with n params, and what is asked of it: the gradient, or the
// product of the Hessian with (1, 1/2, 1/3, …) as well.
func controlled(n int, product bool) problem {
	ask := ""
	if product {
		ask = "hvp = v"
	}
	return problem{text: fmt.Sprintf(`model Controlled
const n = %d
const v[n] = [1/i for i in 1:n]
time t from 0 to 5
param p[n] = 1/n
state y1 = 0, y2 = 1
let u = t*sum(p[i]*p[i+1] for i in 1:n-1)
y1' = (1 - y2^2)*y1 - y2 + u
y2' = y1
objective J = integral(y1^2 + y2^2 + u^2)
sens { wrt = p  trust = off  %s }
solver { method = dop853  rtol = 1e-10  atol = 1e-10 }
`, n, ask)}
}

func (r *runner) productTimes(b *bytes.Buffer) error {
	var rows [][]string
	var ns, gradients, products []float64
	for _, n := range productSizes {
		g, steps, err := r.cpu(job{problem: "controlled", n: n})
		if err != nil {
			return err
		}
		p, _, err := r.cpu(job{problem: "controlled-product", n: n})
		if err != nil {
			return err
		}
		ns, gradients, products = append(ns, float64(n)), append(gradients, 1e3*g), append(products, 1e3*p)
		rows = append(rows, []string{
			fmt.Sprint(n), fmt.Sprintf("%.0f", steps), fmt.Sprintf("%.3g", 1e3*g), fmt.Sprintf("%.3g", 1e3*p),
			fmt.Sprintf("%.1f", p/g),
		})
	}
	half := len(ns) / 2
	rows = append(rows, []string{
		fmt.Sprintf("slope from %g", ns[half]), "", fmt.Sprintf("%.2f", fittedSlope(ns[half:], gradients[half:])),
		fmt.Sprintf("%.2f", fittedSlope(ns[half:], products[half:])), "",
	})
	table(b, []string{"params", "steps", "gradient", "and product", "ratio"}, rows)
	return nil
}

// cpu returns the time that a processor takes for one result of a job, and its steps. Processes that make different
// numbers of results are compared, so that starting and compiling do not count; the least of some rounds is taken.
func (r *runner) cpu(j job) (seconds, steps float64, err error) {
	few, many := 2, 4
	user := func(runs int) (float64, error) {
		args := []string{
			"-worker", "repeat", "-problem", j.problem, "-n", fmt.Sprint(j.n), "-tol", fmt.Sprint(j.tol), "-runs",
			fmt.Sprint(runs),
		}
		cmd := exec.Command(r.self, args...)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return 0, err
		}
		if _, err := fmt.Sscan(string(out), &steps); err != nil {
			return 0, err
		}
		return cmd.ProcessState.UserTime().Seconds(), nil
	}
	// as many as take a while
	for {
		t, err := user(many)
		if err != nil {
			return 0, 0, err
		}
		if t > 0.2 || many > 1<<18 {
			break
		}
		many *= 4
	}
	seconds = math.Inf(1)
	for range max(r.rounds, 1) {
		a, err := user(few)
		if err != nil {
			return 0, 0, err
		}
		b, err := user(many)
		if err != nil {
			return 0, 0, err
		}
		seconds = min(seconds, (b-a)/float64(many-few))
	}
	if seconds <= 0 {
		return 0, 0, fmt.Errorf("%s, n = %d: the clock of the processor is too coarse", j.problem, j.n)
	}
	return seconds, steps, nil
}

// repeat makes as many results as it is asked for, with one Runner, and prints the number of steps.
func (j *job) repeat() error {
	m, opts, err := j.model()
	if err != nil {
		return err
	}
	opts.Threads = 1
	opts.Settings = append(opts.Settings, odes.Setting{Key: "sens.trust", Value: "off"})
	r, err := m.Prepare(opts)
	if err != nil {
		return err
	}
	steps := 0
	for range j.runs {
		s, err := r.Sensitivities(context.Background())
		if err != nil {
			return err
		}
		steps = s.Stats.Steps
	}
	fmt.Println(steps)
	return nil
}

// fittedSlope is the slope of log y over log x by least squares.
func fittedSlope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(x))
	for i := range x {
		u, v := math.Log(x[i]), math.Log(y[i])
		sx, sy, sxx, sxy = sx+u, sy+v, sxx+u*u, sxy+u*v
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

// spread writes a mean and a standard deviation.
func spread(x []float64) string {
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / float64(max(len(x)-1, 1))
	}
	return fmt.Sprintf("%.3g ± %.1g", mean, math.Sqrt(square))
}

// spanned writes the least and the largest of whole numbers.
func spanned(x []float64) string {
	low, high := x[0], x[0]
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	if low == high {
		return fmt.Sprintf("%.0f", low)
	}
	return fmt.Sprintf("%.0f to %.0f", low, high)
}
