package hybrid

import (
	"cmp"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/roots"
)

// manyNames is how many events a CascadeError names.
const manyNames = 12

// member is something that happens in a group at one time.
type member struct {
	kind     solvers.MarkKind
	firing   solvers.Firing
	guard    int // -1 when an instant caused it
	instant  int // -1 when a guard did
	nth      int
	at       float64 // the time of the instant
	caused   bool    // a jump made the condition true: the member has no time of its own
	here     bool    // the time of the instant was set in this group
	scale    float64 // of a guard's values within the tolerance of its root
	priority float64
	depth    int  // 0 for what time or the flow made happen, and one more than what set it off otherwise
	party    int  // to a meeting, where those are looked for
	rounded  bool // rounding has decided whether it comes
}

// group is the part of a Solver that knows what happens at one time, and in which order.
type group struct {
	*problem
	*moment
	*told
	*readings
	*armed
	*firings
	sched *schedule

	fired    []member // events of the group that have times of their own
	wave     []member // in order of application
	starting []int    // guards of events that fire at the start
	jumped   bool     // a body of the group has been applied
	changed  bool     // the group changed the state or discretes
	sites    []member // observations, after everything else
	end      member
	ends     bool
	names    []string
	depth    int // of members that join
	already  int // how many events had happened before the group

	ordering
	limits
	kinks
}

// ordering is what events bring along that decides about their order and their executions.
type ordering struct {
	priorities []float64
	varies     bool  // some priorities do
	transient  bool  // some events are
	slots      []int // [events] of a trigger: the first instant of its slots, which follow one another
	triggered  []int // [instants] of what is pending: how many events had happened when it was triggered
}

// limits are values on either side of a group and of its members.
type limits struct {
	yp, dp, mp []float64 // right limits of a body
	ym, dm, mm []float64 // left limits of a member
	yg, dg     []float64 // left limits of the group
	mg         []float64 // modes before the group
	held       []bool    // [M] modes that change later in this group
	next       int       // what holds them: the wave from here on
}

// kinks are those of the right-hand side that end steps.
type kinks struct {
	kink   int   // that ends the trial step, or -1
	bent   []int // their guards in the group, with Options.Bends
	often  int   // how many ended steps soon after one another: 3 for each, less 1 for each other step
	latest int   // the last step that one of them ended
}

// forgetKinks forgets those of another run.
func (k *kinks) forgetKinks() { k.often, k.latest = 0, 0 }

func newGroup(s *Solver) group {
	z := s.size
	g := group{
		problem: &s.problem, moment: &s.moment, told: &s.told, readings: &s.readings, armed: &s.armed,
		firings: &s.firings, sched: &s.sched, limits: limits{held: make([]bool, z.M)},
	}
	for _, v := range []*[]float64{&g.mp, &g.mm, &g.mg} {
		*v = make([]float64, z.M)
	}
	for _, v := range []*[]float64{&g.yp, &g.ym, &g.yg} {
		*v = make([]float64, z.N)
	}
	for _, v := range []*[]float64{&g.dp, &g.dm, &g.dg} {
		*v = make([]float64, z.D)
	}
	g.slots = make([]int, len(s.events))
	n := 0
	for e := range s.events {
		of := &s.events[e]
		n += of.Elems
		g.transient, g.varies = g.transient || of.Transient, g.varies || of.Varies
		if of.Slots == 0 {
			continue
		}
		if g.triggered == nil {
			g.triggered = make([]int, len(s.sched.list))
		}
		g.slots[e] = slices.IndexFunc(s.sched.list, func(in solvers.Instant) bool {
			return in.Pending && in.Event == of.Then
		})
	}
	if g.varies {
		g.priorities = make([]float64, n)
	}
	return g
}

// meet handles everything that happens at the end of the trial step or, when no step is pending, at the start of the
// run. First come events, in order of priority, file and element, and then modes; then what these set off, round by
// round, or with Options.Each body by body; then observations; then the end of the run. The first of them ends the
// trial step. A later one that has a time of its own, because its guard is still zero or an instant sets it, is
// preceded by a step of length zero, which it ends.
func (s *Solver) meet(pending bool) error {
	length := 0.0
	y, t := s.y, s.t
	if pending {
		length, y, t = s.trial.H, s.trial.Y1, s.trial.T1
	}
	tol, warns := s.eventTol(t, length), s.warns()
	s.opens()
	s.due(t + tol)
	for _, i := range s.starting {
		s.join(i, true, 0)
	}
	s.starting = s.starting[:0]
	if pending && len(s.guards) > 0 {
		s.clock.brings(t, tol)
		s.gather(t, y, tol)
	} else if !pending && warns {
		s.meets.atStart()
	}
	s.rank(0, t, y)
	s.order(0)
	s.meets.look(t, y)
	if pending && len(s.wave) == 0 && len(s.sites) == 0 && !s.ends {
		if s.kink >= 0 {
			return s.bend()
		}
		// The filter forbids this crossing.
		err := s.accept(solvers.End{})
		s.anchor, s.count = s.t, 0
		if warns {
			s.junctions.atGroup(0, false)
		}
		return err
	}
	stopped, bounds := false, s.boundsOf()
	fired := s.stats.Events + s.stats.Switches
	for len(s.wave) > 0 {
		for i := 0; i < len(s.wave) && !stopped; i++ {
			var err error
			if stopped, err = s.happen(i, tol, &pending); err != nil {
				return err
			}
		}
		s.wave = s.wave[:0]
		if stopped {
			break
		}
		if err := s.follow(tol); err != nil {
			return err
		}
		s.rank(0, s.t, s.y)
		s.order(0)
	}
	if warns {
		s.besideGroup()
		s.junctions.atGroup(bounds, pending)
	}
	if err := s.observe(s.sites, &pending); err != nil {
		return err
	}
	if s.ends && !stopped {
		if err := s.until(&s.end, &pending); err != nil {
			return err
		}
	}
	if s.ends || stopped {
		return s.finish(stopped)
	}
	if s.stats.Events+s.stats.Switches > fired && s.ctl != nil {
		s.ctl.Reset(s.info)
	}
	return nil
}

// opens begins a group.
func (s *Solver) opens() {
	s.sight.until = math.Inf(-1)
	s.meets.opens()
	s.group.opens()
	s.watch.rounds.known = false
}

// opens begins a group.
func (s *group) opens() {
	s.wave, s.sites, s.ends, s.names, s.fired = s.wave[:0], s.sites[:0], false, s.names[:0], s.fired[:0]
	s.jumped, s.depth, s.already, s.kink, s.bent = false, 0, s.stats.Events, -1, s.bent[:0]
	s.sched.group++
}

// besideGroup notes what the group may change places with. What stood at its threshold at the start may meet it now, if
// this is so soon behind that: roots may lie a little behind.
func (s *Solver) besideGroup() {
	s.meets.besideGroup()
	if s.changed && s.t-s.sched.times[solvers.InstantStart] <= float64(0x1p-40*s.span) {
		s.meets.standing()
	}
}

// happen has member i of the wave happen, where its step ends, and what follows from a body at once.
func (s *Solver) happen(i int, tol float64, pending *bool) (stop bool, err error) {
	if s.jumped && s.varies {
		s.rank(i, s.t, s.y)
		s.order(i)
	}
	for j := range s.held {
		s.held[j] = false
	}
	s.next = i + 1
	s.holders(s.hold)
	m := &s.wave[i] // up to the end of the body
	if s.depth = m.depth + 1; s.depth+4 > s.opts.MaxCascade && len(s.names) < manyNames {
		s.names = append(s.names, s.memberName(m))
	}
	if m.depth > s.opts.MaxCascade {
		return false, &solvers.CascadeError{Place: s.place(nil), Events: slices.Clone(s.names), Max: s.opts.MaxCascade}
	}
	if err := s.until(m, pending); err != nil {
		return false, err
	}
	if !s.jumped {
		s.jumped = true
		copy(s.yg, s.y)
		copy(s.dg, s.d)
		copy(s.mg, s.m)
	}
	if s.warns() {
		s.meets.happens(i)
	}
	if stop, err = s.apply(m); stop || err != nil || m.kind != solvers.MarkFire {
		return stop, err
	}
	if err := s.reschedule(tol); err != nil {
		return false, err
	}
	if s.transient {
		s.lapse(i+1, tol)
	}
	if s.events[m.firing.Event].Settles {
		if err := s.arm(); err != nil {
			return false, err
		}
	}
	if s.opts.Each {
		if err := s.follow(tol); err != nil {
			return false, err
		}
		s.order(i + 1)
	}
	return false, nil
}

// reschedule finds the times of instants after a body. One that has passed is lost.
func (s *Solver) reschedule(tol float64) error {
	if err := s.sched.update(s.sys, s.d, s.t, tol); err != nil {
		return err
	}
	for _, i := range s.sched.lost {
		if in := &s.sched.list[i]; in.Pending {
			return &solvers.DelayError{Place: s.place(nil), Event: s.sched.name(i), Value: s.sched.times[i] - s.t}
		}
		s.warn(solvers.Warning{
			Kind: solvers.Past, T: s.t, Name: s.sched.name(i), Other: s.lastEvent(), Instant: i,
			Value: s.sched.times[i],
		})
	}
	return nil
}

// follow adds to the wave what the members before have set off.
func (s *Solver) follow(tol float64) error {
	s.due(s.t + tol)
	if len(s.guards) == 0 {
		return nil
	}
	return s.rearm()
}

// finish ends the run: at its end, or where an event has stopped it.
func (s *Solver) finish(stopped bool) error {
	s.done, s.stats.Stopped = true, stopped
	if stopped {
		s.stats.By = s.lastEvent()
	}
	s.mark = solvers.Mark{Kind: solvers.MarkFinal, T: s.t, Guard: -1, Instant: 1}
	if err := s.emit(s.y, s.d, s.m); err != nil {
		return err
	}
	return s.afterwards()
}

// hold keeps the modes as they are that m changes later.
func (s *group) hold(m *member) {
	switch m.kind {
	case solvers.MarkMode:
		s.held[s.guards[m.guard].Mode] = true
	case solvers.MarkRemode:
		for _, k := range s.sched.list[m.instant].Modes {
			s.held[k] = true
		}
	}
}

// due adds the instants up to t.
func (s *group) due(t float64) {
	for {
		i, nth, at := s.sched.take(t)
		if i < 0 {
			return
		}
		in := &s.sched.list[i]
		m := member{instant: i, nth: nth, at: at, guard: -1, here: s.sched.here(i), depth: s.depth}
		switch in.Kind {
		case solvers.InstantEnd:
			s.end, s.ends = m, true
			s.end.kind = solvers.MarkFinal
		case solvers.InstantSite:
			m.kind = solvers.MarkSite
			s.sites = append(s.sites, m)
		case solvers.InstantRemode:
			m.kind = solvers.MarkRemode
			s.wave = append(s.wave, m)
		default:
			m.kind, m.firing = solvers.MarkFire, solvers.Firing{Event: in.Event, Elem: in.Elem, Slot: in.Slot}
			m.priority = s.events[in.Event].Priority
			if s.events[in.Event].Once && s.historyAt(m.firing).count > 0 {
				continue
			}
			s.wave = append(s.wave, m)
		}
	}
}

// gather adds the guards whose root lies at the end of the trial step, within the tolerance: they fire there, or
// would within tol of time along the field.
func (s *Solver) gather(t float64, y []float64, tol float64) {
	f := s.slopeAt(s.trial)
	s.sys.GuardValues(t+tol, s.near.along(tol, f, y), s.rhoP, s.truthP)
	if s.warns() {
		s.meets.nearly(t, y, f)
	}
	for i := range s.guards {
		g := &s.guards[i]
		a := &s.arms[i]
		if g.Watch || !s.fires(i, a, s.rho[i], s.truth[i]) && !s.fires(i, a, s.rhoP[i], s.truthP[i]) {
			continue
		}
		if g.Kink {
			*a = arming{from: -1, band: s.watch.slides(i, s.often)}
			if s.kink = i; s.opts.Bends {
				s.bent = append(s.bent, i)
			}
			continue
		}
		if g.Crossing && !s.truth[i] {
			s.settle(i, a, s.rho[i], s.truth[i], -1)
			continue
		}
		here, there := math.Abs(s.rho[i]), math.Abs(s.rhoP[i])
		s.join(i, false, float64(4*max(here, there, math.Abs(s.rhoP[i]-s.rho[i]))))
	}
}

// bend ends the trial step at a kink of the right-hand side. Nothing changes there.
func (s *Solver) bend() error {
	s.often = max(s.often-(s.stats.Steps-s.latest), 0) + 4
	s.latest = s.stats.Steps
	return s.accept(solvers.End{Kind: solvers.EndRoot, Index: s.kink})
}

// lands reports whether a jump has brought the root function of guard i, which fires at roots alone, to zero: within
// what the last digits of the state and of the time make.
func lands(s *Solver, i int) bool {
	if !s.truth[i] || s.rho[i] == s.rhoWas[i] {
		return false
	}
	s.near.blur(0x1p-50)
	return math.Abs(s.rho[i]) <= float64(16*math.Abs(s.rhoP[i]-s.rho[i]))
}

// join adds guard i to the wave, where its event is not there by another one.
func (s *group) join(i int, caused bool, scale float64) {
	g := &s.guards[i]
	if g.Instant && slices.ContainsFunc(s.wave, func(m member) bool {
		return m.kind == solvers.MarkFire && m.guard >= 0 && m.firing.Event == g.Event && m.firing.Elem == g.Elem
	}) {
		s.arms[i] = arming{spent: true, from: -1, band: scale}
		return
	}
	m := member{guard: i, instant: -1, caused: caused, scale: scale, depth: s.depth}
	if g.Event < 0 {
		m.kind, m.priority = solvers.MarkMode, math.Inf(-1)
	} else {
		m.kind, m.firing, m.priority = solvers.MarkFire, solvers.Firing{Event: g.Event, Elem: g.Elem},
			s.events[g.Event].Priority
	}
	s.wave = append(s.wave, m)
	if s.opts.Each && g.Event >= 0 { // it waits, and joins again once its condition was false
		s.arms[i] = arming{spent: true, from: -1, band: scale}
	}
}

// lapse removes what does not happen any more from the wave, from member i on: executions that are not pending any
// more, and events that are given up because their condition ceased to hold.
func (s *group) lapse(i int, tol float64) {
	s.sys.GuardValues(s.t, s.y, s.rhoP, s.truthP)
	keep := s.wave[:i]
	for _, m := range s.wave[i:] {
		gone := false
		if m.kind == solvers.MarkFire {
			e := &s.events[m.firing.Event]
			gone = m.instant >= 0 && s.sched.list[m.instant].Pending && s.sched.times[m.instant] > s.t+tol
			for k := range s.guards {
				g := &s.guards[k]
				if e.Transient && g.Event == e.If && g.Elem == m.firing.Elem {
					gone = gone || !s.truthP[k] && !(s.rhoP[k] >= -m.scale) && !g.Instant ||
						g.Instant && k == m.guard && !(math.Abs(s.rhoP[k]) <= m.scale)
				}
			}
		}
		if !gone {
			keep = append(keep, m)
		}
	}
	s.wave = keep
}

// rank sets the priorities that vary, of the wave from member i on.
func (s *group) rank(i int, t float64, y []float64) {
	if !s.varies || i >= len(s.wave) {
		return
	}
	s.sys.(solvers.Prioritized).Priorities(t, y, s.priorities)
	for ; i < len(s.wave); i++ {
		if m := &s.wave[i]; m.kind == solvers.MarkFire && s.events[m.firing.Event].Varies {
			m.priority = s.priorities[s.base[m.firing.Event]+m.firing.Elem]
		}
	}
}

// lot draws the place of an event among those of equal priority: always the same for a seed, an element, the number of
// its firing and that of all events before the group.
func (s *group) lot(f solvers.Firing) uint64 {
	return elem.Lot(s.opts.Seed, s.base[f.Event]+f.Elem, s.historyAt(f).count, f.Slot, s.already)
}

// order sorts the wave from member i on: events by priority, then by lot or by file and element; then modes; then
// remodes.
func (s *group) order(i int) {
	if len(s.wave)-i < 2 && len(s.sites) < 2 { // the usual case
		return
	}
	slices.SortStableFunc(s.wave[i:], func(a, b member) int {
		if a.kind != b.kind {
			return cmp.Compare(a.kind, b.kind)
		}
		if a.priority == b.priority && s.opts.Shuffled && a.kind == solvers.MarkFire {
			if c := cmp.Compare(s.lot(a.firing), s.lot(b.firing)); c != 0 {
				return c
			}
		}
		return cmp.Or(-cmp.Compare(a.priority, b.priority), cmp.Compare(a.firing.Event, b.firing.Event),
			cmp.Compare(a.firing.Elem, b.firing.Elem), cmp.Compare(s.triggeredAt(a.instant), s.triggeredAt(b.instant)),
			cmp.Compare(a.guard, b.guard))
	})
	slices.SortStableFunc(s.sites, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.instant, b.instant))
	})
}

// triggeredAt tells which of several executions of an element was triggered first. They are at instants.
func (s *group) triggeredAt(instant int) int {
	if instant < 0 || len(s.triggered) == 0 {
		return 0
	}
	return s.triggered[instant]
}

func (s *group) memberName(m *member) string {
	switch {
	case m.kind == solvers.MarkFire:
		return s.events[m.firing.Event].ElemName(m.firing.Elem)
	case m.guard >= 0:
		return s.guardName(m.guard)
	}
	return s.sched.name(m.instant)
}

// until ends a step where m happens: the pending trial step, or one of length zero when m has a time of its own.
func (s *Solver) until(m *member, pending *bool) error {
	e := solvers.End{Kind: solvers.EndRoot, Index: m.guard}
	if m.instant >= 0 {
		e = solvers.End{Kind: solvers.EndClip, Index: m.instant, Nth: m.nth}
		if m.here {
			e.At |= solvers.EndHere
		}
	}
	if *pending {
		*pending = false
		if err := s.accept(e); err != nil || e.Kind != solvers.EndClip || !(m.at > s.t) {
			return err
		}
		s.t, s.anchor, s.fresh = m.at, m.at, false // the state is that of the end of the step
		return nil
	}
	t1 := s.t
	switch {
	case e.Kind == solvers.EndClip:
		if s.tiedTo && s.sched.list[e.Index].Fixed && m.at <= s.t {
			return nil
		}
		t1 = max(t1, m.at)
	case m.caused:
		return nil
	default:
		if !(math.Abs(s.watch.here().rho[m.guard]) <= m.scale) || cameWith(s, m) {
			return nil
		}
	}
	if s.kept == nil {
		s.kept, s.spare = s.newStep(), s.newStep()
	}
	st := s.kept
	st.T, st.H, st.T1, st.Y0 = s.t, 0, t1, s.y
	s.ready(st)
	st.Again, s.again = false, false
	s.method.Step(s.sys, st, false)
	s.stats.Evals += evals(&s.info, false)
	copy(st.Y1, s.y)
	clear(st.DQ)
	s.fresh = s.fresh && t1 == s.t
	s.t = t1
	s.tiedTo = e.Kind == solvers.EndClip && s.sched.list[e.Index].Fixed
	if s.sight.lagged != nil {
		if _, err := s.sight.lagged.Made(st, e); err != nil {
			return err
		}
	}
	return s.sink.Step(st, e)
}

// cameWith reports whether the root of m is that of an event of the group that has happened: it is found before the
// body of that one, and stays where it was whatever the body does to the condition.
func cameWith(s *Solver, m *member) bool {
	return s.jumped && slices.ContainsFunc(s.fired, func(x member) bool {
		return x.guard >= 0 && !s.near.apart(&past{t: s.t, y: s.yg, d: s.dg, m: s.mg}, &x, m)
	})
}

// holders calls f for what comes later in the group.
func (s *group) holders(f func(m *member)) {
	for j := s.next; j < len(s.wave); j++ {
		f(&s.wave[j])
	}
}

// release lets go of modes whose conditions a body has taken off their roots: they change with it.
func (s *group) release() {
	if !slices.Contains(s.held, true) {
		return
	}
	s.sys.Enter(s.d, s.m)
	s.sys.GuardValues(s.clock.now(), s.y, s.mid.Rho, s.mid.Truth)
	off := func(m *member) bool {
		return m.kind == solvers.MarkMode && m.guard >= 0 && !(math.Abs(s.mid.Rho[m.guard]) <= m.scale)
	}
	s.holders(func(m *member) {
		if off(m) {
			s.held[s.guards[m.guard].Mode] = false
		}
	})
	s.holders(func(m *member) { // another condition of the mode may be at its root
		if !off(m) {
			s.hold(m)
		}
	})
}

// apply makes m happen: it applies the body and chooses the modes that hold after it.
func (s *Solver) apply(m *member) (stop bool, err error) {
	s.mark = solvers.Mark{Kind: m.kind, T: s.t, Guard: m.guard, Instant: m.instant, Caused: m.caused && m.guard >= 0}
	copy(s.ym, s.y)
	copy(s.dm, s.d)
	copy(s.mm, s.m)
	if m.kind == solvers.MarkFire {
		if stop, err = s.applyBody(m); err != nil {
			return false, err
		}
		s.release()
	} else if m.kind == solvers.MarkMode {
		h := s.historyOf(m.guard)
		s.stats.Switches++
		if g := s.guards[m.guard]; g.Piece {
			s.mark.Firing.Elem = int(s.m[g.Mode])
		}
		if h.fired(s.t, s.span) && !h.regular() {
			return false, s.chatters(s.guardName(m.guard), h, m.guard, 0,
				"switched 100 times within 1e-9 of the time span")
		}
	}
	if n := s.stats.Events + s.stats.Switches; n > s.opts.MaxEvents {
		h, name := &s.hist[0], s.memberName(m)
		if m.kind == solvers.MarkFire {
			h = s.historyAt(m.firing)
		} else if m.guard >= 0 {
			h = s.historyOf(m.guard)
		}
		return false, s.chatters(name, h, m.guard, s.opts.MaxEvents,
			"and other events happened more than max_events times")
	}
	s.fresh, s.again = false, false
	s.anchor, s.count = s.t, 0
	s.clock.unknown = true
	s.applyModes(m)
	if m.kind == solvers.MarkFire && !s.events[m.firing.Event].Unguarded || s.algebra.solves != nil ||
		!same(s.m, s.mm) {
		s.watch.rounds.known = false
	}
	if s.algebra.solves != nil {
		s.y = s.settleState(s.trial, s.y)
		why := moded
		if m.kind == solvers.MarkFire {
			why = bodied
		}
		if err := s.consist(s.held, why); err != nil {
			return false, err
		}
	}
	return stop, s.emit(s.ym, s.dm, s.mm)
}

// applyBody applies the body of the event m, whose guards then wait to fire again.
func (s *Solver) applyBody(m *member) (stop bool, err error) {
	h := s.historyAt(m.firing)
	f := solvers.Firing{Event: m.firing.Event, Elem: m.firing.Elem, Nth: h.count, Slot: m.firing.Slot}
	if s.events[f.Event].Slots > 0 {
		if f.Slot = s.freeSlot(f); f.Slot < 0 {
			e := &s.events[f.Event]
			return false, &solvers.PendingError{
				Place: s.place(nil), Event: s.events[e.Then].ElemName(f.Elem),
				Max: e.Slots,
			}
		}
		s.triggered[s.slots[f.Event]+f.Elem*s.events[f.Event].Slots+f.Slot] = s.stats.Events
	}
	guards := s.guardsOf(f)
	for _, i := range guards {
		s.rhoP[i] = s.watch.band(m, i)
	}
	if m.guard >= 0 { // the body sees conditions of time as the guard does
		s.mark.T = s.clock.now()
	}
	stop = s.sys.Affect(f, s.mark.T, s.ym, s.dm, s.yp, s.dp)
	s.tol.claim(s.sys, false)
	s.mark.Firing, s.mark.Stop = f, stop
	s.stats.Events++
	s.lastFired, s.lastTime = f, s.t
	crowd := h.fired(s.t, s.span)
	s.y = s.settleState(s.trial, s.y)
	copy(s.y, s.yp)
	copy(s.d, s.dp)
	if !simd.Finite(s.y) || !simd.Finite(s.d) {
		at := s.place(nil)
		copy(at.Y, s.ym)
		copy(at.D, s.dm)
		body := f
		what := "the state after the body of " + s.lastEvent()
		return false, &solvers.NonFiniteError{Place: at, What: what, Stage: -1, Body: &body}
	}
	if !m.caused {
		s.fired = append(s.fired, *m)
	}
	if crowd && m.guard >= 0 && !h.regular() {
		return false, s.chatters(s.lastEvent(), h, m.guard, 0, "fired 100 times within 1e-9 of the time span")
	}
	if m.guard >= 0 && h.stutters() {
		return false, s.chatters(s.lastEvent(), h, m.guard, 0, "fired three times within rounding")
	}
	if (m.guard >= 0 || m.instant >= 0 && !s.sched.list[m.instant].Fixed) && h.accumulates() {
		return false, s.chatters(s.lastEvent(), h, m.guard, 0, "fires after times that shrink to nothing")
	}
	if s.events[f.Event].Once {
		s.sched.over(f.Event, f.Elem)
	}
	for _, i := range guards {
		if s.guards[i].Instant && i != m.guard {
			continue
		}
		s.arms[i] = arming{spent: true, from: -1, band: s.rhoP[i]}
		s.dead[i] = s.events[f.Event].Once
		if !m.caused { // else a jump has carried its condition over the threshold
			s.resting[i], s.anyRest = true, true
		}
		s.watch.misses.fired(i)
	}
	s.restart = true
	return stop, nil
}

// applyModes chooses the modes that hold after m.
func (s *group) applyModes(m *member) {
	s.sys.Enter(s.d, s.m)
	s.sys.Choose(s.clock.now(), s.y, s.held, s.mp)
	if m.kind == solvers.MarkRemode && s.sched.list[m.instant].Opens {
		for _, k := range s.sched.list[m.instant].Modes {
			if s.held[k] { // what closes it comes at the same time, and moves by itself
				s.mp[k] = 1
			}
		}
	}
	changed := false
	for i := range s.m {
		if math.Float64bits(s.m[i]) != math.Float64bits(s.mp[i]) {
			s.m[i], changed = s.mp[i], true
		}
	}
	if changed {
		s.sys.Enter(s.d, s.m)
	}
}

// afterwards executes the events after the end of the run, each from the state at the end.
func (s *Solver) afterwards() error {
	for e := range s.events {
		if !s.events[e].After {
			continue
		}
		m := member{kind: solvers.MarkFire, firing: solvers.Firing{Event: e}, guard: -1, instant: -1, caused: true}
		if _, err := s.apply(&m); err != nil {
			return err
		}
	}
	return nil
}

// freeSlot returns a slot for what f triggers, or -1.
func (s *group) freeSlot(f solvers.Firing) int {
	e := &s.events[f.Event]
	first := s.slots[f.Event] + f.Elem*e.Slots
	for k := range e.Slots {
		if s.sched.times[first+k] >= solvers.Never {
			return k
		}
	}
	return -1
}

// rearm reads the guards after a wave, and adds those that the wave made true to the next one. A guard that has fired
// at this time waits for a step of nonzero length.
func (s *Solver) rearm() error {
	copy(s.rhoWas, s.rho)
	s.sys.GuardValues(s.clock.now(), s.y, s.rho, s.truth)
	if s.jumped && s.warns() {
		s.watch.brink(s.rhoWas)
		s.meets.movedBack()
	}
	for i := range s.guards {
		g := &s.guards[i]
		a := &s.arms[i]
		if s.rho[i] != s.rho[i] {
			return s.badGuard(i)
		}
		switch {
		case s.dead[i] || g.Watch:
		case a.spent && g.Crossing:
			if math.Abs(s.rho[i]) > a.band {
				*a = arming{on: true, side: roots.Sign(s.rho[i]), from: -1}
				s.resting[i] = false
			}
		case a.spent:
			if !s.truth[i] && s.rho[i] < -a.band {
				*a = arming{on: true, from: -1}
				s.resting[i] = false
			}
		case g.Kink:
			s.settle(i, a, s.rho[i], s.truth[i], -1)
		case g.Instant && a.on:
			if lands(s, i) {
				s.join(i, true, 0)
			} else {
				s.settle(i, a, s.rho[i], s.truth[i], -1)
			}
		case g.Event < 0: // Choose has just made it false
			*a = arming{on: !s.truth[i], from: -1}
		case s.fires(i, a, s.rho[i], s.truth[i]) && (!g.Crossing || s.truth[i]):
			s.join(i, true, 0)
		default:
			s.settle(i, a, s.rho[i], s.truth[i], -1)
		}
	}
	return nil
}

// observe reads sites of a group.
func (s *Solver) observe(sites []member, pending *bool) error {
	for i := range sites {
		m := &sites[i]
		if err := s.until(m, pending); err != nil {
			return err
		}
		s.meets.noteRead(s.t, m.instant)
		s.mark = solvers.Mark{Kind: solvers.MarkSite, T: s.t, Guard: -1, Instant: m.instant}
		y, d := s.y, s.d
		if s.jumped {
			y, d = s.yg, s.dg
		}
		if err := s.emit(y, d, s.m); err != nil {
			return err
		}
	}
	return nil
}

// boundsOf counts the bounds of integrals in the wave.
func (s *group) boundsOf() (n int) {
	for i := range s.wave {
		if m := &s.wave[i]; m.kind == solvers.MarkRemode && len(s.sched.list[m.instant].Modes) > 0 {
			n++
		}
	}
	return n
}

// inGroup calls f with all that is in the group, in its order.
func (s *group) inGroup(f func(m *member)) {
	for _, list := range [2][]member{s.wave, s.sites} {
		for i := range list {
			f(&list[i])
		}
	}
	if s.ends {
		f(&s.end)
	}
}
