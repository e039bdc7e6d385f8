package hybrid

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers/roots"
)

// locator is the part of a Solver that finds where in the trial step the first guard fires.
type locator struct {
	*problem
	*moment
	*told
	*stepper
	*readings
	*armed
	near   *vicinity
	search *roots.Search
	tol    *leeway
	roots.Bracket
}

// Fires implements roots.Firing.
func (s *locator) Fires(i int, p *roots.Sample) bool {
	return s.fires(i, &s.live[i], p.Rho[i], p.Truth[i])
}

// Falls implements roots.Firing.
func (s *locator) Falls(i int) bool {
	g := &s.guards[i]
	return (twoSided(g) || g.Watch) && s.live[i].side > 0
}

// find ends the trial step at the first root before sample at, where some guard fires on the interpolant. The
// interpolant only says where to look: the root is that of ψ(h) = g(t+h, Φ_h(y)), with Φ_h the step retaken with
// length h. It is enclosed to one unit in the last place of time, and the end where the guard fires is accepted. The
// result is quiet where real steps disagree with the interpolant or a filter forbids the crossing; the guards that
// seemed to fire then pass this sample.
func (s *locator) find(at int) (verdict, error) {
	s.lane.load()
	if s.anyWatch {
		if v, err := s.seek(at, true); v != quiet || err != nil {
			return v, err
		}
	}
	return s.seek(at, false)
}

// seek is find. With watch, real steps also look for the changes of guards that are only watched: what they are atoms
// of may fire for less time than real steps and the interpolant are apart.
func (s *locator) seek(at int, watch bool) (verdict, error) {
	tr := s.trial
	lo, hi := s.Lo, s.Hi
	lo.Set(0, s.rho, s.truth)
	if at > 0 {
		p := s.samples.List[at-1]
		lo.Set(p.H, p.Rho, p.Truth)
	}
	p := s.samples.List[at]
	hi.Set(p.H, p.Rho, p.Truth)
	some := !watch
	for i := range s.guards {
		a := &s.live[i]
		if s.guards[i].Watch {
			*a = arming{on: watch && lo.Truth[i] != hi.Truth[i], side: -1, from: -1}
			if lo.Truth[i] {
				a.side = 1
			}
			some = some || a.on
			continue
		}
		*a, _ = s.play(i, at)
		if s.guards[i].Clock || s.skip[i] >= at && (twoSided(&s.guards[i]) || a.from >= 0) {
			a.on = false
		}
	}
	if !some {
		return quiet, nil
	}
	floor := lo.H
	seen, slope := s.drawn()
	if slope == 0 {
		if !s.Shrink(float64(1e-7*tr.H), s.seen, nil) {
			return retry, brokenStep(-1)
		}
		if seen, slope = s.Secant(1, 1), s.Steepness(); !(seen > s.Lo.H && seen < s.Hi.H) {
			seen = s.Hi.H
		}
	}
	v, err := s.enclose(seen, slope, floor, at, watch)
	if v != found || err != nil {
		return v, err
	}
	width := max(elem.ULP(max(math.Abs(tr.T), math.Abs(tr.T+s.Hi.H))), s.nearEnough())
	if !s.Shrink(width, s.real, s.keep) {
		return retry, brokenStep(-1)
	}
	s.together(at)
	real := false
	for i := range s.guards {
		g := &s.guards[i]
		real = real || !g.Watch && s.fires(i, &s.live[i], s.Hi.Rho[i], s.Hi.Truth[i]) && s.passes(i, s.Hi.Truth[i])
	}
	if !real {
		if !watch {
			s.pass(s.Hi, at)
		}
		return quiet, nil
	}
	if s.warns() {
		s.graze(tr.H)
		s.dispute(seen)
	}
	s.trial, s.kept = s.kept, s.trial
	for i := range s.guards {
		g := &s.guards[i]
		a := &s.live[i]
		if g.Watch {
			continue
		}
		if g.Clock { // it did not take part, and may fire at this time as well
			*a, _ = s.play(i, at)
		}
		if s.fires(i, a, s.Hi.Rho[i], s.Hi.Truth[i]) {
			s.search.Credit[i] = roots.FullCredit
		} else {
			s.settle(i, a, s.Hi.Rho[i], s.Hi.Truth[i], at)
		}
		s.arms[i] = *a
	}
	copy(s.rho, s.Hi.Rho)
	copy(s.truth, s.Hi.Truth)
	return found, nil
}

// together has the step end a place of the time later where that has more fire, and nothing less: what lies exactly on
// its threshold may fire there, as an event does by a crossing, while a condition of the same margin is not met yet.
func (s *locator) together(at int) {
	stands := func(i int) bool {
		g := &s.guards[i]
		return !g.Watch && !g.Clock && s.Hi.Rho[i] == 0 && s.live[i].on && !s.fires(i, &s.live[i], 0, s.Hi.Truth[i])
	}
	some := false
	for i := range s.guards {
		some = some || stands(i)
	}
	h := s.Hi.H + elem.ULP(max(math.Abs(s.trial.T), math.Abs(s.trial.T+s.Hi.H)))
	if !some || !(h <= s.samples.List[at].H) || !s.real(h) {
		return
	}
	more := false
	for i := range s.guards {
		switch fires := s.fires(i, &s.live[i], s.Mid.Rho[i], s.Mid.Truth[i]); {
		case stands(i):
			more = more || fires
		case !fires && s.fires(i, &s.live[i], s.Hi.Rho[i], s.Hi.Truth[i]):
			return
		}
	}
	if more {
		s.raise()
	}
}

// drawn returns the first root in the bracket of the polynomials of the guards that fire at its end, and the magnitude
// of the slope there, per unit of time. The slope is 0 where there are no polynomials that are the guards.
func (s *locator) drawn() (first, slope float64) {
	if !s.plain {
		return 0, 0
	}
	lo, hi, h, values := s.Lo, s.Hi, s.trial.H, s.search.Values
	first = math.Inf(1)
	for i := range s.guards {
		if !s.fires(i, &s.live[i], hi.Rho[i], hi.Truth[i]) {
			continue
		}
		values[0] = s.rho[i]
		for j, at := 1, i; j < len(values); j, at = j+1, at+len(s.guards) {
			values[j] = s.samples.NodeRho[at]
		}
		x, by := s.search.Root(s.search.Coefficients(1), lo.H/h, hi.H/h, lo.Rho[i], hi.Rho[i])
		if !(by > 0 && by <= math.MaxFloat64) {
			return 0, 0
		}
		if x = float64(x * h); x < first {
			first, slope = x, by/h
		}
	}
	if !(first > lo.H && first <= hi.H) {
		return 0, 0
	}
	return first, slope
}

// nearEnough returns how far behind its root a guard that fires at the end of the bracket may end the step: the least
// tolerance of those that do.
func (s *locator) nearEnough() float64 {
	tol := math.Inf(1)
	for i := range s.guards {
		g := &s.guards[i]
		if s.fires(i, &s.live[i], s.Hi.Rho[i], s.Hi.Truth[i]) {
			if g.Event < 0 {
				return 0
			}
			tol = min(tol, s.events[g.Event].Tol)
		}
	}
	return tol
}

// pass marks the guards that fire at p as not to fire at sample at of the trial step.
func (s *locator) pass(p *roots.Sample, at int) {
	for i := range s.guards {
		if s.fires(i, &s.live[i], p.Rho[i], p.Truth[i]) {
			s.skip[i] = at
		}
	}
}

// real retakes the trial step with length h and reads the guards at its end into Mid.
func (s *locator) real(h float64) bool {
	st := s.retake(h)
	s.Mid.H = h
	s.sys.GuardValues(st.T1, st.Y1, s.Mid.Rho, s.Mid.Truth)
	return simd.Finite(st.Y1) && simd.Finite(st.DQ) && simd.Finite(s.Mid.Rho)
}

// keep keeps the step that was retaken last, at whose end something fires.
func (s *locator) keep() { s.kept, s.spare = s.spare, s.kept }

// raise makes Mid the end of the bracket where something fires. The step taken to it is kept.
func (s *locator) raise() {
	s.Raise()
	s.keep()
}

// seen evaluates the guards on the interpolant at length h into Mid.
func (s *locator) seen(h float64) bool {
	s.interpolate(s.trial, h/s.trial.H)
	s.Mid.H = h
	s.sys.GuardValues(s.trial.T+h, s.yi, s.Mid.Rho, s.Mid.Truth)
	return simd.Finite(s.Mid.Rho)
}

// enclose turns the bracket on the interpolant into one between steps that were really taken. The interpolant has the
// root at x, with a slope. floor is the length of the sample before at; below it nothing fires.
//
// The step of length x tells by how much it is off, and the next one is as far on the other side of the root. Where the
// slope tells of the root but for rounding, the next one is to be there, and the one after that next to it.
func (s *locator) enclose(x, slope, floor float64, at int, watch bool) (verdict, error) {
	tr := s.trial
	if s.kept == nil {
		s.kept, s.spare = s.newStep(), s.newStep()
		s.kept.Y0, s.spare.Y0 = nil, nil
	}
	if !s.real(x) {
		return retry, brokenStep(-1)
	}
	shown := s.samples.List[at].H
	tiny := elem.ULP(max(math.Abs(tr.T), math.Abs(tr.T1)))
	near, last := true, 0.0
	stride := func() float64 {
		off := 0.0
		for i := range s.guards {
			if slope > 0 && s.fires(i, &s.live[i], s.Hi.Rho[i], s.Hi.Truth[i]) {
				off = max(off, math.Abs(s.Mid.Rho[i])/slope)
			}
		}
		if near = near && off < float64(1000*tiny); near {
			near = false
			return max(off, tiny)
		}
		last = max(tiny, float64(2*off), float64(8*last))
		return min(last, tr.H)
	}
	if s.Any(s.Mid) {
		for s.Any(s.Mid) {
			by := stride()
			s.raise()
			if s.Hi.H <= floor {
				for i := range s.guards { // what a sample switched on is not on for real steps
					if s.live[i].from >= 0 && s.fires(i, &s.live[i], s.Hi.Rho[i], s.Hi.Truth[i]) {
						s.skip[i] = at
						return quiet, nil
					}
				}
				floor = 0
			}
			x = max(s.Hi.H-by, floor)
			if x <= 0 {
				s.Lo.Set(0, s.rho, s.truth)
				return found, nil
			}
			if !s.real(x) {
				return retry, brokenStep(-1)
			}
		}
		s.Lower()
		return found, nil
	}
	for {
		by := stride()
		s.Lower()
		if s.Lo.H >= tr.H {
			if !watch {
				s.pass(s.Hi, at)
			}
			return quiet, nil
		}
		if x = min(s.Lo.H+by, tr.H); s.Lo.H < shown {
			x = min(x, shown) // it may not fire for long
		}
		if !s.real(x) {
			return retry, brokenStep(-1)
		}
		if s.Any(s.Mid) {
			s.raise()
			return found, nil
		}
	}
}
