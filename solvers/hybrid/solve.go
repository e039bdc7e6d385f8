// Package hybrid runs systems with events: a Solver integrates a solvers.System with a method under a Controller and
// passes what happens on to a solvers.Sink. Lanes makes runs of one system side by side.
//
// A run is a loop of trial steps (solve.go, trial.go), whose lengths controllers (controller.go), stability
// (spectral.go) and the schedule of explicit times (schedule.go) choose. What guards wait for is in guards.go; they are
// watched within each step (watch.go, uneventful.go, with package roots), which ends where the first of them fires
// (locate.go). What comes at one time is a group (group.go). What is told of groups whose order matters is in
// junction.go and meetings.go.
package hybrid

import (
	"context"
	"errors"
	"fmt"
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/base/sizes"
	"odes.dev/odes/solvers"
)

// Solver integrates a System from its t0 to its tf, or to an event that stops the run. It owns all work space: a
// second run allocates nothing but what sinks, warnings and errors need. It belongs to one goroutine.
//
// What a run is made of are parts, each a type with its own methods. They share what they know by pointers to the data
// of each other, never to the Solver: the loop, which is the Solver's, is what asks them in turn.
type Solver struct {
	problem
	moment
	told
	firings
	stepper
	readings
	armed
	group

	sight     sight
	tol       leeway
	bounds    bounds
	sched     schedule
	choice    choice
	integrals quadratures
	clock     clock
	traces    sizes.Traces

	watch     watcher
	near      vicinity
	meets     meetings
	junctions junctions
}

// problem is what a Solver solves, and how.
type problem struct {
	sys    solvers.System
	opts   solvers.Options
	size   solvers.Size
	guards []solvers.Guard
	events []solvers.Event
}

// moment is the present of a run: the time, the step to try, discretes, modes. The state is trial.Y0.
type moment struct {
	t, h    float64
	y       []float64 // trial.Y0
	d, m    []float64
	span    float64 // tf - t0
	fresh   bool    // row 0 of trial.K is f(t, y)
	again   bool    // the last step that was tried began here, in this field
	restart bool    // the run begins here, or a body was applied here
	cut     float64 // length that the next trial step must not exceed; 0: any
	anchor  float64 // in fixed-step mode, where equal steps are counted from
	count   int     // the steps since then
	done    bool
	tiedTo  bool // the present time is that of a fixed instant
}

// bounds are what stability allows steps.
type bounds struct {
	stiff    stiffness
	spectrum spectrum
	longest  float64 // stable step
}

// reset forgets the run before.
func (b *bounds) reset() {
	b.stiff.reset()
	b.spectrum.reset()
	b.longest = math.Inf(1)
}

// told is what a run says: to the sink and in its statistics.
type told struct {
	sink  solvers.Sink
	mark  solvers.Mark
	stats solvers.Stats
	quiet bool // nobody asks for warnings
}

// NewSolver returns a solver of sys. With opts.Fixed zero, the method must have an error estimate and ctl must not be
// nil.
func NewSolver(sys solvers.System, method solvers.Method, ctl Controller, opts solvers.Options) *Solver {
	z := sys.Size()
	s := &Solver{
		problem: problem{sys: sys, opts: withDefaults(opts), size: z, guards: sys.Guards(), events: sys.Events()},
		moment:  moment{d: make([]float64, z.D), m: make([]float64, z.M)},
	}
	s.stepper = newStepper(&s.problem, &s.moment, &s.told, method, ctl)
	s.y = s.trial.Y0
	s.stats.Made = make([]int, len(s.members))
	s.sight = newSight(sys, s.members)
	s.sight.lagged, _ = sys.(solvers.Lagged)
	s.sight.remakes = s.sight.narrow != nil || s.sight.lagged != nil
	s.tol.follow(&s.opts, sys)
	s.tol.TakeMost(method)
	s.choice = newChoice(sys, method, &s.tol.Tolerance, s.opts.Explicit)
	if s.opts.Fixed == 0 && (!s.choice.kinds || s.opts.Explicit) { // otherwise another member is for stiffness
		s.bounds.stiff.method = s.choice.wide(0)
	}
	s.bounds.spectrum = newSpectrum(sys, s.choice.wide(0), &s.opts, &s.tol.Tolerance, z)
	s.integrals = newQuadratures(&s.opts, z)
	s.sched = newSchedule(sys.Instants(), s.events)
	s.sched.inside = sitesInside(&s.opts, s.sched.list, s.members)
	s.firings = newFirings(&s.problem)
	s.readings = newReadings(len(s.guards))
	s.clock = newClock(s)
	s.armed = newArmed(s)
	s.group = newGroup(s)
	s.near = vicinity{&s.problem, &s.moment, &s.trials, &s.readings, &s.sched, &s.tol}
	s.watch.wire(s)
	s.meets = meetings{
		problem: &s.problem, moment: &s.moment, trials: &s.trials, told: &s.told, readings: &s.readings,
		armed: &s.armed, firings: &s.firings, vicinity: &s.near, group: &s.group, sched: &s.sched,
	}
	s.junctions = junctions{
		problem: &s.problem, moment: &s.moment, told: &s.told, stepper: &s.stepper, group: &s.group, sched: &s.sched,
		meets: &s.meets,
	}
	return s
}

// Solve integrates sys once with a new Solver.
func Solve(
	ctx context.Context, sys solvers.System, method solvers.Method, ctl Controller, opts solvers.Options,
	sink solvers.Sink,
) (solvers.Stats, error) {
	return NewSolver(sys, method, ctl, opts).Solve(ctx, sink)
}

// Solve integrates the system and passes what happens on to sink. Errors are of the types of this package that end in
// Error, or come from the sink. The statistics are valid also with an error. The next Solve overwrites
// Stats.Warnings.
func (s *Solver) Solve(ctx context.Context, sink solvers.Sink) (solvers.Stats, error) {
	s.sink = sink
	err := s.begin()
	var cause error
	for err == nil && !s.done {
		if cause = ctx.Err(); cause != nil {
			break
		}
		err = s.step()
	}
	// Rates that are given up when ctx ends are no numbers, and errors that follow from that tell nothing.
	if err != nil {
		cause = ctx.Err()
	}
	if cause != nil && !s.done {
		err = &solvers.CancelledError{Place: s.place(nil), Cause: cause}
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
	s.stats.ImplicitWork = s.implicitWork().Minus(s.worked)
	s.stats.Evals += s.stats.Further
	if !well {
		return
	}
	s.never()
	if len(s.stats.Meetings)+len(s.stats.Bends) > 0 {
		s.stats.Fired = s.everFired()
	}
}

// implicitWork returns what the implicit members of the method did so far, in all runs.
func (s *Solver) implicitWork() (w solvers.ImplicitWork) {
	for _, m := range s.choice.members {
		if m, ok := m.(solvers.Implicit); ok {
			w = w.Plus(m.Work())
		}
	}
	return w
}

// placed fills in the place of an error of a sink.
func (s *Solver) placed(err error) error {
	var full interface {
		error
		At() *solvers.Place
	}
	if errors.As(err, &full) && full.At().Y == nil {
		*full.At() = s.place(nil)
	}
	return err
}

// reset forgets the run before.
func (s *Solver) reset() {
	s.stats = solvers.Stats{
		Warnings: s.stats.Warnings[:0], Meetings: s.stats.Meetings[:0], Bends: s.stats.Bends[:0], Made: s.stats.Made,
	}
	clear(s.stats.Made)
	s.worked = s.implicitWork()
	s.y = s.loan.recall(s.trial, s.y)
	clear(s.d)
	clear(s.m)
	clear(s.err)
	s.h, s.fresh, s.restart, s.done, s.tiedTo = 0, false, true, false, false
	s.forget()
	s.cut = 0
	s.inner = s.inner[:0]
	s.clock.begin()
	s.sight.warned, s.sight.until, s.sight.near = false, math.Inf(-1), 0
	s.starting = s.starting[:0]
	s.fired = s.fired[:0]
	s.meets.forget()
	s.bounds.reset()
	s.integrals.reset()
	if s.tol.sizes != nil {
		s.tol.sizes.Reset()
	}
	s.traces.Reset(s.size.N)
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
	if !simd.Finite(s.sched.times[:1]) {
		return &solvers.TimeError{
			Instant: 0, Value: s.t,
			Message: fmt.Sprintf("the run begins at %v; give a finite time", s.t),
		}
	}
	s.sys.Start(s.t, s.y, s.d)
	if !simd.Finite(s.y) || !simd.Finite(s.d) {
		return &solvers.NonFiniteError{Place: s.place(nil), What: "the initial state", Stage: -1}
	}
	s.sys.Enter(s.d, s.m)
	s.sys.Choose(s.t, s.y, nil, s.m)
	s.sys.Enter(s.d, s.m)
	if err := s.consist(nil, begins); err != nil {
		return err
	}
	note := func(i int, t float64) {
		if s.sched.knot(i) || s.sched.list[i].Pending {
			return
		}
		s.warn(solvers.Warning{Kind: solvers.Outside, T: s.t, Name: s.sched.name(i), Instant: i, Value: t})
	}
	if err := s.sched.start(s.sys, s.d, s.t, s.eventTol(s.t, 0), note); err != nil {
		return err
	}
	s.unopened()
	switch tf := s.sched.times[1]; {
	case !simd.Finite(s.sched.times[1:2]):
		return &solvers.TimeError{Instant: 1, Value: tf, Message: fmt.Sprintf("the run ends at %v; give a finite time",
			tf)}
	case tf < s.t:
		what := fmt.Sprintf("the run ends at %v, before it begins at %v; runs go forward in time", tf, s.t)
		return &solvers.TimeError{Instant: 1, Value: tf, Message: what}
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
		if l, ok := s.sink.(solvers.Lender); ok && l.Lends() {
			s.lender = l
		}
	}
	s.mark = solvers.Mark{Kind: solvers.MarkStart, T: s.t, Guard: -1, Instant: 0}
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

// unopened sets the modes of windows that open or close at the start to their values just before it. So the change at
// the start is an ordinary change of mode, and derivatives by the bounds of windows have two sides. Where start and
// bound are fixed there are no such derivatives.
func (s *Solver) unopened() {
	until, some := s.t+s.eventTol(s.t, 0), false
	for _, opens := range [2]bool{false, true} { // what does both is shut
		before := 1.0
		if opens {
			before = 0
		}
		for i := range s.sched.list {
			in := &s.sched.list[i]
			if in.Kind != solvers.InstantRemode || in.Opens != opens || s.sched.came[i] ||
				!(s.sched.times[i] <= until) ||
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

// warns reports whether anybody asks for warnings. Of runs side by side nobody does, unless LaneUse.Tell is set, and
// what only warnings tell is not looked for there.
func (s *told) warns() bool { return !s.quiet }

// warn keeps a warning. One tie between the same two events is enough, and so is one time that is set into the past.
func (s *told) warn(w solvers.Warning) {
	switch w.Kind {
	case solvers.Tie, solvers.OneSided, solvers.Together, solvers.Past, solvers.Hidden, solvers.Disputed, solvers.Drift,
		solvers.Brink, solvers.NearMiss, solvers.Unseen, solvers.Unresolved,
		solvers.Skirted:
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
			s.warn(solvers.Warning{Kind: solvers.Outside, T: s.t, Name: s.sched.name(i), Instant: i, Value: t})
		}
	}
}

// standing warns of events of which all elements held at the start and have not fired: they have held since, or have
// become false and never true again. What began on its threshold is a matter of ties.
func (s *Solver) standing() {
	if !(s.t > s.sched.times[solvers.InstantStart]) {
		return
	}
	waits, ended := make([]bool, len(s.events)), make([]bool, len(s.events)) // waits: for more, or has fired
	for i := range s.guards {
		g := &s.guards[i]
		if g.Event < 0 {
			continue
		}
		a := &s.arms[i]
		if g.Watch || twoSided(g) || !a.held || s.historyOf(i).count > 0 || a.edge {
			waits[g.Event] = true
		}
		ended[g.Event] = ended[g.Event] || a.on || !s.truth[i]
	}
	for _, g := range s.guards {
		if g.Event >= 0 && !waits[g.Event] {
			waits[g.Event] = true
			w := solvers.Warning{Kind: solvers.Standing, T: s.t, Name: s.events[g.Event].Name, Instant: -1}
			if ended[g.Event] {
				w.Kind = solvers.Ended
			}
			if w.Kind == solvers.Standing || !s.stats.Stopped {
				s.warn(w)
			}
		}
	}
}

// eventTol returns the distance in time within which events are simultaneous at t, after a step of length h.
func (s *problem) eventTol(t, h float64) float64 {
	if s.opts.EventTol > 0 {
		return s.opts.EventTol
	}
	return float64(10 * elem.ULP(max(math.Abs(t), h)))
}

// step makes one trial step, and with it what happens at its end.
func (s *Solver) step() error {
	if s.stats.Steps+s.stats.Rejected >= s.opts.MaxSteps {
		return &solvers.TooManyStepsError{Place: s.place(nil), Max: s.opts.MaxSteps, Matrix: s.choice.refused}
	}
	if s.restart || s.h == 0 {
		s.settleSlope(s.trial, s.fresh)
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
	if s.clock.of != nil {
		var err error
		if stop, err = s.clock.stop(stop); err != nil {
			return err
		}
	}
	if s.bounds.spectrum.reach > 0 {
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
		s.borrow(tr, s.size.N+s.size.Q, s.fresh)
	}
	tr.Again = s.again
	s.method.Step(s.sys, tr, s.fresh)
	s.again = true
	s.stats.Evals += evals(&s.info, s.fresh)
	s.fresh = true
	switch ok, err := s.judge(tr); {
	case err != nil:
		return err
	case !ok, s.sight.remakes && remade(s, tr):
		return nil
	}
	located := false
	if len(s.guards) > 0 {
		switch verdict, err := watched(s); {
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
		if s.bounds.spectrum.tooLong(s.trial.H) {
			s.warn(solvers.Warning{Kind: solvers.Unstable, T: s.t, Instant: -1, Value: s.bounds.spectrum.rho})
		}
	} else if s.bounds.stiff.look(s.trial, &s.bounds.spectrum) {
		s.warn(solvers.Warning{Kind: solvers.Stiff, T: s.t, Instant: -1, Value: s.bounds.stiff.rate})
	}
	if len(s.watch.flips) > 0 {
		s.junctions.inStep(s.watch.flips)
		s.watch.flips = s.watch.flips[:0]
	}
	if located || clipped {
		s.within(true)
		return s.meet(true)
	}
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
func (s *Solver) read(tr *solvers.Step) error {
	for _, i := range s.inner {
		at := s.sched.times[i]
		s.meets.noteRead(at, i)
		theta := min(max((at-tr.T)/tr.H, 0), 1)
		s.interpolate(tr, theta)
		s.mark = solvers.Mark{Kind: solvers.MarkSite, T: at, Guard: -1, Instant: i, Inside: true, Theta: theta}
		s.mark.Ym, s.mark.Dm, s.mark.Mm = s.yi, s.d, s.m
		s.mark.Yp, s.mark.Dp, s.mark.Mp = s.yi, s.d, s.m
		if err := s.sink.Mark(&s.mark); err != nil {
			return err
		}
	}
	s.inner = s.inner[:0]
	return nil
}

// A step of error control that is not one of the first behind an event is faint if it is so many units in the last
// place of its time long.
const behindEvents, faint = 4, 64

// accept hands the trial step to the sink and moves on to its end.
func (s *Solver) accept(e solvers.End) error {
	tr := s.trial
	s.again = false
	s.stats.Made[s.member]++
	broke := solvers.BrokeNothing
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
	if s.count++; e.Kind != solvers.EndFree || s.cut > 0 || broke > solvers.BrokeNothing {
		s.anchor, s.count, s.cut = s.t, 0, 0
	} else if s.count > behindEvents && s.opts.Fixed == 0 && tr.H < float64(faint*elem.ULP(tr.T)) {
		s.stats.Faint++
	}
	f := s.slope(tr)
	if broke > solvers.BrokeNothing {
		f = nil
	}
	s.sight.turned = broke == solvers.BrokeConditions
	s.fresh = f != nil
	s.y = s.advance(tr, f)
	s.tiedTo = e.Kind == solvers.EndClip && s.sched.list[e.Index].Fixed
	return nil
}

// Stats returns what the last run did.
func (s *Solver) Stats() solvers.Stats { return s.stats }

// withDefaults returns o with the defaults of its zero fields.
func withDefaults(o solvers.Options) solvers.Options {
	if o.RTol == 0 && o.ATol == 0 && o.RTols == nil && o.ATols == nil {
		o.RTol, o.ATol = 1e-6, 1e-9
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = 1_000_000
	}
	if o.MaxCascade == 0 {
		o.MaxCascade = 100
	}
	if o.MaxEvents == 0 {
		o.MaxEvents = 10_000
	}
	return o
}
