// Package lag runs models that read states at earlier times. A run reads its own record: the dense output of the steps
// that it has made. Record is that of one run. Worker stands between a compiled model and those who integrate and
// differentiate it: it reads lags from the record, hands them to the functions of the model as states behind its own,
// and carries the derivatives by lags on to the steps that they were read from.
//
// The transpose of reading X(t - tau) adds the cotangent of X to the stages of an earlier step, which is transposed
// later: no equation with an advanced argument appears. Where a state jumps, what reads it jumps one delay later, at
// a time that moves with the jump and the delay; the derivative has a term for that (see Worker.Leap). Times at which
// what is read is continuous and no more than that need no such term, and steps end there for accuracy alone.
package lag

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/solvers"
)

// read is a lag with the places of what it is made of, in elements.
type read struct {
	from, len int // of the state
	to        int // of the value for the first delay, behind the states
	first     int // delay, of Record.delays
	n         int // delays
	past      bool
	discrete  bool // from counts in the discretes
}

// taken is what one delay reads of a lag, with the places as in read.
type taken struct {
	from, len, to int
	discrete      bool
	col           int // of from in curves
}

// source says where a delay comes from: an element of the discretes, or of the delays that move.
type source struct {
	at    int
	moves bool
}

// byDelay is what delays read.
type byDelay struct {
	takes [][]taken // of each delay
	ones  []*taken  // likewise, of those that read one number of a state; nil for others
	late  []int     // the states that are read
	met   []bool    // of each delay: a condition of the model meets the time at which it leaves the start
}

// extremes are the shortest delay that stays, infinite where all move, which one it is, and the longest.
type extremes struct {
	shortest, longest float64
	ofShortest        int
}

// gap is where the record is not smooth: pieces on both sides of it are not read as one.
type gap struct {
	t     float64
	after int  // the step at whose end it is, -1 at the start
	from  int  // the first such step: those behind it, up to after, have no length
	jump  bool // the state jumps there
	order int  // of the first derivative of a state that jumps there
	truly int  // that where steps end as if the state jumped at the start, and it does not
	set   int  // the last gap up to here at which discretes may have changed, -1 for none
	d     []float64
}

// Record is what is known of the past of a run. One goroutine writes it; others may read it once the run has ended.
type Record struct {
	n, q  int // states and quadratures
	lags  int // elements of lags, behind the states
	list  []place
	reads []read
	byDelay
	delays []source // in the order of the first reads
	begins []bool   // of delays: all that they read begins at the start, with a past before it
	moving int      // elements of delays that move
	spans  []*model.Lag

	y0, d0 []float64 // the state and the discretes at the start, before anything happens there
	start  float64
	steps  []*kept
	gaps   []gap
	jumps  bool // the state jumps at some gap
	edits  int  // how often the times of gaps have changed
	ends   ends
	window window

	deepest int // order up to which stops are followed: that of steps, or of what is read of them
	stops   stops
	tau     []float64 // the delays of the run, NaN for those that move
	extremes
	walks
	jacobian *jacobian
}

// NewRecord returns a record for runs of m; nil where m reads no past. Conditions of the model meet the times at which
// some delays leave the start.
func NewRecord(m *model.Model, met []*model.Symbol) *Record {
	if len(m.Lags) == 0 {
		return nil
	}
	r := &Record{spans: m.Lags, list: placesOf(m), jacobian: &jacobian{}}
	for _, s := range m.States {
		r.n += s.Type.Shape.Size()
	}
	at := firsts(m.States)
	for _, s := range model.ReadLate(m.States, m.Lags) {
		for i := range s.Type.Shape.Size() {
			r.late = append(r.late, at[s]+i)
		}
	}
	for _, l := range r.list {
		x := read{
			from: l.From, len: l.Len, to: l.To, n: l.Copies, past: l.Of.Past, discrete: l.Discrete,
		}
		s := source{l.Delay, l.Of.Moves}
		if x.first = slices.Index(r.delays, s); x.first < 0 {
			x.first = len(r.delays)
			for range x.n {
				if r.delays = append(r.delays, s); s.moves {
					r.moving++
				}
				s.at++
			}
		}
		r.lags += x.len * x.n
		r.reads = append(r.reads, x)
		r.takes = append(r.takes, make([][]taken, len(r.delays)-len(r.takes))...)
		for k := range x.n {
			i := x.first + k
			t := taken{from: x.from, len: x.len, to: x.to + k*x.len, discrete: x.discrete}
			if !t.discrete {
				t.col = slices.Index(r.late, t.from)
			}
			r.takes[i] = append(r.takes[i], t)
		}
	}
	r.tau, r.ones = make([]float64, len(r.delays)), make([]*taken, len(r.delays))
	for i := range r.delays {
		if t := r.takes[i]; len(t) == 1 && t[0].len == 1 && !t[0].discrete {
			r.ones[i] = &t[0]
		}
		r.begins = append(r.begins, !slices.ContainsFunc(r.reads, func(c read) bool {
			return i >= c.first && i < c.first+c.n && !c.past
		}))
		r.met = append(r.met, slices.Contains(met, r.lagOf(i).Delay))
	}
	return r
}

// opens begins the record of a run by a method with info from y at t, with discretes d.
func (r *Record) opens(info solvers.Info, q int, t float64, y, d []float64) error {
	r.q, r.start = q, t
	r.y0, r.d0 = append(r.y0[:0], y...), append(r.d0[:0], d...)
	first := gap{t: t, after: -1, from: -1, set: -1, truly: 1} // what has no past does not jump
	if slices.ContainsFunc(r.reads, func(c read) bool { return c.past }) {
		first.truly = 0
	}
	r.steps, r.gaps = r.steps[:0], append(r.gaps[:0], first)
	r.edits++
	r.jumps = false
	r.stops.opens(len(r.delays))
	r.ends.opens()
	r.deepest = max(info.Order, info.DenseOrder, 2)
	r.walks.opens()
	r.extremes = extremes{shortest: math.Inf(1)}
	for i, from := range r.delays {
		if r.tau[i] = math.NaN(); from.moves {
			continue
		}
		r.tau[i] = d[from.at]
		if tau := d[from.at]; !(tau > 0) || tau > math.MaxFloat64 {
			what := fmt.Sprintf("the delay is %v at the start of the run", tau)
			switch {
			case tau < 0:
				what += "; a delay is not negative: what is read lies in the past"
			case tau == 0:
				what += "; a delay that vanishes is not part of the language yet: write the present value in its place"
			}
			return &Error{T: t, Lag: r.lagOf(i), Message: what}
		}
		r.longest = max(r.longest, r.tau[i])
		if r.tau[i] < r.shortest {
			r.shortest, r.ofShortest = r.tau[i], i
		}
	}
	r.followAs(t, 0, func(i int) int {
		if r.guarded(i) {
			return 0
		}
		return 1
	})
	return nil
}

// lagOf returns a lag that reads with delay i.
func (r *Record) lagOf(i int) *model.Lag {
	for k, x := range r.reads {
		if i >= x.first && i < x.first+x.n {
			return r.spans[k]
		}
	}
	return nil
}

// Error is an error of what is read of the past.
type Error struct {
	T       float64
	Lag     *model.Lag
	Message string
}

func (e *Error) Error() string { return e.Message }

// near is how far two times may lie apart and count as one, at t.
func near(t, by float64) float64 {
	const few = 64
	return float64(few * elem.ULP(max(math.Abs(t), math.Abs(by))))
}

// comes reports whether the time u is no later than t, but for rounding.
func (r *Record) comes(u, t float64) bool {
	return u <= t || !math.IsInf(u, 1) && u <= t+near(t, t-r.start)
}

// followed reports whether breaks of an order are looked for. Those of delays that move cost steps of their own.
func (r *Record) followed(order int) bool {
	few := 600.0 // combinations
	if r.moving > 0 {
		few = 25
	}
	combinations := 1.0
	for k := range order {
		combinations *= float64(len(r.tau)+k) / float64(k+1)
	}
	return order <= r.deepest && (order <= 2 || combinations <= few)
}

// follow enters what a break of the given order at t causes one delay later. Combinations of many delays are followed
// less far: what is left is seen by error control.
func (r *Record) follow(t float64, order int) {
	r.followAs(t, order, func(int) int { return order })
}

// followAs is follow of what is truly of another order for a delay.
func (r *Record) followAs(t float64, order int, truly func(delay int) int) {
	if order++; !r.followed(order) {
		return
	}
	for i, tau := range r.tau {
		if tau == tau {
			r.stops.enter(i, tau, stop{t + tau, order, truly(i) + 1, len(r.steps) - 1})
		}
	}
}

// next returns the next stop behind t. Those up to t are what the last step ended at.
func (r *Record) next(t float64) float64 {
	for {
		s := r.stops.first(r.tau)
		if !r.comes(s.t, t) {
			return s.t
		}
		r.ends.causes = r.stops.drop(s, r.tau, r.ends.causes)
		r.ends.close(len(r.steps) - 1)
		r.followAs(s.t, s.order, func(int) int { return s.truly })
	}
}

// made keeps a step.
func (r *Record) made(s *solvers.Step, c curve) {
	r.forget(s.T)
	n := len(r.steps)
	if n < cap(r.steps) {
		r.steps = r.steps[:n+1] // behind it are those of earlier runs, for their memory
	} else {
		r.steps = append(r.steps, nil)
	}
	if r.steps[n] == nil {
		r.steps[n] = &kept{}
	}
	r.steps[n].copy(s, c)
}

// kept is a step of the record, with what is read most first.
type kept struct {
	curve curve
	solvers.Step
}

// copy makes k a copy of a step and its curve.
func (k *kept) copy(s *solvers.Step, c curve) {
	rows, n := len(s.K), len(s.Y0)
	if len(k.K) != rows || len(k.Y0) != n || len(k.curve) != len(c) || k.K == nil {
		room := make([]float64, rows+2*n+len(c))
		k.K, room = room[:rows:rows], room[rows:]
		k.Y0, k.Y1, k.curve = room[:n:n], room[n:2*n:2*n], nil
		if len(c) > 0 {
			k.curve = room[2*n:]
		}
	}
	k.T, k.H, k.T1, k.Member, k.Dense = s.T, s.H, s.T1, s.Member, true
	copy(k.K, s.K)
	copy(k.Y0, s.Y0)
	copy(k.Y1, s.Y1)
	copy(k.curve, c)
}

// parts notes that the record has a gap at t, behind the last step. A delay that stays reads one side of a gap for a
// whole step, since steps end where gaps come back. What does not come back as a stop, since there are too many, is no
// gap: nothing would tell a step that reads both sides that it continues one of them. Of orders that a method does not
// see, either side continues the other.
func (r *Record) parts(t float64, jump bool, order, truly int) {
	if order < r.deepest && !r.followed(order+1) {
		return
	}
	after := len(r.steps) - 1
	r.edits++
	r.jumps = r.jumps || jump
	if last := &r.gaps[len(r.gaps)-1]; last.after == after || r.nothing(last.after+1, after) {
		last.t, last.after, last.jump = t, after, last.jump || jump // what happens at one time is one
		last.order, last.truly = min(last.order, order), min(last.truly, truly)
		return
	}
	set := r.gaps[len(r.gaps)-1].set
	r.gaps = append(r.gaps, gap{t: t, after: after, from: after, jump: jump, order: order, truly: truly, set: set})
}

// gapsFrom returns the first gap of which is is true, as it is of all behind it.
func (r *Record) gapsFrom(is func(g gap) bool) int {
	return sort.Search(len(r.gaps), func(j int) bool { return is(r.gaps[j]) })
}

// gapsBehind returns the first gap at the end of a step, or behind that.
func (r *Record) gapsBehind(step int) int {
	return r.gapsFrom(func(g gap) bool { return g.after >= step })
}

// changes reports whether any discrete that is read later differs in d from what it was.
func (r *Record) changes(was, d []float64) (jump bool) {
	for _, c := range r.reads {
		jump = jump || c.discrete && !slices.Equal(was[c.from:][:c.len], d[c.from:][:c.len])
	}
	return jump
}

// holder returns the gap that set the discretes of a region, -1 for the start.
func (r *Record) holder(region int) int {
	if region < 0 {
		return -1
	}
	return r.gaps[region].set
}

// held returns the discretes of a region.
func (r *Record) held(region int) []float64 {
	if g := r.holder(region); g >= 0 {
		return r.gaps[g].d
	}
	return r.d0
}

// nothing reports whether steps from to to have no length.
func (r *Record) nothing(from, to int) bool {
	for i := from; i <= to; i++ {
		if r.steps[i].H > 0 {
			return false
		}
	}
	return true
}

// behind reports whether what is read at t after a delay tau is behind a gap by more than the rounding of t - tau.
func (r *Record) behind(gap int, t, tau float64) bool {
	return gap >= 0 && r.gaps[gap].t < t-tau-float64(1e-13*(math.Abs(t)+tau+math.Abs(r.start)))
}

// region returns the number of the part of the record between two gaps in which is what is read at t after a delay tau,
// -1 before the start. At a gap, later decides.
func (r *Record) region(t, tau float64, later bool) int {
	if n := len(r.gaps) - 1; r.behind(n, t, tau) {
		return n
	}
	u := t - tau
	// It may be much smaller than both, and is as exact as they are.
	tol := near(max(math.Abs(t), t-r.start), max(math.Abs(u), tau))
	i, _ := slices.BinarySearchFunc(r.gaps, u, func(j gap, u float64) int { return cmp.Compare(j.t, u) })
	// Gaps before i are earlier than u, but for rounding.
	if i < len(r.gaps) && later && r.gaps[i].t <= u+tol {
		i++
	}
	if i > 0 && !later && r.gaps[i-1].t >= u-tol {
		i--
	}
	return i - 1
}

// bounds returns the first and the last step of a region.
func (r *Record) bounds(region int) (lo, hi int) {
	lo, hi = r.gaps[region].after+1, len(r.steps)-1
	if region+1 < len(r.gaps) {
		hi = r.gaps[region+1].after
	}
	return lo, hi
}

// at returns the step of a region that holds s, and where in it; -1 for the initial state. It looks first where the
// last reading was, at the step last, which it sets.
func (r *Record) at(region int, s float64, last *int) (step int, theta float64) {
	if region < 0 {
		return -1, 0
	}
	lo, hi := r.bounds(region)
	if hi < lo {
		return max(lo-1, -1), 1
	}
	holds := func(i int) bool {
		return i >= lo && i <= hi && r.steps[i].T < s && (i == hi || !(r.steps[i+1].T < s))
	}
	i := *last
	for range 2 {
		if holds(i) {
			break
		}
		i++
	}
	if !holds(i) {
		i = *last - 1
	}
	if !holds(i) {
		i = max(lo+sort.Search(hi+1-lo, func(i int) bool { return !(r.steps[lo+i].T < s) })-1, lo)
	}
	*last = i
	k := i
	for k < hi && r.small(k) {
		k++
	}
	for k > lo && r.small(k) {
		k--
	}
	if !r.small(k) || r.steps[i].H == 0 {
		i = k
	}
	if r.steps[i].H == 0 {
		return i, 1
	}
	return r.beyond(i, lo, hi, s)
}

// A step is continued no farther than far times its length beyond its ends if one of its region is at hand that is
// longer by a factor of longer. Stages of a step read a little beyond a gap where delays move, and on both sides of one
// of high order. That is many lengths of a short step there, and rounding grows with a high power of these.
const far, longer = 4, 64

// beyond returns the step of those from lo to hi that is continued to s, and where that is in it. If s lies within step
// i, it is that.
func (r *Record) beyond(i, lo, hi int, s float64) (step int, theta float64) {
	theta = (s - r.steps[i].T) / r.steps[i].H
	way := 0
	switch {
	case theta > 1+far:
		way = -1
	case theta < -far:
		way = 1
	}
	if way == 0 {
		return i, theta
	}
	for k := i + way; k >= lo && k <= hi; k += way {
		if r.steps[k].H > float64(longer*r.steps[i].H) {
			return k, (s - r.steps[k].T) / r.steps[k].H
		}
	}
	return i, theta
}

// small reports whether a step is so short that what is read near it is beyond its ends by a part of its length: its
// polynomial would be continued far, and the tangent of that, which moves with its length, is not small. The steps
// around it are continued over it.
func (r *Record) small(step int) bool {
	s := r.steps[step]
	return s.H == 0 || r.moving > 0 && s.H <= float64(16*r.close(s.T1))
}
