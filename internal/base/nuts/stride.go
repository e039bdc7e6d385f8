package nuts

import (
	"context"
	"math"
)

// Numbers of strides.
const (
	steep   = 8    // of the energy: what a step may lose or win
	halving = 5    // times at most
	lost    = 1000 // of the energy: where a trajectory has lost so much, it ends
)

// stride makes a step of a trajectory from p. Where it would lose or win much of the energy, the density is narrower
// there than most of it: then 2, 4, … shorter steps lead as far, the fewest that hold the energy (N. Bou-Rabee and
// others, arXiv:2506.18746). The same number must be found from there backwards, or trajectories would not be
// reversible: where it is not, or where there is no density, the new point is nil.
//
// Where no number holds the energy, as where the density leaps, the step is made whole. The loss is that of the whole
// step in any case.
func (c *Chain) stride(ctx context.Context, p *point, w *work) (to *point, loss float64, err error) {
	to, err = c.leap(ctx, p, w.step)
	if err != nil || to == nil {
		return nil, 0, err
	}
	if loss = energy(to) - energy(p); math.Abs(loss) <= steep {
		return to, loss, nil
	}
	first, last := 1, halving // how often the step must not be halved backwards
	for k := 1; k <= halving; k++ {
		fine, _, err := c.divided(ctx, p, w.step, k)
		if err != nil {
			c.drop(to)
			return nil, 0, err
		}
		if fine != nil {
			c.drop(to)
			to, first, last = fine, 0, k-1
			break
		}
	}
	if first > 0 && !(energy(to)-w.start >= -lost) {
		return to, loss, nil
	}
	for k := first; k <= last; k++ {
		back, some, err := c.divided(ctx, to, -w.step, k)
		if err != nil || back != nil || k == 0 && !some {
			c.drop(to)
			c.drop(back)
			return nil, loss, err
		}
	}
	return to, loss, nil
}

// divided makes a step of 2^halvings shorter ones. It is nil where these do not hold the energy; some is false where
// that is because one of them leads to where there is no density.
func (c *Chain) divided(ctx context.Context, p *point, step float64, halvings int) (to *point, some bool, err error) {
	count := 1 << halvings
	step /= float64(count)
	low, high := energy(p), energy(p)
	at := p.keep()
	for range count {
		to, err = c.leap(ctx, at, step)
		c.drop(at)
		if err != nil || to == nil {
			return nil, false, err
		}
		at = to
		h := energy(to)
		if low, high = math.Min(low, h), math.Max(high, h); !(high-low <= steep) {
			c.drop(at)
			return nil, true, nil
		}
	}
	return at, true, nil
}
