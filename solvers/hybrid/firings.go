package hybrid

import (
	"odes.dev/odes/solvers"
)

// firings remembers when what guards set off fired.
type firings struct {
	of        *problem
	base      []int // first history of an event's elements; those of mode guards follow
	hist      []history
	byElem    [][]int        // guards, by elements of events as base has them
	lastFired solvers.Firing // its Event is -1 before the first one
	lastTime  float64
}

func newFirings(of *problem) firings {
	f, n := firings{of: of}, 0
	for _, e := range of.events {
		f.base = append(f.base, n)
		n += e.Elems
	}
	f.hist, f.byElem = make([]history, n+len(of.guards)), make([][]int, n)
	for i, g := range of.guards {
		if g.Event >= 0 {
			at := f.base[g.Event] + g.Elem
			f.byElem[at] = append(f.byElem[at], i)
		}
	}
	return f
}

// forget forgets the run before.
func (f *firings) forget() {
	clear(f.hist)
	f.lastFired, f.lastTime = solvers.Firing{Event: -1}, 0
}

// historyAt returns the history of an element of an event.
func (f *firings) historyAt(x solvers.Firing) *history { return &f.hist[f.base[x.Event]+x.Elem] }

// guardsOf lists the guards of an element of an event.
func (f *firings) guardsOf(x solvers.Firing) []int { return f.byElem[f.base[x.Event]+x.Elem] }

// historyOf returns the history of what guard i sets off.
func (f *firings) historyOf(i int) *history {
	if g := &f.of.guards[i]; g.Event >= 0 {
		return &f.hist[f.base[g.Event]+g.Elem]
	}
	return &f.hist[len(f.hist)-len(f.of.guards)+i]
}

// everFired tells of each event whether it fired.
func (f *firings) everFired() []bool {
	list := make([]bool, len(f.of.events))
	for e := range f.of.events {
		for k := range f.of.events[e].Elems {
			list[e] = list[e] || f.historyAt(solvers.Firing{Event: e, Elem: k}).count > 0
		}
	}
	return list
}

// lastEvent returns the name of the event that fired last; "" for none.
func (f *firings) lastEvent() string {
	if f.lastFired.Event < 0 {
		return ""
	}
	return f.of.events[f.lastFired.Event].ElemName(f.lastFired.Elem)
}

// partner returns the event that fires in turn with the one of history h, or "".
func (f *firings) partner(h *history) string {
	times := h.times()
	for i := range f.of.guards {
		g := &f.of.guards[i]
		o := f.historyOf(i)
		if o == h || g.Event < 0 || o.count < 2 || h.count < 3 {
			continue
		}
		if last := o.times(); last[len(last)-1] >= times[len(times)-2] && last[len(last)-2] >= times[len(times)-3] {
			return f.of.guardName(i)
		}
	}
	return ""
}
