package hybrid

import (
	"math"
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
