package hybrid

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// history remembers when something fired last, to find firings without end.
type history struct {
	count int        // firings this run, at any time
	last  [5]float64 // the last times, a ring
	burst int        // times of firing since first
	first float64    // start of the present burst
}

// window is the part of the time span within which maxBurst firings of one event count as chattering.
const (
	window   = 1e-9
	maxBurst = 100
)

// leastWindow is the window of times at which nothing is found, in units in the last place.
const leastWindow = 1e6

// fired records a firing at t and reports whether there are too many within the window. Firings at one time count
// once, since MaxCascade limits them.
func (f *history) fired(t, span float64) bool {
	if f.burst == 0 || t-f.first > window*span {
		f.first, f.burst = t, 0
	}
	if n := len(f.last); f.count == 0 || f.last[(f.count-1)%n] != t {
		f.burst++
	}
	f.last[f.count%len(f.last)] = t
	f.count++
	return f.burst >= maxBurst
}

// stutters reports whether the last three firings came at different times so close to each other that rounding
// decides about them.
func (f *history) stutters() bool {
	if f.count < 3 {
		return false
	}
	n := len(f.last)
	a, b, c := f.last[(f.count-3)%n], f.last[(f.count-2)%n], f.last[(f.count-1)%n]
	return a < b && b < c && c-a < float64(100*elem.ULP(c))
}

// times returns the last times in order.
func (f *history) times() []float64 {
	n := min(f.count, len(f.last))
	out := make([]float64, n)
	for i := range out {
		out[i] = f.last[(f.count-n+i)%len(f.last)]
	}
	return out
}

// pattern says how the last firings followed one another, apart from Sliding.
func (f *history) pattern() (kind solvers.ChatterKind, gap, limit float64) {
	const several, shrinking = 3, 0.9999
	last := f.times()
	n := len(last)
	if n < several+1 {
		return solvers.Crowded, 0, 0
	}
	t := last[n-1]
	gap = (t - last[0]) / float64(n-1)
	if !(gap > float64(1000*elem.ULP(t))) {
		return solvers.Crowded, gap, 0
	}
	most := 0.0
	for i := 2; i < n; i++ {
		most = max(most, (last[i]-last[i-1])/(last[i-1]-last[i-2]))
	}
	if most < shrinking { // the gaps go on at least like a geometric series
		return solvers.Zeno, gap, t + float64((t-last[n-2])*most)/(1-most)
	}
	return solvers.Regular, gap, 0
}

// accumulates reports whether the last firings came after times that became shorter like a geometric series, whose sum
// is so near that rounding decides about the next one.
func (f *history) accumulates() bool {
	const several, alike = 4, 1.25
	n := len(f.last)
	if f.count < several {
		return false
	}
	t := f.last[(f.count-1)%n]
	rounding := float64(1000 * elem.ULP(t))
	if gap := t - f.last[(f.count-2)%n]; !(gap > 0 && gap < float64(1000*rounding)) { // the usual case
		return false
	}
	kind, _, limit := f.pattern()
	if kind != solvers.Zeno || !(limit-t < rounding) {
		return false
	}
	last := f.times()
	least, most := math.Inf(1), 0.0
	for i := 2; i < len(last); i++ {
		ratio := (last[i] - last[i-1]) / (last[i-1] - last[i-2])
		least, most = min(least, ratio), max(most, ratio)
	}
	return most <= float64(alike*least)
}

// next returns the time after which the next firing is expected where firings follow each other ever sooner; NaN where
// they do not.
func (f *history) next() float64 {
	const few, soon = 3, 0.5 // that many tell, if they come so much sooner each
	last := f.times()
	n := len(last)
	if n < few {
		return math.NaN()
	}
	gap := last[n-1] - last[n-2]
	shrinks := gap / (last[n-2] - last[n-3])
	if kind, _, _ := f.pattern(); kind != solvers.Zeno && !(n == few && shrinks < soon) {
		return math.NaN()
	}
	return float64(gap * shrinks)
}

// regular reports whether the last firings came after equal times, though within the window.
func (f *history) regular() bool {
	kind, _, _ := f.pattern()
	return kind == solvers.Regular
}

// chatters makes the error about the firings of h. The guard is that which fired, or -1; max is MaxEvents where it was
// reached.
func (s *Solver) chatters(name string, h *history, guard, most int, reason string) error {
	e := &solvers.ChatteringError{Place: s.place(nil), Event: name, Times: h.times(), Reason: reason, Max: most}
	switch e.Kind, e.Gap, e.Limit = h.pattern(); {
	case guard < 0 || e.Kind == solvers.Regular && e.Gap > float64(window*s.span):
	case s.guards[guard].Event < 0:
		if s.near.slidesAlong(guard) {
			e.Kind = solvers.Sliding
		}
	case e.Kind != solvers.Zeno:
		if e.Other = s.partner(h); e.Other != "" {
			e.Kind = solvers.Sliding
		}
	}
	return e
}
