package main

import (
	"context"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/report"
)

// predictCmd is odes predict.
type predictCmd struct {
	modelFlags
}

// Run compares the model with its data.
func (p *predictCmd) Run(c *call) error {
	_, err := job[[]fit.Prediction]{
		command: "predict", flags: p.modelFlags,
		prepare: func(*odes.Options, *report.Format) error { return nil },
		compute: func(ctx context.Context, m *odes.Model, o odes.Options) ([]fit.Prediction, error) {
			return fit.Predict(ctx, m, o)
		},
		write: func(f *report.Format) report.Writer[[]fit.Prediction] { return f.Predictions },
	}.do(c)
	return err
}
