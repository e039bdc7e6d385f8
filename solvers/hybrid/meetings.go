package hybrid

import (
	"slices"

	"odes.dev/odes/solvers"
)

// mostMeetings limits how many meetings of a run are noted, and mostParties how many parties to a meeting are told from
// each other.
const mostMeetings, mostParties = 64, 8

// meetings is the part of a Solver that notes what meets at one time and could come apart.
type meetings struct {
	*problem
	*moment
	*told
	*vicinity
	*group
	sched   *schedule
	parties []member // of a meeting, the first of each
}

// look finds the parties to the meeting at (t, y): what may come at other times than the rest of the group, and
// moves as one. It notes which meet.
func (s *meetings) look(t float64, y []float64) {
	s.knotsAtStart(t, y)
	n := len(s.wave) + len(s.sites)
	if s.ends {
		n++
	}
	if n+len(s.bent) < 2 || !s.opts.Meetings {
		return
	}
	s.parties = s.parties[:0]
	s.inGroup(func(m *member) { s.joinParty(m, t, y) })
	for j := range s.parties {
		for i := range j {
			s.noteMeeting(i, j, t, y)
		}
	}
	for _, i := range s.bent {
		n := len(s.parties)
		s.joinParty(&member{guard: i, instant: -1, kind: solvers.MarkMode}, t, y)
		if len(s.parties) == n {
			continue // it moves as something else does
		}
		for j := range n {
			s.noteBend(s.causesOf(j, n), s.namesOf(j, n), t, y)
		}
	}
}

// knotsAtStart notes knots and bounds that come at the start of the run: moved, they lie within it or before it.
func (s *meetings) knotsAtStart(t float64, y []float64) {
	if !s.opts.Bends || t > s.sched.times[solvers.InstantStart]+s.eventTol(t, 0) {
		return
	}
	start := member{kind: solvers.MarkStart, instant: int(solvers.InstantStart), guard: -1, at: t}
	for i := range s.wave {
		if m := &s.wave[i]; m.kind == solvers.MarkRemode && s.apartAt(t, y, s.d, s.m, m, &start) {
			s.noteBend([2]solvers.Cause{m.cause(), start.cause()}, [2]string{s.memberName(m), solvers.Start}, t, y)
		}
	}
}

// joinParty finds the party of m. What a jump made happen has no time of its own.
func (s *meetings) joinParty(m *member, t float64, y []float64) {
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
func (s *meetings) causesOf(i, j int) [2]solvers.Cause {
	i, j = s.endLast(i, j)
	both := [2]solvers.Cause{s.parties[i].cause(), s.parties[j].cause()}
	both[0].Nth, both[1].Nth = 0, 0
	return both
}

// endLast returns two parties, that of the end of the run behind the other.
func (s *meetings) endLast(i, j int) (first, last int) {
	if s.ends && i == s.end.party {
		return j, i
	}
	return i, j
}

// noteMeeting notes that parties i and j meet at (t, y), unless both only read: the order of two observations, or of
// one and the end, does not matter where both are there.
func (s *meetings) noteMeeting(i, j int, t float64, y []float64) {
	reads := func(m *member) bool { return m.kind == solvers.MarkSite || m.kind == solvers.MarkFinal }
	if reads(&s.parties[i]) && reads(&s.parties[j]) {
		return
	}
	first, last := s.endLast(i, j)
	m := solvers.Meeting{
		Causes: s.causesOf(i, j), Names: s.namesOf(i, j), Nth: [2]int{s.parties[first].nth, s.parties[last].nth},
	}
	s.noteIn(&s.stats.Meetings, m, t, y)
}

// noteBend notes that a kink comes at (t, y) with something else.
func (s *meetings) noteBend(causes [2]solvers.Cause, names [2]string, t float64, y []float64) {
	s.noteIn(&s.stats.Bends, solvers.Meeting{Causes: causes, Names: names}, t, y)
}

// noteIn adds a meeting to a list.
func (s *meetings) noteIn(list *[]solvers.Meeting, m solvers.Meeting, t float64, y []float64) {
	if len(*list) == mostMeetings || slices.ContainsFunc(*list,
		func(x solvers.Meeting) bool { return x.Causes == m.Causes }) {
		return
	}
	m.T, m.Y, m.D, m.M = t, slices.Clone(y), slices.Clone(s.d), slices.Clone(s.m)
	*list = append(*list, m)
}

// namesOf returns the names of two parties.
func (s *meetings) namesOf(i, j int) [2]string {
	i, j = s.endLast(i, j)
	return [2]string{s.partyName(&s.parties[i]), s.partyName(&s.parties[j])}
}

func (s *meetings) partyName(m *member) string {
	switch m.kind {
	case solvers.MarkSite:
		return solvers.Observation
	case solvers.MarkFinal:
		return solvers.Finish
	}
	return s.memberName(m)
}
