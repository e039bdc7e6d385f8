// Package narrow finds what functions do between readings of them that these do not show: peaks of functions of time
// and of states along a step, which error estimates know nothing of.
//
// It knows tapes and polynomials, but no model and no solver.
package narrow

import (
	"math"

	"odes.dev/odes/tape"
)

// Line is some functions of one variable, as of time along a step. What a method returns stays until the next call.
type Line interface {
	// At returns the values of the functions at t.
	At(t float64) []float64
	// Over encloses the functions over [lo, hi].
	Over(lo, hi float64) []tape.Interval
	// Slope encloses the slope of function k over what Over was last given. It holds NaN where the function may jump.
	Slope(k int) tape.Interval
}

const (
	// unimportant is the part of a function's size by which it may leave its band unnoticed.
	unimportant = 1e-7
	// unimportantBound is that of a bound of its size, which may be far too large.
	unimportantBound = 1e-12
)

// Bands watches functions between readings, as those of the stages of a step. A peak that no reading shows is not seen
// by error estimates, which are made of the same readings.
//
// Between two neighbouring readings a function is expected within their values, and a little beyond: as far as the
// second differences on both sides let it bend, but not farther than all readings lie apart, and a small part of its
// size. That is its band. Bounds over boxes of the line tell whether it stays there.
type Bands struct {
	Line   Line
	Leeway float64 // how far beyond the readings bands reach, in second differences
	Doubt  []bool  // the functions that may leave theirs; the caller sets it
	// Floor is what does not matter of each function. The caller sets it, and Leave adds what the readings say.
	Floor []float64

	Boxes   int     // that the last Leave looked at
	Feature int     // the function that left its band
	Open    bool    // the last Leave looked at as many boxes as it may, and some were left
	Settled float64 // nothing left its band before that; the end where not Open

	read  [][]float64     // [times][functions] at the times of reading
	band  []tape.Interval // where each function is expected between two of them
	slack []float64       // how far beyond the readings that reaches
	bends [][]float64     // [times][functions] the second differences at the times
	apart []float64       // how far the readings lie apart
	noise []float64       // how wide bounds are at a point: the uncertainty of rounding
	ends  []float64

	ats   map[float64][]float64    // of at
	overs map[[2]float64][]float64 // of over
	rows  [][]float64              // that the two hold: the first used ones
	used  int
}

// NewBands returns the bands of n functions.
func NewBands(line Line, n int, leeway float64) *Bands {
	b := &Bands{Line: line, Leeway: leeway, Doubt: make([]bool, n), band: make([]tape.Interval, n)}
	b.ends = make([]float64, 0, 64)
	b.ats, b.overs = map[float64][]float64{}, map[[2]float64][]float64{}
	for _, x := range []*[]float64{&b.slack, &b.apart, &b.Floor, &b.noise} {
		*x = make([]float64, n)
	}
	return b
}

// Doubtful reports whether a function whose slope has these bounds may turn.
func Doubtful(slope tape.Interval) bool {
	return !(finite(slope) && (slope.Lo >= 0 || slope.Hi <= 0))
}

func finite(x tape.Interval) bool {
	return math.Abs(x.Lo) <= math.MaxFloat64 && math.Abs(x.Hi) <= math.MaxFloat64
}

// Leave looks for a function in doubt that leaves its band between readings at times, in ascending order. It returns a
// time after the first such that readings up to there show what comes first, and true. It looks at no more than budget
// boxes; what is left then is taken to be harmless.
func (b *Bands) Leave(times []float64, budget int) (end float64, out bool) {
	b.sample(times)
	b.Boxes, b.Open, b.Settled = 0, false, times[len(times)-1]
	for i := range len(times) - 1 {
		if lo, hi := times[i], times[i+1]; lo < hi {
			b.expect(i, hi-lo)
			if at, out := b.leaves(lo, hi, budget); out {
				return b.before(times[0], lo, at), true
			}
		}
	}
	return times[len(times)-1], false
}

// Unimportant makes Floor, bounds of the functions' sizes over [lo, hi], what does not matter beside these. Bounds may
// be far too large: that of q^2*exp(-q^2) over all q is. Where that may hide something they become tighter.
func (b *Bands) Unimportant(lo, hi float64) {
	b.forget()
	for i, t := range [...]float64{lo, hi} {
		for k, x := range b.Line.At(t) {
			if i == 0 {
				b.apart[k] = 0
			}
			b.apart[k] = max(b.apart[k], math.Abs(x))
		}
	}
	for k, size := range b.Floor {
		switch {
		case !b.Doubt[k] || !(size <= math.MaxFloat64):
			b.Floor[k] = 0
			continue
		case unimportantBound*size > unimportant*b.apart[k]:
			size = b.tighter(k, lo, hi, size)
		}
		b.Floor[k] = float64(unimportantBound * size)
	}
}

// tighter returns a bound of function k over [lo, hi], where size is one, that is not much larger than the function is
// somewhere, if it can be had. It halves the stretch where the bound is largest.
func (b *Bands) tighter(k int, lo, hi, size float64) float64 {
	const most, near = 100, 16
	type stretch struct{ lo, hi, size float64 }
	list, seen, at := []stretch{{lo, hi, size}}, 0.0, 0
	for range most {
		x := list[at]
		mid := x.lo + float64(0.5*(x.hi-x.lo))
		seen = max(seen, math.Abs(b.at(mid)[k]))
		if x.size <= float64(near*seen) || !(mid > x.lo && mid < x.hi) {
			break
		}
		list[at] = stretch{x.lo, mid, min(b.over(x.lo, mid)[k], x.size)}
		list = append(list, stretch{mid, x.hi, min(b.over(mid, x.hi)[k], x.size)})
		for i := range list {
			if list[i].size > list[at].size {
				at = i
			}
		}
	}
	return list[at].size
}

// at returns the values of all functions at t, and over their bounds over [lo, hi]. The Line computes all of them at
// once, and many functions ask for the same ones, so they stay until forget.
func (b *Bands) at(t float64) []float64 {
	x := b.ats[t]
	if x == nil {
		x = b.row()
		copy(x, b.Line.At(t))
		b.ats[t] = x
	}
	return x
}

func (b *Bands) over(lo, hi float64) []float64 {
	x := b.overs[[2]float64{lo, hi}]
	if x == nil {
		x = b.row()
		for k, y := range b.Line.Over(lo, hi) {
			x[k] = max(math.Abs(y.Lo), math.Abs(y.Hi))
		}
		b.overs[[2]float64{lo, hi}] = x
	}
	return x
}

// row returns space for a number of each function. It forgets where many numbers are kept: they only save time.
func (b *Bands) row() []float64 {
	const most = 1 << 20
	if b.used*len(b.Doubt) > most {
		b.forget()
	}
	if b.used == len(b.rows) {
		b.rows = append(b.rows, make([]float64, len(b.Doubt)))
	}
	b.used++
	return b.rows[b.used-1]
}

// forget makes at and over ask the Line anew.
func (b *Bands) forget() {
	clear(b.ats)
	clear(b.overs)
	b.used = 0
}

// Read returns the values of function k at the times of the last Leave, with the largest magnitude among them.
func (b *Bands) Read(times, k int) (most float64) {
	for _, row := range b.read[:times] {
		most = max(most, math.Abs(row[k]))
	}
	return most
}

// sample reads the functions at times, and computes what follows from that. Those that are not finite there are not
// looked at.
func (b *Bands) sample(times []float64) {
	for len(b.read) < len(times) {
		b.read, b.bends = append(b.read, make([]float64, len(b.Doubt))), append(b.bends, make([]float64, len(b.Doubt)))
	}
	clear(b.noise)
	for _, t := range [...]float64{times[0], times[len(times)-1]} {
		for k, x := range b.Line.Over(t, t) {
			b.noise[k] = max(b.noise[k], x.Width())
		}
	}
	for i, t := range times {
		copy(b.read[i], b.Line.At(t))
	}
	for k := range b.Doubt {
		least, most := math.Inf(1), math.Inf(-1)
		for i := range times {
			x := b.read[i][k]
			least, most = min(least, x), max(most, x)
			b.bends[i][k] = 0
			if i == 0 || i+1 == len(times) {
				continue
			}
			before, behind := times[i]-times[i-1], times[i+1]-times[i]
			if before > 0 && behind > 0 {
				b.bends[i][k] = math.Abs(((b.read[i+1][k]-x)/behind - (x-b.read[i-1][k])/before) / (before + behind))
			}
		}
		b.apart[k] = most - least
		b.Doubt[k] = b.Doubt[k] && b.apart[k] <= math.MaxFloat64
		b.Floor[k] += float64(8 * b.noise[k])
		b.Floor[k] += float64(unimportant * max(math.Abs(least), math.Abs(most)))
	}
}

// expect sets the bands between readings i and i + 1, at a distance w.
func (b *Bands) expect(i int, w float64) {
	for k := range b.band {
		before, behind := b.read[i][k], b.read[i+1][k]
		bend := max(b.bends[i][k], b.bends[i+1][k])
		b.slack[k] = float64(b.Leeway*min(float64(float64(bend*w)*w), b.apart[k])) + b.Floor[k]
		b.band[k] = tape.Interval{Lo: min(before, behind) - b.slack[k], Hi: max(before, behind) + b.slack[k]}
	}
}

// leaves returns the first time found within [lo, hi] at which a function leaves its band, and true.
func (b *Bands) leaves(lo, hi float64, budget int) (float64, bool) {
	b.ends = append(b.ends[:0], hi)
	for ; len(b.ends) > 0; b.Boxes++ {
		hi := b.ends[len(b.ends)-1]
		mid := lo + float64(0.5*(hi-lo))
		bound := b.Line.Over(lo, hi)
		if !b.within(bound) && mid > lo && mid < hi {
			if b.Boxes >= budget {
				if !b.Open {
					b.Open, b.Settled = true, lo
				}
				break
			}
			value := b.Line.At(mid)
			if k := b.outside(value); k >= 0 {
				b.Feature = k
				return b.edge(lo, mid), true
			}
			if !b.near(bound, value, max(mid-lo, hi-mid)) {
				b.ends = append(b.ends, mid)
				continue
			}
		}
		lo = hi
		b.ends = b.ends[:len(b.ends)-1]
	}
	return hi, false
}

// within reports whether the bounds over a box, at both ends of which all functions are in their bands, keep them
// there.
func (b *Bands) within(bound []tape.Interval) bool {
	for k, d := range b.Doubt {
		if !d {
			continue
		}
		if x := bound[k]; x.Lo >= b.band[k].Lo && x.Hi <= b.band[k].Hi {
			continue
		}
		if Doubtful(b.Line.Slope(k)) {
			b.Feature = k
			return false
		}
	}
	return true
}

// outside returns a function that is out of its band at a point, or -1.
func (b *Bands) outside(value []float64) int {
	for k, d := range b.Doubt {
		if x := value[k]; d && (x < b.band[k].Lo || x > b.band[k].Hi) {
			return k
		}
	}
	return -1
}

// near reports whether the values at the middle of a box, and the bounds over it of values or slopes, keep all
// functions in their bands, but for a part of the slack. The middle is as far as r from the ends.
func (b *Bands) near(bound []tape.Interval, value []float64, r float64) bool {
	for k, d := range b.Doubt {
		if !d || bound[k].Width() <= float64(0.25*b.slack[k]) {
			continue
		}
		slope, x := b.Line.Slope(k), value[k]
		off := float64(r * max(math.Abs(slope.Lo), math.Abs(slope.Hi)))
		if !(x-off >= b.band[k].Lo && x+off <= b.band[k].Hi) {
			return false
		}
	}
	return true
}

// edge returns where a function, some of which are out of their bands at hi, first leaves its own, behind lo. That is
// the feature: another may be none there.
func (b *Bands) edge(lo, hi float64) float64 {
	for range 30 {
		mid := lo + float64(0.5*(hi-lo))
		if !(mid > lo && mid < hi) {
			break
		}
		if k := b.outside(b.Line.At(mid)); k >= 0 {
			hi, b.Feature = mid, k
		} else {
			lo = mid
		}
	}
	return hi
}

// before returns the end of a step from t0 that brings readings to where a function leaves its band, at edge: that
// time, or if it is near, a few times the time in which the function changes by as much as it may there.
func (b *Bands) before(t0, lo, edge float64) float64 {
	b.Line.Over(edge, edge)
	slope := b.Line.Slope(b.Feature)
	length := edge - lo
	if steep := max(math.Abs(slope.Lo), math.Abs(slope.Hi)); steep > 0 && steep <= math.MaxFloat64 {
		length = min(length, b.slack[b.Feature]/steep)
	}
	if length = float64(4 * length); edge-t0 > length {
		return edge
	}
	return t0 + max(length, float64(0x1p-10*(edge-t0)))
}

// ShortLeeway is the leeway of signals by which waves may turn unseen within a short time.
const ShortLeeway = 1
