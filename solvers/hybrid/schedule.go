package hybrid

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// schedule keeps the explicit times of a run in order. Times depend on discretes, so they are computed anew after
// every body. An instant that has come does not come a second time unless its time changes.
type schedule struct {
	list   []solvers.Instant
	events []solvers.Event
	times  []float64 // [instants] at the current discretes
	fresh  []float64 // [instants] work space
	came   []bool    // [instants] the instant has come at its present time, or is past
	gone   []bool    // [instants] its event fires only once, and did
	nth    []int     // [instants] occurrences of InstantEvery so far
	queue  []int     // single instants that are still to come, by time; from head on
	head   int
	every  []int // instants that repeat
	moves  bool  // some times depend on something
	jumps  bool  // something may change discretes or modes

	lost []int // instants of events that the last update found past

	group int   // counts the groups of events
	set   []int // [instants] the group in which the time was set last

	inside bool  // sites do not end steps
	sites  []int // then: those still to come, by time; from seen on
	seen   int
}

func newSchedule(list []solvers.Instant, events []solvers.Event) schedule {
	q := schedule{
		list: list, events: events,
		times: make([]float64, len(list)), fresh: make([]float64, len(list)),
		came: make([]bool, len(list)), gone: make([]bool, len(list)), nth: make([]int, len(list)),
		set:   make([]int, len(list)),
		queue: make([]int, 0, len(list)),
	}
	for i, in := range list {
		if in.Kind == solvers.InstantEvery {
			q.every = append(q.every, i)
		}
		q.moves = q.moves || !in.Fixed
		q.jumps = q.jumps || in.Kind != solvers.InstantStart && in.Kind != solvers.InstantEnd &&
			in.Kind != solvers.InstantSite
	}
	return q
}

// single reports whether instant i comes at most once, at a time of its own.
func (q *schedule) single(i int) bool {
	k := q.list[i].Kind
	return k == solvers.InstantEnd || k == solvers.InstantFire || k == solvers.InstantSite || k == solvers.InstantRemode
}

// knot reports whether nothing but a kink of the right-hand side is at instant i. It may well lie outside the run.
func (q *schedule) knot(i int) bool {
	return q.list[i].Kind == solvers.InstantRemode && len(q.list[i].Modes) == 0
}

// start sets the times at the beginning of a run at t0. Times before t0 by more than tol are past; each is reported
// once through note.
func (q *schedule) start(sys solvers.System, d []float64, t0, tol float64, note func(i int, t float64)) error {
	clear(q.came)
	clear(q.gone)
	clear(q.nth)
	clear(q.set)
	q.group = 1
	if len(d) > 0 { // otherwise they are those of d already
		sys.InstantTimes(d, q.times)
	}
	if err := q.check(); err != nil {
		return err
	}
	for _, i := range q.every { // what bodies make of a count later ends the event when it is reached
		in := &q.list[i]
		if in.Count < 0 {
			continue
		}
		if n := q.times[in.Count]; n < 0 || math.IsInf(n, 1) || n != math.Floor(n) {
			what := fmt.Sprintf("the number of firings of event %s is %v; it must be a whole number", q.name(i), n)
			return &solvers.TimeError{Instant: in.Count, Value: n, Message: what}
		}
	}
	for i := range q.list {
		if q.single(i) && i != 1 && q.times[i] < t0-tol {
			q.came[i] = true
			note(i, q.times[i])
		}
	}
	for _, i := range q.every {
		first := q.occurrence(i)
		if !(first < t0-tol) {
			continue
		}
		note(i, first)
		if err := q.skip(i, t0-tol); err != nil {
			return err
		}
	}
	q.sort()
	return nil
}

// skip leaves out the times of the repeating instant i before t.
func (q *schedule) skip(i int, t float64) error {
	if !(q.occurrence(i) < t) {
		return nil
	}
	const most = 1 << 53 // beyond it numbers of periods, and so their times, cannot be told from one another
	n := math.Ceil((t - q.times[i]) / q.times[q.list[i].Period])
	if !(n < most) {
		what := fmt.Sprintf("the first time of event %s, %v, is too many periods before the run to count them",
			q.name(i), q.times[i])
		return &solvers.TimeError{Instant: i, Value: q.times[i], Message: what}
	}
	q.nth[i] = max(q.nth[i], int(n)-2) // but for rounding
	for q.occurrence(i) < t {
		q.nth[i]++
	}
	return nil
}

// update recomputes the times after a body at time t. A time that has changed counts as a new one; one that is now
// past by more than tol never comes. q.lost lists those of events, but for times before the start of the run: an event
// that is to wait is put there, since discretes are finite. An execution waits at no such time.
func (q *schedule) update(sys solvers.System, d []float64, t, tol float64) error {
	q.lost = q.lost[:0]
	if len(d) == 0 { // bodies change no time
		return nil
	}
	sys.InstantTimes(d, q.fresh)
	changed := false
	for i, x := range q.fresh {
		if math.Float64bits(x) == math.Float64bits(q.times[i]) {
			continue
		}
		changed = true
		q.set[i] = q.group
		q.came[i] = q.gone[i] || i != 1 && x < t-tol // an end of the run that is past is due
		if q.came[i] && !q.gone[i] && q.list[i].Kind == solvers.InstantFire && (q.list[i].Pending || x >= q.fresh[0]) {
			q.lost = append(q.lost, i)
		}
	}
	if !changed {
		return nil
	}
	q.times, q.fresh = q.fresh, q.times
	if err := q.check(); err != nil {
		return err
	}
	for _, i := range q.every {
		if err := q.skip(i, t-tol); err != nil { // a new period may be much shorter
			return err
		}
	}
	q.sort()
	return nil
}

func (q *schedule) check() error {
	for i, x := range q.times {
		if x != x {
			return &solvers.TimeError{Instant: i, Value: x, Message: fmt.Sprintf("the time of %s is not a number",
				q.name(i))}
		}
	}
	for _, i := range q.every {
		if p := q.times[q.list[i].Period]; !(p > 0) {
			what := fmt.Sprintf("the period of event %s is %v; it must be positive", q.name(i), p)
			return &solvers.TimeError{Instant: q.list[i].Period, Value: p, Message: what}
		} else if last := max(math.Abs(q.times[0]), math.Abs(q.times[1])); p < elem.ULP(last) {
			what := fmt.Sprintf("the period of event %s is %v, which is lost beside the time %v", q.name(i), p, last)
			return &solvers.TimeError{Instant: q.list[i].Period, Value: p, Message: what}
		}
	}
	return nil
}

// here reports whether the time of instant i was set in the present group of events.
func (q *schedule) here(i int) bool {
	in := &q.list[i]
	return q.set[i] == q.group || in.Kind == solvers.InstantEvery && q.set[in.Period] == q.group
}

// name says what instant i is.
func (q *schedule) name(i int) string {
	switch in := q.list[i]; in.Kind {
	case solvers.InstantStart:
		return "the start"
	case solvers.InstantEnd:
		return "the end"
	case solvers.InstantFire:
		return q.events[in.Event].ElemName(in.Elem)
	case solvers.InstantEvery:
		return q.events[in.Event].Name
	case solvers.InstantSite:
		return "an observation"
	case solvers.InstantRemode:
		return "a bound or knot"
	default:
		return "an event's period, end or count"
	}
}

func (q *schedule) sort() {
	q.queue, q.head = q.queue[:0], 0
	q.sites, q.seen = q.sites[:0], 0
	for i := range q.list {
		switch {
		case !q.single(i) || q.came[i] || !(q.times[i] < solvers.Never):
		case q.inside && q.list[i].Kind == solvers.InstantSite:
			q.sites = append(q.sites, i)
		default:
			q.queue = append(q.queue, i)
		}
	}
	byTime := func(a, b int) int {
		if q.times[a] < q.times[b] {
			return -1
		} else if q.times[a] > q.times[b] {
			return 1
		}
		return a - b
	}
	slices.SortFunc(q.queue, byTime)
	slices.SortFunc(q.sites, byTime)
}

// site returns the earliest site to be read inside a step, or -1, without taking it.
func (q *schedule) site() int {
	if q.seen < len(q.sites) {
		return q.sites[q.seen]
	}
	return -1
}

// takeSite takes the site that site returned.
func (q *schedule) takeSite() (i int) {
	i = q.sites[q.seen]
	q.seen++
	q.came[i] = true
	return i
}

// occurrence returns the next time of the repeating instant i, or +Inf.
func (q *schedule) occurrence(i int) float64 {
	in, k := &q.list[i], float64(q.nth[i])
	if q.gone[i] {
		return math.Inf(1)
	}
	if in.Count >= 0 && k >= q.times[in.Count] {
		return math.Inf(1)
	}
	t := math.FMA(k, q.times[in.Period], q.times[i])
	if in.To >= 0 {
		// The last time is inclusive, also where k periods are beyond it by rounding.
		if to := q.times[in.To]; t > to+float64(10*elem.ULP(to)) {
			return math.Inf(1)
		}
	}
	return t
}

// over removes the times of an event that will not fire any more, so that no step ends there in vain.
func (q *schedule) over(event, elem int) {
	for i := range q.list {
		in := &q.list[i]
		if (in.Kind == solvers.InstantFire || in.Kind == solvers.InstantEvery) && in.Event == event && in.Elem == elem {
			q.came[i], q.gone[i] = true, true
		}
	}
}

// next returns the earliest time still to come at which a step must end.
func (q *schedule) next() float64 {
	t := math.Inf(1)
	for q.head < len(q.queue) && q.came[q.queue[q.head]] {
		q.head++
	}
	if q.head < len(q.queue) {
		t = q.times[q.queue[q.head]]
	}
	for _, i := range q.every {
		t = min(t, q.occurrence(i))
	}
	return t
}

// take returns an instant that is due at or before t, with its time and its occurrence, and marks it as come. It
// returns -1 when there is none.
func (q *schedule) take(t float64) (i, nth int, at float64) {
	for _, i := range q.every {
		if at := q.occurrence(i); at <= t {
			q.nth[i]++
			return i, q.nth[i] - 1, at
		}
	}
	for ; q.head < len(q.queue); q.head++ {
		i := q.queue[q.head]
		if q.came[i] {
			continue
		}
		if q.times[i] > t {
			break
		}
		q.came[i] = true
		q.head++
		return i, 0, q.times[i]
	}
	if i := q.site(); i >= 0 && q.times[i] <= t {
		return q.takeSite(), 0, q.times[i]
	}
	return -1, 0, 0
}

// manySites is the number of sites from which ObserveAuto reads them inside steps.
const manySites = 16

// sitesInside reports whether sites are read inside steps by any of the members of a method.
func sitesInside(o *solvers.Options, list []solvers.Instant, members []solvers.Info) bool {
	if o.Observe != solvers.ObserveAuto {
		return o.Observe == solvers.ObserveDense
	}
	for i := range members {
		if m := &members[i]; m.DenseOrder+1 < m.Order {
			return false
		}
	}
	n := 0
	for i := range list {
		if list[i].Kind == solvers.InstantSite {
			n++
		}
	}
	return n > manySites
}

// readsInside reports whether something is read within steps.
func (q *schedule) readsInside() bool {
	return q.inside && slices.ContainsFunc(q.list,
		func(in solvers.Instant) bool { return in.Kind == solvers.InstantSite })
}
