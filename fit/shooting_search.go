package fit

import (
	"cmp"
	"context"
	"math"

	"odes.dev/odes/internal/base/optim"
)

// fromAfar is a search that may begin far away: by parts of runs, or, where it is auto, by whole runs and then by parts
// if these do not lead to a good end.
func (p afar) fromAfar(ctx context.Context, e *evaluator, x []float64) (optim.Result, error) {
	b := p.bounds()
	var best optim.Result
	var failed error // the first
	found := false
	keep := func(r optim.Result, err error) (well bool) {
		if err != nil || r.X == nil || math.IsNaN(r.Value) {
			return false
		}
		iterations := best.Iterations + r.Iterations
		// What converged is better than what did not, unless that is lower by more than noise.
		lower := r.Value < best.Value-1e-9*(1+math.Abs(best.Value)) || r.Status.Converged() &&
			!best.Status.Converged() && r.Value <= best.Value+1e-6*(1+math.Abs(best.Value))
		if !found || best.Violated && !r.Violated || best.Violated == r.Violated && lower {
			best, found = r, true
		}
		best.Iterations = iterations
		return r.Status.Converged() && !r.Violated && p.follows(ctx, e, r.X)
	}
	whole := func() bool {
		r, err := p.minimise(ctx, e, x, b)
		failed = cmp.Or(failed, err)
		return keep(r, err)
	}
	parts := func(otherwise, forced bool) func() bool {
		return func() bool {
			s, err := p.shooter(e, otherwise)
			if err != nil {
				failed = cmp.Or(failed, err)
				return false
			}
			if !forced && !s.hides() {
				return false
			}
			s.made() // what was before counts no more
			to, err := s.search(ctx, x, forced)
			iterations, stages := s.made()
			best.Iterations += iterations
			if err != nil {
				failed = cmp.Or(failed, err)
				return false
			}
			r, err := p.minimise(ctx, e, to, b)
			well := keep(r, err)
			if r.X != nil && best.X != nil && &best.X[0] == &r.X[0] {
				e.stages = stages
			}
			return well
		}
	}
	attempts := []func() bool{parts(false, true), parts(false, false), parts(true, true), whole}
	if p.settings.Shooting.Auto {
		attempts = []func() bool{whole, parts(false, true), parts(false, false), parts(true, true)}
	}
	for _, attempt := range attempts {
		if attempt() || ctx.Err() != nil {
			break
		}
	}
	if !found {
		return optim.Result{Status: optim.Failed}, cmp.Or(ctx.Err(), failed)
	}
	return best, nil
}

// hides reports whether some number of a node is not observed as it is.
func (s *shooting) hides() bool {
	for _, c := range s.chains {
		if len(s.readings(c)) < c.size {
			return true
		}
	}
	return false
}

// follows reports whether the model follows its data at x, as far as residuals tell: they are not much larger than the
// noise that the model says, and neighbours have nothing in common. A run out of phase fails this, and a minimum that
// is not the lowest mostly does. A model that is wrong fails it as well: then other searches are for nothing, but what
// comes of them is no worse.
func (p afar) follows(ctx context.Context, e *evaluator, x []float64) bool {
	if e.comparison == nil {
		return true // nothing is known
	}
	if e.at(ctx, x) != nil {
		return false
	}
	squares, n := 0.0, 0.0
	for i := range e.comparison.Groups {
		g := &e.comparison.Groups[i]
		last, has := 0.0, false
		own, steps, rows := 0.0, 0.0, 0.0
		for k := range g.T {
			_, r := scatter(g, k)
			if !g.Measured(k) || math.IsNaN(r) {
				continue
			}
			own += float64(r * r)
			rows++
			if has {
				d := r - last
				steps += float64(d * d)
			}
			last, has = r, true
		}
		squares, n = squares+own, n+rows
		// von Neumann's ratio is near 2, with a standard deviation of 2/√n, where neighbours have nothing in common.
		if rows >= 8 && steps < own*(2-8/math.Sqrt(rows)) {
			return false
		}
	}
	return n == 0 || squares <= n*(1+6*math.Sqrt(2/n))
}

// strays says in words that the model does not follow its data at the best point of a fit by parts; "" where it does.
func (p afar) strays(ctx context.Context, e *evaluator, x []float64) string {
	if !p.settings.Shooting.On() || p.follows(ctx, e, x) {
		return ""
	}
	if _, err := p.shooter(e, false); err != nil {
		return "the residuals are larger than the noise, and runs were not divided: " + reason(err)
	}
	return "the residuals are larger than the noise that the model declares: there may be a lower minimum elsewhere, " +
		"or the model does not fit the data; try another number of parts (fit.shooting) or more starts"
}
