package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// runner starts the programs that take part.
type runner struct {
	self   string // this program
	peers  string // folder of built peers; "" for none
	work   string
	core   string // the core that single-threaded programs are bound to; "" for any
	rounds int
}

// entrant is a program and what it printed, over all rounds.
type entrant struct {
	name    string
	args    []string // the program first
	threads int
	once    bool // slow: take part in the first round only
	samples []sample
	failed  error
}

// own is an entrant that is odes.
func (r *runner) own(name string, j job) *entrant {
	j.runs = max(j.runs, 2)
	args := []string{
		r.self, "-worker", "gradients", "-problem", j.problem, "-n", fmt.Sprint(j.n), "-tol", fmt.Sprint(j.tol),
		"-threads", fmt.Sprint(max(j.threads, 1)), "-runs", fmt.Sprint(j.runs), "-lanes", fmt.Sprint(j.lanes), "-of",
		j.of, "-wrt", j.wrt,
	}
	return &entrant{name: name, args: args, threads: max(j.threads, 1)}
}

// peer is an entrant of the folder of peers; nil if it is not there.
func (r *runner) peer(name, program string, args ...any) *entrant {
	path := filepath.Join(r.peers, program)
	if _, err := os.Stat(path); r.peers == "" || err != nil {
		return nil
	}
	e := &entrant{name: name, args: []string{path}, threads: 1}
	for _, a := range args {
		e.args = append(e.args, fmt.Sprint(a))
	}
	return e
}

// output runs a program, on one core if it has one thread.
func (r *runner) output(args []string, threads int) ([]byte, error) {
	if r.core != "" && threads == 1 {
		args = append([]string{"taskset", "-c", r.core}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// race lets the entrants run in turns, so that whatever else the machine does
// meets them all. The first gradient of each process is dropped: it pays for fresh
// memory and first use. Entrants that are nil do not start.
func (r *runner) race(entrants ...*entrant) []*entrant {
	entrants = slices.DeleteFunc(entrants, func(e *entrant) bool { return e == nil })
	for round := range r.rounds {
		for _, e := range entrants {
			if e.failed != nil || e.once && round > 0 {
				continue
			}
			out, err := r.output(e.args, e.threads)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				e.failed = err
				continue
			}
			lines := bufio.NewScanner(bytes.NewReader(out))
			for first := true; lines.Scan(); {
				var s sample
				if json.Unmarshal(lines.Bytes(), &s) != nil || s.Total == 0 {
					continue
				}
				if !first || s.Median > 0 {
					e.samples = append(e.samples, s)
				}
				first = false
			}
		}
	}
	return slices.DeleteFunc(entrants, func(e *entrant) bool { return len(e.samples) == 0 })
}

// figure is what is told of an entrant, in seconds.
type figure struct {
	steps            float64
	median, least    float64
	forward, adjoint float64 // of the least
	checksum         float64
}

func (e *entrant) figure() figure {
	var totals []float64
	f := figure{least: -1}
	for _, s := range e.samples {
		total, checksum := s.Total, s.Checksum
		if s.Median > 0 {
			total, checksum = s.Median, s.Norm
		}
		totals = append(totals, total)
		if f.least < 0 || s.Total < f.least {
			f = figure{steps: s.Steps, least: s.Total, forward: s.Forward, adjoint: s.Adjoint, checksum: checksum}
		}
	}
	f.median = median(totals)
	return f
}
