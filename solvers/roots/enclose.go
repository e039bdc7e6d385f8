package roots

import (
	"math"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// Guards that are not affine in time and states are no polynomials on the dense output, however near the polynomials
// through their samples may come. They are enclosed: Bernstein's coefficients bound the states over a part of the step,
// and interval arithmetic bounds the guards over the ranges of the states. Where that leaves zero out over the whole
// step, there is nothing more to do. Else the step is halved, left parts first, until each part has no zero, or is
// monotone, or is so short that the guard is zero there but for rounding. A sample is added where the guard has
// another sign than at the sample before.
//
// That has bounds. Where they are reached, the step is tried anew up to where nothing is hidden, or a warning says that
// something may be.

// The bounds of the search.
const (
	fullBoxes = 16384 // parts that may be looked at, beyond boxCredit a step
	boxCredit = 16
	mostBoxes = 1500 // in a step
	partLevel = 48   // halvings
	// faint is the part of the largest margin so far below which a margin near zero is not told from one that is zero.
	faint = 1e-11
)

// Encloser bounds guards; see solvers.Enclosing.
type Encloser interface {
	Enclose(t solvers.Range, y, yd, rho, slope []solvers.Range)
}

// Bent says which guards are enclosed, and by what.
type Bent struct {
	By             Encloser
	Guards, States []int
	Degree         int       // the largest of the dense output
	Reach          []float64 // [guards] the largest magnitudes so far
	Dead           []bool    // [guards] that do not matter any more
}

// Span is the time of a step: its start, length and end.
type Span struct{ T, H, T1 float64 }

// Enclosures encloses the guards that are not affine.
type Enclosures struct {
	Bent
	Settled float64 // where nothing more may be looked at; nothing is hidden before it
	Open    []bool  // [guards] that may be hidden behind it
	Credit  int
	// Limit is the fraction of the step behind which nothing matters: something fires there.
	Limit float64

	boxes
	samples *Samples
	of      Reader
	panel   *Panel
	span    Span
	used    int // parts that were looked at in this step
	err     error
}

// boxes is the work space of enclosures.
type boxes struct {
	values      [][]float64     // [n+1][states] at the nodes of the step, for the largest degree n
	left, right [][]float64     // [level][states·(n+1)] Bernstein's coefficients
	off         []float64       // [states] how far rounding takes the polynomials from the states
	y, yd       []solvers.Range // [states]
	rho, slope  []solvers.Range // [guards] over the part looked at last
	ends, spare []solvers.Range // [guards] at an end of the step
	noise       []float64       // [guards] how much of a margin may be rounding
	doubt       [][]bool        // [level][guards]
}

// NewEnclosures returns what encloses guards between samples, which of reads.
func NewEnclosures(bent Bent, samples *Samples, of Reader) Enclosures {
	e := Enclosures{Bent: bent, samples: samples, of: of}
	n, g, degree := len(e.States), len(e.Guards), e.Degree
	if g == 0 {
		return e
	}
	for range degree + 1 {
		e.values = append(e.values, make([]float64, n))
	}
	for range partLevel + 1 {
		e.left, e.right = append(e.left, make([]float64, n*(degree+1))), append(e.right, make([]float64, n*(degree+1)))
		e.doubt = append(e.doubt, make([]bool, g))
	}
	e.off, e.y, e.yd = make([]float64, n), make([]solvers.Range, n), make([]solvers.Range, n)
	e.ends, e.spare = make([]solvers.Range, g), make([]solvers.Range, g)
	e.rho, e.slope, e.noise = make([]solvers.Range, g), make([]solvers.Range, g), make([]float64, g)
	e.Open = make([]bool, g)
	return e
}

// Reset forgets the steps of another run.
func (e *Enclosures) Reset() { e.Credit = fullBoxes }

// Keep notes the states that bent guards read at node k of the step.
func (e *Enclosures) Keep(k int, y []float64) {
	for j, i := range e.States {
		e.values[k][j] = y[i]
	}
}

// Hidden adds the samples of a step that enclosures show to be missing. The states at the nodes of panel are known. It
// returns false where the parts that may be looked at are used up, and an error that reading the guards has.
func (e *Enclosures) Hidden(panel *Panel, span Span) (done bool, err error) {
	e.panel, e.span = panel, span
	e.Credit = min(e.Credit+boxCredit, fullBoxes)
	n := panel.N
	for j := range e.States {
		largest, last := 0.0, 0.0
		for k, v := range e.values[:n+1] {
			largest = max(largest, math.Abs(v[j]))
			w := v[j]
			if k == 0 || k == n {
				w *= 0.5
			}
			if k%2 == 1 {
				w = -w
			}
			last += w
		}
		// The last coefficient is zero but for rounding, if the dense output is what it is said to be.
		e.off[j] = float64(2*math.Abs(last))/float64(n) + float64(0x1p-52*panel.Amplify*largest)
		for r := range n + 1 {
			sum := 0.0
			for k, v := range e.values[:n+1] {
				sum = math.FMA(panel.Rows[r*(n+1)+k], v[j], sum)
			}
			e.left[0][j*(n+1)+r] = sum
		}
	}
	e.used, e.Limit, e.err = 0, 1, nil
	clear(e.Open)
	if !e.doubtful(e.left[0], 0, 1, 0) {
		return true, nil
	}
	e.setNoise()
	e.firstFires()
	done = e.part(e.left[0], 0, 1, 0)
	e.Credit = max(e.Credit-e.used, 0)
	return done, e.err
}

// setNoise sets how wide enclosures are at the ends of the step.
func (e *Enclosures) setNoise() {
	clear(e.noise)
	for _, k := range [2]int{0, e.panel.N} {
		for j, x := range e.values[k] {
			e.y[j], e.yd[j] = solvers.Range{Lo: x - e.off[j], Hi: x + e.off[j]}, solvers.Range{}
		}
		t := math.FMA(e.panel.Nodes[k], e.span.H, e.span.T)
		e.By.Enclose(solvers.Range{Lo: t, Hi: t}, e.y, e.yd, e.ends, e.spare)
		for g, r := range e.ends {
			if w := r.Hi - r.Lo; w <= math.MaxFloat64 {
				e.noise[g] = max(e.noise[g], float64(8*w))
			}
		}
	}
	for g, i := range e.Guards {
		e.noise[g] = max(e.noise[g], float64(faint*e.Reach[i]))
	}
}

// firstFires sets the limit to the first sample at which something fires.
func (e *Enclosures) firstFires() {
	if at := e.of.Fires(len(e.samples.List)); at < len(e.samples.List) {
		e.Limit = e.samples.List[at].Theta
	}
}

// doubtful encloses the guards over [lo, hi] of the step, where b holds the coefficients of the states. It notes which
// guards may have another sign there than at the sample before, and reports whether there are any.
func (e *Enclosures) doubtful(b []float64, lo, hi float64, level int) (some bool) {
	n := e.panel.N
	w := float64((hi - lo) * e.span.H)
	for j, off := range e.off {
		least, most, up, down := bernstein.Extremes(b[j*(n+1) : (j+1)*(n+1)])
		e.y[j] = solvers.Range{Lo: least - off, Hi: most + off}
		e.yd[j] = solvers.Range{
			Lo: float64(float64(n)*(up-float64(2*off))) / w,
			Hi: float64(float64(n)*(down+float64(2*off))) / w,
		}
	}
	t := solvers.Range{Lo: math.FMA(lo, e.span.H, e.span.T), Hi: math.FMA(hi, e.span.H, e.span.T)}
	if hi == 1 {
		t.Hi = max(t.Hi, e.span.T1)
	}
	e.used++
	e.By.Enclose(t, e.y, e.yd, e.rho, e.slope)
	before := e.samples.Before(lo)
	for g, i := range e.Guards {
		r := e.rho[g]
		same := r.Lo > 0 && before.Rho[i] > 0 || r.Hi < 0 && before.Rho[i] < 0
		e.doubt[level][g] = !e.Dead[i] && !same
		some = some || e.doubt[level][g]
	}
	return some
}

// part adds the samples that are missing within [lo, hi]. The guards have been enclosed there, and some are in doubt.
// It returns false where it is not finished.
func (e *Enclosures) part(b []float64, lo, hi float64, level int) bool {
	n := e.panel.N
	doubt := e.doubt[level]
	simple, small := true, true
	for g := range e.Guards {
		if !doubt[g] {
			continue
		}
		r, d := e.rho[g], e.slope[g]
		bounded := d.Hi-d.Lo <= math.MaxFloat64
		tiny := r.Hi-r.Lo <= e.noise[g]
		simple = simple && (tiny || r.Lo > 0 || r.Hi < 0 || bounded && (d.Lo >= 0 || d.Hi <= 0))
		small = small && tiny
	}
	middle := float64(0.5 * (lo + hi))
	if simple || level == partLevel || !(float64((hi-lo)*e.span.H) > float64(2*elem.ULP(e.span.T1))) {
		return small || hi >= e.Limit || e.shows(hi)
	}
	if e.used >= min(mostBoxes, e.Credit) {
		e.Settled = lo
		e.leaveOpen(level)
		return false
	}
	if middle < e.Limit {
		clear, ok := e.meanValue(doubt, lo, middle, float64(0.5*(hi-lo)))
		if clear || !ok {
			return ok
		}
	}
	l, r := e.left[level+1], e.right[level+1]
	copy(r, b)
	for at := 0; at < len(e.States)*(n+1); at += n + 1 { // a panel of a higher degree needs more room
		bernstein.Halve(l[at:at+n+1], r[at:at+n+1])
	}
	if e.doubtful(l, lo, middle, level+1) && !e.part(l, lo, middle, level+1) {
		if middle < e.Limit && e.doubtful(r, middle, hi, level+1) {
			e.leaveOpen(level + 1)
		}
		return false
	}
	return middle >= e.Limit || !e.doubtful(r, middle, hi, level+1) || e.part(r, middle, hi, level+1)
}

// meanValue reads the guards in the middle of a part of this half length that begins at lo, and reports whether their
// slopes over the whole part leave zero out. It is not ok where a guard is not a number.
func (e *Enclosures) meanValue(doubt []bool, lo, middle, half float64) (clear, ok bool) {
	p, ok := e.read(middle)
	if !ok {
		return false, false
	}
	clear = true
	for g, i := range e.Guards {
		if doubt[g] {
			steep := max(math.Abs(e.slope[g].Lo), math.Abs(e.slope[g].Hi))
			far := float64(float64(half*e.span.H) * steep)
			at := e.samples.Before(lo).Rho[i]
			clear = clear && Sign(at) == Sign(p.Rho[i]) && math.Abs(p.Rho[i])-far > e.noise[g]
		}
	}
	e.add(p)
	return clear, true
}

// leaveOpen notes the guards in doubt in the part of a level that was looked at last.
func (e *Enclosures) leaveOpen(level int) {
	for g, doubt := range e.doubt[level] {
		e.Open[g] = e.Open[g] || doubt
	}
}

// shows adds a sample at theta if it differs from the one before. It returns false where a guard is not a number.
func (e *Enclosures) shows(theta float64) bool {
	p, ok := e.read(theta)
	if ok {
		e.add(p)
	}
	return ok
}

// read reads the guards at theta.
func (e *Enclosures) read(theta float64) (p *Sample, ok bool) {
	p, e.err = e.of.Read(theta)
	return p, e.err == nil
}

// add adds sample p if a bent guard has another sign there than at the sample before. Where something fires there,
// what comes later does not matter.
func (e *Enclosures) add(p *Sample) {
	before := e.samples.Before(p.Theta)
	for g, i := range e.Guards {
		if e.Dead[i] || p.Truth[i] == before.Truth[i] && Sign(p.Rho[i]) == Sign(before.Rho[i]) ||
			max(math.Abs(p.Rho[i]), math.Abs(before.Rho[i])) <= e.noise[g] {
			continue
		}
		e.samples.Insert(p)
		e.firstFires()
		e.Credit = fullBoxes
		return
	}
	e.samples.Return()
}
