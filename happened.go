package odes

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// A happening is an event or a change of mode of a run, in few bytes: a run may have millions.
type happening struct {
	t    float64
	what int32 // the number of the event; of a change of mode, -1 less the first guard of its name
	elem int32 // of an array of events; of a control, the piece that ends
}

// event returns what is known of x.
func (x happening) event() sens.EventTime {
	if x.what < 0 {
		return sens.EventTime{Mode: true, Guard: int(-1 - x.what), Firing: solvers.Firing{Elem: int(x.elem)}, T: x.t}
	}
	return sens.EventTime{Firing: solvers.Firing{Event: int(x.what), Elem: int(x.elem)}, T: x.t}
}

// happenings says what happened in a run, in order.
type happenings struct {
	list []happening
	// n is how many there were of those that results list, and last the last of these, also where they are only
	// counted.
	n     int
	last  happening
	modes []int32 // of each guard: the first one that has its name
	// named names one of them.
	named func(happening) string
	shows func(sens.EventTime) bool // tells which are events of the model
	lists func(sens.EventTime) bool // tells which of these results list
}

// begin prepares for a run with these guards, of which results list what lists tells.
func (h *happenings) begin(m *Model, guards []solvers.Guard, lists func(sens.EventTime) bool) {
	if h.modes == nil {
		first := map[string]int32{}
		h.modes = make([]int32, len(guards))
		for i, g := range guards {
			if _, ok := first[g.Name]; !ok {
				first[g.Name] = int32(i)
			}
			h.modes[i] = first[g.Name]
		}
		h.named = func(x happening) string {
			r := m.eventRecord(x.event(), guards, x.t, x.t)
			return r.named()
		}
		h.shows = m.shows
	}
	h.list, h.n, h.lists = h.list[:0], 0, lists
}

// add adds an event or a change of mode.
func (h *happenings) add(e sens.EventTime) {
	if h.shows(e) {
		h.list = append(h.list, h.noted(e))
	}
}

// noted counts an event or a change of mode if results list it.
func (h *happenings) noted(e sens.EventTime) happening {
	x := happening{e.T, int32(e.Firing.Event), int32(e.Firing.Elem)}
	if e.Mode {
		x.what = -1 - h.modes[e.Guard]
	}
	if h.lists(e) {
		h.n++
		h.last = x
	}
	return x
}

// read reads all that happened in a recorded run. With count it only counts.
func (h *happenings) read(run *solvers.Trajectory, count bool) {
	var m solvers.Mark
	n := 0
	for i := range run.Marks() {
		if run.PeekMark(i, &m); m.Happens() {
			n++
		}
	}
	if !count {
		h.list = slices.Grow(h.list, n)
	}
	for i := range run.Marks() {
		if run.PeekMark(i, &m); !m.Happens() {
			continue
		}
		e := sens.EventTime{Guard: m.Guard, Mode: m.Kind == solvers.MarkMode, Firing: m.Firing, T: m.T}
		switch {
		case !count:
			h.add(e)
		case h.shows(e):
			h.noted(e)
		}
	}
}

// byKind returns the places of what happened, first by what it is, then by time.
func (h *happenings) byKind() []int32 {
	order := make([]int32, len(h.list))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(i, j int32) int { return kinds(&h.list[i], &h.list[j]) })
	return order
}

// kinds compares what two happenings are.
func kinds(a, b *happening) int {
	return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(a.elem, b.elem))
}

// sameEvent is the part of the time span by which an event of one run may lie before or after that of another run and
// still be the same event.
const sameEvent = 1e-3

// strangeEvent describes the first event of two runs from one time on that differs: the first of its kind in one is
// compared with the first in the other, and so on. Events at the start and at the end may differ: they come or go with
// rounding, and where they matter, values differ.
func strangeEvent(a, b *happenings, from, toA, toB float64) (what string, at float64) {
	at = math.Inf(1)
	slack := float64(sameEvent * math.Abs(toA-from))
	type side struct {
		*happenings
		name  string
		to    float64
		order []int32
	}
	here, there := &side{a, "this run", toA, a.byKind()}, &side{b, "the independent run", toB, b.byKind()}
	next := func(s *side) *happening { return &s.list[s.order[0]] }
	for len(here.order) > 0 || len(there.order) > 0 {
		kind := len(there.order) - len(here.order)
		if len(here.order) > 0 && len(there.order) > 0 {
			kind = kinds(next(here), next(there))
		}
		if kind != 0 {
			s := here
			if kind > 0 {
				s = there
			}
			x := next(s)
			if s.order = s.order[1:]; x.t < at && math.Abs(x.t-s.to) > slack && math.Abs(x.t-from) > slack {
				what, at = fmt.Sprintf("%s at %s happens in %s alone", s.named(*x), shortly(x.t), s.name), x.t
			}
			continue
		}
		x, y, one, other := next(here), next(there), here, there
		here.order, there.order = here.order[1:], there.order[1:]
		if y.t < x.t {
			x, y, one, other = y, x, there, here
		}
		if x.t < at && y.t-x.t > slack {
			what, at = fmt.Sprintf("%s happens at %s in %s, at %s in %s", one.named(*x), shortly(x.t), one.name,
				shortly(y.t), other.name), x.t
		}
	}
	return what, at
}
