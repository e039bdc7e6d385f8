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
