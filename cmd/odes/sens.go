package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

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
	result, err := job[*odes.Sensitivities]{
		command: "sens", flags: s.modelFlags,
		prepare: func(o *odes.Options, f *report.Format) error {
			if f.Want(o, report.TableOptions{All: c.verbose}); s.Stats != "" {
				o.Events, o.EventTimes = 0, true
			}
			return s.derivative(o)
		},
		compute: func(ctx context.Context, m *odes.Model, o odes.Options) (*odes.Sensitivities, error) {
			return m.Sensitivities(ctx, o)
		},
		write:    func(f *report.Format) report.Writer[*odes.Sensitivities] { return f.Sensitivities },
		failed:   func(f *report.Format) report.Failure { return f.FailedSensitivities },
		warnings: func(result *odes.Sensitivities) []diag.Diagnostic { return result.Warnings },
		values:   func(result *odes.Sensitivities) []odes.Value { return result.Values },
	}.do(c)
	if err != nil {
		return err
	}
	if s.Stats != "" {
		if err := c.write(s.Stats, func(w io.Writer) error { return report.Stats(w, result) }); err != nil {
			return err
		}
	}
	c.seconds(result.Stats)
	if result.Status != "ok" {
		return status(exitRun)
	}
	return nil
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
	if s.Seconds.Check > 0 {
		line += fmt.Sprintf(", other runs %.3g s", s.Seconds.Check)
	}
	if s.RecomputedSteps > 0 {
		line += fmt.Sprintf(" (%d of %d steps recomputed)", s.RecomputedSteps, s.Steps)
	}
	fmt.Fprintf(c.err, "%s; %d right-hand sides, %d transposes, trajectory %d bytes\n",
		line, s.F, s.VJP, s.PeakTrajectoryBytes)
	c.effort(s)
}

// effort tells, with -v, what steps took that are out of the ordinary.
func (c *call) effort(s odes.RunStats) {
	var list []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			list = append(list, "1 "+one)
		case n > 1:
			list = append(list, fmt.Sprintf("%d %s", n, many))
		}
	}
	for _, m := range s.Methods {
		add(m.Steps, "step by "+m.Name, "steps by "+m.Name)
	}
	add(s.Changes, "change of method", "changes of method")
	add(s.Jacobians, "Jacobian", "Jacobians")
	add(s.Factorisations, "factorisation", "factorisations")
	add(s.Solves, "solution", "solutions")
	add(s.NonFinite, "step rejected as not finite", "steps rejected as not finite")
	add(s.Singular, "step rejected as singular", "steps rejected as singular")
	add(s.Sought, "step rejected for an event", "steps rejected for events")
	if len(list) > 0 {
		fmt.Fprintln(c.err, strings.Join(list, ", "))
	}
	if s.Drift > 0 {
		fmt.Fprintf(c.err, "before steps were made consistent, %s was off by %s tolerances at most\n", s.Drifts,
			strconv.FormatFloat(s.Drift, 'g', 2, 64))
	}
}
