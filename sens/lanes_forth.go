package sens

import "odes.dev/odes/solvers"

// forth makes the derivatives of each run in some directions, from first on: what Tangent makes, or Forward, to the
// same bits. Each lane walks through its runs, and all of them through the same blocks. Steps whose lengths may move,
// and those within which something is read, are pushed lane by lane. Forward has other derivatives where lengths move,
// and the same on all other steps.
func (l *LaneRuns) forth(first, directions int) {
	n := min(l.width, directions-first)
	present := l.present[:0]
	for _, r := range l.at {
		var then *laneRun
		for ; r != nil; r = r.prev {
			r.then, r.next = then, 0
			then = r
		}
		present = append(present, then)
	}
	l.present = present
	for j := -1; j <= l.runs.Present(); j++ {
		if j >= 0 {
			l.push(j, n)
		}
		for i, w := range l.walks {
			for r := present[i]; r != nil && r.coming().after == j; r = present[i] {
				if r.push(w, j, first, n); r.next < r.n {
					break
				}
				w.obj.ValuesPush(r.res.Functionals, w.fd, w.psid)
				w.write(first, directions, w.run.Size(), w.psid)
				present[i] = r.then
			}
		}
	}
}

// push pushes n directions through the steps of block j. In lanes that read something within their steps, the walk does
// it as well.
func (l *LaneRuns) push(j, n int) {
	block, member := l.runs.Block(j)
	step := l.runs.Stepper(member)
	for i, w := range l.walks {
		r := l.present[i]
		if r == nil || r.next == 0 || !r.reads(r.next, j) {
			continue
		}
		r.take(w, n)
		r.dense(&w.dense, nil, j)
		w.within(limits{}, false)
		w.cross(&w.dense, solvers.End{}, 0, nil, false)
		r.ready = true
	}
	step.Push(block, n)
}

// cross moves the derivatives through a step that no run keeps; see through, and flow for moved.
func (w *walk) cross(st *solvers.Step, e solvers.End, rate float64, ahead []float64, moved bool) {
	if w.k != nil {
		w.flow(-1, st, e, rate, ahead, moved)
	} else {
		w.through(-1, st, e, rate, ahead)
	}
}

// reads reports whether item k is read within a step, after block j.
func (r *laneRun) reads(k, j int) bool {
	return k < r.n && r.items[k].within(j)
}

// take gives a walk the tangents of the run's lane.
func (r *laneRun) take(w *walk, n int) {
	r.of.runs.Stepper(0).TakePush(r.lane, n, w.td, w.yd, w.fd[:len(w.d.DQ)])
}

// push pushes n directions through the items after block j. What happens follows a step that is an item, since its
// length moves.
func (r *laneRun) push(w *walk, j, first, n int) {
	entered := r.next == 0
	switch {
	case entered:
		r.start(w, first)
	case !r.ready:
		r.take(w, n)
	}
	r.ready = false
	for ; r.next < r.n && r.items[r.next].after == j; r.next++ {
		it := &r.items[r.next]
		switch {
		case it.stands:
			st := &it.step
			if r.reads(r.next+1, j) {
				r.dense(&w.dense, it, j)
				st = &w.dense
			}
			w.within(it.limits())
			w.cross(st, it.end, it.rate, it.ahead, r.moved)
			r.moved, r.t, r.y = it.end.Kind != solvers.EndFree, st.T1, it.step.Y1
			if st.H > 0 {
				r.predict(w, r.next+1, j)
			}
		case it.mark.Inside:
			w.mark = it.mark
			if in, read := it.inner(&w.survey, w.obj); read {
				if it.reads {
					w.method.(solvers.Interpolant).Interpolate(w.field, &w.dense, in.theta, it.mark.Yp)
				}
				w.inside(&in)
			}
		case it.reads:
			w.mark = it.mark
			w.pt.Site = it.site
			w.pt.moveTo(&w.mark)
			w.obj.ObservePush(&w.pt, w.td, w.yd, w.dd, w.yd, w.dd, w.fd)
		default:
			w.mark = it.mark
			w.pushMark(r.next, it.left, first)
			r.t, r.y = it.mark.T, it.mark.Yp
			switch w.mark.Kind {
			case solvers.MarkStart:
				r.moved = true
				r.predict(w, r.next+1, j)
			case solvers.MarkFire, solvers.MarkMode, solvers.MarkRemode:
				entered = true
			}
		}
	}
	if r.next == r.n {
		return
	}
	step := r.of.runs.Stepper(0)
	if w.k != nil && r.moved && !step.Rows().Timed { // else the next step is an item, which has limits for the field
		w.leave(r.t, r.y)
		r.moved = false
	}
	if entered {
		step.Enter(r.lane, w.sys)
		step.EnterPush(r.lane, w.sys)
	}
	step.LayPush(r.lane, n, w.td, w.yd, w.fd[:len(w.d.DQ)])
}

// start begins the walk of a run.
func (r *laneRun) start(w *walk, first int) {
	l := r.of
	l.lanes[r.lane].Resume(r.i)
	w.res, w.stride, w.event = &r.res, l.opts.stride(l.record.Size()), 0
	if first == 0 {
		_, objectives := w.obj.Counts()
		r.res.prepare(&l.record, objectives, l.opts)
		r.rates(w)
	}
	w.aim(first, w.run.Size().P, w.l)
	w.sys.SetTangent(w.pd)
	clear(w.fd)
}

// rates finds the rates of all roots of the run.
func (r *laneRun) rates(w *walk) {
	clear(w.pd)
	clear(w.td)
	clear(w.yd)
	clear(w.dd)
	w.sys.SetTangent(w.pd)
	var m *solvers.Mark
	for k := range r.items[:r.n] {
		switch it := &r.items[k]; {
		case !it.stands:
			m = &it.mark
		case it.end.Kind == solvers.EndRoot:
			w.within(it.limits())
			w.sys.Enter(m.Dp, m.Mp)
			it.rate = w.rate(it.end.Index, &it.step, r.of.opts.grazingLimit())
		}
	}
}

// predict does what walk.predictTimes does, for the items from k on after block j.
func (r *laneRun) predict(w *walk, k, j int) {
	for ; k < r.n && r.items[k].after == j; k++ {
		it := &r.items[k]
		if !it.stands {
			continue
		}
		if it.step.H > 0 {
			return
		}
		if it.end.Kind == solvers.EndClip && !w.instants[it.end.Index].Fixed {
			it.ahead = need(it.ahead, w.l)
			w.instant(it.end, it.ahead)
		}
	}
}
