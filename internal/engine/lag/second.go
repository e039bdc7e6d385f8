package lag

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// Second is a Worker for second derivatives: it pushes tangents through the transposes of what a Worker does. Steps end
// with what comes back of the past, so that what is read is smooth along each of them and their derivatives of any
// order are those of the run. Its cotangents have one lane, and their tangents all.
type Second struct {
	*Worker
	s *system.SecondWorker

	yb2, ymb2, xb2 solvers.Dual // [N + lags], [N + lags], [N]
	sb2            solvers.Dual // [1]
	db2, yb02      solvers.Dual
	held2          []solvers.Dual // of discretes that were read, by the gap that set them and the start first
	seeds2         []stages.SecondSeeds
	mb2, slope2    solvers.Dual // of entries of the model, and of a slope
	taub2, y2, yt2 solvers.Dual // of delays that move, and of what they are made of
	tb2            solvers.Dual
	split          twoSided // by what comes after delays that move
	until2         map[int]solvers.Dual
	parted         map[int][]parted // by steps, in the directions of the walk
	twoSided
}

// parted is a cause that comes back at the end of a step, and that moves otherwise than this does.
type parted struct {
	cause
	by         []float64 // [lanes] how it moves from there
	jump, bend []float64 // [N + Q] by what it makes rates and their slopes jump
	two        bool      // second derivatives have two sides
	other      bool      // for something else, which may set states
}

// twoSided tells of stops that meet and move apart, where second derivatives have two sides.
type twoSided struct {
	lanes []bool  // directions that move them apart
	at    float64 // of one of them
}

// Twice returns w as it reads the past that rec holds. The method is that of the run.
func Twice(w *system.SecondWorker, rec *Record, m solvers.Method) *Second {
	x := &Second{Worker: Of(w.Worker, rec, m), s: w, parted: map[int][]parted{}}
	x.bends = true
	size, all := w.Size(), w.Size().N+rec.lags
	dual := func(n int) solvers.Dual { return solvers.NewDual(n, x.l) }
	x.yb2, x.ymb2, x.xb2, x.sb2 = dual(all), dual(all), dual(size.N), dual(1)
	x.db2, x.yb02 = dual(size.D), dual(size.N)
	x.twoSided.lanes = make([]bool, x.l)
	x.split.lanes = make([]bool, x.l)
	if rec.moving > 0 {
		x.taub2, x.y2, x.yt2, x.tb2 = dual(rec.moving), dual(all), dual(all), dual(1)
	}
	return x
}

// Begins implements sens.PastPusher.
func (x *Second) Begins(yd []float64) {
	clear(x.parted)
	clear(x.split.lanes)
	x.Worker.Begins(yd)
}

// LeapPush implements sens.PastPusher: a step ends with each jump that comes back.
func (x *Second) LeapPush(float64, []float64, []float64, []float64, []float64) {}

// Keep implements sens.PastPusher.
func (x *Second) Keep(i int, f solvers.TangentField, m solvers.Method, s *solvers.Step, d *solvers.StepTangent) {
	x.Worker.Keep(i, f, m, s, d)
	if x.rec.moving > 0 {
		x.separate(i, s, d)
	}
	e := &x.rec.ends
	at := e.of(i)
	if at < 0 {
		return
	}
	var list []parted
	for _, c := range e.causes[e.list[at].first:e.list[at].till] {
		td, moves := make([]float64, x.l), false
		causePush(x.Worker, c, td)
		for j, v := range td {
			own, by := d.T0[j]+d.H[j], x.dd[x.rec.delays[c.delay].at*x.l+j]
			td[j] = v - own
			if math.Abs(td[j]) <= float64(1e-9*max(math.Abs(v-by)+math.Abs(by), math.Abs(own))) {
				td[j] = 0
			}
			moves = moves || td[j] != 0
		}
		if !moves {
			td = nil
		}
		list = append(list, parted{cause: c, by: td})
	}
	if slices.ContainsFunc(list, func(p parted) bool { return p.by != nil }) {
		x.part(i, s, list, e.list[at].other || e.list[at].turns)
	}
}

// part notes the causes that move otherwise than the end of step i, with which others come back. Of one that makes a
// kink of the rates, the length of time by which it is away has a square in the state: as long as what is read on one
// side takes the place of that on the other. What makes a jump of the rates, beside another, has two sides, and so has
// a kink if what else comes changes its size.
func (x *Second) part(i int, s *solvers.Step, list []parted, other bool) {
	slices.SortStableFunc(list, func(a, b parted) int { // those with which the step ends come first
		switch {
		case (a.by == nil) == (b.by == nil):
			return 0
		case a.by == nil:
			return -1
		}
		return 1
	})
	with := slices.IndexFunc(list, func(p parted) bool { return p.by != nil })
	mixed := slices.ContainsFunc(list, func(p parted) bool { return x.rec.mixed(p.cause) })
	var leaps []leap
	for _, p := range list {
		leaps = append(leaps, leap{delay: p.delay})
	}
	for k := with; k < len(list); k++ {
		p := &list[k]
		here := append(slices.Clone(leaps[:with]), leaps[k])
		p.jump, p.other = difference(x.Worker, s.T1, s.Y1, leaps[k:k+1], 0), other
		behind := difference(x.Worker, s.T1, s.Y1, here, with)
		before := x.bend(s, nil, p.delay)
		p.bend = x.bend(s, leaps[:with], p.delay)
		rates := x.rates(s)
		least := float64(1e-9*rates) / (s.T1 - x.rec.start)
		p.two = mixed || max(largestOf(p.jump), largestOf(behind)) > float64(1e-11*rates) ||
			other && largestOf(p.bend) > least ||
			largestOf(minus(before, p.bend)) > max(least, float64(1e-9*largestOf(p.bend)))
		x.parted[i] = append(x.parted[i], *p)
	}
}

// rates is the largest rate at the end of a step.
func (x *Second) rates(s *solvers.Step) float64 {
	z := x.Size()
	k := make([]float64, z.N+z.Q)
	x.Eval(s.T1, s.Y1, k)
	return largestOf(k)
}

// bend returns by what the slopes of the rates jump at the end of a step as what a delay reads does, where others have
// come back.
func (x *Second) bend(s *solvers.Step, come []leap, delay int) []float64 {
	l, r := x.l, x.rec
	mid, later := x.mid, x.later
	x.mid, x.later = s.T1, false
	if x.leapt == nil {
		x.leapt = make([]bool, len(r.delays))
	}
	for _, p := range come {
		x.leapt[p.delay] = true
	}
	y := slices.Clone(x.extend(s.T1, s.Y1, x.y))
	var slope [2][]float64
	for side := range slope {
		x.leapt[delay] = side == 1
		step, theta := x.locate(delay, s.T1)
		stateAt(x.Worker, step, theta)
		slope[side] = slices.Clone(x.slope)
	}
	clear(x.leapt)
	x.mid, x.later = mid, later
	z := x.Size()
	td, yd := make([]float64, l), make([]float64, len(y)*l)
	still, moved := make([]float64, (z.N+z.Q)*l), make([]float64, (z.N+z.Q)*l)
	x.w.Push(s.T1, y, td, yd, still) // by params alone
	for _, c := range r.reads {
		if k := delay - c.first; k >= 0 && k < c.n && !c.discrete {
			for e := range c.len {
				yd[(c.to+k*c.len+e)*l] = slope[1][c.from+e] - slope[0][c.from+e]
			}
		}
	}
	x.w.Push(s.T1, y, td, yd, moved)
	out := make([]float64, z.N+z.Q)
	for e := range out {
		out[e] = moved[e*l] - still[e*l]
	}
	return out
}

func largestOf(v []float64) (most float64) {
	for _, x := range v {
		most = max(most, math.Abs(x))
	}
	return most
}

func minus(a, b []float64) []float64 {
	d := slices.Clone(a)
	for i, x := range b {
		d[i] -= x
	}
	return d
}

// TwoSided implements sens.PastPullPusher.
func (x *Second) TwoSided(lane int) (t float64, is bool) {
	if x.split.lanes[lane] {
		return x.split.at, true
	}
	return x.twoSided.at, x.twoSided.lanes[lane]
}

// Begin implements solvers.SecondSystem.
func (x *Second) Begin() {
	x.db2.Clear()
	x.yb02.Clear()
	clear(x.until2)
	clear(x.twoSided.lanes)
	for _, v := range x.held2 {
		v.Clear()
	}
	for i := range x.seeds2 {
		x.seeds2[i].Drop()
	}
	x.s.Begin()
}

// Leave implements solvers.SecondSystem.
func (x *Second) Leave(db solvers.Dual) {
	x.s.Leave(db)
	db.Add(x.db2)
	x.db2.Clear()
}

// InstantPullPush implements solvers.SecondSystem.
func (x *Second) InstantPullPush(i int, w solvers.Dual) { x.s.InstantPullPush(i, w) }

// StartPullPush implements solvers.SecondSystem.
func (x *Second) StartPullPush(t0, yb, db, tb solvers.Dual) { x.s.StartPullPush(t0, yb, db, tb) }

// Finish implements solvers.SecondSystem.
func (x *Second) Finish(pb solvers.Dual) { x.s.Finish(pb) }

// ValuesPullPush implements sens.SecondObjectives.
func (x *Second) ValuesPullPush(f solvers.Dual, weights []float64, fb solvers.Dual) {
	x.s.ValuesPullPush(f, weights, fb)
}

// extended returns the state y with lags behind it, and their tangents, at t.
func (x *Second) extended(t, y solvers.Dual) solvers.Dual {
	return solvers.Dual{X: x.extend(t.X[0], y.X, x.y), D: x.push(t.X[0], t.D, y.D, x.yd)}
}

// some returns the first n elements of a.
func (x *Second) some(a solvers.Dual, n int) solvers.Dual {
	return solvers.Dual{X: a.X[:n], D: a.D[:n*x.l]}
}

// PullPush implements solvers.SecondField.
func (x *Second) PullPush(t, y, kb, yb, tb solvers.Dual) {
	x.s.PullPush(t, x.extended(t, y), kb, x.yb2, tb)
	x.pull2(t, y, x.yb2, tb)
	yb.Copy(x.some(x.yb2, x.n))
}

// PullPushJacobian implements matrices.SecondJacobianField.
func (x *Second) PullPushJacobian(t, y, jb, yb, tb solvers.Dual) {
	a, l := jac(x.Worker), x.l
	if len(x.mb2.X) == 0 {
		x.mb2, x.slope2 = solvers.NewDual(a.all, l), solvers.NewDual(x.n, l)
	}
	ye := x.extended(t, y)
	x.w.EvalJacobian(t.X[0], ye.X, x.entries.m)
	x.w.PushJacobian(t.X[0], ye.X, t.D, ye.D, x.entries.md)
	x.mb2.Clear()
	for e, from := range a.own {
		x.mb2.X[from] = jb.X[e]
		copy(x.mb2.D[from*l:][:l], jb.D[e*l:])
	}
	times, taub := solvers.NewDual(1, l), solvers.NewDual(x.rec.moving, l)
	for i, list := range a.lags {
		if len(list) == 0 {
			continue
		}
		step, theta, has := slopeOf(x.Worker, i, t.X[0])
		if !has {
			continue
		}
		kept := slopeTangent(x.Worker, i, step, theta, t.D)
		x.slope2.Clear()
		for k := range list {
			x.pullByLag(&list[k], jb)
		}
		x.sb2.Clear()
		s := &x.rec.steps[step].Step
		stages.RecallSlopeDual(x.method, s, &kept.d, theta, kept.kd, x.td, x.slope2, x.sb2, x.seedsOf(step))
		times.Add(x.sb2)
		from, db := x.rec.delays[i], x.db2
		if from.moves {
			db = taub
		}
		takeAway(solvers.Dual{X: db.X[from.at:][:1], D: db.D[from.at*l:][:l]}, x.sb2)
	}
	x.s.PullPushJacobian(t, ye, x.mb2, x.yb2, tb)
	x.pull2(t, y, x.yb2, tb)
	tb.Add(times)
	if x.rec.moving > 0 {
		x.taub2.Copy(taub)
		x.pullTaus(t, y, x.yb2, tb)
	}
	yb.Copy(x.some(x.yb2, x.n))
}

// pullByLag transposes, together with the tangent of that, what EvalJacobian makes of an entry by a lag: it adds to the
// cotangents of the entries of the model, mb2, and of the slope of what is read, slope2.
func (x *Second) pullByLag(g *byLag, jb solvers.Dual) {
	l, m, md, sd := x.l, x.entries.m, x.entries.md, x.entries.sd
	f, s := m[g.from], x.slope[g.state]
	v := jb.X[g.time]
	for _, tau := range g.taus {
		w := jb.X[tau.to]
		v = math.FMA(-w, m[tau.from], v)
		x.mb2.X[tau.from] = math.FMA(-float64(f*s), w, x.mb2.X[tau.from])
	}
	x.mb2.X[g.from] = math.FMA(v, s, x.mb2.X[g.from])
	x.slope2.X[g.state] = math.FMA(v, f, x.slope2.X[g.state])
	for c := range l {
		fd, slope := md[g.from*l+c], sd[g.state*l+c]
		vd := jb.D[g.time*l+c]
		for _, tau := range g.taus {
			w, wd, at := jb.X[tau.to], jb.D[tau.to*l+c], tau.from*l+c
			vd -= math.FMA(wd, m[tau.from], float64(w*md[at]))
			moved := math.FMA(fd, s, float64(f*slope))
			x.mb2.D[at] -= math.FMA(moved, w, float64(float64(f*s)*wd))
		}
		x.mb2.D[g.from*l+c] += math.FMA(vd, s, float64(v*slope))
		x.slope2.D[g.state*l+c] += math.FMA(vd, f, float64(v*fd))
	}
}

// seedsOf returns the cotangents of the dense output of a step.
func (x *Second) seedsOf(step int) *stages.SecondSeeds {
	for len(x.seeds2) <= step {
		x.seeds2 = append(x.seeds2, stages.SecondSeeds{})
	}
	return &x.seeds2[step]
}

// GuardPullPush implements solvers.SecondSystem.
func (x *Second) GuardPullPush(i int, t, y, w, yb, tb solvers.Dual) {
	if c := x.crossing(i); c != nil {
		x.guardPullPush(c, t, y, w, yb, tb)
		return
	}
	ye := x.extended(t, y)
	x.yb2.Clear()
	x.s.GuardPullPush(i, t, ye, w, x.yb2, tb)
	x.pull2(t, y, x.yb2, tb)
	yb.Add(x.some(x.yb2, x.n))
}

// AffectPullPush implements solvers.SecondSystem.
func (x *Second) AffectPullPush(f solvers.Firing, t, ym, dm, ypb, dpb, ymb, dmb, tb solvers.Dual) {
	apart(x.Worker, t.X[0], func() {
		ye, n := x.extended(t, ym), x.n
		x.yb2.Clear() // the body overwrites its states
		x.s.AffectPullPush(f, t, ye, dm, ypb, dpb, x.yb2, dmb, tb)
		x.pull2(t, ym, x.yb2, tb)
		ymb.Copy(x.some(x.yb2, n))
	})
}

// ObservePullPush implements sens.SecondObjectives.
func (x *Second) ObservePullPush(pt *sens.Point, dot *sens.PointTangent, fb, ymb, dmb, ypb, dpb, tb solvers.Dual) {
	apart(x.Worker, pt.T, func() {
		t, p, moved := solvers.Dual{X: []float64{pt.T}, D: dot.T}, *pt, *dot
		p.Yp, p.Ym = x.extend(pt.T, pt.Yp, x.y), x.extend(pt.T, pt.Ym, x.ym)
		moved.Yp, moved.Ym = x.push(pt.T, dot.T, dot.Yp, x.yd), x.push(pt.T, dot.T, dot.Ym, x.ymd)
		x.yb2.Clear()
		x.ymb2.Clear()
		x.s.ObservePullPush(&p, &moved, fb, x.ymb2, dmb, x.yb2, dpb, tb)
		x.pull2(t, solvers.Dual{X: pt.Yp, D: dot.Yp}, x.yb2, tb)
		x.pull2(t, solvers.Dual{X: pt.Ym, D: dot.Ym}, x.ymb2, tb)
		ypb.Add(x.some(x.yb2, x.n))
		ymb.Add(x.some(x.ymb2, x.n))
	})
}

// pull2 is Worker.pull together with its tangent, in the state y.
func (x *Second) pull2(t, y, yb, tb solvers.Dual) {
	l, r := x.l, x.rec
	moved := false
	if r.moving > 0 { // others may have been evaluated meanwhile
		x.extended(t, y)
		x.taub2.Clear()
	}
	for i, from := range r.delays {
		some := false
		x.xb2.Clear()
		for _, c := range r.reads {
			k := i - c.first
			if k < 0 || k >= c.n {
				continue
			}
			at := c.to + k*c.len
			part := solvers.Dual{X: yb.X[at:][:c.len], D: yb.D[at*l:][:c.len*l]}
			to := x.xb2
			if c.discrete {
				to = x.heldSecond(r.holder(regionOf(x.Worker, i)))
			} else {
				nonzero := func(v float64) bool { return v != 0 }
				some = some || slices.ContainsFunc(part.X, nonzero) || slices.ContainsFunc(part.D, nonzero)
			}
			solvers.Dual{X: to.X[c.from:][:c.len], D: to.D[c.from*l:][:c.len*l]}.Add(part)
		}
		if !some {
			continue
		}
		step, theta := x.locate(i, t.X[0])
		if step == ofPresent {
			x.some(yb, x.n).Add(x.xb2)
			continue
		}
		if step < 0 {
			x.yb02.Add(x.xb2)
			continue
		}
		if r.steps[step].H == 0 {
			continue
		}
		at, dd, db := from.at*l, x.dd, x.db2
		if from.moves {
			dd, db, moved = x.taud, x.taub2, true
		}
		for j := range x.td {
			x.td[j] = t.D[j] - dd[at+j]
		}
		k := &x.kept[step]
		x.sb2.Clear()
		stages.RecallPullPush(x.method, &r.steps[step].Step, &k.d, theta, k.kd, x.td, x.xb2, x.sb2, x.seedsOf(step))
		tb.Add(x.sb2)
		takeAway(solvers.Dual{X: db.X[from.at:][:1], D: db.D[at:][:l]}, x.sb2)
	}
	if moved {
		x.pullTaus(t, y, yb, tb)
	}
}

// heldSecond is heldAt with tangents.
func (x *Second) heldSecond(gap int) solvers.Dual {
	for len(x.held2) < gap+2 {
		x.held2 = append(x.held2, solvers.NewDual(len(x.db2.X), x.l))
	}
	return x.held2[1+gap]
}

// unheldSecond is unhold with tangents.
func (x *Second) unheldSecond(gap int) {
	if 1+gap < len(x.held2) {
		x.db2.Add(x.held2[1+gap])
		x.held2[1+gap].Clear()
	}
}

// SowSecond implements sens.PastPullPusher.
func (x *Second) SowSecond(i int, s *solvers.Step, m solvers.Method) bool {
	if i >= len(x.seeds2) || !x.seeds2[i].Sown() {
		return false
	}
	copy(s.K, x.rec.steps[i].K)
	s.Dense = true
	stages.SowSecond(plain(m), s, &x.seeds2[i])
	return true
}

// EndPullPush implements sens.PastPullPusher.
func (x *Second) EndPullPush(i int, hb solvers.Dual) {
	c, _ := follows(x.Worker, i)
	at := x.rec.delays[c.delay].at
	solvers.Dual{X: x.db2.X[at:][:1], D: x.db2.D[at*x.l:][:x.l]}.Add(hb)
	x.untilOf(c.after).Add(hb)
}

// untilOf returns the cotangent of the time at which step i ends.
func (x *Second) untilOf(i int) solvers.Dual {
	if x.until2 == nil {
		x.until2 = map[int]solvers.Dual{}
	}
	to, ok := x.until2[i]
	if !ok {
		to = solvers.NewDual(1, x.l)
		x.until2[i] = to
	}
	return to
}

// EndedSecond implements sens.PastPullPusher.
func (x *Second) EndedSecond(i int, yb, fb, tb solvers.Dual) {
	if v, ok := x.until2[i]; ok {
		tb.Add(v)
	}
	for _, p := range x.parted[i] {
		var c float64
		reached := false
		for row, v := range p.bend {
			of, e := yb, row
			if k := row - x.n; k >= 0 {
				of, e = fb, k
			}
			c = math.FMA(v, of.X[e], c)
			reached = reached || of.X[e] != 0 && (p.other || v != 0 || p.jump[row] != 0)
		}
		for j, by := range p.by {
			if by != 0 && p.two && reached {
				x.twoSided.lanes[j], x.twoSided.at = true, x.rec.steps[i].T1
			}
		}
		at, until := x.rec.delays[p.delay].at*x.l, x.untilOf(p.after)
		for j, by := range p.by {
			x.db2.D[at+j] = math.FMA(c, by, x.db2.D[at+j])
			until.D[j] = math.FMA(c, by, until.D[j])
			tb.D[j] = math.FMA(-c, by, tb.D[j])
		}
	}
}

// JumpSecond implements sens.PastPullPusher.
func (x *Second) JumpSecond(after int) {
	for j := x.rec.gapsBehind(after); j < len(x.rec.gaps) && x.rec.gaps[j].from <= after; j++ {
		x.unheldSecond(j)
	}
}

// InitialSecond implements sens.PastPullPusher.
func (x *Second) InitialSecond(yb solvers.Dual) {
	yb.Add(x.yb02)
	x.yb02.Clear()
	x.unheldSecond(-1)
}
