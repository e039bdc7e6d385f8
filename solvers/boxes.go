package solvers

import "math"

// boxes is the part of a Solver that looks for roots that guards hide between samples where they are not affine in the
// state: a peak of exp(-((x - a)/w)²) leaves no trace beside it. A box is a stretch of the step with the range of the
// state in it. Where bounds of the guard over the box do not exclude zero, the box is halved, until its middle shows
// another sign, or it is too short to matter.
type boxes struct {
	sys         Encloser // nil for none
	guards      []int    // the guards that are looked at
	least, most []float64
	lo, hi      []float64
	level       [boxLevels + 1][]float64 // states at the middles of boxes, by depth
	end         float64                  // behind it nothing matters: something fires there
	credit      int                      // boxes that may be looked at
}

const (
	boxLevels = 22
	boxCredit = 2048 // beyond boxStep a step
	boxStep   = 12
	// boxPart is the part of a guard's largest value within which it is not told from zero.
	boxPart = 1e-10
)

func newBoxes(sys System, guards []Guard, z Size) (b boxes) {
	for i, g := range guards {
		if !g.Affine && !g.Clock {
			b.guards = append(b.guards, i)
		}
	}
	e, ok := sys.(Encloser)
	if !ok || len(b.guards) == 0 {
		return b
	}
	b.sys = e
	b.least, b.most = make([]float64, len(guards)), make([]float64, len(guards))
	b.lo, b.hi = make([]float64, z.N), make([]float64, z.N)
	for k := range b.level {
		b.level[k] = make([]float64, z.N)
	}
	return b
}

// hidden adds samples where guards that are not affine have a sign that no other sample shows. It returns false where
// a guard is not a number, as look does.
func (s *Solver) hidden() (ok bool, err error) {
	b := &s.boxes
	if b.sys == nil {
		return true, nil
	}
	b.credit = min(b.credit+boxStep, boxCredit)
	b.end = 1
	at := len(s.samples)
	for i := range s.guards {
		if _, j := s.play(i, at); j < at {
			at, b.end = j, s.samples[j].theta
		}
	}
	return s.halve(0, 0, s.trial.Y0, s.trial.Y1, s.start, s.samples[len(s.samples)-1])
}

// halve looks for what guards hide in the box of 2^-depth of the step that begins at the fraction a, with the states
// and the values of the guards at its ends.
func (s *Solver) halve(depth int, a float64, from, to []float64, p, q *sample) (ok bool, err error) {
	b, tr := &s.boxes, s.trial
	if a >= b.end || b.credit <= 0 {
		return true, nil
	}
	b.credit--
	w := math.Ldexp(1, -depth)
	theta := a + float64(0.5*w)
	middle := b.level[depth]
	s.interpolate(tr, theta)
	copy(middle, s.yi)
	for n, y := range middle {
		x, z := from[n], to[n]
		beyond := math.Abs(x - y + (z - y)) // what a parabola reaches beyond these three, and more
		b.lo[n], b.hi[n] = min(x, y, z)-beyond, max(x, y, z)+beyond
	}
	b.sys.GuardBounds(math.FMA(a, tr.H, tr.T), math.FMA(a+w, tr.H, tr.T), b.lo, b.hi, b.least, b.most)
	doubt := false
	for _, i := range b.guards {
		doubt = doubt || s.doubts(i, p, q)
	}
	if !doubt || depth == boxLevels {
		return true, nil
	}
	m := s.spareSample()
	m.theta, m.h = theta, float64(theta*tr.H)
	s.sys.GuardValues(math.FMA(theta, tr.H, tr.T), middle, m.rho, m.truth)
	shows := false
	for i, rho := range m.rho {
		if rho != rho {
			if s.opts.Fixed > 0 {
				return false, s.badGuard(i, tr)
			}
			return false, s.broken()
		}
	}
	for _, i := range b.guards {
		shows = shows || s.doubts(i, p, q) && differs(i, p, m)
	}
	if shows {
		s.insert(m)
	}
	if ok, err = s.halve(depth+1, a, from, middle, p, m); ok {
		ok, err = s.halve(depth+1, theta, middle, to, m, q)
	}
	return ok, err
}

// doubts reports whether guard i, by the bounds over a box, may hide roots between the samples p and q at its ends.
func (s *Solver) doubts(i int, p, q *sample) bool {
	least, most := s.boxes.least[i], s.boxes.most[i]
	return !s.arms[i].dead && !(least > 0 || most < 0 || most-least <= float64(boxPart*s.reach[i])) && !differs(i, p, q)
}

// differs reports whether guard i has another sign or truth at p than at q.
func differs(i int, p, q *sample) bool {
	return p.truth[i] != q.truth[i] || (p.rho[i] < 0) != (q.rho[i] < 0)
}
