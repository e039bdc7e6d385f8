package system

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/internal/base/sets"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// A condition may stay exactly at its threshold for a while: T > hi while T is at rest at hi. Whatever moves T or hi at
// any time of that while takes it to one side, where it holds, or to the other, where it does not.

// resting is how a condition rests at its threshold behind a mark.
type resting struct {
	matters bool    // some condition changes with it
	unknown bool    // it reads algebraic unknowns, whose rates are not known
	soon    float64 // and is to be looked at so much later at least
	seen    bool    // and has been looked at later,
	stays   bool    // where it was still at rest
}

// ends reports whether it has not rested so that it matters, as far as that was looked at.
func (r *resting) ends() bool { return r.unknown && !r.stays || !r.matters }

// mayRest reports whether a guard may stay at its threshold: it is that of one comparison. Those of time alone may, as
// of max(t, p) >= 1.
func mayRest(g tapec.Guard) bool { return !g.Kink && !g.Compound }

// readsUnknowns reports whether the margin of guard i depends on algebraic unknowns.
func (m *Model) readsUnknowns(i int) bool {
	return m.Algebraic() && slices.ContainsFunc(m.guardInputs(i),
		func(n tapec.Name) bool {
			at, ok := m.layout.find(n)
			return ok && at.vec == vecY && m.isUnknown(at.offset)
		})
}

// resting lists the conditions at whose thresholds the run is at a mark, and a little later along the field; and those
// of modes that have been there until now, and are not there later.
func (k *Kinks) resting(m *solvers.Mark, span float64) (found []Kink) {
	c := k.model.Compiled
	if k.guards == nil {
		return nil
	}
	at := values{vecT: {m.T}, vecY: m.Yp, vecD: m.Dp, vecM: m.Mp, vecP: k.point.p}
	if m.Kind == solvers.MarkStart {
		k.stuck, k.rests = map[int]bool{}, map[int]bool{}
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
		clear(k.stuck)
		clear(k.rests)
		return nil
	}
	met := slices.Clone(k.small)
	if k.rates == nil {
		k.rates = tape.NewEvaluator[float64](c.Rates)
	}
	k.model.load(c.Rates, k.rates, &at)
	k.rates.Run()
	eps := float64(0x1p-20 * span)
	later := values{
		vecT: {m.T + eps}, vecY: k.along(m.Yp, k.rates, eps), vecD: m.Dp, vecM: m.Mp, vecP: k.point.p,
	}
	if !small(k.peek(&later)) && len(k.rests) == 0 {
		clear(k.stuck)
		return nil
	}
	then := k.margins(&later)
	here, near := k.sizes(&at)
	k.peek(&at)
	holds := make([]bool, len(here))
	for i, x := range k.guards.Output(tapec.Truths.Name().String()) {
		holds[i] = x != 0
	}
	// zero reports whether the margin of guard i is 0 but for rounding.
	zero := func(i int, margin float64) bool { return k.small[i] && math.Abs(margin) <= float64(noise*near[i]) }
	var before []float64 // in the modes behind the mark: what these bring to its threshold moves as ever
	if m.Kind != solvers.MarkStart {
		before = k.margins(&values{vecT: {m.T}, vecY: m.Ym, vecD: m.Dm, vecM: m.Mp, vecP: k.point.p})
	}
	type kind struct {
		at                    source.Span
		stuck, carried, waits bool
	}
	same := map[kind]int{} // what else is found at a place and moves alike
	for i, g := range c.GuardList {
		if !zero(i, here[i]) || !zero(i, then[i]) {
			if k.rests[i] && met[i] && math.Abs(here[i]) <= float64(noise*near[i]) &&
				!(rootOf(m) >= 0 && k.alike(m, i)) {
				found = append(found, Kink{
					Op: tape.Less, Span: g.Span, Rests: true, leaves: true, stuck: k.stuck[i], margins: []int{i},
					guard: -1, at: at,
				})
			}
			delete(k.stuck, i)
			delete(k.rests, i)
			continue
		}
		if g.Event < 0 {
			k.rests[i] = true
		}
		waits, carried := k.stuck[i]
		stuck := carried
		switch {
		case before == nil:
			// A condition that does not hold at the start and does not come to hold is the same on the other side: what
			// holds from the start on is no event.
			waits = k.never(i, holds[i])
			stuck = waits
		case rootOf(m) >= 0 && k.alike(m, i), !zero(i, before[i]):
			stuck, carried, waits = true, false, false
		}
		if stuck {
			k.stuck[i] = waits
		}
		of := kind{g.Span, stuck, carried, waits}
		if n, ok := same[of]; ok {
			found[n].margins = append(found[n].margins, i)
			continue
		}
		same[of] = len(found)
		found = append(found, Kink{
			Op: tape.Less, Span: g.Span, Rests: true, From: k.model.guardInputs(i),
			stuck: stuck, carried: carried, waits: waits, margins: []int{i}, guard: -1, rests: true,
			resting: resting{soon: eps, unknown: k.model.readsUnknowns(i), matters: g.Event >= 0 || g.Mode >= 0},
		})
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
			at := values{vecT: {m.T}, vecY: m.Ym, vecD: m.Dm, vecM: m.Mm, vecP: k.point.p}
			here = k.margins(&at)
			if k.rates == nil {
				k.rates = tape.NewEvaluator[float64](c.Rates)
			}
			k.model.load(c.Rates, k.rates, &at)
			k.rates.Run()
			eps := float64(0x1p-20 * span)
			at[vecT], at[vecY] = []float64{m.T - eps}, k.along(m.Ym, k.rates, -eps)
			before = k.margins(&at)
		}
		if here[i] != 0 || before[i] != 0 {
			continue
		}
		kink := Kink{Op: tape.Less, Span: c.GuardList[i].Span, Rests: true, taken: true, margins: []int{i}, guard: -1}
		kink.From = k.model.guardInputs(i)
		kink.at = values{
			vecT: {m.T}, vecY: slices.Clone(m.Ym), vecD: slices.Clone(m.Dm), vecM: slices.Clone(m.Mm), vecP: k.point.p,
		}
		kink.precede(m)
		kink.Into.guard(k.model, i)
		found = append(found, kink)
	}
	return found
}

// noise is the part of what a little motion does to a margin that is rounding.
const noise = 0x1p-33

// sizes returns the margins of all guards at some values, and what a little motion of all that they read does to them.
func (k *Kinks) sizes(at *values) (here, moved []float64) {
	here = k.margins(at)
	k.nudge(0, k.guards, beside, false)
	for _, s := range k.states { // one near 0 has the rounding of how large it was
		for i, most := range k.most[s.offset : s.offset+len(s.to)] {
			s.to[i] += math.Copysign(float64(0.125*beside*most), s.to[i]-at[vecY][s.offset+i])
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
	// slopes are those of the margins of guards by the elements of inputs, at values; many marks may be at the same.
	slopes []map[int]float64
	t      float64
	at     [3][]float64 // states, discretes and modes
}

// alike reports whether guard i moves in proportion to the one that caused a mark.
func (k *Kinks) alike(m *solvers.Mark, i int) bool {
	if i == m.Guard {
		return true
	}
	now, memo := [3][]float64{m.Ym, m.Dm, m.Mm}, &k.memo
	if memo.slopes == nil || memo.t != m.T || !slices.EqualFunc(now[:], memo.at[:], slices.Equal) {
		memo.t = m.T
		for j, x := range now {
			memo.at[j] = append(memo.at[j][:0], x...)
		}
		t := k.model.Compiled.Guards
		k.model.load(t, k.guards, &values{vecT: {m.T}, vecY: m.Ym, vecD: m.Dm, vecM: m.Mm, vecP: k.point.p})
		memo.slopes = tape.Slopes(t, tapec.Margins.Name().String(), k.guards.Input)
	}
	return linalg.Proportional(memo.slopes[m.Guard], memo.slopes[i])
}

// matter reports whether any condition changes with those at rest in x, at some values. In x > 3 and y > 0, y decides
// nothing where x is less.
func (k *Kinks) matter(x *Kink, at *values) bool {
	list := k.model.Compiled.GuardList
	whole := func(i int) bool { return list[i].Event >= 0 || list[i].Mode >= 0 }
	k.peek(at)
	return slices.ContainsFunc(x.margins, func(i int) bool {
		return whole(i) || tape.Switches(k.guards, tapec.Truths.Name().String(), i, noise, whole)
	})
}

// onlyFlows reports whether only the rates of states and integrals, and other conditions, depend on what a condition
// decides.
func (k *Kinks) onlyFlows(into *Into) bool {
	const most = 100 // guards
	c := k.model.Compiled
	if into.all || len(into.events) > 0 || len(c.GuardList) > most {
		return false
	}
	for _, list := range [][]*tape.Tape{{c.Initial, c.Final, c.Objective, c.Peaks}, c.AtTimes, c.AtEvents, c.Affects} {
		for _, t := range list {
			if t != nil && slices.ContainsFunc(t.Inputs, func(in tape.Input) bool {
				return slices.Contains(into.names, tapec.MustName(in.Name))
			}) {
				return false
			}
		}
	}
	return true
}

// modeAt returns the name of the mode that element i of the flat vector of modes belongs to.
func (m *Model) modeAt(i int) tapec.Name {
	for k, mode := range m.Compiled.Modes {
		if i >= mode.Offset && i < mode.Offset+tape.Shape(mode.Shape).Size() {
			return tapec.HeldMode.Number(k)
		}
	}
	return tapec.Name{}
}

// fork looks at some values of the run whether rates are others in the modes that conditions at rest, or of params and
// discretes alone, choose on either side of their thresholds, and by what they change otherwise there; and whether
// other conditions are.
func (x *Tangents) fork(at *values) {
	open := slices.DeleteFunc(slices.Concat(x.rest, x.choose), func(k *Kink) bool {
		return k.forks || !k.Rests && !k.decides
	})
	if !x.exact || len(open) == 0 {
		return
	}
	x.forkOf(open, at)
}

// forkOf is fork for some conditions.
func (x *Tangents) forkOf(open []*Kink, at *values) {
	here, guards := x.slopesIn(at), x.guardsIn(at)
	for _, k := range open {
		for _, n := range k.Into.names {
			part := x.kinks.model.layout.part(n)
			for i := part.offset; i < part.offset+part.len && !k.forks; i++ {
				for _, step := range []float64{-1, 1} {
					there := *at
					there[vecM] = slices.Clone(at[vecM])
					there[vecM][i] += step
					k.part(here, x.slopesIn(&there))
					k.forks = k.forks || x.kinks.unlike(i, guards, x.guardsIn(&there))
				}
			}
		}
	}
}

// weighLeaving finds what moves a condition off its threshold that has rested there up to the last mark: on one side it
// is met at another time than that of the mark, where rates may differ. While it rested they need not have.
func (x *Tangents) weighLeaving(k *Kink) {
	i := k.margins[0]
	if !x.kinks.matter(k, &k.at) {
		return
	}
	k.Into.condition(x.kinks.model, i)
	if !x.exact {
		return
	}
	if k.forks = !x.kinks.onlyFlows(&k.Into); !k.forks {
		x.forkOf([]*Kink{k}, &k.at)
	}
	if !k.forks {
		return
	}
	if by := x.offBy[i]; by != nil {
		k.Moves.Join(by)
	}
	if k.stuck || x.yLeft == nil {
		return
	}
	was, dWas, time := x.yWas, x.dWas, x.time
	x.yWas, x.dWas, x.time = x.yLeft, x.dLeft, nil
	slopes := map[int]float64{}
	x.push(x.kinks.model.Compiled.Guards, &k.at, func(seed int, _ sets.Set, e *tape.Evaluator[complex128]) {
		slopes[seed] = imag(e.Output(tapec.Margins.Name().String())[i]) / tangentStep
	}, nil)
	x.columnsOf(slopes, k.Moves)
	x.yWas, x.dWas, x.time = was, dWas, time
}

// guardsIn returns the margins of all guards at some values, and then their truths.
func (x *Tangents) guardsIn(at *values) []float64 {
	m := x.kinks.model
	if m.Compiled.Guards == nil {
		return nil
	}
	if x.guards == nil {
		x.guards = tape.NewEvaluator[float64](m.Compiled.Guards)
	}
	m.load(m.Compiled.Guards, x.guards, at)
	x.guards.Run()
	return slices.Concat(
		x.guards.Output(tapec.Margins.Name().String()), x.guards.Output(tapec.Truths.Name().String()),
	)
}

// unlike reports whether a condition other than that of mode i is met in one of two modes and not in the other, or has
// its root elsewhere.
func (k *Kinks) unlike(i int, here, there []float64) bool {
	n := len(here) / 2
	for j, g := range k.model.Compiled.GuardList {
		own := g.Event < 0 && (g.Mode < 0 || g.Mode == i)
		root := min(math.Abs(here[j]), math.Abs(there[j])) < float64(0x1p-20*math.Abs(there[j]-here[j]))
		if !own && (root || here[n+j] != there[n+j]) {
			return true
		}
	}
	return false
}

// branchSlope is how fast rates change by a seed; or the rates themselves, where of is -1.
type branchSlope struct {
	of   int
	list []float64
}

// part notes by what the rates change otherwise on another side of a condition, where they are given for both.
func (k *Kink) part(here, there []branchSlope) {
	if len(here) != len(there) { // there was no more room for work
		k.forks = true
		return
	}
	for i, a := range here {
		alike := slices.EqualFunc(a.list, there[i].list, func(a, b float64) bool {
			return math.Abs(a-b) <= float64(0x1p-45*(math.Abs(a)+math.Abs(b)))
		})
		switch {
		case alike:
		case a.of < 0:
			k.forks = true
		default:
			k.parts = append(k.parts, a.of)
		}
	}
}

// slopesIn returns the rates at some values, and their slopes by all that moves.
func (x *Tangents) slopesIn(at *values) (list []branchSlope) {
	rates := x.kinks.model.Compiled.Rates
	add := func(of int, e *tape.Evaluator[complex128], number func(z complex128) float64) {
		to := branchSlope{of: of}
		for _, out := range rates.Outputs {
			for _, z := range e.Value(out.Value) {
				to.list = append(to.list, number(z))
			}
		}
		list = append(list, to)
	}
	e, _ := x.load(rates, at)
	if e == nil {
		return nil
	}
	e.Run()
	add(-1, e, func(z complex128) float64 { return real(z) })
	x.push(rates, at, func(seed int, _ sets.Set, e *tape.Evaluator[complex128]) {
		add(seed, e, func(z complex128) float64 { return imag(z) / tangentStep })
	}, nil)
	return list
}

// even finds by which columns rates change alike on both sides of a condition, where they have the same values on both:
// moves tells which columns move a seed.
func (k *Kink) even(moves func(seed int) sets.Set) {
	if k.forks {
		return
	}
	k.Even = slices.Clone(k.Moves)
	for _, seed := range k.parts {
		k.Even.Drop(moves(seed))
	}
	k.Smooth = slices.Equal(k.Even, k.Moves)
}
