package hybrid

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// clock is the part of a Solver that knows when conditions of time alone change. Steps end there.
type clock struct {
	*problem
	*moment
	sched   *schedule
	of      solvers.Clock // nil where the system has none, and where there are no guards
	rho     []float64     // [guards] at the present
	next    float64       // the next time at which one changes
	unknown bool          // next must be looked for
	near    float64       // the time at which the step is to end for a change or an instant
	last    float64       // the last change within the tolerance behind near
	past    float64       // the present step begins behind all changes up to here, even if that is later than its start
	vain    history       // times at which one was expected and none changed
}

func newClock(s *Solver) clock {
	c := clock{problem: &s.problem, moment: &s.moment, sched: &s.sched, rho: s.rho}
	if of, ok := s.sys.(solvers.Clock); ok && len(s.guards) > 0 && of.Clocks() > 0 {
		c.of = of
	}
	return c
}

// begin forgets the run before.
func (c *clock) begin() {
	c.unknown, c.near, c.past, c.vain = true, math.Inf(1), math.Inf(-1), history{}
}

// stop returns the time at which the trial step must end: at, that of the next instant, or that at which a condition of
// time alone changes. A search that finds nothing ends early where it cannot tell. Where rounding alone decides whether
// a condition holds, as t*t <= t^2, all searches do.
func (c *clock) stop(at float64) (float64, error) {
	now, end := c.now(), c.sched.times[1]
	c.past = now
	if !c.unknown && c.next <= now && c.vain.fired(now, max(c.span, float64(leastWindow/window*elem.ULP(now)))) {
		return 0, c.undecided()
	}
	if c.unknown || c.next <= now {
		c.next, c.unknown = c.of.NextSwitch(now, end), false
		c.near = math.Inf(1)
	}
	at = min(at, c.next)
	if at != c.near {
		c.near, c.last = at, at
		c.through(min(at+c.eventTol(at, 0), end))
	}
	return at, nil
}

// brings has conditions of time alone that change up to tol behind t change there, with what ends a step at t.
func (c *clock) brings(t, tol float64) {
	if c.of == nil || c.unknown || t >= c.near || c.next > t+tol {
		return
	}
	c.near = t
	c.through(min(t+tol, c.sched.times[1]))
}

// through notes the last change from the next one up to limit.
func (c *clock) through(limit float64) {
	for next, tries := c.next, 0; next <= limit && tries < 100; tries++ {
		c.last = next
		next = c.of.NextSwitch(next, limit)
	}
}

// undecided makes the error about a condition of time of which nobody can tell when it changes: the one nearest to its
// threshold.
func (c *clock) undecided() error {
	near, which := math.Inf(1), 0
	for i := range c.guards {
		g := &c.guards[i]
		if size := math.Abs(c.rho[i]); g.Clock && size < near {
			near, which = size, i
		}
	}
	return &solvers.ChatteringError{
		Event: c.guardName(which), Times: c.vain.times(), Kind: solvers.Undecided,
		Reason: "stays so near its threshold that rounding alone decides whether it holds",
	}
}

// now returns the time at which conditions are read at the present one. Those of time alone that change within the
// tolerance behind the time at which a step was to end change there, too: with what else happens in the group.
func (c *clock) now() float64 {
	if c.t < c.near {
		return max(c.t, c.past)
	}
	return max(c.t, c.last)
}
