package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/cmplx"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
)

// sensCmd is odes sens.
type sensCmd struct {
	modelFlags
	inFlag
	dosesFlag
	derivativeFlags
	Stats string `placeholder:"FILE" help:"Write settings, statistics and events to this file, as JSON."`
}

// Run computes gradients and writes them.
func (s *sensCmd) Run(c *call) error {
	result, err := job[*odes.Sensitivities]{
		command: "sens", flags: s.modelFlags, in: s.In, doses: s.Doses,
		prepare: func(o *odes.Options, f *report.Format) error {
			if f.Want(o, report.TableOptions{All: c.verbose}); s.Stats != "" {
				o.Events, o.EventTimes = 0, true
			}
			return s.derivative(o)
		},
		compute: func(ctx context.Context, m *odes.Model, o odes.Options) (*odes.Sensitivities, error) {
			return fit.Sensitivities(ctx, m, o)
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
	result.Close()
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
	list = append(list, report.ImplicitWork(s)...)
	add(s.SteadySteps, "step to a steady state", "steps to steady states")
	add(s.Newton, "step of Newton's method", "steps of Newton's method")
	add(s.Periods, "period", "periods")
	add(s.SteadyWarm, "steady state sought from that of another experiment",
		"steady states sought from that of another experiment")
	add(s.SteadyKnown, "steady state known from another experiment", "steady states known from other experiments")
	add(s.SteadySaved, "step to steady states saved by that", "steps to steady states saved by that")
	add(s.SteadyFlow, "step of derivatives at steady states", "steps of derivatives at steady states")
	list = append(list, report.Rejections(s)...)
	if len(list) > 0 {
		fmt.Fprintln(c.err, strings.Join(list, ", "))
	}
	for _, r := range s.Rests {
		fmt.Fprintln(c.err, stability(r))
	}
	if s.Drift > 0 {
		fmt.Fprintf(c.err, "before steps were made consistent, %s was off by %s tolerances at most\n", s.Drifts,
			strconv.FormatFloat(s.Drift, 'g', 2, 64))
	}
}

// stability says in words how stable a steady state is.
func stability(r odes.Rest) string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
	v := r.Eigenvalue
	switch {
	case cmplx.IsNaN(v):
		return "steady state: the run came to rest; its eigenvalues are not known"
	case r.Periods > 0:
		return "periodic steady state: stable; deviations become less by a factor of " + number(cmplx.Abs(v)) +
			" in a period at least"
	case math.IsInf(real(v), -1):
		return "steady state: stable; conserved quantities determine all states"
	}
	text := "steady state: stable; the slowest deviations decay at a rate of " + number(-real(v)) +
		" per unit of time"
	if imag(v) != 0 {
		text += ", oscillating with a period of " + number(2*math.Pi/math.Abs(imag(v)))
	}
	if r.NearZero {
		text += " (of the eigenvalues near zero)"
	}
	return text
}
