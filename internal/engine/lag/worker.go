package lag

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// Worker is a System with its tangents, cotangents and objectives, of a model that reads the past. It belongs to one
// goroutine.
type Worker struct {
	*forwards
	w      *system.Worker
	rec    *Record
	method solvers.Interpolant
	l      int // lanes
	n      int // states

	from, till float64 // of the step that is evaluated
	mid        float64 // of it
	later      bool    // at a jump, what is behind it is read
	d          []float64

	y, yd, yb, ym, ymd, ymb []float64 // states and lags; in lanes
	x, slope                []float64 // [N] what is read, and its slope
	point                   pointer
	reader
	tangents
	cotangents
	mover
}

// reader is how a Worker reads.
type reader struct {
	last  []int  // the step that each delay read last
	parts []part // that each delay read last
	leapt []bool // delays that read behind a jump where others do not; nil for none
	bends bool   // steps follow what comes back of the past

	powers
	shapeOf *stages.Dense // what shape belongs to
	shape   *solvers.Curve
	room    []float64 // a row of zeros, differences of rows of K, and a curve
	asWhole
	entries
}

// part is the part of the record, between two gaps, that a delay reads in a whole step.
type part struct {
	mid, tau float64
	later    bool
	edits    int
	region   int
}

// tangents are those that a sweep forwards keeps.
type tangents struct {
	dd   []float64 // of the discretes
	kept []keptTangent
	yd0  []float64   // of the initial state
	sets [][]float64 // of the discretes, by the gap that set them and the start first
	xd   []float64
	td   []float64
	td0  []float64 // of the start
}

// keptTangent are the tangents of a step.
type keptTangent struct {
	d  solvers.StepTangent
	kd []float64
	t1 []float64 // of the time at which it ends, also where d is that of a step whose ends stay
}

// cotangents are those that a sweep backwards gathers.
type cotangents struct {
	db       []float64   // of delays
	held     [][]float64 // of discretes that were read, by the gap that set them and the start first
	seeds    []*solvers.Seeds
	gathered []gathered        // for these, by steps
	lags     []float64         // slopes of what is read
	yb0      []float64         // of the initial state
	times    [][]float64       // of jumps
	until    map[int][]float64 // of ends of steps that others follow
	xb       []float64
	sb       []float64
}

// Of returns w as it reads the past that rec holds. The method is that of the run, with as many lanes as w has.
func Of(w *system.Worker, rec *Record, m solvers.Method) *Worker {
	l, size := max(w.Lanes(), 1), w.Size()
	v := func(n int) []float64 { return make([]float64, n) }
	all := size.N + rec.lags
	x := &Worker{
		forwards: &forwards{w}, w: w, rec: rec, l: l, n: size.N, d: v(size.D),
		y: v(all), ym: v(all), x: v(size.N), slope: v(size.N), mid: math.NaN(),
		reader: reader{last: make([]int, len(rec.delays)), parts: make([]part, len(rec.delays))},
	}
	x.method, _ = m.(solvers.Interpolant)
	x.yd, x.ymd, x.yb, x.ymb = v(all*l), v(all*l), v(all*l), v(all*l)
	x.tangents = tangents{dd: v(size.D * l), yd0: v(size.N * l), xd: v(size.N * l), td: v(l)}
	x.mover = newMover(rec, size.N, rec.lags, l)
	x.cotangents = cotangents{
		lags: v(rec.lags), db: v(size.D * l), yb0: v(size.N * l), xb: v(size.N * l), sb: v(l),
	}
	return x
}

// Opens implements solvers.Lagged.
func (x *Worker) Opens(m solvers.Method, t float64, y []float64) error {
	able, ok := plain(m).(solvers.Interpolant)
	if !ok {
		return fmt.Errorf("method %s has no dense output that a run could read its past from", m.Info().Name)
	}
	x.method, x.running, x.known, x.within = able, true, false, false
	x.asWhole.some = false
	return x.rec.opens(m.Info(), x.w.Size().Q, t, y, x.d)
}

// Over implements solvers.Lagged.
func (x *Worker) Over(t, t1 float64) {
	x.from, x.till = t, t1
	x.mid, x.later = t+float64(0.5*(t1-t)), !(t1 > t)
	x.over(t, t1)
}

// Next implements solvers.Lagged.
func (x *Worker) Next(t, fixed, least float64) (longest, stop float64, err error) {
	longest, i := x.rec.shortest, x.rec.ofShortest // no step reads what it makes
	what := ""
	switch {
	case fixed > longest:
		what = fmt.Sprintf("steps of fixed length would read their own results, since the shortest delay is %v; "+
			"set fixed_step to that or less, or leave it to error control", longest)
	case longest < least:
		what = fmt.Sprintf("a delay of %v is shorter than any step here; write the present value in its place", longest)
	default:
		return longest, x.rec.next(t), nil
	}
	return 0, 0, &Error{T: t, Lag: x.rec.lagOf(i), Message: what}
}

// Made implements solvers.Lagged.
func (x *Worker) Made(s *solvers.Step, e solvers.End) (how solvers.Broke, err error) {
	if !s.Dense { // whoever reads the step needs all of its rows
		x.method.Interpolate(x, s, 0.5, x.x)
	}
	x.rec.made(s, fit(x, s))
	r := x.rec
	first := r.stops.first(r.tau)
	broke := r.comes(first.t, s.T1)
	if broke {
		r.parts(s.T1, false, first.order, first.truly)
		r.next(s.T1)
	}
	if at := r.ends.of(len(r.steps) - 1); at >= 0 && e.Kind != solvers.EndFree {
		r.ends.list[at].other = true
	}
	met := len(r.crossed)
	crossed, err := x.walked(s, e.Kind == solvers.EndFree)
	if e.Kind == solvers.EndRoot && s.H > 0 { // a kink at least, of which no mark tells
		r.parts(s.T1, false, 2, 2)
		r.follow(s.T1, 2)
	}
	if broke || crossed {
		how = solvers.BrokeRates
	}
	for _, c := range r.crossed[met:] {
		if err == nil && r.gaps[c.gap].jump && turnsAt(x, c, s) {
			err = &Error{T: s.T1, Lag: r.lagOf(c.delay), Message: "a condition changes when a jump of a state comes " +
				"back after a delay that moves; write a delay of params alone, or a condition of time"}
		}
	}
	if err != nil || !broke || !turns(x, s.T1, s.Y1) { // each jump that comes back is a stop
		return how, err
	}
	at := r.ends.of(len(r.steps) - 1)
	if e.Kind != solvers.EndFree || at < 0 {
		return how, &Error{T: s.T1, Lag: r.spans[0], Message: "a condition changes when a jump of a state comes back " +
			"after the delay, and something else happens at that time; move one of the two"}
	}
	r.ends.list[at].turns = true
	return solvers.BrokeConditions, nil
}

// turns reports whether what is read jumps at t, and a condition of an event or a mode with it: that happens at a time
// which no root tells.
func turns(x *Worker, t float64, y []float64) bool {
	if len(leapsAt(x, t)) == 0 {
		return false
	}
	guards := x.w.Guards()
	var truth [2][]bool
	mid, later := x.mid, x.later
	for side := range truth {
		truth[side] = make([]bool, len(guards))
		x.mid, x.later = t, side == 1
		x.GuardValues(t, y, make([]float64, len(guards)), truth[side])
	}
	x.mid, x.later = mid, later
	return !slices.Equal(truth[0], truth[1])
}

// turnsAt reports whether a condition of an event or a mode changes where a delay that moves comes to read what is
// behind a jump, at the end of a step.
func turnsAt(x *Worker, c crossed, s *solvers.Step) bool {
	guards := x.w.Guards()
	before, behind := make([]bool, len(guards)), make([]bool, len(guards))
	margins := make([]float64, len(guards))
	x.GuardValues(s.T1, s.Y1, margins, behind)
	aside(x, []crossed{c}, 0, func() { x.GuardValues(s.T1, s.Y1, margins, before) })
	return !slices.Equal(before, behind)
}

// Marked implements solvers.Lagged.
func (x *Worker) Marked(m *solvers.Mark) error {
	if m.Happens() {
		x.known, x.within = false, false
	}
	switch m.Kind {
	case solvers.MarkFire:
		if m.Caused {
			if err := caused(x, m); err != nil {
				return err
			}
		}
		jump := !slices.Equal(m.Ym, m.Yp) || x.rec.changes(m.Dm, m.Dp)
		order := 0
		if !jump {
			order = 1
		}
		x.rec.parts(m.T, jump, order, order)
		last := len(x.rec.gaps) - 1
		x.rec.gaps[last].set, x.rec.gaps[last].d = last, append(x.rec.gaps[last].d[:0], m.Dp...)
		x.rec.follow(m.T, order)
	case solvers.MarkMode, solvers.MarkRemode:
		x.rec.parts(m.T, false, 1, 1)
		x.rec.follow(m.T, 1)
	}
	return nil
}

// caused returns an error if the body of an event that a jump has caused reads that jump, which has two sides there.
func caused(x *Worker, m *solvers.Mark) error {
	if len(leapsAt(x, m.T)) == 0 {
		return nil
	}
	mid, later := x.mid, x.later
	x.mid, x.later = m.T, true
	yp, dp := make([]float64, len(m.Yp)), make([]float64, len(m.Dp))
	x.w.Enter(m.Dm, m.Mm)
	x.w.Affect(m.Firing, m.T, x.extend(m.T, m.Ym, x.y), m.Dm, yp, dp)
	x.w.Enter(m.Dp, m.Mp)
	x.mid, x.later = mid, later
	if slices.Equal(yp, m.Yp) && slices.Equal(dp, m.Dp) {
		return nil
	}
	return &Error{T: m.T, Lag: x.rec.spans[0], Message: "a jump that comes back triggers an event, whose body reads " +
		"what jumps; read it a little later, in another event"}
}

// Enter implements solvers.System.
func (x *Worker) Enter(d, m []float64) {
	copy(x.d, d)
	x.w.Enter(d, m)
}

// Start implements solvers.System. What is chosen at the start reads nothing of an earlier run.
func (x *Worker) Start(t0 float64, y, d []float64) {
	x.rec.gaps = x.rec.gaps[:0]
	x.rec.edits++
	x.w.Start(t0, y, d)
	copy(x.d, d)
}

// regionOf returns the part of the record that delay i reads.
func regionOf(x *Worker, i int) int {
	if x.rec.delays[i].moves {
		return x.reg[i]
	}
	p, tau, later := &x.parts[i], x.tau[i], x.later || x.leapt != nil && x.leapt[i]
	if last := len(x.rec.gaps) - 1; x.rec.behind(last, x.mid, tau) { // as a rule
		return last
	}
	if p.mid != x.mid || p.tau != tau || p.later != later || p.edits != x.rec.edits {
		*p = part{x.mid, tau, later, x.rec.edits, x.rec.region(x.mid, tau, later)}
	}
	return p.region
}

// locate returns the step that delay i reads at t, and where in it.
func (x *Worker) locate(i int, t float64) (step int, theta float64) {
	if x.rec.delays[i].moves {
		return locateMoving(x, i, t)
	}
	tau, region := x.tau[i], regionOf(x, i)
	if region < 0 && x.rec.begins[i] && t-tau >= x.rec.start-near(t, tau) {
		region = 0 // a mode has put the past in the place of what was before
	}
	step, theta = x.rec.at(region, t-tau, &x.last[i])
	if step > 0 && x.rec.steps[step].T >= x.from && t >= x.from && t <= x.till {
		return before(x, step, t-tau) // rounding alone has it read what it makes
	}
	return step, theta
}

// before returns the last step before the present one that has a length, from step on, and where the time s is in it.
func before(x *Worker, step int, s float64) (int, float64) {
	for i := step; i >= 0; i-- {
		if p := x.rec.steps[i]; p.T < x.from && p.H > 0 {
			return i, (s - p.T) / p.H
		}
	}
	return ofStart, 0
}

// stateAt makes x.x the state at theta of a step, and x.slope its slope.
func stateAt(x *Worker, step int, theta float64) {
	switch {
	case step < 0:
		copy(x.x, x.rec.y0)
		clear(x.slope)
	case x.stepAt(step).H == 0:
		copy(x.x, x.stepAt(step).Y1)
		clear(x.slope)
	default:
		x.method.InterpolateSlope(x, x.stepAt(step), theta, x.x, x.slope)
	}
}

// extend returns the state y with the lags at t behind it, in y2.
func (x *Worker) extend(t float64, y, y2 []float64) []float64 {
	copy(y2, y[:x.n])
	r := x.rec
	if len(r.gaps) == 0 { // before the run
		for _, c := range r.reads {
			from := y
			if c.discrete {
				from = x.d
			}
			for k := range c.n {
				copy(y2[c.to+k*c.len:][:c.len], from[c.from:])
			}
		}
		return y2
	}
	x.taus(t, y)
	for i := range r.takes {
		step, theta := x.locate(i, t)
		take(x, i, step, theta, y, y2[x.n:])
	}
	return y2
}

// take writes what delay i reads at theta of a step to lags. The present state is y.
func take(x *Worker, i, step int, theta float64, y, lags []float64) {
	r, whole := x.rec, false // x.x is the state there
	fit := r.curved(step)
	for _, c := range r.takes[i] {
		to := lags[c.to-x.n:][:c.len]
		switch {
		case c.discrete:
			copy(to, r.held(regionOf(x, i))[c.from:])
		case fit:
			curveAt(x, step, theta, &c, to)
		case step == ofPresent:
			copy(to, y[c.from:])
		case step < 0:
			copy(to, r.y0[c.from:])
		case x.stepAt(step).H == 0:
			copy(to, x.stepAt(step).Y1[c.from:])
		default:
			if !whole {
				x.method.Interpolate(x, x.stepAt(step), theta, x.x)
				whole = true
			}
			copy(to, x.x[c.from:])
		}
	}
}

// Eval implements solvers.Field.
func (x *Worker) Eval(t float64, y, k []float64) { x.w.Eval(t, x.extend(t, y, x.y), k) }

// Choose implements solvers.System.
func (x *Worker) Choose(t float64, y []float64, kept []bool, m []float64) {
	loose(x, func() { x.w.Choose(t, x.extend(t, y, x.y), kept, m) })
}

// GuardValues implements solvers.System.
func (x *Worker) GuardValues(t float64, y, rho []float64, truth []bool) {
	x.w.GuardValues(t, x.extend(t, y, x.y), rho, truth)
}

// Affect implements solvers.System.
func (x *Worker) Affect(f solvers.Firing, t float64, ym, dm, yp, dp []float64) (stop bool) {
	apart(x, t, func() { stop = x.w.Affect(f, t, x.extend(t, ym, x.y), dm, yp, dp) })
	return stop
}

// Outputs writes the outputs at (t, y, d).
func (x *Worker) Outputs(t float64, y, d, outputs []float64) {
	apart(x, t, func() { x.w.Outputs(t, x.extend(t, y, x.y), d, outputs) })
}

// Observe implements sens.Objectives.
func (x *Worker) Observe(pt *sens.Point, functionals []float64) {
	apart(x, pt.T, func() { x.w.Observe(x.pointed(pt), functionals) })
}

// pointer is a point with lags.
type pointer struct{ sens.Point }

// pointed returns pt with the lags there.
func (x *Worker) pointed(pt *sens.Point) *sens.Point {
	p := &x.point.Point
	*p = *pt
	p.Yp, p.Ym = x.extend(pt.T, pt.Yp, x.y), x.extend(pt.T, pt.Ym, x.ym)
	if x.rests(&pt.Site) {
		extended(x.rec.list, pt.Yp, pt.Dp, p.Yp, 1)
	}
	return p
}

// rests reports whether a site is the steady state behind the run, the past of which is what it is itself.
func (x *Worker) rests(s *sens.Site) bool {
	return s.Kind == sens.SiteEvent && x.w.Moment(s.Firing.Event) == compiled.AfterEnd
}
