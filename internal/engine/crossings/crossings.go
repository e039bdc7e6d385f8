// Package crossings finds the first time at which conditions on functions of time change, by interval arithmetic.
package crossings

import (
	"math"

	"odes.dev/odes/tape"
)

// Course is a number of conditions on functions of time. Each has a margin, which is positive where the condition
// holds and negative where it does not; where the margin is zero, the truth decides.
type Course interface {
	// At writes the margins at t, and which conditions hold there: 1 or 0.
	At(t float64, margins, truths []float64)
	// Over writes enclosures of the margins over [lo, hi], and of their slopes. Where a margin may jump, that of its
	// slope holds NaN.
	Over(lo, hi float64, margins, slopes []tape.Interval)
}

// Search finds the first time at which one of several conditions changes.
//
// It goes from left to right through boxes in time. A box is clean when the enclosure of each margin leaves zero out,
// when the margin is monotone over it and the condition is the same at both ends, or when the mean value and the
// enclosure of the slope leave zero out. A box that is not is halved, unless each margin that is in doubt is monotone:
// then there is one root, which is found to the float. Halving ends where the margins in doubt change by less than a
// part negligible of the largest value that was met nearby, or at neighbouring floats. So a margin that touches zero is
// left at a few boxes for each halving; what is missed crosses zero by less than that part. Windows in time, each eight
// times as long as the one before, say what is near.
type Search struct {
	course Course
	skip   []bool // conditions that are not looked at; nil: none

	margins, slopes   []tape.Interval
	base, truth       []float64 // the truths at the start, and at a point
	margin, marginLow []float64
	doubt             []bool
	scale             []float64 // the largest absolute margin met in the present window
	ends              []float64 // right ends of the boxes ahead, the next one last
	window            float64   // how far to look first
	least             float64   // times closer than that are not told apart
	unresolved        float64   // within that margins may be constant but for where they have poles
	Points, Boxes     int       // evaluations, for reports and tests
}

const (
	// negligible is the part of the largest margin below which a margin near zero is not told from one that is zero.
	negligible = 1e-11
	// budget is the number of evaluations after which a search that has come forward stops.
	budget = 4000
	// closest is the part of the times in question below which two times near 0 are not told apart.
	closest = 0x1p-80
	// coarse is the part of the times in question within which a margin of sums of them may have the same bits all
	// over.
	coarse = 0x1p-40
)

// New returns a search for changes of n conditions, but of those that skip leaves out.
func New(c Course, n int, skip []bool) *Search {
	s := &Search{course: c, skip: skip, ends: make([]float64, 0, 64)}
	s.margins, s.slopes = make([]tape.Interval, n), make([]tape.Interval, n)
	for _, x := range []*[]float64{&s.base, &s.truth, &s.margin, &s.marginLow, &s.scale} {
		*x = make([]float64, n)
	}
	s.doubt = make([]bool, n)
	return s
}

// Reset forgets earlier searches: parameters, discretes or modes may have changed.
func (s *Search) Reset() {
	s.window = 0
}

// point evaluates the conditions at t and reports whether one of them is another than at the start.
func (s *Search) point(t float64) (flipped bool) {
	s.Points++
	s.course.At(t, s.margin, s.truth)
	for k, m := range s.margin {
		if s.skip != nil && s.skip[k] {
			continue
		}
		if m = math.Abs(m); m > s.scale[k] && m <= math.MaxFloat64 {
			s.scale[k] = m
		}
		flipped = flipped || s.truth[k] != s.base[k]
	}
	return flipped
}

// Next returns the first time in (t, limit] at which a condition is another one than at t, and true. Else it returns
// the time up to which none changes: limit, or an earlier one if it has taken long to come so far.
func (s *Search) Next(t, limit float64) (float64, bool) {
	if !(t < limit) {
		return limit, false
	}
	s.point(t)
	copy(s.base, s.truth)
	s.least = float64(closest * max(math.Abs(t), math.Abs(limit)))
	s.unresolved = float64(coarse * max(math.Abs(t), math.Abs(limit)))
	if !(s.window > 0) {
		s.window = max(float64(0x1p-20*(limit-t)), math.Nextafter(math.Abs(t), math.Inf(1))-math.Abs(t))
	}
	spent := s.Points + s.Boxes
	for lo := t; lo < limit; {
		hi := lo + s.window
		if !(hi < limit) || hi <= lo {
			hi = limit
		}
		clear(s.scale) // a margin may have been large elsewhere, and with other discretes
		at, flips := s.box(lo, hi, spent+budget)
		switch {
		case flips:
			s.window = max((at-t)/4, (limit-t)*0x1p-20)
			return at, true
		case at < hi:
			return at, false
		}
		lo = hi
		s.window *= 8
	}
	return limit, false
}

// box is Next over [lo, hi], where the conditions at lo are those at the start.
func (s *Search) box(lo, hi float64, end int) (float64, bool) {
	from := lo
	s.ends = append(s.ends[:0], hi)
	for len(s.ends) > 0 {
		if lo > from && s.Points+s.Boxes >= end {
			return lo, false
		}
		hi := s.ends[len(s.ends)-1]
		s.Boxes++
		s.course.Over(lo, hi, s.margins, s.slopes)
		some, monotone := s.doubts()
		if !some {
			lo = hi
			s.ends = s.ends[:len(s.ends)-1]
			continue
		}
		if monotone || s.small(lo, hi) {
			if s.point(hi) {
				return s.refine(lo, hi), true
			}
			lo = hi
			s.ends = s.ends[:len(s.ends)-1]
			continue
		}
		mid := lo + float64(0.5*(hi-lo))
		if s.point(mid) { // nothing behind mid matters
			s.ends = append(s.ends[:0], mid)
			continue
		}
		if s.meanValue(lo, mid, hi) || hi-lo <= s.unresolved && s.constant(lo, hi) {
			lo = hi
			s.ends = s.ends[:len(s.ends)-1]
			continue
		}
		s.ends = append(s.ends, mid)
	}
	return lo, false
}

// doubts notes which conditions may change over the box whose enclosures are there: some, and whether the margins of
// all of these are monotone.
func (s *Search) doubts() (some, monotone bool) {
	monotone = true
	for k, m := range s.margins {
		s.doubt[k] = (s.skip == nil || !s.skip[k]) && !(m.Lo > 0 || m.Hi < 0 || m.Lo == m.Hi)
		if s.doubt[k] {
			some = true
			monotone = monotone && Finite(s.slopes[k]) && (s.slopes[k].Lo >= 0 || s.slopes[k].Hi <= 0)
		}
	}
	return some, monotone
}

// Finite reports whether a has finite ends. Those of a slope are not where its margin has a pole.
func Finite(a tape.Interval) bool { return a.Width() <= math.MaxFloat64 }

// small reports whether [lo, hi] is not worth dividing.
func (s *Search) small(lo, hi float64) bool {
	if mid := lo + float64(0.5*(hi-lo)); !(mid > lo && mid < hi) || hi-lo <= s.least {
		return true
	}
	for k, d := range s.doubt {
		if d && !(s.margins[k].Width() <= float64(negligible*s.scale[k])) {
			return false
		}
	}
	return true
}

// meanValue reports whether values at mid, and the enclosures of slopes over [lo, hi], show that no condition in doubt
// changes. The margins at mid are there.
func (s *Search) meanValue(lo, mid, hi float64) bool {
	r := max(mid-lo, hi-mid)
	for k, d := range s.doubt {
		if !d {
			continue
		}
		m := math.Abs(s.margin[k])
		steep := max(math.Abs(s.slopes[k].Lo), math.Abs(s.slopes[k].Hi))
		if !(m-float64(r*steep) > float64(negligible*s.scale[k])) {
			return false
		}
	}
	return true
}

// constant reports whether the margins in doubt have the same bits at both ends of a box as in its middle, where they
// were evaluated last: where time is so small against what it is added to that it does not move them. Enclosures may
// say nothing there, as next to a pole. Elsewhere a margin that stays zero is one that cancels: rounding decides it,
// and no search may take that for progress.
func (s *Search) constant(lo, hi float64) bool {
	copy(s.marginLow, s.margin)
	for _, t := range [2]float64{lo, hi} {
		if s.point(t) {
			return false
		}
		for k, d := range s.doubt {
			if d && (s.margin[k] != s.marginLow[k] || s.margin[k] == 0 && Finite(s.slopes[k])) {
				return false
			}
		}
	}
	return true
}

// refine returns the first float in (lo, hi] at which a condition is another than at the start; at hi one is, at lo
// none. Secants on the margin of the condition that changes come close, and halving does the rest.
func (s *Search) refine(lo, hi float64) float64 {
	which := s.flipped()
	s.course.At(lo, s.marginLow, s.truth)
	s.Points++
	if which < 0 {
		return s.halve(lo, hi)
	}
	a, b := s.marginLow[which], s.margin[which]
	// move makes x an end of the bracket. It reports false where another condition changes.
	move := func(x float64) bool {
		if s.point(x) {
			hi, b = x, s.margin[which]
			return s.flipped() == which
		}
		lo, a = x, s.margin[which]
		return true
	}
	for reach := 1.0; (a < 0) != (b < 0); {
		w, ulps := hi-lo, float64(0x1p-50*max(math.Abs(lo), math.Abs(hi)))
		if w <= float64(4*ulps) {
			break
		}
		x := lo + float64(w*(a/(a-b)))
		if !(x > lo && x < hi) {
			x = lo + float64(0.5*w)
		}
		if !(x > lo && x < hi) { // nothing lies between, as between 0 and the least of all numbers
			break
		}
		// A second step, a little beyond the root, brings the other end near, too.
		steep := (b - a) / w
		if !move(x) {
			break
		}
		off := float64(reach * max(ulps, float64(2*math.Abs(s.margin[which]/steep))))
		if x == hi {
			off = -off
		}
		if y := x + off; y > lo && y < hi && !move(y) {
			break
		}
		reach *= 16
		if hi-lo <= float64(0x1p-10*w) {
			reach = 1
		} else if hi-lo > float64(0.5*w) && !move(lo+float64(0.5*(hi-lo))) {
			break
		}
	}
	return s.halve(lo, hi)
}

// flipped returns the condition that is another than at the start at the point evaluated last, or -1 if there are
// several, or none.
func (s *Search) flipped() int {
	which := -1
	for k, b := range s.base {
		if (s.skip == nil || !s.skip[k]) && s.truth[k] != b {
			if which >= 0 {
				return -1
			}
			which = k
		}
	}
	return which
}

// halve is refine by halving.
func (s *Search) halve(lo, hi float64) float64 {
	for {
		mid := lo + float64(0.5*(hi-lo))
		if !(mid > lo && mid < hi) || hi-lo <= s.least {
			return hi
		}
		if s.point(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
}
