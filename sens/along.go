package sens

import (
	"context"

	"odes.dev/odes/solvers"
)

// Along replays the run once, with the parameters moved along dp[P] and the
// initial values along dy0[N] (nil: not at all), and returns the derivatives of
// all objectives in that direction: what a gradient must give as an inner
// product, at the cost of one run whatever P is.
func (c *ComplexStep) Along(ctx context.Context, run *solvers.Trajectory, dp, dy0 []float64) ([]float64, error) {
	const tiny = 0x1p-100
	w := c.New()
	var res Result
	r, err := begin(ctx, &w, run, Options{}, &res)
	if err != nil {
		return nil, err
	}
	for i, d := range dp {
		r.p[i] += complex(0, tiny*d)
	}
	for _, d := range dy0 {
		r.dy0 = append(r.dy0, complex(0, tiny*d))
	}
	if err := r.again(ctx, -1, 0); err != nil {
		return nil, err
	}
	out := make([]float64, len(r.psi))
	for i, v := range r.psi {
		out[i] = imag(v) / tiny
	}
	return out, nil
}
