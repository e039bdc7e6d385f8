package lag

import (
	"cmp"
	"math"
	"slices"

	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// SetTangent implements solvers.TangentSystem.
func (x *Worker) SetTangent(pd []float64) {
	x.kept, x.sets = x.kept[:0], x.sets[:0]
	clear(x.yd0)
	clear(x.td0)
	clear(x.dd)
	x.w.SetTangent(pd)
}

// EnterPush implements solvers.TangentSystem.
func (x *Worker) EnterPush(dd []float64) {
	copy(x.dd, dd)
	x.w.EnterPush(dd)
}

// StartPush implements solvers.TangentSystem.
func (x *Worker) StartPush(t0 float64, td, yd, dd []float64) {
	x.td0 = append(x.td0[:0], td...)
	x.w.StartPush(t0, td, yd, dd)
}

// Begins implements sens.PastPusher.
func (x *Worker) Begins(yd []float64) {
	copy(x.yd0, yd)
	x.sets = append(x.sets[:0], slices.Clone(x.dd))
}

// Keep implements sens.PastPusher.
func (x *Worker) Keep(i int, f solvers.TangentField, m solvers.Method, s *solvers.Step, d *solvers.StepTangent) {
	for len(x.kept) <= i {
		x.kept = append(x.kept, keptTangent{})
	}
	var kd []float64
	if s.H > 0 {
		kd = append(kd, solvers.Tangents(plain(m), f, s, d)...)
	}
	own := func(v []float64) []float64 { return append([]float64(nil), v...) }
	t1 := own(d.T0)
	add(t1, d.H)
	x.kept[i] = keptTangent{solvers.StepTangent{T0: own(d.T0), H: own(d.H), Y0: own(d.Y0), Y1: own(d.Y1)}, kd, t1}
}

// push returns the tangents of (y, lags) at t, which moves by td, in out.
func (x *Worker) push(t float64, td, yd, out []float64) []float64 {
	l, r := x.l, x.rec
	copy(out, yd[:x.n*l])
	if r.moving > 0 { // extend has written the delays, and the state
		copy(x.mover.yb, yd[:x.n*l])
		system.DelaysPush(x.w, t, x.mover.y, td, x.mover.yb, x.taud)
	}
	for i, from := range r.delays {
		step, theta := x.locate(i, t)
		dd := x.dd
		if from.moves {
			dd = x.taud
		}
		for j := range x.td {
			x.td[j] = td[j] - dd[from.at*l+j]
		}
		if step == ofPresent {
			copy(x.xd, yd[:x.n*l])
		} else {
			stateTangent(x, step, theta)
		}
		for _, c := range r.takes[i] {
			to := out[c.to*l:][:c.len*l]
			if !c.discrete {
				copy(to, x.xd[c.from*l:])
			} else if g := 1 + r.holder(regionOf(x, i)); g < len(x.sets) && x.sets[g] != nil {
				copy(to, x.sets[g][c.from*l:])
			} else {
				clear(to)
			}
		}
	}
	return out
}

// stateTangent makes x.xd the tangent of the state at theta of a step, at a time that moves by x.td.
func stateTangent(x *Worker, step int, theta float64) {
	r, l := x.rec, x.l
	switch {
	case step < 0:
		copy(x.xd, x.yd0)
	case r.steps[step].H == 0:
		clear(x.xd)
		if step < len(x.kept) {
			copy(x.xd, x.kept[step].d.Y1)
		}
	case step < len(x.kept) && x.kept[step].kd != nil:
		k := &x.kept[step]
		solvers.RecallPush(x.method, &r.steps[step].Step, &k.d, theta, k.kd, x.td, x.xd)
	default: // nothing moves there yet
		stateAt(x, step, theta)
		for e, v := range x.slope {
			for j, td := range x.td {
				x.xd[e*l+j] = float64(v * td)
			}
		}
	}
}

// Push implements solvers.TangentField.
func (x *Worker) Push(t float64, y, td, yd, kd []float64) {
	x.w.Push(t, x.extend(t, y, x.y), td, x.push(t, td, yd, x.yd), kd)
}

// GuardPush implements solvers.TangentSystem.
func (x *Worker) GuardPush(i int, t float64, y, td, yd, rd []float64) {
	x.w.GuardPush(i, t, x.extend(t, y, x.y), td, x.push(t, td, yd, x.yd), rd)
}

// AffectPush implements solvers.TangentSystem.
func (x *Worker) AffectPush(f solvers.Firing, t float64, ym, dm, td, ymd, dmd, ypd, dpd []float64) {
	apart(x, t, func() {
		x.w.AffectPush(f, t, x.extend(t, ym, x.y), dm, td, x.push(t, td, ymd, x.yd), dmd, ypd, dpd)
	})
}

// ObservePush implements sens.TangentObjectives.
func (x *Worker) ObservePush(pt *sens.Point, td, ymd, dmd, ypd, dpd, fd []float64) {
	apart(x, pt.T, func() {
		p := x.pointed(pt)
		yd := x.push(pt.T, td, ypd, x.yd)
		if x.rests(&pt.Site) {
			extended(x.rec.list, ypd[:x.n*x.l], dpd, yd, x.l)
		}
		x.taus(pt.T, pt.Ym)
		x.w.ObservePush(p, td, x.push(pt.T, td, ymd, x.ymd), dmd, yd, dpd, fd)
	})
}

// Begin implements solvers.CotangentSystem.
func (x *Worker) Begin(rows [][]float64) {
	clear(x.db)
	clear(x.yb0)
	clear(x.until)
	for _, v := range x.held {
		clear(v)
	}
	for _, s := range x.seeds {
		if s != nil {
			s.Sown = false
		}
	}
	for i := range x.gathered {
		x.gathered[i].some = false
	}
	for len(x.times) < len(x.rec.gaps) {
		x.times = append(x.times, make([]float64, x.l))
	}
	for _, t := range x.times {
		clear(t)
	}
	x.w.Begin(rows)
}

// Leave implements solvers.CotangentSystem.
func (x *Worker) Leave(db []float64) {
	x.w.Leave(db)
	for i, v := range x.db {
		db[i] += v
	}
	clear(x.db)
}

// pull transposes the reading of lags at t: yb are cotangents of (y, lags). It adds those of the time to tb.
func (x *Worker) pull(t float64, yb, tb []float64) {
	l, r := x.l, x.rec
	clear(x.taub)
	moved, lags := false, yb[x.n*l:]
	for i, from := range r.delays {
		if !pulls(x, i, lags) {
			continue
		}
		step, theta := x.locate(i, t)
		if step == ofPresent {
			for _, c := range r.takes[i] {
				add(yb[c.from*l:][:c.len*l], yb[c.to*l:][:c.len*l])
			}
			continue
		}
		untake(x, i, step, theta, lags, nil, tb)
		moved = moved || from.moves
	}
	if moved { // extend has written the state
		system.DelaysPull(x.w, t, x.mover.y, x.taub, x.mover.yb, x.mover.tb)
		add(yb[:x.n*l], x.mover.yb[:x.n*l])
		add(tb, x.mover.tb)
	}
}

// pulls transposes what delay i reads of discretes, with cotangents of all lags, and reports whether those of states
// have any but zeros.
func pulls(x *Worker, i int, lags []float64) (some bool) {
	for _, c := range x.rec.takes[i] {
		of := lags[(c.to-x.n)*x.l:][:c.len*x.l]
		if c.discrete {
			add(heldAt(x, x.rec.holder(regionOf(x, i)))[c.from*x.l:], of)
			continue
		}
		for _, v := range of {
			some = some || v != 0
		}
	}
	return some
}

// untake transposes take, with cotangents of all lags. It adds those of the time to tb, and of the delay to those of
// delays. Unless they are nil, slopes are what slopesOf has written.
func untake(x *Worker, i, step int, theta float64, lags, slopes, tb []float64) {
	clear(x.sb)
	statePull(x, i, step, theta, lags, slopes)
	from, db := x.rec.delays[i], x.db
	if from.moves {
		db = x.taub
	}
	for j, v := range x.sb {
		tb[j] += v
		db[from.at*x.l+j] -= v
	}
}

// heldAt returns the cotangents of the discretes that a gap set, -1 for the start.
func heldAt(x *Worker, gap int) []float64 {
	for len(x.held) < gap+2 {
		x.held = append(x.held, make([]float64, len(x.db)))
	}
	return x.held[1+gap]
}

// unhold adds the cotangents of the discretes that a gap set, all reads of which have been transposed.
func unhold(x *Worker, gap int) {
	if 1+gap < len(x.held) {
		add(x.db, x.held[1+gap])
		clear(x.held[1+gap])
	}
}

// statePull transposes what delay i reads at theta of a step, with cotangents of all lags. It adds those of the time to
// x.sb.
func statePull(x *Worker, i, step int, theta float64, lags, slopes []float64) {
	l, r := x.l, x.rec
	if r.curved(step) {
		gather(x, i, step, theta, lags, slopes)
		return
	}
	clear(x.xb)
	for _, c := range r.takes[i] {
		if !c.discrete {
			add(x.xb[c.from*l:], lags[(c.to-x.n)*l:][:c.len*l])
		}
	}
	switch {
	case step < 0:
		add(x.yb0, x.xb)
	case r.steps[step].H > 0:
		seeded(x, step, func(s *solvers.Step) { x.method.InterpolatePull(x, s, theta, x.xb, x.sb) })
	}
}

// seeded has sow add to the cotangents of the dense output of a step.
func seeded(x *Worker, step int, sow func(s *solvers.Step)) {
	for len(x.seeds) <= step {
		x.seeds = append(x.seeds, nil)
	}
	s := &x.rec.steps[step].Step
	at := solvers.SeedsOf(x.method, s)
	was := *at
	if x.seeds[step] == nil {
		x.seeds[step] = &solvers.Seeds{}
	}
	*at = *x.seeds[step]
	sow(s)
	*x.seeds[step] = *at
	*at = was
}

// Sow implements sens.PastPuller.
func (x *Worker) Sow(i int, s *solvers.Step, m solvers.Method) (sown bool) {
	own := i < len(x.seeds) && x.seeds[i] != nil && x.seeds[i].Sown
	curved := i < len(x.gathered) && x.gathered[i].some
	if !own && !curved {
		return false
	}
	if info := solvers.MakerOf(plain(m), s).Info(); info.DenseStages > 0 { // the run has recorded the others
		size := x.w.Size()
		dense := info.Stages * (size.N + size.Q)
		copy(s.K[dense:], x.rec.steps[i].K[dense:])
	}
	s.Dense = true
	if !own {
		x.gathered[i].sow(plain(m), s, x.rec.late)
		return true
	}
	hand(x, i)
	from, to := x.seeds[i], solvers.SeedsOf(plain(m), s)
	if !to.Sown {
		*from, *to = *to, *from
		from.Sown = false
		return true
	}
	if from.C != nil && to.C == nil {
		to.C, to.Of, from.C = from.C, from.Of, nil
	}
	stages.Unfold(plain(m), s, from)
	for _, v := range []struct{ to, from []float64 }{
		{to.K, from.K}, {to.Y0, from.Y0}, {to.H, from.H}, {to.T, from.T},
	} {
		for k, c := range v.from {
			v.to[k] += c
		}
	}
	from.Sown = false
	return true
}

// Initial implements sens.PastPuller.
func (x *Worker) Initial(yb []float64) {
	for i, v := range x.yb0 {
		yb[i] += v
	}
	clear(x.yb0)
	unhold(x, -1)
}

// Pull implements solvers.CotangentField.
func (x *Worker) Pull(t float64, y, kb, yb, tb []float64) {
	x.w.Pull(t, x.extend(t, y, x.y), kb, x.yb, tb)
	x.pull(t, x.yb, tb)
	copy(yb, x.yb[:x.n*x.l])
}

// adding has f add to cotangents of (y, lags), those of y being yb, and transposes the reading of the lags.
func adding(x *Worker, t float64, yb, tb, buffer []float64, f func(yb []float64)) {
	clear(buffer)
	f(buffer)
	x.pull(t, buffer, tb)
	add(yb[:x.n*x.l], buffer[:x.n*x.l])
}

// GuardPull implements solvers.CotangentSystem.
func (x *Worker) GuardPull(i int, t float64, y, w, yb, tb []float64) {
	ye := x.extend(t, y, x.y)
	adding(x, t, yb, tb, x.yb, func(yb []float64) { x.w.GuardPull(i, t, ye, w, yb, tb) })
}

// AffectPull implements solvers.CotangentSystem.
func (x *Worker) AffectPull(f solvers.Firing, t float64, ym, dm, ypb, dpb, ymb, dmb, tb []float64) {
	clear(ymb)
	apart(x, t, func() {
		ye := x.extend(t, ym, x.y)
		adding(x, t, ymb, tb, x.yb, func(yb []float64) { x.w.AffectPull(f, t, ye, dm, ypb, dpb, yb, dmb, tb) })
	})
}

// ObservePull implements sens.CotangentObjectives.
func (x *Worker) ObservePull(pt *sens.Point, fb, ymb, dmb, ypb, dpb, tb []float64) {
	apart(x, pt.T, func() {
		p := x.pointed(pt)
		clear(x.ymb)
		x.taus(pt.T, pt.Yp)
		if x.rests(&pt.Site) {
			clear(x.yb)
			x.w.ObservePull(p, fb, x.ymb, dmb, x.yb, dpb, tb)
			folded(x.rec.list, x.yb, dpb, x.l)
			add(ypb[:x.n*x.l], x.yb[:x.n*x.l])
		} else {
			adding(x, pt.T, ypb, tb, x.yb, func(ypb []float64) { x.w.ObservePull(p, fb, x.ymb, dmb, ypb, dpb, tb) })
		}
		x.taus(pt.T, pt.Ym)
		x.pull(pt.T, x.ymb, tb)
		add(ymb[:x.n*x.l], x.ymb[:x.n*x.l])
	})
}

// leap is the image of a jump: what a delay reads of it jumps at the start of a step.
type leap struct{ gap, delay int }

// leaps returns the images of jumps that are at t.
func leapsAt(x *Worker, t float64) (list []leap) {
	r := x.rec
	for i, tau := range r.tau {
		tol := near(t, tau)
		from, to := r.gapsFrom(func(g gap) bool { return g.t+tau-t >= -tol }),
			r.gapsFrom(func(g gap) bool { return g.t+tau-t > tol })
		for j := from; j < to; j++ {
			if r.gaps[j].jump {
				list = append(list, leap{j, i})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b leap) int { return cmp.Compare(a.gap, b.gap) })
	return list
}

// difference returns f before leap k of a list at t minus f behind it. Leaps before it in the list have been made, and
// those behind have not: each counts once where several come at one time.
func difference(x *Worker, t float64, y []float64, list []leap, k int) []float64 {
	z := x.w.Size()
	var f [2][]float64
	mid, later := x.mid, x.later
	x.mid, x.later = t, false
	if x.leapt == nil {
		x.leapt = make([]bool, len(x.rec.delays))
	}
	for _, p := range list[:k] {
		x.leapt[p.delay] = true
	}
	for side := range f {
		f[side] = make([]float64, z.N+z.Q)
		x.leapt[list[k].delay] = x.leapt[list[k].delay] || side == 1
		x.Eval(t, y, f[side])
	}
	clear(x.leapt)
	x.mid, x.later = mid, later
	for i, v := range f[1] {
		f[0][i] -= v
	}
	return f[0]
}

// LeapPush implements sens.PastPusher.
func (x *Worker) LeapPush(t float64, y, td, yd, fd []float64) {
	l := x.l
	x.crossPush(t, y, td, yd, fd)
	list := leapsAt(x, t)
	for k, p := range list {
		diff := difference(x, t, y, list, k)
		at := x.rec.delays[p.delay].at * l
		for j := range l {
			dt := x.dd[at+j] - td[j]
			if p.gap < len(x.times) {
				dt += x.times[p.gap][j]
			}
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

// Jumped implements sens.PastPusher.
func (x *Worker) Jumped(after int, td []float64) {
	for len(x.times) < len(x.rec.gaps) {
		x.times = append(x.times, make([]float64, x.l))
	}
	if after >= 0 && after < len(x.kept) {
		copy(x.kept[after].t1, td)
	}
	for j := x.rec.gapsBehind(after); j < len(x.rec.gaps) && x.rec.gaps[j].from <= after; j++ {
		copy(x.times[j], td)
		for len(x.sets) < j+2 {
			x.sets = append(x.sets, nil)
		}
		x.sets[1+j] = slices.Clone(x.dd)
	}
}

// LeapPull implements sens.PastPuller.
func (x *Worker) LeapPull(t float64, y, yb, fb, tb []float64) {
	l := x.l
	if !x.rec.jumps {
		return
	}
	defer x.crossPull(t, y, yb, fb, tb)
	list := leapsAt(x, t)
	for k, p := range list {
		diff := difference(x, t, y, list, k)
		at := x.rec.delays[p.delay].at * l
		for j := range l {
			var c float64
			for e, v := range diff {
				if e < x.n {
					c = math.FMA(v, yb[e*l+j], c)
				} else {
					c = math.FMA(v, fb[(e-x.n)*l+j], c)
				}
			}
			x.db[at+j] += c
			tb[j] -= c
			x.times[p.gap][j] += c
		}
	}
}

// Jump implements sens.PastPuller.
func (x *Worker) Jump(after int, tb []float64) {
	for j := x.rec.gapsBehind(after); j < len(x.rec.gaps) && x.rec.gaps[j].from <= after; j++ {
		add(tb, x.times[j])
		clear(x.times[j])
		unhold(x, j)
	}
}
