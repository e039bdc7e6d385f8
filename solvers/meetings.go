package solvers

import (
	"math"
	"slices"
)

// mostMeetings limits how many meetings of a run are noted, and mostParties how many parties to a meeting are told from
// each other.
const mostMeetings, mostParties = 64, 8

// meetings finds the parties to the meeting at (t, y): what may come at other times than the rest of the group, and
// moves as one. It notes which meet, or has them come apart with Options.Apart.
func (s *Solver) meetings(t float64, y []float64) {
	s.knotsAtStart(t, y)
	n := len(s.wave) + len(s.sites)
	if s.ends {
		n++
	}
	if n+len(s.bent) < 2 || !s.opts.Meetings && len(s.opts.Apart) == 0 {
		return
	}
	s.parties = s.parties[:0]
	s.inGroup(func(m *member) { s.joinParty(m, t, y) })
	if len(s.opts.Apart) > 0 {
		if len(s.parties) > 1 {
			s.arrange()
		}
		return
	}
	for j := range s.parties {
		for i := range j {
			s.noteMeeting(i, j, t, y)
		}
	}
	for _, i := range s.bent {
		n := len(s.parties)
		s.joinParty(&member{guard: i, instant: -1, kind: MarkMode}, t, y)
		if len(s.parties) == n {
			continue // it moves as something else does
		}
		for j := range n {
			s.noteBend(s.causesOf(j, n), s.namesOf(j, n), t, y)
		}
	}
}

// knotsAtStart notes knots and bounds that come at the start of the run: moved, they lie within it or before it.
func (s *Solver) knotsAtStart(t float64, y []float64) {
	if !s.opts.Bends || t > s.sched.times[InstantStart]+s.eventTol(t, 0) {
		return
	}
	start := member{kind: MarkStart, instant: int(InstantStart), guard: -1, at: t}
	for i := range s.wave {
		if m := &s.wave[i]; m.kind == MarkRemode && s.apartAt(t, y, s.d, s.m, m, &start) {
			s.noteBend([2]Cause{m.cause(), start.cause()}, [2]string{s.memberName(m), Start}, t, y)
		}
	}
}

// inGroup calls f with all that is in the group, in its order.
func (s *Solver) inGroup(f func(m *member)) {
	for _, list := range [2][]member{s.wave, s.sites} {
		for i := range list {
			f(&list[i])
		}
	}
	if s.ends {
		f(&s.end)
	}
}

// Part sets Options.Apart and Options.Reversed for the runs to come.
func (s *Solver) Part(pairs []Parting, reversed bool) {
	s.opts.Apart, s.opts.Reversed = pairs, reversed
}

// joinParty finds the party of m. What a jump made happen has no time of its own.
func (s *Solver) joinParty(m *member, t float64, y []float64) {
	if m.caused {
		return
	}
	for k := range s.parties {
		if !s.apartAt(t, y, s.d, s.m, &s.parties[k], m) {
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

// causesOf returns the causes of two parties. Those of periodic events are the same each time, so that there are not
// too many.
func (s *Solver) causesOf(i, j int) [2]Cause {
	i, j = s.endLast(i, j)
	both := [2]Cause{s.parties[i].cause(), s.parties[j].cause()}
	both[0].Nth, both[1].Nth = 0, 0
	return both
}

// endLast returns two parties, that of the end of the run behind the other.
func (s *Solver) endLast(i, j int) (first, last int) {
	if s.ends && i == s.end.party {
		return j, i
	}
	return i, j
}

// noteMeeting notes that parties i and j meet at (t, y), unless both only read: the order of two observations, or of
// one and the end, does not matter where both are there.
func (s *Solver) noteMeeting(i, j int, t float64, y []float64) {
	reads := func(m *member) bool { return m.kind == MarkSite || m.kind == MarkFinal }
	if reads(&s.parties[i]) && reads(&s.parties[j]) {
		return
	}
	first, last := s.endLast(i, j)
	m := Meeting{
		Causes: s.causesOf(i, j), Names: s.namesOf(i, j), Nth: [2]int{s.parties[first].nth, s.parties[last].nth},
	}
	s.noteIn(&s.stats.Meetings, m, t, y)
}

// noteBend notes that a kink comes at (t, y) with something else.
func (s *Solver) noteBend(causes [2]Cause, names [2]string, t float64, y []float64) {
	s.noteIn(&s.stats.Bends, Meeting{Causes: causes, Names: names}, t, y)
}

// noteIn adds a meeting to a list.
func (s *Solver) noteIn(list *[]Meeting, m Meeting, t float64, y []float64) {
	if len(*list) == mostMeetings || slices.ContainsFunc(*list, func(x Meeting) bool { return x.Causes == m.Causes }) {
		return
	}
	m.T, m.Y, m.D, m.M = t, slices.Clone(y), slices.Clone(s.d), slices.Clone(s.m)
	*list = append(*list, m)
}

// namesOf returns the names of two parties.
func (s *Solver) namesOf(i, j int) [2]string {
	i, j = s.endLast(i, j)
	return [2]string{s.partyName(&s.parties[i]), s.partyName(&s.parties[j])}
}

func (s *Solver) partyName(m *member) string {
	switch m.kind {
	case MarkSite:
		return Observation
	case MarkFinal:
		return Finish
	}
	return s.memberName(m)
}

// arrange has the parties come one after another, where Options.Apart has pairs of them. Those of which it has no pair
// stay together. What is then behind the end does not happen. Observations that stay with an event are read
// after it, as ever.
func (s *Solver) arrange() {
	pair := func(i, j int) int {
		both := s.causesOf(i, j)
		return slices.IndexFunc(s.opts.Apart, func(p Parting) bool { return p.Causes == both })
	}
	with := make([]int, len(s.parties)) // the first party that each stays with
	some := false
	for j := range with {
		with[j] = j
		for i := range j {
			if with[i] == i && pair(i, j) < 0 {
				with[j] = i
				break
			}
		}
		some = some || with[j] != 0
	}
	if !some { // there is no such pair
		return
	}
	place := make([]int, len(s.parties)) // in their order
	for j := range with {
		for i := range j {
			if with[i] != i || with[j] != j {
				continue
			}
			first, last := s.endLast(i, j)
			if s.opts.Apart[pair(i, j)].Turned != s.opts.Reversed {
				first, last = last, first
			}
			place[last] += len(s.parties)
		}
		place[j] += j // each has its own
	}
	end := -1
	if s.ends {
		end = place[with[s.end.party]]
	}
	sorted, before, first := true, 0, math.MaxInt
	apart := map[int]bool{}
	s.inGroup(func(m *member) {
		m.party = place[with[m.party]]
		sorted, before = sorted && m.party >= before, m.party
		first = min(first, m.party)
		apart[m.party] = true
	})
	s.party, s.stats.Severed = first, s.stats.Severed || len(apart) > 2
	s.stats.Mixed = s.stats.Mixed || !sorted
	if s.ends {
		behind := func(m member) bool { return m.party > end }
		s.wave, s.sites = slices.DeleteFunc(s.wave, behind), slices.DeleteFunc(s.sites, behind)
	}
	s.order(0)
	s.later, s.wave = append(s.later, s.wave...), s.wave[:0]
	s.nextParty()
}

// nextParty has the next party come, now that what the one before set off is over. What a body has put off to another
// time, or has kept from happening, does not come with it.
func (s *Solver) nextParty() {
	if len(s.later) == 0 {
		return
	}
	tol := s.eventTol(s.t, 0)
	for len(s.later) > 0 && len(s.wave) == 0 {
		n := 0
		for n < len(s.later) && s.later[n].party == s.later[0].party {
			n++
		}
		for i := range s.later[:n] {
			if m := &s.later[i]; !s.jumped || !s.putOff(m, tol) {
				s.wave = append(s.wave, *m)
			}
		}
		s.later = slices.Delete(s.later, 0, n)
		if s.jumped {
			s.due(s.t + tol)
		}
	}
}

// putOff reports whether m, which was to come now, does not after what has happened: its time has been set anew, or its
// condition does not hold and is not at its root any more. It is then one of those that are still to come.
func (s *Solver) putOff(m *member, tol float64) bool {
	switch {
	case m.instant >= 0:
		return s.sched.takeBack(m.instant, s.t-tol)
	case m.kind == MarkFire:
		i := m.guard
		holds := s.fires(i, &s.arms[i], s.rho[i], s.truth[i]) && s.passes(i, s.truth[i])
		return !holds && !(math.Abs(s.rho[i]) <= m.scale)
	}
	return false
}

// comes reports whether guard i is that of a party that is still to come.
func (s *Solver) comes(i int) bool {
	return slices.ContainsFunc(s.later, func(m member) bool { return m.guard == i })
}
