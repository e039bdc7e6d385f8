package fit

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/optim"
)

// A profile likelihood is followed to both sides of an estimate: the estimate is held at one value after another, and
// the others are searched for anew. Its end is where twice the rise of the objective is the quantile of χ² with one
// degree of freedom (D. J. Venzon, S. H. Moolgavkar, Appl. Stat. 37 (1988) 87–94, doi:10.2307/2347496), or the square
// of Student's quantile times the factor of the standard deviations where that is estimated. The root of the rise is
// almost straight in the estimate, so a secant finds the end in a few steps.
//
// The others may have several minima at one value of the estimate. Which of them a search comes to depends on where it
// begins, and the profile is the lowest. So each value keeps the lowest point that was found there, the slopes of the
// profile tell where two values are not of one branch, and each of these is searched from the other.

// side is one side of a profile.
type side struct {
	of        *profiler // whose coordinates are those of all points here
	coord     int
	direction float64
	end       float64
	open      string
	points    []ProfilePoint
	inside    [][]float64 // points of the profile within the interval
	at        float64     // the coordinate at the end
	base      float64     // the objective at the minimum
	last      []float64   // the farthest point within the interval; nil for none
	others    [][]float64 // other minima that other profiles led to
	lower     []float64   // a point that is lower than the minimum; nil for none
	n, bad    int
	steady    SteadyWork
}

// profiler follows profiles of a minimum, in the coordinates of a problem.
type profiler struct {
	*problem
	m      *minimum
	list   []*side     // all of them
	root   float64     // of twice the rise at an end
	others [][]float64 // other minima
}

// profiles finds the ends of all intervals. It returns a point that is lower than the minimum, if there is one.
func (p *problem) profiles(ctx context.Context, m *minimum, out *Result) (lower []float64) {
	weight, _ := func() (float64, bool) {
		e, err := p.borrow()
		if err != nil {
			return 1, false
		}
		defer p.giveBack(e)
		return p.weight(e)
	}()
	q := &profiler{problem: p, m: m, root: p.quantile(m) * m.factor * math.Sqrt(weight)}
	q.others = q.rivals(out)
	list := q.sides(out)
	at := Progress{Phase: "profiles", Of: len(list), Best: out.Objective.Value}
	each := func(list []*side, do func(e *evaluator, s *side)) {
		q.each(list, do, func() {
			at.Done++
			p.tell(at)
		})
	}
	each(list, func(e *evaluator, s *side) { s.of.follow(ctx, e, s) })
	// Points of all profiles lie within all intervals, and where a profile ends, no end of another one leads to less.
	const rounds = 4
	look := list
	for range rounds {
		found := make([][]float64, len(list))
		at.Of += len(look)
		each(look, func(e *evaluator, s *side) {
			x := s.outside(list)
			if x == nil {
				x = s.of.rival(ctx, e, s)
			}
			found[slices.Index(list, s)] = x
		})
		look = nil
		for i, s := range list {
			if found[i] != nil && ctx.Err() == nil {
				s.others, look = append(s.others, found[i]), append(look, s)
			}
		}
		at.Of += len(look)
		each(look, func(e *evaluator, s *side) { s.of.follow(ctx, e, s) })
	}
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
		if lower == nil && s.lower != nil {
			lower = q.from(s.of, s.lower)
		}
		if c := &s.of.coords[s.coord]; c.block != nil && !c.variance() {
			matrices{p}.correlation(c, s, out)
			continue
		}
		x := &out.Estimates[s.coord]
		x.Profile = append(x.Profile, s.points...)
		if s.direction < 0 {
			x.Lower, x.OpenLower = s.end, s.open
		} else {
			x.Upper, x.OpenUpper = s.end, s.open
		}
	}
	for i := range out.Estimates {
		x := &out.Estimates[i]
		slices.SortFunc(x.Profile, func(a, b ProfilePoint) int {
			return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Rise, b.Rise))
		})
		x.Profile = slices.CompactFunc(x.Profile, func(a, b ProfilePoint) bool { return a.Value == b.Value })
	}
	return lower
}

// sides lists what is to be followed. A correlation of a matrix that no coordinate says is followed in others.
func (p *profiler) sides(out *Result) (list []*side) {
	for i := range p.coords {
		of, at := p, i
		if c := &p.coords[i]; c.block != nil && !c.variance() && !c.block.Alone(i-c.block.first) {
			if of, at = p.led(i, out); of == nil {
				continue // its interval is Wald's
			}
		}
		if p.m.at[i] == 0 {
			list = append(list, &side{of: of, coord: at, direction: -1}, &side{of: of, coord: at, direction: 1})
		} else {
			list = append(list, &side{of: of, coord: at, direction: -float64(p.m.at[i])})
		}
	}
	p.list = list
	for _, s := range list {
		s.of.list = list
	}
	return list
}

// led returns the same problem with the rows of a covariance at the head of the factor of its matrix, and which
// coordinate then is its correlation; nil where the matrix has next to no inverse.
func (p *profiler) led(covariance int, out *Result) (*profiler, int) {
	c := &p.coords[covariance]
	turned := *p.problem
	turned.idle = make(chan *evaluator, cap(p.idle))
	turned.blocks, turned.coords = slices.Clone(p.blocks), slices.Clone(p.coords)
	b := *c.block
	b.Pattern = b.Led(c.index[0]-1, c.index[1]-1)
	turned.blocks[slices.Index(p.blocks, c.block)] = &b
	at := 0
	for k := range b.Size() {
		row, column := b.Element(k)
		from := slices.IndexFunc(p.coords, func(o coordinate) bool {
			return o.block == c.block && o.index[0] == row+1 && o.index[1] == column+1
		})
		to := &turned.coords[b.first+k]
		*to = p.coords[from]
		if to.block = &b; from == covariance {
			at = b.first + k
		}
	}
	q := &profiler{problem: &turned, root: p.root}
	x := q.from(p, p.m.x)
	if x == nil {
		return nil, 0
	}
	n := len(x)
	q.m = &minimum{x: x, factor: p.m.factor, cov: make([]float64, n*n)}
	if pop := out.Population; pop != nil {
		for i := range pop.Covariances {
			if of := &pop.Covariances[i]; of.Name == p.settings.Over[c.variable].Name {
				const power = -1.5 // of r/sqrt(1 - r²), the slope
				k := (c.index[0]-1)*of.N + c.index[1] - 1
				se := of.RErr[k] * elem.Pow(1-float64(of.R[k]*of.R[k]), power)
				q.m.cov[at*n+at] = float64(se * se)
			}
		}
	}
	for _, o := range p.others {
		if o = q.from(p, o); o != nil {
			q.others = append(q.others, o)
		}
	}
	return q, at
}

// from returns a point that another profiler of the same minimum has, in the coordinates of p; nil where that cannot be
// done.
func (p *profiler) from(o *profiler, x []float64) []float64 {
	if o == p {
		return x
	}
	out, bounds := slices.Clone(x), p.bounds()
	for i, b := range p.blocks {
		with := o.blocks[i]
		part := b.Of(with.Matrix(with.part(x)))
		if part == nil {
			return nil
		}
		copy(b.part(out), part)
		for k := b.first; k < b.first+b.Size(); k++ { // rounding
			out[k] = min(max(out[k], bounds.Lo[k]), bounds.Hi[k])
		}
	}
	return out
}

// each does something for each side, as many at a time as there are workers, and tells when it is done.
func (p *profiler) each(list []*side, do func(e *evaluator, s *side), done func()) {
	var mu sync.Mutex
	next := make(chan *side)
	var wait sync.WaitGroup
	for range min(p.opts.workers(), len(list)) {
		wait.Go(func() {
			for s := range next {
				e, err := s.of.borrow()
				if err != nil {
					s.open = "failed"
					continue
				}
				n, bad, rests := e.n, e.bad, e.steadyWork()
				do(e, s)
				s.n += e.n - n
				s.bad += e.bad - bad
				s.steady.add(e.steadyWork(), rests)
				s.of.giveBack(e)
				mu.Lock()
				done()
				mu.Unlock()
			}
		})
	}
	for _, s := range list {
		next <- s
	}
	close(next)
	wait.Wait()
}

// rival looks for a minimum of the others that is lower where s ends, from the ends of the profiles of others. It
// searches where a quadratic model of the objective there promises so much. nil: there is none.
func (p *profiler) rival(ctx context.Context, e *evaluator, s *side) []float64 {
	const enough = 1e-4 // of the rise
	if s.open != "" && s.open != "uncertain" {
		return nil
	}
	level := (1 - enough) * p.root * p.root / 2
	e.forget()
	for _, o := range p.list {
		if o.of == p && o.coord == s.coord || o.last == nil || ctx.Err() != nil {
			continue
		}
		x := slices.Clone(p.from(o.of, o.last))
		if x == nil {
			continue
		}
		x[s.coord] = s.at
		value, g, err := e.gain(ctx, x, s.coord)
		if err != nil || value-g.by-s.base >= level {
			continue
		}
		// The rest goes first to where the other profile has it, so that the search does not leave its branch.
		b := p.bounds()
		held := []int{s.coord}
		if o.of == p {
			held = append(held, o.coord)
		}
		for _, k := range held {
			b.Lo[k], b.Hi[k] = x[k], x[k]
		}
		if r, err := p.minimise(ctx, e, x, b); err == nil && r.X != nil {
			x = r.X
		}
		if r, ok := p.held(ctx, e, x, s.coord, s.at); ok && r.Value-s.base < level {
			return r.X
		}
	}
	return nil
}

// outside returns the point of other profiles that lies farthest beyond the end of s, though it is within theirs; nil
// for none.
func (s *side) outside(list []*side) (far []float64) {
	const rounding = 1e-6 // of the size
	if s.open != "" {
		return nil
	}
	most := rounding * s.of.sizes(s.of.m.x)[s.coord]
	for _, o := range list {
		for _, x := range o.inside {
			if x = s.of.from(o.of, x); x == nil {
				continue
			}
			if by := s.direction * (x[s.coord] - s.at); by > most {
				far, most = x, by
			}
		}
	}
	return far
}

// rivals returns minima that other searches came to and that lie within the profiles: along a profile, the other
// estimates may be better off near one of them.
func (p *profiler) rivals(out *Result) (list [][]float64) {
	const most = 8
	sizes := p.sizes(p.m.x)
	known := [][]float64{p.m.x}
	for i := range out.Starts {
		s := &out.Starts[i]
		if s.Status != "converged" || s.x == nil || (s.Value-out.Starts[0].Value)*p.sign() >= p.root*p.root/2 {
			continue
		}
		near := func(x []float64) bool { return alike(x, s.x, sizes) }
		if !slices.ContainsFunc(known, near) && len(list) < most {
			known, list = append(known, s.x), append(list, s.x)
		}
	}
	return list
}

// alike reports whether two points are one but for what searches leave.
func alike(a, b, sizes []float64) bool {
	const apart = 0.01 // of sizes
	for k := range a {
		if math.Abs(a[k]-b[k]) > apart*sizes[k] {
			return false
		}
	}
	return true
}

// place is a point of a profile: where the objective is least with the estimate held.
type place struct {
	at    float64   // where it is held, as a coordinate
	x     []float64 // the point
	rise  float64   // of the objective above the minimum
	noise float64   // of its value
	// slope is the derivative of the profile. The others being at their least, it is that of the objective by the
	// estimate alone.
	slope     float64
	converged bool
	checked   bool // other minima of the fit lead to nothing lower
}

// z is the root of twice the rise, which is almost straight in the estimate.
func (q *place) z() float64 { return math.Sqrt(max(2*q.rise, 0)) }

// follower follows one side of a profile. Of each value of the estimate it keeps the lowest point that it comes to.
type follower struct {
	p      *profiler
	e      *evaluator
	m      *minimum
	s      *side
	root   float64 // of twice the rise at the end
	base   float64 // the objective at the minimum
	bound  float64
	size   float64     // of the estimate
	others [][]float64 // minima of other searches
	places []*place    // outwards; the first is the minimum
	met    map[[2]*place]bool
	reach  float64 // the next step outwards
}

// follow finds the end of s, of the least that is found from the place before and from other minima.
func (p *profiler) follow(ctx context.Context, e *evaluator, s *side) {
	e.forget() // a profile depends on nothing that was before
	m := p.m
	n, j := len(m.x), s.coord
	b := p.bounds()
	f := &follower{
		p: p, e: e, m: m, s: s, root: p.root, bound: b.Lo[j], size: p.sizes(m.x)[j],
		others: slices.Concat(p.others, s.others), met: map[[2]*place]bool{},
	}
	if s.direction > 0 {
		f.bound = b.Hi[j]
	}
	// The first step reaches as far as the standard error says.
	f.reach = 0.1 * f.size
	if m.cov != nil && m.cov[j*n+j] > 0 && !math.IsInf(m.cov[j*n+j], 1) {
		f.reach = p.root * math.Sqrt(m.cov[j*n+j]) / m.factor
	}
	if r, ok := p.held(ctx, e, m.x, j, m.x[j]); ok {
		f.base = r.Value
		f.places = []*place{{at: m.x[j], x: m.x, noise: r.Noise, slope: r.Gradient[j], converged: true}}
		if m.cov == nil || !(m.cov[j*n+j] > 0) { // no standard error tells how far
			f.promised(ctx)
		}
		if !f.run(ctx) {
			f.end(f.farthest().at, "stopped")
		}
	} else if f.end(f.bound, "failed"); ctx.Err() != nil {
		f.end(m.x[j], "stopped")
	}
	s.points, s.inside = nil, nil
	if len(f.places) > 0 {
		s.base, s.last = f.base, f.farthest().x
	}
	for _, q := range f.places[min(1, len(f.places)):] {
		s.points = append(s.points, ProfilePoint{p.coords[j].value(q.at), q.rise})
		if f.within(q) {
			s.inside = append(s.inside, q.x)
		}
	}
}

// promised makes the first step as long as slope and curvature promise, where there is a value at its end.
func (f *follower) promised(ctx context.Context) {
	j, n, level := f.s.coord, len(f.m.x), f.root*f.root
	_, slope, h, err := f.e.expanded(ctx, f.m.x)
	if err != nil {
		return
	}
	g := math.Abs(slope[j])
	by := level / (g + math.Sqrt(float64(g*g)+float64(max(h[j*n+j], 0)*level)))
	if at, last := f.toBound(f.m.x[j] + f.s.direction*by); !last && !math.IsInf(at, 0) {
		if _, ok := f.try(ctx, at, f.places[0]); ok {
			f.reach = by
		}
	}
}

// end sets the end of the interval.
func (f *follower) end(at float64, open string) {
	f.s.at, f.s.end, f.s.open = at, f.p.coords[f.s.coord].value(at), open
}

// run goes outwards to where the profile has risen far enough, and looks back whether all that it came past is as low
// as can be: what is lower changes the way. It reports whether it was let come to an end.
func (f *follower) run(ctx context.Context) bool {
	const rounds = 12
	lo := f.places[0]
	for range rounds {
		hi, ended := f.march(ctx, &lo)
		if ended {
			f.relax(ctx)
			return ctx.Err() == nil
		}
		end := f.secant(ctx, lo, hi)
		if end == nil {
			f.relax(ctx)
			f.end(f.farthest().at, "failed")
			return ctx.Err() == nil
		}
		half := f.m.x[f.s.coord] + (end.at-f.m.x[f.s.coord])/2
		f.try(ctx, half, f.nearest(half)) // for the picture
		f.lower(ctx, end)
		f.relax(ctx)
		lo = f.farthest()
		if f.s.direction*(lo.at-end.at) > 0 || f.kept(end.at) != end {
			continue
		}
		if f.island(ctx) {
			lo = f.farthest()
			continue
		}
		f.end(end.at, "")
		if !f.certain(ctx, end) {
			if ctx.Err() == nil && f.kept(end.at) != end {
				lo = f.farthest()
				continue // the certificate led to a lower point
			}
			f.s.open = "uncertain"
		}
		return ctx.Err() == nil
	}
	f.end(f.farthest().at, "uncertain")
	return ctx.Err() == nil
}

// island adds the other minimum that lies farthest beyond the end, if there is one that is low enough: the interval
// covers both, and what lies between them. It reports whether there is one.
func (f *follower) island(ctx context.Context) bool {
	j, end := f.s.coord, f.farthest().at
	var far []float64
	for _, x := range f.others {
		if by := f.s.direction * (x[j] - end); by > 1e-6*f.size && (far == nil || f.s.direction*(x[j]-far[j]) > 0) {
			far = x
		}
	}
	if far == nil || f.kept(far[j]) != nil {
		return false
	}
	q, ok := f.try(ctx, far[j], &place{x: far})
	if !ok || !f.within(q) {
		return false
	}
	q.checked = true
	f.reach = math.Abs(end-f.m.x[j]) + 0.1*f.size
	return true
}

// within reports whether a place is within the interval.
func (f *follower) within(q *place) bool { return q.z() < f.root }

// farthest returns the place within the interval that lies farthest out.
func (f *follower) farthest() *place {
	const rounding = 1e-7
	far := f.places[0]
	for _, q := range f.places {
		if q.z() < (1-rounding)*f.root {
			far = q
		}
	}
	return far
}

// nearest returns the place nearest to a value.
func (f *follower) nearest(at float64) *place {
	return slices.MinFunc(f.places, func(a, b *place) int { return cmp.Compare(math.Abs(a.at-at), math.Abs(b.at-at)) })
}

// kept returns the place at a value; nil for none.
func (f *follower) kept(at float64) *place {
	for _, q := range f.places {
		if q.at == at {
			return q
		}
	}
	return nil
}

// try searches with the estimate held at a value, from what the others are at a place. It returns the lowest place that
// is known there.
func (f *follower) try(ctx context.Context, at float64, near *place) (*place, bool) {
	j := f.s.coord
	x := slices.Clone(near.x)
	x[j] = at
	r, ok := f.p.held(ctx, f.e, x, j, at)
	if !ok {
		return nil, false
	}
	q := &place{
		at: at, x: r.X, rise: r.Value - f.base, noise: r.Noise, slope: r.Gradient[j], converged: r.Status.Converged(),
	}
	if q.rise < -max(1e-3*f.root*f.root, 2*r.Noise) && f.s.lower == nil {
		f.s.lower = r.X
	}
	for k, o := range f.places {
		switch d := f.s.direction * (at - o.at); {
		case d > 0:
			continue
		case d < 0:
			f.places = slices.Insert(f.places, k, q)
		case k > 0 && q.rise < o.rise-f.tolerance(q, o):
			f.places[k] = q
		default:
			return o, true
		}
		return q, true
	}
	f.places = append(f.places, q)
	return q, true
}

// tolerance is by how much rises may differ that count as one.
func (f *follower) tolerance(a, b *place) float64 {
	return max(1e-8*f.root*f.root, 2*a.noise, 2*b.noise)
}

// lower looks for a place at the same value of the estimate that is lower, from other minima.
func (f *follower) lower(ctx context.Context, q *place) *place {
	if !q.checked {
		q.checked = true
		for _, x := range f.others {
			if o, ok := f.try(ctx, q.at, &place{x: x}); ok {
				o.checked = true
				q = o
			}
		}
	}
	return q
}

// relax makes places as low as their neighbours show them to be. Between two of one branch of minima, the profile rises
// by the mean of its slopes, nearly; where it does not, the search is made anew at each, from the point of the other.
func (f *follower) relax(ctx context.Context) {
	const most = 200 // searches; each that changes something makes a place lower
	made := 0
	for changed := true; changed; {
		changed = false
		for k := len(f.places) - 1; k > 0; k-- {
			a, b := f.places[k-1], f.places[k]
			if f.joined(a, b) || f.met[[2]*place{a, b}] {
				continue
			}
			if f.met[[2]*place{a, b}] = true; ctx.Err() != nil || made >= most {
				return
			}
			if made++; k > 1 {
				f.try(ctx, a.at, b)
			}
			f.try(ctx, b.at, f.places[k-1])
			changed = changed || f.places[k-1] != a || f.places[k] != b
		}
	}
}

// joined reports whether the rise between two places is what their slopes say.
func (f *follower) joined(a, b *place) bool {
	const part, small = 0.2, 1e-3
	rise, slopes := b.rise-a.rise, (b.at-a.at)*(a.slope+b.slope)/2
	return math.Abs(rise-slopes) <= part*max(math.Abs(rise), math.Abs(slopes))+small*f.root*f.root
}

// toBound returns at, or the bound if that is nearer.
func (f *follower) toBound(at float64) (float64, bool) {
	if f.s.direction*(at-f.bound) >= 0 {
		return f.bound, true
	}
	return at, false
}

// march goes outwards from lo until a place is not within the interval any more, and returns that; lo is the place
// before. Where there is none, it sets the end.
func (f *follower) march(ctx context.Context, lo **place) (hi *place, ended bool) {
	const longest = 40
	for _, q := range f.places {
		if f.s.direction*(q.at-(*lo).at) > 0 && !f.within(q) && q.checked {
			return q, false
		}
	}
	// wall is the nearest value where the objective has none, such as one of a negative spread, and seen where it was
	// tried from. From a nearer place, where the others have moved, it may have one, and is tried once more.
	none := math.Inf(int(f.s.direction))
	wall, seen := none, (*lo).at
	for k := 0; ; k++ {
		from := *lo
		at, last := f.toBound(from.at + f.s.direction*f.reach)
		if last && from.at == f.bound {
			f.end(f.bound, "bound")
			return nil, true
		}
		if f.s.direction*(at-from.at) > 0.75*math.Abs(wall-from.at) {
			if at, last = f.toBound(wall); seen == from.at {
				at, last = from.at+0.75*(wall-from.at), false
			}
		}
		q, ok := f.try(ctx, at, from)
		near := math.Abs(wall-from.at) <= 1e-9*f.size // the wall
		if ctx.Err() != nil || !ok && (k >= longest || near && at == wall) {
			f.end(from.at, "failed")
			return nil, true
		}
		if !ok {
			f.reach, wall, seen = min(f.reach, math.Abs(at-from.at))/4, at, from.at
			continue
		}
		if at == wall {
			wall = none
		}
		if !f.within(q) {
			if q = f.lower(ctx, q); !f.within(q) {
				return q, false
			}
		}
		if last {
			open := "bound"
			if math.IsInf(f.bound, 0) {
				open = "flat"
			}
			f.end(f.bound, open)
			return nil, true
		}
		if k >= longest && wall != none {
			f.end(q.at, "failed")
			return nil, true
		}
		if k >= longest || f.flat(from, q) {
			f.openEnd()
			return nil, true
		}
		f.stretch(from, q)
		*lo = q
	}
}

// flat reports whether a place within the interval is so far out that the profile does not rise. Far is to be measured
// by the data too: of an estimate at zero or at its bound, the size of the value says nothing. So a profile that still
// rises, at a rate at which the next steps come to its end, is not flat.
func (f *follower) flat(from, q *place) bool {
	const far, farLog, steps = 1e8, 30, 1e3 // the first two in sizes
	by := math.Abs(q.at - f.m.x[f.s.coord])
	c := &f.p.coords[f.s.coord]
	if c.log || c.variance() {
		return by > farLog
	}
	rises := (q.z() - from.z()) * steps
	return by > far*f.size && rises < f.root-q.z()
}

// openEnd says that the interval has no end.
func (f *follower) openEnd() {
	f.end(math.Inf(int(f.s.direction)), "flat")
	if c := &f.p.coords[f.s.coord]; c.log && f.s.direction < 0 {
		if f.s.end = 0; c.lo == 0 {
			f.s.open = "bound"
		}
	}
}

// stretch makes the next step as long as the last one promises to be enough.
func (f *follower) stretch(lo, q *place) {
	by, grown := math.Abs(q.at-lo.at), 2.0
	if slope := (q.z() - lo.z()) / by; slope > 0 {
		grown = min(max(1.1*(f.root-q.z())/slope/by, 0.3), 4)
	}
	f.reach = grown * by
}

// secant finds the end between a place within the interval and one that is not: Illinois, in which a stubborn end
// counts half. nil: there is no value in between.
func (f *follower) secant(ctx context.Context, lo, hi *place) *place {
	zl, zh := lo.z()-f.root, hi.z()-f.root
	for range 30 {
		if math.Abs(zh) < 1e-7*f.root || math.Abs(hi.at-lo.at) <= 1e-12*math.Abs(hi.at) {
			break
		}
		at := hi.at - zh*(hi.at-lo.at)/(zh-zl)
		near := lo
		if math.Abs(at-hi.at) < math.Abs(at-lo.at) {
			near = hi
		}
		q, ok := f.try(ctx, at, near)
		if !ok || ctx.Err() != nil {
			return nil
		}
		if zq := q.z() - f.root; zq*zh < 0 {
			lo, zl = hi, zh
			hi, zh = q, zq
		} else {
			hi, zh = q, zq
			zl /= 2
		}
	}
	return hi
}

// certain reports whether an end holds what is said of it, from a run that no search has made: the others are at a
// minimum there, and the objective has risen by what it is to rise. Where they are at none, it looks for a lower place.
func (f *follower) certain(ctx context.Context, q *place) bool {
	const (
		part = 1e-4 // of the rise, that the others may still gain
		near = 1e-5 // of the rise
	)
	rise := f.root * f.root / 2
	f.e.forget()
	base, _, err := f.e.gain(ctx, f.m.x, f.s.coord)
	if err != nil {
		return false
	}
	value, gain, err := f.e.gain(ctx, q.x, f.s.coord)
	if err != nil {
		return false
	}
	if gain.by > max(part*rise, q.noise) {
		x := slices.Clone(q.x)
		b := f.p.bounds()
		for i, d := range gain.step {
			x[i] = min(max(x[i]+d, b.Lo[i]), b.Hi[i])
		}
		f.try(ctx, q.at, &place{x: x})
		return false
	}
	return q.converged && math.Abs(value-base-rise) <= max(near*rise, 2*q.noise)
}

// held searches for the minimum with coordinate j held at a value.
func (p *problem) held(ctx context.Context, e *evaluator, x []float64, j int, at float64) (optim.Result, bool) {
	b := p.bounds()
	b.Lo[j], b.Hi[j] = at, at
	var r optim.Result
	var err error
	if p.kinks { // a profile needs the minima themselves, whatever the fit searched with
		across := func() (optim.Result, error) { return e.acrossFolds(ctx, x, b) }
		r, err = p.confirmed(ctx, e, true, across)
	} else {
		r, err = p.minimise(ctx, e, x, b)
	}
	return r, err == nil && r.X != nil && r.Value-r.Value == 0
}

// betterment is what the objective may still gain by a step.
type betterment struct {
	by   float64
	step []float64
}

// gain evaluates the objective at x, and what it may still gain there with coordinate j held.
func (e *evaluator) gain(ctx context.Context, x []float64, j int) (value float64, g betterment, err error) {
	value, slope, h, err := e.expanded(ctx, x)
	if err != nil {
		return 0, g, err
	}
	held := make([]bool, len(x))
	held[j] = true
	return value, e.newton(x, slope, h, held), nil
}

// expanded evaluates the objective at x, with its derivatives and second ones: of one that is read row by row, the
// expected ones.
func (e *evaluator) expanded(ctx context.Context, x []float64) (value float64, slope, h []float64, err error) {
	n := len(x)
	if e.comparison == nil {
		s, err := e.run(ctx, x, true)
		if err != nil {
			return 0, nil, nil, err
		}
		slope, h = make([]float64, n), make([]float64, n*n)
		e.gather(s, 0, e.p.sign(), x, slope)
		e.curvature(s, e.p.sign(), x, slope, h)
		return float64(e.p.sign() * s.Values[0].Value), slope, h, nil
	}
	if err := e.at(ctx, x); err != nil {
		return 0, nil, nil, err
	}
	at := optim.Residuals{
		R: make([]float64, e.rows), J: make([]float64, e.rows*n), Gradient: make([]float64, n),
		Curvature: make([]float64, n*n),
	}
	e.fill(x, optim.Slopes, &at, nil)
	h, slope = at.Curvature, at.Gradient
	for i, r := range at.R {
		value += float64(r * r / 2)
		row := at.J[i*n : (i+1)*n]
		for a, d := range row {
			slope[a] += float64(r * d)
			for c := range row {
				h[a*n+c] += float64(d * row[c])
			}
		}
	}
	return value + at.Rest, slope, h, nil
}

// newton returns what Newton's step gains, of all that neither a bound nor anybody else holds. h is changed.
func (e *evaluator) newton(x, slope, h []float64, held []bool) (g betterment) {
	n, b := len(x), e.p.bounds()
	g.step = make([]float64, n)
	sizes := e.p.sizes(x)
	var free []int
	for i, d := range slope {
		switch {
		case held[i] || x[i] <= b.Lo[i] && d >= 0 || x[i] >= b.Hi[i] && d <= 0:
		case h[i*n+i] > 0:
			const ridge = 1e-8 // along what the data do not tell, errors of slopes promise no gain
			h[i*n+i] *= 1 + ridge
			free = append(free, i)
		default:
			g.by += math.Abs(d) * sizes[i]
			g.step[i] = -math.Copysign(sizes[i], d)
		}
	}
	inverse := invert(sub(h, n, free), len(free))
	for a, i := range free {
		for c, k := range free {
			if inverse != nil {
				g.step[i] -= float64(inverse[a*len(free)+c] * slope[k])
			}
		}
		g.by -= float64(g.step[i] * slope[i] / 2)
	}
	if inverse == nil && len(free) > 0 {
		g.by = math.Inf(1) // nobody knows
	}
	return g
}
