package narrow

import (
	"math"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/tape"
)

const (
	// largePart is the part of the largest value that a part may have from which it is large beside a path.
	largePart = 1e-3
	// mostTurns is how many turns of a step are looked at, turnDigits to how many bits of its length they are found.
	mostTurns, turnDigits = 16, 26
)

// Beside looks for parts that are large near a path, but not on it, so that a path which is off by that little meets
// them. That matters where the path turns, and at its end if it is the last one: elsewhere it meets what lies beside it
// sooner or later. off is how far states may be off, in the order of States. Beside returns a time and the part, -1 for
// none.
func (w *Watch) Beside(p *bernstein.Path, off []float64, last bool) (t float64, part int) {
	w.refresh()
	w.follow(p)
	for _, theta := range w.turns() {
		if k := w.beside(theta, off); k >= 0 {
			return w.time(theta), k
		}
	}
	if last {
		return w.path.T1, w.beside(1, off)
	}
	return 0, -1
}

// beside returns a part that is small at theta of the path, but large within off; -1 for none.
func (w *Watch) beside(theta float64, off []float64) int {
	w.around(theta, off)
	for k, b := range w.bound {
		size := magnitude(b)
		if !w.ignored[k] && size > float64(largePart*w.size[k]) && w.size[k] > 0 &&
			size > float64(calmRatio*math.Abs(w.parts[k])) {
			return k
		}
	}
	return -1
}

// around makes the parts those at theta of the path, and their bounds those within off.
func (w *Watch) around(theta float64, off []float64) {
	w.statesAt(theta, theta == 1)
	t := w.time(theta)
	w.set(t, w.state)
	copy(w.point.Input(w.tapes.Of), w.values)
	w.reach()
	at := 0
	for i := range w.moving {
		in := &w.moving[i]
		for k := range in.boxes[0] {
			if in.Time {
				in.boxes[0][k] = tape.Point(t)
				continue
			}
			in.boxes[0][k] = tape.Interval{Lo: w.state[at] - off[at], Hi: w.state[at] + off[at]}
			at++
		}
	}
	w.enclose()
}

// turns returns where inner values turn along the path.
func (w *Watch) turns() (list []float64) {
	for i, c := range w.coeffs {
		least, most, _, _ := bernstein.Extremes(c)
		if most-least <= float64(4*w.off[i]) { // at rest
			continue
		}
		list = w.turnsOf(i, 0, 1, turnDigits, list)
	}
	return list
}

// turnsOf appends where inner value i turns within [a, b], which is halved up to so many times.
func (w *Watch) turnsOf(i int, a, b float64, depth int, list []float64) []float64 {
	part := w.part[:len(w.coeffs[i])]
	copy(part, w.coeffs[i])
	bernstein.Within(part, a, b)
	least, most, up, down := bernstein.Extremes(part)
	mid := 0.5 * (a + b)
	switch {
	case up >= 0 || down <= 0 || len(list) >= mostTurns:
		return list
	case depth == 0 || most-least <= float64(0.25*w.off[i]):
		return append(list, mid)
	}
	return w.turnsOf(i, mid, b, depth-1, w.turnsOf(i, a, mid, depth-1, list))
}

// alone looks for a node of a step that is within a part, while its neighbours are not, where the part is narrower than
// off. Stages are about as far from the path as that, so that none of them need have seen what the path shows there:
// within a bell at the end of a step, for one. It returns the time before the node at which the path meets the part,
// and the part; -1 for none.
func (w *Watch) alone(times, off []float64) (before float64, part int) {
	for len(w.seen) < len(times) {
		w.seen = append(w.seen, make([]float64, len(w.parts)))
	}
	for i, t := range times {
		copy(w.seen[i], w.At(t))
	}
	for i := 1; i < len(times); i++ {
		for k, ignored := range w.ignored {
			v, beside := math.Abs(w.seen[i][k]), math.Abs(w.seen[i-1][k])
			if i+1 < len(times) {
				beside = max(beside, math.Abs(w.seen[i+1][k]))
			}
			if ignored || w.size[k] == 0 || !(v > float64(largePart*w.size[k]) && v > float64(calmRatio*beside)) {
				continue
			}
			w.around(w.theta(times[i]), off)
			if least := max(w.bound[k].Lo, -w.bound[k].Hi); v > float64(calmRatio*least) {
				return w.meets(k, times[i-1], times[i]), k
			}
		}
	}
	return 0, -1
}

// meets returns the last time found, between lo and hi, before part k becomes large or grows much.
func (w *Watch) meets(k int, lo, hi float64) float64 {
	small := max(float64(0.5*largePart*w.size[k]), float64(2*math.Abs(w.At(lo)[k])))
	for range 50 {
		mid := lo + float64(0.5*(hi-lo))
		if !(mid > lo && mid < hi) {
			break
		}
		if math.Abs(w.At(mid)[k]) > small {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}
