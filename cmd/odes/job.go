package main

import (
	"context"
	"errors"
	"math"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
)

// job is a command that computes one result, of type R, from a model and writes it in a format.
type job[R any] struct {
	command string
	flags   modelFlags
	in      string // the experiment that the model is to be; "" for the model as it stands
	doses   string // the file of another regimen for it; "" for its own
	// prepare writes what the command's own flags say into the options of the run, whose result goes to a format.
	prepare func(o *odes.Options, f *report.Format) error
	compute func(ctx context.Context, m *odes.Model, o odes.Options) (R, error)
	write   func(f *report.Format) report.Writer[R]
	// failed returns what writes that the run failed, or nil; it may itself be nil.
	failed   func(f *report.Format) report.Failure
	warnings func(result R) []diag.Diagnostic // nil for a result that has none
	values   func(result R) []odes.Value      // nil for a result that has none
	keeps    bool                             // an interrupted computation has a result
}

// do computes the result, shows its warnings and writes it.
func (j job[R]) do(c *call) (result R, err error) {
	output := j.flags.Output
	f, err := c.format(j.command, j.flags.Format, output)
	if err != nil {
		return result, err
	}
	c.configure(j.flags.global, j.flags.Format)
	opts, err := j.flags.options(c)
	if err != nil {
		return result, err
	}
	if err := j.prepare(&opts, f); err != nil {
		return result, err
	}
	c.doses = j.doses
	m, err := c.load(j.flags.Model, j.in)
	if err != nil {
		return result, err
	}
	memory.Keep(m.Memory(opts))
	about := heading(m)
	out, err := c.open(output)
	if err != nil {
		return result, err
	}
	defer out.discard()

	bar := c.attach(&opts)
	compute := func() (err error) {
		result, err = j.compute(c.ctx, m, opts)
		return err
	}
	if j.keeps {
		const patience = 10 * time.Second // until what there is has been put together
		err, _ = c.workFor(patience, compute)
	} else {
		err = c.work(compute)
	}
	bar.clear()
	if err != nil {
		if j.failed != nil && output == "" && c.runFailed(err) {
			if write := j.failed(f); write != nil {
				from, to := reached(err)
				_ = write(c.out, about, from, to) // the error of the run is the one to report
			}
		}
		return result, err
	}
	if j.warnings != nil {
		c.diagnose(j.warnings(result))
	}
	if j.values != nil && !f.Remarks {
		c.remark(j.values(result))
	}
	if err := j.write(f)(out, about, result, c.tableOptions(out)); err != nil {
		return result, out.failure(err)
	}
	return result, out.commit()
}

// remark shows what there is to say of single values.
func (c *call) remark(values []odes.Value) {
	var list []diag.Diagnostic
	for _, v := range values {
		for _, text := range v.Warnings {
			text = v.Name + ": " + text
			list = append(list, diag.Diagnostic{Code: odes.CodeTrust, Level: diag.Warning, Message: text})
		}
	}
	c.diagnose(list)
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
