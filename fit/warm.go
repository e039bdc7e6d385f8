package fit

import (
	"context"
	"math"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/optim"
)

// Searches for steady states within a search for estimates are warm: each begins at what was found for the last
// values. What they find need not be the states that the runs lead to. So the minimum that a search comes to is
// evaluated once more without that, and where the objective or a constraint has another value then, the search is made
// anew without that. All that is said of a minimum is computed so. A search depends on nothing that was found before.

// SteadyWork counts searches for steady states within the searches for estimates.
type SteadyWork struct {
	odes.SteadyWork
	Confirmed int // minima of warm searches that runs from the initial values confirmed
	Repeated  int // searches that were made anew, because such runs led to other states
}

// setWarm lets the runs to come begin at the steady states of those before, or ends that.
func (e *evaluator) setWarm(on bool) {
	e.warm = on
	if e.last = nil; e.comparison != nil {
		e.comparison.Warm(on)
	}
	for _, r := range []*odes.Runner{e.gradient, e.hessian, e.curved} {
		if r != nil {
			r.Warm(on)
		}
	}
}

// forget makes the runs to come depend on nothing that was before.
func (e *evaluator) forget() {
	if e.last = nil; e.comparison != nil {
		e.comparison.Forget()
	}
	for _, r := range []*odes.Runner{e.gradient, e.hessian, e.curved} {
		if r != nil {
			r.Forget()
		}
	}
}

// steadyWork returns what all runs so far took to find steady states.
func (e *evaluator) steadyWork() SteadyWork {
	w := e.steady
	if e.comparison != nil {
		w.Add(e.comparison.SteadyWork())
	}
	for _, r := range []*odes.Runner{e.gradient, e.hessian, e.curved} {
		if r != nil {
			w.Add(r.SteadyWork())
		}
	}
	return w
}

// add adds what was counted since it was before.
func (w *SteadyWork) add(now, before SteadyWork) {
	w.Add(now.Less(before.SteadyWork))
	w.Confirmed += now.Confirmed - before.Confirmed
	w.Repeated += now.Repeated - before.Repeated
}

// confirmed makes a search, of a sum of squares or not, and returns a minimum of runs that are not warm.
func (p *problem) confirmed(
	ctx context.Context, e *evaluator, squares bool, search func() (optim.Result, error),
) (optim.Result, error) {
	if !p.settings.Warm {
		return search()
	}
	before := e.steadyWork().Warm
	e.setWarm(true)
	r, err := search()
	e.setWarm(false)
	if ctx.Err() != nil || e.steadyWork().Warm == before {
		return r, err
	}
	if err == nil && p.confirms(ctx, e, squares, &r) {
		e.steady.Confirmed++
		return r, nil
	}
	if ctx.Err() != nil {
		return r, err
	}
	e.steady.Repeated++
	return search()
}

// confirms reports whether runs that are not warm give the objective and the constraints at the minimum of a warm
// search their values, and makes this value of the objective that of the result.
func (p *problem) confirms(ctx context.Context, e *evaluator, squares bool, r *optim.Result) bool {
	const (
		errors = 10   // times the estimated one of a value
		part   = 1e-6 // of the value
	)
	value, noise := 0.0, 0.0
	if squares {
		at := optim.Residuals{R: make([]float64, e.rows)}
		if e.at(ctx, r.X) != nil {
			return false
		}
		e.fill(r.X, optim.Values, &at, nil)
		for _, x := range at.R {
			value += float64(x * x)
		}
		value, noise = value/2+at.Rest, at.Noise
	} else {
		s, err := e.run(ctx, r.X, false)
		if err != nil {
			return false
		}
		value, noise = float64(p.sign()*s.Values[0].Value), p.noise(s)
		for i, c := range r.Constraints {
			off := math.Abs(s.Values[i+1].Value - c)
			if !(off <= float64(max(float64(errors*s.Settings.RTol), part)*r.Sizes[i])) {
				return false
			}
		}
	}
	if !(math.Abs(value-r.Value) <= max(float64(errors*noise), float64(part*math.Abs(value)))) {
		return false
	}
	r.Value = value
	return true
}
