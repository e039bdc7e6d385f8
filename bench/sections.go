package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

var glvSizes = []int{10, 55, 100, 200}

// reps is how many gradients a process makes in a turn.
func reps(n int) int {
	switch {
	case n <= 10:
		return 200
	case n <= 55:
		return 20
	case n <= 100:
		return 8
	default:
		return 4
	}
}

func (r *runner) glv(b *bytes.Buffer) error {
	fmt.Fprint(b, `## Lotka–Volterra: many objectives, many parameters

The model is x' = x (r + A x) for N species over ten units of time. The N end values are differentiated by N + N²
parameters and N initial values. The tolerance is 1e-7 and the first step is 1e-3. The method is Dormand–Prince with
integral control of the step, as in all explicit programs here. The checksum is the Frobenius norm of the
derivatives by parameters. Ratios are to *limit*.

- *limit* is a program in C written for this one model. It computes all objectives at once, defers parameter
  gradients to matrix products, and uses OpenBLAS.
- *PETSc* is TSAdjoint with a hand-written, vectorised right-hand side and transpose.
- *CVODES* integrates a continuous adjoint problem for each objective.

The programs take different numbers of steps. From the first step on, odes and *limit* let a step be up to 5 times
as long as the one before, the usual bound of integral control. PETSc lets it grow 10 times and so needs fewer
steps. The row *growth ≤ 10* is odes with PETSc's bound (`+"`max_growth = 10`"+`). Compare it with PETSc, at the same
number of steps, and the row above it with *limit*. The ratio per step compares all programs.

On processors with AVX-512, odes uses it for matrix products and in the machine code that it generates for everything
else. The rows *AVX2*, here and below, show odes on processors without AVX-512 (`+"`ODES_BACKEND=native256`"+`). The
rows *no machine code* show odes on systems that do not let programs generate code (`+"`ODES_BACKEND=avx2`"+`).

`)
	for _, n := range glvSizes {
		k := reps(n)
		entrants := r.race(
			r.own("odes, 1 thread", job{problem: "glv", n: n, tol: 1e-7, runs: k}),
			r.own("odes, 1 thread, growth ≤ 10", job{problem: "glv-grow", n: n, tol: 1e-7, runs: k}),
			r.own("odes, 2 threads", job{problem: "glv", n: n, tol: 1e-7, runs: k, threads: 2}),
			with(narrow, r.own("odes, 1 thread, AVX2", job{problem: "glv", n: n, tol: 1e-7, runs: k})),
			with(codeless, r.own("odes, 1 thread, no machine code", job{problem: "glv", n: n, tol: 1e-7, runs: k})),
			r.peer("limit", "glv_limit", "-n", n, "-rtol", 1e-7, "-reps", k),
			r.peer("PETSc", "petsc_glv", "-n", n, "-rtol", 1e-7, "-reps", max(k/4, 2)),
			slow(r.peer("CVODES", "cvodes_glv", "-n", n, "-rtol", 1e-7, "-reps", 2)),
		)
		if len(entrants) == 0 {
			return fmt.Errorf("nothing ran for n = %d", n)
		}
		fmt.Fprintf(b, "N = %d\n\n", n)
		standings(b, entrants, "limit", ms, "ms")
	}
	return nil
}

// with starts e by a command.
func with(command []string, e *entrant) *entrant {
	e.args = append(slices.Clip(command), e.args...)
	return e
}

// narrow starts a program without AVX-512, and codeless one without machine code as well.
var (
	narrow   = []string{"env", "ODES_BACKEND=native256"}
	codeless = []string{"env", "ODES_BACKEND=avx2"}
)

func slow(e *entrant) *entrant {
	if e != nil {
		e.once = true
	}
	return e
}

// difference is how far derivatives are from a reference: the largest difference over the largest entry.
func difference(x, ref []float64, n int) (params, initial float64) {
	w := 2*n + n*n
	var most, apart [2]float64
	for i, v := range ref {
		k := 0
		if i%w >= n+n*n {
			k = 1
		}
		most[k], apart[k] = max(most[k], math.Abs(v)), max(apart[k], math.Abs(x[i]-v))
	}
	return apart[0] / most[0], apart[1] / most[1]
}

func readDump(path string) ([]float64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	x := make([]float64, len(b)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return x, nil
}

func (r *runner) accuracy(b *bytes.Buffer) error {
	fmt.Fprint(b, `## Accuracy of those runs

The table shows the largest difference of a derivative from the reference, divided by the largest derivative. The
reference is odes at tolerance 1e-13 with a method of order 9. The last row of each N compares the reference with
1000 fixed steps of a hand-written adjoint of order 4.

`)
	heads := []string{"", "N", "by parameters", "by initial values"}
	var rows [][]string
	for _, n := range glvSizes {
		file := func(name string) string { return filepath.Join(r.work, fmt.Sprintf("%s%d.bin", name, n)) }
		e := r.own("", job{problem: "glv-tight", n: n, tol: 1e-13})
		if _, err := r.output(append(e.args, "-dump", file("tight")), 1); err != nil {
			return err
		}
		ref, err := readDump(file("tight"))
		if err != nil {
			return err
		}
		row := func(name string, e *entrant, dump ...string) error {
			if e == nil {
				return nil
			}
			to := dump[len(dump)-1]
			if _, err := r.output(append(e.args, dump...), 1); err != nil {
				return err
			}
			x, err := readDump(to)
			os.Remove(to)
			if err != nil {
				return err
			}
			if len(x) != len(ref) {
				return fmt.Errorf("%s wrote %d numbers, not %d", name, len(x), len(ref))
			}
			p, y := difference(x, ref, n)
			rows = append(rows, []string{name, fmt.Sprint(n), fmt.Sprintf("%.1e", p), fmt.Sprintf("%.1e", y)})
			return nil
		}
		if err := row("odes", r.own("", job{problem: "glv", n: n, tol: 1e-7}), "-dump", file("odes")); err != nil {
			return err
		}
		if err := row("odes, growth ≤ 10", r.own("", job{problem: "glv-grow", n: n, tol: 1e-7}), "-dump",
			file("odes")); err != nil {
			return err
		}
		if err := row("PETSc", r.peer("", "petsc_glv", "-n", n, "-rtol", 1e-7, "-reps", 1), "-dump",
			file("petsc")); err != nil {
			return err
		}
		if err := row("reference, RK4", r.peer("", "glv_limit", "-n", n, "-fixed", 1000), "-dump",
			file("rk4")); err != nil {
			return err
		}
		os.Remove(file("tight"))
	}
	table(b, heads, rows)
	return nil
}

func (r *runner) vdp(b *bytes.Buffer) error {
	fmt.Fprint(b, `## Van der Pol: two states, hundreds of steps

μ = 1000, on the slow manifold for half a unit of time, tolerance 1e-6. Both end values are differentiated by μ,
including the dependence of the initial value on it. There is next to no arithmetic here, so the measurement shows
the cost of everything else. After four thousand steps odes compiles a whole step, and its transpose, as one
program. The first few gradients of a process are therefore slower; the median describes the others. CVODES has the
advantage of an implicit method.

`)
	entrants := r.race(
		r.own("odes", job{problem: "vdp", n: 2, tol: 1e-6, runs: 100}),
		with(narrow, r.own("odes, AVX2", job{problem: "vdp", n: 2, tol: 1e-6, runs: 100})),
		with(codeless, r.own("odes, no machine code", job{problem: "vdp", n: 2, tol: 1e-6, runs: 100})),
		r.peer("PETSc", "petsc_vdp", "-rtol", 1e-6, "-reps", 5),
		r.peer("CVODES, BDF", "cvodes_vdp", "-rtol", 1e-6, "-reps", 5),
	)
	standings(b, entrants, "", ms, "ms")
	f := entrants[0].figure()
	fmt.Fprintf(b, "odes: %.0f ns a step forward, %.0f ns backward.\n\n", 1e9*f.forward/f.steps, 1e9*f.adjoint/f.steps)
	return nil
}

func (r *runner) grayScott(b *bytes.Buffer) error {
	fmt.Fprint(b, `## Gray–Scott: a stencil

The problem is a periodic grid of 100 × 100 points with two substances ([grayscott.ode](../bench/grayscott.ode)). It
is integrated by ten steps of the classical method of order 4. The one objective, ½‖U(T)‖², is differentiated by the
20,000 initial values. PETSc has hand-written C for both directions and keeps the stages, as odes does. The checksum
is the norm of the gradient.

`)
	entrants := r.race(
		r.own("odes, 1 thread", job{problem: "grayscott", n: 100, runs: 60}),
		r.own("odes, 2 threads", job{problem: "grayscott", n: 100, runs: 60, threads: 2}),
		with(narrow, r.own("odes, 1 thread, AVX2", job{problem: "grayscott", n: 100, runs: 60})),
		with(codeless, r.own("odes, 1 thread, no machine code", job{problem: "grayscott", n: 100, runs: 60})),
		r.peer("PETSc", "petsc_grayscott", "-reps", 12),
	)
	standings(b, entrants, "PETSc", ms, "ms")
	fmt.Fprint(b, `The second problem is ten steps of the Crank–Nicolson scheme on 64 × 64 points, as in PETSc's
tutorials. The steps are short, so the matrix is diagonally dominant, and odes solves the equations without factors
([methods](methods-linear.md#linear-equations)). odes solves the stages to rounding error. PETSc solves them to 1e-8
with factors, its default. In the last row PETSc uses GMRES with ILU(0) instead.

`)
	entrants = r.race(
		r.own("odes, 1 thread", job{problem: "grayscott-cn", n: 64, runs: 30}),
		r.peer("PETSc", "petsc_grayscott_cn", "-reps", 5),
		r.peer("PETSc, GMRES", "petsc_grayscott_cn", "-reps", 12, "-ksp_type", "gmres", "-pc_type", "ilu"),
	)
	standings(b, entrants, "PETSc", ms, "ms")
	return nil
}

func (r *runner) examples(b *bytes.Buffer) error {
	list, err := r.measured("env")
	if err != nil {
		return err
	}
	without, err := r.measured(narrow...)
	if err != nil {
		return err
	}
	var one, eight [][]string
	for i, e := range list {
		w := without[i].One
		one = append(one, []string{
			e.Name, fmt.Sprint(e.Steps), fmt.Sprint(e.Columns), ms(e.One.Forward), ms(e.One.Adjoint),
			ratio(e.One.Adjoint, e.One.Forward),
			ms(w.Forward), ms(w.Adjoint), ratio(w.Adjoint, w.Forward),
		})
		if e.Eight.Forward > 0 {
			a, z := e.One.Forward+e.One.Adjoint, e.Eight.Forward+e.Eight.Adjoint
			eight = append(eight, []string{
				e.Name, fmt.Sprint(e.Objectives), ms(a), ms(z), ratio(z, a),
				ratio(e.Eight.Adjoint, e.One.Adjoint),
			})
		}
	}
	for _, n := range []int{55, 100} {
		f := r.pair("glv", n, 1e-7, "x_T[1]", glvObjectives(8))
		eight = append(eight, []string{
			fmt.Sprintf("Lotka–Volterra, N = %d", n), fmt.Sprint(n), ms(f[0].least),
			ms(f[1].least), ratio(f[1].least, f[0].least), ratio(f[1].adjoint, f[0].adjoint),
		})
	}
	f := r.pair("network", 200, 0, "x0", "x0,x1,x2,x3,x4,x5,x6,x7")
	eight = append(eight, []string{
		"network, 200 species", "8", ms(f[0].least), ms(f[1].least),
		ratio(f[1].least, f[0].least), ratio(f[1].adjoint, f[0].adjoint),
	})
	fmt.Fprint(b, `## One objective: the cost of the adjoint beside the run

The first objective of every example is differentiated by all variables that its file names, on one thread. Times are
medians in ms.

`)
	table(b, []string{
		"", "steps", "derivatives", "forward", "adjoint", "adjoint/forward", "AVX2: forward", "adjoint",
		"adjoint/forward",
	}, one)
	fmt.Fprint(b, `## Eight objectives against one

Up to eight objectives share one adjoint sweep, each in its own lane of a vector register. Times are those of a gradient
in ms, forward and adjoint together.

The work that all objectives share is done once: the run, the recomputation of its stages on the backward pass, and
the reading of every instruction and constant. The other work grows with the number of objectives. In the
Lotka–Volterra models it is one product of the matrix and a vector and one outer product per stage and objective, N²
multiply-adds each; the shared part is two products. The arithmetic of eight objectives is therefore
(16 + 2)/(2 + 2) = 4.5 times that of one. They cost less than that for two reasons: the shared work is done once, and
products of matrices use a vector unit better than products with one vector.

`)
	table(b, []string{"", "objectives in the model", "one", "eight", "ratio", "ratio of the adjoints"}, eight)
	return nil
}

// measured measures all examples in a process that the command starts.
func (r *runner) measured(command ...string) (list []example, err error) {
	out, err := r.output(append(slices.Clip(command), r.self, "-worker", "examples"), 1)
	if err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var e example
		if err := dec.Decode(&e); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// pair races two sets of objectives of one problem.
func (r *runner) pair(problem string, n int, tol float64, a, b string) [2]figure {
	both := [2]*entrant{
		r.own("", job{problem: problem, n: n, tol: tol, runs: 20, of: a}),
		r.own("", job{problem: problem, n: n, tol: tol, runs: 20, of: b}),
	}
	r.race(both[:]...)
	return [2]figure{both[0].figure(), both[1].figure()}
}

func glvObjectives(k int) string {
	var names []string
	for i := range k {
		names = append(names, fmt.Sprintf("x_T[%d]", i+1))
	}
	return strings.Join(names, ",")
}

func (r *runner) network(b *bytes.Buffer) error {
	const species = 200
	net := newNetwork(species, 5*species/2)
	fmt.Fprintf(b, `## A reaction network written scalar by scalar, beside C

%d species and %d mass-action reactions are drawn at random and written one by one, as a converter would write
them. The table shows one evaluation of the right-hand side and of its transpose (by states and rate constants, for
all lanes together). Beside it are the same formulas in straight-line C, gcc -O3 -march=native. Times are in
nanoseconds, the least of several batches.

`, species, len(net.reactions))
	source, program := filepath.Join(r.work, "network.c"), filepath.Join(r.work, "network")
	if err := os.WriteFile(source, net.program(), 0o644); err != nil {
		return err
	}
	var c networkSums
	if _, err := exec.LookPath("gcc"); err == nil {
		if _, err := r.output([]string{"gcc", "-O3", "-march=native", "-o", program, source}, 0); err != nil {
			return err
		}
	}
	type kind struct{ rhs, vjp, vjp8 float64 } // least times
	never := kind{math.Inf(1), math.Inf(1), math.Inf(1)}
	inC, own := never, [2]kind{never, never} // with AVX-512, and without
	for range min(r.rounds, 4) {
		if _, err := os.Stat(program); err == nil {
			out, err := r.output([]string{program}, 1)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(out, &c); err != nil {
				return err
			}
			inC = kind{min(inC.rhs, c.RHS), min(inC.vjp, c.VJP1), min(inC.vjp8, c.VJP8)}
		}
		for i, command := range [][]string{{"env"}, narrow} {
			for _, lanes := range []int{1, 8} {
				out, err := r.output(append(slices.Clip(command), r.self, "-worker", "evaluations", "-problem",
					"network", "-n", fmt.Sprint(species), "-lanes", fmt.Sprint(lanes)), 1)
				if err != nil {
					return err
				}
				var e evaluation
				if err := json.Unmarshal(out, &e); err != nil {
					return err
				}
				if k := &own[i]; lanes == 1 {
					k.rhs, k.vjp = min(k.rhs, e.RHS.Nanoseconds), min(k.vjp, e.VJP.Nanoseconds)
				} else {
					k.vjp8 = min(k.vjp8, e.VJP.Nanoseconds)
				}
			}
		}
	}
	row := func(name string, of func(kind) float64) []string {
		ns := func(x float64) string { return fmt.Sprintf("%.0f", x) }
		fast, slow, c := of(own[0]), of(own[1]), of(inC)
		return []string{name, ns(fast), ns(slow), ns(c), ratio(fast, c), ratio(slow, c)}
	}
	table(b, []string{"", "odes", "odes, AVX2", "C", "ratio", "AVX2: ratio"}, [][]string{
		row("right-hand side", func(k kind) float64 { return k.rhs }),
		row("transpose, 1 lane", func(k kind) float64 { return k.vjp }),
		row("transpose, 8 lanes", func(k kind) float64 { return k.vjp8 }),
	})
	if c.RHS == 0 {
		return nil
	}
	out, err := r.output([]string{r.self, "-worker", "step", "-problem", "network-step", "-n", fmt.Sprint(species)}, 1)
	if err != nil {
		return err
	}
	var s networkSums
	if err := json.Unmarshal(out, &s); err != nil {
		return err
	}
	apart := max(math.Abs(s.F-c.F)/math.Abs(c.F), math.Abs(s.Y-c.Y)/math.Abs(c.Y), math.Abs(s.K-c.K)/math.Abs(c.K))
	fmt.Fprintf(b, "Both compute the same: weighted sums over the right-hand side and over its transpose differ by "+
		"%.0e at most.\n\n", apart)
	if apart > 1e-9 {
		return fmt.Errorf("the network in C and in odes differ by %g", apart)
	}
	return nil
}

// scaling measures odes alone, one thread.
func (r *runner) scaling(b *bytes.Buffer) error {
	fmt.Fprint(b, "## How cost grows\n\nodes alone, one thread, least times in ms.\n\n")
	rounds := r.rounds
	r.rounds = max(2, rounds/3)
	defer func() { r.rounds = rounds }()
	rows := func(jobs []job, label func(job) string) ([][]string, []figure) {
		var list []*entrant
		for _, j := range jobs {
			list = append(list, r.own(label(j), j))
		}
		var rows [][]string
		var figures []figure
		for _, e := range r.race(list...) {
			f := e.figure()
			figures = append(figures, f)
			rows = append(rows, []string{
				e.name, fmt.Sprintf("%.0f", f.steps), ms(f.forward), ms(f.adjoint),
				ms(f.least),
			})
		}
		return rows, figures
	}
	write := func(what string, jobs []job, label func(job) string, why string, per func(job) float64, perName string) {
		rows, figures := rows(jobs, label)
		for i := range rows {
			if len(rows) == len(jobs) {
				rows[i] = append(rows[i], digits(1e9*figures[i].least/figures[i].steps/per(jobs[i]), 3))
			} else {
				rows[i] = append(rows[i], "–")
			}
		}
		table(b, []string{
			what, "steps", "forward", "adjoint", "gradient",
			strings.TrimSuffix("ns per step and "+perName, " and "),
		}, rows)
		fmt.Fprintf(b, "%s\n\n", why)
	}
	each := func(list []int, make func(int) job) (jobs []job) {
		for _, n := range list {
			jobs = append(jobs, make(n))
		}
		return jobs
	}
	n := func(j job) string { return fmt.Sprint(j.n) }
	write("species N", each([]int{5, 10, 20, 50, 100, 200, 300},
		func(n int) job { return job{problem: "glv", n: n, tol: 1e-7, runs: reps(n)} }), n,
		`Lotka–Volterra, N objectives. A step is N products of a matrix and a vector per stage, and N outer products,
so its cost grows with N³. Below N = 50, the overhead of calls is visible.`,
		func(j job) float64 { return math.Pow(float64(j.n), 3) }, "N³")
	write("species N", each([]int{5, 10, 20, 50, 100, 200, 300},
		func(n int) job { return job{problem: "glv", n: n, tol: 1e-7, runs: reps(n), of: "x_T[1]"} }), n,
		`Lotka–Volterra, one objective. The cost grows with N². The matrix is read once forward and twice backward.
The gradient, N² numbers, is written once.`,
		func(j job) float64 { return math.Pow(float64(j.n), 2) }, "N²")
	count := func(list string) int { return strings.Count(list, ",") + 1 }
	write("objectives", each([]int{1, 2, 4, 8, 16, 32, 64, 200}, func(k int) job {
		return job{problem: "glv", n: 200, tol: 1e-7, runs: 6, of: glvObjectives(k)}
	}), func(j job) string { return fmt.Sprint(count(j.of)) },
		`Lotka–Volterra, N = 200. Up to eight objectives share one sweep and one reading of the matrix. The second to
the eighth therefore cost little more than writing their rows (320 kB each). More than eight objectives take several
sweeps. Two lanes cost as much as four, because a vector holds four.`,
		func(j job) float64 { return float64(count(j.of)) }, "objective")
	write("parameters", each([]int{1, 5, 50, 500}, func(k int) job {
		var names []string
		for i := range k {
			names = append(names, fmt.Sprintf("k%d", i))
		}
		return job{problem: "network", n: 200, runs: 20, of: "x0", wrt: strings.Join(names, ",")}
	}), func(j job) string { return fmt.Sprint(count(j.wrt)) },
		`Reaction network of 200 species, one objective. The sweep carries the cotangents of all states, whichever
derivatives are wanted. A parameter adds one product and one sum per stage.`,
		func(j job) float64 { return float64(count(j.wrt)) }, "parameter")
	write("step", []job{
		{problem: "glv-fixed", n: 20, tol: 1, runs: 60},
		{problem: "glv-fixed", n: 20, tol: 0.1, runs: 60},
		{problem: "glv-fixed", n: 20, tol: 0.01, runs: 6},
		{problem: "glv-fixed", n: 20, tol: 0.001, runs: 3},
	},
		func(j job) string { return fmt.Sprint(j.tol) },
		`Lotka–Volterra, N = 20, fixed steps of the classical method. The cost is linear in the number of steps. The
stages are kept, 800 numbers a step. Long runs no longer fit in the first cache.`,
		func(job) float64 { return 1 }, "")
	write("grid", each([]int{16, 32, 64, 100, 128, 256}, func(n int) job {
		return job{problem: "grayscott", n: n, runs: 40}
	}),
		func(j job) string { return fmt.Sprintf("%d × %d", j.n, j.n) },
		`Gray–Scott. The cost is linear in the number of points. The time per point rises when the stages of a step no
longer fit in a cache.`,
		func(j job) float64 { return float64(j.n * j.n) }, "point")
	return nil
}
