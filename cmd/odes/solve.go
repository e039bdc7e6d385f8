package main

import (
	"fmt"
	"io"

	"odes.dev/odes"
	"odes.dev/odes/internal/report"
	"odes.dev/odes/lang/diag"
)

// runCmd is odes run.
type runCmd struct {
	modelFlags
	Times string `placeholder:"FROM:STEP:TO" help:"Report outputs at these times: from:step:to, or a list with commas; without it, at every step."`
}

// Run solves a model and writes its outputs.
func (r *runCmd) Run(c *call) error {
	f, err := r.resolve()
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
	if err := c.binary(f, r.Output); err != nil {
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
		if f == "json" && r.Output == "" && c.runFailed(err) {
			from, to := reached(err)
			_ = report.FailedRunJSON(c.out, heading(m), from, to)
		}
		return err
	}
	c.diagnose(result.Warnings)
	c.missed(opts.Times, result.T)
	if err := r.write(c, out, f, m, result); err != nil {
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

func (r *runCmd) write(c *call, w io.Writer, f format, m *odes.Model, result *odes.Solution) error {
	switch f {
	case "json":
		return report.RunJSON(w, result)
	case "csv":
		return report.RunCSV(w, heading(m), result)
	case "npz":
		return report.RunNPZ(w, heading(m), result)
	}
	return report.RunTable(w, heading(m), result, c.tableOptions(w))
}
