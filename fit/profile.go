package fit

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"odes.dev/odes/internal/optim"
)

// A profile likelihood is followed to both sides of an estimate: the estimate is held at one value after another, and
// the others are searched for anew. Its end is where twice the rise of the objective is the quantile of χ² with one
// degree of freedom (D. J. Venzon, S. H. Moolgavkar, Appl. Stat. 37 (1988) 87–94, doi:10.2307/2347496), or the square
// of Student's quantile times the factor of the standard deviations where that is estimated. The root of the rise is
// almost straight in the estimate, so a secant finds the end in a few steps.

// side is one side of a profile.
type side struct {
	coord     int
	direction float64
	end       float64
	open      string
	points    []ProfilePoint
	inside    [][]float64 // points of the profile within the interval
	at        float64     // the coordinate at the end
	lower     []float64   // a point that is lower than the minimum; nil for none
	n, bad    int
	steady    SteadyWork
}

// profiles finds the ends of all intervals. It returns a point that is lower than the minimum, if there is one.
func (p *problem) profiles(ctx context.Context, m *minimum, out *Result) (lower []float64) {
	var list []*side
	for i := range p.coords {
		if m.at[i] == 0 {
			list = append(list, &side{coord: i, direction: -1}, &side{coord: i, direction: 1})
		} else {
			list = append(list, &side{coord: i, direction: -float64(m.at[i])})
		}
	}
	weight, _ := func() (float64, bool) {
		e, err := p.borrow()
		if err != nil {
			return 1, false
		}
		defer p.giveBack(e)
		return p.weight(e)
	}()
	root := p.quantile(m) * m.factor * math.Sqrt(weight) // of twice the rise at the end
	others := p.others(m, out, root)
	at := Progress{Phase: "profiles", Of: len(list), Best: out.Objective.Value}
	follow := func(list []*side, others func(*side) [][]float64) {
		var mu sync.Mutex
		next := make(chan *side)
		var wait sync.WaitGroup
		for range min(p.opts.workers(), len(list)) {
			wait.Go(func() {
				e, err := p.borrow()
				for s := range next {
					if err != nil {
						s.open = "failed"
						continue
					}
					n, bad, rests := e.n, e.bad, e.steadyWork()
					p.follow(ctx, e, m, s, root, others(s))
					s.n += e.n - n
					s.bad += e.bad - bad
					s.steady.add(e.steadyWork(), rests)
					mu.Lock()
					at.Done++
					p.tell(at)
					mu.Unlock()
				}
				if err == nil {
					p.giveBack(e)
				}
			})
		}
		for _, s := range list {
			next <- s
		}
		close(next)
		wait.Wait()
	}
	follow(list, func(*side) [][]float64 { return others })
	// Points of all profiles lie within all intervals.
	outside := map[*side][][]float64{}
	var again []*side
	for _, s := range list {
		if x := s.outside(list, p.sizes(m.x)); x != nil && ctx.Err() == nil {
			outside[s], again = append(slices.Clone(others), x), append(again, s)
			s.points = nil // they are of another branch
		}
	}
	at.Of += len(again)
	follow(again, func(s *side) [][]float64 { return outside[s] })
	for i := range out.Estimates {
		x := &out.Estimates[i]
		x.Profile = []ProfilePoint{{Value: x.Value}}
		switch {
		case x.AtBound < 0:
			x.Lower, x.OpenLower = x.LowBound, "bound"
		case x.AtBound > 0:
			x.Upper, x.OpenUpper = x.HighBound, "bound"
		}
	}
	for _, s := range list {
		out.Stats.Evaluations += s.n
		out.Stats.Failures += s.bad
		out.Stats.Steady.add(s.steady, SteadyWork{})
		x := &out.Estimates[s.coord]
		x.Profile = append(x.Profile, s.points...)
		if s.direction < 0 {
			x.Lower, x.OpenLower = s.end, s.open
		} else {
			x.Upper, x.OpenUpper = s.end, s.open
		}
		if lower == nil && s.lower != nil {
			lower = s.lower
		}
	}
	for i := range out.Estimates {
		slices.SortFunc(out.Estimates[i].Profile, func(a, b ProfilePoint) int { return cmp.Compare(a.Value, b.Value) })
	}
	return lower
}

// outside returns the point of other profiles that lies farthest beyond the end of s, though it is within theirs; nil
// for none.
func (s *side) outside(list []*side, sizes []float64) (far []float64) {
	const rounding = 1e-6 // of the size
	if s.open != "" {
		return nil
	}
	most := rounding * sizes[s.coord]
	for _, o := range list {
		for _, x := range o.inside {
			if by := s.direction * (x[s.coord] - s.at); by > most {
				far, most = x, by
			}
		}
	}
	return far
}

// others returns minima that other searches came to and that lie within the profiles: along a profile, the other
// estimates may be better off near one of them.
func (p *problem) others(m *minimum, out *Result, root float64) (list [][]float64) {
	const most, apart = 8, 0.01 // of sizes
	sizes := p.sizes(m.x)
	known := [][]float64{m.x}
	for i := range out.Starts {
		s := &out.Starts[i]
		if s.Status != "converged" || s.x == nil || (s.Value-out.Starts[0].Value)*p.sign() >= root*root/2 {
			continue
		}
		near := func(x []float64) bool {
			for k := range x {
				if math.Abs(x[k]-s.x[k]) > apart*sizes[k] {
					return false
				}
			}
			return true
		}
		if !slices.ContainsFunc(known, near) && len(list) < most {
			known, list = append(known, s.x), append(list, s.x)
		}
	}
	return list
}

// follow finds the end of s, where the root of twice the rise is root, of the least that is found from the place before
// and from other minima.
func (p *problem) follow(ctx context.Context, e *evaluator, m *minimum, s *side, root float64, others [][]float64) {
	e.forget() // a profile depends on nothing that was before
	n, j := len(m.x), s.coord
	c := &p.coords[j]
	b := p.bounds()
	bound := b.Lo[j]
	if s.direction > 0 {
		bound = b.Hi[j]
	}
	base, ok := p.held(ctx, e, m.x, j, m.x[j])
	if !ok {
		s.end, s.open = c.value(bound), "failed"
		return
	}
	// reach is the first step: as far as the standard error says.
	reach := 0.1 * p.sizes(m.x)[j]
	if m.cov != nil && m.cov[j*n+j] > 0 && !math.IsInf(m.cov[j*n+j], 1) {
		reach = root * math.Sqrt(m.cov[j*n+j]) / m.factor
	}
	type place struct {
		at, z float64
		x     []float64
	}
	from := place{at: m.x[j], x: m.x}
	try := func(at float64, near place) (place, bool) {
		x := slices.Clone(near.x)
		x[j] = at
		r, ok := p.held(ctx, e, x, j, at)
		if !ok {
			return place{}, false
		}
		rise := r.Value - base.Value
		s.points = append(s.points, ProfilePoint{c.value(at), rise})
		if rise < -max(1e-3*root*root, 2*r.Noise) && s.lower == nil {
			s.lower = r.X
		}
		if 2*rise < root*root {
			s.inside = append(s.inside, r.X)
		}
		return place{at, math.Sqrt(max(2*rise, 0)), r.X}, true
	}
	// lower looks for a place at the same value of the estimate that is not as high as the end of the interval.
	lower := func(at float64) (place, bool) {
		const enough = 1e-4
		for _, x := range others {
			if q, ok := try(at, place{x: x}); ok && q.z < (1-enough)*root {
				return q, true
			}
		}
		return place{}, false
	}
	inside := func(at float64) (float64, bool) {
		if s.direction*(at-bound) >= 0 {
			return bound, true
		}
		return at, false
	}
	const (
		longest = 40
		far     = 1e8 // first steps
	)
	lo := from
	// wall is the nearest place where there is no value, such as one of a negative spread, and seen the place from
	// where that was found. From a nearer one, where the others have moved, it may have a value, and is tried again.
	none := math.Inf(int(s.direction))
	wall, seen := none, lo.at
	var hi place
	for k := 0; ; k++ {
		at, last := inside(lo.at + s.direction*reach)
		if s.direction*(at-lo.at) > 0.75*math.Abs(wall-lo.at) {
			if at, last = inside(wall); seen == lo.at {
				at, last = lo.at+0.75*(wall-lo.at), false
			}
		}
		q, ok := try(at, lo)
		near := math.Abs(wall-lo.at) <= 1e-9*p.sizes(m.x)[j] // the wall
		if ctx.Err() != nil || !ok && (k >= longest || near && at == wall) {
			s.end, s.open = c.value(lo.at), "failed"
			return
		}
		if !ok {
			reach, wall, seen = min(reach, math.Abs(at-lo.at))/4, at, lo.at
			continue
		}
		if at == wall {
			wall = none
		}
		if q.z >= root {
			o, found := lower(q.at)
			if !found {
				hi = q
				break
			}
			q = o
		}
		if last {
			s.end, s.open = c.value(bound), "bound"
			if math.IsInf(bound, 0) {
				s.open = "flat"
			}
			return
		}
		if k >= longest && wall != none {
			s.end, s.open = c.value(q.at), "failed"
			return
		}
		if k >= longest || math.Abs(q.at-m.x[j]) > far*p.sizes(m.x)[j] || c.log && math.Abs(q.at-m.x[j]) > 30 {
			s.end, s.open = math.Inf(int(s.direction)), "flat"
			if c.log && s.direction < 0 {
				if s.end = 0; c.lo == 0 {
					s.open = "bound"
				}
			}
			return
		}
		grown := 2.0
		if slope := (q.z - lo.z) / math.Abs(q.at-lo.at); slope > 0 {
			grown = min(max(1.1*(root-q.z)/slope/math.Abs(q.at-lo.at), 0.3), 4)
		}
		reach = grown * math.Abs(q.at-lo.at)
		lo = q
	}
	// Illinois: a secant between two places, of which a stubborn one counts half.
	secant := func(lo, hi place) place {
		zl, zh := lo.z-root, hi.z-root
		for range 30 {
			if math.Abs(zh) < 1e-7*root || math.Abs(hi.at-lo.at) <= 1e-12*math.Abs(hi.at) {
				break
			}
			at := hi.at - zh*(hi.at-lo.at)/(zh-zl)
			near := lo
			if math.Abs(at-hi.at) < math.Abs(at-lo.at) {
				near = hi
			}
			q, ok := try(at, near)
			if !ok || ctx.Err() != nil {
				s.open = "failed"
				break
			}
			if zq := q.z - root; zq*zh < 0 {
				lo, zl = hi, zh
				hi, zh = q, zq
			} else {
				hi, zh = q, zq
				zl /= 2
			}
		}
		return hi
	}
	beyond := hi // where nothing is lower
	hi = secant(lo, hi)
	for range others {
		o, found := lower(hi.at)
		if !found || ctx.Err() != nil || s.open != "" {
			break
		}
		hi = secant(o, beyond)
	}
	s.at, s.end = hi.at, c.value(hi.at)
	if ctx.Err() == nil { // for the picture
		try(m.x[j]+(hi.at-m.x[j])/2, from)
	}
}

// held searches for the minimum with coordinate j held at a value.
func (p *problem) held(ctx context.Context, e *evaluator, x []float64, j int, at float64) (optim.Result, bool) {
	b := p.bounds()
	b.Lo[j], b.Hi[j] = at, at
	r, err := p.minimise(ctx, e, x, b)
	return r, err == nil && r.X != nil && r.Value-r.Value == 0
}
