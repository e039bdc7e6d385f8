package sens

import (
	"context"
	"math"

	"odes.dev/odes/solvers/record"
)

// Analytic is a recorded run as a function of parameters and initial values. The run is repeated with its sequence of
// steps and events, so its objectives are smooth functions of them. Tiny imaginary parts carry derivatives.
type Analytic struct{ *replay }

// Analytic returns the run as a function.
func (c *ComplexStep) Analytic(ctx context.Context, run *record.Trajectory) (*Analytic, error) {
	w := c.New()
	var res Result
	r, err := begin(ctx, &w, run, Options{}, &res)
	if err != nil {
		return nil, err
	}
	return &Analytic{r}, nil
}

// At returns the objectives for parameters p[P], with dy0[N] (nil for nothing) added to the initial values. The next
// call overwrites the result.
func (a *Analytic) At(ctx context.Context, p, dy0 []complex128) ([]complex128, error) {
	copy(a.p, p)
	a.dy0 = dy0
	if err := a.repeat(ctx, -1, 0); err != nil {
		return nil, err
	}
	return a.psi, nil
}

// stencil holds the weights of the central differences of order eight: f'(0) ≈ Σ_k c_k (f(kr) - f(-kr))/r.
var stencil = [...]float64{4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}

// Curvature returns the second derivatives at 0 of functions f of one number: central differences of order eight,
// with spacing r, of their first derivatives by complex step. Their error is r⁸/630 times the ninth derivatives of
// these, and rounding over r.
func Curvature(f func(z complex128) ([]complex128, error), r float64) ([]float64, error) {
	var out []float64
	for k, c := range stencil {
		for _, sign := range []float64{1, -1} {
			values, err := f(complex(float64(sign*float64(float64(k+1)*r)), tiny))
			if err != nil {
				return nil, err
			}
			if out == nil {
				out = make([]float64, len(values))
			}
			for i, v := range values {
				out[i] = math.FMA(sign*c/r, imag(v)/tiny, out[i])
			}
		}
	}
	return out, nil
}
