package hybrid

import (
	"math"
	"slices"

	"odes.dev/odes/solvers"
)

// modeChange is a change of modes in a group: the modes before and after it, and the state where it came.
type modeChange struct {
	member member
	y, d   []float64
	m      [2][]float64
	t      float64
}

// noteModeChange notes that m changes the modes, for what is read later at the same time.
func (s *ties) noteModeChange(m *member) {
	if _, ok := s.sys.(solvers.Separator); !ok || m.kind != solvers.MarkMode || m.caused {
		return
	}
	clone := func(x []float64) []float64 { return append([]float64(nil), x...) }
	t := modeChange{*m, clone(s.y), clone(s.d), [2][]float64{clone(s.mm), clone(s.mm)}, s.t}
	next := s.ahead(s.y, s.d, s.mm)
	for i, x := range next {
		if s.turns(m, i) {
			t.m[1][i] = x
		}
	}
	if !same(t.m[0], t.m[1]) {
		s.modeChanges = append(s.modeChanges, t)
	}
	s.sys.Enter(s.d, s.m)
}

// turns reports whether mode i may change because the change of modes b comes: it is that of b, or it has no cause of
// its own at this time, as the condition mod(t, P) < w has none where mod jumps.
func (s *ties) turns(b *member, i int) bool {
	if b.guard < 0 {
		return slices.Contains(s.sched.list[b.instant].Modes, i)
	}
	return s.guards[b.guard].Mode == i || !slices.ContainsFunc(s.wave, func(m member) bool {
		return m.kind == solvers.MarkMode && !m.caused && s.guards[m.guard].Mode == i
	})
}

// ahead returns the modes that hold shortly after (t, y) along the field with modes m. At t itself a condition that
// becomes true at its root does not hold yet.
func (s *vicinity) ahead(y, d, m []float64) []float64 {
	f, n := s.rates(y, d, m), make([]float64, s.size.M)
	eps := float64(4 * s.eventTol(s.t, 0))
	for i := range s.yi {
		s.yi[i] = math.FMA(eps, f[i], y[i])
	}
	s.sys.Choose(s.t+eps, s.yi, nil, n)
	return n
}

// same reports whether modes are the same to the bit.
func same(m, n []float64) bool {
	for i, x := range m {
		if math.Float64bits(x) != math.Float64bits(n[i]) {
			return false
		}
	}
	return true
}

// rates returns the field with modes m. The caller must enter the segment anew afterwards.
func (s *vicinity) rates(y, d, m []float64) []float64 {
	k := make([]float64, s.size.N+s.size.Q)
	s.sys.Enter(d, m)
	s.sys.Eval(s.t, y, k)
	return k
}

// besideModeChange warns of a change of modes of the group that can move to the other side of what m reads, where
// rates differ. At the end of the run the rates of the integrals count as well, and modes that are read at any time:
// what is read behind the change may be largest.
func (s *ties) besideModeChange(m *member, what string) {
	for i := range s.modeChanges {
		t := &s.modeChanges[i]
		if !s.apartAt(s.t, t.y, t.d, t.m[0], &t.member, m) { // in other modes mod(t, P) jumps at another time
			continue
		}
		before, behind := s.rates(t.y, t.d, t.m[0]), s.rates(t.y, t.d, t.m[1])
		s.sys.Enter(s.d, s.m)
		n := s.size.N
		if what == solvers.Finish {
			n += s.size.Q
		}
		if what == solvers.Finish && s.readAnytime(t) || s.unlike(before[:n], behind[:n], t.y) {
			s.tiedIn(t.m[0], solvers.Warning{
				Kind: solvers.OneSided, T: s.t, Name: s.memberName(&t.member),
				Other: what,
			},
				t.member.cause(), m.cause())
			return
		}
	}
}

// readAnytime reports whether a change of modes is read at any time.
func (s *ties) readAnytime(t *modeChange) bool {
	return slices.ContainsFunc(s.guards, func(g solvers.Guard) bool {
		return g.Seen && math.Float64bits(t.m[0][g.Mode]) != math.Float64bits(t.m[1][g.Mode])
	})
}

// crossModeChange warns where event a and the change of modes b, at one time, can come apart and the solution then
// changes at other rates. Let B be the body of a, f the field, m the modes before b and n those after it. Moving b to
// a later time changes what follows by f_m(By) - f_n(By) per unit of time; moving it to an earlier one by B'(y)
// (f_m(y) - f_n(y)). The integrals change by the differences of their rates. Where a is the root of a guard, it comes
// at another time if b comes earlier: that of the root from there on by f_n.
func (s *ties) crossModeChange(a, b *member) {
	if _, ok := s.sys.(solvers.Separator); !ok || a.kind != solvers.MarkFire || a.caused || b.caused ||
		!s.apart(s.dg, a, b) {
		return
	}
	changes := func(i int) bool { return s.turns(b, i) }
	// pair returns the modes at (y, d) before and after b.
	pair := func(y, d []float64, chosen []float64) (m, n []float64) {
		m, n = make([]float64, s.size.M), s.ahead(y, d, chosen)
		for i := range n {
			if m[i] = n[i]; changes(i) {
				m[i] = s.m[i]
			}
		}
		return m, n
	}
	f := solvers.Firing{Event: a.firing.Event, Elem: a.firing.Elem, Nth: s.historyAt(a.firing).count}
	body := func(y []float64, t float64) (yp, dp []float64) {
		yp, dp = make([]float64, s.size.N), make([]float64, s.size.D)
		s.sys.Enter(s.d, s.m)
		s.sys.Affect(f, t, y, s.d, yp, dp)
		return yp, dp
	}
	if s.algebraic { // rates follow unknowns, and these both the body and the modes
		if yp, dp := body(s.y, s.t); !alike(yp, s.y) || !alike(dp, s.d) {
			s.tied(solvers.Warning{Kind: solvers.OneSided, T: s.t, Name: s.memberName(a), Other: s.memberName(b)},
				a.cause(), b.cause())
		}
		s.sys.Enter(s.d, s.m)
		return
	}
	_, n := pair(s.y, s.d, s.m)
	for i := range n { // other modes are as before
		if !changes(i) {
			n[i] = s.m[i]
		}
	}
	early, late := s.rates(s.y, s.d, s.m), s.rates(s.y, s.d, n)
	yp, dp := body(s.y, s.t)
	pm, pn := pair(yp, dp, s.m)
	after, behind := s.rates(yp, dp, pm), s.rates(yp, dp, pn)
	eps := float64(0x1p-20 * s.span)
	moved := make([]float64, s.size.N)
	for i := range moved {
		moved[i] = math.FMA(eps, early[i]-late[i], s.y[i])
	}
	shift := s.shift(a, moved, late, eps)
	for i := range moved {
		moved[i] = math.FMA(shift, late[i], moved[i])
	}
	ym, dm := body(moved, s.t+shift)
	s.sys.Enter(s.d, s.m)
	l, r := make([]float64, s.size.N+s.size.Q+s.size.D), make([]float64, s.size.N+s.size.Q+s.size.D)
	size := make([]float64, len(l))
	for i := range s.size.N + s.size.Q {
		l[i], r[i] = early[i]-late[i]+float64(shift/eps*(late[i]-behind[i])), after[i]-behind[i]
		size[i] = max(math.Abs(early[i]), math.Abs(after[i]))
		if i < s.size.N {
			l[i] = (ym[i] - yp[i] - float64(shift*behind[i])) / eps
			size[i] = max(size[i], math.Abs(yp[i])/s.span)
		}
	}
	for i := range s.size.D {
		at := s.size.N + s.size.Q + i
		l[at], size[at] = (dm[i]-dp[i])/eps, math.Abs(dp[i])/s.span
	}
	for i := range l {
		if differ(r[i], l[i], size[i]) {
			s.tied(solvers.Warning{Kind: solvers.OneSided, T: s.t, Name: s.memberName(a), Other: s.memberName(b)},
				a.cause(), b.cause())
			return
		}
	}
}

// shift returns how much later the root of the guard of a comes where states are others at this time and then follow
// field f; eps is a short time. It is 0 for what is no root, or grazes.
func (s *ties) shift(a *member, y, f []float64, eps float64) float64 {
	if a.guard < 0 {
		return 0
	}
	s.sys.Enter(s.d, s.m)
	rho := func(t float64, y []float64) float64 {
		s.sys.GuardValues(t, y, s.mid.Rho, s.mid.Truth)
		return s.mid.Rho[a.guard]
	}
	here, there := rho(s.t, s.y), rho(s.t, y)
	for i := range s.yi {
		s.yi[i] = math.FMA(eps, f[i], s.y[i])
	}
	if rise := rho(s.t+eps, s.yi) - here; math.Abs(rise) > float64(1e-6*math.Abs(there-here)) {
		return float64(-(there - here) / rise * eps)
	}
	return 0
}

// unlike reports whether two sets of rates, of states y and of integrals, differ. Both were evaluated at one point:
// what differs little may still be all that moves something. Roots are no more certain than the tolerance, though.
func (s *vicinity) unlike(a, b, y []float64) bool {
	for i, x := range a {
		size := max(math.Abs(x), math.Abs(b[i]))
		if i < len(y) {
			size = max(size, math.Abs(y[i])/s.span)
		}
		if math.Abs(x-b[i]) > float64(1e-7*size) {
			return true
		}
	}
	return false
}

// differ reports whether two changes per unit of time differ. They come from differences and are known to some
// digits.
func differ(r, l, size float64) bool {
	return math.Abs(r-l) > float64(1e-3*max(math.Abs(r), math.Abs(l)))+float64(1e-6*size)
}

// marginAlong returns what guard i is a time h after the present, with the field f.
func (s *vicinity) marginAlong(i int, f []float64) func(h float64) float64 {
	return func(h float64) float64 {
		s.guardsAlong(s.t, h, f, s.y, s.mid.Rho, s.mid.Truth)
		return s.mid.Rho[i]
	}
}

// touches reports whether guard i, which is at its threshold, is on the same side of it a time eps before and behind,
// with the field f, and leaves it like the square of time. What leaves it in proportion is made of conditions that
// change together, of which junctions tell.
func (s *vicinity) touches(i int, eps float64, f []float64) bool {
	at := s.marginAlong(i, f)
	far, near := [2]float64{at(-eps), at(eps)}, [2]float64{at(-eps / 2), at(eps / 2)}
	return float64(far[0]*far[1]) > 0 && near[0]/far[0] < 0.375 && near[1]/far[1] < 0.375
}

// lingers reports whether guard i, which is at its threshold, leaves it like the square of time, or a higher power: a
// small rate may then take it to the other side first.
func (s *vicinity) lingers(i int, eps float64, f []float64) bool {
	at := s.marginAlong(i, f)
	far, half, near := at(eps), at(eps/2), at(eps/4)
	faster := func(ratio float64) bool { return ratio > 0.01 && ratio < 0.375 }
	return s.rho[i] == 0 && faster(half/far) && faster(near/half)
}

// allows reports whether the condition of an event, or of what is read at any time, holds in one of two modes and not
// in the other. What holds from the start on is no event.
func (s *vicinity) allows(modes [2][]float64) bool {
	truth := make([]bool, len(s.guards))
	s.sys.Enter(s.d, modes[0])
	s.sys.GuardValues(s.t, s.y, s.mid.Rho, truth)
	s.sys.Enter(s.d, modes[1])
	s.sys.GuardValues(s.t, s.y, s.mid.Rho, s.mid.Truth)
	s.sys.Enter(s.d, s.m)
	for i, g := range s.guards {
		if (g.Event >= 0 || g.Seen) && !g.Watch && !g.Kink && !g.Crossing && truth[i] != s.mid.Truth[i] {
			return true
		}
	}
	return false
}

// chooseBeside writes to m the modes at states and discretes a little to one side of the present ones.
func (s *vicinity) chooseBeside(way float64, m []float64) {
	n := 0.0
	d := s.aside(way, make([]float64, len(s.d)), s.d, &n)
	s.sys.Enter(d, s.m)
	s.sys.Choose(s.t, s.aside(way, s.yi, s.y, &n), nil, m)
	s.sys.Enter(s.d, s.m)
}

// bends reports whether rates that are the same in two modes at the present state change differently on both sides of
// it, the one that each is of: they have a kink there, as those of max have. Its part in them is in proportion to how
// far the state moves.
func (s *vicinity) bends(modes [2][]float64) bool {
	here := s.rates(s.y, s.d, modes[0])[:s.size.N]
	d := make([]float64, s.size.D)
	var kink [2][]float64 // f(x+d) - f(x) + f(x-d) - f(x), for d and half of it
	for k, part := range []float64{1, 0.5} {
		kink[k] = make([]float64, s.size.N)
		for side, way := range []float64{-part, part} {
			n := 0.0
			s.aside(way, d, s.d, &n)
			for i, f := range s.rates(s.aside(way, s.yi, s.y, &n), d, modes[side])[:s.size.N] {
				kink[k][i] += f - here[i]
			}
		}
	}
	for i, far := range kink[0] {
		if far = math.Abs(far); far > float64(0x1p-45*math.Abs(here[i])) && math.Abs(kink[1][i]) > float64(0.375*far) {
			return true
		}
	}
	return false
}

// aside writes to to numbers a little to one side of x, each by another part of its size. n goes on from one array to
// the next.
func (s *vicinity) aside(way float64, to, x []float64, n *float64) []float64 {
	for i, v := range x {
		*n += math.Phi // of its multiples, no two are equally far above whole numbers
		size := math.Abs(v)
		if size == 0 {
			size = 1
		}
		to[i] = math.FMA(float64(way*0x1p-14*(0.5+*n-math.Floor(*n))), size, v)
	}
	return to
}
