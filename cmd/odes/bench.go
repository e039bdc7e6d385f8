package main

import (
	"context"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/report"
)

// benchCmd is odes bench.
type benchCmd struct {
	modelFlags
	derivativeFlags
	Runs int `placeholder:"N" default:"15" help:"Number of gradients to time, after one to warm up."`
}

// Run measures a model.
func (b *benchCmd) Run(c *call) error {
	_, err := job[*odes.Bench]{
		command: "bench", flags: b.modelFlags,
		prepare: func(o *odes.Options, _ *report.Format) error {
			if b.Runs < 1 {
				return usagef("--runs takes a whole number from 1")
			}
			return b.derivative(o)
		},
		compute: func(ctx context.Context, m *odes.Model, o odes.Options) (*odes.Bench, error) {
			return m.Bench(ctx, b.Runs, o)
		},
		write: func(f *report.Format) report.Writer[*odes.Bench] { return f.Bench },
	}.do(c)
	return err
}
