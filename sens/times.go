package sens

import (
	"context"

	"odes.dev/odes/solvers/record"
)

// TimesForwards is the part of an adjoint method that differentiates the times of many events: not by one sweep back
// from each block of events, which takes time in proportion to the square of their number, but by one walk forwards for
// each block of parameters.
type TimesForwards struct {
	// Times, if not nil, returns what makes the worker of the walks. It is called once, when that is wanted first.
	Times func() (func() TangentWorker, error)

	worker func() TangentWorker
}

// manyTimes reports whether the times of so many events are differentiated forwards. What decides does not depend on
// the number of lanes, and nor do the bits of a result.
func manyTimes(events, params int) bool { return events > max(params, 64) }

// plan prepares res and reports whether the times of its events are differentiated forwards. Then opts does not ask for
// them any more.
func (f *TimesForwards) plan(run *record.Trajectory, objectives int, opts *Options, res *Result) (forwards bool) {
	if opts.Time != nil {
		res.prepare(run, objectives, *opts)
		return true
	}
	times := opts.EventTimes
	opts.EventTimes = false
	res.prepare(run, objectives, *opts)
	forwards = times && f.Times != nil && manyTimes(len(res.Events), run.Size().P)
	if opts.EventTimes = times && !forwards; opts.EventTimes {
		res.allot(run.Size().P)
	}
	return forwards
}

// differentiate differentiates the times of all events in the direction of one block of parameters after the other;
// rates are those of the roots of the run. With field, derivatives are moved along by the field, as in mode forward.
// tells is told of the passes. Nothing here needs to be resolved: tangents see what they are not moved along.
func (f *TimesForwards) differentiate(
	ctx context.Context, run *record.Trajectory, rates slopes, field bool, tells *telling, opts *Options,
	res *Result,
) (err error) {
	if f.worker == nil {
		if f.worker, err = f.Times(); err != nil {
			return err
		}
	}
	z := run.Size()
	if opts.Time == nil {
		res.allot(z.P)
	}
	w := newWalk(f.worker(), run)
	w.tellTime = opts.Time
	w.tells = tells
	if field {
		w.k = make([]float64, z.N+z.Q)
	}
	return w.times(ctx, res, rates)
}
