package fit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// A search has the tolerances of the model, and data may be more exact than its runs are: then errors of runs hide more
// of the objective than a certificate allows. What is said of the minimum is found with tolerances that these data ask
// for: the certificate, searches that go on where it says that the point is none, errors and intervals. All are those
// of a problem that differs from the first in its tolerances alone.

// fineness is what makes a problem finer than that of the searches.
type fineness struct {
	noises []float64 // of the certificates that asked for it
	// asunder is how far values of searches may lie from those of this problem.
	asunder float64
	kinks   bool
}

// withTolerances returns the problem whose runs have tolerances so many times those of a run, or the least that there
// are, for what is known of a search.
func (p judge) withTolerances(ctx context.Context, of *odes.RunSettings, part float64, best *Start) (*problem, error) {
	const least = 1e-13
	rtol := min(of.RTol, max(float64(of.RTol*part), least))
	smaller := []odes.Setting{{Key: "solver.rtol", Value: diag.Number(rtol)}}
	if !of.Sized {
		smaller = append(smaller, odes.Setting{Key: "solver.atol", Value: diag.Number(of.ATol * part)})
	}
	q := *p.problem
	q.opts.Settings = slices.Concat(p.opts.Settings, smaller)
	q.asked.Settings = slices.Concat(p.asked.Settings, smaller)
	q.idle = make(chan *evaluator, cap(p.idle))
	e, err := q.borrow()
	if err != nil {
		return nil, err
	}
	defer q.giveBack(e)
	if s, err := e.run(ctx, best.x, false); err == nil {
		v := s.Values[0].Value
		q.fine.asunder = math.Max(p.fine.asunder, float64(2*math.Abs(v-best.Value)))
		best.Value = v
	}
	return &q, nil
}

// besideKinks returns the problem for an objective with absolute values. A kink is where a residual vanishes, so that
// errors of the run move it: what could be gained at the right place is of first order in them. So what is said of a
// minimum has a hundredth of the tolerances of searches.
func (p judge) besideKinks(ctx context.Context, best *Start) (*problem, error) {
	const part = 1e-2
	if !p.kinks || p.fine.kinks || best.x == nil {
		return p.problem, nil
	}
	r, err := p.model.Prepare(p.checkedAt(best.x).While(ctx))
	if ctx.Err() != nil { // what was found is told all the same
		return p.problem, nil
	}
	if err != nil {
		return nil, err
	}
	s := r.Settings()
	q, err := p.withTolerances(ctx, &s, part, best)
	if err == nil {
		q.fine.kinks = true
	}
	return q, err
}

// finer returns the problem with the tolerances that a certificate at a point asks for; nil where errors of runs are
// not what it lacks, or where smaller tolerances do not make them less.
func (p judge) finer(ctx context.Context, c *certificate, best *Start) (*problem, error) {
	const (
		rounds = 3
		margin = 0.1  // errors need not be proportional to tolerances
		most   = 1e-2 // of what there was
	)
	if c.Certified || !c.known() || c.violated || best.Status == "limit" || ctx.Err() != nil ||
		integrates(p.problem) || len(p.fine.noises) == rounds || c.Stationarity > c.Noise && !c.rough() ||
		c.owes() || p.model.Manner(p.opts.Options).Fixed {
		return nil, nil
	}
	noise := math.Max(c.Noise, c.blur())
	if n := len(p.fine.noises); !(noise > mostNoise) || math.IsInf(noise, 0) ||
		n > 0 && !(noise < p.fine.noises[n-1]/2) {
		return nil, nil
	}
	part := min(most, math.Pow(10, math.Floor(math.Log10(float64(margin*mostNoise/noise)))))
	q, err := p.withTolerances(ctx, &c.run.Settings, part, best)
	if err == nil {
		q.fine.noises = append(slices.Clone(p.fine.noises), noise)
	}
	return q, err
}

// words say with which tolerances a minimum was found that those of the searches do not tell; "" where they do.
func (f *fineness) words(p judge, out *Result) string {
	if len(f.noises) == 0 {
		return ""
	}
	return fmt.Sprintf("the certificate, errors and intervals are from runs with rtol = %s, because errors of the "+
		"runs of the search may hide a gain of %s of %s", diag.Number(out.Run.RTol), diag.Number(f.noises[0]), p.unit())
}

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
		if err := p.activate(ctx, e, next, p.agree(best.Value)); err != nil {
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
