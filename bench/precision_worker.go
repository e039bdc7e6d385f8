package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"odes.dev/odes"
)

// point is one mark of a work–precision diagram: what a gradient cost, and how far off it was.
type point struct {
	Tol     float64 `json:"tol"`
	Steps   int     `json:"steps"`
	Error   float64 `json:"error"`
	Seconds float64 `json:"seconds"`
	Compile float64 `json:"compile,omitempty"` // seconds from text to the first run, where it was measured
}

// pointTime is about how long one point is measured in a turn.
const pointTime = 25 * time.Millisecond

// tight are the settings of the runs that others are measured by.
var tight = []odes.Setting{
	{Key: "solver.method", Value: "vern9"},
	{Key: "solver.rtol", Value: "1e-14"},
	{Key: "solver.atol", Value: "1e-15"},
	{Key: "sens.mode", Value: "adjoint"},
}

// precision prints a point for each of the tolerances: the least time of the whole call, from
// parameters to the finished gradient, and the error by a run of order 9.
func (j *job) precision() error {
	m, opts, err := j.model()
	if err != nil {
		return err
	}
	opts.Settings = tight
	ref, err := m.Sensitivities(context.Background(), opts)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(os.Stdout)
	for tol := range strings.SplitSeq(j.tols, ",") {
		opts.Settings = []odes.Setting{
			{Key: "solver.method", Value: j.method},
			{Key: "sens.mode", Value: j.mode},
			{Key: "solver.rtol", Value: tol},
			{Key: "solver.atol", Value: tol},
			{Key: "sens.trust", Value: "off"},
		}
		if j.wanted {
			opts.Settings = append(opts.Settings, odes.Setting{Key: "solver.sens_tol", Value: tol})
		}
		r, err := m.Prepare(opts)
		if err != nil {
			return err
		}
		pt := point{Seconds: math.Inf(1)}
		if pt.Tol, err = strconv.ParseFloat(tol, 64); err != nil {
			return fmt.Errorf("the tolerance %q is no number", tol)
		}
		for start, i := time.Now(), 0; i < 2 || i < 200 && time.Since(start) < pointTime; i++ {
			begin := time.Now()
			s, err := r.Sensitivities(context.Background())
			if err != nil {
				return fmt.Errorf("%s at %s: %w", j.mode, tol, err)
			}
			took := time.Since(begin).Seconds()
			if i == 0 {
				pt.Error, pt.Steps = distance(s, ref), s.Stats.Steps
				if took < 1 {
					continue // it paid for fresh memory
				}
			}
			pt.Seconds = min(pt.Seconds, took)
			if took > 1 {
				break
			}
		}
		if err := enc.Encode(pt); err != nil {
			return err
		}
	}
	return nil
}

// distance is the relative difference of a gradient from another: the largest difference over the
// largest derivative. It is computed for derivatives by parameters and by initial values separately,
// and is the larger of the two.
func distance(s, ref *odes.Sensitivities) float64 {
	var most, off [2]float64
	for _, v := range ref.Variables {
		k := 0
		if v.Initial {
			k = 1
		}
		for i := range ref.Values {
			got := s.Derivative(i, v)
			for c, x := range ref.Derivative(i, v) {
				most[k], off[k] = max(most[k], math.Abs(x)), max(off[k], math.Abs(got[c]-x))
			}
		}
	}
	worst := 0.0
	for k := range most {
		if most[k] > 0 {
			worst = max(worst, off[k]/most[k])
		}
	}
	return worst
}
