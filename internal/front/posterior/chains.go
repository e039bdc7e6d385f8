package posterior

import (
	"context"
	"maps"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/nuts"
)

// metrics are what package nuts calls them.
var metrics = map[string]nuts.Metric{"hessian": nuts.Shrunk, "dense": nuts.Dense, "diag": nuts.Diagonal}

// chains draws by chains.
func (p *problem) chains(ctx context.Context, r *Result) error {
	s := &p.settings
	r.Chains = make([]Chain, s.Chains)
	all := make(courses, s.Chains)
	for k := range all {
		all[k] = newCourse(p, r, k, &r.Chains[k])
		if err := all[k].recall(); err != nil {
			return err
		}
	}
	p.told.begin("runs", s.Chains*(s.Warmup+s.Draws))
	for stage, end := range p.stages(r) {
		if err := all.follow(ctx, stage, end); err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
		if end < s.Warmup+s.Draws {
			if err := p.bend(ctx, all, stage); err != nil {
				return err
			}
		}
	}
	causes, late := map[string]int{}, map[string]int{}
	for k, c := range all {
		r.Gradients += c.gradients()
		early := c.early
		for cause, n := range c.rejections() {
			causes[cause] += n
			if r.Chains[k].Draws() > 0 {
				late[cause] += n - early[cause]
			}
		}
		if m := r.Chains[k].Mode; m >= 0 {
			r.Modes[m].Chains = append(r.Modes[m].Chains, k)
		}
		for i, d := range r.Chains[k].Divergent {
			if d {
				r.Divergences++
			}
			if r.Chains[k].Depth[i] >= s.Depth {
				r.Full++
			}
		}
		r.Bent = r.Bent || c.warp != nil
	}
	for _, cause := range slices.Sorted(maps.Keys(causes)) {
		r.Rejections = append(r.Rejections, Rejection{cause, causes[cause], late[cause]})
	}
	if ctx.Err() != nil && r.Draws() == 0 {
		return ctx.Err()
	}
	return nil
}

// courses are all chains.
type courses []*course

// follow makes the iterations of all chains to the end of a stage.
func (list courses) follow(ctx context.Context, stage, end int) error {
	p := list[0].p
	if p.opts.Backend != nil {
		return list.elsewhere(ctx, stage, end)
	}
	return p.each(len(list), func(e *evaluator, k int) error {
		err := list[k].follow(ctx, e, stage, end)
		if kept := list[k].keep(); err == nil {
			err = kept
		}
		return err
	})
}

// orInterrupted is nil where what ended a chain is that ctx did: what it drew is kept.
func orInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// scale is L of the first metric of a chain that begins at a mode; nil for the sizes of the coordinates.
func (p *problem) scale(r *Result, mode, chain int) []float64 {
	n := p.size()
	if mode < 0 && len(p.paths) > 0 {
		return p.paths[chain%len(p.paths)].Best.Scale
	}
	if p.settings.Metric == "hessian" && mode >= 0 {
		return r.Modes[mode].scale
	}
	l := make([]float64, n*n)
	for i, size := range p.sizes() {
		l[i*n+i] = size
	}
	return l
}

// add keeps a draw, of values.
func (c *Chain) add(values []float64, d *nuts.Draw) {
	for i, x := range values {
		c.Values[i] = append(c.Values[i], x)
	}
	c.LogP = append(c.LogP, d.LogP)
	c.Accept, c.Step = append(c.Accept, d.Accept), append(c.Step, d.Step)
	c.Energy, c.Depth = append(c.Energy, d.Energy), append(c.Depth, d.Depth)
	c.Leapfrogs, c.Divergent = append(c.Leapfrogs, d.Leapfrogs), append(c.Divergent, d.Divergent)
}

// Draws returns how many draws all chains have.
func (r *Result) Draws() (n int) {
	for i := range r.Chains {
		n += r.Chains[i].Draws()
	}
	return n
}

// Column returns the draws of param i, by chains.
func (r *Result) Column(i int) [][]float64 {
	var out [][]float64
	for k := range r.Chains {
		if r.Chains[k].Draws() > 0 {
			out = append(out, r.Chains[k].Values[i])
		}
	}
	return out
}

// between lets chains jump between the modes where they begin, so that each has its share of the draws: from around one
// to the same place around another, in their metrics.
func (p *problem) between(r *Result, o *nuts.Options) {
	modes := r.Modes[:r.heavy()]
	if len(modes) < 2 || p.random != nil {
		return
	}
	nearest := func(q []float64) int { return modeOf(modes, q) }
	n := len(p.coords)
	o.Centre = func(q []float64) []float64 { return modes[nearest(q)].q }
	o.Jump = func(q []float64, random *elem.Rand) (to []float64, grows float64, ok bool) {
		i, j := nearest(q), min(int(random.Float64()*float64(len(modes))), len(modes)-1)
		if i == j {
			return nil, 0, false
		}
		a, b := &modes[i], &modes[j]
		z := make([]float64, n)
		for k := range z {
			z[k] = q[k] - a.q[k]
		}
		nuts.Whiten(a.scale, z)
		to = slices.Clone(b.q)
		for k := range n {
			for l := range k + 1 {
				to[k] += float64(b.scale[k*n+l] * z[l])
			}
			grows += elem.Log(b.scale[k*n+k]) - elem.Log(a.scale[k*n+k])
		}
		return to, grows, nearest(to) == j
	}
}
