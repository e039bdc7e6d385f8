package system

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/orbit"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/steady"
	"odes.dev/odes/tapec"
)

// A periodic steady state is a fixed point of the map from the start of a period to the next one: y* = Φ(y*, p), where
// y are states, discretes and executions that wait, as package orbit has it. It is found by shooting: Newton's method
// with the derivatives of the run over one period. Its own derivatives follow from them: ∂y*/∂p = (I - Φ_y)⁻¹ Φ_p. A
// period begins where the run proper does, with what happens there; what happens at its end belongs to the next one,
// but for what earlier periods left waiting.

// Shooting says how runs over one period are made.
type Shooting struct {
	Method  func(lanes int) solvers.Method
	Control func(m solvers.Info) hybrid.Controller // nil for steps of fixed length
	Options solvers.Options
}

// leg is a run over one period.
type leg struct {
	problem *Problem
	firing  solvers.Firing
	t       float64 // start of the run
	n       int     // which period of the run it is
	// later tells by how many periods the clock goes on, in a run that certifies a state; otherwise time begins anew.
	later  int
	origin bool // it begins as the run does, with what the assignments leave; otherwise with from
	from   *orbit.Border
	end    *orbit.Border
	run    record.Trajectory
}

// variables returns how many elements of the start derivatives are taken by.
func (l *leg) variables() int {
	if l.origin {
		return 0
	}
	return l.from.Len()
}

// overPeriod is a worker over one period. The elements of its start are parameters behind the others.
type overPeriod struct {
	*Worker
	leg   *leg
	times *orbit.Schedule
	work  []float64
	moved []float64   // [variables·L] tangents of the start
	ends  [][]float64 // rows of cotangents of the start
}

func (p *Problem) overPeriod(w *Worker, l *leg) *overPeriod {
	aside := func(event int) bool { e := p.Model.Checked.Events[event]; return e.Settles || e.Resumes }
	o := &overPeriod{Worker: w, leg: l, times: orbit.NewSchedule(w.flights, l.n, l.later, l.t, aside)}
	o.work = make([]float64, len(o.times.All)*max(w.Width, 1))
	o.InstantTimes(l.from.D, make([]float64, len(o.times.All))) // derivatives are asked for without times
	return o
}

// Size implements solvers.System.
func (o *overPeriod) Size() solvers.Size {
	z := o.Worker.Size()
	z.P += o.leg.variables()
	return z
}

// Instants implements solvers.System.
func (o *overPeriod) Instants() []solvers.Instant { return o.times.All }

// Events implements solvers.System.
func (o *overPeriod) Events() []solvers.Event {
	list := o.Worker.Events()
	for i := range list {
		list[i].After = false
		if o.leg.n+o.leg.later > 0 {
			list[i].Start = false // a condition that holds at a border held before it
		}
	}
	return list
}

// InstantTimes implements solvers.System.
func (o *overPeriod) InstantTimes(d, times []float64) {
	o.Worker.InstantTimes(d, times[:len(o.times.List)])
	o.times.Set(times)
}

// InstantPush implements solvers.TangentSystem.
func (o *overPeriod) InstantPush(i int, td []float64) {
	if i >= len(o.times.List) {
		clear(td)
		return
	}
	more, k := o.work[:len(td)], o.times.Skips[i]
	switch {
	case i == 1:
		o.Worker.InstantPush(0, td)
		o.Worker.InstantPush(o.times.Period, more)
		k = 1
	case k != 0:
		o.Worker.InstantPush(i, td)
		o.Worker.InstantPush(o.times.All[i].Period, more)
	default:
		o.Worker.InstantPush(i, td)
		return
	}
	for l, x := range more {
		td[l] = math.FMA(float64(k), x, td[l])
	}
}

// InstantPull implements solvers.CotangentSystem.
func (o *overPeriod) InstantPull(i int, w []float64) {
	switch {
	case i >= len(o.times.List):
	case i == 1:
		o.Worker.InstantPull(0, w)
		o.Worker.InstantPull(o.times.Period, w)
	default:
		o.Worker.InstantPull(i, w)
		if k := o.times.Skips[i]; k != 0 {
			more := o.work[:len(w)]
			for l, x := range w {
				more[l] = float64(float64(k) * x)
			}
			o.Worker.InstantPull(o.times.All[i].Period, more)
		}
	}
}

// Start implements solvers.System.
func (o *overPeriod) Start(t0 float64, y, d []float64) {
	o.Worker.Start(t0, y, d)
	if o.leg.origin {
		o.assign(o.leg.firing, t0, slices.Clone(y), slices.Clone(d), y, d)
		return
	}
	copy(y, o.leg.from.Y)
	copy(d, o.leg.from.D)
	if o.leg.later > 0 {
		for i, timed := range o.leg.from.Timed {
			if timed {
				d[i] += t0 - o.leg.t
			}
		}
	}
}

// left returns the initial values before the assignments.
func (o *overPeriod) left(t0 float64) (ym, dm []float64) {
	z := o.Size()
	ym, dm = make([]float64, z.N), make([]float64, z.D)
	o.Worker.Start(t0, ym, dm)
	return ym, dm
}

// SetTangent implements solvers.TangentSystem.
func (o *overPeriod) SetTangent(pd []float64) {
	at := len(pd) - o.leg.variables()*o.Width
	o.Worker.SetTangent(pd[:at])
	o.moved = pd[at:]
}

// StartPush implements solvers.TangentSystem.
func (o *overPeriod) StartPush(t0 float64, td, yd, dd []float64) {
	ym, dm := o.left(t0)
	o.Worker.StartPush(t0, td, yd, dd)
	o.assignPush(o.leg.firing, t0, ym, dm, td, slices.Clone(yd), slices.Clone(dd), yd, dd)
	if o.leg.origin {
		return
	}
	b, l := o.leg.from, o.Width
	copy(yd, o.moved)
	b.Each(func(k, at int, timed bool) {
		to := dd[at*l : (at+1)*l]
		if clear(to); k >= 0 {
			copy(to, o.moved[k*l:])
		}
		if timed {
			for j, x := range td {
				to[j] += x
			}
		}
	})
}

// Begin implements solvers.CotangentSystem.
func (o *overPeriod) Begin(rows [][]float64) {
	own := make([][]float64, len(rows))
	o.ends = make([][]float64, len(rows))
	for l, row := range rows {
		if row == nil {
			continue
		}
		at := len(row) - o.leg.variables()
		own[l], o.ends[l] = row[:at:at], row[at:]
		clear(o.ends[l])
	}
	o.Worker.Begin(own)
}

// StartPull implements solvers.CotangentSystem.
func (o *overPeriod) StartPull(t0 float64, yb, db, tb []float64) {
	ym, dm := o.left(t0)
	yb, db = slices.Clone(yb), slices.Clone(db)
	if b, l := o.leg.from, o.Width; !o.leg.origin {
		take := func(k int, from []float64, timed bool) {
			for j, x := range from {
				if k >= 0 && j < len(o.ends) && o.ends[j] != nil {
					o.ends[j][k] += x
				}
				if timed {
					tb[j] += x
				}
			}
			clear(from)
		}
		for i := range b.Y {
			take(i, yb[i*l:(i+1)*l], false)
		}
		b.Each(func(k, at int, timed bool) { take(k, db[at*l:(at+1)*l], timed) })
	}
	ymb, dmb := make([]float64, len(yb)), make([]float64, len(db))
	o.assignPull(o.leg.firing, t0, ym, dm, yb, db, ymb, dmb, tb)
	o.Worker.StartPull(t0, ymb, dmb, tb)
}

// ends returns the objectives of derivatives.
func (l *leg) ends(lanes int) orbit.Ends {
	return orbit.Ends{Quadratures: l.problem.Size().Q, Lanes: lanes, Border: l.end}
}

// record makes the run.
func (l *leg) record() error {
	p := l.problem
	k, err := p.Kit(1, compiled.Values, false)
	if err != nil {
		return err
	}
	sys := p.overPeriod(p.Worker(k), l)
	times := make([]float64, len(sys.times.All))
	if sys.InstantTimes(l.from.D, times); !(times[sys.times.Period] > 0) {
		x := times[sys.times.Period]
		what := fmt.Sprintf("the period is %s, and must be positive", diag.Number(x))
		return &solvers.TimeError{Instant: sys.times.Period, Value: x, Message: what}
	}
	name := func(event, elem int) string { return sys.Events()[event].ElemName(elem) }
	if err := sys.times.Fits(times, name); err != nil {
		return err
	}
	method := p.Shooting.Method(0)
	var ctl hybrid.Controller
	if p.Shooting.Control != nil {
		ctl = p.Shooting.Control(method.Info())
	}
	opts := p.Shooting.Options
	opts.QuadTol, opts.Quadratures, opts.Also = -1, []int{}, nil
	l.run.Replayer = func() (solvers.System, solvers.Method) {
		return p.overPeriod(p.Worker(k), l), p.Shooting.Method(0)
	}
	solver := hybrid.NewSolver(sys, method, ctl, opts)
	if _, err = solver.Solve(p.settling.context(), &l.run); err == nil && l.end != nil {
		l.end.Abs = hybrid.Tolerances(solver)
	}
	return err
}

// The ways to derivatives over a period.
const (
	byTangent = "tangent"
	byAdjoint = "adjoint"
	byComplex = "complex"
)

// moves returns how the end of the leg moves: with the active params, [ends][P], and with its start, [ends][variables].
func (l *leg) moves(way string, lanes int) (byParams, byStart []float64, err error) {
	var method sens.Method
	p := l.problem
	lanes = max(lanes, 1)
	switch way {
	case byAdjoint:
		k, err := p.Kit(lanes, compiled.Pull, false)
		if err != nil {
			return nil, nil, err
		}
		method = &sens.Adjoint{New: func() sens.CotangentWorker {
			return sens.CotangentWorker{
				System: p.overPeriod(p.Worker(k), l), Objectives: l.ends(lanes), Method: p.Shooting.Method(lanes),
			}
		}}
	case byComplex:
		k, err := p.Kit(1, compiled.Values, false)
		if err != nil {
			return nil, nil, err
		}
		params := p.ActiveValues()
		for i := range l.variables() {
			params = append(params, l.variable(i))
		}
		method = &sens.ComplexStep{New: func() sens.ComplexWorker {
			real := p.overPeriod(p.Worker(k), l)
			return sens.ComplexWorker{
				System:     &complexOverPeriod{ComplexWorker: p.ComplexWorker(), real: real},
				Objectives: orbit.ComplexEnds{Ends: l.ends(1)}, Method: p.Shooting.Method(0), Params: params,
				RealSystem: real, RealObjectives: l.ends(1),
			}
		}}
	default:
		k, err := p.Kit(lanes, compiled.PushElements, false)
		if err != nil {
			return nil, nil, err
		}
		method = &sens.Tangent{New: func() sens.TangentWorker {
			return sens.TangentWorker{
				System: p.overPeriod(p.Worker(k), l), Objectives: l.ends(lanes), Method: p.Shooting.Method(lanes),
			}
		}}
	}
	var res sens.Result
	err = method.Gradient(p.settling.context(), &l.run, sens.Options{Events: -1}, &res)
	width, n := p.Plan.Width, l.variables()
	for i := range l.end.Len() {
		if err == nil {
			row := res.DP[i*(width+n):]
			byParams, byStart = append(byParams, row[:width]...), append(byStart, row[width:width+n]...)
		}
	}
	return byParams, byStart, err
}

// variable returns element i of the start. Times count from it.
func (l *leg) variable(i int) float64 {
	x := l.from.At(i)
	if k := i - len(l.from.Y); k >= 0 && l.from.Timed[l.from.Active[k]] {
		x -= l.t
	}
	return x
}

// complexOverPeriod is overPeriod in complex arithmetic.
type complexOverPeriod struct {
	*ComplexWorker
	real  *overPeriod
	start []complex128
}

// Size implements solvers.ComplexSystem.
func (o *complexOverPeriod) Size() solvers.Size { return o.real.Size() }

// SetParameters implements solvers.ComplexSystem.
func (o *complexOverPeriod) SetParameters(p []complex128) {
	at := len(p) - o.real.leg.variables()
	o.ComplexWorker.SetParameters(p[:at])
	o.start = p[at:]
}

// Start implements solvers.ComplexSystem.
func (o *complexOverPeriod) Start(t0 complex128, y, d []complex128) {
	o.ComplexWorker.Start(t0, y, d)
	o.assign(o.real.leg.firing, t0, slices.Clone(y), slices.Clone(d), y, d)
	if o.real.leg.origin {
		return
	}
	b := o.real.leg.from
	copy(y, o.start[:len(b.Y)])
	b.Each(func(k, at int, timed bool) {
		if d[at] = complex(b.D[at], 0); k >= 0 {
			d[at] = o.start[k]
		}
		if timed {
			d[at] += t0
		}
	})
}

// Instant implements solvers.ComplexSystem.
func (o *complexOverPeriod) Instant(i int) complex128 {
	switch {
	case i == 1:
		return o.ComplexWorker.Instant(0) + o.ComplexWorker.Instant(o.real.times.Period)
	case i >= len(o.real.times.List):
		return 0
	}
	at := o.ComplexWorker.Instant(i)
	if k := o.real.times.Skips[i]; k != 0 {
		at = elem.CFMA(complex(float64(k), 0), o.ComplexWorker.Instant(o.real.times.All[i].Period), at)
	}
	return at
}

// cycle is a periodic steady state, and how it was found. It is a Runner of package orbit.
type cycle struct {
	*leg
	version  int
	d        []float64 // discretes after the assignments
	orbit    *orbit.Orbit
	state    *steady.State
	by       map[string][]float64
	only     []string  // params that it repeats at only one value of, once it was differentiated
	bends    []float64 // second derivatives, once they were wanted
	queues   []orbit.Queue
	events   []int  // of the queues
	assigned []bool // discretes that events of the periods assign
	inert    []bool // discretes that nothing but their own assignments reads
	flags    *Worker
	sure     *leg // over a later period, which has confirmed the state
	sizes    []float64
}

// newCycle prepares the search for the state that a run from (t, y, d) leads to.
func (p *Problem) newCycle(f solvers.Firing, t float64, y, d []float64) (o *cycle, start *orbit.Border) {
	o = &cycle{version: p.Point.Version, d: slices.Clone(d), by: map[string][]float64{}}
	o.assigned, o.inert = make([]bool, len(d)), make([]bool, len(d))
	for _, s := range p.Model.Checked.Discretes {
		at := p.Model.Layout.Part(tapec.Discrete.Called(s.Name))
		is := p.Model.Compiled.Inert(s)
		for k := range at.Len {
			o.inert[at.Offset+k] = is
		}
	}
	for e, ev := range p.Model.Checked.Events {
		if !ev.Pending {
			continue
		}
		n := compiled.EventElems(ev.Indices)
		for elem := range n {
			q := orbit.Queue{When: make([]int, ev.Slot.Count), Kept: make([][]int, ev.Slot.Count)}
			for _, s := range p.Model.Checked.Discretes {
				what, is := strings.CutPrefix(s.Name, ev.Name+".")
				if !is || !s.Hidden || what != "when" && !strings.HasPrefix(what, "value") {
					continue
				}
				at := p.Model.Layout.Part(tapec.Discrete.Called(s.Name))
				each := at.Len / (n * ev.Slot.Count)
				for slot := range ev.Slot.Count {
					first := at.Offset + (elem*ev.Slot.Count+slot)*each
					if what == "when" {
						q.When[slot] = first
						continue
					}
					for k := range each {
						q.Kept[slot] = append(q.Kept[slot], first+k)
					}
				}
			}
			o.queues, o.events = append(o.queues, q), append(o.events, e)
		}
	}
	start = &orbit.Border{Y: slices.Clone(y)}
	start.Turn(d, make([]bool, len(d)), o.queues, t, 0)
	o.leg = &leg{problem: p, firing: f, t: t}
	return o, start
}

// Name implements orbit.Runner.
func (o *cycle) Name(b *orbit.Border, i int) string {
	m := o.problem.Model
	if i < len(b.Y) {
		return m.StateName(i)
	}
	at := b.Active[i-len(b.Y)]
	for _, s := range m.Checked.Discretes {
		if p := m.Layout.Part(tapec.Discrete.Called(s.Name)); at >= p.Offset && at < p.Offset+p.Len {
			return compiled.ElementName(cmp.Or(m.Checked.Written(s.Name), s.Name), s.Type.Shape, at-p.Offset)
		}
	}
	return "a discrete"
}

// Queue implements orbit.Runner.
func (o *cycle) Queue(k int) string { return o.problem.Model.Checked.Events[o.events[k]].Name }

// Run implements orbit.Runner.
func (o *cycle) Run(n int, from *orbit.Border) (*orbit.Border, error) {
	o.n, o.from = n, from
	return o.end, o.make(o.leg)
}

// Slopes implements orbit.Runner.
func (o *cycle) Slopes() ([]float64, error) {
	_, byStart, err := o.moves(byTangent, min(o.from.Len(), 8))
	return byStart, err
}

// make makes the run of a leg, and finds its end.
func (o *cycle) make(l *leg) error {
	if err := l.record(); err != nil {
		if e, is := err.(*steady.Error); is {
			return e
		}
		return &steady.Error{Fault: steady.Broken, Cause: err}
	}
	var r record.Reader
	r.Open(context.Background(), &l.run)
	b, timed := &orbit.Border{}, slices.Clone(l.from.Timed)
	if len(o.d) > 0 {
		b.Sizes = make([]float64, len(o.d))
	}
	var m solvers.Mark
	last, tol := l.run.Marks()-1, float64(orbit.Close*(l.run.Ends()-l.run.Begins()))
	var first []int // events by conditions at the start
	for i := range l.run.Marks() {
		if i < last && len(o.d) == 0 {
			l.run.PeekMark(i, &m)
		} else if _, _, err := r.LoadMark(i, &m); err != nil {
			return &steady.Error{Fault: steady.Broken, Cause: err}
		}
		for k, x := range m.Dp[:min(len(b.Sizes), len(m.Dp))] {
			if x < solvers.Never {
				b.Sizes[k] = max(b.Sizes[k], math.Abs(x))
			}
		}
		if m.Kind != solvers.MarkFire {
			continue
		}
		if m.Guard >= 0 && m.T-l.run.Begins() <= tol {
			first = append(first, m.Firing.Event)
		}
		e := o.problem.Model.Checked.Events[m.Firing.Event]
		switch {
		case m.Stop:
			return orbit.Unrepeated("event %s stops the run within the period; leave `stop` out of it", e.Name)
		case m.Guard >= 0 && l.run.Ends()-m.T <= tol && slices.Contains(first, m.Firing.Event):
			return orbit.Unrepeated("event %s happens by its condition where a period begins and where it ends, "+
				"so which "+
				"of them it belongs to is not clear; let the time span begin elsewhere", e.Name)
		case e.Once && l.n+l.later > 0:
			return orbit.Unrepeated("event %s happens once in a run, and would have to happen in each period; leave "+
				"`once` out, or put it into a run of its own", e.Name)
		}
		if err := o.fired(&m, timed); err != nil {
			return &steady.Error{Fault: steady.Broken, Cause: err}
		}
	}
	l.end = b
	b.Y = slices.Clone(m.Yp)
	b.Turn(m.Dp, timed, o.queues, l.run.Begins(), l.run.Ends()-l.run.Begins())
	for i, is := range o.assigned {
		switch {
		case o.inert[i]:
			b.D[i], b.Timed[i] = l.from.D[i], l.from.Timed[i]
		case is && !slices.Contains(b.Set, i):
			b.Active = append(b.Active, i)
		}
		if b.Timed[i] && l.later > 0 {
			b.D[i] -= l.run.Begins() - l.t
		}
	}
	return nil
}

// fired notes what the body of m assigns, and which discretes hold times after it: those that move as much as time,
// when the times of everything move.
func (o *cycle) fired(m *solvers.Mark, timed []bool) error {
	if len(o.d) == 0 {
		return nil
	}
	if o.flags == nil {
		k, err := o.problem.Kit(1, compiled.PushElements, false)
		if err != nil {
			return err
		}
		o.flags = o.problem.Worker(k)
		o.flags.SetTangent(make([]float64, o.problem.Plan.Width))
	}
	w := o.flags
	body := w.Primals.List(tapec.PartAffects)[m.Firing.Event]
	if body == nil {
		return nil
	}
	time := slices.Contains(timed, true)
	for _, b := range body.Ins {
		time = time || b.Vec == vec.T
	}
	for _, b := range body.Outs {
		if b.Vec == vec.D {
			for i := b.Lo; i < b.Hi; i++ {
				o.assigned[i] = true
			}
		}
	}
	if !time {
		return nil
	}
	n, d := len(m.Ym), len(m.Dm)
	before, yd, dd := make([]float64, d), make([]float64, n), make([]float64, d)
	for i, is := range timed {
		if is {
			before[i] = 1
		}
	}
	w.Enter(m.Dm, m.Mm)
	w.assignPush(m.Firing, m.T, m.Ym, m.Dm, []float64{1}, make([]float64, n), before, yd, dd)
	for i, x := range dd {
		timed[i] = math.Abs(x-1) <= orbit.Close
	}
	return nil
}

// sizes returns the largest values of states at the ends of steps.
func (l *leg) sizes() ([]float64, error) {
	var r record.Reader
	r.Open(context.Background(), &l.run)
	var st solvers.Step
	sizes := make([]float64, len(l.end.Y))
	for i := range l.run.Steps() {
		if _, err := r.Load(i, &st); err != nil {
			return nil, &steady.Error{Fault: steady.Broken, Cause: err}
		}
		for k, x := range st.Y1 {
			sizes[k] = max(sizes[k], math.Abs(x))
		}
	}
	return sizes, nil
}

// shoot finds the periodic steady state that a run from y with discretes d leads to. A warm search begins at from,
// a periodic state for other values; where that does not lead to one at once, it fails.
func (p *Problem) shoot(f solvers.Firing, t float64, y, d, from []float64) (*cycle, error) {
	o, start := p.newCycle(f, t, y, d)
	if from != nil {
		copy(start.Y, from)
	}
	k, err := p.Kit(1, compiled.Values, false)
	if err != nil {
		return nil, err
	}
	w := p.Worker(k)
	times := w.Times(d)
	options := orbit.Options{
		RTol: p.Steady.RTol, ATol: p.Steady.ATol, Period: times[w.flights.Period],
		Near: from != nil,
	}
	options.Late = w.flights.Late()
	if o.orbit, err = orbit.Find(o, start, options); err != nil {
		return nil, err
	}
	sure := &leg{problem: p, firing: f, t: t, n: options.Late, from: o.orbit.Border, later: options.Late + 1}
	if err := o.make(sure); err != nil {
		return nil, err
	}
	sizes, err := sure.sizes()
	if err != nil {
		return nil, err
	}
	if err := orbit.Certify(o, o.orbit.Border, sure.end, sizes, options); err != nil {
		return nil, err
	}
	o.sure, o.sizes = sure, sizes
	o.state = &steady.State{
		Y: o.orbit.Border.Y, D: o.orbit.Border.D, Periods: o.orbit.Periods,
		Slowest: o.orbit.Largest,
	}
	return o, nil
}

// orbit returns the periodic steady state that a run from y with discretes d leads to.
func (p *Problem) orbit(f solvers.Firing, t float64, y, d []float64) (*cycle, error) {
	s := &p.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.orbit; o != nil && o.version == p.Point.Version && o.t == t && slices.Equal(o.d, d) {
		s.err = nil
		return o, nil
	}
	near := s.near
	if s.orbit != nil {
		near = s.orbit.near()
	}
	var o *cycle
	err := error(nil)
	done := result.SteadyWork{Searches: 1}
	if p.Warm && p.Steady.Way != steady.Run && len(near) == len(y) {
		if o, err = p.shoot(f, t, y, d, near); err == nil {
			o.state.Warm, done.Warm = true, 1
		}
	}
	if o == nil || err != nil {
		o, err = p.shoot(f, t, y, d, nil)
	}
	if err != nil && s.context().Err() != nil { // whatever ended first
		err = s.context().Err()
	}
	if s.err = err; err != nil {
		return nil, err
	}
	done.Periods = o.state.Periods
	p.Answers.count(done)
	s.orbit = o
	return o, nil
}

// near returns where a warm search may begin; nil for nowhere.
func (o *cycle) near() []float64 {
	if len(o.orbit.Border.Active) > 0 {
		return nil
	}
	return o.state.Y
}

// history calls do with the legs of the run from its start to where the elements that the map keeps became what they
// stay.
func (o *cycle) history(do func(l *leg) error) error {
	from := o.orbit.Start
	for n := range o.orbit.Past {
		l := &leg{problem: o.problem, firing: o.firing, t: o.t, n: n, from: from, origin: n == 0}
		if err := o.make(l); err != nil {
			return err
		}
		if err := do(l); err != nil {
			return err
		}
		from = l.end
	}
	return nil
}

// slopes returns the derivatives of the periodic steady state by the active params, [n][P] of the elements of its
// border.
func (p *Problem) slopes(o *cycle, way string, lanes int) []float64 {
	s := &p.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := o.by[way]; x != nil {
		return x
	}
	n, width := o.from.Len(), p.Plan.Width
	byParams, byStart, err := o.moves(way, lanes)
	if err == nil {
		o.orbit.Refuse(byParams, width)
		err = o.refuse(byParams)
	}
	if err == nil {
		err = o.stray(byParams)
	}
	if err == nil {
		var past []float64
		err = o.history(func(l *leg) error {
			direct, start, err := l.moves(way, lanes)
			past = orbit.Through(past, direct, start, width)
			return err
		})
		if err == nil {
			err = o.orbit.Close(byParams, past, byStart, width)
		}
	}
	if err != nil {
		byParams = slices.Repeat([]float64{math.NaN()}, n*width)
	}
	if s.context().Err() != nil { // nobody reads them
		return byParams
	}
	o.by[way] = byParams
	return byParams
}

// timeSlope returns the derivatives of the time of instant i.
func (w *Worker) timeSlope(i int) []float64 {
	row := make([]float64, w.problem.Plan.Width)
	w.Begin([][]float64{row})
	w.InstantPull(i, []float64{1})
	w.Finish()
	return row
}

// refuse makes derivatives by params NaN that move the period and those of events apart: where these do not come at
// equal times in each period, no state repeats.
func (o *cycle) refuse(byParams []float64) error {
	const least = 1e-9
	p := o.problem
	k, err := p.Kit(1, compiled.Pull, false)
	if err != nil {
		return err
	}
	w, width := p.Worker(k), p.Plan.Width
	w.Times(o.from.D)
	slope := func(i int) []float64 { return w.timeSlope(i) }
	whole := slope(w.flights.Period)
	for i, c := range w.flights.Courses {
		if c.Fit != orbit.Always || w.Instants()[i].Kind != solvers.InstantEvery {
			continue
		}
		for j, x := range slope(w.Instants()[i].Period) {
			if x *= float64(c.Count); math.Abs(x-whole[j]) <= float64(least*math.Abs(x)) {
				continue
			}
			for r := range len(byParams) / width {
				byParams[r*width+j] = math.NaN()
			}
		}
	}
	return nil
}
