package hybrid

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// Between the samples of a step a guard may go through zero and come back. Whether it does is asked of the polynomial
// through its samples, which are those of Chebyshev and Lobatto, one more than the dense output has coefficients: for
// a guard that is affine in the state the polynomial is the guard on the dense output, and its last coefficient is
// zero. Its coefficients in Bernstein's basis enclose it. They are halved (de Casteljau) until each part is monotone
// or has no zero, or is too short to say. Where the polynomial shows a sign that no sample has, the guard is sampled
// there.
//
// The last coefficient and a probe off the samples tell how far other guards are from their polynomials. Where that
// leaves a doubt, the stretch is halved and sampled anew. Guards that the model says are affine need no probe. Others
// are enclosed as well, which finds what no sample comes near: see enclose.go.

// The bounds of the search.
const (
	fullCredit = 512 // samples that a guard may have by halving, beyond creditStep a step
	creditStep = 2
	maxPanels  = 10 // halvings of a step
	farPanels  = 6  // where the samples are far from zero
	fineLevel  = 24 // halvings of a polynomial that is the guard
	roughLevel = 5  // and of one that is not
	// A polynomial of values between a and b, at these nodes, does not leave them by more than (b - a)·(spread - 1)/2
	// (Lebesgue's constant, for up to 12 nodes).
	spread = 3
	// The part of the range of its values that the last coefficient of a guard may be. Where it is more, one sample
	// stands out from its neighbours, as on the slopes of a peak.
	peaked = 0x1p-8
)

// polynomial is the part of a Solver that looks for roots between samples.
type polynomial struct {
	*panels
	each []*panels // of each member of the method
	pool []*sample
	used int
	// what the first samples of the pool hold, which are those of the nodes
	nodeRho   []float64 // [nodes][guards]
	nodeTruth []bool

	reads   solvers.GuardReader  // nil for none
	reading solvers.GuardReading // of the present member of the method; nil where there are no reads
	start   *sample              // the present
	credit  []int                // [guards]
	rough   []bool               // [guards] no polynomial in this step

	runs   []stretch
	guard  int
	a, w   float64 // start and length of the panel
	off    float64 // how far the guard may be from the polynomial
	levels int
	smooth bool // its slope is that of the polynomial, roughly: no corner is near its ends
}

// panels are the work space for polynomials of a degree.
type panels struct {
	*bernstein.Basis
	panels      [maxPanels + 1][]*sample
	values      []float64                // [n+1] of the present guard
	left, right [fineLevel + 1][]float64 // [level][n+1]
}

// stretch is where a polynomial has one sign, as far as it was looked at, and where it is farthest from zero.
type stretch struct {
	sign     int8
	from, to float64
	at, most float64
}

func newPolynomial(guards []solvers.Guard, members []solvers.Info) polynomial {
	p := polynomial{start: &sample{}, credit: make([]int, len(guards)), rough: make([]bool, len(guards))}
	for i := range members {
		b := bernstein.Of(members[i].ReadDegree())
		at := slices.IndexFunc(p.each, func(x *panels) bool { return x.Basis == b })
		if at < 0 {
			p.each = append(p.each, newPanels(b))
		} else {
			p.each = append(p.each, p.each[at])
		}
	}
	p.panels = p.each[0]
	n, nodes := len(guards), 0
	for _, x := range p.each {
		nodes = max(nodes, x.N)
	}
	p.nodeRho, p.nodeTruth = make([]float64, nodes*n), make([]bool, nodes*n)
	for i := range nodes {
		p.pool = append(p.pool, &sample{rho: p.nodeRho[i*n : (i+1)*n], truth: p.nodeTruth[i*n : (i+1)*n]})
	}
	for range nodes {
		p.pool = append(p.pool, newSample(n))
	}
	return p
}

// use makes the samples those for steps of a member of the method, m.
func (p *polynomial) use(member int, sys solvers.System, m solvers.Method) {
	if len(p.each) == 0 {
		return
	}
	p.panels = p.each[member]
	p.reads, _ = sys.(solvers.GuardReader)
	if p.reading, _ = m.(solvers.GuardReading); p.reading == nil {
		p.reads = nil
	}
}

func newPanels(b *bernstein.Basis) *panels {
	n, p := b.N, &panels{Basis: b, values: make([]float64, b.N+1)}
	slab := make([]float64, 2*len(p.left)*(n+1))
	for i := range p.left {
		p.left[i], p.right[i], slab = slab[:n+1:n+1], slab[n+1:2*(n+1):2*(n+1)], slab[2*(n+1):]
	}
	p.panels[0] = make([]*sample, n+1)
	return p
}

// recycle forgets the samples of the last trial step.
func (s *Solver) recycle() {
	s.samples, s.used = s.samples[:0], 0
	s.start.rho, s.start.truth = s.rho, s.truth
}

// spareSample returns a sample that is not in use.
func (s *Solver) spareSample() *sample {
	if s.used == len(s.pool) {
		s.pool = append(s.pool, newSample(len(s.guards)))
	}
	s.used++
	return s.pool[s.used-1]
}

// insert puts p among the samples, by length.
func (s *Solver) insert(p *sample) {
	s.samples = append(s.samples, p)
	for j := len(s.samples) - 1; j > 0 && s.samples[j-1].theta > p.theta; j-- {
		s.samples[j-1], s.samples[j] = p, s.samples[j-1]
	}
}

// between adds the samples that the samples of the nodes show to be missing. It returns false where one of them is
// not a number, as look does.
func (s *Solver) between() (ok bool, err error) {
	whole := s.panels.panels[0]
	whole[0] = s.start
	copy(whole[1:], s.samples)
	if ok, err = s.inspect(0, 0, 1); ok {
		ok, err = s.corners()
	}
	if ok && len(s.boxes.guards) > 0 {
		ok, err = s.hidden()
	}
	if !ok || !s.anyWatch {
		return ok, err
	}
	return s.watchRoots()
}

// inspect looks between the samples panels[depth] of the stretch of length w that begins at a.
func (s *Solver) inspect(depth int, a, w float64) (ok bool, err error) {
	n := s.N
	p := s.panels.panels[depth]
	var probe *sample
	doubt := false
	for i := range s.guards {
		g := &s.guards[i]
		if s.arms[i].dead || g.Clock && !g.Watch {
			continue
		}
		lo, hi := s.low[i], s.high[i]
		if depth > 0 {
			lo, hi = extent(i, p)
		}
		reach, far := hi-lo, far(lo, hi)
		if g.Affine && far { // the usual case
			continue
		}
		largest, last, values := max(hi, -lo), 0.0, s.values
		for j, q := range p {
			v := q.rho[i]
			values[j] = v
			last += float64(s.Last[j] * v)
		}
		if last = math.Abs(last); !(reach > float64(0x1p-44*largest) && reach < math.MaxFloat64) {
			continue
		}
		wild := last > float64(peaked*reach) && depth < farPanels && s.credit[i] >= 2*n
		if far && !wild {
			continue
		}
		if depth == 0 {
			s.credit[i] = min(s.credit[i]+creditStep, fullCredit)
		}
		noise := float64(0x1p-50 * s.Amplify * largest)
		// The polynomial of an affine guard is the guard, and needs no probe.
		fine := g.Affine && last <= float64(4*noise)
		if !fine {
			if probe == nil {
				if probe, err = s.look(math.FMA(s.Probe, w, a)); probe == nil {
					return false, err
				}
			}
			there, before := -probe.rho[i], 0.0
			for j, q := range p {
				there = math.FMA(s.AtProbe[j], q.rho[i], there)
				before = math.FMA(s.Before[j], q.rho[i], before)
			}
			rough := max(last, math.Abs(there))
			fine = rough <= float64(4*noise)
			s.smooth = fine || max(rough, math.Abs(before)) < float64(0x1p-20*reach)
			s.rough[i] = s.rough[i] || !fine
			s.off, s.levels = float64(16*max(rough, noise, math.Abs(before))), roughLevel
		}
		if fine || depth == maxPanels || s.credit[i] < 2*n {
			s.off, s.levels, fine, s.smooth = noise, fineLevel, true, true
		}
		s.guard, s.a, s.w, s.runs = i, a, w, s.runs[:0]
		scale := 1.0
		if largest > 0x1p900 { // sums of such values may overflow, and a NaN has no sign to follow
			scale = 0x1p-100
		}
		s.off *= scale
		b := s.coefficients(scale)
		if fine && s.shown(b) {
			continue
		}
		if (wild || s.divide(b, 0, 1, 0)) && !fine {
			if !doubt {
				s.credit[i] -= 2 * n
			}
			doubt = true
			if at := corner(i, p[0], p[1], p[n-1], p[n]); at > 0 {
				if q, err := s.look(at); q == nil {
					return false, err
				}
			}
			continue
		}
		if ok, err = s.missing(); !ok {
			return false, err
		}
	}
	if !doubt {
		return true, nil
	}
	first := a
	w *= 0.5
	middle, err := s.look(a + w)
	if middle == nil {
		return false, err
	}
	if s.panels.panels[depth+1] == nil {
		s.panels.panels[depth+1] = make([]*sample, n+1)
	}
	half := s.panels.panels[depth+1]
	for side, ends := range [2][2]*sample{{p[0], middle}, {middle, p[n]}} {
		half[0], half[n] = ends[0], ends[1]
		if side == 1 {
			a = first + w
		}
		for j := 1; j < n; j++ {
			if half[j], err = s.look(math.FMA(s.Nodes[j], w, a)); half[j] == nil {
				return false, err
			}
		}
		if ok, err = s.inspect(depth+1, a, w); !ok || side == 0 && s.anyBefore(middle) {
			return ok, err // the step will end there
		}
	}
	return true, nil
}

// coefficients writes those of the present values times scale, in Bernstein's basis, to s.left[0].
func (s *Solver) coefficients(scale float64) []float64 {
	b, values, rows := s.left[0], s.values, s.Rows
	n := len(values)
	for r := 0; r < n; r += 2 { // two at once, since each waits for its sum; the last one perhaps twice
		next := min(r+1, n-1)
		here, there := rows[r*n:][:n], rows[next*n:][:n]
		x, y := 0.0, 0.0
		for j, v := range values {
			v = float64(scale * v)
			x += float64(here[j] * v)
			y += float64(there[j] * v)
		}
		b[r], b[next] = x, y
	}
	return b
}

// far reports whether a polynomial with values between lo and hi at the nodes has no zero.
func far(lo, hi float64) bool {
	beyond := float64(0.5 * (spread - 1) * (hi - lo))
	return lo > beyond || -hi > beyond
}

// corner returns where the line through samples a and b of guard i meets that through c and d beyond zero, or nearly,
// between b and c, or 0. A guard that has a corner there, as |x - c| has, is no polynomial.
func corner(i int, a, b, c, d *sample) float64 {
	side := sign(a.rho[i])
	left, right := math.Abs(b.rho[i]), math.Abs(c.rho[i])
	down := (left - math.Abs(a.rho[i])) / (b.theta - a.theta)
	up := (math.Abs(d.rho[i]) - right) / (d.theta - c.theta)
	if side == 0 || sign(b.rho[i]) != side || sign(c.rho[i]) != side || sign(d.rho[i]) != side ||
		!(down < 0 && up > 0) {
		return 0
	}
	width := c.theta - b.theta
	at := (right - left - float64(up*width)) / (down - up)
	if math.FMA(down, at, left) > float64(0.25*min(left, right)) || !(at > 0 && at < width) {
		return 0
	}
	return b.theta + at
}

// corners adds samples at what may be corners of guards that are no polynomials, between samples on one side of zero.
func (s *Solver) corners() (ok bool, err error) {
	for i := range s.guards {
		if !s.rough[i] {
			continue
		}
		s.rough[i] = false
		for range 3 { // the lines bend
			a, b, n := s.start, s.samples[0], len(s.samples)
			for j := 2; j < len(s.samples); j++ {
				c, d := s.samples[j-1], s.samples[j]
				if at := corner(i, a, b, c, d); at > 0 {
					if q, err := s.look(at); q == nil {
						return false, err
					}
					c = s.samples[j-1]
				}
				a, b = b, c
			}
			if len(s.samples) == n {
				break
			}
		}
	}
	return true, nil
}

// anyBefore reports whether the samples show that something fires no later than p.
func (s *Solver) anyBefore(p *sample) bool {
	n := 0
	for n < len(s.samples) && s.samples[n].theta <= p.theta {
		n++
	}
	for i := range s.guards {
		if _, at := s.play(i, n); at < n {
			return true
		}
	}
	return false
}

// shown reports whether coefficients b show at once that the polynomial has no sign that it has not at its ends: by
// Descartes' rule, if their signs change at most once. Where it begins at a root, they must not change.
func (s *Solver) shown(b []float64) bool {
	rest, changes := b, 0
	if math.Abs(b[0]) <= s.off {
		rest, changes = b[1:], 1
	}
	up := rest[0] > 0
	for _, c := range rest {
		if math.Abs(c) <= s.off {
			return false
		}
		if c > 0 != up {
			up = !up
			if changes++; changes > 1 {
				return false
			}
		}
	}
	return true
}

// divide follows the sign of the polynomial with coefficients b over [lo, hi] of the panel, from the left. It reports
// whether the guard may hide roots there that it cannot tell.
func (s *Solver) divide(b []float64, lo, hi float64, level int) (doubt bool) {
	n := s.N
	least, most, up, down := bernstein.Extremes(b)
	clear := least > s.off || most < -s.off || s.levels == fineLevel && least >= -s.off && most <= s.off
	if margin := float64(float64(n)*(hi-lo)) * s.off; clear || s.smooth && (up > margin || down < -margin) {
		s.note(lo, b[0])
		s.note(hi, b[n])
		return false
	}
	if level == s.levels {
		s.note(lo, b[0])
		s.note(float64(0.5*(lo+hi)), 0)
		s.note(hi, b[n])
		return true
	}
	l, r := s.left[level+1], s.right[level+1]
	copy(r, b)
	bernstein.Halve(l, r)
	middle := float64(0.5 * (lo + hi))
	doubt = s.divide(l, lo, middle, level+1)
	return s.divide(r, middle, hi, level+1) || doubt
}

// note adds a value of the polynomial to its runs.
func (s *Solver) note(at, value float64) {
	sg := int8(0)
	if math.Abs(value) > s.off {
		sg = sign(value)
	}
	if k := len(s.runs) - 1; k >= 0 && s.runs[k].sign == sg {
		r := &s.runs[k]
		if r.to = at; math.Abs(value) > r.most {
			r.at, r.most = at, math.Abs(value)
		}
		return
	}
	s.runs = append(s.runs, stretch{sign: sg, from: at, to: at, at: at, most: math.Abs(value)})
}

// missing adds samples of the present guard where the polynomial has a sign that no sample there has, or may have it.
func (s *Solver) missing() (ok bool, err error) {
	for k := range s.runs {
		r := &s.runs[k]
		if r.sign == 0 {
			if k > 0 && k+1 < len(s.runs) && s.runs[k-1].sign == s.runs[k+1].sign {
				if ok, err = s.touch(s.runs[k-1].to, r.at, s.runs[k+1].from, s.runs[k-1].sign); !ok {
					return false, err
				}
			}
			continue
		}
		from, to := math.FMA(r.from, s.w, s.a), math.FMA(r.to, s.w, s.a)
		seen := from == 0 && sign(s.rho[s.guard]) == r.sign
		for _, p := range s.samples {
			seen = seen || p.theta >= from && p.theta <= to && sign(p.rho[s.guard]) == r.sign
		}
		if seen {
			continue
		}
		p, err := s.look(math.FMA(r.at, s.w, s.a))
		if p == nil {
			return false, err
		}
		if sign(p.rho[s.guard]) == r.sign {
			s.credit[s.guard] = fullCredit
		}
	}
	return true, nil
}

// touch adds samples where the present guard comes as near to zero as rounding lets its polynomial tell, between lo
// and hi of the panel, until one of them is beyond zero or there is none: it follows the parabola through the last
// three. Its sign on both sides is side.
func (s *Solver) touch(lo, at, hi float64, side int8) (ok bool, err error) {
	var v [3]float64
	x := [3]float64{lo, at, hi}
	if !(at > lo && at < hi) {
		x[1] = float64(0.5 * (lo + hi))
	}
	for k, z := range x {
		p, err := s.start, error(nil)
		if theta := math.FMA(z, s.w, s.a); theta >= 1 {
			p = s.samples[len(s.samples)-1]
		} else if theta > 0 {
			p, err = s.look(theta)
		}
		if p == nil {
			return false, err
		}
		if v[k] = float64(float64(side) * p.rho[s.guard]); v[k] <= 0 {
			return true, nil
		}
	}
	for range 12 {
		l, r := x[1]-x[0], x[2]-x[1]
		dl, dr := (v[1]-v[0])/l, (v[2]-v[1])/r
		if !(dr > dl) {
			return true, nil
		}
		z := float64(0.5*(x[0]+x[1])) - float64(float64(0.5*(l+r))*dl)/(dr-dl)
		if !(math.Abs(z-x[1]) > float64(1e-3*min(l, r))) {
			return true, nil
		}
		z = max(min(z, x[2]-float64(0.1*r)), x[0]+float64(0.1*l))
		p, err := s.look(math.FMA(z, s.w, s.a))
		if p == nil {
			return false, err
		}
		value := float64(float64(side) * p.rho[s.guard])
		if value <= 0 {
			return true, nil
		}
		switch {
		case z < x[1] && value <= v[1]:
			x, v = [3]float64{x[0], z, x[1]}, [3]float64{v[0], value, v[1]}
		case z < x[1]:
			x[0], v[0] = z, value
		case value <= v[1]:
			x, v = [3]float64{x[1], z, x[2]}, [3]float64{v[1], value, v[2]}
		default:
			x[2], v[2] = z, value
		}
	}
	return true, nil
}

// watchRoots adds a sample right after each change of a guard that is only watched.
func (s *Solver) watchRoots() (ok bool, err error) {
	for i := range s.guards {
		if !s.guards[i].Watch {
			continue
		}
		before := s.start
		for j := 0; j < len(s.samples); j++ {
			behind := s.samples[j]
			if before.truth[i] != behind.truth[i] {
				p, err := s.change(i, before, behind)
				if p == nil {
					return false, err
				}
				if p != behind {
					j++ // p is the one before it
				}
			}
			before = behind
		}
	}
	return true, nil
}

// change adds a sample right after guard i changes its truth on the dense output between two neighbouring samples. It
// returns behind itself where that is no later.
func (s *Solver) change(i int, before, behind *sample) (*sample, error) {
	h := s.trial.H
	lo, hi := before.theta, behind.theta
	flo, fhi := before.rho[i], behind.rho[i]
	was := before.truth[i]
	width := max(float64(elem.ULP(max(math.Abs(s.trial.T), math.Abs(s.trial.T1)))/h), 0x1p-52)
	side := 0
	for steps := 0; hi-lo > float64(1.5*width); steps++ {
		x := float64(0.5 * (lo + hi))
		if f := flo / (flo - fhi); steps%4 != 3 && f >= 0 && f <= 1 {
			x = math.FMA(f, hi-lo, lo)
		}
		x = max(min(x, hi-float64(0.5*width)), lo+float64(0.5*width))
		if !(x > lo && x < hi) {
			break
		}
		s.interpolate(s.trial, x)
		s.sys.GuardValues(math.FMA(x, h, s.trial.T), s.yi, s.mid.rho, s.mid.truth)
		rho := s.mid.rho[i]
		if rho != rho {
			return nil, s.broken()
		}
		now := -1
		if s.mid.truth[i] != was {
			now, hi, fhi = 1, x, rho
		} else {
			lo, flo = x, rho
		}
		if now == side && now > 0 { // the Illinois rule, as in shrink
			flo *= 0.5
		} else if now == side {
			fhi *= 0.5
		}
		side = now
	}
	if hi == behind.theta {
		return behind, nil
	}
	return s.look(hi)
}

// extent returns the range of guard i over some samples, NaN where a value is not a number.
func extent(i int, samples []*sample) (low, high float64) {
	low = samples[0].rho[i]
	high = low
	for _, p := range samples {
		switch v := p.rho[i]; {
		case v < low:
			low = v
		case v > high:
			high = v
		case v != v:
			return v, v
		}
	}
	return low, high
}
