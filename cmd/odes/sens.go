package main

import (
	"errors"
	"fmt"
	"io"
	"math"

	"odes.dev/odes"
	"odes.dev/odes/internal/report"
	"odes.dev/odes/lang/diag"
)

// sensCmd is odes sens.
type sensCmd struct {
	modelFlags
	derivativeFlags
	Stats string `placeholder:"FILE" help:"Write settings, statistics and events to this file, as JSON."`
}

// Run computes gradients and writes them.
func (s *sensCmd) Run(c *call) error {
	f, err := c.format("sens", s.Format, s.Output)
	if err != nil {
		return err
	}
	c.configure(s.global, s.Format)
	opts, err := s.options(c)
	if err != nil {
		return err
	}
	if err := s.derivative(&opts); err != nil {
		return err
	}
	opts.EventTimes = f.EventTimes || s.Stats != ""
	m, err := c.load(s.Model)
	if err != nil {
		return err
	}
	out, err := c.open(s.Output)
	if err != nil {
		return err
	}
	defer out.discard()

	bar := c.attach(&opts)
	var result *odes.Sensitivities
	err = c.work(func() (err error) {
		result, err = m.Sensitivities(c.ctx, opts)
		return err
	})
	bar.clear()
	if err != nil {
		if f.FailedSensitivities != nil && s.Output == "" && c.runFailed(err) {
			from, to := reached(err)
			_ = f.FailedSensitivities(c.out, heading(m), from, to)
		}
		return err
	}
	c.diagnose(result.Warnings)
	if err := f.Sensitivities(out, heading(m), result, c.tableOptions(out)); err != nil {
		return cannotWrite(s.Output, err)
	}
	if err := out.commit(); err != nil {
		return err
	}
	if s.Stats != "" {
		if err := c.write(s.Stats, func(w io.Writer) error { return report.Stats(w, result) }); err != nil {
			return cannotWrite(s.Stats, err)
		}
	}
	c.seconds(result.Stats)
	if result.Status != "ok" {
		return status(exitRun)
	}
	return nil
}

// runFailed tells whether err says that the run failed. Programs that read standard output are told of that there.
func (c *call) runFailed(err error) bool {
	return c.ctx.Err() == nil && diag.Of(err) != nil && c.statusOf(diag.Of(err)) == exitRun
}

// reached returns where a run that failed began and how far it came; NaN where that is not known.
func reached(err error) (from, to float64) {
	var run *odes.RunError
	if errors.As(err, &run) {
		return run.From, run.T
	}
	return math.NaN(), math.NaN()
}

// seconds tells, with -v, where the time went.
func (c *call) seconds(s odes.RunStats) {
	if !c.verbose || c.quiet {
		return
	}
	spent := s.Seconds
	line := fmt.Sprintf("parse %.3g s, compile %.3g s, forward %.3g s", spent.Parse, spent.Compile, spent.Forward)
	if s.Seconds.Adjoint > 0 {
		line += fmt.Sprintf(", adjoint %.3g s", s.Seconds.Adjoint)
	}
	if s.Seconds.Second > 0 {
		line += fmt.Sprintf(", second derivatives %.3g s", s.Seconds.Second)
	}
	if s.RecomputedSteps > 0 {
		line += fmt.Sprintf(" (%d of %d steps recomputed)", s.RecomputedSteps, s.Steps)
	}
	fmt.Fprintf(c.err, "%s; %d right-hand sides, %d transposes, trajectory %d bytes\n",
		line, s.F, s.VJP, s.PeakTrajectoryBytes)
}
