package roots

import "math"

// Between the samples of a step a guard may go through zero and come back. Whether it does is asked of the polynomial
// through its samples, which are those of Chebyshev and Lobatto, one more than the dense output has coefficients: for
// a guard that is affine in the state the polynomial is the guard on the dense output, and its last coefficient is
// zero. Its coefficients in Bernstein's basis enclose it. They are halved (de Casteljau) until each part is monotone
// or has no zero, or is too short to say. Where the polynomial shows a sign that no sample has, the guard is sampled
// there.
//
// The last coefficient and a probe off the samples tell how far other guards are from their polynomials. Where that
// leaves a doubt, the stretch is halved and sampled anew. Guards that the model says are affine need no probe. Others
// are enclosed as well, which finds what no sample comes near: see enclose.go. Those that are not have a second probe:
// of a thousand waves, one agrees with a polynomial at the first one and at the nodes, over periods.

// The bounds of the search.
const (
	FullCredit = 512 // samples that a guard may have by halving, beyond CreditStep a step
	CreditStep = 2
	farPanels  = 6 // where the samples are far from zero
	// Peaked is the part of the range of its values that the last coefficient of a guard may be. Where it is more, one
	// sample stands out from its neighbours, as on the slopes of a peak.
	Peaked = 0x1p-8
)

// Search looks for roots between the samples of a step.
type Search struct {
	*Panel
	*Samples
	Credit []int  // [guards]
	Affine []bool // [guards] the polynomial is the guard
	// Enclosed tells that guards that are not affine are enclosed as well, or made of such.
	Enclosed bool
	Ignored  []bool // [guards] in this step
	// Low and High are the ranges of the guards over the start and the nodes of the step.
	Low, High []float64
	of        Reader
	rough     []bool // [guards] no polynomial in this step
	looked    stretch
}

// stretch is the part of the step of length w that begins at a, in which a guard is looked at.
type stretch struct {
	guard int
	a, w  float64
}

// at returns the fraction of the step at a fraction of the stretch.
func (s *stretch) at(x float64) float64 { return math.FMA(x, s.w, s.a) }

// NewSearch returns a search among samples of guards that are affine or not, which of reads.
func NewSearch(samples *Samples, affine []bool, of Reader) Search {
	n := len(affine)
	return Search{
		Samples: samples, Credit: make([]int, n), Affine: affine, Ignored: make([]bool, n), of: of,
		Low: make([]float64, n), High: make([]float64, n), rough: make([]bool, n),
	}
}

// Look adds a sample at a fraction of the step.
func (s *Search) Look(theta float64) (*Sample, error) {
	p, err := s.of.Read(theta)
	if err == nil {
		s.Insert(p)
	}
	return p, err
}

// Between adds the samples that those of the nodes, which are known, show to be missing.
func (s *Search) Between() error {
	whole := s.Halves[0]
	whole[0] = s.Start
	copy(whole[1:], s.List)
	if err := s.inspect(0, 0, 1); err != nil {
		return err
	}
	return s.corners()
}

// panel is the samples of a stretch of the step, and one off them that tells of other curves than polynomials.
type panel struct {
	depth   int
	a, w    float64
	samples []*Sample
	probes  [2]*Sample // nil as long as there are none
}

// inspect looks between the samples Halves[depth] of the stretch of length w that begins at a.
func (s *Search) inspect(depth int, a, w float64) error {
	p := panel{depth: depth, a: a, w: w, samples: s.Halves[depth]}
	doubt := false
	for i := range s.Affine {
		if s.Ignored[i] {
			continue
		}
		unclear, err := s.doubts(i, &p, doubt)
		if err != nil {
			return err
		}
		doubt = doubt || unclear
	}
	if !doubt {
		return nil
	}
	return s.halve(&p)
}

// doubts looks at guard i in a panel, and adds the samples that its polynomial shows to be missing. It reports whether
// the panel must be halved for it; halved tells that it is in any case.
func (s *Search) doubts(i int, p *panel, halved bool) (doubt bool, err error) {
	n := s.N
	lo, hi := s.Low[i], s.High[i]
	if p.depth > 0 {
		lo, hi = Extent(i, p.samples)
	}
	reach, far := hi-lo, Far(lo, hi)
	if s.Affine[i] && far { // the usual case
		return false, nil
	}
	largest, last := max(hi, -lo), s.Fill(i, p.samples)
	if !(reach > float64(0x1p-44*largest) && reach < math.MaxFloat64) {
		return false, nil
	}
	wild := last > float64(Peaked*reach) && p.depth < farPanels && s.Credit[i] >= 2*n
	if far && !wild && (s.Enclosed || remote(lo, hi)) {
		return false, nil
	}
	if p.depth == 0 {
		s.Credit[i] = min(s.Credit[i]+CreditStep, FullCredit)
	}
	noise := float64(0x1p-50 * s.Amplify * largest)
	fine, err := s.fits(i, p, last, noise, reach)
	if err != nil {
		return false, err
	}
	if fine || p.depth == MaxPanels || s.Credit[i] < 2*n {
		s.Off, s.Levels, fine, s.Smooth = noise, FineLevel, true, true
	}
	s.looked, s.Runs = stretch{i, p.a, p.w}, s.Runs[:0]
	scale := 1.0
	if largest > 0x1p900 { // sums of such values may overflow, and a NaN has no sign to follow
		scale = 0x1p-100
	}
	s.Off *= scale
	b := s.Coefficients(scale)
	if fine && s.Shown(b) {
		return false, nil
	}
	if (wild || s.Divide(b, 0, 1, 0)) && !fine {
		if !halved {
			s.Credit[i] -= 2 * n
		}
		if at := Corner(i, p.samples[0], p.samples[1], p.samples[n-1], p.samples[n]); at > 0 {
			_, err = s.Look(at)
		}
		return true, err
	}
	return false, s.missing()
}

// fits reports whether the polynomial of guard i, whose last coefficient is known, is the guard but for noise. Where it
// is not, it notes how far the two are apart. The polynomial of an affine guard is the guard, and needs no probe.
func (s *Search) fits(i int, p *panel, last, noise, reach float64) (fine bool, err error) {
	if s.Affine[i] && last <= float64(4*noise) {
		return true, nil
	}
	rough := last
	for k := range p.probes {
		if p.probes[k] == nil {
			if p.probes[k], err = s.Look(math.FMA(s.Probes[k], p.w, p.a)); err != nil {
				return false, err
			}
		}
		rough = max(rough, s.Missed(i, p.samples, k, p.probes[k]))
		if fine = rough <= float64(4*noise); fine || s.Enclosed {
			break
		}
	}
	before := s.LastButOne(i, p.samples)
	s.Smooth = fine || max(rough, before) < float64(0x1p-20*reach)
	s.rough[i] = s.rough[i] || !fine
	s.Off, s.Levels = float64(16*max(rough, noise, before)), RoughLevel
	return fine, nil
}

// halve samples both halves of a panel anew, and looks between their samples.
func (s *Search) halve(p *panel) error {
	n, a, w := s.N, p.a, float64(0.5*p.w)
	middle, err := s.Look(a + w)
	if err != nil {
		return err
	}
	if s.Halves[p.depth+1] == nil {
		s.Halves[p.depth+1] = make([]*Sample, n+1)
	}
	half := s.Halves[p.depth+1]
	for side, ends := range [2][2]*Sample{{p.samples[0], middle}, {middle, p.samples[n]}} {
		half[0], half[n] = ends[0], ends[1]
		if side == 1 {
			a = p.a + w
		}
		for j := 1; j < n; j++ {
			if half[j], err = s.Look(math.FMA(s.Nodes[j], w, a)); err != nil {
				return err
			}
		}
		if err = s.inspect(p.depth+1, a, w); err != nil || side == 0 && s.anyBefore(middle) {
			return err // the step will end there
		}
	}
	return nil
}

// anyBefore reports whether the samples show that something fires no later than p.
func (s *Search) anyBefore(p *Sample) bool {
	n := s.upTo(p)
	return s.of.Fires(n) < n
}

// corners adds samples at what may be corners of guards that are no polynomials, between samples on one side of zero.
func (s *Search) corners() error {
	for i := range s.rough {
		if !s.rough[i] {
			continue
		}
		s.rough[i] = false
		for range 3 { // the lines bend
			a, b, n := s.Start, s.List[0], len(s.List)
			for j := 2; j < len(s.List); j++ {
				c, d := s.List[j-1], s.List[j]
				if at := Corner(i, a, b, c, d); at > 0 {
					if _, err := s.Look(at); err != nil {
						return err
					}
					c = s.List[j-1]
				}
				a, b = b, c
			}
			if len(s.List) == n {
				break
			}
		}
	}
	return nil
}

// missing adds samples of the guard that is looked at where the polynomial has a sign that no sample there has, or may
// have it.
func (s *Search) missing() error {
	guard := s.looked.guard
	for k := range s.Runs {
		r := &s.Runs[k]
		if r.Sign == 0 {
			if k > 0 && k+1 < len(s.Runs) && s.Runs[k-1].Sign == s.Runs[k+1].Sign {
				if err := s.touch(s.Runs[k-1].To, r.At, s.Runs[k+1].From, s.Runs[k-1].Sign); err != nil {
					return err
				}
			}
			continue
		}
		from, to := s.looked.at(r.From), s.looked.at(r.To)
		seen := from == 0 && Sign(s.Start.Rho[guard]) == r.Sign
		for _, p := range s.List {
			seen = seen || p.Theta >= from && p.Theta <= to && Sign(p.Rho[guard]) == r.Sign
		}
		if seen {
			continue
		}
		p, err := s.Look(s.looked.at(r.At))
		if err != nil {
			return err
		}
		if Sign(p.Rho[guard]) == r.Sign {
			s.Credit[guard] = FullCredit
		}
	}
	return nil
}

// touch adds samples where the guard that is looked at comes as near to zero as rounding lets its polynomial tell,
// between lo and hi of the stretch, until one of them is beyond zero or there is none: it follows the parabola through
// the last three. Its sign on both sides is side.
func (s *Search) touch(lo, at, hi float64, side int8) error {
	var v [3]float64
	x, guard := [3]float64{lo, at, hi}, s.looked.guard
	if !(at > lo && at < hi) {
		x[1] = float64(0.5 * (lo + hi))
	}
	for k, z := range x {
		p, err := s.Start, error(nil)
		if theta := s.looked.at(z); theta >= 1 {
			p = s.List[len(s.List)-1]
		} else if theta > 0 {
			p, err = s.Look(theta)
		}
		if err != nil {
			return err
		}
		if v[k] = float64(float64(side) * p.Rho[guard]); v[k] <= 0 {
			return nil
		}
	}
	for range 12 {
		z, moves := Vertex(x, v)
		if !moves {
			return nil
		}
		p, err := s.Look(s.looked.at(z))
		if err != nil {
			return err
		}
		value := float64(float64(side) * p.Rho[guard])
		if value <= 0 {
			return nil
		}
		x, v = Nearer(x, v, z, value)
	}
	return nil
}
