package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"odes.dev/odes"
)

const (
	// speciesError is the error of gradients of networks that times are compared at, of the largest entry by params and
	// of that by initial values.
	speciesError = 1e-5
	// speciesReference is the tolerance of the runs that errors are measured by.
	speciesReference = 1e-9
)

var (
	// speciesSizes are the numbers of species that are compared, the smallest first.
	speciesSizes = []int{1000, 3000, 10_000}
	// speciesTols are the tolerances that are tried, until an error is small enough.
	speciesTols = []float64{2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6, 1e-6}
)

// drawnGradient is what the first gradient of a network took, from its text on.
type drawnGradient struct {
	Tol     float64 `json:"rtol"`
	Error   float64 `json:"error"`
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"`
	Memory  float64 `json:"memory_mb"` // the most that the process had
}

// species prints what a gradient of a network took.
func (j *job) species() error {
	out, err := j.drawn()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// drawn measures one gradient of a network with four reactions for each species, by all rate constants and initial
// values, in this process.
func (j *job) drawn() (out drawnGradient, err error) {
	net := newStiffNetwork(j.n, 4*j.n, j.seed)
	p, text := stiffNetworkProblem(j.n, len(net.k)), net.text()
	start := time.Now()
	m, err := odes.Parse(p.name+".ode", text, odes.ParseOptions{})
	if err != nil {
		return out, err
	}
	opts := p.options("rodas5p", "adjoint", j.tol)
	opts.Settings = append(opts.Settings,
		odes.Setting{Key: "solver.atol", Value: "1e-12"},
		odes.Setting{Key: "solver.stability", Value: "off"},
		odes.Setting{Key: "solver.memory", Value: `"4 GB"`})
	r, err := m.Prepare(opts)
	if err != nil {
		return out, err
	}
	s, err := r.Sensitivities(context.Background())
	if err != nil {
		return out, err
	}
	out = drawnGradient{
		Tol: j.tol, Steps: s.Stats.Steps, Seconds: time.Since(start).Seconds(), Memory: resident() / 1e6,
	}
	g := p.gradient(s)
	if j.dump != "" {
		if err := g.write(j.dump); err != nil {
			return out, err
		}
	}
	if j.ref != "" {
		ref, err := readGradient(j.ref, len(net.k))
		if err != nil {
			return out, err
		}
		out.Error = g.apart(ref, net.k)
	}
	return out, nil
}

// writeSpecies measures networks of several sizes, drawn with the seeds that draws lists with commas between, and
// writes the table of docs/methods-linear.md.
func (r *runner) writeSpecies(page, draws string) error {
	var b strings.Builder
	b.WriteString("| draw | species | `rtol` | error | steps | memory, MB | time, s | ratio |\n")
	b.WriteString("|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for word := range strings.SplitSeq(draws, ",") {
		draw, err := strconv.ParseUint(strings.TrimSpace(word), 10, 64)
		if err != nil {
			return fmt.Errorf("the draw %q is no number", word)
		}
		least := math.NaN() // the time of the smallest
		for _, n := range speciesSizes {
			ref := filepath.Join(r.work, fmt.Sprintf("species-%d-%d.ref", draw, n))
			if _, err := os.Stat(ref); err != nil { // it takes minutes, and may be left of an earlier call
				if _, err := r.drawnGradient(draw, n, speciesReference, "-dump", ref); err != nil {
					return err
				}
			}
			var one drawnGradient
			for _, tol := range speciesTols {
				if one, err = r.drawnGradient(draw, n, tol, "-ref", ref); err != nil {
					return err
				}
				if one.Error <= speciesError {
					break
				}
			}
			for range r.rounds - 1 {
				again, err := r.drawnGradient(draw, n, one.Tol, "-ref", ref)
				if err != nil {
					return err
				}
				one.Seconds = min(one.Seconds, again.Seconds)
			}
			ratio := ""
			if math.IsNaN(least) {
				least = one.Seconds
			} else {
				ratio = fmt.Sprintf("%.1f", one.Seconds/least)
			}
			fmt.Fprintf(&b, "| %d | %d | %g | %.1g | %d | %.0f | %.3g | %s |\n", draw, n, one.Tol, one.Error,
				one.Steps, one.Memory, one.Seconds, ratio)
		}
	}
	return writeTable(page, "species", b.String())
}

// drawnGradient measures one gradient of a network in a process of its own.
func (r *runner) drawnGradient(draw uint64, n int, tol float64, more ...string) (out drawnGradient, err error) {
	text, err := r.output(slices.Concat([]string{
		r.self, "-worker", "species", "-seed", fmt.Sprint(draw), "-n", fmt.Sprint(n), "-tol", fmt.Sprint(tol),
	}, more), 1)
	if err != nil {
		return out, err
	}
	err = json.Unmarshal(text, &out)
	fmt.Fprintf(os.Stderr, "draw %d, %d species: %+v\n", draw, n, out)
	return out, err
}
