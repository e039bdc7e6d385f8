package hybrid

import (
	"math"

	"odes.dev/odes/solvers"
)

// vicinity reads the field, the guards and the modes at points beside the present, and says what can come apart there.
// After most of it the segment is entered anew; what does not says so.
type vicinity struct {
	*problem
	*moment
	*trials
	*readings
	sched *schedule
	tol   *leeway
}

// along returns y[N] + h f, in s.yi.
func (s *vicinity) along(h float64, f, y []float64) []float64 {
	for n := range s.yi {
		s.yi[n] = math.FMA(h, f[n], y[n])
	}
	return s.yi
}

// guardsAlong evaluates the guards a time h after t, where states have moved from y along f.
func (s *vicinity) guardsAlong(t, h float64, f, y, rho []float64, truth []bool) {
	s.sys.GuardValues(t+h, s.along(h, f, y), rho, truth)
}

// blur writes to s.rhoP and s.truthP the guards where the present time and states differ in their last digits, by a
// part of their size to either side.
func (s *vicinity) blur(part float64) {
	for n, y := range s.y {
		s.yi[n] = math.FMA(part, y, y)
		part = -part
	}
	s.sys.GuardValues(math.FMA(part, s.t, s.t), s.yi, s.rhoP, s.truthP)
}

// slidesAlong reports whether on both sides of guard i, that of a mode which is about to change, the field leads back
// to it. The segment must be entered anew afterwards.
func (s *vicinity) slidesAlong(i int) bool {
	ahead := func(m []float64) float64 {
		f := s.rates(s.y, s.d, m)
		eps := float64(0x1p-20 * s.span)
		s.guardsAlong(s.t, eps, f, s.y, s.rhoP, s.truthP)
		return s.rhoP[i]
	}
	before := append([]float64(nil), s.m...)
	behind := s.ahead(s.y, s.d, before)
	return !same(before, behind) && ahead(before) > 0 && ahead(behind) > 0
}

// apart reports whether a and b can come at different times where the run is, or was.
func (s *vicinity) apart(at *past, a, b *member) bool {
	fixed := func(m *member) bool { return m.guard < 0 && s.sched.list[m.instant].Fixed }
	if fixed(a) && fixed(b) {
		return false
	}
	sep, ok := s.sys.(solvers.Separator)
	if !ok {
		return true
	}
	s.sys.Enter(at.d, at.m)
	defer s.sys.Enter(s.d, s.m)
	return sep.Apart(at.t, at.y, at.d, a.cause(), b.cause())
}

// closeTo returns the time within which the order of a root and another cause says little: roots are no more certain
// than the tolerance.
func (s *vicinity) closeTo() float64 {
	if s.opts.Fixed > 0 {
		return float64(closeBy * s.span)
	}
	return float64(max(closeBy, s.tol.Rel) * s.span)
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
