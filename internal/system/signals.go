package system

import (
	"math"

	"odes.dev/odes/internal/crossings"
	"odes.dev/odes/internal/form"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// shortLeeway is the leeway of signals by which waves may turn unseen within a short time.
const shortLeeway = 1

// signals watches the functions of time within the right-hand side, or within largest values, between the times at
// which something reads them. A peak that no reading shows is not seen by error estimates, which are made of the same
// readings.
//
// Between two neighbouring readings a function is expected within their values, and a little beyond: as far as the
// second differences on both sides let it bend, but not farther than all readings of the step lie apart, and a small
// part of its size. Bounds over boxes in time tell whether it stays there.
type signals struct {
	line    *timeline
	stale   bool   // params, discretes or modes may have changed
	ignored []bool // signals that only integrals read that do not count; nil for none
	doubt   []bool
	read    [][]float64     // [times][signals] at the times of reading
	band    []tape.Interval // where each signal is expected between two of them
	slack   []float64       // how far beyond the readings that reaches
	bends   [][]float64     // [times][signals] the second differences at the times
	apart   []float64       // how far the readings lie apart
	floor   []float64       // what does not matter
	noise   []float64       // how wide bounds are at a point: the uncertainty of rounding
	ends    []float64
	boxes   int     // looked at for the present step
	feature int     // the signal that leaves its band
	leeway  float64 // how far beyond the readings bands reach, in second differences

	calms []calm // of the parts of line
}

// calm is what is known of some signals from the present time on.
type calm struct {
	part  *timelinePart
	until float64    // no signal turns before
	ahead float64    // how far that was looked for with success last
	turn  float64    // the bounds up to there show that one may turn
	form  *form.Form // what they all are; nil if it is not known
}

const (
	// unimportant is the part of a signal's size by which it may leave its band unnoticed; unimportantBound is that of
	// its bound, which may be far too large.
	unimportant      = 1e-7
	unimportantBound = 1e-12
	// sightBudget is the number of boxes over which one step is looked at. What is left then is taken to be harmless.
	sightBudget = 400
)

func newSignals(b *byTime, l *layout, leeway float64) *signals {
	if b == nil {
		return nil
	}
	return newSignalsOf(newTimeline(b, l), leeway)
}

func newSignalsOf(line *timeline, leeway float64) *signals {
	n := len(line.value)
	s := &signals{line: line, stale: true, leeway: leeway}
	for i := range line.parts {
		s.calms = append(s.calms, calm{part: &line.parts[i], form: line.form(&line.parts[i])})
	}
	s.doubt, s.band = make([]bool, n), make([]tape.Interval, n)
	s.ends = make([]float64, 0, 64)
	for _, x := range []*[]float64{&s.slack, &s.apart, &s.floor, &s.noise} {
		*x = make([]float64, n)
	}
	return s
}

// only makes s ignore the signals that watch does not accept. s may be nil.
func (s *signals) only(watch func(signal int) bool) {
	if s == nil {
		return
	}
	s.ignored = make([]bool, len(s.doubt))
	for k := range s.ignored {
		s.ignored[k] = !watch(k)
	}
}

// watches reports whether what a signal of the rates makes is under error control: a state, or an integral that counts.
func (p *Problem) watches(signal int) bool {
	for _, n := range p.Model.programs.signalReaders[signal] {
		if n.Role != tapec.Integrand || p.Integrals == nil {
			return true
		}
		at := p.Model.layout.part(n)
		for _, i := range p.Integrals {
			if k := p.Model.layout.nY + i; k >= at.offset && k < at.offset+at.len {
				return true
			}
		}
	}
	return false
}

// unseen returns the last of some times in ascending order if readings at these show the signals, or a later time up
// to which readings at any times do. Else it returns a time after the first such that readings up to there show what
// comes first, and true.
func (s *signals) unseen(times []float64) (float64, bool) {
	t0, t1 := times[0], times[len(times)-1]
	doubt, until := false, math.Inf(1)
	for i := range s.calms {
		c := &s.calms[i]
		if t1 <= c.until {
			clear(s.doubt[c.part.from:c.part.to])
		} else if !s.lasts(c, t0, t1) {
			doubt = true
		}
		until = min(until, c.until)
	}
	if !doubt {
		return max(t1, until), false
	}
	s.line.over(t0, t1)
	for k, b := range s.line.bound {
		s.floor[k] = 0
		if size := max(math.Abs(b.Lo), math.Abs(b.Hi)); size <= math.MaxFloat64 {
			s.floor[k] = float64(unimportantBound * size)
		}
	}
	s.sample(times)
	s.boxes = 0
	for i := range len(times) - 1 {
		if a, b := times[i], times[i+1]; a < b {
			s.expect(i, b-a)
			if at, out := s.leaves(a, b); out {
				return s.before(t0, a, at), true
			}
		}
	}
	return t1, false
}

// lasts reports whether no signal of c turns within [t0, t1], or readings of so short a time show how. It looks farther
// ahead, so that it need not be asked for every step, but not beyond a turn that it knows of.
func (s *signals) lasts(c *calm, t0, t1 float64) bool {
	const growth, farthest = 4, 1 << 10 // steps
	h := t1 - t0
	if c.form != nil {
		until, known := c.form.Lasts(t0)
		if known && (t1 <= until || s.leeway >= shortLeeway && c.form.Short(h)) {
			if t1 <= until {
				c.until = until
			}
			clear(s.doubt[c.part.from:c.part.to])
			return true
		}
	}
	for w := min(float64(growth*c.ahead), float64(farthest*h)); w > h; w /= growth {
		switch {
		case t0 < c.turn && c.turn <= t0+w:
		case s.doubtful(c.part, t0, t0+w):
			c.turn = t0 + w
		default:
			c.ahead, c.until = w, t0+w
			return true
		}
	}
	c.ahead = h
	return !s.doubtful(c.part, t0, t1)
}

// begin forgets what is known, at the start of a run. s may be nil.
func (s *signals) begin() {
	if s != nil {
		s.stale = true
		for i := range s.calms {
			s.calms[i].ahead = 0
		}
	}
}

// spoil notes that discretes or modes may have changed. s may be nil.
func (s *signals) spoil() {
	if s != nil {
		s.stale = true
	}
}

// doubtful notes which signals of p may have a peak within [t0, t1], and reports whether there are any.
func (s *signals) doubtful(p *timelinePart, t0, t1 float64) (some bool) {
	s.line.slopesOver(p, t0, t1)
	for k := p.from; k < p.to; k++ {
		slope := s.line.slopeOf(k)
		s.doubt[k] = (s.ignored == nil || !s.ignored[k]) && !(crossings.Finite(slope) && (slope.Lo >= 0 || slope.Hi <= 0))
		some = some || s.doubt[k]
	}
	return some
}

// sample reads the signals at times, and computes what follows from that.
func (s *signals) sample(times []float64) {
	for len(s.read) < len(times) {
		s.read, s.bends = append(s.read, make([]float64, len(s.doubt))), append(s.bends, make([]float64, len(s.doubt)))
	}
	clear(s.noise)
	for _, t := range [...]float64{times[0], times[len(times)-1]} {
		s.line.over(t, t)
		for k, b := range s.line.bound {
			s.noise[k] = max(s.noise[k], b.Width())
		}
	}
	for i, t := range times {
		s.line.at(t)
		copy(s.read[i], s.line.value)
	}
	for k := range s.doubt {
		least, most := math.Inf(1), math.Inf(-1)
		for i := range times {
			x := s.read[i][k]
			least, most = min(least, x), max(most, x)
			s.bends[i][k] = 0
			if i == 0 || i+1 == len(times) {
				continue
			}
			a, b := times[i]-times[i-1], times[i+1]-times[i]
			if a > 0 && b > 0 {
				s.bends[i][k] = math.Abs(((s.read[i+1][k]-x)/b - (x-s.read[i-1][k])/a) / (a + b))
			}
		}
		s.apart[k] = most - least
		s.floor[k] += float64(8 * s.noise[k])
		s.floor[k] += float64(unimportant * max(math.Abs(least), math.Abs(most)))
	}
}

// expect sets the bands between readings i and i + 1, at a distance w.
func (s *signals) expect(i int, w float64) {
	for k := range s.band {
		a, b := s.read[i][k], s.read[i+1][k]
		bend := max(s.bends[i][k], s.bends[i+1][k])
		s.slack[k] = float64(s.leeway*min(float64(float64(bend*w)*w), s.apart[k])) + s.floor[k]
		s.band[k] = tape.Interval{Lo: min(a, b) - s.slack[k], Hi: max(a, b) + s.slack[k]}
	}
}

// leaves returns the first time found within [a, b] at which a signal leaves its band, and true.
func (s *signals) leaves(a, b float64) (float64, bool) {
	s.ends = append(s.ends[:0], b)
	lo := a
	for ; len(s.ends) > 0; s.boxes++ {
		hi := s.ends[len(s.ends)-1]
		mid := lo + float64(0.5*(hi-lo))
		s.line.over(lo, hi)
		if !s.within() && mid > lo && mid < hi && s.boxes < sightBudget {
			s.line.at(mid)
			if k := s.outside(); k >= 0 {
				s.feature = k
				return s.edge(lo, mid), true
			}
			if !s.near(max(mid-lo, hi-mid)) {
				s.ends = append(s.ends, mid)
				continue
			}
		}
		lo = hi
		s.ends = s.ends[:len(s.ends)-1]
	}
	return b, false
}

// within reports whether the bounds over a box, at both ends of which all signals are in their bands, keep them there.
func (s *signals) within() bool {
	for k, d := range s.doubt {
		if !d {
			continue
		}
		if b := s.line.bound[k]; b.Lo >= s.band[k].Lo && b.Hi <= s.band[k].Hi {
			continue
		}
		if slope := s.line.slopeOf(k); !(crossings.Finite(slope) && (slope.Lo >= 0 || slope.Hi <= 0)) {
			return false
		}
	}
	return true
}

// outside returns a signal that is out of its band at the point that was evaluated, or -1.
func (s *signals) outside() int {
	for k, d := range s.doubt {
		if x := s.line.value[k]; d && (x < s.band[k].Lo || x > s.band[k].Hi) {
			return k
		}
	}
	return -1
}

// near reports whether the values at the middle of a box, and the bounds over it of values or slopes, keep all signals
// in their bands, but for a part of the slack. The middle is as far as r from the ends.
func (s *signals) near(r float64) bool {
	for k, d := range s.doubt {
		if !d || s.line.bound[k].Width() <= float64(0.25*s.slack[k]) {
			continue
		}
		slope, x := s.line.slopeOf(k), s.line.value[k]
		off := float64(r * max(math.Abs(slope.Lo), math.Abs(slope.Hi)))
		if !(x-off >= s.band[k].Lo && x+off <= s.band[k].Hi) {
			return false
		}
	}
	return true
}

// edge returns where the signal that is out of its band at hi leaves it, behind lo.
func (s *signals) edge(lo, hi float64) float64 {
	for range 30 {
		mid := lo + float64(0.5*(hi-lo))
		if !(mid > lo && mid < hi) {
			break
		}
		s.line.at(mid)
		if s.outside() >= 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// before returns the end of a step from t0 that brings readings to where a signal leaves its band, at edge: that time,
// or if it is near, a few times the time in which the signal changes by as much as it may there.
func (s *signals) before(t0, a, edge float64) float64 {
	s.line.over(edge, edge)
	slope := s.line.slopeOf(s.feature)
	length := edge - a
	if steep := max(math.Abs(slope.Lo), math.Abs(slope.Hi)); steep > 0 && steep <= math.MaxFloat64 {
		length = min(length, s.slack[s.feature]/steep)
	}
	if length = float64(4 * length); edge-t0 > length {
		return edge
	}
	return t0 + max(length, float64(0x1p-10*(edge-t0)))
}

// Signals implements solvers.Signals.
func (w *Worker) Signals() int {
	if w.signals == nil {
		return 0
	}
	return len(w.signals.doubt)
}

// Unseen implements solvers.Signals.
func (w *Worker) Unseen(times, y []float64) (end float64, some bool) {
	return w.signals.look(w, times, y)
}

// look is unseen, with the params, discretes and modes that w has entered, and the state y at the first time.
func (s *signals) look(w *Worker, times, y []float64) (end float64, some bool) {
	if s.stale {
		s.line.set(&w.in, times[0], y)
		s.stale = false
		for i := range s.calms {
			c := &s.calms[i]
			c.until, c.turn = math.Inf(-1), math.Inf(-1)
			if c.form != nil {
				c.form.Set()
			}
		}
	}
	return s.unseen(times)
}
