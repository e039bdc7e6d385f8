package hybrid

import (
	"slices"

	"odes.dev/odes/solvers"
)

// A condition may be made of several that change at one time, and several conditions may change at one time. No event
// and no change of modes need come of it: t > p and t < q holds nowhere where p = q. What may come of it for other
// parameters is for the System to say; see Separator.

// flip is a guard that changed within a step, at a time.
type flip struct {
	h     float64
	guard int
}

// junctions is the part of a Solver that asks about conditions that change together.
type junctions struct {
	*problem
	*moment
	*told
	*stepper
	*group
	sched *schedule
	meets *meetings

	met    solvers.Junction
	causes []solvers.Cause // of what fired in the group
}

// junction asks whether several conditions change at (t, y), and what that means for derivatives.
func (s *junctions) junction(j solvers.Junction) {
	sep, ok := s.sys.(solvers.Separator)
	if !ok || len(s.guards) == 0 || !(s.span > 0) {
		return
	}
	j.Soon = float64(closeBy * s.span)
	s.met = j
	which, some := sep.ApartAt(&s.met)
	s.sys.Enter(s.d, s.m)
	if !some {
		return
	}
	many := j
	many.Y, many.D, many.Fired = slices.Clone(j.Y), slices.Clone(j.D), slices.Clone(j.Fired)
	many.M = [2][]float64{slices.Clone(j.M[0]), slices.Clone(j.M[1])}
	s.meets.add(&s.stats.Meetings, solvers.Meeting{Many: &many, Names: which, T: j.T})
}

// atStart asks about conditions that change where the run begins.
func (s *junctions) atStart() {
	if s.t > s.sched.times[solvers.InstantStart] {
		return
	}
	s.junction(solvers.Junction{T: s.t, Y: s.y, D: s.d, M: [2][]float64{s.m, s.m}, Start: true})
}

// atGroup asks about conditions that change with a group of events, with the left limits of the group and, where bodies
// have changed them, with the right ones. The trial step is pending where nothing but what reads the state happens.
func (s *junctions) atGroup(bounds int, pending bool) {
	if len(s.guards) == 0 { // then there are no conditions
		return
	}
	j := solvers.Junction{
		T: s.t, Y: s.y, D: s.d, M: [2][]float64{s.m, s.m}, Bounds: bounds, End: s.ends,
		Start: !pending && s.t <= s.sched.times[solvers.InstantStart],
	}
	s.causes = s.causes[:0]
	for i := range s.fired {
		s.causes = append(s.causes, s.fired[i].cause())
	}
	j.Fired = s.causes
	if pending {
		j.T, j.Y = s.trial.T1, s.trial.Y1
	} else if s.jumped {
		j.M[0] = s.mg
		if s.stats.Events > s.already {
			s.junction(j)
		}
		j.Y, j.D = s.yg, s.dg
	}
	if !j.Start {
		s.junction(j)
	}
}

// inStep asks about conditions of states that changed together within the step that has just been made, before it is
// accepted.
func (s *junctions) inStep(flips []flip) {
	soon := float64(closeBy * s.span)
	for n := 1; n < len(flips); n++ {
		a, b := flips[n-1], flips[n]
		if a.guard == b.guard || b.h-a.h > soon || b.h >= s.trial.H {
			continue
		}
		s.interpolate(s.trial, b.h/s.trial.H)
		s.junction(solvers.Junction{
			T: s.trial.T + b.h, Y: slices.Clone(s.yi), D: s.d, M: [2][]float64{s.m, s.m},
		})
	}
}
