package lag

import (
	"math"
	"slices"
	"sort"
)

// Moment is a time at which something happens in a run, or is read of it. Root tells that it was located as a root, and
// is as exact as the run. Past tells that nothing happens but that a delay reads the run from here on, and not what was
// before it: the start comes back, and always does so at this time.
type Moment struct {
	T          float64
	Root, Past bool
}

// sameTime is the part of the time span within which two times count as one, as among events.
const sameTime = 1e-9

// Meets reports whether a jump or a kink comes back of the past at one of some moments, which ascend, the last of them
// at the end; or whether two jumps do at one time, by different delays. A variable that separates such two has a
// derivative on each side. What is read of a kink one delay later has a kink, and a state has one that reads a jump.
func (r *Record) Meets(moments []Moment, rtol float64) bool {
	if len(moments) == 0 {
		return false
	}
	end := moments[len(moments)-1].T
	span := math.Abs(end - r.start)
	within := func(m Moment) float64 {
		if m.Root {
			return max(sameTime, rtol) * span
		}
		return sameTime * span
	}
	meets := func(t float64, start bool) bool {
		far := max(sameTime, rtol) * span
		for i := sort.Search(len(moments), func(i int) bool { return moments[i].T >= t-far }); i < len(moments); i++ {
			if moments[i].T > t+far {
				return false
			}
			if math.Abs(moments[i].T-t) <= within(moments[i]) && !(start && moments[i].Past) {
				return true
			}
		}
		return false
	}
	var jumps []float64
	for _, g := range r.gaps {
		for _, tau := range r.tau {
			t := g.t + tau
			if g.truly > 1 || !(t <= end+sameTime*span) {
				continue
			}
			if meets(t, g.after < 0) {
				return true
			}
			if g.truly == 0 {
				jumps = append(jumps, t)
			}
		}
	}
	for i, c := range r.crossed {
		if r.gaps[c.gap].truly <= 1 && meets(c.t, false) {
			return true
		}
		// One delay that is written twice leaves one gap twice.
		if twice := i > 0 && r.crossed[i-1].gap == c.gap; r.gaps[c.gap].truly == 0 && !twice {
			jumps = append(jumps, c.t)
		}
	}
	slices.Sort(jumps)
	for i := 1; i < len(jumps); i++ {
		if jumps[i]-jumps[i-1] <= sameTime*span {
			return true
		}
	}
	return false
}

// Break is a time at which the record is not smooth, and the state behind it.
type Break struct {
	T float64
	Y []float64
}

// Breaks returns the breaks behind the start, in the order of time.
func (r *Record) Breaks() (list []Break) {
	for _, g := range r.gaps {
		if g.after >= 0 && g.after < len(r.steps) {
			list = append(list, Break{g.t, r.steps[g.after].Y1})
		}
	}
	return list
}

// Extended returns the state y with what is read of the past just behind t, or just before, in a slice of its own. The
// run has ended.
func Extended(x *Worker, t float64, y []float64, behind bool) []float64 {
	to := make([]float64, len(x.y))
	mid, later := x.mid, x.later
	x.mid, x.later = t, behind
	loose(x, func() { x.extend(t, y, to) })
	x.mid, x.later = mid, later
	return to
}
