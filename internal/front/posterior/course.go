package posterior

import (
	"context"
	"maps"
	"slices"

	"odes.dev/odes/internal/base/draws"
	"odes.dev/odes/internal/base/nuts"
)

// A chain goes through stages of its warm-up. At the end of each all chains wait for each other, and what they drew in
// it tells together whether coordinates that are bent (nuts.Warp) suit the posterior better; then each goes on in these
// from where it is, as a new chain. So what is drawn does not depend on how many go on at once.

// stages returns the iterations at which they end, the last one with the draws.
func (p *problem) stages(r *Result) []int {
	s := &p.settings
	last := s.Warmup + s.Draws
	const least, most = 100, 40 // iterations, and numbers of which a map is found in time
	if s.Warmup < least || p.size() < 2 || p.size() > most || r.heavy() > 1 || s.Metric == "diag" {
		return []int{last}
	}
	return []int{s.Warmup * 2 / 5, s.Warmup * 7 / 10, last}
}

// course is a chain on its way.
type course struct {
	p        *problem
	number   int
	result   *Result
	kept     *Chain
	e        *evaluator // of the goroutine that it is in
	chain    *nuts.Chain
	options  nuts.Options
	warp     *nuts.Warp
	stage    int            // that it is in
	at       int            // iterations made
	before   int            // gradients of stages before this chain
	failed   map[string]int // rejections of these
	early    map[string]int // rejections of the warm-up
	pool     [][]float64    // what this stage has drawn
	from     int            // iteration from which on it counts
	behind   int            // the stage behind which coordinates were bent, -1 for none
	bentAt   int            // and after how many iterations
	recalled *record        // where the file had it, or who made its last span; nil for nowhere
	saved    int            // draws that the file has
	savedAt  int            // and of how many iterations it knows
}

// newCourse is a chain that has not begun.
func newCourse(p *problem, r *Result, number int, kept *Chain) *course {
	kept.Mode = -1
	return &course{p: p, number: number, result: r, kept: kept, behind: -1}
}

// density is that of the coordinates in which the chain moves.
func (c *course) density() nuts.Density {
	f := func(ctx context.Context, q, g []float64) (float64, error) { return c.e.density(ctx, q, g) }
	if c.warp == nil {
		return f
	}
	return c.warp.Density(f)
}

// begin makes the chain of the first stage.
func (c *course) begin(ctx context.Context) error {
	p, s := c.p, &c.p.settings
	n := c.e.n
	q, mode, err := p.begin(ctx, c.e, c.number, c.result)
	if err != nil {
		return err
	}
	c.before = c.e.n - n
	c.kept.Mode, c.kept.Values = mode, make([][]float64, p.size())
	c.options = c.firstOptions()
	c.chain, err = nuts.New(ctx, c.density(), q, c.options)
	c.from = s.Warmup / 10
	return err
}

// wake makes the chain, where it has none: at its beginning, or where it came to before.
func (c *course) wake(ctx context.Context) error {
	switch {
	case c.chain != nil:
		return nil
	case c.recalled != nil:
		return c.resume(ctx)
	}
	return c.begin(ctx)
}

// firstOptions are those of the first stage, of a chain that began at its mode.
func (c *course) firstOptions() nuts.Options {
	p, s := c.p, &c.p.settings
	o := nuts.Options{
		Seed: s.Seed, Chain: c.number, Warmup: s.Warmup, Target: s.Target, Depth: s.Depth, Metric: metrics[s.Metric],
		Scale: p.scale(c.result, c.kept.Mode, c.number),
	}
	if o.Metric == nuts.Shrunk && c.kept.Mode < 0 {
		o.Metric = nuts.Dense
	}
	p.between(c.result, &o)
	return o
}

// bentOptions are those of a chain in coordinates of a warp that was found behind a stage, at an iteration.
func (c *course) bentOptions(stage, at int) nuts.Options {
	s := &c.p.settings
	return nuts.Options{
		Seed: s.Seed, Chain: c.number + (stage+1)<<32, Warmup: s.Warmup - at, Target: s.Target, Depth: s.Depth,
	}
}

// follow makes iterations to the end of a stage.
func (c *course) follow(ctx context.Context, e *evaluator, stage, end int) error {
	c.e = e
	if c.at >= end {
		return nil
	}
	if err := c.wake(ctx); err != nil {
		return orInterrupted(ctx, err)
	}
	c.stage = stage
	s := &c.p.settings
	for c.at < end {
		d, err := c.chain.Next(ctx)
		if err != nil {
			return orInterrupted(ctx, err)
		}
		c.at++
		c.p.told.step(1, d.Leapfrogs)
		q, grows := d.Q, 0.0
		if c.warp != nil {
			q, grows = c.warp.Forward(d.Q)
		}
		if c.at > s.Warmup {
			d.LogP -= grows
			values, err := c.e.values(ctx, q)
			if err != nil {
				return orInterrupted(ctx, err)
			}
			c.kept.add(values, &d)
		} else {
			if c.kept.Warmed++; c.kept.Warmed == s.Warmup {
				c.early = c.rejections()
			}
			if c.at > c.from && end < s.Warmup+s.Draws {
				c.pool = append(c.pool, q)
			}
		}
		if c.at%recordEvery == 0 {
			if err := c.keep(); err != nil {
				return err
			}
		}
	}
	return nil
}

// bend looks for coordinates in which the posterior is nearer to a normal distribution, and moves all chains there.
func (p *problem) bend(ctx context.Context, all []*course, stage int) error {
	var warp *nuts.Warp
	// Chains that a file had may be further than others: then what was found is known.
	if at := slices.IndexFunc(all, func(c *course) bool { return c.stage > stage }); at < 0 {
		warp = p.warpOf(all)
	} else if all[at].behind == stage {
		warp = all[at].warp
	}
	return p.each(len(all), func(e *evaluator, k int) error {
		c := all[k]
		if c.stage > stage {
			return nil
		}
		if warp == nil {
			return nil
		}
		c.e = e
		if err := c.wake(ctx); err != nil {
			return orInterrupted(ctx, err)
		}
		return orInterrupted(ctx, c.move(ctx, warp, stage))
	})
}

// warpOf finds the warp that what all chains drew in a stage asks for; nil for none.
func (p *problem) warpOf(all []*course) *nuts.Warp {
	var pool [][]float64
	for _, c := range all {
		pool = append(pool, c.pool...)
	}
	return nuts.NewWarp(pool, func(x []float64) float64 {
		var chains [][]float64
		for _, c := range all {
			chains, x = append(chains, x[:len(c.pool)]), x[len(c.pool):]
		}
		return draws.BulkESS(chains)
	})
}

// move goes on in the coordinates of a warp.
func (c *course) move(ctx context.Context, warp *nuts.Warp, stage int) error {
	state := c.chain.State()
	q := state.Q
	if c.warp != nil {
		q, _ = c.warp.Forward(q)
	}
	before, failed, old := c.gradients(), c.rejections(), c.warp
	c.warp = warp
	o := c.bentOptions(stage, c.at)
	chain, err := nuts.New(ctx, c.density(), warp.Back(q), o)
	if err != nil {
		c.warp = old
		return err
	}
	c.chain, c.options, c.before, c.failed = chain, o, before, failed
	c.behind, c.bentAt = stage, c.at
	return nil
}

// begun reports whether there is a chain.
func (c *course) begun() bool { return c.chain != nil || c.recalled != nil }

// state is where the chain is.
func (c *course) state() nuts.State {
	switch {
	case c.chain != nil:
		return c.chain.State()
	case c.recalled != nil:
		return c.recalled.State
	}
	return nuts.State{}
}

// gradients is how many the chain asked for.
func (c *course) gradients() int { return c.before + c.state().Gradients }

// rejections are those of all stages.
func (c *course) rejections() map[string]int {
	all := maps.Clone(c.failed)
	if all == nil {
		all = map[string]int{}
	}
	for cause, n := range c.state().Rejections {
		all[cause] += n
	}
	return all
}

// shared is a copy of draws that nothing is added to.
func shared(x [][]float64, from int) [][]float64 {
	out := make([][]float64, len(x))
	for i := range x {
		out[i] = slices.Clone(x[i][min(from, len(x[i])):])
	}
	return out
}
