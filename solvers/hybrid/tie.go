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
	switch s.swap(both); {
	case !alike(s.alt[0], s.alt[1]) || !alike(s.altD[0], s.altD[1]):
		s.tied(solvers.Warning{Kind: solvers.Tie, T: s.t, Name: s.memberName(a), Other: s.memberName(b), Apart: apart},
			a.cause(), b.cause())
	case apart && s.oneSided(both[0], both[1]):
		s.tied(solvers.Warning{Kind: solvers.OneSided, T: s.t, Name: s.memberName(a), Other: s.memberName(b)},
			a.cause(), b.cause())
	}
}

// besideNext warns of what member i of the wave may change places with: what came just before, if it is of the first
// round, and what comes next.
func (s *ties) besideNext(i, round int) {
	m := &s.wave[i]
	if round == 0 {
		s.justAfter(m)
	}
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
	s.justSwitched()
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

// besideLast warns of periodic events of the group whose times can come to lie behind the last one that they may have,
// where they do not happen, if that changes something.
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
func (s *ties) undoes(e *member) bool { return s.acts(e, s.t, s.yg, s.dg, s.mg) }

// acts reports whether the body of e, at a time and left limits, changes the state or what the field does until later.
func (s *ties) acts(e *member, t float64, left, d, m []float64) bool {
	f := solvers.Firing{Event: e.firing.Event, Elem: e.firing.Elem, Nth: s.historyAt(e.firing).count - 1}
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
	for n := range s.yi {
		s.yi[n] = math.FMA(soon, f[n], y[n])
	}
	s.sys.GuardValues(t+soon, s.yi, s.mid.Rho, s.mid.Truth)
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
		for n := range s.yi {
			s.yi[n] = math.FMA(soon, f[n], y[n])
		}
		s.sys.GuardValues(t+soon, s.yi, s.mid.Rho, s.mid.Truth)
		s.lapsing[k] = s.lapsing[k][:0]
		for i := range s.guards {
			if g := &s.guards[i]; g.Event >= 0 && !twoSided(g) && !g.Watch && !s.dead[i] && !s.mid.Truth[i] {
				s.lapsing[k] = append(s.lapsing[k], i)
			}
		}
		if len(s.lapsing[k]) == 0 {
			continue
		}
		for n := range s.yi {
			s.yi[n] = math.FMA(-soon, f[n], y[n])
		}
		s.sys.GuardValues(t-soon, s.yi, s.mid.Rho, s.mid.Truth)
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
		for n := range s.yi {
			s.yi[n] = math.FMA(4*soon, f[n], s.y[n])
		}
		s.sys.GuardValues(s.t+float64(4*soon), s.yi, s.rhoP, s.truthP)
		for _, i := range s.lapsing[k] {
			if k > 0 && slices.Contains(s.lapsing[0], i) || !s.truthP[i] {
				continue
			}
			g := &s.guards[i]
			b := member{
				kind: solvers.MarkFire, firing: solvers.Firing{Event: g.Event, Elem: g.Elem}, guard: i, instant: -1,
			}
			for j := range s.came {
				if e := &s.came[j]; s.apartAt(s.t, s.yg, s.dg, s.mg, e, &b) {
					s.tied(solvers.Warning{
						Kind: solvers.Tie, T: s.t, Name: s.memberName(e), Other: s.memberName(&b), Apart: true,
						Value: float64(float64(k) * soon),
					}, e.cause(), b.cause())
					break
				}
			}
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
	for n := range s.yi {
		s.yi[n] = math.FMA(4*soon, f[n], s.y[n])
	}
	s.sys.GuardValues(s.t+float64(4*soon), s.yi, s.rhoP, s.truthP)
	for _, i := range s.almost {
		g, a := &s.guards[i], &s.arms[i]
		if a.spent || s.dead[i] || s.fires(i, a, s.rhoP[i], s.truthP[i]) {
			continue
		}
		b, kind := member{
			kind: solvers.MarkFire, firing: solvers.Firing{Event: g.Event, Elem: g.Elem}, guard: i,
			instant: -1,
		}, solvers.Tie
		if g.Event < 0 {
			b.kind, b.firing, kind = solvers.MarkMode, solvers.Firing{}, solvers.OneSided
			if !s.switches(i, soon) {
				continue
			}
		}
		for k := range s.fired {
			if e := &s.fired[k]; s.apartAt(s.t, s.yg, s.dg, s.mg, e, &b) {
				s.tied(solvers.Warning{
					Kind: kind, T: s.t, Name: s.memberName(e), Other: s.memberName(&b), Apart: true, Value: soon,
				}, e.cause(), b.cause())
				break
			}
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
		b := member{kind: solvers.MarkMode, guard: i, instant: -1}
		w := solvers.Warning{Kind: solvers.OneSided, T: s.t, Other: solvers.Finish, Value: soon}
		if g.Event >= 0 {
			b.kind, b.firing = solvers.MarkFire, solvers.Firing{Event: g.Event, Elem: g.Elem}
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
	for n := range s.yi {
		s.yi[n] = math.FMA(2*soon, f[n], s.yg[n])
	}
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

// justAfter warns of events that came just before b, where they would in the other order give another result, or
// results that change at other rates. b must not be a consequence of them.
func (s *ties) justAfter(b *member) {
	w := &s.was
	if b.kind != solvers.MarkFire || b.caused || len(w.fired) == 0 {
		return
	}
	for i := range w.fired {
		a := &w.fired[i]
		if a.firing.Event == b.firing.Event && a.firing.Elem == b.firing.Elem ||
			!s.soon(w.t, s.t, a, b) || !s.coming(b) || !s.apartBefore(a, b) {
			continue
		}
		// What happened is taken back for a look at the other order.
		s.y, w.y, s.d, w.d, s.m, w.m = w.y, s.y, w.d, s.d, w.m, s.m
		both := [2]solvers.Firing{a.firing, b.firing}
		both[0].Nth, both[1].Nth = s.historyAt(a.firing).count-1, s.historyAt(b.firing).count
		s.sys.Enter(s.d, s.m)
		kind, matters := solvers.Tie, true
		switch s.swap(both); {
		case !alike(s.alt[0], s.alt[1]) || !alike(s.altD[0], s.altD[1]):
		case s.oneSided(both[0], both[1]):
			kind = solvers.OneSided
		default:
			matters = false
		}
		s.y, w.y, s.d, w.d, s.m, w.m = w.y, s.y, w.d, s.d, w.m, s.m
		s.sys.Enter(s.d, s.m)
		if matters {
			s.tied(solvers.Warning{
				Kind: kind, T: s.t, Name: s.memberName(a), Other: s.memberName(b), Apart: true, Value: s.t - w.t,
			}, a.cause(), b.cause())
		}
	}
}

// justSwitched warns of changes of modes and events, or of two changes of modes, of which one came so soon behind the
// other that it may have come before, if both change something: roots are no more certain than the tolerance.
func (s *ties) justSwitched() {
	if _, ok := s.sys.(solvers.Separator); !ok || s.algebraic {
		return
	}
	w := &s.was
	for n := range s.modeChanges {
		b := &s.modeChanges[n]
		for i := range w.fired {
			s.behind(&modeChange{w.fired[i], w.y, w.d, [2][]float64{w.m, w.m}, w.t}, b)
		}
		for i := range s.lately {
			if a := &s.lately[i]; a.member.guard != b.member.guard {
				s.behind(a, b)
			}
		}
	}
	for n := range s.lately {
		for i := range s.fired {
			if !s.fired[i].caused {
				s.behind(&s.lately[n], &modeChange{s.fired[i], s.yg, s.dg, [2][]float64{s.mg, s.mg}, s.t})
			}
		}
	}
}

// behind warns of b if it comes so soon behind a. An event has the same modes before and behind it, or none.
func (s *ties) behind(a, b *modeChange) {
	turns := func(t *modeChange) bool {
		if t.member.kind == solvers.MarkFire {
			return !s.silent(&t.member) && s.acts(&t.member, t.t, t.y, t.d, t.m[0])
		}
		defer s.sys.Enter(s.d, s.m)
		return s.unlike(s.rates(t.y, t.d, t.m[0]), s.rates(t.y, t.d, t.m[1]), t.y)
	}
	if s.soon(a.t, b.t, &a.member, &b.member) && turns(a) && turns(b) &&
		s.switching(&b.member, a.t, b.t-a.t, a.y, a.d, a.m[0]) &&
		s.apartAt(a.t, a.y, a.d, a.m[0], &a.member, &b.member) {
		s.tied(solvers.Warning{
			Kind: solvers.OneSided, T: b.t, Name: s.memberName(&a.member), Other: s.memberName(&b.member),
			Value: b.t - a.t,
		}, a.member.cause(), b.member.cause())
	}
}

// switching reports whether m was about to come before another cause, where the run was at (t, y) with modes, soon
// later. What has no root comes at its time.
func (s *ties) switching(m *member, t, soon float64, y, d, modes []float64) bool {
	if m.guard < 0 {
		return true
	}
	f := s.rates(y, d, modes)
	rho := make([]float64, len(s.guards))
	s.sys.GuardValues(t, y, rho, s.mid.Truth)
	for n := range s.yi {
		s.yi[n] = math.FMA(float64(4*soon), f[n], y[n])
	}
	s.sys.GuardValues(t+float64(4*soon), s.yi, s.mid.Rho, s.mid.Truth)
	s.sys.Enter(s.d, s.m)
	return roots.Sign(rho[m.guard]) != roots.Sign(s.mid.Rho[m.guard])
}

// coming reports whether b was about to come before the last events.
func (s *ties) coming(b *member) bool {
	w := &s.was
	soon := float64(4 * (s.t - w.t))
	if b.guard < 0 {
		times := make([]float64, len(s.sched.list))
		s.sys.InstantTimes(w.d, times)
		at := times[b.instant]
		if p := s.sched.list[b.instant].Period; p >= 0 {
			at = math.FMA(float64(b.nth), times[p], at)
		}
		return math.Abs(at-s.t) <= soon
	}
	f := s.rates(w.y, w.d, w.m)
	for n := range s.yi {
		s.yi[n] = math.FMA(soon, f[n], w.y[n])
	}
	rho, truth := make([]float64, len(s.guards)), make([]bool, len(s.guards))
	s.sys.GuardValues(w.t, w.y, rho, truth)
	s.sys.GuardValues(w.t+soon, s.yi, s.rhoP, s.truthP)
	s.sys.Enter(s.d, s.m)
	if s.guards[b.guard].Crossing {
		return roots.Sign(rho[b.guard]) != roots.Sign(s.rhoP[b.guard])
	}
	return !truth[b.guard] && s.truthP[b.guard]
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

// swap writes to s.alt and s.altD what two events make of the present state in this order and in the other.
func (s *ties) swap(both [2]solvers.Firing) {
	for k := range 2 {
		s.sys.Affect(both[k], s.t, s.y, s.d, s.ym, s.dm)
		s.sys.Enter(s.dm, s.m)
		s.sys.Affect(both[1-k], s.t, s.ym, s.dm, s.alt[k], s.altD[k])
		s.sys.Enter(s.d, s.m)
	}
}

// oneSided reports whether what comes after a and b changes at different rates when b is moved to the one side of a
// and to the other. With A and B the bodies and f the field, moving b to a later time changes it by
//
//	B'(Ay) f(Ay) - f(BAy),
//
// and moving b to an earlier time by A'(By) (B'(y) f(y) - f(By)). The integrals change by r(Ay) - r(BAy) and r(y) -
// r(By).
func (s *ties) oneSided(a, b solvers.Firing) bool {
	n, d := len(s.y), len(s.d)
	eps := float64(0x1p-20 * s.span)
	type point struct{ y, d, k []float64 }
	body := func(f solvers.Firing, t float64, p *point) *point {
		q := &point{make([]float64, n), make([]float64, d), make([]float64, s.size.N+s.size.Q)}
		s.sys.Enter(p.d, s.m)
		s.sys.Affect(f, t, p.y, p.d, q.y, q.d)
		return q
	}
	field := func(p *point) {
		m := make([]float64, s.size.M)
		s.sys.Enter(p.d, s.m)
		s.sys.Choose(s.t, p.y, nil, m)
		s.sys.Enter(p.d, m)
		s.sys.Eval(s.t, p.y, p.k)
	}
	// along returns p moved along k.
	along := func(p *point, k []float64) *point {
		q := &point{y: make([]float64, n), d: p.d}
		for i := range q.y {
			q.y[i] = math.FMA(eps, k[i], p.y[i])
		}
		return q
	}
	y := &point{s.y, s.d, make([]float64, s.size.N+s.size.Q)}
	s.sys.Enter(s.d, s.m)
	s.sys.Eval(s.t, s.y, y.k) // in the modes before the events
	ya, yb := body(a, s.t, y), body(b, s.t, y)
	yab := body(b, s.t, ya)
	for _, p := range []*point{ya, yb, yab} {
		field(p)
	}
	later := body(b, s.t+eps, along(ya, ya.k))
	c := body(b, s.t+eps, along(y, y.k))
	rate := make([]float64, n)
	for i := range rate {
		rate[i] = (c.y[i]-yb.y[i])/eps - yb.k[i]
	}
	moved := along(yb, rate)
	moved.d = c.d
	earlier := body(a, s.t, moved)
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
