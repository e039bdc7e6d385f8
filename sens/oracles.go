package sens

import (
	"context"
	"fmt"
	"math"

	"odes.dev/odes/internal/base/elem"

	"odes.dev/odes/solvers/record"
)

// tiny is what complex steps move by. An imaginary part is to be felt to first order only, also where derivatives grow
// on the way, as they do near an unstable equilibrium. With this one they may grow to 1e110, and be as small as 1e-180.
const tiny = 0x1p-400

// ComplexStep differentiates by replaying the run with one parameter after the other moved by a tiny imaginary
// amount. It is exact to rounding, at a cost of one complex run per direction. The other methods are checked against
// it.
type ComplexStep struct {
	New func() ComplexWorker

	telling
}

// Name implements Method.
func (c *ComplexStep) Name() string { return ModeComplex }

// Gradient implements Method.
func (c *ComplexStep) Gradient(ctx context.Context, run *record.Trajectory, opts Options, res *Result) error {
	w := c.New()
	r, err := begin(ctx, &w, run, opts, res)
	if err != nil {
		return err
	}
	r.tells, r.pinned = &c.telling, true
	return r.directions(ctx, 1, opts, res, func(at int, x float64) error {
		if at < len(r.p) {
			r.p[at] += complex(0, tiny)
			defer func() { r.p[at] = complex(x, 0) }()
			return r.repeat(ctx, -1, 0)
		}
		return r.repeat(ctx, at-len(r.p), complex(0, tiny))
	}, func(v complex128) float64 { return imag(v) / tiny })
}

// Differences differentiates by central differences over the replayed run, extrapolated once (Richardson): they are
// of order four in the step. With a Bump they are plain central differences.
type Differences struct {
	New func() ComplexWorker
	// Step is the relative change of a parameter; 0 means 1e-4.
	Step float64
	// Bump is the change of every parameter and initial value, in their units; 0 means Step, extrapolated.
	Bump float64

	telling
}

// Name implements Method.
func (c *Differences) Name() string { return ModeDifferences }

// Gradient implements Method.
func (c *Differences) Gradient(ctx context.Context, run *record.Trajectory, opts Options, res *Result) error {
	w := c.New()
	r, err := begin(ctx, &w, run, opts, res)
	if err != nil {
		return err
	}
	rel := c.Step
	if rel == 0 {
		rel = 1e-4
	}
	// ψ' ≈ (8 (ψ(h) - ψ(-h)) - (ψ(2h) - ψ(-2h))) / 12h, or (ψ(h) - ψ(-h)) / 2h.
	points, per := []struct{ step, weight float64 }{{1, 8}, {-1, -8}, {2, -1}, {-2, 1}}, 12.0
	if c.Bump > 0 {
		points, per = []struct{ step, weight float64 }{{1, 1}, {-1, -1}}, 2
	}
	var psi, times []complex128
	r.tells = &c.telling
	return r.directions(ctx, len(points), opts, res, func(at int, x float64) error {
		psi, times = make([]complex128, len(r.psi)), make([]complex128, len(r.times))
		h := float64(rel * math.Abs(x))
		if !(h > 0) { // also for a parameter that is NaN: what does not read it has a derivative
			h = rel
		}
		if c.Bump > 0 {
			h = c.Bump
		}
		for _, n := range points {
			move, err := complex(float64(n.step*h), 0), error(nil)
			if at < len(r.p) {
				r.p[at] = complex(x, 0) + move
				err = r.repeat(ctx, -1, 0)
				r.p[at] = complex(x, 0)
			} else {
				err = r.repeat(ctx, at-len(r.p), move)
			}
			if err != nil {
				return err
			}
			r.tells.done()
			c := complex(n.weight/float64(per*h), 0)
			for i, v := range r.psi {
				psi[i] = elem.CFMA(c, v, psi[i])
			}
			for i, v := range r.times {
				times[i] = elem.CFMA(c, v, times[i])
			}
		}
		copy(r.psi, psi)
		copy(r.times, times)
		return nil
	}, func(v complex128) float64 { return real(v) })
}

// begin replays the run as it was, for the values, and sets up res.
func begin(ctx context.Context, w *ComplexWorker, run *record.Trajectory, opts Options, res *Result) (*replay, error) {
	if got, want := w.Method.Info().Name, run.Method().Name; got != want {
		return nil, fmt.Errorf("the run was made by method %s and cannot be replayed by %s", want, got)
	}
	_, m := w.RealObjectives.Counts()
	res.prepare(run, m, opts)
	if err := res.observe(ctx, run, w.RealSystem, w.Method, w.RealObjectives, &opts); err != nil {
		return nil, err
	}
	r, err := newReplay(w, run)
	if err != nil {
		return nil, err
	}
	r.readings = res.readings
	if err := r.repeat(ctx, -1, 0); err != nil {
		return nil, err
	}
	return r, nil
}

// directions moves parameters and, if wanted, initial values one by one, and takes the derivatives from r.psi and
// r.times.
func (r *replay) directions(ctx context.Context, repeats int, opts Options, res *Result,
	move func(at int, x float64) error, part func(complex128) float64,
) error {
	z := r.run.Size()
	n := z.P
	if opts.Initial {
		n += z.N
	}
	r.tells.begin(repeats * n)
	for at := range n {
		r.tells.pass = repeats * at
		x := 0.0
		if at < z.P {
			x = r.Params[at]
		} else {
			x = r.run.Initial()[at-z.P]
		}
		if err := move(at, x); err != nil {
			return err
		}
		for o, v := range r.psi {
			if at < z.P {
				res.DP[o*opts.stride(z)+at] = part(v)
			} else {
				res.DY0[o*z.N+at-z.P] = part(v)
			}
		}
		for _, e := range res.Events {
			if e.DP != nil && at < z.P {
				e.DP[at] = part(r.times[e.Mark])
			}
		}
		res.Stats.Sweeps++
	}
	res.Stats.Steps = r.steps
	return nil
}
