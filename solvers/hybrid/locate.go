package hybrid

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers/roots"
)

// find ends the trial step at the first root before sample at, where some guard fires on the interpolant. The
// interpolant only says where to look: the root is that of ψ(h) = g(t+h, Φ_h(y)), with Φ_h the step retaken with
// length h. It is enclosed to one unit in the last place of time, and the end where the guard fires is accepted. The
// result is quiet where real steps disagree with the interpolant or a filter forbids the crossing; the guards that
// seemed to fire then pass this sample.
func (s *Solver) find(at int) (verdict, error) {
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
func (s *Solver) seek(at int, watch bool) (verdict, error) {
	tr := s.trial
	lo, hi := s.lo, s.hi
	lo.Set(0, s.rho, s.truth)
	if at > 0 {
		p := s.samples[at-1]
		lo.Set(p.H, p.Rho, p.Truth)
	}
	p := s.samples[at]
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
		if !s.shrink(false, float64(1e-7*tr.H)) {
			return retry, s.broken()
		}
		if seen, slope = s.secant(1, 1), s.steepness(); !(seen > s.lo.H && seen < s.hi.H) {
			seen = s.hi.H
		}
	}
	v, err := s.enclose(seen, slope, floor, at, watch)
	if v != found || err != nil {
		return v, err
	}
	if !s.shrink(true, max(elem.ULP(max(math.Abs(tr.T), math.Abs(tr.T+s.hi.H))), s.nearEnough())) {
		return retry, s.broken()
	}
	real := false
	for i := range s.guards {
		g := &s.guards[i]
		real = real || !g.Watch && s.fires(i, &s.live[i], s.hi.Rho[i], s.hi.Truth[i]) && s.passes(i, s.hi.Truth[i])
	}
	if !real {
		if !watch {
			s.pass(s.hi, at)
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
		if s.fires(i, a, s.hi.Rho[i], s.hi.Truth[i]) {
			s.credit[i] = fullCredit
		} else {
			s.settle(i, a, s.hi.Rho[i], s.hi.Truth[i], at)
		}
		s.arms[i] = *a
	}
	copy(s.rho, s.hi.Rho)
	copy(s.truth, s.hi.Truth)
	return found, nil
}

// drawn returns the first root in the bracket of the polynomials of the guards that fire at its end, and the magnitude
// of the slope there, per unit of time. The slope is 0 where there are no polynomials that are the guards.
func (s *Solver) drawn() (first, slope float64) {
	if !s.plain {
		return 0, 0
	}
	lo, hi, h := s.lo, s.hi, s.trial.H
	first = math.Inf(1)
	for i := range s.guards {
		if !s.fires(i, &s.live[i], hi.Rho[i], hi.Truth[i]) {
			continue
		}
		s.Values[0] = s.rho[i]
		for j, at := 1, i; j < len(s.Values); j, at = j+1, at+len(s.guards) {
			s.Values[j] = s.nodeRho[at]
		}
		x, by := s.Root(s.Coefficients(1), lo.H/h, hi.H/h, lo.Rho[i], hi.Rho[i])
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

// steepness returns the largest magnitude of the slopes that guards have over the bracket, of those that fire at its
// end.
func (s *Solver) steepness() (largest float64) {
	for i := range s.guards {
		if s.fires(i, &s.live[i], s.hi.Rho[i], s.hi.Truth[i]) {
			largest = max(largest, math.Abs(s.hi.Rho[i]-s.lo.Rho[i])/(s.hi.H-s.lo.H))
		}
	}
	return largest
}

// nearEnough returns how far behind its root a guard that fires at the end of the bracket may end the step: the least
// tolerance of those that do.
func (s *Solver) nearEnough() float64 {
	tol := math.Inf(1)
	for i := range s.guards {
		g := &s.guards[i]
		if s.fires(i, &s.live[i], s.hi.Rho[i], s.hi.Truth[i]) {
			if g.Event < 0 {
				return 0
			}
			tol = min(tol, s.events[g.Event].Tol)
		}
	}
	return tol
}

// broken rejects a trial step in which something was not finite. With steps of fixed length that is an error.
func (s *Solver) broken() error {
	if s.opts.Fixed > 0 {
		return s.badStep(s.trial)
	}
	return s.reject(float64(0.25*s.trial.H), true)
}

// pass marks the guards that fire at p as not to fire at sample at of the trial step.
func (s *Solver) pass(p *roots.Sample, at int) {
	for i := range s.guards {
		if s.fires(i, &s.live[i], p.Rho[i], p.Truth[i]) {
			s.skip[i] = at
		}
	}
}

// real retakes the trial step with length h and writes the guards at its end to s.mid.
func (s *Solver) real(h float64) bool {
	tr, st := s.trial, s.spare
	st.T, st.H, st.T1, st.Y0 = tr.T, h, tr.T+h, tr.Y0
	if h == tr.H {
		st.T1 = tr.T1
	}
	s.ready(st)
	st.Again = tr.Member == st.Member && s.lane.made()
	w := s.size.N + s.size.Q
	copy(st.K[:w], tr.K[:w])
	s.method.Step(s.sys, st, true)
	s.stats.Evals += evals(&s.info, true)
	s.stats.Located++
	s.mid.H = h
	s.sys.GuardValues(st.T1, st.Y1, s.mid.Rho, s.mid.Truth)
	return simd.Finite(st.Y1) && simd.Finite(st.DQ) && simd.Finite(s.mid.Rho)
}

// seen evaluates the guards on the interpolant at length h into s.mid.
func (s *Solver) seen(h float64) bool {
	s.interpolate(s.trial, h/s.trial.H)
	s.mid.H = h
	s.sys.GuardValues(s.trial.T+h, s.yi, s.mid.Rho, s.mid.Truth)
	return simd.Finite(s.mid.Rho)
}

// anyFires reports whether a guard fires at p.
func (s *Solver) anyFires(p *roots.Sample) bool {
	for i := range s.guards {
		if s.fires(i, &s.live[i], p.Rho[i], p.Truth[i]) {
			return true
		}
	}
	return false
}

// raise makes mid the end of the bracket where something fires. The step taken to it is kept.
func (s *Solver) raise() {
	s.hi, s.mid = s.mid, s.hi
	s.kept, s.spare = s.spare, s.kept
}

// lower makes mid the end of the bracket where nothing fires.
func (s *Solver) lower() { s.lo, s.mid = s.mid, s.lo }

// shrink narrows [lo, hi] to the given width by the secant through its ends,
// with the Illinois rule (M. Dowell, P. Jarratt, BIT 11 (1971) 168–174), and
// halving where that is slow. It returns false when something was not finite.
func (s *Solver) shrink(taken bool, width float64) bool {
	weight, side, slow := 1.0, 0, 0 // weight of the end opposite to side
	for {
		gap := s.hi.H - s.lo.H
		if gap <= width {
			return true
		}
		wlo, whi := 1.0, 1.0
		if side > 0 {
			wlo = weight
		} else if side < 0 {
			whi = weight
		}
		c := s.secant(wlo, whi)
		if slow > 2 {
			c, slow = s.lo.H+float64(0.5*gap), 0
		}
		keep := min(width, float64(0.5*gap))
		c = max(min(c, s.hi.H-keep), s.lo.H+keep)
		if !(c > s.lo.H && c < s.hi.H) {
			return true
		}
		if !(taken && s.real(c) || !taken && s.seen(c)) {
			return false
		}
		now := -1
		if s.anyFires(s.mid) {
			now = 1
		}
		if now == side {
			weight *= 0.5
		} else {
			weight, side = 1, now
		}
		if now > 0 && taken {
			s.raise()
		} else if now > 0 {
			s.hi, s.mid = s.mid, s.hi
		} else {
			s.lower()
		}
		if s.hi.H-s.lo.H > float64(0.5*gap) {
			slow++
		} else {
			slow = 0
		}
	}
}

// secant returns the least estimate of a root among the guards that fire at hi.
func (s *Solver) secant(wlo, whi float64) float64 {
	lo, hi := s.lo, s.hi
	gap := hi.H - lo.H
	best := math.Inf(1)
	for i := range s.guards {
		g := &s.guards[i]
		a := &s.live[i]
		if !s.fires(i, a, hi.Rho[i], hi.Truth[i]) {
			continue
		}
		flo, fhi := float64(wlo*lo.Rho[i]), float64(whi*hi.Rho[i])
		if (twoSided(g) || g.Watch) && a.side > 0 {
			flo, fhi = -flo, -fhi
		}
		c := lo.H + float64(0.5*gap)
		if flo <= 0 && fhi >= 0 && flo < fhi {
			c = math.FMA(gap, -flo/(fhi-flo), lo.H)
		}
		best = min(best, c)
	}
	return best
}

// enclose turns the bracket on the interpolant into one between steps that were really taken. The interpolant has the
// root at x, with a slope. floor is the length of the sample before at; below it nothing fires.
//
// The step of length x tells by how much it is off, and the next one is as far on the other side of the root. Where the
// slope tells of the root but for rounding, the next one is to be there, and the one after that next to it.
func (s *Solver) enclose(x, slope, floor float64, at int, watch bool) (verdict, error) {
	tr := s.trial
	if s.kept == nil {
		s.kept, s.spare = s.newStep(), s.newStep()
		s.kept.Y0, s.spare.Y0 = nil, nil
	}
	if !s.real(x) {
		return retry, s.broken()
	}
	shown := s.samples[at].H
	tiny := elem.ULP(max(math.Abs(tr.T), math.Abs(tr.T1)))
	near, last := true, 0.0
	stride := func() float64 {
		off := 0.0
		for i := range s.guards {
			if slope > 0 && s.fires(i, &s.live[i], s.hi.Rho[i], s.hi.Truth[i]) {
				off = max(off, math.Abs(s.mid.Rho[i])/slope)
			}
		}
		if near = near && off < float64(1000*tiny); near {
			near = false
			return max(off, tiny)
		}
		last = max(tiny, float64(2*off), float64(8*last))
		return min(last, tr.H)
	}
	if s.anyFires(s.mid) {
		for s.anyFires(s.mid) {
			by := stride()
			s.raise()
			if s.hi.H <= floor {
				for i := range s.guards { // what a sample switched on is not on for real steps
					if s.live[i].from >= 0 && s.fires(i, &s.live[i], s.hi.Rho[i], s.hi.Truth[i]) {
						s.skip[i] = at
						return quiet, nil
					}
				}
				floor = 0
			}
			x = max(s.hi.H-by, floor)
			if x <= 0 {
				s.lo.Set(0, s.rho, s.truth)
				return found, nil
			}
			if !s.real(x) {
				return retry, s.broken()
			}
		}
		s.lower()
		return found, nil
	}
	for {
		by := stride()
		s.lower()
		if s.lo.H >= tr.H {
			if !watch {
				s.pass(s.hi, at)
			}
			return quiet, nil
		}
		if x = min(s.lo.H+by, tr.H); s.lo.H < shown {
			x = min(x, shown) // it may not fire for long
		}
		if !s.real(x) {
			return retry, s.broken()
		}
		if s.anyFires(s.mid) {
			s.raise()
			return found, nil
		}
	}
}
