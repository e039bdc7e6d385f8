package fit

import (
	"context"
	"slices"
)

// refined goes on from a point that is a minimum by the runs of searches, and none by those of its certificate. Where
// a run amplifies its errors, as chaotic ones do, the minima of both lie apart. It takes the steps that certificates
// promise, each from exact derivatives of a run of its own, and returns what it came to if that is certified.
func (p judge) refined(
	ctx context.Context, e *evaluator, m *minimum, best *Start, c *certificate,
) (*minimum, *certificate) {
	const steps = 4
	at, from := m, c
	for range steps {
		step := from.found.Step
		if step == nil || from.violated || len(p.constraints) > 0 && !p.kinks || ctx.Err() != nil {
			break
		}
		next := &minimum{x: slices.Clone(at.x), factor: 1}
		for i, d := range step {
			next.x[i] = max(from.problem.Lo[i], min(next.x[i]+d, from.problem.Hi[i]))
		}
		p.atBounds(next)
		if err := p.activate(ctx, e, next); err != nil {
			break
		}
		its, err := p.certify(ctx, e, next)
		if err != nil || !(its.problem.At.Value < from.problem.At.Value) {
			break
		}
		if at, from = next, its; its.Certified {
			best.x, best.To = next.x, p.values(next.x)
			return next, its
		}
	}
	return m, c
}
