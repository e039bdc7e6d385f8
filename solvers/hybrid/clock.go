package hybrid

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// clock is the part of a Solver that knows when conditions of time alone change. Steps end there.
type clock struct {
	sys     solvers.Clock // nil where it has none, and where there are no guards
	next    float64       // the next time at which one changes
	unknown bool          // next must be looked for
	near    float64       // the time at which the step is to end for a change or an instant
	last    float64       // the last change within the tolerance behind near
	past    float64       // the present step begins behind all changes up to here, even if that is later than its start
	vain    history       // times at which one was expected and none changed
}

// stop returns the time at which the trial step must end: at, that of the next instant, or that at which a condition of
// time alone changes. A search that finds nothing ends early where it cannot tell. Where rounding alone decides whether
// a condition holds, as t*t <= t^2, all searches do.
func (s *Solver) stop(at float64) (float64, error) {
	c := &s.clock
	now, end := s.now(), s.sched.times[1]
	c.past = now
	if !c.unknown && c.next <= now && c.vain.fired(now, max(s.span, float64(leastWindow/window*elem.ULP(now)))) {
		return 0, s.undecided()
	}
	if c.unknown || c.next <= now {
		c.next, c.unknown = c.sys.NextSwitch(now, end), false
		c.near = math.Inf(1)
	}
	at = min(at, c.next)
	if at != c.near {
		c.near, c.last = at, at
		limit := min(at+s.eventTol(at, 0), end)
		for next, tries := c.next, 0; next <= limit && tries < 100; tries++ {
			c.last = next
			next = c.sys.NextSwitch(next, limit)
		}
	}
	return at, nil
}

// undecided makes the error about a condition of time of which nobody can tell when it changes: the one nearest to its
// threshold.
func (s *Solver) undecided() error {
	near, which := math.Inf(1), 0
	for i := range s.guards {
		g := &s.guards[i]
		if size := math.Abs(s.rho[i]); g.Clock && size < near {
			near, which = size, i
		}
	}
	return &solvers.ChatteringError{
		Place: s.place(nil), Event: s.guardName(which), Times: s.clock.vain.times(), Kind: solvers.Undecided,
		Reason: "stays so near its threshold that rounding alone decides whether it holds",
	}
}

// now returns the time at which conditions are read at the present one. Those of time alone that change within the
// tolerance behind the time at which a step was to end change there, too: with what else happens in the group.
func (s *Solver) now() float64 {
	if s.t < s.clock.near {
		return max(s.t, s.clock.past)
	}
	return max(s.t, s.clock.last)
}
