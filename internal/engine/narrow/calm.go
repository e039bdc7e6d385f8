package narrow

import (
	"math"

	"odes.dev/odes/tape"
)

const (
	// calmRatio is how much larger a part may be at one point of a region than at others. A bell that is so much higher
	// than at the ends of a step takes a large part of it, which stages show.
	calmRatio = 20
	// nowRatio is how much larger than at the start of a step a part may become in it where it may become small.
	nowRatio = 2
	// mostRegions is how many regions are kept.
	mostRegions = 24
	// narrowest is the part of a step by which regions are wider at least, on either side.
	narrowest = 0x1p-4
)

// calm knows where parts are calm: boxes of time and states in which none becomes large. So a step within one need not
// be looked at.
type calm struct {
	spread  *tape.Evaluator[tape.Interval] // of the inner values
	spreads func()
	ranges  []tape.Interval
	regions []region
	next    int     // of regions, which is written over
	last    int     // of regions, in which the run was last
	timed   bool    // inner values depend on time
	wide    float64 // how much wider than a step the next one is tried
}

// region is a box of time and states.
type region struct{ least, most []float64 } // [1 + states]

func newCalm(inner *tape.Tape) calm {
	c := calm{spread: tape.NewEvaluator[tape.Interval](inner), wide: 4}
	c.ranges = c.spread.Output(inner.Outputs[0].Name)
	return c
}

// forget forgets the regions.
func (c *calm) forget() { c.regions, c.next, c.last = c.regions[:0], 0, 0 }

// keep returns a region with n numbers on each side, to be written.
func (c *calm) keep(n int) *region {
	if len(c.regions) < mostRegions {
		c.regions = append(c.regions, region{make([]float64, n), make([]float64, n)})
		c.last = len(c.regions) - 1
	} else {
		c.last, c.next = c.next, (c.next+1)%mostRegions
	}
	return &c.regions[c.last]
}

// Calm reports whether no part becomes much larger than at (t0, y0) while states stay within [least, most], up to t1.
// All are in the order of States.
func (w *Watch) Calm(t0, t1 float64, y0, least, most []float64) bool {
	w.refresh()
	within := func(r *region) bool {
		if !(t0 >= r.least[0] && t1 <= r.most[0]) {
			return false
		}
		for i, x := range least {
			if !(x >= r.least[1+i] && most[i] <= r.most[1+i]) {
				return false
			}
		}
		return true
	}
	if w.last < len(w.regions) && within(&w.regions[w.last]) {
		return true
	}
	for i := range w.regions {
		if within(&w.regions[i]) {
			w.last = i
			return true
		}
	}
	w.set(t0, y0)
	copy(w.point.Input(w.tapes.Of), w.values)
	w.reach()
	now, always := w.quiet(t0, t1, least, most, 0)
	if !always {
		return now
	}
	// The same holds farther on, so that it need not be asked for every step.
	for ; w.wide > narrowest; w.wide *= 0.25 {
		if _, always = w.quiet(t0, t1, least, most, w.wide); !always {
			continue
		}
		r := w.keep(1 + len(least))
		r.least[0], r.most[0] = math.Inf(-1), math.Inf(1)
		if w.timed {
			r.least[0], r.most[0] = t0-float64(w.wide*(t1-t0)), t1+float64(w.wide*(t1-t0))
		}
		for i := range least {
			off := margin(least[i], most[i], w.wide)
			r.least[1+i], r.most[1+i] = least[i]-off, most[i]+off
		}
		break
	}
	w.wide = min(max(w.wide, narrowest)*4, 0x1p20)
	return true
}

// margin is how far a range is widened on both sides.
func margin(least, most, wide float64) float64 {
	return float64(wide * max(most-least, float64(1e-9*max(math.Abs(least), math.Abs(most)))))
}

// quiet looks at a box that is so much wider than given. It reports whether no part becomes much larger there than it
// is at the point; and whether none is much larger somewhere in the box than elsewhere.
func (w *Watch) quiet(t0, t1 float64, least, most []float64, wide float64) (now, always bool) {
	at := 0
	for i := range w.moving {
		in := &w.moving[i]
		box := in.boxes[0]
		if in.Time {
			off := float64(wide * (t1 - t0))
			box[0] = tape.Interval{Lo: t0 - off, Hi: t1 + off}
			continue
		}
		for k := range box {
			off := margin(least[at], most[at], wide)
			box[k] = tape.Interval{Lo: least[at] - off, Hi: most[at] + off}
			at++
		}
	}
	w.enclose()
	now, always = true, true
	for k, b := range w.bound {
		size := magnitude(b)
		if w.ignored[k] || size <= float64(faint*w.size[k]) {
			continue
		}
		now = now && size <= float64(nowRatio*math.Abs(w.parts[k]))
		always = always && size <= float64(calmRatio*max(b.Lo, -b.Hi))
	}
	return now || always, always
}

// enclose bounds the parts over boxes of time and states, as they are set.
func (w *Watch) enclose() {
	w.spreads()
	copy(w.in, w.ranges)
	for i := range w.dot {
		w.dot[i] = tape.Point(0)
	}
	w.boxes()
}
