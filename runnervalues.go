package odes

import (
	"context"

	"odes.dev/odes/sens"
)

// Values integrates the model and writes the values of the objectives to to, with the bits that Solve gives. It returns
// how many steps that took. Nothing is compared with another run.
func (r *Runner) Values(ctx context.Context, to []float64) (steps int, err error) {
	notes := r.warnings // those of Prepare stay
	defer func() { r.warnings = notes }()
	parts, err := r.simulators(r.opts)
	if err != nil {
		return 0, err
	}
	if _, err := r.totalValues(ctx, r.opts.Progress, parts); err != nil {
		return 0, err
	}
	r.worker.KeepStages(nil)
	solve := func() (int, error) {
		if r.observer == nil {
			r.observer = sens.NewObserver(r.worker)
		}
		stats, err := r.run.solve(ctx, r.solver, r.worker, r.opts.Progress, r.observer)
		return stats.Steps, err
	}
	steps, err = solve()
	if r.needsJacobian(err) {
		if r.observer, err = nil, r.equip(); err == nil {
			steps, err = solve()
		}
	}
	if err == nil {
		r.observer.Values(to)
	}
	return steps, err
}
