package hybrid

import (
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/roots"
)

// Roots that a small change may take away, add or put elsewhere are warned of: guards that are met nearly tangentially,
// that turn back just before a root, or that a jump leaves next to it, and roots about which the interpolant and real
// steps disagree.

// brink warns of events whose condition a jump has left at its threshold but for rounding: not on it, and by no more
// than the last digits of the state make. was has the values of the guards before the jump.
//
// A wave whose last body is silent has only such bodies, since triggers and lapses come first. They move no state: a
// lapse that a trigger makes possible stands at the root that the trigger was found at.
func (s *watcher) brink(was []float64) {
	const near = 0x1p-44
	if e := s.lastFired.Event; e >= 0 && s.events[e].Silent && s.lastTime == s.t {
		return
	}
	known := false
	for i := range s.guards {
		g := &s.guards[i]
		rho := math.Abs(s.rho[i])
		scale := max(math.Abs(was[i]), s.reach[i])
		if g.Event < 0 || g.Watch || g.Instant && g.Clock || !s.arms[i].on || rho == 0 || !(rho <= near*scale) ||
			!(math.Abs(was[i]) > float64(0x1p-30*scale)) {
			continue
		}
		if !known { // seldom
			known = true
			s.near.blur(0x1p-52)
		}
		if rho <= float64(4*math.Abs(s.rhoP[i]-s.rho[i])) {
			s.warn(solvers.Warning{
				Kind: solvers.Brink, T: s.t, Name: s.guardName(i), Other: s.lastEvent(), Value: rho, Instant: -1,
			})
		}
	}
}

// dispute warns when the root is far from where the interpolant has one, at length seen: what other guards do between
// the two was not looked for. A guard that is alone has no others, and steps under control are too short for it to fire
// twice there.
func (s *locator) dispute(seen float64) {
	tr := s.trial
	if math.Abs(s.Hi.H-seen) <= float64(tr.H/64) || len(s.guards) == 1 && s.opts.Fixed == 0 {
		return
	}
	for i := range s.guards {
		g := &s.guards[i]
		if !g.Watch && s.fires(i, &s.live[i], s.Hi.Rho[i], s.Hi.Truth[i]) {
			s.warn(solvers.Warning{
				Kind: solvers.Disputed, T: tr.T + s.Hi.H, Name: s.guardName(i), Instant: -1, Value: tr.T + seen,
			})
			return
		}
	}
}

// graze warns when a guard is met nearly tangentially. That is so when its slope times the length of the trial step
// is small against the range of its values in that step, or when it slows down so much that it would go beyond its
// root by less than a millionth of the range of its values in the run.
func (s *locator) graze(length float64) {
	st := s.kept
	limit := float64(1e-5)
	if s.opts.Fixed == 0 {
		limit = min(max(math.Sqrt(s.tol.Rel), 1e-8), 1e-4)
	}
	f := s.slopeAt(st)
	eps := float64(0x1p-20 * length)
	s.sys.GuardValues(st.T1+eps, s.near.along(eps, f, st.Y1), s.mid.Rho, s.mid.Truth)
	for i := range s.guards {
		if s.guards[i].Kink || s.guards[i].Watch || !s.fires(i, &s.live[i], s.Hi.Rho[i], s.Hi.Truth[i]) {
			continue
		}
		most := math.Abs(s.rho[i])
		for _, p := range s.samples.List {
			most = max(most, math.Abs(p.Rho[i]))
		}
		rate := float64(math.Abs(s.mid.Rho[i]-s.Hi.Rho[i]) * 0x1p20)
		if rate < float64(limit*most) ||
			rate < float64(1e-2*s.reach[i]) && s.beyond(i, st, f, length) < float64(1e-6*s.reach[i]) {
			s.warn(solvers.Warning{
				Kind: solvers.Grazing, T: st.T1, Name: s.guardName(i), Instant: -1,
				Value: rate / most,
			})
		}
	}
}

// beyond estimates how far guard i, at the end of st with field f, goes beyond its root before it turns:
// ρ'²/(2|ρ″|) along the flow, by differences over parts of length. It is infinite where the guard does not slow
// down.
func (s *locator) beyond(i int, st *solvers.Step, f []float64, length float64) float64 {
	const part, small = 0x1p-3, 0x1p-8 // rounding must not show in differences of differences
	n := s.size.N
	at := func(t float64, y, k []float64, h float64) float64 {
		s.sys.GuardValues(t+h, s.near.along(h, k, y), s.rhoP, s.truthP)
		return s.rhoP[i]
	}
	slope := func(t float64, y, k []float64) float64 {
		h := float64(small * length)
		return (at(t, y, k, h) - at(t, y, k, 0)) / h
	}
	t, y, k := st.T1+float64(part*length), make([]float64, n), make([]float64, n+s.size.Q)
	for j := range n {
		y[j] = math.FMA(float64(part*length), f[j], st.Y1[j])
	}
	now := slope(st.T1, st.Y1, f)
	s.sys.Eval(t, y, k)
	curvature := (slope(t, y, k) - now) / float64(part*length)
	if !(curvature*now < 0 || math.Abs(now) <= float64(small*length)*math.Abs(curvature)) {
		return math.Inf(1)
	}
	return float64(now*now) / math.Abs(2*curvature)
}

// nearMisses is the part of a Solver that tells of guards which turn back before their roots, nearer to these than the
// run may be off. The exact solution may have met them.
type nearMisses struct {
	until float64   // the end of the last step that was looked at
	rho   []float64 // [guards] at its last node but one
	gap   float64   // from there to its end
	end   []float64 // [guards] there
	most  []float64 // [guards] largest magnitude in that step
}

// fired notes that guard i fired at the end of the step: it did not turn back there.
func (m *nearMisses) fired(i int) {
	if m.end != nil {
		m.end[i] = math.NaN()
	}
}

// look warns of guards that turn back shortly before their roots within the trial step, or at its start. The values
// at its start and at its nodes are known.
func (m *nearMisses) look(s *watcher) {
	limit := float64(1e-6)
	if s.opts.Fixed == 0 {
		limit = min(float64(10*s.tol.Rel), 1e-4)
	}
	tr, n := s.trial, len(s.guards)
	if m.rho == nil {
		m.rho, m.end, m.most = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	for i := range s.guards {
		g := &s.guards[i]
		a := &s.arms[i]
		if g.Kink || g.Watch || g.Clock || s.dead[i] || !a.on || g.Crossing && a.side == g.Way {
			continue
		}
		near, crosses := m.nearest(s, i, float64(limit*s.reach[i]))
		if crosses || near < 0 {
			continue
		}
		at, lowest, turns := m.turn(s, i, near)
		if !turns || lowest >= float64(limit*s.reach[i]) {
			continue
		}
		if !g.Affine { // and its parabola may be another curve
			_, lowest = m.at(s, i, near)
			if theta := at / tr.H; theta > 0 && theta < 1 {
				lowest = float64(float64(roots.Sign(s.rho[i])) * s.take(theta).Rho[i])
				s.Return()
			}
			if !(lowest < float64(limit*s.reach[i])) {
				continue
			}
		}
		s.warn(solvers.Warning{
			Kind: solvers.NearMiss, T: tr.T + at, Name: s.guardName(i), Instant: -1, Value: max(lowest, 0),
		})
	}
	m.until, m.gap = tr.T1, float64((1-s.Nodes[s.N-1])*tr.H)
	for i := range s.guards {
		m.rho[i], m.end[i] = s.NodeRho[(s.N-2)*n+i], s.NodeRho[(s.N-1)*n+i]
	}
}

// nearest returns the node at which guard i is nearest to its root, -1 where it does not turn there as far as is known:
// a guard that is always nearer than many times the limit rests. It reports whether the guard goes through its root.
func (m *nearMisses) nearest(s *watcher, i int, limit float64) (node int, crosses bool) {
	const least = 16
	n := len(s.guards)
	followed := m.until == s.trial.T && m.end[i] == s.rho[i]
	side := roots.Sign(s.rho[i])
	crosses = followed && roots.Sign(m.rho[i]) != side
	near, most := 0, math.Abs(s.rho[i])
	lowest, last, values := most, s.N, s.NodeRho
	for k := range last {
		v := values[k*n+i]
		crosses = crosses || roots.Sign(v) != side
		v = math.Abs(v)
		if most = max(most, v); v < lowest {
			near, lowest = k+1, v
		}
	}
	before := m.most[i]
	m.most[i] = most
	if near == 0 {
		most = max(most, before)
	}
	if near == last || near == 0 && !followed || most < float64(least*limit) {
		return -1, crosses
	}
	return near, crosses
}

// at returns the length of the step at node k, that before its start for -1, and how far guard i is from its root
// there.
func (m *nearMisses) at(s *watcher, i, k int) (x, distance float64) {
	switch {
	case k < 0:
		return -m.gap, math.Abs(m.rho[i])
	case k == 0:
		return 0, math.Abs(s.rho[i])
	}
	return float64(s.Nodes[k] * s.trial.H), math.Abs(s.NodeRho[(k-1)*len(s.guards)+i])
}

// turn returns where the parabola through the distances of guard i about a node has its least one, and that. It reports
// whether it turns there.
func (m *nearMisses) turn(s *watcher, i, near int) (at, lowest float64, turns bool) {
	x0, f0 := m.at(s, i, near-1)
	x1, f1 := m.at(s, i, near)
	x2, f2 := m.at(s, i, near+1)
	down, up := (f1-f0)/(x1-x0), (f2-f1)/(x2-x1)
	if !(down <= 0 && up >= 0 && up > down) {
		return 0, 0, false
	}
	bend := (up - down) / (x2 - x0)
	slope := math.FMA(bend, x1-x0, down)
	return x1 - slope/float64(2*bend), f1 - float64(slope*slope)/float64(4*bend), true
}
