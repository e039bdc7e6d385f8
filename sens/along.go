package sens

import (
	"context"

	"odes.dev/odes/solvers/record"
)

// Along replays the run once, with the parameters moved along dp[P] and the initial values along dy0[N] (nil: not at
// all). It returns the derivatives of all objectives in that direction, which a gradient must give as an inner
// product, at the cost of one run, whatever P is. They are taken after a move of length at along the same direction:
// 0 for the run itself, a move of the size of rounding to see what rounding does to them.
func (c *ComplexStep) Along(
	ctx context.Context, run *record.Trajectory, dp, dy0 []float64, at float64,
) ([]float64, error) {
	w := c.New()
	var res Result
	r, err := begin(ctx, &w, run, Options{}, &res)
	if err != nil {
		return nil, err
	}
	r.tells = &c.telling
	r.tells.begin(1)
	for i, d := range dp {
		r.p[i] += complex(float64(at*d), tiny*d)
	}
	for _, d := range dy0 {
		r.dy0 = append(r.dy0, complex(float64(at*d), tiny*d))
	}
	if err := r.repeat(ctx, -1, 0); err != nil {
		return nil, err
	}
	out := make([]float64, len(r.psi))
	for i, v := range r.psi {
		out[i] = imag(v) / tiny
	}
	return out, nil
}

// Replays repeats a run with the parameters and initial values moved by each of steps times dp[P] and dy0[N] (nil for
// no move), and returns the objectives of each repetition. The sequence of steps and events is kept. So the
// objectives are smooth functions of the move, for which Taylor's theorem holds whatever the tolerance of the run.
func (c *ComplexStep) Replays(
	ctx context.Context, run *record.Trajectory, dp, dy0, steps []float64,
) ([][]float64, error) {
	w := c.New()
	var res Result
	r, err := begin(ctx, &w, run, Options{}, &res)
	if err != nil {
		return nil, err
	}
	r.tells = &c.telling
	r.tells.begin(len(steps))
	r.dy0 = make([]complex128, len(dy0))
	out := make([][]float64, len(steps))
	for k, eps := range steps {
		for i, d := range dp {
			r.p[i] = complex(w.Params[i]+float64(eps*d), 0)
		}
		for i, d := range dy0 {
			r.dy0[i] = complex(float64(eps*d), 0)
		}
		if err := r.repeat(ctx, -1, 0); err != nil {
			return nil, err
		}
		for _, v := range r.psi {
			out[k] = append(out[k], real(v))
		}
		r.tells.done()
	}
	return out, nil
}

// Along is ComplexStep.Along by a tangent. It gives the left side of ⟨w, J v⟩ = ⟨Jᵀ w, v⟩ over the recorded steps, of
// which an adjoint gives the right side.
func (a *Tangent) Along(ctx context.Context, run *record.Trajectory, dp, dy0 []float64) ([]float64, error) {
	w := newWalk(a.New(), run)
	var res Result
	if err := res.observe(ctx, run, w.sys, w.method, w.obj, &Options{}); err != nil {
		return nil, err
	}
	w.res, w.tells = &res, &a.telling
	w.tells.begin(1)
	if dy0 != nil {
		w.dy0 = make([]float64, len(dy0)*w.l)
		for i, x := range dy0 {
			w.dy0[i*w.l] = x
		}
	}
	w.read.Open(ctx, run)
	if err := w.slopes((&Options{}).grazingLimit()); err != nil {
		return nil, err
	}
	clear(w.pd)
	for i, x := range dp {
		w.pd[i*w.l] = x
	}
	z := run.Size()
	if err := w.along(ctx, z.P+z.N); err != nil {
		return nil, err
	}
	out := make([]float64, len(res.Psi))
	for i := range out {
		out[i] = w.psid[i*w.l]
	}
	return out, nil
}
