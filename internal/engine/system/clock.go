package system

import (
	"math"

	"odes.dev/odes/internal/engine/crossings"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// clock finds the times at which the model's conditions of time alone change: those that depend on parameters,
// discretes and modes besides. They need no state, so that is known before a step is taken.
//
// Margins that are affine in time are evaluated at both ends of a stretch. The line through them gives the root, and a
// few more evaluations the first float at which the truth is another one. Others are searched for.
type clock struct {
	worker *Worker
	affine []bool // [conditions]
	some   struct{ affine, others bool }
	base   []float64 // [conditions] the truths at the start
	near   clockSample
	far    clockSample
	mid    clockSample

	line     *timeline // of those that are not affine, as well; nil if all are
	searcher *crossings.Search
}

// clockSample holds the conditions at a time.
type clockSample struct {
	t              float64
	margins, truth []float64
}

// newClock returns the clock of a worker; nil if the model has no such conditions.
func newClock(w *Worker) *clock {
	list := w.model.Compiled.ClockList
	if len(list) == 0 {
		return nil
	}
	n := len(list)
	c := &clock{worker: w, affine: make([]bool, n), base: make([]float64, n)}
	for i, x := range list {
		c.affine[i] = x.Affine
		c.some.affine, c.some.others = c.some.affine || x.Affine, c.some.others || !x.Affine
	}
	if c.some.others {
		c.line = newTimeline(w.model.Programs.Clocks, w.model.Layout)
		truths := c.line.point.Output(tapec.ClockTruths.Name().String())
		c.searcher = crossings.New(conditions{c.line, truths}, n, c.affine)
	}
	for _, s := range []*clockSample{&c.near, &c.far, &c.mid} {
		s.margins, s.truth = make([]float64, n), make([]float64, n)
	}
	return c
}

// Clocks implements solvers.Clock.
func (w *watching) Clocks() int { return len(w.space.Task.Model.Compiled.ClockList) }

// NextSwitch implements solvers.Clock.
func (w *watching) NextSwitch(t, limit float64) float64 {
	if w.clock == nil || !(t < limit) {
		return math.Inf(1)
	}
	return w.clock.next(t, limit)
}

// ClockMargins returns the margins of the conditions at t, until the next call.
func (w *watching) ClockMargins(t float64) []float64 {
	w.clock.at(t, &w.clock.mid)
	return w.clock.mid.margins
}

func (c *clock) at(t float64, s *clockSample) {
	w := c.worker
	s.t, w.T[0] = t, t
	w.Out[tapec.Primal][vec.ClockRho], w.Out[tapec.Primal][vec.ClockTruth] = s.margins, s.truth
	w.Primals.Get(tapec.PartClocks).Run(&w.In, &w.Out)
}

// next returns the first time in (t, limit] at which a condition changes, or +Inf.
func (c *clock) next(t, limit float64) float64 {
	c.at(t, &c.near)
	copy(c.base, c.near.truth)
	first := math.Inf(1)
	if c.some.affine {
		c.at(limit, &c.far)
		if c.flipped(&c.far) {
			first = c.polish(limit - t)
			limit = first
		}
	}
	if c.some.others {
		first = min(first, c.search(t, limit))
	}
	return first
}

// flipped reports whether one of the affine conditions is another one at s than at the start.
func (c *clock) flipped(s *clockSample) bool {
	for i, x := range s.truth {
		if c.affine[i] && x != c.base[i] {
			return true
		}
	}
	return false
}

// take evaluates the conditions at t, between near and far. It becomes one of these, and take reports which: true for
// far, where one of the affine conditions has changed.
func (c *clock) take(t float64) bool {
	c.at(t, &c.mid)
	if c.flipped(&c.mid) {
		c.far, c.mid = c.mid, c.far
		return true
	}
	c.near, c.mid = c.mid, c.near
	return false
}

// polish returns the first float behind near at which an affine condition has changed; at far one has. Times nearer to
// the start than 2^-70 of the stretch are not told from it.
func (c *clock) polish(stretch float64) float64 {
	start := c.near.t
	if x := start + float64(stretch*0x1p-70); x > start && x < c.far.t {
		if c.take(x) {
			return x
		}
	}
	for range 4 { // the first is exact but for rounding; others follow where another condition changes before
		t := c.root()
		if !(t > c.near.t && t < c.far.t) {
			break
		}
		// From there in strides of a few floats until the change lies in between.
		down, stride := c.take(t), math.Nextafter(math.Abs(t), math.Inf(1))-math.Abs(t)
		for range 6 {
			x := c.near.t + stride
			if down {
				x = c.far.t - stride
			}
			if !(x > c.near.t && x < c.far.t) || c.take(x) != down {
				break
			}
			stride *= 4
		}
		if c.far.t-c.near.t <= float64(4*stride) {
			break
		}
	}
	for {
		mid := c.near.t + float64(0.5*(c.far.t-c.near.t))
		if !(mid > c.near.t && mid < c.far.t) {
			return c.far.t
		}
		c.take(mid)
	}
}

// root returns where the lines through the margins at near and far cross zero, of the conditions that change between
// them: the first of these times.
func (c *clock) root() float64 {
	first, w := c.far.t, c.far.t-c.near.t
	for i, x := range c.far.truth {
		if !c.affine[i] || x == c.base[i] {
			continue
		}
		a, b := c.near.margins[i], c.far.margins[i]
		if t := c.near.t + float64(w*(a/(a-b))); t < first {
			first = t
		}
	}
	return max(first, math.Nextafter(c.near.t, math.Inf(1)))
}

// search returns the first time in (t, limit] at which a condition that is not affine changes, or +Inf. It may return
// an earlier time, up to which none changes, where more is too much to look at.
func (c *clock) search(t, limit float64) float64 {
	c.line.set(&c.worker.In, 0, nil)
	at, changes := c.searcher.Next(t, limit)
	if !changes && at >= limit {
		return math.Inf(1)
	}
	return at
}

// conditions are the model's conditions as a course.
type conditions struct {
	*timeline
	truths []float64
}

func (c conditions) At(t float64, margins, truths []float64) {
	c.timeline.At(t)
	copy(margins, c.value)
	copy(truths, c.truths)
}

func (c conditions) Over(lo, hi float64, margins, slopes []tape.Interval) {
	c.timeline.Over(lo, hi)
	copy(margins, c.bound)
	for k := range slopes {
		slopes[k] = c.Slope(k)
	}
}
