package hybrid

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/roots"
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
	farPanels  = 6 // where the samples are far from zero
	// The part of the range of its values that the last coefficient of a guard may be. Where it is more, one sample
	// stands out from its neighbours, as on the slopes of a peak.
	peaked = 0x1p-8
)

// polynomial is the part of a Solver that looks for roots between samples.
type polynomial struct {
	*roots.Panel
	each []*roots.Panel // of each member of the method
	pool []*roots.Sample
	used int
	// what the first samples of the pool hold, which are those of the nodes
	nodeRho   []float64 // [nodes][guards]
	nodeTruth []bool

	reads   solvers.GuardReader  // nil for none
	reading solvers.GuardReading // of the present member of the method; nil where there are no reads
	start   *roots.Sample        // the present
	credit  []int                // [guards]
	rough   []bool               // [guards] no polynomial in this step

	guard int
	a, w  float64 // start and length of the panel
}

func newPolynomial(guards []solvers.Guard, members []solvers.Info) polynomial {
	p := polynomial{start: &roots.Sample{}, credit: make([]int, len(guards)), rough: make([]bool, len(guards))}
	for i := range members {
		b := bernstein.Of(members[i].ReadDegree())
		at := slices.IndexFunc(p.each, func(x *roots.Panel) bool { return x.Basis == b })
		if at < 0 {
			p.each = append(p.each, roots.NewPanel(b))
		} else {
			p.each = append(p.each, p.each[at])
		}
	}
	p.Panel = p.each[0]
	n, nodes := len(guards), 0
	for _, x := range p.each {
		nodes = max(nodes, x.N)
	}
	p.nodeRho, p.nodeTruth = make([]float64, nodes*n), make([]bool, nodes*n)
	for i := range nodes {
		p.pool = append(p.pool, &roots.Sample{Rho: p.nodeRho[i*n : (i+1)*n], Truth: p.nodeTruth[i*n : (i+1)*n]})
	}
	for range nodes {
		p.pool = append(p.pool, roots.NewSample(n))
	}
	return p
}

// use makes the samples those for steps of a member of the method, m.
func (p *polynomial) use(member int, sys solvers.System, m solvers.Method) {
	if len(p.each) == 0 {
		return
	}
	p.Panel = p.each[member]
	p.reads, _ = sys.(solvers.GuardReader)
	if p.reading, _ = m.(solvers.GuardReading); p.reading == nil {
		p.reads = nil
	}
}

// recycle forgets the samples of the last trial step.
func (s *Solver) recycle() {
	s.samples, s.used = s.samples[:0], 0
	s.start.Rho, s.start.Truth = s.rho, s.truth
}

// spareSample returns a sample that is not in use.
func (s *Solver) spareSample() *roots.Sample {
	if s.used == len(s.pool) {
		s.pool = append(s.pool, roots.NewSample(len(s.guards)))
	}
	s.used++
	return s.pool[s.used-1]
}

// insert puts p among the samples, by length.
func (s *Solver) insert(p *roots.Sample) {
	s.samples = append(s.samples, p)
	for j := len(s.samples) - 1; j > 0 && s.samples[j-1].Theta > p.Theta; j-- {
		s.samples[j-1], s.samples[j] = p, s.samples[j-1]
	}
}

// between adds the samples that the samples of the nodes show to be missing. It returns false where one of them is
// not a number, as look does.
func (s *Solver) between() (ok bool, err error) {
	whole := s.Panel.Halves[0]
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
	p := s.Panel.Halves[depth]
	var probe *roots.Sample
	doubt := false
	for i := range s.guards {
		g := &s.guards[i]
		if s.arms[i].dead || g.Clock && !g.Watch {
			continue
		}
		lo, hi := s.low[i], s.high[i]
		if depth > 0 {
			lo, hi = roots.Extent(i, p)
		}
		reach, far := hi-lo, roots.Far(lo, hi)
		if g.Affine && far { // the usual case
			continue
		}
		largest, last := max(hi, -lo), s.Fill(i, p)
		if !(reach > float64(0x1p-44*largest) && reach < math.MaxFloat64) {
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
			there, before := s.Probed(i, p, probe)
			rough := max(last, math.Abs(there))
			fine = rough <= float64(4*noise)
			s.Smooth = fine || max(rough, math.Abs(before)) < float64(0x1p-20*reach)
			s.rough[i] = s.rough[i] || !fine
			s.Off, s.Levels = float64(16*max(rough, noise, math.Abs(before))), roots.RoughLevel
		}
		if fine || depth == roots.MaxPanels || s.credit[i] < 2*n {
			s.Off, s.Levels, fine, s.Smooth = noise, roots.FineLevel, true, true
		}
		s.guard, s.a, s.w, s.Runs = i, a, w, s.Runs[:0]
		scale := 1.0
		if largest > 0x1p900 { // sums of such values may overflow, and a NaN has no sign to follow
			scale = 0x1p-100
		}
		s.Off *= scale
		b := s.Coefficients(scale)
		if fine && s.Shown(b) {
			continue
		}
		if (wild || s.Divide(b, 0, 1, 0)) && !fine {
			if !doubt {
				s.credit[i] -= 2 * n
			}
			doubt = true
			if at := roots.Corner(i, p[0], p[1], p[n-1], p[n]); at > 0 {
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
	if s.Panel.Halves[depth+1] == nil {
		s.Panel.Halves[depth+1] = make([]*roots.Sample, n+1)
	}
	half := s.Panel.Halves[depth+1]
	for side, ends := range [2][2]*roots.Sample{{p[0], middle}, {middle, p[n]}} {
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
				if at := roots.Corner(i, a, b, c, d); at > 0 {
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
func (s *Solver) anyBefore(p *roots.Sample) bool {
	n := 0
	for n < len(s.samples) && s.samples[n].Theta <= p.Theta {
		n++
	}
	for i := range s.guards {
		if _, at := s.play(i, n); at < n {
			return true
		}
	}
	return false
}

// missing adds samples of the present guard where the polynomial has a sign that no sample there has, or may have it.
func (s *Solver) missing() (ok bool, err error) {
	for k := range s.Runs {
		r := &s.Runs[k]
		if r.Sign == 0 {
			if k > 0 && k+1 < len(s.Runs) && s.Runs[k-1].Sign == s.Runs[k+1].Sign {
				if ok, err = s.touch(s.Runs[k-1].To, r.At, s.Runs[k+1].From, s.Runs[k-1].Sign); !ok {
					return false, err
				}
			}
			continue
		}
		from, to := math.FMA(r.From, s.w, s.a), math.FMA(r.To, s.w, s.a)
		seen := from == 0 && roots.Sign(s.rho[s.guard]) == r.Sign
		for _, p := range s.samples {
			seen = seen || p.Theta >= from && p.Theta <= to && roots.Sign(p.Rho[s.guard]) == r.Sign
		}
		if seen {
			continue
		}
		p, err := s.look(math.FMA(r.At, s.w, s.a))
		if p == nil {
			return false, err
		}
		if roots.Sign(p.Rho[s.guard]) == r.Sign {
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
		if v[k] = float64(float64(side) * p.Rho[s.guard]); v[k] <= 0 {
			return true, nil
		}
	}
	for range 12 {
		z, moves := roots.Vertex(x, v)
		if !moves {
			return true, nil
		}
		p, err := s.look(math.FMA(z, s.w, s.a))
		if p == nil {
			return false, err
		}
		value := float64(float64(side) * p.Rho[s.guard])
		if value <= 0 {
			return true, nil
		}
		x, v = roots.Nearer(x, v, z, value)
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
			if before.Truth[i] != behind.Truth[i] {
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
func (s *Solver) change(i int, before, behind *roots.Sample) (*roots.Sample, error) {
	h := s.trial.H
	lo, hi := before.Theta, behind.Theta
	flo, fhi := before.Rho[i], behind.Rho[i]
	was := before.Truth[i]
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
		s.sys.GuardValues(math.FMA(x, h, s.trial.T), s.yi, s.mid.Rho, s.mid.Truth)
		rho := s.mid.Rho[i]
		if rho != rho {
			return nil, s.broken()
		}
		now := -1
		if s.mid.Truth[i] != was {
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
	if hi == behind.Theta {
		return behind, nil
	}
	return s.look(hi)
}
