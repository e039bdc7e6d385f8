package trust

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// A Happening is an event or a change of mode of a run, in few bytes: a run may have millions.
type Happening struct {
	T    float64
	What int32 // the number of the event; of a change of mode, -1 less the first guard of its name
	Elem int32 // of an array of events; of a control, the piece that ends
}

// Event returns what is known of x.
func (x Happening) Event() sens.EventTime {
	if x.What < 0 {
		return sens.EventTime{Mode: true, Guard: int(-1 - x.What), Firing: solvers.Firing{Elem: int(x.Elem)}, T: x.T}
	}
	return sens.EventTime{Firing: solvers.Firing{Event: int(x.What), Elem: int(x.Elem)}, T: x.T}
}

// Happenings says what happened in a run, in order.
type Happenings struct {
	List []Happening
	// N is how many there were of those that results list, and Last the last of these, also where they are only
	// counted.
	N     int
	Last  Happening
	modes []int32 // of each guard: the first one that has its name
	// named names one of them.
	named func(Happening) string
	shows func(sens.EventTime) bool // tells which are events of the model
	lists func(sens.EventTime) bool // tells which of these results list
}

// Events tells of the events of a model.
type Events interface {
	// Shows reports whether an event is one of the model, and not a place where states are read.
	Shows(e sens.EventTime) bool
	// Event describes an event of a run with these guards over a time span.
	Event(e sens.EventTime, guards []solvers.Guard, from, to float64) result.Event
}

// Begin prepares for a run of a model with these guards, of which results list what lists tells.
func (h *Happenings) Begin(m Events, guards []solvers.Guard, lists func(sens.EventTime) bool) {
	if h.modes == nil {
		first := map[string]int32{}
		h.modes = make([]int32, len(guards))
		for i, g := range guards {
			if _, ok := first[g.Name]; !ok {
				first[g.Name] = int32(i)
			}
			h.modes[i] = first[g.Name]
		}
		h.named = func(x Happening) string {
			e := m.Event(x.Event(), guards, x.T, x.T)
			return e.Label()
		}
		h.shows = m.Shows
	}
	h.List, h.N, h.lists = h.List[:0], 0, lists
}

// Add adds an event or a change of mode.
func (h *Happenings) Add(e sens.EventTime) {
	if h.shows(e) {
		h.List = append(h.List, h.noted(e))
	}
}

// noted counts an event or a change of mode if results list it.
func (h *Happenings) noted(e sens.EventTime) Happening {
	x := Happening{e.T, int32(e.Firing.Event), int32(e.Firing.Elem)}
	if e.Mode {
		x.What = -1 - h.modes[e.Guard]
	}
	if h.lists(e) {
		h.N++
		h.Last = x
	}
	return x
}

// Read reads all that happened in a recorded run. With count it only counts.
func (h *Happenings) Read(run *solvers.Trajectory, count bool) {
	var m solvers.Mark
	if !count {
		n := 0
		for i := range run.Marks() {
			if run.PeekMark(i, &m); m.Happens() {
				n++
			}
		}
		h.List = slices.Grow(h.List, n)
	}
	for i := range run.Marks() {
		if run.PeekMark(i, &m); !m.Happens() {
			continue
		}
		e := sens.EventTime{Guard: m.Guard, Mode: m.Kind == solvers.MarkMode, Firing: m.Firing, T: m.T}
		switch {
		case !count:
			h.Add(e)
		case h.shows(e):
			h.noted(e)
		}
	}
}

// Without returns h without what happened at some times, or soon before or after.
func (h *Happenings) Without(times []float64, within float64) *Happenings {
	c := *h
	c.List = slices.DeleteFunc(slices.Clone(h.List), func(x Happening) bool {
		return slices.ContainsFunc(times, func(t float64) bool { return math.Abs(x.T-t) <= within })
	})
	return &c
}

// ByKind returns the places of what happened, first by what it is, then by time.
func (h *Happenings) ByKind() []int32 {
	order := make([]int32, len(h.List))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(i, j int32) int { return Kinds(&h.List[i], &h.List[j]) })
	return order
}

// Kinds compares what two Happenings are.
func Kinds(a, b *Happening) int {
	return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Elem, b.Elem))
}

// sameEvent is the part of the time span by which an event of one run may lie before or after that of another run and
// still be the same event.
const sameEvent = 1e-3

// StrangeEvent describes the first event of two runs from one time on that differs: the first of its kind in one is
// compared with the first in the other, and so on. Events at the start and at the end may differ: they come or go with
// rounding, and where they matter, values differ.
func StrangeEvent(a, b *Happenings, from, toA, toB float64) (what string, at float64) {
	at = math.Inf(1)
	slack := float64(sameEvent * math.Abs(toA-from))
	type side struct {
		*Happenings
		name  string
		to    float64
		order []int32
	}
	here, there := &side{a, "this run", toA, a.ByKind()}, &side{b, "the independent run", toB, b.ByKind()}
	next := func(s *side) *Happening { return &s.List[s.order[0]] }
	for len(here.order) > 0 || len(there.order) > 0 {
		kind := len(there.order) - len(here.order)
		if len(here.order) > 0 && len(there.order) > 0 {
			kind = Kinds(next(here), next(there))
		}
		if kind != 0 {
			s := here
			if kind > 0 {
				s = there
			}
			x := next(s)
			if s.order = s.order[1:]; x.T < at && math.Abs(x.T-s.to) > slack && math.Abs(x.T-from) > slack {
				what, at = fmt.Sprintf("%s at %s happens in %s alone", s.named(*x), shortly(x.T), s.name), x.T
			}
			continue
		}
		x, y, one, other := next(here), next(there), here, there
		here.order, there.order = here.order[1:], there.order[1:]
		if y.T < x.T {
			x, y, one, other = y, x, there, here
		}
		if x.T < at && y.T-x.T > slack {
			what, at = fmt.Sprintf("%s happens at %s in %s, at %s in %s", one.named(*x), shortly(x.T), one.name,
				shortly(y.T), other.name), x.T
		}
	}
	return what, at
}

// shortly writes a time with six digits.
func shortly(x float64) string { return diag.Number(settings.Rounded(x, 6)) }
