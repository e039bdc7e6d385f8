package main

import (
	"context"
	"fmt"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
)

// runCmd is odes run.
type runCmd struct {
	modelFlags
	inFlag
	dosesFlag
	Times string `placeholder:"FROM:STEP:TO" help:"{times}"`
}

// Run solves a model and writes its outputs.
func (r *runCmd) Run(c *call) error {
	asked, err := analysis.TimesOf(r.Times)
	if err != nil {
		return err
	}
	result, err := job[*odes.Solution]{
		command: "run", flags: r.modelFlags, in: r.In, doses: r.Doses,
		prepare: func(o *odes.Options, _ *report.Format) error {
			o.Times = asked
			return nil
		},
		compute: func(ctx context.Context, m *odes.Model, o odes.Options) (*odes.Solution, error) {
			if names := m.Experiments(); len(names) > 0 {
				c.diagnose([]diag.Diagnostic{{Code: odes.CodeUnused, Level: diag.Note, Message: fmt.Sprintf(
					"these are the outputs of the run without the changes of %s; those of one come with --in %s",
					diag.Count(len(names), "experiment"), names[0])}})
			}
			return m.Solve(ctx, o)
		},
		write:    func(f *report.Format) report.Writer[*odes.Solution] { return f.Solution },
		failed:   func(f *report.Format) report.Failure { return f.FailedSolution },
		warnings: func(result *odes.Solution) []diag.Diagnostic { return result.Warnings },
		values:   func(result *odes.Solution) []odes.Value { return result.Values },
	}.do(c)
	if err != nil {
		return err
	}
	c.seconds(result.Stats)
	if result.Status != "ok" {
		return status(exitRun)
	}
	return nil
}
