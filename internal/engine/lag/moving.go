package lag

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/solvers"
)

// Delays that move with time and the state. What they read moves along the record at a pace of its own. For a whole
// step, a delay reads one region of the record, whose last piece is continued beyond its gap; so the functions of the
// model are smooth along the step. Where the time that is read has left the region at its end, the step is made again,
// up to the time at which it leaves. Behind that the neighbouring region is read.
//
// A time that is read within the step that is being made is read from that step: it is made again until it reads what
// it makes. Its derivative is that of what is made in the end. See repeating.

// walks are the ways of the delays that move.
type walks struct {
	regions []int32   // of each step, for each delay that moves
	crossed []crossed // in the order of times
}

// crossed is where a delay that moves comes to read another region.
type crossed struct {
	t          float64
	step       int // that ends there
	gap, delay int
	free       bool // nothing else ends the step
}

func (w *walks) opens() { w.regions, w.crossed = w.regions[:0], w.crossed[:0] }

// mover is what a Worker has besides where delays move.
type mover struct {
	moving     []float64 // the delays that move, at the point that was evaluated last
	tau        []float64 // all delays there
	reg        []int     // what they read in the present step; of others nothing
	known      bool      // reg is that of the present step
	running    bool      // the record is being made
	within     bool      // what is evaluated belongs to a step
	step       int       // number of the present step
	start      float64   // of it
	own        *solvers.Step
	self       bool // the present step was read since this was last false
	turned     int  // how often a delay turned back where it had come from
	aim        aim
	taud, taub []float64
	yb, tb     []float64
	y, ones    []float64
}

func newMover(r *Record, n, lags, l int) mover {
	v := func(n int) []float64 { return make([]float64, n) }
	if r.moving == 0 {
		return mover{tau: v(len(r.delays))}
	}
	m := mover{
		moving: v(r.moving), tau: v(len(r.delays)), reg: make([]int, len(r.delays)), taud: v(r.moving * l),
		taub: v(r.moving * l), yb: v((n + lags) * l), tb: v(l), y: v(n + lags), ones: v(l),
	}
	for j := range m.ones {
		m.ones[j] = 1
	}
	return m
}

// taus makes x.tau the delays at (t, y).
func (x *Worker) taus(t float64, y []float64) {
	r := x.rec
	if r.moving > 0 {
		copy(x.mover.y, y[:x.n])
		system.Delays(x.w, t, x.mover.y, x.moving)
	}
	for i, from := range r.delays {
		if from.moves {
			x.tau[i] = x.moving[from.at]
		} else {
			x.tau[i] = x.d[from.at]
		}
	}
	if r.moving == 0 || x.within && x.known || len(r.gaps) == 0 {
		return
	}
	for i, from := range r.delays {
		if from.moves {
			x.reg[i] = r.region(t, x.tau[i], true)
		}
	}
	x.known = x.known || x.within
}

// over tells that what is evaluated next belongs to the step from t to t1.
func (x *Worker) over(t, t1 float64) {
	if x.rec.moving == 0 {
		return
	}
	r := x.rec
	x.within, x.start, x.own = true, t, nil
	if x.running {
		x.step = len(r.steps)
		return
	}
	x.known = false
	i, found := slices.BinarySearchFunc(r.steps, t, func(s *kept, t float64) int { return cmp.Compare(s.T, t) })
	for found && i < len(r.steps)-1 && r.steps[i].H == 0 {
		i++
	}
	x.step = i
	if i < len(r.steps) && r.steps[i].T == t {
		x.known = true
		x.enterStep(i)
	}
}

// enterStep makes x.reg what delays read in step i.
func (x *Worker) enterStep(i int) {
	k := i * x.rec.moving
	for d, from := range x.rec.delays {
		if from.moves {
			x.reg[d] = int(x.rec.regions[k])
			k++
		}
	}
}

// apart has f evaluate something at the time t, outside of any step: what is read there is what it was before a jump
// that comes back at t.
func apart(x *Worker, t float64, f func()) {
	mid, later := x.mid, x.later
	x.mid, x.later = t, false
	loose(x, f)
	x.mid, x.later = mid, later
}

// loose has f evaluate something at a time of its own, outside of any step.
func loose(x *Worker, f func()) {
	if x.rec.moving == 0 {
		f()
		return
	}
	was, reg := x.within, slices.Clone(x.reg)
	x.within = false
	f()
	copy(x.reg, reg)
	x.within = was
}

// What locate returns beside numbers of steps.
const (
	ofStart   = -1 // the initial state
	ofPresent = -2 // the state that is evaluated
)

// locateMoving returns the step that a delay that moves reads at t, and where in it.
func locateMoving(x *Worker, i int, t float64) (step int, theta float64) {
	r, s := x.rec, t-x.tau[i]
	region := x.reg[i]
	if region < 0 {
		return ofStart, 0
	}
	last := region+1 >= len(r.gaps)
	empty := last && r.gaps[region].after+1 >= len(r.steps) // nothing has been made in the region
	if !x.running && x.within && x.step < len(r.steps) {
		// The region ends no earlier than the present step.
		last = last || r.gaps[region+1].after >= x.step
		empty = last && r.gaps[region].after+1 >= x.step
	}
	switch {
	case !x.within || !last || s <= x.start && !empty:
		if empty {
			return ofPresent, 0
		}
		return r.at(region, s, &x.last[i])
	case !x.running:
		x.self = true
		return x.step, (s - x.start) / r.steps[x.step].H
	case x.own != nil:
		x.self = true
		return x.step, (s - x.start) / x.own.H
	}
	x.self = true
	if empty {
		return ofPresent, 0
	}
	return r.at(region, s, &x.last[i])
}

// stepAt returns a step of the record, or that which is being made.
func (x *Worker) stepAt(step int) *solvers.Step {
	if x.running && x.own != nil && step == len(x.rec.steps) {
		return x.own
	}
	return &x.rec.steps[step].Step
}

// close is how near to a gap a time that is read counts as there.
func (r *Record) close(t float64) float64 {
	return float64(1e-12 * max(math.Abs(t), t-r.start, math.Abs(r.start)))
}

// edge returns the gap that a delay which reads s in its region has left it by, and by how much; -1 for none.
func edge(x *Worker, i int, s float64) (gap int, by float64) {
	r, region := x.rec, x.reg[i]
	if region+1 < len(r.gaps) && s > r.gaps[region+1].t {
		return region + 1, s - r.gaps[region+1].t
	}
	if region >= 0 && s < r.gaps[region].t {
		return region, r.gaps[region].t - s
	}
	return -1, 0
}

// meets reports whether a condition of the model meets the time at which a delay leaves a gap.
func (r *Record) meets(i, gap int) bool { return gap == 0 && r.met[i] }

// guarded reports whether a delay reads a state with a past before the start.
func (r *Record) guarded(i int) bool {
	for _, c := range r.reads {
		if i >= c.first && i < c.first+c.n && c.past {
			return true
		}
	}
	return false
}

// aim is a gap at which the present step is to end, since a delay leaves its region there. A dense output says where
// that is but for its error, and what is left of the way would be a step of next to no length. So a step that ends a
// little before the gap is made again.
type aim struct {
	delay, gap int
	side       float64 // of leaving
	tries      int     // 0 for none
	h, short   float64 // of the last try
}

// again returns the length with which a step of length h is made again that ends by short before the gap. Along it what
// the delay reads has moved by way.
func (a *aim) again(h, short, way float64) (next float64, does bool) {
	const tries, little = 6, 0.01
	if a.tries == 0 || a.tries > tries || !(short > 0 && short <= float64(little*way)) {
		return 0, false
	}
	pace := way / h
	if by := h - a.h; a.tries > 1 && by != 0 && (a.short-short)/by > 0 {
		pace = (a.short - short) / by
	}
	a.h, a.short = h, short
	a.tries++
	next = h + short/pace
	return next, next > h && next < float64(1.1*h)
}

// Cut implements solvers.Lagged.
func (x *Worker) Cut(tr *solvers.Step) (h float64, again bool) {
	r := x.rec
	if r.moving == 0 || !x.known || tr.H == 0 {
		return 0, false
	}
	tol := x.rec.close(tr.T1)
	read := func(i int, theta float64) float64 {
		t := math.FMA(theta, tr.H, tr.T)
		y := tr.Y1
		if theta < 1 {
			x.method.Interpolate(x, tr, theta, x.x)
			y = x.x
		} else {
			t = tr.T1
		}
		x.taus(t, y)
		return t - x.tau[i]
	}
	const samples = 4
	least := 2.0
	var to aim
	for i, from := range r.delays {
		if !from.moves {
			continue
		}
		lo := 0.0
		for k := 1; k <= samples; k++ {
			hi := float64(k) / samples
			gap, by := edge(x, i, read(i, hi))
			if gap < 0 || by <= tol && k == samples || x.rec.meets(i, gap) {
				lo = hi
				continue
			}
			if k < samples && by <= tol {
				lo = hi
				continue
			}
			at := r.gaps[gap].t
			side := 1.0 // of leaving
			if gap == x.reg[i] {
				side = -1
			}
			f := func(theta float64) float64 { return side*(read(i, theta)-at) - float64(0.25*tol) }
			if lo == 0 && f(0) > -tol && f(0x1p-20) > 0 { // it turns back where it had come from
				if x.turned++; x.turned > 2 {
					lo = hi
					continue
				}
				x.reg[i] += int(side)
				return 0, true
			}
			if theta := root(f, lo, hi); theta < least {
				least, h = theta, theta*tr.H
				to = aim{delay: i, gap: gap, side: side, tries: 1}
			}
			break
		}
	}
	if least <= 1 {
		x.aim = to
		return h, true
	}
	if x.aim.tries > 0 {
		i, at := x.aim.delay, r.gaps[x.aim.gap].t
		end := read(i, 1)
		return x.aim.again(tr.H, float64(x.aim.side*(at-end))+float64(0.25*tol), math.Abs(end-read(i, 0)))
	}
	return 0, false
}

// root returns where f, which is not positive at lo, becomes positive before hi.
func root(f func(float64) float64, lo, hi float64) float64 {
	flo, fhi := f(lo), f(hi)
	for range 60 {
		m := 0.5 * (lo + hi)
		if s := lo - flo*(hi-lo)/(fhi-flo); s > lo+0.05*(hi-lo) && s < hi-0.05*(hi-lo) {
			m = s
		}
		if !(m > lo && m < hi) {
			break
		}
		if v := f(m); v > 0 {
			hi, fhi = m, v
		} else {
			lo, flo = m, v
		}
		if hi-lo < 1e-15 {
			break
		}
	}
	return hi
}

// walked notes what the delays that move read in the step that was made last, and what they read behind it.
func (x *Worker) walked(s *solvers.Step, free bool) (broke bool, err error) {
	r := x.rec
	if r.moving == 0 {
		return false, nil
	}
	x.own, x.turned, x.aim = nil, 0, aim{}
	for i, from := range r.delays {
		if from.moves {
			r.regions = append(r.regions, int32(x.reg[i]))
		}
	}
	if s.H == 0 {
		return false, nil
	}
	x.taus(s.T1, s.Y1)
	tol := x.rec.close(s.T1)
	order, truly := math.MaxInt, math.MaxInt
	for i, from := range r.delays {
		if !from.moves {
			continue
		}
		tau := x.tau[i]
		if !(tau >= -tol) {
			return false, &Error{T: s.T1, Lag: r.lagOf(i), Message: fmt.Sprintf(
				"the delay is %v here; a delay is not negative: what is read lies in the past", tau)}
		}
		gap, by := edge(x, i, s.T1-tau)
		if up := x.reg[i] + 1; gap < 0 && up < len(r.gaps) && s.T1-tau >= r.gaps[up].t-tol {
			gap = up // rounding has kept it from being met
		}
		if gap < 0 || by > 4*tol && !x.rec.meets(i, gap) {
			continue
		}
		r.crossed = append(r.crossed, crossed{s.T1, len(r.steps) - 1, gap, i, free})
		if gap == x.reg[i] {
			x.reg[i]--
		} else {
			x.reg[i]++
		}
		order, truly = min(order, r.gaps[gap].order+1), min(truly, r.gaps[gap].truly+1)
	}
	if order == math.MaxInt {
		return false, nil
	}
	if r.followed(order) {
		r.parts(s.T1, false, order, truly)
		r.followAs(s.T1, order, func(int) int { return truly })
	}
	return true, nil
}

// crossedAt returns the crossings of jumps at t.
func (r *Record) crossedAt(t float64) []crossed {
	list := r.crossed
	tol := near(t, t-r.start)
	i, _ := slices.BinarySearchFunc(list, t-tol, func(c crossed, t float64) int { return cmp.Compare(c.t, t) })
	j := i
	for j < len(list) && list[j].t <= t+tol {
		j++
	}
	return list[i:j]
}

// aside evaluates f where the first k of some crossings at one time have been made, and others have not.
func aside(x *Worker, list []crossed, k int, f func()) {
	reg, known, within := slices.Clone(x.reg), x.known, x.within
	x.enterStep(list[0].step)
	for _, c := range list[:k] {
		if c.gap == x.reg[c.delay] {
			x.reg[c.delay]--
		} else {
			x.reg[c.delay]++
		}
	}
	x.known, x.within = true, true
	f()
	copy(x.reg, reg)
	x.known, x.within = known, within
}

// pace returns how fast the time that a delay reads moves before a crossing, and the slopes of its delay by state and
// time, in lanes that are all alike. Cotangents that gather in the model are those of a delay moved by 1 at the end.
func pace(x *Worker, list []crossed, at int, t float64, y []float64) float64 {
	z := x.w.Size()
	k := make([]float64, z.N+z.Q)
	aside(x, list, at, func() { x.Eval(t, y, k) })
	x.pullTau(list[at].delay, t, y, x.ones)
	slope := x.mover.tb[0]
	for e := range x.n {
		slope = math.FMA(x.mover.yb[e*x.l], k[e], slope)
	}
	return 1 - slope
}

// pullTau makes x.mover.yb and tb the cotangents of state and time that come of those of delay i, w.
func (x *Worker) pullTau(i int, t float64, y, w []float64) {
	clear(x.taub)
	copy(x.taub[x.rec.delays[i].at*x.l:], w)
	copy(x.mover.y, y[:x.n])
	system.DelaysPull(x.w, t, x.mover.y, x.taub, x.mover.yb, x.mover.tb)
}

// pushTau returns the tangents of the delays that move, where state and time move by yd and td.
func pushTau(x *Worker, t float64, y, td, yd []float64) []float64 {
	copy(x.mover.y, y[:x.n])
	copy(x.mover.yb, yd[:x.n*x.l])
	system.DelaysPush(x.w, t, x.mover.y, td, x.mover.yb, x.taud) // which always writes there
	return slices.Clone(x.taud)
}

// crossPush is LeapPush for the delays that move.
func (x *Worker) crossPush(t float64, y, td, yd, fd []float64) {
	l := x.l
	list := x.rec.crossedAt(t)
	for i, c := range list {
		if !x.rec.gaps[c.gap].jump {
			continue
		}
		diff := differenceAt(x, list, i, t, y)
		at := x.rec.delays[c.delay].at * l
		ydir := make([]float64, x.n*l)
		still := pushTau(x, t, y, make([]float64, l), ydir) // by params alone
		k := make([]float64, len(diff))
		aside(x, list, i, func() { x.Eval(t, y, k) })
		for e := range x.n {
			for j := range l {
				ydir[e*l+j] = k[e]
			}
		}
		moved := pushTau(x, t, y, x.ones, ydir)
		whole := pushTau(x, t, y, td, yd)
		for j := range l {
			rate := 1 - (moved[at+j] - still[at+j])
			dg := td[j] - whole[at+j]
			if c.gap < len(x.times) {
				dg -= x.times[c.gap][j]
			}
			dt := -dg / rate
			for e, v := range diff {
				if e < x.n {
					yd[e*l+j] = math.FMA(v, dt, yd[e*l+j])
				} else {
					fd[(e-x.n)*l+j] = math.FMA(v, dt, fd[(e-x.n)*l+j])
				}
			}
		}
	}
}

// crossPull transposes crossPush.
func (x *Worker) crossPull(t float64, y, yb, fb, tb []float64) {
	l := x.l
	list := x.rec.crossedAt(t)
	for i, c := range list {
		if !x.rec.gaps[c.gap].jump {
			continue
		}
		diff := differenceAt(x, list, i, t, y)
		rate := pace(x, list, i, t, y)
		w := make([]float64, l)
		for j := range l {
			for e, v := range diff {
				if e < x.n {
					w[j] = math.FMA(v, yb[e*l+j], w[j])
				} else {
					w[j] = math.FMA(v, fb[(e-x.n)*l+j], w[j])
				}
			}
			w[j] /= rate
			x.times[c.gap][j] += w[j]
			tb[j] -= w[j]
			w[j]-- // pace has pulled 1
		}
		yb1, tb1 := slices.Clone(x.mover.yb[:x.n*l]), slices.Clone(x.mover.tb)
		x.pullTau(c.delay, t, y, w)
		for k, v := range yb1 {
			yb[k] += v + x.mover.yb[k]
		}
		for j, v := range tb1 {
			tb[j] += v + x.mover.tb[j]
		}
	}
}

// differenceAt returns f before the i-th crossing of a list at t minus f behind it: each counts once where several
// delays cross at one time.
func differenceAt(x *Worker, list []crossed, i int, t float64, y []float64) []float64 {
	z := x.w.Size()
	before, behind := make([]float64, z.N+z.Q), make([]float64, z.N+z.Q)
	aside(x, list, i+1, func() { x.Eval(t, y, behind) })
	aside(x, list, i, func() { x.Eval(t, y, before) })
	for k, v := range behind {
		before[k] -= v
	}
	return before
}
