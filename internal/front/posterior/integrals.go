package posterior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes"
)

// The likelihood of a population is an integral, of which most methods are approximations. An approximation that is off
// by the same everywhere leaves the posterior as it is. So what counts is by how much it is off more at some draws than
// at others: that of an independent integral at a few draws says.

// Numbers of that.
const (
	integralDraws = 24
	integralSd    = 0.5  // of logarithms of densities, at most
	integralShift = 0.25 // of a mean, in standard deviations

	integralStarts = 16
	integralSpread = 1 // among places where chains would begin, at most: half of it is about the middle one
)

// ErrApproximate says that draws would be those of an approximation of an integral, and not of the posterior.
var ErrApproximate = errors.New("the integral over random effects is an approximation (marginal)")

const instead = "; draw the random effects, which need no integral (--sample.random=draw), or compare with " +
	"--solver.marginal=\"imp(n = 1000)\""

// foresee compares integrals where chains would begin, and ends what is of no use before it takes long. Where modes of
// a subject part, as those of an effect that enters by its square, Laplace's method has a pole: the density is then so
// rough that trajectories are long, too.
func foresee(ctx context.Context, p *problem, r *Result) error {
	if !integrates(p) {
		return nil
	}
	const behind = 1 << 20 // numbers of no chain
	off := make([]float64, integralStarts)
	p.told.begin("integrals", integralStarts)
	err := p.each(integralStarts, func(e *evaluator, k int) error {
		q, _, err := p.begin(ctx, e, behind+k, r)
		if err == nil {
			off[k], err = e.integralOff(ctx, p.values(q))
		}
		p.told.step(1, 0)
		return err
	})
	if err != nil {
		return err
	}
	off = slices.DeleteFunc(off, math.IsNaN)
	if len(off) < integralStarts/2 {
		return nil
	}
	middle := func(x []float64) float64 {
		slices.Sort(x)
		return x[len(x)/2]
	}
	about := middle(off)
	for i, x := range off {
		off[i] = math.Abs(x - about)
	}
	const normal = 1.4826 // standard deviations of a normal distribution, for one that holds half of it
	if spread := normal * middle(off); spread > integralSpread {
		return fmt.Errorf("%w, and its error differs from place to place: at %d places near the starts of chains, an "+
			"independent integral changes log densities by amounts that scatter by %.2g (sd; at most %d), so draws "+
			"would be those of the approximation%s", ErrApproximate, len(off), spread, integralSpread, instead)
	}
	return nil
}

// integrates reports whether the density has integrals over random effects.
func integrates(p *problem) bool {
	return len(p.model.RandomEffects()) > 0 && p.settings.Random != "draw"
}

// integrals compares the integrals over random effects with independent ones at some of the draws.
func (p *problem) integrals(ctx context.Context, r *Result) error {
	total := r.Draws()
	n := min(integralDraws, total)
	if !integrates(p) || n < 2 {
		return nil
	}
	at, logs := make([][]float64, n), make([]float64, n)
	p.told.begin("integrals", n)
	err := p.each(n, func(e *evaluator, k int) error {
		at[k] = r.draw(k * total / n)
		off, err := e.integralOff(ctx, at[k])
		logs[k] = -off
		p.told.step(1, 0)
		return err
	})
	if ctx.Err() != nil {
		r.Interrupted = true
		return nil
	}
	r.Integrals = compared(len(p.coords), at, logs)
	return err
}

// integralOff is by how much an independent integral of minus the logarithm of the likelihood is larger at a draw; NaN
// where there is none.
func (e *evaluator) integralOff(ctx context.Context, values []float64) (float64, error) {
	o := e.p.opts.Options
	o.Of, o.Wrt, o.Progress, o.Threads = []string{e.p.settings.Objective}, []string{}, nil, 1
	for i := range e.p.coords {
		c := &e.p.coords[i]
		e.set[c.variable].Values[c.element] = values[i]
	}
	o.Set = append(slices.Clone(o.Set), e.set...)
	list, err := odes.CheckedPopulation(ctx, e.p.model, o)
	if ctx.Err() != nil {
		return nan, ctx.Err()
	}
	if err != nil || list == nil {
		return nan, nil
	}
	by, _ := list.Off()
	return by / 2, nil
}

// draw returns the values of a draw, counted over all chains.
func (r *Result) draw(at int) []float64 {
	chain := 0
	for at >= r.Chains[chain].Draws() {
		at -= r.Chains[chain].Draws()
		chain++
	}
	var out []float64
	for _, x := range r.Chains[chain].Values {
		out = append(out, x[at])
	}
	return out
}

// concludeIntegrals says what they are worth.
func (r *Result) concludeIntegrals() {
	t := r.Integrals
	if t == nil {
		return
	}
	switch {
	case t.Draws-t.Failed < 2: // they tell nothing
	case !(t.Sd <= integralSd):
		r.partial("the integral over random effects is an approximation (marginal), and its error differs from draw "+
			"to draw: at %d draws, an independent integral changes log densities by amounts that scatter by %.2g (sd; "+
			"at most %g)%s", t.Draws-t.Failed, t.Sd, integralSd, instead)
	case !(t.Shift <= integralShift):
		r.partial("the integral over random effects is an approximation (marginal), and its error changes the "+
			"posterior: with an independent integral at %d draws, the mean of %s moves by %.2g sd (at most %g)%s",
			t.Draws-t.Failed, r.Params[t.Param].Text(), t.Shift, integralShift, instead)
	}
	if t.Failed > 0 {
		r.warnf("at %d of %d draws, no independent integral over random effects was found", t.Failed, t.Draws)
	}
}
