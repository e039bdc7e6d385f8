package main

import (
	"context"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
)

// verifyCmd is odes verify.
type verifyCmd struct {
	modelFlags
	inFlag
	derivativeFlags
	Directions int     `placeholder:"N" default:"3" help:"Number of random directions."`
	Seed       uint64  `placeholder:"N" default:"1" help:"Seed of the random directions."`
	Tolerance  float64 `placeholder:"X" default:"0" help:"{tolerance}"`
}

// Run checks gradients; a wrong one is exit status 4.
func (v *verifyCmd) Run(c *call) error {
	result, err := job[*odes.Verification]{
		command: "verify", flags: v.modelFlags, in: v.In,
		prepare: func(o *odes.Options, _ *report.Format) error {
			if v.Directions < 1 || !(v.Tolerance >= 0) {
				return usagef("--directions takes a whole number from 1, --tolerance a number that is not negative")
			}
			return v.derivative(o)
		},
		compute: func(ctx context.Context, m *odes.Model, o odes.Options) (*odes.Verification, error) {
			how := odes.VerifyOptions{Directions: v.Directions, Seed: v.Seed, Tolerance: v.Tolerance}
			return m.Verify(ctx, o, how)
		},
		write:    func(f *report.Format) report.Writer[*odes.Verification] { return f.Verification },
		warnings: func(result *odes.Verification) []diag.Diagnostic { return result.Warnings },
	}.do(c)
	if err != nil {
		return err
	}
	if result.Wrong() {
		return status(exitWrong)
	}
	for _, o := range result.Objectives {
		if o.Outcome != "ok" {
			return status(exitRun)
		}
	}
	return nil
}
