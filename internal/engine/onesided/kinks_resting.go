package onesided

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// A condition may stay exactly at its threshold for a while: T > hi while T is at rest at hi. Whatever moves T or hi at
// any time of that while takes it to one side, where it holds, or to the other, where it does not.

// mayRest reports whether a guard may stay at a threshold that something moves: it is that of one comparison. Those of
// time alone may, as of max(t, p) >= 1; of modes alone, as of mod(floor(t), 2), they do not.
func mayRest(g tapec.Guard) bool { return !g.Kink && !g.Compound && !g.Held }

// resting lists the conditions at whose thresholds the run is at a mark, and a little later along the field; and those
// of modes that have been there until now, and are not there later.
func (k *Kinks) resting(m *solvers.Mark, span float64) (found []Kink) {
	c := k.model.Compiled
	if k.guards == nil || m.T == k.calm && m.Kind == solvers.MarkFire && slices.Equal(m.Mm, m.Mp) &&
		!compiled.SetsGuards(k.model, m.Firing.Event) {
		return nil
	}
	k.calm = math.NaN()
	at := k.behind(m)
	if m.Kind == solvers.MarkStart {
		k.rests, k.stuck = map[int]bool{}, map[int]bool{}
		_, k.size = k.sizes(&at)
	}
	// small tells which margins are near 0 beside what they were at first, as those of any that rests are.
	small := func(margins []float64) (some bool) {
		for i, x := range margins {
			k.small[i] = k.small[i] && math.Abs(x) <= float64(0x1p-20*k.size[i])
			some = some || k.small[i]
		}
		return some
	}
	k.small = k.small[:0]
	for _, g := range c.GuardList {
		k.small = append(k.small, mayRest(g))
	}
	if !small(k.peek(&at)) {
		clear(k.rests)
		clear(k.stuck)
		k.calm = m.T
		return nil
	}
	met := slices.Clone(k.small)
	eps := float64(0x1p-20 * span)
	later := k.later(at, eps)
	if !small(k.peek(&later)) && len(k.rests) == 0 {
		return nil
	}
	then := k.margins(&later)
	here, near := k.sizes(&at)
	// zero reports whether the margin of guard i is 0 but for rounding.
	zero := func(i int, margin float64) bool { return k.small[i] && near0(margin, near[i]) }
	same := map[source.Span]int{} // what else is found at a place
	for i, g := range c.GuardList {
		if !zero(i, here[i]) || !zero(i, then[i]) {
			if k.rests[i] && met[i] && near0(here[i], near[i]) {
				found = append(found, k.threshold(i))
			}
			delete(k.rests, i)
			delete(k.stuck, i)
			continue
		}
		if g.Event < 0 {
			k.rests[i] = true
		}
		if i == rootOf(m) {
			k.stuck[i] = true
		}
		if k.stuck[i] && k.model.Algebraic() { // where it was met, it is held: runs of such models are dear
			continue
		}
		if n, ok := same[g.Span]; ok {
			found[n].margins = append(found[n].margins, i)
			continue
		}
		same[g.Span] = len(found)
		kink := k.threshold(i)
		kink.rests = true
		found = append(found, kink)
	}
	return found
}

// came lists the conditions of modes at whose thresholds the run has come to rest between the last mark and the present
// one, where nothing happened: at a kink of theirs, as min(t, x) >= x does as t comes to x.
func (k *Kinks) came(m *solvers.Mark, span float64) (found []Kink) {
	c := k.model.Compiled
	kt := k.tapes[c.Guards]
	if k.guards == nil || kt == nil || m.Kind == solvers.MarkStart || m.Inside {
		return nil
	}
	if k.kinked == nil {
		k.kinked = map[int]bool{}
		for _, v := range kt.ops {
			if !c.Guards.Instr(v).Op.HasKink() {
				continue
			}
			c.Guards.Reached(v, func(out tape.Output, i int) {
				g := c.GuardList[i]
				k.kinked[i] = k.kinked[i] || out.Name == tapec.Margins.Name().String() && mayRest(g) && g.Event < 0
			})
		}
	}
	var here, before []float64
	for i := range c.GuardList {
		if !k.kinked[i] || k.rests[i] {
			continue
		}
		if here == nil {
			at := k.ahead(m)
			here = k.margins(&at)
			at = k.later(at, float64(-0x1p-20*span))
			before = k.margins(&at)
		}
		if here[i] != 0 || before[i] != 0 {
			continue
		}
		found = append(found, k.threshold(i))
	}
	return found
}

// threshold is what it is that the run is at the threshold of guard i.
func (k *Kinks) threshold(i int) Kink {
	g := &k.model.Compiled.GuardList[i]
	return Kink{Op: tape.Less, Span: g.Span, Rests: true, From: k.model.GuardInputs(i), margins: []int{i}}
}

// noise is the part of what a little motion does to a margin that is rounding.
const noise = 0x1p-33

// near0 reports whether x is 0 but for rounding, beside what a little motion makes of it.
func near0(x, size float64) bool { return math.Abs(x) <= float64(noise*size) }

// sizes returns the margins of all guards at some values, and what a little motion of all that they read does to them.
func (k *Kinks) sizes(at *vec.Values) (here, moved []float64) {
	here = k.margins(at)
	k.nudge(0, k.guards, beside)
	for _, s := range k.states { // one near 0 has the rounding of how large it was
		for i, most := range k.most[s.offset : s.offset+len(s.to)] {
			s.to[i] += math.Copysign(float64(0.125*beside*most), s.to[i]-at[vec.Y][s.offset+i])
		}
	}
	k.guards.Run()
	moved = slices.Clone(k.guards.Output(tapec.Margins.Name().String()))
	for i, x := range here {
		moved[i] = math.Abs(moved[i] - x)
	}
	return here, moved
}

// memo is what has been found out of guards and is asked for again.
type memo struct {
	reached map[int]bool     // what reachesAny has found, by events
	reads   map[int][]string // the inputs of the margins of guards, where reaches has asked for them
	puts    map[int][]put    // the instants that bodies put somewhere, by events, where due has asked for them
}
