package hybrid

import (
	"math"
	"slices"

	"odes.dev/odes/solvers"
)

// edges is the part of a Solver that tells of guards that stand on their threshold at the start and move with what
// derivatives are taken by. On one side an event fires that does not fire on the other, or the run begins in another
// mode.
type edges struct {
	*problem
	*moment
	*trials
	*told
	*readings
	*vicinity
	sched *schedule
	meets *meetings

	standing []int // guards that stood at their thresholds at the start, of which nobody was warned
}

// edge is what is known of the start where guards stand on their threshold.
type edge struct {
	behind bool      // it is behind the events of the start
	f      []float64 // [N+Q] the field
	eps    float64   // a short time
	rooted []bool    // [M] modes with a threshold here
}

// look warns of guards that stand on their threshold. Behind the events of the start it asks anew of those that stood
// there before: they may leave for the other side then.
func (s *edges) look(behind bool) {
	if _, ok := s.sys.(solvers.Separator); !ok || !(s.span > 0) || behind && len(s.standing) == 0 {
		return
	}
	if !behind {
		s.standing = s.standing[:0]
	}
	e := edge{
		behind: behind, f: s.trial.K[:s.size.N+s.size.Q], // not in use yet
		eps: float64(0x1p-20 * s.span), rooted: make([]bool, s.size.M),
	}
	s.sys.Eval(s.t, s.y, e.f)
	t, y := s.move(&e, 1)
	s.sys.GuardValues(t, y, s.rhoP, s.truthP)
	for i := range s.guards {
		g := &s.guards[i]
		if _, ok := s.stands(&e, i); ok && g.Event < 0 && !g.Watch && !g.Kink {
			e.rooted[g.Mode] = true
		}
	}
	for i := range s.guards {
		s.lookAt(&e, i)
	}
	s.sys.Enter(s.d, s.m)
}

// move returns the time and, in yi, the state a short time in that way along the field.
func (s *edges) move(e *edge, way float64) (t float64, y []float64) {
	s.along(float64(way*e.eps), e.f, s.y)
	return s.t + float64(way*e.eps), s.yi
}

// stands reports whether guard i stands on its threshold, and at which rate it leaves that.
func (s *edges) stands(e *edge, i int) (rate float64, ok bool) {
	rate = (s.rhoP[i] - s.rho[i]) / e.eps
	since := s.t - s.sched.times[solvers.InstantStart] + s.eventTol(s.t, 0)
	return rate, math.Abs(s.rho[i]) <= float64(math.Abs(rate)*since)
}

// lookAt warns of guard i if it stands on its threshold.
func (s *edges) lookAt(e *edge, i int) {
	g := &s.guards[i]
	rate, ok := s.stands(e, i)
	// What rests there is for the System to find. Rates of algebraic unknowns are not known.
	rests := s.rho[i] == 0 && rate == 0
	if known := slices.Index(s.standing, i); e.behind && known < 0 {
		return
	} else if !e.behind && (ok || rests) {
		s.standing = append(s.standing, i)
	}
	if g.Watch || !ok || rests && !g.Unknowns {
		return
	}
	switch {
	case g.Kink:
		s.bend(i)
		return
	case g.Event < 0:
		if !s.matters(e, i, rests) {
			s.bend(i)
			return
		}
	case !g.Crossing && rate < 0 && !s.lingers(i, e.eps, e.f): // it leaves its threshold for the side where it waits
		return
	}
	a, b := s.meets.ofGuard(i), s.meets.startOf()
	if s.apart(s.here(), &a, &b) {
		s.warn(solvers.Warning{Kind: solvers.Edge, T: s.t, Name: s.guardName(i), Instant: -1})
		b.told = true
		s.meets.note(&s.stats.Meetings, &a, &b, 0, s.t)
		s.standing = slices.DeleteFunc(s.standing, func(k int) bool { return k == i })
	}
}

// here is where the run begins.
func (s *edges) here() *past { return &past{t: s.t, y: s.y, d: s.d, m: s.m} }

// bend notes that rates have a kink where guard i stands.
func (s *edges) bend(i int) {
	a, b := s.meets.ofGuard(i), s.meets.startOf()
	if s.opts.Bends && s.apart(s.here(), &a, &b) {
		s.meets.note(&s.stats.Bends, &a, &b, 0, s.t)
	}
}

// sides returns the modes on either side of the threshold of guard i.
func (s *edges) sides(e *edge, i int, rests bool) [2][]float64 {
	g := &s.guards[i]
	modes := [2][]float64{make([]float64, s.size.M), make([]float64, s.size.M)}
	for k, way := range []float64{-1, 1} {
		if rests { // nothing but another start takes it to either side
			s.chooseBeside(way, modes[k])
		} else {
			t, y := s.move(e, way)
			s.sys.Choose(t, y, nil, modes[k])
		}
		for j := range s.m {
			if j != g.Mode && e.rooted[j] { // those with a threshold of their own here are those of the start
				modes[k][j] = s.m[j]
			}
		}
	}
	if same(modes[0], modes[1]) { // time takes it to one side, whichever way it goes; here it is on the other
		modes[0][g.Mode] = s.m[g.Mode]
	}
	if same(modes[0], modes[1]) && !g.Piece && s.touches(i, e.eps, e.f) { // moved, it is over for a while
		modes[0][g.Mode] = 1 - modes[0][g.Mode]
	}
	return modes
}

// matters reports whether the mode of guard i, which stands on its threshold, changes something there.
func (s *edges) matters(e *edge, i int, rests bool) bool {
	modes := s.sides(e, i, rests)
	if !e.behind && !rests && !same(s.m, modes[1]) {
		s.readAtEdge(i, modes[1])
	}
	if same(modes[0], modes[1]) {
		return false
	}
	unlike := func() bool { return s.unlike(s.rates(s.y, s.d, modes[0]), s.rates(s.y, s.d, modes[1]), s.y) }
	return s.guards[i].Seen || unlike() || s.allows(modes)
}

// readAtEdge warns of what is read at the start at times of its own, where guard i stands on its threshold and other
// rates, those in modes m, follow at once: so it is with them that moves what is read later.
func (s *edges) readAtEdge(i int, m []float64) {
	start := s.sched.times[solvers.InstantStart]
	for k := range s.sched.list {
		in := &s.sched.list[k]
		if in.Kind != solvers.InstantSite || in.Fixed || math.Abs(s.sched.times[k]-start) > s.eventTol(start, 0) {
			continue
		}
		now, then := s.rates(s.y, s.d, s.m)[:s.size.N], s.rates(s.y, s.d, m)[:s.size.N]
		s.sys.Enter(s.d, s.m)
		if !s.unlike(now, then, s.y) {
			return
		}
		site := &member{kind: solvers.MarkSite, guard: -1, instant: k}
		if a, b := s.meets.ofGuard(i), s.meets.startOf(); s.apart(s.here(), site, &b) {
			s.meets.note(&s.stats.Meetings, &a, site, 0, s.t)
		}
	}
}
