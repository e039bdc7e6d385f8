package hybrid

import (
	"math"

	"odes.dev/odes/solvers"
)

// quadratures judges the estimated errors of the quadratures, each by its own size. A quadrature begins at zero and
// may cross it later, so its size is not its value:
//
//	sc = QuadTol (Σ |Δq| + 1e-3 span·max |Δq|/h) + abs·span.
//
// The sum goes over the accepted steps and the one that is tried. The maximum goes over these and over those steps
// that were tried and that the states alone would have accepted: where an integrand begins like a power of time, it
// keeps the tolerance from falling as fast as the error when the step shrinks. So it does where the integrand is zero
// at all stages but one that Δq does not read: the error takes the place of Δq. The last term is what rounding errors
// in a vanishing integrand stay below. The largest error counts, and apart from those of the states: a mean with the
// states would loosen the control of both.
type quadratures struct {
	rel, abs float64
	count    []int     // those that are judged
	size     []float64 // [Q] Σ |Δq|
	mean     []float64 // [Q] max |Δq|/h
	noise    []float64 // [Q] what rounding leaves of integrands, where absolute tolerances follow sizes
}

// newQuadratures returns what judges the quadratures of a run with these options.
func newQuadratures(o *solvers.Options, z solvers.Size) quadratures {
	c := quadratures{rel: o.QuadTol, abs: float64(1e-3 * o.QuadTol)}
	switch {
	case o.Fixed > 0 || o.QuadTol < 0:
		return quadratures{}
	case o.QuadTol == 0:
		c.rel, c.abs = least(o.RTol, o.RTols), max(least(o.ATol, o.ATols), 0)
	}
	if c.count = o.Quadratures; c.count == nil {
		for i := range z.Q {
			c.count = append(c.count, i)
		}
	}
	if len(c.count) > 0 {
		c.size, c.mean, c.noise = make([]float64, z.Q), make([]float64, z.Q), make([]float64, z.Q)
	}
	return c
}

// least returns the smallest tolerance of all states.
func least(one float64, each []float64) float64 {
	for i, x := range each {
		if i == 0 || x < one {
			one = x
		}
	}
	return one
}

func (c *quadratures) reset() {
	clear(c.size)
	clear(c.mean)
	clear(c.noise)
}

// norm returns the largest of the estimated errors e[N+Q] of the quadratures over the trial step s, whose states are
// accurate enough, in units of the tolerance. While something narrow passes, near is positive and takes the place of
// the span, and the largest |Δq|/h is that of the step: it does not say how large the quadrature is.
func (c *quadratures) norm(s *solvers.Step, e []float64, span, near float64) float64 {
	n, worst := len(s.Y0), 0.0
	for _, i := range c.count {
		dq := math.Abs(s.DQ[i])
		seen := dq
		if seen == 0 { // the integrand begins at a stage that only the estimate reads
			seen = math.Abs(e[n+i])
		}
		mean, over := seen/math.Abs(s.H), span
		if near > 0 && near < span {
			over = near
		} else {
			if mean > c.mean[i] && mean <= math.MaxFloat64 {
				c.mean[i] = mean
			}
			mean = c.mean[i]
		}
		sc := math.FMA(c.rel, math.FMA(float64(1e-3*over), mean, c.size[i]+dq), float64((c.abs+c.noise[i])*span))
		if !(sc <= math.MaxFloat64) {
			return math.NaN()
		}
		if x := math.Abs(e[n+i]) / max(sc, 0x1p-1000); !(x <= worst) { // finite, too, where all is rounding
			worst = x
		}
	}
	return worst
}

// add accounts for an accepted step.
func (c *quadratures) add(s *solvers.Step) {
	for _, i := range c.count {
		c.size[i] += math.Abs(s.DQ[i])
	}
}
