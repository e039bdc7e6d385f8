package hybrid

import (
	"math"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/roots"
)

// ties is the part of a Solver that tells of what comes at one time, or nearly, and might come in another order. It
// changes nothing of the run.
type ties struct {
	*problem
	*moment
	*trials
	*told
	*readings
	*armed
	*firings
	*vicinity
	*group
	sched     *schedule
	algebraic bool // there are algebraic equations

	was         before
	modeChanges []modeChange
	lately      []modeChange // those of the group before that had some
	almost      []int        // guards that were about to fire
	lapsing     [2][]int     // guards whose conditions were about to be true no more: very soon, and soon
	came        []member     // of the group, if there are such guards
	lastRead    float64      // when an observation was last read
	lastSite    []int        // the instants of those at that time
	alt, altD   [2][]float64
}

func newTies(s *Solver) ties {
	t, z := ties{
		problem: &s.problem, moment: &s.moment, trials: &s.trials, told: &s.told, readings: &s.readings,
		armed: &s.armed, firings: &s.firings, vicinity: &s.near, group: &s.group, sched: &s.sched,
	}, s.size
	t.was.y, t.was.d, t.was.m = make([]float64, z.N), make([]float64, z.D), make([]float64, z.M)
	for k := range t.alt {
		t.alt[k], t.altD[k] = make([]float64, z.N), make([]float64, z.D)
	}
	return t
}

// opens begins a group.
func (s *ties) opens() {
	s.modeChanges, s.almost, s.came = s.modeChanges[:0], s.almost[:0], s.came[:0]
	for k := range s.lapsing {
		s.lapsing[k] = s.lapsing[k][:0]
	}
}

// tie warns when a and b, next to each other at one time, give different results in the other order, or results that
// change at different rates to either side. Two events that their priorities order, and that cannot come apart, are
// no tie.
func (s *ties) tie(a, b *member) {
	if a.kind != solvers.MarkFire || b.kind != solvers.MarkFire || b.caused {
		return
	}
	apart := s.apart(s.dg, a, b)
	if a.priority != b.priority && !apart {
		return
	}
	both := [2]solvers.Firing{a.firing, b.firing}
	for k := range both {
		both[k].Nth = s.historyAt(both[k]).count
	}
	w := solvers.Warning{Kind: solvers.Tie, T: s.t, Name: s.memberName(a), Other: s.memberName(b), Apart: apart}
	if !s.swap(both, s.t, s.y, s.d, s.m) {
		if !apart || !s.oneSided(both, s.t, s.y, s.d, s.m) {
			return
		}
		w.Kind, w.Apart = solvers.OneSided, false
	}
	s.tied(w, a.cause(), b.cause())
}

// besideNext warns of what member i of the wave may change places with that comes next.
func (s *ties) besideNext(i int) {
	m := &s.wave[i]
	if len(s.lapsing[1]) > 0 && !m.caused {
		s.came = append(s.came, *m)
	}
	if i+1 == len(s.wave) {
		return
	}
	s.tie(m, &s.wave[i+1])
	const most = 8 // events in between
	from := i + 1
	for from < min(len(s.wave), i+1+most) && s.wave[from].kind == solvers.MarkFire {
		from++
	}
	for j := from; j < len(s.wave) && s.wave[from].kind != solvers.MarkFire; j++ {
		s.crossModeChange(m, &s.wave[j])
	}
}

// besideGroup warns of what the events of the group may change places with. It reports whether these come so soon
// behind the start that what stood at its threshold there may meet it now.
func (s *ties) besideGroup(stopped bool) (near bool) {
	if s.changed = s.jumped && !(alike(s.y, s.yg) && alike(s.d, s.dg)); s.changed {
		s.justRead()
		s.prevented()
	}
	s.lifted()
	s.soonAfter()
	for i := range s.fired {
		if m := &s.fired[i]; s.isRead(m) {
			s.besideModeChange(m, s.memberName(m))
		}
	}
	s.besideStart(stopped)
	s.besideLast(stopped)
	// roots may lie a little behind
	return s.changed && s.t-s.sched.times[solvers.InstantStart] <= float64(0x1p-40*s.span)
}

// tied warns of a and b, and notes them.
func (s *ties) tied(w solvers.Warning, a, b solvers.Cause) { s.tiedIn(s.m, w, a, b) }

// tiedIn is tied for causes whose times are those of the modes m.
func (s *ties) tiedIn(m []float64, w solvers.Warning, a, b solvers.Cause) {
	w.Instant = -1
	s.warn(w)
	s.noteTie(m, w, a, b)
}

// noteTie notes that a and b come at one time.
func (s *ties) noteTie(m []float64, w solvers.Warning, a, b solvers.Cause) {
	a.Nth, b.Nth = 0, 0 // so that there are not too many
	both, soon := [2]solvers.Cause{a, b}, w.Value != 0
	if i := slices.IndexFunc(s.stats.Ties, func(t solvers.Meeting) bool { return t.Causes == both }); i >= 0 {
		s.stats.Ties[i].Soon = s.stats.Ties[i].Soon || soon
		return
	}
	s.stats.Ties = append(s.stats.Ties, solvers.Meeting{
		Causes: both, Soon: soon, T: w.T, Y: slices.Clone(s.y), D: slices.Clone(s.d), M: slices.Clone(m),
	})
}

// apart reports whether a and b can come at different times, where discretes before them are d.
func (s *vicinity) apart(d []float64, a, b *member) bool {
	if a.instant >= 0 && b.kind == solvers.MarkStart && s.sched.list[a.instant].Fixed &&
		s.sched.list[b.instant].Fixed &&
		a.at == s.sched.times[b.instant] { // as most first doses
		return false
	}
	if sep, ok := s.sys.(solvers.Separator); ok {
		return sep.Apart(s.t, s.y, d, a.cause(), b.cause())
	}
	return a.instant < 0 || b.instant < 0 || !s.sched.list[a.instant].Fixed || !s.sched.list[b.instant].Fixed
}

func (m *member) cause() solvers.Cause {
	if m.guard >= 0 {
		return solvers.Cause{Guard: m.guard}
	}
	return solvers.Cause{Guard: -1, Instant: m.instant, Nth: m.nth}
}

// beside warns of events of the group that changed something and can move to the other side of what m reads.
func (s *ties) beside(m *member, what string) {
	if w := &s.was; w.jumped {
		all := beside{s: s, fired: w.fired, to: m.cause()}
		for i := range w.fired {
			if e := &w.fired[i]; !s.silent(e) && s.soon(w.t, m.at, e, m) && s.apartBefore(e, m) {
				all.meets(i, solvers.Warning{T: m.at, Other: what, Value: m.at - w.t})
			}
		}
		if all.n > 0 {
			return
		}
	}
	if len(s.fired) == 0 {
		return
	}
	changed := !alike(s.y, s.yg) || !alike(s.d, s.dg)
	all := beside{s: s, fired: s.fired, to: m.cause()}
	for i := range s.fired {
		e := &s.fired[i]
		read := what == solvers.Finish && s.isRead(e)
		if (read || changed && !s.silent(e)) && s.apart(s.dg, e, m) && (read || len(s.fired) == 1 || s.alters(e)) {
			all.meets(i, solvers.Warning{T: s.t, Other: what})
		}
	}
}

// beside is what meets something that is read, or a bound of the run: events that fired.
type beside struct {
	s     *ties
	fired []member
	to    solvers.Cause
	n     int   // of them
	told  []int // the events that were warned of
}

// meets notes event i of those that fired, and warns of it unless another element of it has been told.
func (b *beside) meets(i int, w solvers.Warning) {
	const most = 16
	if b.n++; b.n > most {
		return
	}
	e := &b.fired[i]
	if slices.Contains(b.told, e.firing.Event) {
		b.s.noteTie(b.s.m, w, e.cause(), b.to)
		return
	}
	b.told = append(b.told, e.firing.Event)
	w.Kind, w.Name, w.Apart = solvers.Tie, b.s.memberName(e), true
	b.s.tied(w, e.cause(), b.to)
}

// alters reports whether the body of e changes what was before the group; that of a consequence counts in any case.
func (s *ties) alters(e *member) bool {
	if e.caused {
		return true
	}
	y, d := make([]float64, s.size.N), make([]float64, s.size.D)
	f := e.firing
	f.Nth = s.historyAt(f).count - 1
	defer s.sys.Enter(s.d, s.m)
	s.sys.Enter(s.dg, s.m)
	s.sys.Affect(f, s.t, s.yg, s.dg, y, d)
	return !alike(y, s.yg) || !alike(d, s.dg)
}

// besideStart warns of events of the group whose times can come to lie before the start, where they do not happen, if
// that changes something. Conditions that hold at the start have no such time, nor has what a body sets.
func (s *ties) besideStart(stopped bool) {
	since := s.t - s.sched.times[solvers.InstantStart]
	if !(s.span > 0) || since > float64(closeBy*s.span) {
		return
	}
	start := member{kind: solvers.MarkStart, instant: int(solvers.InstantStart), guard: -1, at: s.t}
	changed := stopped || !alike(s.y, s.yg) || !alike(s.d, s.dg)
	all := beside{s: s, fired: s.fired, to: start.cause()}
	for i := range s.fired {
		e := &s.fired[i]
		if e.guard >= 0 || s.sched.set[e.instant] > 0 || s.sched.list[e.instant].Pending || s.silent(e) ||
			!s.apart(s.dg, e, &start) || !changed && !s.isRead(e) && !s.undoes(e) {
			continue
		}
		all.meets(i, solvers.Warning{T: s.t, Other: solvers.Start, Value: since})
	}
}

// besideLast warns where a periodic event of the group coincides with its own last time: a small change of a parameter
// can push it past that, and then it no longer fires. It does not warn if nothing changes by that.
func (s *ties) besideLast(stopped bool) {
	if len(s.fired) == 0 {
		return
	}
	changed := stopped || !alike(s.y, s.yg) || !alike(s.d, s.dg)
	for i := range s.fired {
		e := &s.fired[i]
		if e.guard >= 0 || s.sched.list[e.instant].To < 0 || s.silent(e) {
			continue
		}
		last := member{instant: s.sched.list[e.instant].To, guard: -1}
		early := s.sched.times[last.instant] - s.t
		if early > float64(closeBy*s.span) || !s.apart(s.dg, e, &last) || !changed && !s.isRead(e) {
			continue
		}
		all := beside{s: s, fired: s.fired, to: last.cause()}
		all.meets(i, solvers.Warning{T: s.t, Other: solvers.Last, Value: max(early, 0)})
	}
}

// undoes reports whether the body B of e, which changes nothing of the state y before the group, would take back what
// the field f does until a later time: whether B'(y) f(y) and f(y) differ.
func (s *ties) undoes(e *member) bool { return s.acts(s.past(e), s.t, s.yg, s.dg, s.mg) }

// past is the firing of an event that has happened.
func (s *ties) past(e *member) solvers.Firing {
	return solvers.Firing{Event: e.firing.Event, Elem: e.firing.Elem, Nth: s.historyAt(e.firing).count - 1}
}

// acts reports whether a body, at a time and left limits, changes the state or what the field does until later.
func (s *ties) acts(f solvers.Firing, t float64, left, d, m []float64) bool {
	eps := float64(0x1p-20 * s.span)
	rate := s.rates(left, d, m)
	y, yp, dp := make([]float64, s.size.N), make([]float64, s.size.N), make([]float64, s.size.D)
	for i := range y {
		y[i] = math.FMA(eps, rate[i], left[i])
	}
	s.sys.Affect(f, t+eps, y, d, yp, dp)
	s.sys.Enter(s.d, s.m)
	for i := range y {
		if differ((yp[i]-left[i])/eps, rate[i], math.Abs(left[i])/s.span) {
			return true
		}
	}
	return !alike(dp, d)
}

// silent reports whether nothing that is read at its time depends on whether m has happened.
func (s *problem) silent(m *member) bool {
	return m.kind == solvers.MarkFire && s.events[m.firing.Event].Silent
}

// isRead reports whether objectives read the state where m happens: what happens outside of the run is not read.
func (s *problem) isRead(m *member) bool {
	return m.kind == solvers.MarkFire && s.events[m.firing.Event].Read
}

// before is what happened last before the present group of events, and the left limits there.
type before struct {
	t       float64
	y, d, m []float64
	fired   []member
	jumped  bool // something changed
}

// closeBy is the part of the time span within which causes are so near to each other that derivatives, which hold in
// the order in which they come, say little about what a small change does.
const closeBy = 1e-9

// remember makes the last group the one before. Its events are in s.fired.
func (s *ties) remember() {
	w := &s.was
	if len(s.modeChanges) > 0 {
		s.lately = append(s.lately[:0], s.modeChanges...)
	}
	if len(s.fired) == 0 {
		return
	}
	w.fired, s.fired = s.fired, w.fired[:0]
	w.y, s.yg, w.d, s.dg, w.m, s.mg = s.yg, w.y, s.dg, w.d, s.mg, w.m
	w.t, w.jumped = s.lastTime, s.changed
}

// soon reports whether b at time u comes so soon after a at time t that their order says little.
func (s *ties) soon(t, u float64, a, b *member) bool {
	near := float64(closeBy * s.span)
	if a.guard >= 0 || b.guard >= 0 {
		near = s.closeTo()
	}
	return u > t && u-t <= near
}

// apartAt is apart at another time and state.
func (s *vicinity) apartAt(t float64, y, d, m []float64, a, b *member) bool {
	if sep, ok := s.sys.(solvers.Separator); ok {
		s.sys.Enter(d, m)
		defer s.sys.Enter(s.d, s.m)
		return sep.Apart(t, y, d, a.cause(), b.cause())
	}
	return s.apart(d, a, b)
}

// apartBefore is apart where the last events came.
func (s *ties) apartBefore(a, b *member) bool {
	w := &s.was
	return s.apartAt(w.t, w.y, w.d, w.m, a, b)
}

// nearly notes the guards that are about to fire soon after the trial step, with the field f at its end.
func (s *ties) nearly(t float64, y, f []float64) {
	s.almost = s.almost[:0]
	soon := s.closeTo()
	s.guardsAlong(t, soon, f, y, s.mid.Rho, s.mid.Truth)
	for i := range s.guards {
		g := &s.guards[i]
		a := &s.arms[i]
		if g.Watch || g.Kink || s.fires(i, a, s.rho[i], s.truth[i]) || s.fires(i, a, s.rhoP[i], s.truthP[i]) {
			continue // it changes nothing, or has come
		}
		if s.fires(i, a, s.mid.Rho[i], s.mid.Truth[i]) && s.passes(i, s.mid.Truth[i]) {
			s.almost = append(s.almost, i)
		}
	}
	s.lapses(t, y, f)
}

// lapses notes the guards of events whose conditions cease to hold at about the end of the trial step, with the field f
// there. Nothing happens as they do, but what else comes at that time may lift them again: they have become true then,
// or have never ceased to be.
func (s *ties) lapses(t float64, y, f []float64) {
	for k, soon := range s.closeBy() {
		s.guardsAlong(t, soon, f, y, s.mid.Rho, s.mid.Truth)
		s.lapsing[k] = s.lapsing[k][:0]
		for i := range s.guards {
			if g := &s.guards[i]; g.Event >= 0 && !twoSided(g) && !g.Watch && !s.dead[i] && !s.mid.Truth[i] {
				s.lapsing[k] = append(s.lapsing[k], i)
			}
		}
		if len(s.lapsing[k]) == 0 {
			continue
		}
		s.guardsAlong(t, -soon, f, y, s.mid.Rho, s.mid.Truth)
		s.lapsing[k] = slices.DeleteFunc(s.lapsing[k], func(i int) bool { return !s.mid.Truth[i] })
	}
}

// closeBy returns the times within which causes come at one time, and within which their order says little.
func (s *ties) closeBy() [2]float64 { return [2]float64{float64(closeBy * s.span), s.closeTo()} }

// lifted warns of what came as conditions ceased to hold that hold behind it: where it comes first they have not
// ceased, and where they cease first, an event happens.
func (s *ties) lifted() {
	if len(s.came) == 0 {
		return
	}
	f := s.rates(s.y, s.d, s.m)
	s.sys.Enter(s.d, s.m)
	for k, soon := range s.closeBy() {
		if len(s.lapsing[k]) == 0 {
			continue
		}
		s.guardsAlong(s.t, 4*soon, f, s.y, s.rhoP, s.truthP)
		for _, i := range s.lapsing[k] {
			if k > 0 && slices.Contains(s.lapsing[0], i) || !s.truthP[i] {
				continue
			}
			s.meets(s.came, i, solvers.Warning{Kind: solvers.Tie, Value: float64(float64(k) * soon)})
		}
	}
}

// prevented warns of events of the group that kept others from firing that were about to.
func (s *ties) prevented() {
	if len(s.almost) == 0 || len(s.fired) == 0 {
		return
	}
	soon := s.closeTo()
	f := s.work[s.size.N:]
	s.sys.Eval(s.t, s.y, f)
	s.guardsAlong(s.t, 4*soon, f, s.y, s.rhoP, s.truthP)
	for _, i := range s.almost {
		g, a := &s.guards[i], &s.arms[i]
		if a.spent || s.dead[i] || s.fires(i, a, s.rhoP[i], s.truthP[i]) || g.Event < 0 && !s.switches(i, soon) {
			continue
		}
		kind := solvers.Tie
		if g.Event < 0 {
			kind = solvers.OneSided
		}
		s.meets(s.fired, i, solvers.Warning{Kind: kind, Value: soon})
	}
}

// ofGuard is what happens where guard i is met.
func (s *ties) ofGuard(i int) member {
	if g := &s.guards[i]; g.Event >= 0 {
		return member{
			kind: solvers.MarkFire, firing: solvers.Firing{Event: g.Event, Elem: g.Elem}, guard: i, instant: -1,
		}
	}
	return member{kind: solvers.MarkMode, guard: i, instant: -1}
}

// meets warns of the first of some members of the group that can come at another time than guard i.
func (s *ties) meets(list []member, i int, w solvers.Warning) {
	b := s.ofGuard(i)
	for k := range list {
		if e := &list[k]; s.apartAt(s.t, s.yg, s.dg, s.mg, e, &b) {
			w.T, w.Name, w.Other, w.Apart = s.t, s.memberName(e), s.memberName(&b), true
			s.tied(w, e.cause(), b.cause())
			return
		}
	}
}

// soonBehindEnd warns of guards that are about to be met soon behind the end of the run, where they are not, if that
// would change something.
func (s *ties) soonBehindEnd() {
	if len(s.almost) == 0 || s.changed {
		return // what the group changed, it may have prevented
	}
	soon := s.closeTo()
	copy(s.yg, s.y)
	copy(s.dg, s.d)
	copy(s.mg, s.m)
	y, d := make([]float64, s.size.N), make([]float64, s.size.D)
	for _, i := range s.almost {
		g, a := &s.guards[i], &s.arms[i]
		if a.spent || s.dead[i] {
			continue
		}
		b, w := s.ofGuard(i), solvers.Warning{Kind: solvers.OneSided, T: s.t, Other: solvers.Finish, Value: soon}
		if g.Event >= 0 {
			b.firing.Nth = s.historyAt(b.firing).count
			s.sys.Affect(b.firing, s.t, s.y, s.d, y, d)
			s.sys.Enter(s.d, s.m)
			if !s.isRead(&b) && alike(y, s.y) && alike(d, s.d) {
				continue
			}
			w.Kind, w.Apart = solvers.Tie, true
		} else if !s.switches(i, soon) {
			continue
		}
		if s.apart(s.dg, &b, &s.end) {
			w.Name = s.memberName(&b)
			s.tied(w, b.cause(), s.end.cause())
		}
	}
}

// switches reports whether rates were to change at the root of guard i, soon behind the left limit of the group.
func (s *ties) switches(i int, soon float64) bool {
	modes := slices.Clone(s.mg)
	f := s.rates(s.yg, s.dg, s.mg)
	s.along(2*soon, f, s.yg)
	s.sys.Choose(s.t+float64(2*soon), s.yi, nil, modes)
	m := modes[s.guards[i].Mode]
	copy(modes, s.mg)
	modes[s.guards[i].Mode] = m
	unlike := !same(modes, s.mg) && (s.guards[i].Seen || s.unlike(f, s.rates(s.yg, s.dg, modes), s.yg))
	s.sys.Enter(s.d, s.m)
	return unlike
}

// closeTo returns the time within which the order of a root and another cause says little: roots are no more certain
// than the tolerance.
func (s *vicinity) closeTo() float64 {
	if s.opts.Fixed > 0 {
		return float64(closeBy * s.span)
	}
	return float64(max(closeBy, s.tol.Rel) * s.span)
}

// soonAfter warns of events and changes of modes of which one came so soon behind another that it may have come before,
// if both change something: roots are no more certain than the tolerance.
func (s *ties) soonAfter() {
	w := &s.was
	event := func(m *member) *modeChange {
		return &modeChange{*m, s.yg, s.dg, [2][]float64{s.mg, s.mg}, s.t}
	}
	_, separates := s.sys.(solvers.Separator)
	modes := separates && !s.algebraic
	for i := 0; i < len(w.fired) && s.t-w.t <= s.closeTo(); i++ {
		a := &modeChange{w.fired[i], w.y, w.d, [2][]float64{w.m, w.m}, w.t}
		for k := range s.fired {
			s.behind(a, event(&s.fired[k]))
		}
		for k := 0; k < len(s.modeChanges) && modes; k++ {
			s.behind(a, &s.modeChanges[k])
		}
	}
	for i := 0; i < len(s.lately) && modes; i++ {
		for k := range s.fired {
			s.behind(&s.lately[i], event(&s.fired[k]))
		}
		for k := range s.modeChanges {
			s.behind(&s.lately[i], &s.modeChanges[k])
		}
	}
}

// behind warns of b if it comes so soon behind a. An event has the same modes before and behind it, or none.
func (s *ties) behind(a, b *modeChange) {
	fires := func(t *modeChange) bool { return t.member.kind == solvers.MarkFire }
	same, events := a.member.guard == b.member.guard && a.member.instant == b.member.instant, fires(a) && fires(b)
	if events {
		same = a.member.firing.Event == b.member.firing.Event && a.member.firing.Elem == b.member.firing.Elem
	}
	turns := func(t *modeChange) bool {
		if fires(t) {
			return !s.silent(&t.member) && s.acts(s.past(&t.member), t.t, t.y, t.d, t.m[0])
		}
		defer s.sys.Enter(s.d, s.m)
		return s.unlike(s.rates(t.y, t.d, t.m[0]), s.rates(t.y, t.d, t.m[1]), t.y)
	}
	if same || b.member.caused || events && b.member.depth > 0 || !s.soon(a.t, b.t, &a.member, &b.member) ||
		!events && !(turns(a) && turns(b)) ||
		!s.coming(&b.member, a.t, b.t-a.t, a.y, a.d, a.m[0]) ||
		!s.apartAt(a.t, a.y, a.d, a.m[0], &a.member, &b.member) {
		return
	}
	w := solvers.Warning{
		Kind: solvers.OneSided, T: b.t, Name: s.memberName(&a.member), Other: s.memberName(&b.member), Value: b.t - a.t,
	}
	if events {
		both := [2]solvers.Firing{s.past(&a.member), s.past(&b.member)}
		if w.Apart = true; s.swap(both, b.t, a.y, a.d, a.m[0]) {
			w.Kind = solvers.Tie
		} else if !s.oneSided(both, b.t, a.y, a.d, a.m[0]) {
			return
		}
	}
	s.tied(w, a.member.cause(), b.member.cause())
}

// coming reports whether m was about to come before another cause, where the run was at (t, y) with modes, soon later.
func (s *ties) coming(m *member, t, soon float64, y, d, modes []float64) bool {
	if m.guard < 0 {
		times := make([]float64, len(s.sched.list))
		s.sys.InstantTimes(d, times)
		at := times[m.instant]
		if p := s.sched.list[m.instant].Period; p >= 0 {
			at = math.FMA(float64(m.nth), times[p], at)
		}
		return math.Abs(at-t-soon) <= float64(4*soon)
	}
	f := s.rates(y, d, modes)
	rho := make([]float64, len(s.guards))
	s.sys.GuardValues(t, y, rho, s.mid.Truth)
	s.guardsAlong(t, float64(4*soon), f, y, s.mid.Rho, s.mid.Truth)
	s.sys.Enter(s.d, s.m)
	return roots.Sign(rho[m.guard]) != roots.Sign(s.mid.Rho[m.guard])
}

// justRead warns of events that change something just after an observation, and can come before it.
func (s *ties) justRead() {
	for _, instant := range s.lastSite {
		site := member{kind: solvers.MarkSite, instant: instant, guard: -1, at: s.lastRead}
		all := beside{s: s, fired: s.fired, to: site.cause()}
		for i := range s.fired {
			if e := &s.fired[i]; !s.silent(e) && s.soon(s.lastRead, s.t, &site, e) && s.apart(s.dg, e, &site) {
				all.meets(i, solvers.Warning{T: s.t, Other: solvers.Observation, Value: s.t - s.lastRead})
			}
		}
	}
}

// noteRead notes an observation, and forgets those before its time.
func (s *ties) noteRead(t float64, instant int) {
	if t != s.lastRead {
		s.lastRead, s.lastSite = t, s.lastSite[:0]
	}
	s.lastSite = append(s.lastSite, instant)
}

// swap reports whether two events make something else of a state in the other order.
func (s *ties) swap(both [2]solvers.Firing, t float64, y, d, m []float64) bool {
	for k := range 2 {
		s.sys.Enter(d, m)
		s.sys.Affect(both[k], t, y, d, s.ym, s.dm)
		s.sys.Enter(s.dm, m)
		s.sys.Affect(both[1-k], t, s.ym, s.dm, s.alt[k], s.altD[k])
	}
	s.sys.Enter(s.d, s.m)
	return !alike(s.alt[0], s.alt[1]) || !alike(s.altD[0], s.altD[1])
}

// oneSided reports whether what comes after two events, at a time and left limits, changes at different rates when the
// second, b, is moved to the one side of the first, a, and to the other. With A and B the bodies and f the field,
// moving b to a later time changes it by
//
//	B'(Ay) f(Ay) - f(BAy),
//
// and moving b to an earlier time by A'(By) (B'(y) f(y) - f(By)). The integrals change by r(Ay) - r(BAy) and r(y) -
// r(By).
func (s *ties) oneSided(both [2]solvers.Firing, t float64, left, disc, modes []float64) bool {
	a, b, n, d := both[0], both[1], len(left), len(disc)
	eps := float64(0x1p-20 * s.span)
	type point struct{ y, d, k []float64 }
	body := func(f solvers.Firing, at float64, p *point) *point {
		q := &point{make([]float64, n), make([]float64, d), make([]float64, s.size.N+s.size.Q)}
		s.sys.Enter(p.d, modes)
		s.sys.Affect(f, at, p.y, p.d, q.y, q.d)
		return q
	}
	field := func(p *point) {
		m := make([]float64, s.size.M)
		s.sys.Enter(p.d, modes)
		s.sys.Choose(t, p.y, nil, m)
		s.sys.Enter(p.d, m)
		s.sys.Eval(t, p.y, p.k)
	}
	// along returns p moved along k.
	along := func(p *point, k []float64) *point {
		q := &point{y: make([]float64, n), d: p.d}
		for i := range q.y {
			q.y[i] = math.FMA(eps, k[i], p.y[i])
		}
		return q
	}
	y := &point{left, disc, make([]float64, s.size.N+s.size.Q)}
	s.sys.Enter(disc, modes)
	s.sys.Eval(t, left, y.k) // in the modes before the events
	ya, yb := body(a, t, y), body(b, t, y)
	yab := body(b, t, ya)
	for _, p := range []*point{ya, yb, yab} {
		field(p)
	}
	later := body(b, t+eps, along(ya, ya.k))
	c := body(b, t+eps, along(y, y.k))
	rate := make([]float64, n)
	for i := range rate {
		rate[i] = (c.y[i]-yb.y[i])/eps - yb.k[i]
	}
	moved := along(yb, rate)
	moved.d = c.d
	earlier := body(a, t, moved)
	s.sys.Enter(s.d, s.m)
	for i := range n {
		r := (later.y[i]-yab.y[i])/eps - yab.k[i]
		l := (earlier.y[i] - yab.y[i]) / eps
		if differ(r, l, max(math.Abs(yab.k[i]), math.Abs(yab.y[i])/s.span)) {
			return true
		}
	}
	for i := n; i < len(y.k); i++ {
		if differ(ya.k[i]-yab.k[i], y.k[i]-yb.k[i], math.Abs(y.k[i])) {
			return true
		}
	}
	for i := range d {
		r, l := (later.d[i]-yab.d[i])/eps, (earlier.d[i]-yab.d[i])/eps
		if differ(r, l, math.Abs(yab.d[i])/s.span) {
			return true
		}
	}
	return false
}

// alike reports whether x and y agree to rounding.
func alike(x, y []float64) bool {
	for i, v := range x {
		if d := math.Abs(v - y[i]); d > float64(1e-12*max(math.Abs(v), math.Abs(y[i]))) {
			return false
		}
	}
	return true
}
