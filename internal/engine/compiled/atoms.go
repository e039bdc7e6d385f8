package compiled

import (
	"strconv"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/tapec"
)

// atoms are what the guards of a model are made of: comparisons, and levels of functions that jump.
type atoms struct {
	Guards []int // those that are the margin of one atom, which moves with states
	Clocks []int // those of time alone
	Of     []int // [guards, clocks] the number of its atom; bounds of a level have the same
	Most   int   // there are no more atoms
}

// atomsOf lists the atoms of a model.
func atomsOf(c *tapec.Compiled) (a atoms) {
	byMode := map[int]int{}
	number := func(known map[int]int, key int) int {
		n, ok := known[key]
		if !ok {
			n = a.Most
			known[key] = n
			a.Most++
		}
		return n
	}
	for i, g := range c.GuardList {
		switch {
		case g.Clock || g.Kink || g.Compound:
			continue
		case g.Mode >= 0:
			a.Of = append(a.Of, number(byMode, g.Mode))
		default:
			a.Of = append(a.Of, a.Most)
			a.Most++
		}
		a.Guards = append(a.Guards, i)
	}
	byAtom := map[int]int{}
	for i, x := range c.ClockList {
		if !x.Kink {
			a.Clocks, a.Of = append(a.Clocks, i), append(a.Of, number(byAtom, x.Atom))
		}
	}
	return a
}

// Name returns the name of the mode or event that atom k of the lists belongs to.
func (a *atoms) Name(m *Model, k int) string {
	c := m.Compiled
	var at source.Span
	if k < len(a.Guards) {
		at = c.GuardList[a.Guards[k]].Span
	} else {
		at = c.ClockList[a.Clocks[k-len(a.Guards)]].Span
	}
	for _, e := range m.Checked.Events {
		for _, x := range []model.Expr{e.When, e.Crossing} {
			if x != nil && SpanWithin(at, x.Span()) {
				return e.Name
			}
		}
	}
	best := -1
	for i, mode := range c.Modes { // the innermost one
		if SpanWithin(at, mode.Span) && (best < 0 || SpanWithin(mode.Span, c.Modes[best].Span)) {
			best = i
		}
	}
	if best < 0 {
		return "condition@" + strconv.Itoa(at.Begin().Line)
	}
	return c.Modes[best].Name
}

// SpanWithin reports whether a lies within b.
func SpanWithin(a, b source.Span) bool {
	return a.File == b.File && a.Start >= b.Start && a.End <= b.End
}
