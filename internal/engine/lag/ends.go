package lag

import (
	"cmp"
	"slices"
	"sort"
)

// bends is the order of the first derivative that may jump where second derivatives know of it.
const bends = 2

// cause is the cause of a stop: what is at the end of step after, -1 for the start, comes back after a delay. Order is
// that of the stop.
type cause struct{ after, delay, order int }

// end is a step that ends at a stop, with the causes from first to till.
type end struct {
	step, first, till int
	turns             bool // a condition changes there
	other             bool // something else makes the step end there
}

// ends are the steps that end where something comes back of the past, in their order, with its causes. Derivatives that
// need it move the ends of these steps with their causes. Then what is read is smooth along each step however far these
// move, and no jump has a term of its own.
type ends struct {
	list   []end
	causes []cause
}

func (e *ends) opens() { e.list, e.causes = e.list[:0], e.causes[:0] }

// close notes the causes that were added last as those of the end of a step.
func (e *ends) close(step int) {
	first, n := 0, len(e.list)
	if n > 0 {
		first = e.list[n-1].till
	}
	switch {
	case first == len(e.causes):
	case n > 0 && e.list[n-1].step == step: // rounding has kept them from being one stop
		e.list[n-1].till = len(e.causes)
	default:
		e.list = append(e.list, end{step: step, first: first, till: len(e.causes)})
	}
}

// of returns the number of the end of a step, -1 for none.
func (e *ends) of(step int) int {
	i := sort.Search(len(e.list), func(i int) bool { return e.list[i].step >= step })
	if i < len(e.list) && e.list[i].step == step {
		return i
	}
	return -1
}

// follows returns the cause with which the end of a step moves, of those of the lowest order. It reports whether it
// does.
func follows(x *Worker, step int) (first cause, does bool) {
	e := &x.rec.ends
	i := e.of(step)
	if i < 0 || !e.list[i].turns && !x.bends {
		return first, false
	}
	return slices.MinFunc(e.causes[e.list[i].first:e.list[i].till], func(a, b cause) int {
		return cmp.Compare(a.order, b.order)
	}), true
}

// ComesWithOthers reports whether in the last run anything came back of the past at one time with something else, which
// may move otherwise.
func (r *Record) ComesWithOthers() bool {
	for k, c := range r.crossed {
		if r.bendsAt(c) && (!c.free || r.ends.of(c.step) >= 0 || k > 0 && r.crossed[k-1].step == c.step) {
			return true
		}
	}
	return slices.ContainsFunc(r.ends.list, func(x end) bool { return x.other || x.till-x.first > 1 })
}

// causePush makes td the tangent of the time at which a cause comes back.
func causePush(x *Worker, c cause, td []float64) {
	if copy(td, x.td0); c.after >= 0 {
		copy(td, x.kept[c.after].t1)
	}
	add(td, x.dd[x.rec.delays[c.delay].at*x.l:][:x.l])
}

// EndPush implements sens.PastPusher.
func (x *Worker) EndPush(i int, td []float64) bool {
	c, does := follows(x, i)
	if does {
		causePush(x, c, td)
	}
	return does
}

// Follows implements sens.PastPuller.
func (x *Worker) Follows(i int) bool {
	_, does := follows(x, i)
	return does
}

// EndPull implements sens.PastPuller.
func (x *Worker) EndPull(i int, hb []float64) {
	c, _ := follows(x, i)
	add(x.db[x.rec.delays[c.delay].at*x.l:][:x.l], hb)
	if x.until == nil {
		x.until = map[int][]float64{}
	}
	if x.until[c.after] == nil {
		x.until[c.after] = make([]float64, x.l)
	}
	add(x.until[c.after], hb)
}

// Ended implements sens.PastPuller.
func (x *Worker) Ended(i int, tb []float64) { add(tb, x.until[i]) }

// mixed reports whether a cause is the start, and the delay reads states with a past before it and others without. The
// former begin to be read where a mode changes, and the latter where the record does: what comes with it and moves
// apart from it sees both at once.
func (r *Record) mixed(c cause) bool {
	return c.after < 0 && r.guarded(c.delay) && !r.begins[c.delay]
}
