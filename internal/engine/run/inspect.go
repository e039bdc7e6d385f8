package run

import (
	"context"
	"math"

	"odes.dev/odes/internal/engine/population"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
)

// The integral of every subject is compared with one that was computed in another way, and modes are looked for all
// over the distribution of its random effects: see population.Inspect.

// inspect compares the integrals of all subjects that have one.
func (l *people) inspect(ctx context.Context, threads int) error {
	failures := make([]error, len(l.subjects))
	parallel(max(threads, 1), len(l.subjects), func(i int) {
		q := l.subjects[i]
		q.check = nil
		if q.result == nil || math.IsNaN(q.result.Value) && q.result.Doubt == "" {
			return
		}
		how := l.method
		how.Seed, how.Rough = q.seed, false
		c, err := population.Inspect(ctx, q, how, q.result)
		switch {
		case err != nil && !q.Failed(err):
			failures[i] = (&Experiment{Name: q.name}).wrap(err)
		case err == nil:
			q.check = &result.Check{
				By: c.By, Value: c.Value, OFV: ofv(c.Value, q.measurementsOf()), Error: c.Error, Modes: c.Modes,
				BetterValue: c.BetterValue,
			}
			if c.Better != nil {
				q.check.Better = make([]float64, q.full)
				for k, at := range q.active {
					q.check.Better[at] = c.Better[k]
				}
			}
		}
	})
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// tellIntegrals compares the integrals of a result, and says what is found.
func tellIntegrals(ctx context.Context, r *Runner, s *trust.Result) error {
	if err := r.people.inspect(ctx, r.settings.Threads); err != nil {
		return err
	}
	p := result.Population{Method: r.settings.Marginal.String(), Effects: r.model.effects()}
	for _, q := range r.people.subjects {
		one := result.Subject{Name: q.name, Check: q.check, Value: math.NaN(), Measurements: q.measurementsOf()}
		if q.result != nil {
			one.Value = q.result.Value
			if q.result.Doubt != "" { // it was told
				s.Status = "partial"
			}
		}
		one.OFV = ofv(one.Value, one.Measurements)
		p.Subjects = append(p.Subjects, one)
	}
	for _, d := range p.Doubts() {
		if d.Wrong {
			s.Status = "partial"
		}
		level := diag.Warning
		if d.Minor {
			level = diag.Note
		}
		s.Note(r.model.Explain, CodePopulation, level, "%s", d.Text)
	}
	return nil
}
