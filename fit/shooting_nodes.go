package fit

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"odes.dev/odes"
)

// readings are the observations of an element of a state.
type readings struct {
	t, y     []float64
	positive bool    // none of the values that it has is negative but by noise
	floor    float64 // then: how small a value may be
}

// readings returns what is observed of each number of a node as it is.
func (s *shooting) readings(c *chain) map[int]*readings {
	all := map[int]*readings{}
	for _, g := range s.groups(c) {
		at := s.p.model.Observed(c.experiment, g.Observation)
		if at < 0 || at >= c.size {
			continue
		}
		r := all[at]
		if r == nil {
			r = &readings{}
			all[at] = r
		}
		for k, t := range g.T {
			if g.Measured(k) && !math.IsInf(t, 0) {
				r.t, r.y = append(r.t, t), append(r.y, g.Data[k])
			}
		}
	}
	for _, r := range all {
		r.gather()
	}
	return all
}

// gather sorts readings by time, and replaces those at one time by their mean.
func (r *readings) gather() {
	order := make([]int, len(r.t))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.t[a], r.t[b]) })
	var t, y []float64
	n, below, sizes := 0.0, 0, 0.0
	for _, i := range order {
		sizes += math.Abs(r.y[i])
		if r.y[i] < 0 {
			below++
		}
		if last := len(t) - 1; last >= 0 && t[last] == r.t[i] {
			n++
			y[last] += (r.y[i] - y[last]) / n
			continue
		}
		n = 1
		t, y = append(t, r.t[i]), append(y, r.y[i])
	}
	r.t, r.y = t, y
	r.positive = below*5 <= len(order)
	if len(order) > 0 {
		r.floor = 1e-3 * sizes / float64(len(order))
	}
}

// at returns the value at a time: between two readings on the line through them, and outside the nearest.
func (r *readings) at(t float64) (v float64, ok bool) {
	if len(r.t) == 0 {
		return 0, false
	}
	i, found := slices.BinarySearch(r.t, t)
	switch {
	case found:
		v = r.y[i]
	case i == 0:
		v = r.y[0]
	case i == len(r.t):
		v = r.y[i-1]
	default:
		f := (t - r.t[i-1]) / (r.t[i] - r.t[i-1])
		v = r.y[i-1] + float64(f*(r.y[i]-r.y[i-1]))
	}
	return v, true
}

// nodes returns what the parts begin with: where a state is observed as it is, its data; else what a run leads to. That
// run is made part by part. Where it is forced, it takes the data at each node and goes on from there, so that what is
// not observed follows what is; otherwise it is the whole run.
func (s *shooting) nodes(ctx context.Context, x []float64, forced bool) ([][][]float64, error) {
	var all [][][]float64
	for _, c := range s.chains {
		seen := s.readings(c)
		list := make([][]float64, len(c.parts))
		for _, part := range c.parts {
			part.left = nil // a search depends on nothing that was before
		}
		var run []float64 // the node of the run
		var failed error
		for k, part := range c.parts {
			if k > 0 {
				part.left = s.labels(c, k)
			}
			if failed == nil && (k == 0 || k+1 < len(c.parts)) {
				out, err := part.run(ctx, x, run)
				if err == nil && (!forced || slices.IndexFunc(out.ends, huge) < 0) {
					run = out.ends[:c.size]
					if k+1 < len(c.parts) {
						c.parts[k+1].left = out.ends[c.size:]
					}
				} else if failed = cmp.Or(err, errHuge); k == 0 {
					var known bool
					if run, known = s.start(c); !known {
						return nil, failed
					}
				}
			}
			if k+1 == len(c.parts) {
				break
			}
			node := slices.Clone(run)
			for j, r := range seen {
				v, ok := r.at(part.window.To)
				if !ok {
					continue
				}
				if r.positive && !(v > r.floor) {
					v = r.floor
				}
				node[j] = v
			}
			list[k+1] = node
			if forced {
				if run = slices.Clone(node); failed != nil {
					failed = nil // the data may lead on
				}
			}
		}
		s.sizes(c, list, seen)
		s.choose(ctx, c, x, list)
		all = append(all, list)
	}
	s.e.n++
	return all, nil
}

// errHuge says that a run has gone beyond what any data can be near.
var errHuge = errors.New("a part of the run goes out of bounds")

func huge(v float64) bool { return !(math.Abs(v) < 1e12) }

// labels returns what a part has of Node.Labels before any run told.
func (s *shooting) labels(c *chain, k int) []float64 {
	if c.parts[k].left != nil {
		return c.parts[k].left
	}
	if k > 1 && c.parts[k-1].left != nil {
		return c.parts[k-1].left
	}
	n := 0
	for _, m := range c.node.Marks {
		n += m
	}
	return make([]float64, n)
}

// choose gives the parts of a chain those labels by which the data in them are likeliest, of the few that the parts
// have: whether a heater is on at a node, the data there tell better than a run that is out of phase.
func (s *shooting) choose(ctx context.Context, c *chain, x []float64, nodes [][]float64) {
	const few = 6
	var all [][]float64
	c.chosen = false
	discretes := 0 // labels that are values of discretes come first
	for i, name := range c.node.Labels {
		if odes.IsNode(name) {
			discretes += c.node.Marks[i]
		}
	}
	if discretes == 0 {
		return
	}
	for _, part := range c.parts[1:] {
		own := part.left[:discretes]
		if !slices.ContainsFunc(all, func(l []float64) bool { return slices.Equal(l, own) }) {
			all = append(all, slices.Clone(own))
		}
	}
	if len(all) < 2 || len(all) > few {
		return
	}
	c.chosen = true
	for k, part := range c.parts[1:] {
		first, best := part.left, math.Inf(1)
		for _, labels := range all {
			part.left = append(slices.Clone(labels), first[discretes:]...)
			if out, err := part.run(ctx, x, nodes[k+1]); err == nil && out.value < best {
				first, best = part.left, out.value
			}
		}
		part.left = first
	}
	s.e.n += len(all)
}

// start returns the values of a node at the start of the run, where its run fails.
func (s *shooting) start(c *chain) (node []float64, known bool) {
	o := s.p.runOptions()
	for i, name := range c.node.Names {
		o.Wrt = []string{name}
		_, v, err := s.p.model.ValuesOf(o)
		if err != nil || len(v) != c.node.Sizes[i] {
			return nil, false
		}
		node = append(node, v...)
	}
	return node, true
}

// sizes sets the scales of a chain: the largest value of each state at the nodes, where it is observed by its data.
func (s *shooting) sizes(c *chain, nodes [][]float64, seen map[int]*readings) {
	c.scale = make([]float64, c.size)
	for j := range c.scale {
		if r := seen[j]; r != nil && len(r.y) > 0 {
			for _, v := range r.y {
				c.scale[j] = max(c.scale[j], math.Abs(v))
			}
			continue
		}
		for _, node := range nodes[1:] {
			c.scale[j] = max(c.scale[j], math.Abs(node[j]))
		}
	}
	c.someScale()
}

// someScale gives each state a scale: elements of one kind no less than a part of the largest of them, and those that
// are zero another.
func (c *chain) someScale() {
	rest := c.scale
	for _, n := range c.node.Sizes {
		largest := slices.Max(rest[:n])
		for j, v := range rest[:n] {
			if rest[j] = max(v, 1e-6*largest); rest[j] == 0 {
				rest[j] = 1
			}
		}
		rest = rest[n:]
	}
}
