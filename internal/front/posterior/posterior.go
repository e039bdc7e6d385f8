// Package posterior draws from the posterior of a model: from a density whose negative logarithm is an objective.
//
// Params are moved to all real numbers first: by logarithms where they have one bound, by logits where they have two,
// with the Jacobians of that. Searches from several starts find the modes, whose exact Hessians are the metric of
// chains (package nuts), and where chains begin. What the draws are worth is judged by package draws, and what the
// solver has to do with it by runs at a tenth of the tolerances.
//
// A run of the model that fails is a rejection, counted by its cause. Draws depend on nothing but the model, the
// settings and the seed: not on the number of workers.
//
// docs/sample.md says what users see.
package posterior

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/internal/base/draws"
	"odes.dev/odes/lang/diag"
)

// CodeSample is the code of warnings and notes about draws.
const CodeSample diag.Code = "sample"

// Options say how to draw. The zero value follows the sample block of the model.
type Options struct {
	// Options are those of the runs. Of, Wrt, Times and Gradient mean nothing here.
	odes.Options
	// Workers is how many chains and searches go on at once; 0 means one for each core. Results do not depend on it.
	Workers int
	// Keep keeps chains, and has those that go on; nil for none.
	Keep *File
	// Backend makes chains and searches elsewhere, of the model that Source has; nil: this process does.
	Backend Backend
	Source  ensemble.Source
}

// Result is what was drawn, and what it is worth.
type Result struct {
	Status      string // "ok", or "partial" where draws are not to be trusted, or are fewer than were asked for
	Settings    odes.SampleSettings
	Params      []Param
	Chains      []Chain
	Modes       []Mode
	Quantities  []Quantity
	Walls       []Wall
	WallsUnseen bool // there may be some, which were not looked for
	Divergences int
	Full        int // trajectories that were as long as they may be
	Gradients   int // runs with derivatives: searches and warm-up included, Trust not
	Rejections  []Rejection
	EBFMI       []float64 // of each chain
	Trust       *Trust    // nil where it was not looked at
	Integrals   *Trust    // the same of integrals over random effects; nil where there are none
	Bent        bool      // chains moved in coordinates that are bent: see nuts.Warp
	K           float64   // Pareto's k of the weights of laplace and pathfinder; NaN for others
	Effective   float64   // draws that those weights leave
	Moved       []string  // whose distribution changes where chains go on from draws of laplace or pathfinder
	Evidence    *Evidence // nil for chains
	Populations []Tempered
	Interrupted bool
	Seconds     float64
	Warnings    []diag.Diagnostic
	hidden
}

// hidden is what a result knows for its own conclusions.
type hidden struct {
	unseen unseen
	last   lastRound
}

// Param is a number that was drawn.
type Param struct {
	Name  string // of the param, or initial(x)
	Index []int  // of an array's element, 1-based; nil for a scalar
	Label string // the name of the element, such as A[1,2] or c[3].k
	Unit  string
	draws.Summary
	MCSEQ5, MCSEMedian, MCSEQ95 float64
	// Prior returns quantiles of its prior; nil where it has none, or one whose numbers are params.
	Prior func(p float64) float64
	// Subject is the experiment whose random effect it is; "" for params.
	Subject string
}

// Text returns "k", "A[1,2]", "initial(x)" or "c[3].k".
func (p *Param) Text() string { return cmp.Or(p.Label, p.Name) }

// Chain is what one chain drew. The slices have one number for each draw behind warm-up.
type Chain struct {
	Mode                       int         // index of Result.Modes where it began; -1 for none
	Values                     [][]float64 // [param][draw]
	LogP, Accept, Step, Energy []float64   // LogP is that of the coordinates, as package nuts has it
	Depth, Leapfrogs           []int
	Divergent                  []bool
	Warmed                     int // iterations of warm-up that were made
}

// Draws returns how many there are.
func (c *Chain) Draws() int { return len(c.LogP) }

// Mode is a place where the density is largest.
type Mode struct {
	At     []float64 // [param]
	LogP   float64   // of the density of the coordinates of the search, which have a Jacobian
	Weight float64   // the share of the mass by Laplace's method
	Chains []int     // that began there
	Draws  int       // that belong to it: see modeOf
	Mean   []float64 // of these
	Sd     []float64
	Found  int       // how many searches came there
	scale  []float64 // L of its covariance
	q      []float64
}

// Rejection says how many runs failed of a cause.
type Rejection struct {
	Cause string
	Count int
	Late  int // of these, behind warm-up
}

// Trust is how draws would change if the solver, or integrals, were more accurate.
type Trust struct {
	Draws  int     // that were computed again
	Failed int     // of them
	Sd     float64 // of the logarithms of their weights
	Shift  float64 // the largest change of a mean by the weights, in standard deviations
	Param  int     // of which
	Factor float64 // by which tolerances were multiplied; 0 for integrals
}

// Run draws from the posterior of a model. The error carries all that is wrong with the options, as diagnostics, or
// says that there is no density anywhere. If ctx ends, the result has the draws made until then, with status "partial".
func Run(ctx context.Context, m *odes.Model, opts Options) (*Result, error) {
	began := time.Now()
	p, err := newProblem(ctx, m, opts)
	if err != nil {
		return nil, err
	}
	if err := affordable(p); err != nil {
		return nil, err
	}
	r := &Result{Status: "ok", Settings: p.settings, K: nan}
	p.warn(r)
	method := methods[p.settings.Method]
	if err := method.seek(p, ctx, r); err != nil {
		return nil, err
	}
	settleAnchor(p, r.Modes)
	if p.settings.Random == "draw" {
		if err := p.addEffects(ctx, r); err != nil {
			return nil, err
		}
	}
	if err := foresee(ctx, p, r); err != nil {
		return nil, err
	}
	if p.opts.Keep != nil && p.settings.Method != "nuts" {
		return nil, fmt.Errorf("%w: method = %s has none", ErrNoChains, p.settings.Method)
	}
	if err := method.draw(p, ctx, r); err != nil {
		return nil, err
	}
	p.judge(r)
	if err := p.quantities(ctx, r); err != nil {
		return nil, err
	}
	if err := p.walls(ctx, r); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		r.Interrupted = true
	} else if err := p.trust(ctx, r); err != nil {
		return nil, err
	} else if err := p.integrals(ctx, r); err != nil {
		return nil, err
	}
	p.conclude(r)
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// method is a way to draw.
type method struct {
	seek     func(p *problem, ctx context.Context, r *Result) error // finds modes
	draw     func(p *problem, ctx context.Context, r *Result) error
	conclude func(p *problem, r *Result) // says what draws are worth
}

var methods = map[string]method{
	"nuts":       {(*problem).findModes, (*problem).chains, (*problem).concludeChains},
	"laplace":    {(*problem).findModes, (*problem).laplace, (*problem).concludeApproximation},
	"pathfinder": {(*problem).findPaths, (*problem).pathfinder, (*problem).concludeApproximation},
	"smc":        {(*problem).findModes, (*problem).populations, (*problem).concludePopulations},
}

// workers returns how many goroutines to use.
func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// each calls do for i from 0 to n-1, by several goroutines, each with an evaluator of its own. It returns the error of
// the smallest i that has one.
func (p *problem) each(n int, do func(e *evaluator, i int) error) error {
	errs := make([]error, n)
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	var group sync.WaitGroup
	workers := p.opts.workers()
	if p.opts.Workers == 0 && p.told.phase == odes.PhaseRuns { // all chains go on at once: an end leaves draws of each
		workers = n
	}
	for range min(workers, n) {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range next {
				e, err := p.borrow()
				if err != nil {
					errs[i] = err
					continue
				}
				errs[i] = guarded(func() error { return do(e, i) })
				p.giveBack(e)
			}
		}()
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// guarded makes an error of a panic, which would end the program in a goroutine.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v", r)
		}
	}()
	return f()
}
