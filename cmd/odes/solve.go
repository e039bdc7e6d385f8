package main

import (
	"fmt"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// runCmd is odes run.
type runCmd struct {
	modelFlags
	Times string `placeholder:"FROM:STEP:TO" help:"${times}"`
}

// Run solves a model and writes its outputs.
func (r *runCmd) Run(c *call) error {
	f, err := c.format("run", r.Format, r.Output)
	if err != nil {
		return err
	}
	c.configure(r.global, r.Format)
	opts, err := r.options(c)
	if err != nil {
		return err
	}
	if opts.Times, err = times(r.Times); err != nil {
		return err
	}
	m, err := c.load(r.Model)
	if err != nil {
		return err
	}
	out, err := c.open(r.Output)
	if err != nil {
		return err
	}
	defer out.discard()

	bar := c.attach(&opts)
	var result *odes.Solution
	err = c.work(func() (err error) {
		result, err = m.Solve(c.ctx, opts)
		return err
	})
	bar.clear()
	if err != nil {
		if f.FailedSolution != nil && r.Output == "" && c.runFailed(err) {
			from, to := reached(err)
			_ = f.FailedSolution(c.out, heading(m), from, to)
		}
		return err
	}
	c.diagnose(result.Warnings)
	c.missed(opts.Times, result.T)
	if err := f.Solution(out, heading(m), result, c.tableOptions(out)); err != nil {
		return cannotWrite(r.Output, err)
	}
	if err := out.commit(); err != nil {
		return err
	}
	c.seconds(result.Stats)
	return nil
}

// missed notes how many of the times asked for the run did not reach.
func (c *call) missed(asked, got []float64) {
	reached := map[float64]bool{}
	for _, t := range got {
		reached[t] = true
	}
	n := 0
	for _, t := range asked {
		if !reached[t] {
			n++
		}
	}
	if n > 0 {
		c.diagnose([]diag.Diagnostic{{
			Code: odes.CodeOutside, Level: diag.Note,
			Message: fmt.Sprintf("%s given by --times outside of the run: left out", count(n, "time")),
		}})
	}
}
