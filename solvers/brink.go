package solvers

import "math"

// brink warns of events whose condition a jump has left at its threshold but for rounding: not on it, and by no more
// than the last digits of the state make. was has the values of the guards before the jump.
//
// A wave whose last body is silent has only such bodies, since triggers and lapses come first. They move no state: a
// lapse that a trigger makes possible stands at the root that the trigger was found at.
func (s *Solver) brink(was []float64) {
	const near = 0x1p-44
	if e := s.lastFired.Event; e >= 0 && s.events[e].Silent && s.lastTime == s.t {
		return
	}
	known := false
	for i, g := range s.guards {
		rho := math.Abs(s.rho[i])
		scale := max(math.Abs(was[i]), s.reach[i])
		if g.Event < 0 || g.Watch || !s.arms[i].on || rho == 0 || !(rho <= near*scale) ||
			!(math.Abs(was[i]) > float64(0x1p-30*scale)) {
			continue
		}
		if !known { // seldom
			known = true
			way := float64(0x1p-52)
			for n, y := range s.y {
				s.yi[n] = math.FMA(way, y, y)
				way = -way
			}
			s.sys.GuardValues(math.FMA(way, s.t, s.t), s.yi, s.rhoP, s.truthP)
		}
		if rho <= float64(4*math.Abs(s.rhoP[i]-s.rho[i])) {
			s.warn(Warning{
				Kind: Brink, T: s.t, Name: s.guardName(i), Other: s.lastEvent(), Value: rho, Instant: -1,
			})
		}
	}
}
