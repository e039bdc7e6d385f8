// Command bench measures odes and writes docs/benchmarks.md, or with -precision docs/precision.md, or with -stiff
// docs/stiff.md, or with -families docs/families.md. bench/run builds and starts it.
//
// It holds the problems (models.go, network.go, stiff_problems.go) and runs odes and other programs in turns, each in a
// process of its own. The other programs are looked for in a folder. Each prints a JSON line per gradient
// with steps, forward_s, adjoint_s, total_s and checksum.
//
// It must not know any result beforehand: what a page says of a ratio is computed from what was measured.
// It uses odes through its public API only.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	var j job
	worker := flag.String("worker", "", "measure in this process: gradients, precision, stiff, evaluations, step, "+
		"examples, growth, species or repeat")
	flag.StringVar(&j.problem, "problem", "glv", "of the worker")
	flag.IntVar(&j.n, "n", 10, "size of the worker's problem")
	flag.Float64Var(&j.tol, "tol", 1e-7, "tolerance, or step, of the worker's problem")
	flag.IntVar(&j.threads, "threads", 1, "of the worker")
	flag.IntVar(&j.lanes, "lanes", 0, "of the worker; 0: chosen")
	flag.IntVar(&j.runs, "runs", 5, "gradients of the worker")
	flag.StringVar(&j.of, "of", "", "objectives of the worker")
	flag.StringVar(&j.wrt, "wrt", "", "variables of the worker")
	flag.StringVar(&j.dump, "dump", "", "where the worker writes its first gradient")
	flag.StringVar(&j.method, "method", "auto", "of the worker's runs (worker precision)")
	flag.StringVar(&j.mode, "mode", "adjoint", "of the worker's derivatives (worker precision)")
	flag.BoolVar(&j.wanted, "wanted", false, "ask for the worker's tolerance as sens_tol, too (worker precision)")
	flag.StringVar(&j.tols, "tols", "1e-6", "tolerances of the worker, with commas between (worker precision)")
	flag.StringVar(&j.ref, "ref", "", "a gradient, a number a line, that errors are measured by (worker stiff)")
	flag.Float64Var(&j.slowest, "slowest", slowest, "seconds of a gradient at which a curve ends (worker stiff)")
	flag.Uint64Var(&j.seed, "seed", 1, "seed of the worker's network (worker species)")
	r := &runner{}
	flag.StringVar(&r.peers, "peers", "", "folder with the programs to compare with")
	flag.StringVar(&r.work, "work", os.TempDir(), "folder for what is built on the way")
	flag.StringVar(&r.core, "core", "1", "core for programs with one thread; empty: any")
	flag.IntVar(&r.rounds, "rounds", 0, "turns that every program gets; 0: 7, 3 with -precision or -stiff, "+
		"2 with -families or -species")
	out := flag.String("out", "", "page to write; empty: docs/benchmarks.md, docs/precision.md or docs/stiff.md")
	only := flag.String("only", "", "measure one section only, and print it: "+sectionNames()+
		"; with -precision one diagram; with -stiff some, with commas between")
	study := flag.Bool("precision", false, "measure error against time instead, and write docs/precision.md and "+
		"its figures")
	prices := flag.Bool("prices", false, "measure what each default costs: a table of docs/methods-steps.md")
	other := flag.String("against", "", "compare the examples with this command, odes of another version, and print it")
	stiff := flag.Bool("stiff", false, "measure error against time of stiff models instead, and write docs/stiff.md "+
		"and its figures")
	kinds := flag.Bool("families", false, "measure error against time of families of methods instead, and write "+
		"docs/families.md and its figures")
	papers := flag.Bool("papers", false, "measure the tables of times in examples/papers, and write them; with -only "+
		"one of them")
	growth := flag.Bool("growth", false, "measure how cost grows, and write that section of docs/benchmarks.md and "+
		"its figures")
	species := flag.String("species", "", "measure networks of 1,000 to 10,000 species drawn with these seeds, with "+
		"commas between, and write the table of docs/methods-linear.md")
	drawn := flag.Bool("draw", false, "draw the figures of docs/precision.md, docs/stiff.md, docs/families.md and "+
		"growth in docs/benchmarks.md anew, from their tables of numbers")
	flag.Parse()
	if *drawn {
		return redraw("docs/figures")
	}
	switch *worker {
	case "":
	case "gradients":
		return j.gradients()
	case "precision":
		return j.precision()
	case "stiff":
		return j.stiff()
	case "evaluations":
		return j.evaluations()
	case "step":
		return j.step()
	case "examples":
		return examples()
	case "growth":
		return j.growth()
	case "species":
		return j.species()
	case "repeat":
		return j.repeat()
	default:
		return fmt.Errorf("no worker %q", *worker)
	}
	var err error
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	if _, err := exec.LookPath("taskset"); err != nil {
		r.core = ""
	}
	if *prices {
		return writePrices(cmp.Or(*out, "docs/methods-steps.md"))
	}
	if *species != "" {
		r.rounds = cmp.Or(r.rounds, 2)
		return r.writeSpecies(cmp.Or(*out, "docs/methods-linear.md"), *species)
	}
	if *other != "" {
		r.rounds = cmp.Or(r.rounds, 7)
		return r.against(*other, os.Stdout)
	}
	if *papers {
		r.rounds = cmp.Or(r.rounds, 3)
		return r.papers(*only)
	}
	if *study {
		r.rounds = cmp.Or(r.rounds, 3)
		return r.writePrecision(*out, *only)
	}
	if *stiff {
		r.rounds = cmp.Or(r.rounds, 3)
		return r.writeStiff(*out, *only)
	}
	if *kinds {
		r.rounds = cmp.Or(r.rounds, 2)
		return r.writeFamilies(*out, *only)
	}
	path := cmp.Or(*out, "docs/benchmarks.md")
	if *growth {
		return r.rewriteGrowth(path)
	}
	r.rounds = cmp.Or(r.rounds, 7)
	page, err := r.page(*only)
	if err != nil {
		return err
	}
	if *only != "" {
		_, err = os.Stdout.Write(page)
		return err
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, append(page, kept(old)...), 0o644)
}

// kept returns the last sections of a page, which are not written here: what was measured on another processor, and
// what python/bench/latency.py writes.
func kept(page []byte) []byte {
	for _, section := range []string{"\n## On a processor that halves AVX-512\n", "\n## From Python\n"} {
		if at := bytes.Index(page, []byte(section)); at >= 0 {
			return page[at:]
		}
	}
	return nil
}
