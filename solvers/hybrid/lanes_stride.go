package hybrid

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/lanes"
)

// Most steps are plain ones: accepted, with nothing within and at most one observation at their ends, and like the one
// before as far as stability tells. What judge, accept, meet and aim do with such a step, through all that may be, is a
// few comparisons. stride does these at once, for lane after lane, and leaves all other steps to them.

// lanesMask has a bit for each lane.
type lanesMask uint8

const allLanes lanesMask = 1<<lanes.Count - 1

func (m lanesMask) has(lane int) bool { return m>>lane&1 != 0 }

// strides reports whether plain steps of a run may be made by stride at all.
func (a *lane) strides() bool {
	s := a.s
	return a.filter != nil && a.reader == nil && s.clock.of == nil && s.sight.signals == nil &&
		s.sight.narrow == nil && len(s.guards) == 0 && s.algebra.solves == nil && !s.choice.orders &&
		s.choice.turns == 0 && s.opts.HMax == 0 && (!a.tells || s.bounds.stiff.method == nil)
}

// stride accepts the plain steps of a block that a member of the method has made, and decides about the next ones where
// the last estimate of the spectrum serves for them. It returns in which lanes the step is done with.
func (l *Lanes) stride(
	member int, block []float64, norms, factors *[lanes.Count]float64, from LaneSource,
) (done lanesMask) {
	m := &l.members[member]
	r := m.rows
	if r.Q > 0 || r.Peaks || r.Serve > 0 {
		return 0
	}
	mask := (*[lanes.Count]float64)(block[r.Mask*lanes.Count:])
	timed, bytes := l.moves && r.Timed, l.Bytes()
	for i := range l.lanes {
		a := &l.lanes[i]
		if !a.strider || a.s == nil || a.member != member || timed && a.chosen || !(norms[i] <= 1) ||
			a.clip && l.moves || !a.plain() {
			continue
		}
		s := a.s
		tr := s.trial
		done |= 1 << i
		mask[i] = 1
		a.apart, a.loaded, a.extended, a.guards, a.samples, a.located = false, false, false, nil, nil, false
		s.stats.Evals += evals(&s.info, s.fresh)
		l.tried++
		_, next := a.filter.judged(tr.H, norms[i], factors[i])
		if len(s.members) > 1 {
			s.choice.made = madeStep{tr.H, norms[i], 1 + min(s.info.Order, s.info.Embedded)}
		}
		if !(tr.H >= s.h || next < tr.H) {
			next = max(next, s.h)
		}
		s.h = elem.AtLeast(next, s.least(s.t))
		if s.tol.sizes != nil {
			s.tol.sizes.Passed(tr.T1)
		}
		s.stats.Steps++
		s.stats.Made[member]++
		s.t, s.tiedTo, s.fresh, s.again, a.chosen = tr.T1, false, r.FSAL, false, false
		if s.count++; a.clip {
			if err := a.readEnd(r, block[i:]); err != nil {
				mask[i] = 0
				a.conclude(err)
				from.Done(i, err)
				continue
			}
		}
		if a.aimed = a.onward(bytes); a.aimed {
			a.block = m.next[i:]
			a.toward()
		}
	}
	return done
}

// plain reports whether nothing is within the trial step that is accepted, and at most one observation at its end.
func (a *lane) plain() bool {
	s := a.s
	q, sizes := &s.sched, s.tol.sizes
	return s.cut == 0 && (sizes == nil || len(sizes.Young) == 0) && (!a.clip || onlyRead(s, s.trial)) &&
		!(q.seen < len(q.sites) && q.times[q.sites[q.seen]] <= s.trial.T1)
}

// toward does what Solver.aim does where no length is held short, and begins the block of the step.
func (a *lane) toward() {
	s := a.s
	tr, left, h := s.trial, a.stop-s.t, s.h
	if tr.T = s.t; h >= left || left < float64(1.01*h) {
		tr.H, tr.T1, a.clip = left, a.stop, true
	} else {
		if h > float64(0.5*left) {
			h = float64(0.5 * left)
		}
		tr.H, tr.T1, a.clip = h, s.t+h, false
	}
	a.block[0], a.block[lanes.Count], a.block[2*lanes.Count] = tr.T, tr.H, tr.T1
}

// onlyRead reports whether one observation is all that happens at the end of the trial step, of which meet has nothing
// to tell: no event comes so soon before it that they might change places.
func onlyRead(s *Solver, tr *solvers.Step) bool {
	q := &s.sched
	if len(q.every) > 0 || q.head >= len(q.queue) || q.seen < len(q.sites) || s.sight.lagged != nil || s.ends {
		return false
	}
	i := q.queue[q.head]
	if q.came[i] || q.list[i].Kind != solvers.InstantSite || q.times[i] != tr.T1 {
		return false
	}
	if k := q.head + 1; k < len(q.queue) {
		if j := q.queue[k]; q.came[j] || !(q.times[j] > tr.T1+s.eventTol(tr.T1, tr.H)) {
			return false
		}
	}
	return tr.T1-s.meets.last > float64(closeBy*s.span)
}

// readEnd does what meet does at the end of the step of a block, where it is only read.
func (a *lane) readEnd(r *lanes.Rows, block []float64) error {
	s := a.s
	q := &s.sched
	i := q.queue[q.head]
	s.opens()
	q.came[i] = true
	q.head++
	s.anchor, s.count, s.changed, s.tiedTo, a.chosen = s.t, 0, false, q.list[i].Fixed, true
	s.meets.noteRead(s.t, i)
	lanes.Gather(s.y, block[r.Y1*lanes.Count:])
	a.stop = q.next()
	s.mark = solvers.Mark{Kind: solvers.MarkSite, T: s.t, Guard: -1, Instant: i}
	return s.emit(s.y, s.d, s.m)
}

// onward does what Solver.stay does before the next step, and reports whether that is plain: nothing new is asked of
// the spectrum, it does not hold the step short, and the present member makes it. Where it is not, nothing is done.
func (a *lane) onward(bytes int) bool {
	s := a.s
	c, by := &s.choice, &s.bounds.spectrum
	h := min(s.h, a.stop-s.t)
	full := by.share(h)
	switch {
	case s.stats.Steps+s.stats.Rejected >= s.opts.MaxSteps || bytes-a.began >= laneMemory:
		return false
	case s.tol.sizes != nil && s.tol.sizes.Changed:
		return false
	case !(by.reach > 0) || s.bounds.longest < math.Inf(1) || s.restart || !(s.h > 0) || s.trial.Member != s.member:
		return false
	case by.due <= 1 || by.seen != s.stats.Events+s.stats.Switches || !(full <= 1):
		return false
	case !by.steady && full > 0.2 && full > float64(2*by.full):
		return false
	}
	if len(s.members) > 1 {
		c.look(by.cos)
		if calm := c.calmly(s.member); calm.member != s.member || !calm.at(h, by.rho) {
			return false
		}
		c.pass()
	}
	by.pure++
	by.due--
	by.bound = false
	return true
}
