package solvers

import "math"

// nearMisses is the part of a Solver that tells of guards which turn back before their roots, nearer to these than the
// run may be off. The exact solution may have met them.
type nearMisses struct {
	until float64   // the end of the last step that was looked at
	rho   []float64 // [guards] at its last node but one
	gap   float64   // from there to its end
	end   []float64 // [guards] there
	most  []float64 // [guards] largest magnitude in that step
}

// turned warns of guards that turn back shortly before their roots within the trial step, or at its start. The values
// at its start and at its nodes are known.
func (s *Solver) turned() {
	const least = 16 // a guard that never leaves its root by this many times the limit does not turn, but rests
	limit := float64(1e-6)
	if s.opts.Fixed == 0 {
		limit = min(float64(10*s.tol.Rel), 1e-4)
	}
	m, tr, n := &s.misses, s.trial, len(s.guards)
	if m.rho == nil {
		m.rho, m.end, m.most = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	at := func(k, i int) (x, distance float64) { // of node k, -1 for that before the start
		switch {
		case k < 0:
			return -m.gap, math.Abs(m.rho[i])
		case k == 0:
			return 0, math.Abs(s.rho[i])
		}
		return float64(s.nodes[k] * tr.H), math.Abs(s.nodeRho[(k-1)*n+i])
	}
	for i, g := range s.guards {
		a := &s.arms[i]
		if g.Kink || g.Watch || g.Clock || a.dead || !a.on || g.Crossing && a.side == g.Way {
			continue
		}
		followed := m.until == tr.T && m.end[i] == s.rho[i]
		side, crosses := sign(s.rho[i]), followed && sign(m.rho[i]) != sign(s.rho[i])
		near, most := 0, math.Abs(s.rho[i])
		lowest := most
		for k := range s.n {
			v := s.nodeRho[k*n+i]
			crosses = crosses || sign(v) != side
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
		if crosses || near == s.n || near == 0 && !followed || most < float64(least*float64(limit*s.reach[i])) {
			continue
		}
		x0, f0 := at(near-1, i)
		x1, f1 := at(near, i)
		x2, f2 := at(near+1, i)
		down, up := (f1-f0)/(x1-x0), (f2-f1)/(x2-x1)
		if !(down <= 0 && up >= 0 && up > down) {
			continue
		}
		bend := (up - down) / (x2 - x0)
		slope := math.FMA(bend, x1-x0, down)
		turn := x1 - slope/float64(2*bend)
		if lowest = f1 - float64(slope*slope)/float64(4*bend); lowest >= float64(limit*s.reach[i]) {
			continue
		}
		if !g.Affine { // and its parabola may be another curve
			lowest = f1
			if theta := turn / tr.H; theta > 0 && theta < 1 {
				lowest = float64(float64(side) * s.take(theta).rho[i])
				s.used--
			}
			if !(lowest < float64(limit*s.reach[i])) {
				continue
			}
		}
		s.warn(Warning{
			Kind: NearMiss, T: tr.T + turn, Name: s.guardName(i), Instant: -1, Value: max(lowest, 0),
		})
	}
	m.until, m.gap = tr.T1, float64((1-s.nodes[s.n-1])*tr.H)
	for i := range s.guards {
		m.rho[i], m.end[i] = s.nodeRho[(s.n-2)*n+i], s.nodeRho[(s.n-1)*n+i]
	}
}
