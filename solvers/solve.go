package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/base/sizes"
)

// Solver integrates a System from its t0 to its tf, or to an event that stops the run. It owns all work space: a
// second run allocates nothing but what sinks, warnings and errors need. It belongs to one goroutine.
type Solver struct {
	sys    System
	sight  sight
	method Method
	solves Implicit   // the present member of the method, where its steps solve equations; otherwise nil
	ctl    Controller // nil in fixed-step mode
	opts   Options
	tol    leeway
	size   Size

	members []Info // of the method's members
	member  int    // that makes the steps now
	info    Info   // of it

	guards []Guard
	events []Event
	base   []int // first history of an event's elements; those of mode guards follow
	hist   []history
	sched  schedule

	sink  Sink
	mark  Mark
	stats Stats

	// The present: time, the step to try, discretes, modes. The state is trial.Y0.
	t, h     float64
	y        []float64 // trial.Y0
	d, m     []float64
	span     float64 // tf - t0
	fresh    bool    // row 0 of trial.K is f(t, y)
	again    bool    // the last step that was tried began here, in this field
	restart  bool    // the run begins here, or a body was applied here
	cut      float64 // length that the next trial step must not exceed; 0: any
	anchor   float64 // in fixed-step mode, where equal steps are counted from
	count    int     // the steps since then
	done     bool
	tiedTo   bool // the present time is that of a fixed instant
	lastTime float64

	inner     []int  // sites within the trial step
	lastFired Firing // its Event is -1 before the first one

	lane               *lane // where the run is made beside others; nil for one that is made alone
	trial, kept, spare *Step
	lender             Lender    // nil for none
	lent               bool      // trial.K and trial.Y1 are the lender's
	own, ownY          []float64 // the solver's own trial.K and trial.Y1 meanwhile
	away               bool      // trial.Y0 is the lender's
	home               []float64 // the solver's own trial.Y0 meanwhile
	slopeAway          []float64 // f(t, y) in memory of the lender; nil: in trial.K
	err                []float64 // [N+Q]
	work               []float64 // [2N+Q]

	algebra   algebra
	choice    choice
	worked    ImplicitWork // before this run
	stiff     stiffness
	spectrum  spectrum
	longest   float64 // stable step
	integrals quadratures
	clock     clock
	traces    sizes.Traces
	guardState
	groupState
}

// NewSolver returns a solver of sys. With opts.Fixed zero, the method must have an error estimate and ctl must not be
// nil.
func NewSolver(sys System, method Method, ctl Controller, opts Options) *Solver {
	members := Members(method)
	z, info := sys.Size(), members[0].Info()
	s := &Solver{
		sys: sys, method: method, ctl: ctl, opts: opts.withDefaults(), size: z, info: info,
		guards: sys.Guards(), events: sys.Events(),
		d: make([]float64, z.D), m: make([]float64, z.M),
		trial: NewStep(info, z),
		err:   make([]float64, z.N+z.Q), work: make([]float64, 2*z.N+z.Q),
	}
	for _, m := range members {
		s.members = append(s.members, m.Info())
	}
	s.stats.Made = make([]int, len(members))
	if c, ok := sys.(Clock); ok && len(s.guards) > 0 && c.Clocks() > 0 {
		s.clock.sys = c
	}
	s.sight = newSight(sys, s.members)
	s.sight.lagged, _ = sys.(Lagged)
	s.y = s.trial.Y0
	s.tol.follow(&s.opts, sys)
	s.tol.TakeMost(method)
	s.choice = newChoice(sys, method, &s.tol.Tolerance, s.opts.Explicit)
	if s.opts.Fixed == 0 && (!s.choice.kinds || s.opts.Explicit) { // otherwise another member is for stiffness
		s.stiff.method = s.choice.wide(0)
	}
	s.spectrum = newSpectrum(sys, s.choice.wide(0), &s.opts, &s.tol.Tolerance, z)
	s.integrals = newQuadratures(&s.opts, z)
	s.sched = newSchedule(sys.Instants(), s.events)
	s.sched.inside = s.opts.inside(s.sched.list, s.members)
	n := 0
	for _, e := range s.events {
		s.base = append(s.base, n)
		n += e.Elems
	}
	s.hist = make([]history, n+len(s.guards))
	s.guardState = newGuardState(s.guards, s.members, z)
	if len(s.guards) > 0 {
		s.boxes = newEnclosures(sys, s.members)
	}
	s.groupState = newGroupState(z)
	s.slots = make([]int, len(s.events))
	for e := range s.events {
		s.transient = s.transient || s.events[e].Transient
		s.varies = s.varies || s.events[e].Varies
		if s.events[e].Slots > 0 {
			if s.triggered == nil {
				s.triggered = make([]int, len(s.sched.list))
			}
			s.slots[e] = slices.IndexFunc(s.sched.list, func(in Instant) bool {
				return in.Pending && in.Event == s.events[e].Then
			})
		}
	}
	if s.varies {
		s.priorities = make([]float64, n)
	}
	return s
}

// Solve integrates sys once with a new Solver.
func Solve(ctx context.Context, sys System, method Method, ctl Controller, opts Options, sink Sink) (Stats, error) {
	return NewSolver(sys, method, ctl, opts).Solve(ctx, sink)
}

// Solve integrates the system and passes what happens on to sink. Errors are of the types of this package that end in
// Error, or come from the sink. The statistics are valid also with an error. The next Solve overwrites
// Stats.Warnings.
func (s *Solver) Solve(ctx context.Context, sink Sink) (Stats, error) {
	s.sink = sink
	err := s.begin()
	for err == nil && !s.done {
		if cause := ctx.Err(); cause != nil {
			err = &CancelledError{Place: s.place(nil), Cause: cause}
			break
		}
		err = s.step()
	}
	if conclude(s, err == nil); err != nil {
		return s.stats, s.placed(err)
	}
	return s.stats, nil
}

// conclude completes what there is to tell of a run that has ended, well or not.
func conclude(s *Solver, well bool) {
	s.stats.T = s.t
	s.stats.Warnings = append(s.stats.Warnings, s.tol.told(s.t)...)
	s.stats.ImplicitWork = s.implicitWork().minus(s.worked)
	s.stats.Evals += s.stats.Further
	if !well {
		return
	}
	s.never()
	if len(s.stats.Ties)+len(s.stats.Meetings)+len(s.stats.Bends) > 0 {
		s.stats.Fired = s.everFired()
	}
}

// everFired tells of each event whether it fired.
func (s *Solver) everFired() []bool {
	list := make([]bool, len(s.events))
	for e := range s.events {
		for k := range s.events[e].Elems {
			list[e] = list[e] || s.historyAt(Firing{Event: e, Elem: k}).count > 0
		}
	}
	return list
}

// implicitWork returns what the implicit members of the method did so far, in all runs.
func (s *Solver) implicitWork() (w ImplicitWork) {
	for _, m := range s.choice.members {
		if m, ok := m.(Implicit); ok {
			w = w.plus(m.Work())
		}
	}
	return w
}

// placed fills in the place of an error of a sink.
func (s *Solver) placed(err error) error {
	var full *MemoryError
	if errors.As(err, &full) && full.Y == nil {
		full.Place = s.place(nil)
	}
	return err
}

// reset forgets the run before.
func (s *Solver) reset() {
	s.stats = Stats{Warnings: s.stats.Warnings[:0], Made: s.stats.Made}
	clear(s.stats.Made)
	s.worked = s.implicitWork()
	s.recall()
	clear(s.hist)
	clear(s.d)
	clear(s.m)
	clear(s.err)
	s.h, s.fresh, s.restart, s.done, s.tiedTo = 0, false, true, false, false
	s.lastFired, s.lastTime, s.cut = Firing{Event: -1}, 0, 0
	s.inner = s.inner[:0]
	s.clock.unknown, s.clock.near, s.clock.past, s.clock.vain = true, math.Inf(1), math.Inf(-1), history{}
	s.sight.warned, s.sight.until, s.sight.near = false, math.Inf(-1), 0
	s.starting = s.starting[:0]
	s.fired, s.was.fired, s.lastSite = s.fired[:0], s.was.fired[:0], s.lastSite[:0]
	s.stiff.reset()
	s.integrals.reset()
	if s.tol.sizes != nil {
		s.tol.sizes.Reset()
	}
	s.traces.Reset(s.size.N)
	s.spectrum.reset()
	s.longest = math.Inf(1)
	s.choice.reset()
	s.use(0)
	if s.ctl != nil {
		s.ctl.Reset(s.info)
	}
	s.again = false
}

// begin sets everything up for the start of a run and handles what happens there.
func (s *Solver) begin() error {
	s.reset()
	s.tol.claim(s.sys, true)
	if s.opts.Fixed == 0 && (s.info.Embedded == 0 || s.ctl == nil) {
		return fmt.Errorf("method %s has no error estimate to choose steps by; set fixed_step, or take another method",
			s.info.Name)
	}
	if s.solves != nil {
		if err := s.solves.Prepare(s.sys); err != nil {
			return err
		}
	}
	if err := s.algebra.ready(s.sys, s.size); err != nil {
		return err
	}
	s.sys.InstantTimes(s.d, s.sched.times)
	s.t = s.sched.times[0]
	if !finite(s.sched.times[:1]) {
		return &TimeError{Instant: 0, Value: s.t, Message: fmt.Sprintf("the run begins at %v; give a finite time", s.t)}
	}
	s.sys.Start(s.t, s.y, s.d)
	if !finite(s.y) || !finite(s.d) {
		return &NonFiniteError{Place: s.place(nil), What: "the initial state", Stage: -1}
	}
	s.sys.Enter(s.d, s.m)
	s.sys.Choose(s.t, s.y, nil, s.m)
	s.sys.Enter(s.d, s.m)
	if err := s.consist(nil); err != nil {
		return err
	}
	note := func(i int, t float64) {
		if s.sched.knot(i) || s.sched.list[i].Pending {
			return
		}
		s.warn(Warning{Kind: Outside, T: s.t, Name: s.sched.name(i), Instant: i, Value: t})
	}
	if err := s.sched.start(s.sys, s.d, s.t, s.eventTol(s.t, 0), note); err != nil {
		return err
	}
	s.unopened()
	switch tf := s.sched.times[1]; {
	case !finite(s.sched.times[1:2]):
		return &TimeError{Instant: 1, Value: tf, Message: fmt.Sprintf("the run ends at %v; give a finite time", tf)}
	case tf < s.t:
		what := fmt.Sprintf("the run ends at %v, before it begins at %v; runs go forward in time", tf, s.t)
		return &TimeError{Instant: 1, Value: tf, Message: what}
	}
	s.span = s.sched.times[1] - s.t
	s.anchor, s.count = s.t, 0
	s.tiedTo = s.sched.list[0].Fixed
	if err := s.sink.Begin(s.sys, s.method); err != nil {
		return err
	}
	if s.sight.lagged != nil {
		if err := s.sight.lagged.Opens(s.method, s.t, s.y); err != nil {
			return err
		}
	}
	s.lender = nil
	if len(s.guards) == 0 && s.sight.lagged == nil { // with guards, steps are retaken and several are under way at once
		if l, ok := s.sink.(Lender); ok && l.Lends() {
			s.lender = l
		}
	}
	s.mark = Mark{Kind: MarkStart, T: s.t, Guard: -1, Instant: 0}
	if err := s.emit(s.y, s.d, s.m); err != nil {
		return err
	}
	if err := s.arm(); err != nil {
		return err
	}
	at := s.sched.next()
	if i := s.sched.site(); i >= 0 {
		at = min(at, s.sched.times[i])
	}
	if at <= s.t+s.eventTol(s.t, 0) || len(s.starting) > 0 {
		return s.meet(false)
	}
	return nil
}

// unopened gives windows that open or close at the start the modes of before it, so that what happens there changes
// them as it does at any other time, and derivatives by their bounds have two limits. Where start and bound are fixed
// there are no such derivatives.
func (s *Solver) unopened() {
	until, some := s.t+s.eventTol(s.t, 0), false
	for _, opens := range [2]bool{false, true} { // what does both is shut
		before := 1.0
		if opens {
			before = 0
		}
		for i := range s.sched.list {
			in := &s.sched.list[i]
			if in.Kind != InstantRemode || in.Opens != opens || s.sched.came[i] || !(s.sched.times[i] <= until) ||
				in.Fixed && s.sched.list[0].Fixed {
				continue
			}
			for _, k := range in.Modes {
				s.m[k], some = before, true
			}
		}
	}
	if some {
		s.sys.Enter(s.d, s.m)
	}
}

// emit hands s.mark to the sink, with the left limits y, d, m; the right limits are the present.
func (s *Solver) emit(y, d, m []float64) error {
	s.mark.Ym, s.mark.Dm, s.mark.Mm = y, d, m
	s.mark.Yp, s.mark.Dp, s.mark.Mp = s.y, s.d, s.m
	if s.sight.lagged != nil {
		if err := s.sight.lagged.Marked(&s.mark); err != nil {
			return err
		}
	}
	return s.sink.Mark(&s.mark)
}

// lastEvent returns the name of the event that fired last; "" for none.
func (s *Solver) lastEvent() string {
	if s.lastFired.Event < 0 {
		return ""
	}
	return s.events[s.lastFired.Event].ElemName(s.lastFired.Elem)
}

// warns reports whether anybody asks for warnings. Of runs side by side nobody does, unless LaneUse.Tell is set, and
// what only warnings tell is not looked for there.
func (s *Solver) warns() bool { return s.lane == nil || s.lane.tells }

// warn keeps a warning. One tie between the same two events is enough, and so is one time that is set into the past.
func (s *Solver) warn(w Warning) {
	switch w.Kind {
	case Tie, OneSided, Together, Past, Hidden, Disputed, Drift, Brink, NearMiss, Unseen, Unresolved,
		Skirted:
		for _, o := range s.stats.Warnings {
			if o.Kind == w.Kind && o.Name == w.Name && o.Other == w.Other {
				return
			}
		}
	}
	s.stats.Warnings = append(s.stats.Warnings, w)
}

// never warns of what did not happen: events whose conditions held from the start on, and times that did not come
// because they lie after the end.
func (s *Solver) never() {
	s.standing()
	if s.stats.Stopped {
		return
	}
	for i := range s.sched.list {
		if t := s.sched.times[i]; s.sched.single(i) && i != 1 && !s.sched.came[i] &&
			!s.sched.knot(i) && t < math.Inf(1) && !s.sched.list[i].Pending {
			s.warn(Warning{Kind: Outside, T: s.t, Name: s.sched.name(i), Instant: i, Value: t})
		}
	}
}

// standing warns of events of which all elements held at the start and have not fired: they have held since, or have
// become false and never true again. What began on its threshold is a matter of ties.
func (s *Solver) standing() {
	if !(s.t > s.sched.times[InstantStart]) {
		return
	}
	waits, ended := make([]bool, len(s.events)), make([]bool, len(s.events)) // waits: for more, or has fired
	for i := range s.guards {
		g := &s.guards[i]
		if g.Event < 0 {
			continue
		}
		a := &s.arms[i]
		if g.Watch || g.twoSided() || !a.held || s.historyOf(i).count > 0 || a.edge {
			waits[g.Event] = true
		}
		ended[g.Event] = ended[g.Event] || a.on || !s.truth[i]
	}
	for _, g := range s.guards {
		if g.Event >= 0 && !waits[g.Event] {
			waits[g.Event] = true
			w := Warning{Kind: Standing, T: s.t, Name: s.events[g.Event].Name, Instant: -1}
			if ended[g.Event] {
				w.Kind = Ended
			}
			if w.Kind == Standing || !s.stats.Stopped {
				s.warn(w)
			}
		}
	}
}

// eventTol returns the distance in time within which events are simultaneous at t, after a step of length h.
func (s *Solver) eventTol(t, h float64) float64 {
	if s.opts.EventTol > 0 {
		return s.opts.EventTol
	}
	return float64(10 * ulp(max(math.Abs(t), h)))
}

// step makes one trial step, and with it what happens at its end.
func (s *Solver) step() error {
	if s.stats.Steps+s.stats.Rejected >= s.opts.MaxSteps {
		return &TooManyStepsError{Place: s.place(nil), Max: s.opts.MaxSteps, Matrix: s.choice.refused}
	}
	if s.restart || s.h == 0 {
		s.settleSlope()
		if err := s.first(); err != nil {
			return err
		}
	}
	switch {
	case s.choice.turns > 0:
		s.turn()
	case s.choice.orders:
		s.climb()
	}
	tr, stop := s.trial, s.sched.next()
	if s.clock.sys != nil {
		var err error
		if stop, err = s.stop(stop); err != nil {
			return err
		}
	}
	if s.spectrum.reach > 0 {
		if err := s.stay(stop); err != nil {
			return err
		}
	}
	clipped, err := aimed(s, tr, stop)
	if err != nil {
		return err
	}
	if s.sight.signals != nil && s.shorten(tr) {
		clipped = false
	}
	s.ready(tr)
	if s.lender != nil && !s.lent {
		s.borrow(tr)
	}
	tr.Again = s.again
	s.method.Step(s.sys, tr, s.fresh)
	s.again = true
	s.stats.Evals += s.info.evals(s.fresh)
	s.fresh = true
	switch ok, err := s.judge(tr); {
	case err != nil:
		return err
	case !ok, remade(s, tr):
		return nil
	}
	located := false
	if len(s.guards) > 0 {
		switch verdict, err := s.watch(); {
		case err != nil:
			return err
		case verdict == retry:
			return nil
		case verdict == found:
			located = true
			clipped = s.trial.T1 == tr.T1 && clipped
		}
	}
	s.stats.Steps++
	if s.opts.Fixed > 0 {
		if s.spectrum.tooLong(s.trial.H) {
			s.warn(Warning{Kind: Unstable, T: s.t, Instant: -1, Value: s.spectrum.rho})
		}
	} else if s.stiff.look(s.trial, &s.spectrum) {
		s.warn(Warning{Kind: Stiff, T: s.t, Instant: -1, Value: s.stiff.rate})
	}
	if len(s.flips) > 0 {
		s.inStep()
	}
	if located || clipped {
		s.within(true)
		return s.meet(true)
	}
	s.within(false)
	return passes(s)
}

// within takes the sites that lie in the trial step. Where something happens at its end, those there are left.
func (s *Solver) within(happens bool) {
	if s.sched.site() < 0 {
		return
	}
	limit := math.Inf(1)
	if happens {
		limit = s.trial.T1 - s.eventTol(s.trial.T1, s.trial.H)
	}
	for i := s.sched.site(); i >= 0 && s.sched.times[i] <= s.trial.T1 && s.sched.times[i] < limit; i = s.sched.site() {
		s.inner = append(s.inner, s.sched.takeSite())
	}
}

// read reads the sites within the trial step.
func (s *Solver) read(tr *Step) error {
	for _, i := range s.inner {
		at := s.sched.times[i]
		s.noteRead(at, i)
		theta := min(max((at-tr.T)/tr.H, 0), 1)
		s.interpolate(tr, theta)
		s.mark = Mark{Kind: MarkSite, T: at, Guard: -1, Instant: i, Inside: true, Theta: theta}
		s.mark.Ym, s.mark.Dm, s.mark.Mm = s.yi, s.d, s.m
		s.mark.Yp, s.mark.Dp, s.mark.Mp = s.yi, s.d, s.m
		if err := s.sink.Mark(&s.mark); err != nil {
			return err
		}
	}
	s.inner = s.inner[:0]
	return nil
}

// accept hands the trial step to the sink and moves on to its end.
func (s *Solver) accept(e End) error {
	tr := s.trial
	s.again = false
	s.stats.Made[s.member]++
	broke := BrokeNothing
	if s.sight.lagged != nil { // first, since it makes the rows of the dense output
		var err error
		if broke, err = s.sight.lagged.Made(tr, e); err != nil {
			return err
		}
	}
	if err := s.sink.Step(tr, e); err != nil {
		return err
	}
	if len(s.inner) > 0 {
		if s.lent { // the dense output needs its rows of K
			copy(s.own, tr.K)
			copy(s.ownY, tr.Y1)
			s.giveBack(tr)
		}
		if err := s.read(tr); err != nil {
			return err
		}
	}
	s.integrals.add(tr)
	s.tol.accepted(s, tr)
	s.t = tr.T1
	if s.count++; e.Kind != EndFree || s.cut > 0 || broke > BrokeNothing {
		s.anchor, s.count, s.cut = s.t, 0, 0
	}
	f := s.slope(tr)
	if broke > BrokeNothing {
		f = nil
	}
	s.sight.turned = broke == BrokeConditions
	s.fresh = f != nil
	s.advance(tr, f)
	s.tiedTo = e.Kind == EndClip && s.sched.list[e.Index].Fixed
	return nil
}

// Stats returns what the last run did.
func (s *Solver) Stats() Stats { return s.stats }
