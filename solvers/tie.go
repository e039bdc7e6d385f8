package solvers

import "math"

// tie warns when a and b, next to each other at one time, give different results in the other order, or results that
// change at different rates to either side. Two events that their priorities order, and that cannot come apart, are
// no tie.
func (s *Solver) tie(a, b *member) {
	if a.kind != MarkFire || b.kind != MarkFire || b.caused {
		return
	}
	apart := s.apart(a, b)
	if a.priority != b.priority && !apart {
		return
	}
	both := [2]Firing{a.firing, b.firing}
	for k := range both {
		both[k].Nth = s.historyAt(both[k]).count
	}
	for k := range 2 {
		s.sys.Affect(both[k], s.t, s.y, s.d, s.ym, s.dm)
		s.sys.Enter(s.dm, s.m)
		s.sys.Affect(both[1-k], s.t, s.ym, s.dm, s.alt[k], s.altD[k])
		s.sys.Enter(s.d, s.m)
	}
	switch {
	case !alike(s.alt[0], s.alt[1]) || !alike(s.altD[0], s.altD[1]):
		s.warn(Warning{Kind: Tie, T: s.t, Name: s.memberName(a), Other: s.memberName(b), Apart: apart, Instant: -1})
	case apart && s.oneSided(both[0], both[1]):
		s.warn(Warning{Kind: OneSided, T: s.t, Name: s.memberName(a), Other: s.memberName(b), Instant: -1})
	}
}

// apart reports whether a and b can come at different times.
func (s *Solver) apart(a, b *member) bool {
	if sep, ok := s.sys.(Separator); ok {
		return sep.Apart(s.t, s.y, s.dg, a.cause(), b.cause())
	}
	return a.instant < 0 || b.instant < 0 || !s.sched.list[a.instant].Fixed || !s.sched.list[b.instant].Fixed
}

func (m *member) cause() Cause {
	if m.guard >= 0 {
		return Cause{Guard: m.guard}
	}
	return Cause{Guard: -1, Instant: m.instant, Nth: m.nth}
}

// beside warns of an event of the group that changed something and can move to the other side of what m reads.
func (s *Solver) beside(m *member, what string) {
	if len(s.fired) == 0 || alike(s.y, s.yg) && alike(s.d, s.dg) {
		return
	}
	for i := range s.fired {
		if e := &s.fired[i]; s.apart(e, m) {
			s.warn(Warning{Kind: Tie, T: s.t, Name: s.memberName(e), Other: what, Apart: true, Instant: -1})
			return
		}
	}
}

// oneSided reports whether what comes after a and b changes at different rates when b is moved to the one side of a
// and to the other. With A and B the bodies and f the field, moving b to a later time changes it by
//
//	B'(Ay) f(Ay) - f(BAy),
//
// and moving b to an earlier time by A'(By) (B'(y) f(y) - f(By)). The integrals change by r(Ay) - r(BAy) and r(y) -
// r(By).
func (s *Solver) oneSided(a, b Firing) bool {
	n, d := len(s.y), len(s.d)
	eps := float64(0x1p-20 * s.span)
	type point struct{ y, d, k []float64 }
	body := func(f Firing, t float64, p *point) *point {
		q := &point{make([]float64, n), make([]float64, d), make([]float64, s.size.N+s.size.Q)}
		s.sys.Enter(p.d, s.m)
		s.sys.Affect(f, t, p.y, p.d, q.y, q.d)
		return q
	}
	field := func(p *point) {
		m := make([]float64, s.size.M)
		s.sys.Enter(p.d, s.m)
		s.sys.Choose(s.t, p.y, m)
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
