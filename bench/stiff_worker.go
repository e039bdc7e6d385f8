package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"odes.dev/odes"
)

const (
	// slowest is how long a gradient may take; tighter tolerances are left out then.
	slowest = 12.0
	// patience is after how many times that a gradient is given up.
	patience = 5
	// closest is the error below which a curve ends.
	closest = 1e-9
)

// stiff prints a point for each of the tolerances, the loosest first: the least time of the whole call and the error
// by a reference. A tolerance that a run fails at has no point. With dump the first gradient is written instead.
func (j *job) stiff() error {
	p, err := stiffNamed(j.problem)
	if err != nil {
		return err
	}
	start := time.Now()
	m, err := p.parse()
	if err != nil {
		return err
	}
	parsed := time.Since(start).Seconds()
	symbols, err := m.Symbols(p.set)
	if err != nil {
		return err
	}
	var scales []float64
	for _, s := range symbols {
		if s.Kind == "param" && slices.Contains(p.wrt, s.Name) {
			scales = append(scales, s.Values...)
		}
	}
	var failed error
	points := 0
	for tol := range strings.SplitSeq(j.tols, ",") {
		rtol, err := strconv.ParseFloat(tol, 64)
		if err != nil {
			return fmt.Errorf("the tolerance %q is no number", tol)
		}
		begin := time.Now()
		r, err := m.Prepare(p.options(j.method, j.mode, rtol))
		if err != nil {
			return err
		}
		compiled := parsed + time.Since(begin).Seconds()
		pt, err := p.point(r, scales, j)
		if err != nil {
			failed = fmt.Errorf("%s by %s at %s: %w", p.name, j.method, tol, err)
			fmt.Fprintln(os.Stderr, failed)
			if errors.Is(err, context.DeadlineExceeded) {
				break
			}
			continue
		}
		if math.IsNaN(pt.Error) || math.IsInf(pt.Error, 0) { // an unstable method
			failed = fmt.Errorf("%s by %s at %s: the gradient is no number", p.name, j.method, tol)
			continue
		}
		pt.Tol, pt.Compile = rtol, compiled
		points++
		if err := json.NewEncoder(os.Stdout).Encode(pt); err != nil {
			return err
		}
		if j.dump != "" || pt.Seconds > j.slowest || pt.Error < closest {
			break
		}
	}
	if points == 0 {
		return failed
	}
	return nil
}

// options ask for the gradient and for nothing beside it.
func (p *stiffProblem) options(method, mode string, rtol float64) odes.Options {
	return odes.Options{
		Threads: 1, Set: p.set, Of: []string{p.of}, Wrt: p.wrt,
		Settings: []odes.Setting{
			{Key: "solver.method", Value: method},
			{Key: "solver.rtol", Value: fmt.Sprint(rtol)},
			{Key: "solver.atol", Value: fmt.Sprint(rtol * p.atol)},
			{Key: "solver.quad_tol", Value: "off"},
			{Key: "solver.max_steps", Value: "1000000000"},
			{Key: "sens.mode", Value: mode},
			{Key: "sens.trust", Value: "off"},
			{Key: "sens.control", Value: "off"},
		},
	}
}

// point measures gradients by one Runner; scales are the values of the params.
func (p *stiffProblem) point(r *odes.Runner, scales []float64, j *job) (point, error) {
	pt := point{Seconds: math.Inf(1)}
	most := time.Duration(j.slowest * patience * float64(time.Second))
	spell := time.Duration(j.slowest / slowest * float64(16*pointTime))
	// The first run makes programs that nothing else has asked for, and takes memory from the system.
	for start, i := time.Now(), 0; i < 2 || i < 8000 && time.Since(start) < spell; i++ {
		begin := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), most)
		s, err := r.Sensitivities(ctx)
		cancel()
		if err != nil {
			return pt, err
		}
		took := time.Since(begin).Seconds()
		pt.Seconds = min(pt.Seconds, took)
		if i == 0 {
			pt.Steps = s.Stats.Steps
			g := p.gradient(s)
			if j.dump != "" {
				return pt, g.write(j.dump)
			}
			ref, err := readGradient(j.ref, len(g.params))
			if err != nil {
				return pt, err
			}
			if len(ref.initial) != len(g.initial) {
				return pt, fmt.Errorf("%s has %d derivatives by initial values, not %d", j.ref, len(ref.initial),
					len(g.initial))
			}
			pt.Error = g.apart(ref, scales)
		}
		if took > j.slowest || i > 0 && took > 0.5 {
			break
		}
	}
	return pt, nil
}
