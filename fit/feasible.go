package fit

import (
	"context"
	"math"

	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/internal/base/sample"
)

// reach searches from other points where the only search that was asked for has come to no feasible point: a point
// where violations can be no smaller nearby says nothing of what is far away. It ends where one of them comes to a
// feasible point, which is the best one then. What is drawn depends on the seed alone, and the elements of an array,
// the pieces of a control among them, begin at the same part of their ranges.
func (p judge) reach(ctx context.Context, out *Result) {
	const tries = 8
	e, err := p.borrow()
	if err != nil {
		return
	}
	defer p.giveBack(e)
	kind, _ := sample.KindNamed("lhs")
	cube, err := kind.New(tries, len(p.settings.Over), p.settings.Seed)
	if err != nil {
		return
	}
	within, end := p.within(ctx)
	defer end()
	from, u := p.ranges(), make([]float64, len(p.settings.Over))
	found := false
	for i := range tries {
		if within.Err() != nil || found {
			break
		}
		cube.At(i, u)
		x := append([]float64(nil), p.start...)
		for k, d := range from {
			c := &p.coords[k]
			if v := c.of(d.Quantile(u[c.variable])); v-v == 0 {
				x[k] = v
			}
		}
		s := p.from(within, e, len(out.Starts), x)
		out.Stats.add(&s)
		out.Stats.Seconds.Searches += s.Seconds
		if math.IsNaN(s.Value) || s.Why == optim.Unbounded.Words() {
			continue
		}
		s.Why = "from elsewhere, as there is no feasible point near the start; " + s.Why
		found = !s.Violated
		out.Starts = append(out.Starts, s)
	}
	p.sort(out.Starts)
	out.Clusters = nil
	p.cluster(out)
}
