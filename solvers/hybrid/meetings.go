package hybrid

import (
	"math"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/roots"
)

// mostMeetings limits how many meetings of a run are noted, mostParties how many parties to a meeting are told from
// each other, and mostLately how many groups before the present one may be close to it.
const mostMeetings, mostParties, mostLately = 256, 8, 4

// closeBy is the part of the time span within which causes come at one time.
const closeBy = 1e-9

// meetings is the part of a Solver that notes what comes at one time, or so soon one after the other that their order
// says little, and could come apart. Whether anything comes of that is for others to say, who know how bodies, rates
// and what is read change. It changes nothing of the run.
type meetings struct {
	*problem
	*moment
	*trials
	*told
	*readings
	*armed
	*firings
	*vicinity
	*group
	sched *schedule

	parties  []member // of a meeting, the first of each
	came     []member // what has come in the group at a time of its own
	lately   [mostLately]past
	turn     int      // the one of lately that is the oldest
	last     float64  // the time of the latest
	rising   []nearBy // guards that were about to fire
	lapsing  []nearBy // guards whose conditions were about to hold no more
	lastRead float64  // when an observation was last read
	lastSite []int    // the instants of those at that time
	alt      [2][]float64
	altD     [2][]float64
	times    []float64 // [instants] in the past
	margins  []float64 // [guards] there
}

// past is a time of the run, with the left limits there, and what came.
type past struct {
	t       float64
	y, d, m []float64
	came    []member
}

// nearBy is a guard whose threshold lies near the end of a step, and how long before or after it: 0 for at that time.
type nearBy struct {
	guard   int
	gap     float64
	rate    float64 // of its margin
	rounded bool    // steps bring it to where it is, and round
	back    bool    // what came moved it back over the threshold, though it may not have stayed there
}

// forget forgets another run.
func (s *meetings) forget() {
	s.came, s.rising, s.lapsing, s.lastSite = s.came[:0], s.rising[:0], s.lapsing[:0], s.lastSite[:0]
	s.last, s.turn = math.Inf(-1), 0
	for i := range s.lately {
		s.lately[i].t, s.lately[i].came = s.last, s.lately[i].came[:0]
	}
	for k := range s.alt {
		if s.alt[k] == nil {
			s.alt[k], s.altD[k] = make([]float64, s.size.N), make([]float64, s.size.D)
			s.times, s.margins = make([]float64, len(s.sched.list)), make([]float64, len(s.guards))
		}
	}
}

// opens begins a group.
func (s *meetings) opens() {
	s.came, s.rising, s.lapsing = s.came[:0], s.rising[:0], s.lapsing[:0]
}

// happens notes that member i of the wave comes, and warns if it gives another result behind the next one, which
// nothing moves away from it.
func (s *meetings) happens(i int) {
	m := &s.wave[i]
	if !m.caused && m.depth == 0 {
		s.came = append(s.came, *m)
	}
	if i+1 == len(s.wave) {
		return
	}
	n := &s.wave[i+1]
	if m.kind == solvers.MarkFire && n.kind == solvers.MarkFire && !n.caused && m.priority == n.priority &&
		m.party == n.party && s.swap(m, n) {
		s.warn(solvers.Warning{
			Kind: solvers.Tie, T: s.t, Name: s.memberName(m), Other: s.memberName(n), Instant: -1,
		})
	}
}

// swap reports whether two events make something else of the present state in the other order.
func (s *meetings) swap(a, b *member) bool {
	both := [2]solvers.Firing{a.firing, b.firing}
	for k := range both {
		both[k].Nth = s.historyAt(both[k]).count
	}
	for k := range both {
		s.sys.Enter(s.d, s.m)
		s.sys.Affect(both[k], s.t, s.y, s.d, s.ym, s.dm)
		s.sys.Enter(s.dm, s.m)
		s.sys.Affect(both[1-k], s.t, s.ym, s.dm, s.alt[k], s.altD[k])
	}
	s.sys.Enter(s.d, s.m)
	return !alike(s.alt[0], s.alt[1]) || !alike(s.altD[0], s.altD[1])
}

// look finds the parties to the meeting at (t, y): what may come at other times than the rest of the group, and
// moves as one. It notes which meet.
func (s *meetings) look(t float64, y []float64) {
	if !s.warns() {
		return
	}
	at := &past{t: t, y: y, d: s.d, m: s.m}
	s.atLimits(at)
	n := len(s.wave) + len(s.sites)
	if s.ends {
		n++
	}
	if n+len(s.bent) < 2 {
		return
	}
	s.parties = s.parties[:0]
	s.inGroup(func(m *member) { s.joinParty(m, at) })
	for j := range s.parties {
		for i := range j {
			s.noteParties(i, j, at)
		}
	}
	for _, i := range s.bent {
		n := len(s.parties)
		s.joinParty(&member{guard: i, instant: -1, kind: solvers.MarkMode}, at)
		if len(s.parties) == n {
			continue // it moves as something else does
		}
		for j := range n {
			a, b := s.endLast(j, n)
			s.note(&s.stats.Bends, a, b, 0, at.t)
		}
	}
}

// startOf is the start of the run, as what others may come before.
func (s *meetings) startOf() member {
	at := s.sched.times[solvers.InstantStart]
	return member{kind: solvers.MarkStart, instant: int(solvers.InstantStart), guard: -1, at: at}
}

// atLimits notes what comes at the start, or at the last time that it may come, where it does not come if it is moved;
// and conditions that are about to be met as the run ends. Conditions that hold at the start have no such time, nor has
// what a body sets. Knots and bounds at the start show in second derivatives.
func (s *meetings) atLimits(at *past) {
	of := s.startOf()
	start := &of
	since := at.t - start.at
	for i := range s.wave {
		m := &s.wave[i]
		if m.guard >= 0 {
			continue
		}
		in := &s.sched.list[m.instant]
		switch {
		case m.kind == solvers.MarkRemode && s.opts.Bends && since <= s.eventTol(at.t, 0) && s.apart(at, m, start):
			s.note(&s.stats.Bends, m, start, 0, at.t)
		case m.kind != solvers.MarkFire:
			continue
		case since <= float64(closeBy*s.span) && s.span > 0 && s.sched.set[m.instant] == 0 && !in.Pending:
			s.meet(m, start, since, at)
		}
		if in.To < 0 || m.kind != solvers.MarkFire {
			continue
		}
		last := &member{kind: solvers.MarkStart, instant: in.To, guard: -1}
		if early := s.sched.times[in.To] - at.t; early <= float64(closeBy*s.span) {
			s.meet(m, last, max(early, 0), at)
		}
	}
	if s.ends {
		for _, x := range s.rising {
			of := s.ofGuard(x.guard)
			s.meet(&of, &s.end, x.gap, at)
		}
	}
}

// standing notes the conditions, kinks among them, that stand at their thresholds where the run begins, but for
// rounding, and leave them: moved a little, the run begins on the other side. What rests there is for the System to
// find, but for unknowns, whose rates are not known. What is read there at a time of its own moves as rates are behind
// it.
func (s *meetings) standing() {
	if _, ok := s.sys.(solvers.Separator); !ok || !(s.span > 0) {
		return
	}
	f, eps, start := s.trial.K[:s.size.N+s.size.Q], float64(0x1p-20*s.span), s.startOf() // K is not in use yet
	s.sys.Eval(s.t, s.y, f)
	s.guardsAlong(s.t, eps, f, s.y, s.rhoP, s.truthP)
	at, some := &past{t: s.t, y: s.y, d: s.d, m: s.m}, false
	since := s.t - start.at + max(s.eventTol(s.t, 0), float64(closeBy*s.span))
	for i := range s.guards {
		g, rate := &s.guards[i], math.Abs(s.rhoP[i]-s.rho[i])/eps
		a := s.ofGuard(i)
		switch {
		case g.Watch || !(math.Abs(s.rho[i]) <= float64(rate*since)) || s.rho[i] == 0 && rate == 0 && !g.Unknowns:
		case !g.Kink:
			s.meet(&a, &start, 0, at)
			some = true
		case s.opts.Bends && s.apart(at, &a, &start):
			s.note(&s.stats.Bends, &a, &start, 0, s.t)
		}
	}
	if some {
		modes := make([]float64, s.size.M)
		s.sys.Choose(s.t+eps, s.along(eps, f, s.y), nil, modes)
		some = !same(s.m, modes)
	}
	for k := range s.sched.list {
		if in := &s.sched.list[k]; some && in.Kind == solvers.InstantSite && !in.Fixed &&
			math.Abs(s.sched.times[k]-start.at) <= s.eventTol(start.at, 0) {
			s.meet(&member{kind: solvers.MarkSite, guard: -1, instant: k}, &start, 0, at)
		}
	}
}

// joinParty finds the party of m. What a jump made happen has no time of its own.
func (s *meetings) joinParty(m *member, at *past) {
	if m.caused {
		return
	}
	for k := range s.parties {
		if !s.apart(at, &s.parties[k], m) {
			m.party = k
			return
		}
	}
	if m.party = len(s.parties); m.party < mostParties {
		s.parties = append(s.parties, *m)
	} else {
		m.party--
	}
}

// endLast returns two parties, that of the end of the run behind the other.
func (s *meetings) endLast(i, j int) (first, last *member) {
	if s.ends && i == s.end.party {
		i, j = j, i
	}
	return &s.parties[i], &s.parties[j]
}

// noteParties notes that parties i and j meet, unless both only read: the order of two observations, or of one and the
// end, does not matter where both are there.
func (s *meetings) noteParties(i, j int, at *past) {
	reads := func(m *member) bool { return m.kind == solvers.MarkSite || m.kind == solvers.MarkFinal }
	a, b := s.endLast(i, j)
	if !(reads(a) && reads(b)) {
		s.note(&s.stats.Meetings, a, b, 0, at.t)
	}
}

// meet notes that two causes meet, the second a gap behind the first, if they can come apart.
func (s *meetings) meet(a, b *member, gap float64, at *past) {
	if s.apart(at, a, b) {
		s.note(&s.stats.Meetings, a, b, gap, at.t)
	}
}

// note adds what two causes make to a list. Those of periodic events are the same each time, so that there are not too
// many.
func (s *meetings) note(list *[]solvers.Meeting, a, b *member, gap, t float64) {
	m := solvers.Meeting{Causes: [2]solvers.Cause{a.cause(), b.cause()}, Gap: gap, T: t}
	m.Causes[0].Nth, m.Causes[1].Nth = 0, 0
	for i := range *list {
		if x := &(*list)[i]; x.Many == nil && x.Causes == m.Causes {
			x.Gap, x.Rounded = max(x.Gap, gap), x.Rounded || b.rounded
			return
		}
	}
	m.Names, m.Rounded = [2]string{s.partyName(a), s.partyName(b)}, b.rounded
	s.add(list, m)
}

// add adds a meeting to a list. Unless somebody asks for meetings, it warns of those.
func (s *meetings) add(list *[]solvers.Meeting, m solvers.Meeting) {
	if len(*list) == mostMeetings {
		return
	}
	*list = append(*list, m)
	if list == &s.stats.Meetings && !s.opts.Meetings {
		s.warn(m.Warning())
	}
}

func (s *meetings) partyName(m *member) string {
	switch {
	case m.kind == solvers.MarkSite:
		return solvers.Observation
	case m.kind == solvers.MarkFinal:
		return solvers.Finish
	case m.kind != solvers.MarkStart:
		return s.memberName(m)
	case m.instant == int(solvers.InstantStart):
		return solvers.Start
	}
	return solvers.Last
}

// cause is why a member comes.
func (m *member) cause() solvers.Cause {
	if m.guard >= 0 {
		return solvers.Cause{Guard: m.guard}
	}
	return solvers.Cause{Guard: -1, Instant: m.instant, Nth: m.nth}
}

// ofGuard is what happens where guard i is met.
func (s *meetings) ofGuard(i int) member {
	m := member{kind: solvers.MarkMode, guard: i, instant: -1}
	if g := &s.guards[i]; g.Event >= 0 {
		m.kind, m.firing = solvers.MarkFire, solvers.Firing{Event: g.Event, Elem: g.Elem}
	}
	return m
}

// nearly notes the conditions that come to hold soon after the trial step, or cease to about its end, with the field f
// there. Nothing happens as they cease to, but what else comes at that time may lift them again: they have become true
// then, or have never ceased to be.
func (s *meetings) nearly(t float64, y, f []float64) {
	s.rising, s.lapsing = s.rising[:0], s.lapsing[:0]
	soon := s.closeTo()
	s.guardsAlong(t, soon, f, y, s.mid.Rho, s.mid.Truth)
	for i := range s.guards {
		g, a := &s.guards[i], &s.arms[i]
		if g.Watch || g.Kink || s.dead[i] {
			continue
		}
		come := s.fires(i, a, s.rho[i], s.truth[i]) || s.fires(i, a, s.rhoP[i], s.truthP[i])
		if !come && s.fires(i, a, s.mid.Rho[i], s.mid.Truth[i]) && s.passes(i, s.mid.Truth[i]) {
			s.rising = append(s.rising, s.nearTo(i, soon))
		}
	}
	s.lapses(t, y, f)
}

// lapses notes the conditions that cease to hold at about (t, y), with the field f there. s.mid has the guards soon
// behind.
func (s *meetings) lapses(t float64, y, f []float64) {
	soon := s.closeTo()
	for i := range s.guards {
		if g := &s.guards[i]; g.Event >= 0 && !g.Watch && !g.Crossing && !s.dead[i] && !s.mid.Truth[i] {
			x := s.nearTo(i, soon)
			x.rounded = t > s.sched.times[solvers.InstantStart] && !(g.Clock && s.rho[i] == 0)
			s.lapsing = append(s.lapsing, x)
		}
	}
	if len(s.lapsing) > 0 {
		s.guardsAlong(t, -soon, f, y, s.mid.Rho, s.mid.Truth)
		s.lapsing = slices.DeleteFunc(s.lapsing, func(x nearBy) bool { return !s.mid.Truth[x.guard] })
	}
}

// atStart notes the conditions that cease to hold where the run begins, if anything happens there.
func (s *meetings) atStart() {
	if len(s.wave) == 0 || len(s.guards) == 0 {
		return
	}
	f := s.rates(s.y, s.d, s.m)
	s.sys.Enter(s.d, s.m)
	s.guardsAlong(s.t, s.closeTo(), f, s.y, s.mid.Rho, s.mid.Truth)
	s.lapses(s.t, s.y, f)
}

// nearTo returns how near guard i is to its threshold, where s.mid has the guards soon behind.
func (s *meetings) nearTo(i int, soon float64) nearBy {
	x := nearBy{guard: i, rate: math.Abs(s.mid.Rho[i]-s.rho[i]) / soon}
	switch x.gap = math.Abs(s.rho[i]) / x.rate; {
	case !(x.gap <= soon):
		x.gap = soon
	case x.gap <= float64(closeBy*s.span):
		x.gap = 0
	}
	return x
}

// movedBack notes which conditions that were about to change have been moved back by a wave.
func (s *meetings) movedBack() {
	if len(s.rising)+len(s.lapsing) == 0 {
		return
	}
	far := 4 * s.closeTo()
	for k := range s.rising {
		x := &s.rising[k]
		x.back = x.back || !s.guards[x.guard].Crossing && s.rho[x.guard] < -float64(far*x.rate)
	}
	for k := range s.lapsing {
		x := &s.lapsing[k]
		x.back = x.back || s.rho[x.guard] > float64(far*x.rate)
	}
}

// besideGroup notes what the events of the group may change places with.
func (s *meetings) besideGroup() {
	s.changed = s.jumped && !(alike(s.y, s.yg) && alike(s.d, s.dg))
	if len(s.came) == 0 && len(s.sites) == 0 && !s.ends {
		return
	}
	at := &past{t: s.t, y: s.y, d: s.d, m: s.m}
	if s.jumped {
		at.y, at.d, at.m = s.yg, s.dg, s.mg
	}
	s.justRead(at)
	s.interferes(at)
	for i := range s.lately {
		if p := &s.lately[i]; s.t-p.t <= s.closeTo() {
			s.soonAfter(p)
		}
	}
	if len(s.came) > 0 {
		p := &s.lately[s.turn]
		s.turn = (s.turn + 1) % mostLately
		p.t, p.came = at.t, append(p.came[:0], s.came...)
		p.y, p.d, p.m = append(p.y[:0], at.y...), append(p.d[:0], at.d...), append(p.m[:0], at.m...)
		s.last = p.t
	}
}

// interferes notes what kept conditions from coming to hold, or from ceasing to, that were about to.
func (s *meetings) interferes(at *past) {
	if len(s.rising)+len(s.lapsing) == 0 || len(s.came) == 0 {
		return
	}
	f := s.rates(s.y, s.d, s.m)
	s.sys.Enter(s.d, s.m)
	s.guardsAlong(s.t, 4*s.closeTo(), f, s.y, s.rhoP, s.truthP)
	first := func(x nearBy) { // of what came that it can come apart from
		b := s.ofGuard(x.guard)
		b.rounded = x.rounded
		for k := range s.came {
			if a := &s.came[k]; x.rounded || s.apart(at, a, &b) {
				s.note(&s.stats.Meetings, a, &b, x.gap, at.t)
				return
			}
		}
	}
	for _, x := range s.rising {
		if a := &s.arms[x.guard]; x.back || !a.spent && !s.dead[x.guard] && !s.fires(x.guard, a, s.rhoP[x.guard],
			s.truthP[x.guard]) {
			first(x)
		}
	}
	for _, x := range s.lapsing {
		if x.back || s.truthP[x.guard] {
			first(x)
		}
	}
}

// soonAfter notes what has come so soon behind a group before that it may have come first.
func (s *meetings) soonAfter(p *past) {
	for k := range p.came {
		a := &p.came[k]
		for i := range s.came {
			s.behind(p, a, &s.came[i])
		}
		for i := range s.sites {
			s.behind(p, a, &s.sites[i])
		}
		if s.ends {
			s.behind(p, a, &s.end)
		}
	}
}

// behind notes that b comes so soon behind a that it may have come first.
func (s *meetings) behind(p *past, a, b *member) {
	at := s.t
	if b.guard < 0 {
		at = b.at
	}
	same := a.kind == b.kind && a.guard == b.guard && a.instant == b.instant
	if a.kind == solvers.MarkFire && b.kind == solvers.MarkFire {
		same = a.firing.Event == b.firing.Event && a.firing.Elem == b.firing.Elem
	}
	if !same && s.soon(p.t, at, a, b) && s.wasComing(b, at-p.t, p) {
		s.meet(a, b, at-p.t, p)
	}
}

// soon reports whether b at time u comes so soon after a at time t that their order says little.
func (s *meetings) soon(t, u float64, a, b *member) bool {
	near := float64(closeBy * s.span)
	if a.guard >= 0 || b.guard >= 0 {
		near = s.closeTo()
	}
	return u > t && u-t <= near
}

// wasComing reports whether m was about to come, soon later, before what came in the past did.
func (s *meetings) wasComing(m *member, soon float64, p *past) bool {
	if m.guard < 0 {
		s.sys.InstantTimes(p.d, s.times)
		at := s.times[m.instant]
		if of := s.sched.list[m.instant].Period; of >= 0 {
			at = math.FMA(float64(m.nth), s.times[of], at)
		}
		return math.Abs(at-p.t-soon) <= float64(4*soon)
	}
	f := s.rates(p.y, p.d, p.m)
	s.sys.GuardValues(p.t, p.y, s.margins, s.mid.Truth)
	s.guardsAlong(p.t, float64(4*soon), f, p.y, s.mid.Rho, s.mid.Truth)
	s.sys.Enter(s.d, s.m)
	return roots.Sign(s.margins[m.guard]) != roots.Sign(s.mid.Rho[m.guard])
}

// justRead notes what comes just after an observation, and can come before it. Of modes that change just behind the
// start, standing tells.
func (s *meetings) justRead(at *past) {
	begins := s.lastRead <= s.sched.times[solvers.InstantStart]
	for _, instant := range s.lastSite {
		site := &member{kind: solvers.MarkSite, instant: instant, guard: -1, at: s.lastRead}
		for i := range s.came {
			m := &s.came[i]
			counts := m.kind == solvers.MarkFire && s.changed || m.kind != solvers.MarkFire && !begins
			if counts && s.soon(s.lastRead, s.t, site, m) {
				s.meet(m, site, s.t-s.lastRead, at)
			}
		}
	}
}

// noteRead notes an observation, and forgets those before its time.
func (s *meetings) noteRead(t float64, instant int) {
	if t != s.lastRead {
		s.lastRead, s.lastSite = t, s.lastSite[:0]
	}
	s.lastSite = append(s.lastSite, instant)
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
