package run

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/engine/coincide"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/onesided"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/typecheck"
)

// Runner runs one model many times with the same options and other parameter values (Set). It keeps
// programs, work space and the memory of the gradient between runs. A Runner belongs to one goroutine;
// make one for each.
type Runner struct {
	*Run
	setup     Setup
	variables []result.Variable
	places    []compiled.Variable // the variables as package system knows them
	gatherer  compiled.Gatherer   // by them
	columns   int                 // of a row of the gradient
	placed    bool                // a row of the sweep's derivatives by params begins a row of the gradient
	byInitial bool                // some variable is an initial value
	alone     bool                // nothing is compared with the runs, so what happened in them is only counted
	keep      bool                // what was recorded is read once more, for second derivatives
	lanes     int
	compile   float64 // seconds
	gradient  []float64
	curve     curvature
	partedAt  float64   // where its second derivatives had two sides for what came back of the past, NaN for nowhere
	crossed   bool      // see CrossProducts
	parts     []*Runner // of the experiments
	side      together
	shared    shared // with other experiments of a Runner
	solver    *hybrid.Solver
	method    sens.Method // nil until it is needed; see differentiator

	tools
	others
	outcome
}

// tools are what makes the runs of a Runner, and what differentiates them.
type tools struct {
	worker     *system.Worker
	trajectory record.Trajectory
	recorder   *sens.Recorder
	observer   *sens.Observer // of Values; nil until it was called
	reader     record.Reader
	guards     []solvers.Guard
	chain      *compiled.Chain
	kinks      *onesided.Kinks
	kinked     []onesided.Fold       // of the last run
	search     *compiled.Derivatives // why some are not finite; nil until one was not
	twice      *twice                // kept from the last second derivatives; nil for none
}

// others are the Runners that repeat the runs of a Runner by other means. They are made when they are needed first.
type others struct {
	// other makes the independent runs that results are compared with, and share is the part of the error of a result
	// that they show. careful has derivatives under error control, and finer has tolerances that are finerBy times
	// those of the Runner. beside makes independent runs with other values.
	other, careful, finer, beside *Runner
	share, finerBy                float64
	// last is the Runner that made the last result: another one where derivatives needed error control, or they or
	// sens_tol tighter tolerances.
	last   *Runner
	logged *bool // whether the run that this one is compared with has a log; nil where it is none of these
}

// outcome is what the last run of a Runner gave.
type outcome struct {
	res      sens.Result
	out      trust.Result
	took     work
	sum      *totals
	met      []trust.Meeting
	missed   []solvers.Warning // what it may have missed
	faint    bool              // error control made steps nearly as short as the rounding of time
	opinion  *trust.Opinion    // of the result; nil for none
	happened trust.Happenings
	events   *loggedEvents // nil where they are listed
}

// Prepare returns a Runner for opts. The error carries all that is wrong with them, as diagnostics.
func (m *Model) Prepare(setup Setup) (*Runner, error) { return m.prepare(setup, false) }

// PrepareWhile is Prepare until ctx ends.
func (m *Model) PrepareWhile(ctx context.Context, setup Setup) (*Runner, error) {
	setup.Done = ctx.Done()
	r, err := m.Prepare(setup)
	return r, interrupted(ctx, err)
}

// prepare is Prepare. For values alone a model needs no objective.
func (m *Model) prepare(setup Setup, valuesAlone bool) (*Runner, error) {
	start := time.Now()
	base, err := m.Begin(setup)
	if err != nil {
		return nil, err
	}
	r := &Runner{Run: base, setup: setup}
	defer func() { r.problem.Done, r.setup.Done = nil, nil }() // which may belong to this call alone
	r.settings.Solver.Meetings = r.settings.Solver.Meetings || r.settings.Trust
	r.setup.Set = slices.Clone(setup.Set)
	var l diag.List
	r.variables, r.columns = m.Variables(r.settings.Wrt, &l)
	if !valuesAlone {
		r.checkGradientSize(&l)
	}
	r.wantSecond(&l)
	r.keep = r.wantsSecond()
	r.settings.Solver.Bends = r.keep
	r.checkMethod(&l)
	if err := l.Err(); err != nil {
		return nil, err
	}
	if err := r.ready(); err != nil {
		return nil, r.refused(err)
	}
	r.compile = time.Since(start).Seconds()
	return r, nil
}

// ready makes all that runs need.
func (r *Runner) ready() (err error) {
	r.Differentiate(r.variables)
	if err := r.chooseModeAndLanes(); err != nil {
		return err
	}
	r.placeVariables()
	if err := r.equip(); err != nil {
		return err
	}
	n := r.columns * len(r.objectives)
	if r.gradient = r.setup.Gradient; len(r.gradient) < n {
		if err := memory.Ask(8 * float64(n)); err != nil {
			return err
		}
		r.gradient = make([]float64, n)
	}
	r.gradient = r.gradient[:n]
	experiments := make([]*compiled.Model, len(r.model.Experiments))
	for i, x := range r.model.Experiments {
		experiments[i] = x.Model.System
	}
	r.model.Explain.NoInfluence(r.places, experiments, &r.warnings)
	r.leftOut(r.setup.Unchosen, &r.warnings)
	return r.prepareParts()
}

// checkGradientSize reports a gradient that is empty, or too large for the memory allowed.
func (r *Runner) checkGradientSize(l *diag.List) {
	if len(r.objectives) == 0 {
		l.Errorf(typecheck.CodeUnknown, r.model.Checked.Time.Span,
			"there is nothing to differentiate: the model has no "+
				"objective; add one, for example: objective J = final(x)")
	}
	limit := r.settings.MemoryLimit()
	if bytes := 8 * float64(r.columns) * float64(len(r.objectives)); bytes > float64(limit) {
		l.Errorf(explain.CodeMemory, source.Span{}, "the gradient of %s by %s needs %s, more than memory = %s; choose "+
			"fewer with --of and --wrt (or the sens block), or raise solver.memory",
			diag.Count(len(r.objectives), "objective"), diag.Count(r.columns, "variable"), diag.Bytes(bytes),
			diag.Bytes(float64(limit)))
	}
}

// checkMethod reports what the settings ask of the method that it cannot do.
func (r *Runner) checkMethod(l *diag.List) {
	s := r.settings
	r.Require(modeOf(s.Mode).Needs, "mode = "+s.Mode, l)
	if r.wantsSecond() {
		by := "sens.order = 2"
		if !r.curve.hessian {
			by = "sens.hvp"
		}
		r.Require(solvers.SecondOrder, by, l)
	}
	if s.Control == settings.ControlOn && s.Solver.Fixed == 0 {
		r.Require(solvers.TangentErrors, "sens.control = on", l)
	}
	if s.Solver.Observe == solvers.ObserveDense {
		r.Require(solvers.DenseDerivatives, "solver.observe = dense", l)
	}
	if s.Check != nil {
		r.Require(solvers.ComplexSteps, "sens.check", l)
	}
}

// chooseModeAndLanes makes the choices that the options leave open.
func (r *Runner) chooseModeAndLanes() error {
	if r.asked.Mode == settings.Auto {
		if err := r.autoMode(len(r.objectives), r.columns); err != nil {
			return err
		}
	}
	side := len(r.objectives)
	if modeOf(r.settings.Mode).Lanes == sens.LanesColumns {
		side = r.columns
	}
	r.lanes = r.setup.lanes(side)
	return nil
}

// placeVariables tells the problem where derivatives by the variables go.
func (r *Runner) placeVariables() {
	r.places = systemVariables(r.variables)
	r.gatherer = r.problem.Gatherer(r.places)
	r.placed = r.problem.Fits(r.places)
	for _, v := range r.places {
		if v.Initial {
			r.byInitial = true
			r.problem.Free = append(r.problem.Free, r.model.System.State(v.Name))
		}
	}
}

// equip makes what solves the model, and what differentiates runs.
func (r *Runner) equip() (err error) {
	if err = r.prepareForward(); err != nil {
		return err
	}
	r.method, r.kept, r.trajectory.Tell, r.twice = nil, nil, nil, nil
	return nil
}

// equipAgain equips r for a run that needs more than it was made with.
func equipAgain(ctx context.Context, r *Runner) error {
	defer r.problem.Compiling(ctx)()
	return interrupted(ctx, r.equip())
}

// differentiator returns the sensitivity method of the run's mode. It makes it when a run has ended that is to be
// differentiated: one that turns stiff needs other programs, and one that fails none.
func (r *Runner) differentiator(ctx context.Context) (sens.Method, error) {
	if r.method == nil {
		defer r.problem.Compiling(ctx)()
		method, err := r.sensitivityMethod(r.lanes)
		if err != nil {
			return nil, interrupted(ctx, err) // no RunError: the run itself did not fail
		}
		r.method = method
		r.tellProgress()
	}
	return r.method, nil
}

// interrupted returns why ctx ended if that is why what err tells of was given up, and else err.
func interrupted(ctx context.Context, err error) error {
	if explain.Interrupted(err) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// prepareForward makes what solves the model and records the run.
func (r *Runner) prepareForward() (err error) {
	if r.chain, err = r.problem.Chain(false); err != nil {
		return err
	}
	forward, err := r.problem.Kit(1, compiled.Values, false)
	if err != nil {
		return err
	}
	r.worker = r.spread(r.problem.Worker(forward), 1, 1)
	r.guards, r.observer = r.worker.Guards(), nil
	r.happened = trust.Happenings{}
	r.kinks = onesided.NewKinks(&r.problem.Task)
	if err := r.controlErrors(r.variables, &r.trajectory); err != nil {
		return err
	}
	r.solver = r.Run.solver(r.worker)
	r.record(&r.trajectory, forward)
	r.recorder = sens.NewRecorder(&r.trajectory, r.over(r.worker, 0))
	return nil
}

// tellProgress lets a method that can tell report how far it is, at most ten times a second. While steps of the run are
// made again, their number grows.
func (r *Runner) tellProgress() {
	tell := r.setup.Progress
	if tell == nil {
		return
	}
	var mu sync.Mutex
	var last time.Time
	at := result.Progress{Phase: r.settings.Mode, T: math.NaN()}
	report := func(change func()) {
		mu.Lock()
		defer mu.Unlock()
		change()
		if now := time.Now(); now.Sub(last) > TellEvery && at.T == at.T {
			last = now
			tell(at)
		}
	}
	swept := 0
	if teller, ok := r.method.(sens.Teller); ok {
		teller.SetTell(func(t, done float64, steps int) {
			report(func() {
				at.T, at.Done, swept = t, done, steps
				at.Steps = swept + r.trajectory.Replayed()
			})
		})
	}
	r.trajectory.Tell = func(replayed int) {
		report(func() {
			if at.T != at.T { // the way back begins
				at.T = r.trajectory.Ends()
			}
			at.Steps = swept + replayed
		})
	}
}

// Report returns what the runs to come use, with choices made where the Setup left them open.
func (r *Runner) Report() result.Settings { return r.report(r.lanes) }

// Last returns the Setup of the run of the last result: another one than that of r where derivatives needed error
// control, or they or sens_tol tighter tolerances.
func (r *Runner) Last() Setup { return r.last.setup }

// AsLast returns a setup of r as that of the last result is, whose derivatives may have needed error control or tighter
// tolerances.
func (r *Runner) AsLast(setup Setup) Setup {
	switch r.last {
	case r.careful:
		return setup.With(func(s *settings.Settings) { s.Control = settings.ControlOn })
	case r.finer:
		return setup.With(func(s *settings.Settings) { s.Tighten(r.finerBy, r.specimen().Info().Order) })
	}
	return setup
}

// Opinion returns what an independent run says of the last result; nil where nothing was compared.
func (r *Runner) Opinion() *trust.Opinion { return r.opinion }

// Swept returns how many steps the derivatives of the last result crossed, over all sweeps.
func (r *Runner) Swept() int { return r.res.Stats.Steps }

// Set gives parameters (or initial values) other values for the runs to come, after those of the
// options. A param whose default follows others, and an initial value, can only be set here if the
// options of Prepare set them as well.
func (r *Runner) Set(set ...compiled.Override) error {
	if err := r.set(&r.setup, set); err != nil {
		return err
	}
	for i, part := range r.parts {
		if err := part.Set(set...); err != nil {
			return r.model.Experiments[i].wrap(err)
		}
	}
	for _, x := range []*Runner{r.other, r.careful, r.finer, r.beside} {
		if x == nil {
			continue
		}
		if err := x.Set(set...); err != nil {
			return err
		}
	}
	return r.model.Explain.Asserts(r.problem.Point)
}

// SetDirection gives Hessians another vector to be multiplied with. It has the length of that of the options, which
// must have one.
func (r *Runner) SetDirection(v []float64) error {
	var l diag.List
	switch {
	case len(r.curve.direction) != len(v):
		l.Errorf(settings.CodeSetting, source.Span{}, "a direction has %s, not %d",
			diag.Count(len(r.curve.direction), "number"), len(v))
	case !trust.Finite(v):
		l.Errorf(settings.CodeSetting, source.Span{}, "a direction holds something that is not a finite number")
	default:
		r.curve.direction = slices.Clone(v)
	}
	return l.Err()
}

// Sensitivities integrates the model and differentiates its objectives. Unless the settings say trust = off, it
// compares the result with that of an independent run. The next call overwrites the result.
func (r *Runner) Sensitivities(ctx context.Context) (*result.Sensitivities, error) {
	defer r.release()
	s, err := r.first(ctx)
	if err != nil {
		return nil, r.refused(err)
	}
	if err := r.last.events.failed(); err != nil {
		return nil, r.failed(err, r.worker)
	}
	if !r.wantsSecond() {
		return &s.Sensitivities, nil
	}
	start := time.Now()
	if err := r.differentiateTwice(ctx, &s.Sensitivities, s.Reached); err != nil {
		return nil, r.refused(err)
	}
	s.Stats.Seconds.Second = time.Since(start).Seconds()
	if err := (checking{r}).judgeSecond(ctx, s); err != nil {
		return nil, r.refused(err)
	}
	return &s.Sensitivities, nil
}

// release closes the files of the runs that were recorded.
func (r *Runner) release() {
	r.trajectory.Close()
	for _, x := range []*Runner{r.last, r.other, r.careful, r.finer, r.beside} {
		if x != nil && x != r {
			x.release()
		}
	}
	for _, part := range r.parts {
		part.release()
	}
}

// first computes values and first derivatives, with what the settings ask for to check them.
func (r *Runner) first(ctx context.Context) (*trust.Result, error) {
	r.last, r.opinion, r.alone = r, nil, !r.settings.Trust && !r.shows()
	if !r.alone {
		return checking{r}.checked(ctx)
	}
	s, err := r.once(ctx)
	if err != nil {
		return nil, err
	}
	if !s.Finite {
		s.Grade(r.grader(r.variables, r.sizes(), s.Stats.Steps), false)
	}
	s.Conclude(r.model.Explain, nil)
	return s, nil
}

// once solves and differentiates once, whatever the accuracy of the result.
func (r *Runner) once(ctx context.Context) (*trust.Result, error) {
	notes := r.warnings // those of Prepare stay
	defer func() { r.warnings = notes }()
	r.model.Explain.Bounds(r.problem.Point, &r.warnings)
	sum, err := r.totals(ctx)
	if err != nil {
		return nil, err
	}
	r.sum = sum
	start := time.Now()
	solve := func() (solvers.Stats, error) {
		if r.method == nil {
			r.beginAdjoint(r.lanes)
		}
		if past := r.reading.past; past == nil {
			r.worker.KeepStages(r.kept)
		} else {
			past.Forgets(false)
		}
		return r.Run.solve(ctx, r.solver, r.worker, r.setup.Progress, r.recorder)
	}
	stats, err := solve()
	for r.needsMore(err) {
		if err = equipAgain(ctx, r); err == nil {
			stats, err = solve()
		}
	}
	if err != nil {
		return nil, err
	}
	if err := r.differentiable(); err != nil {
		return nil, err
	}
	r.happened.Begin(r.model, r.guards, r.lists)
	r.events.close()
	if r.events, err = r.logOfEvents(); err != nil {
		return nil, r.failed(err, r.worker)
	}
	log := r.events
	r.happened.Read(&r.trajectory, r.alone && log == nil)
	if err := r.trajectory.Err(); err != nil {
		return nil, r.failed(err, r.worker)
	}
	ofRun := trust.Doubts(r.warnings.All())
	ended := time.Now()
	method, err := r.differentiator(ctx)
	if err != nil {
		return nil, err
	}
	half := time.Now()
	want := sens.Options{
		EventTimes: r.setup.EventTimes, Events: r.setup.Events, Lists: r.lists, GrazingLimit: grazingLimit,
		Functionals: r.recorder.Functionals(), Tie: r.settings.Solver.RTol, Initial: r.byInitial,
		LatePeak: r.settings.LatePeak,
	}
	if r.placed {
		r.res.DP, want.Stride = r.gradient, r.columns
	}
	if log != nil {
		log.n = len(r.happened.List)
		want.EventTimes, want.Events, want.Time = false, -1, log.add
	}
	if err := r.differentiate(ctx, method, want); err != nil {
		return nil, r.failed(err, r.worker)
	}
	if r.settings.Trust && !want.EventTimes && log == nil && (grazes(stats.Warnings) || grazes(r.res.Warnings)) {
		want.EventTimes, want.Events, want.Lists = true, 0, nil // how they move tells which derivatives exist
		if err := r.differentiate(ctx, method, want); err != nil {
			return nil, r.failed(err, r.worker)
		}
	}
	if err := ctx.Err(); err != nil { // what a body of an event could not find is not a number then
		return nil, r.failed(err, r.worker)
	}
	ties := r.warnOfDerivatives(stats.Warnings)
	r.met = r.meetingsOf(&stats)
	r.chain.Pull(r.res.DP, len(r.objectives), max(want.Stride, r.problem.Width()))
	out := &r.out
	*out = trust.Result{Sensitivities: result.Sensitivities{
		Status: "ok", From: r.worker.Started(), To: stats.T, Variables: r.variables, Columns: r.columns,
		Gradient: r.gradient, Settings: r.report(r.lanes), Values: out.Values[:0], Events: out.Events[:0],
	}, Evidence: out.Spare()}
	out.Finite = true
	r.addValues(out, want.Stride)
	r.addEvents(out, want.EventTimes)
	if log != nil {
		out.Log, out.MoreEvents = log, 0
	}
	find := r.toldKinks()
	rtol := r.settings.Solver.RTol
	if r.settings.Solver.Fixed > 0 {
		rtol = 0
	}
	kinks, located, err := r.model.Explain.Kinks(
		ctx, find, &r.trajectory, &r.reader, r.res.Functionals, r.res.Peaks, r.places, r.columns, r.wantsSecond(),
		rtol, &r.warnings,
	)
	if err != nil {
		return nil, r.failed(err, r.worker)
	}
	r.model.Explain.Empty(out.From, out.To, &r.warnings)
	r.model.Explain.Thinned(&r.trajectory, &r.warnings)
	out.Settings.Checkpoint = r.trajectory.Kept().String()
	took := r.stats(stats)
	took.VJP = r.transposes()
	took.RecomputedSteps = r.trajectory.Replayed()
	took.PeakTrajectoryBytes = r.trajectory.Bytes()
	took.Seconds.Forward = ended.Sub(start).Seconds()
	took.Seconds.Adjoint = time.Since(half).Seconds()
	took.Seconds.Compile += r.compile + half.Sub(ended).Seconds()
	took.add(&sum.work)
	out.Stats, r.took = took.Stats, took
	r.warnWarm(&out.Stats)
	out.Warnings = r.model.untold(r.warnings.All())
	if find != nil {
		located += ties
	}
	r.missed, r.faint = nearMisses(stats.Warnings), stats.Faint > 0
	out.Crossed = followable(&stats, float64(coincide.Near*(r.trajectory.Ends()-r.trajectory.Begins())))
	r.kinked = kinks
	out.Kinked = kinkedBy(r, kinks)
	out.AllSided = trust.Doubts(out.Warnings)-located > ofRun
	folds := append(kinks, r.foldsOfMeetings(&stats)...)
	ofPast, err := foldsOfPast(ctx, r, stats.Steps)
	if err != nil {
		return nil, r.failed(err, r.worker)
	}
	r.addSides(out, append(folds, ofPast...))
	return out, nil
}

// differentiate computes the derivatives of the run that was recorded.
func (r *Runner) differentiate(ctx context.Context, method sens.Method, want sens.Options) error {
	r.problem.Heed(ctx)
	err := method.Gradient(ctx, &r.trajectory, want, &r.res)
	if r.problem.Unheed() {
		return ctx.Err()
	}
	return err
}

// toldKinks are the kinks that a result tells of; nil where only numbers count, as where another is compared with it.
func (r *Runner) toldKinks() *onesided.Kinks {
	if r.share > 0 || r.reading.past != nil || r.settings.Numbers {
		return nil
	}
	return r.kinks
}

// kinkedBy marks derivatives that kinks make those of one side; also where a column moves a kink alone. It returns nil
// for no kinks.
func kinkedBy(r *Runner, kinks []onesided.Fold) (list []bool) {
	if len(kinks) == 0 {
		return nil
	}
	list = make([]bool, len(r.objectives)*r.columns)
	for i, o := range r.objectives {
		for j, bends := range r.worker.Bends(o.row, kinks) {
			if bends {
				kinks[j].Mark(list[i*r.columns : (i+1)*r.columns])
			}
		}
	}
	return list
}

// addSides notes which derivatives folds make those of one side: by what moves a fold, of values that it makes bend. It
// also notes which derivatives may be zero on one side of a fold and not on the other, and which second derivatives may
// jump. Of values that read totals, experiments have noted that.
func (r *Runner) addSides(out *trust.Result, folds []onesided.Fold) {
	switch {
	case len(folds) > 0 || out.Unseen(): // zeros may be none
		r.foldsOf(out, folds)
	case r.wantsSecond() && r.reading.past != nil && !manySides(r): // steps end where a delay says: zeros have errors
		reachedBy(r, out)
	}
	if len(r.parts) == 0 {
		return
	}
	n := len(r.objectives)
	for i, o := range r.objectives {
		for k, reads := range r.worker.ReadsTotals(o.row) {
			if reads {
				out.Join(i, &r.sum.sides, k, r.columns, n)
			}
		}
	}
}

// manySides reports whether there are so many derivatives that telling which are those of one side takes longer than it
// is worth.
func manySides(r *Runner) bool {
	const most, mostColumns = 100_000, 5_000
	return len(r.objectives)*r.columns > most || r.columns > mostColumns
}

// reachedBy marks derivatives by what values depend on.
func reachedBy(r *Runner, out *trust.Result) {
	out.Reached = make([]bool, len(out.Gradient))
	for i, o := range r.objectives {
		copy(out.Reached[i*r.columns:], r.worker.Reaches(o.row, r.places, r.columns))
	}
}

// foldsOf does so for the folds of the run itself.
func (r *Runner) foldsOf(out *trust.Result, folds []onesided.Fold) {
	many := manySides(r)
	n := len(out.Gradient)
	for _, list := range out.Lists() {
		if !many || list == &out.Sided || list == &out.Rounded {
			*list = make([]bool, n)
		}
	}
	if !many {
		reachedBy(r, out)
	}
	for i, o := range r.objectives {
		at := i * r.columns
		row := func(of []bool) []bool { return of[at : at+r.columns] }
		bends := r.worker.Bends(o.row, folds)
		for j := range folds {
			f := &folds[j]
			if !bends[j] {
				continue
			}
			switch {
			case many:
			case f.Meets:
				f.Mark(row(out.Met))
			default:
				f.Mark(row(out.Curved))
			}
			if f.Smooth || f.Meets {
				continue
			}
			if f.Rounded {
				f.Mark(row(out.Rounded))
			}
			if f.Mark(row(out.Sided)); !many {
				f.Mark(row(out.Bent))
			}
		}
		if many {
			continue
		}
		for k, reached := range row(out.Reached) {
			out.Bent[at+k] = out.Bent[at+k] && reached
			out.Curved[at+k] = (out.Curved[at+k] || out.Bent[at+k]) && reached
			out.Met[at+k] = out.Met[at+k] && reached
		}
	}
}

// logOfEvents returns a log for the events of the run that was recorded, without them, if they are too many to list;
// nil if they are not, or where no file can be made. A run that another one is compared with has a log if that has one.
func (r *Runner) logOfEvents() (*loggedEvents, error) {
	if !r.setup.EventLog || !r.setup.EventTimes || r.setup.Events != 0 || !modeOf(r.settings.Mode).Logs {
		return nil, nil
	}
	many := r.logged != nil && *r.logged
	if r.logged == nil {
		r.happened.Read(&r.trajectory, true)
		many = r.happened.N > manyEvents
		r.happened.Begin(r.model, r.guards, r.lists)
	}
	if !many {
		return nil, nil
	}
	file, err := r.trajectory.Scratch()
	switch {
	case err == nil:
		return &loggedEvents{run: r, width: r.problem.Width(), first: -1, file: file}, nil
	case r.logged == nil:
		return nil, nil
	}
	return nil, err
}

// transposes returns how many stages were differentiated.
func (r *Runner) transposes() int {
	steps := r.trajectory.Steps()
	if len(r.made) < 2 || steps == 0 {
		return r.res.Stats.Steps * r.problem.StepStages
	}
	return r.res.Stats.Steps * r.trajectory.Stages() / steps
}

// warnOfDerivatives adds what the sensitivity method warns of; ofRun are the warnings of the solver. It returns how
// many of them are of ties of largest values.
func (r *Runner) warnOfDerivatives(ofRun []solvers.Warning) (ties int) {
	r.model.Explain.Warnings(r.res.Warnings, &r.warnings)
	if r.byInitial && !r.settings.Trust && !r.shows() { // otherwise an independent run shows it
		r.model.Explain.StiffInitial(ofRun, &r.warnings)
	}
	return r.model.Explain.Peaks(r.res.Peaks, &r.warnings)
}

// addValues adds the values of the objectives to out and gathers the rows of the gradient. stride is
// the distance of rows that the method wrote straight into the gradient, 0 if it did not.
func (r *Runner) addValues(out *trust.Result, stride int) {
	written := stride > 0
	stride = max(stride, r.problem.Width())
	held := slices.ContainsFunc(r.res.Peaks, func(p sens.Peak) bool { return p.Held || p.Level })
	if held {
		out.Held = make([]bool, len(r.objectives))
	}
	for i, o := range r.objectives {
		v := o.value
		v.Value = r.res.Psi[i]
		if v.Value-v.Value != 0 {
			out.Status = "partial"
		}
		row := r.gradient[i*r.columns : (i+1)*r.columns]
		var byParams, byInitial []float64
		if !written {
			byParams = r.res.DP[i*stride:]
		}
		if n := r.model.System.States(); r.byInitial && len(r.res.DY0) > 0 {
			byInitial = r.res.DY0[i*n : (i+1)*n]
		}
		r.gatherer.Gather(row, byParams, byInitial)
		r.sum.chain(r.problem, row, r.res.DP[i*stride:])
		v = r.valued(v, o, r.res.Functionals)
		finite := r.finite(i, stride, row, byInitial)
		out.Finite = out.Finite && finite && v.Value-v.Value == 0
		if !math.IsNaN(v.Value) && !finite {
			v.Warnings = append(v.Warnings, "some derivatives are not finite numbers: "+r.whyNoDerivative(&v, o))
		}
		if held {
			out.Held[i] = r.model.ReadsLargest(v.Name)
		}
		out.Values = append(out.Values, v)
	}
}

// whyNoDerivative says why derivatives of o, whose value is v, are not finite numbers.
func (r *Runner) whyNoDerivative(v *result.Value, o objective) string {
	if math.IsInf(v.Value, 0) {
		return "the value is not one either"
	}
	if r.search == nil {
		r.search = r.problem.Derivatives()
	}
	if from, found := r.search.Objective(o.row, r.res.Functionals); found {
		return explain.NoDerivative(from, "")
	}
	if text := r.model.Explain.NoDerivativeAlong(r.search, &r.trajectory, &r.reader); text != "" {
		return text
	}
	switch rest, periodic := r.problem.Strays(); {
	case len(rest) > 0:
		return "the state is at rest only at this value of " + strings.Join(rest, ", ") +
			": moved a little, the rates change with time"
	case len(periodic) > 0:
		return "the state repeats only at this value of " + strings.Join(periodic, ", ") +
			": moved a little, the rates have another period"
	}
	why := "the model is not differentiable at this point, or they are too large for numbers"
	if r.settings.Linear == "gmres" {
		why += ", or GMRES did not solve equations for them: linear = auto takes factors, if they have room"
	}
	return why
}

// addEvents adds the events of the run to out, with the derivatives of their times where they are wanted. moving tells
// that there are derivatives.
func (r *Runner) addEvents(out *trust.Result, moving bool) {
	for _, e := range r.res.Events {
		var moves []float64
		if moving {
			r.chain.Pull(e.DP, 1, r.problem.Width())
			moves = make([]float64, r.columns)
			r.gatherer.Gather(moves, e.DP, nil)
			out.Fastest = trust.Farthest(out.Fastest, moves)
		}
		if r.setup.Events != 0 && len(out.Events) >= r.setup.Events || !r.lists(e) {
			continue
		}
		record := r.model.Event(e, r.guards, out.From, out.To)
		if r.setup.EventTimes {
			record.Params = moves
		}
		out.Events = append(out.Events, record)
	}
	if n := r.happened.N; n > 0 {
		out.MoreEvents = max(n-len(out.Events), 0)
		out.LastEvent = r.model.Event(r.happened.Last.Event(), r.guards, out.From, out.To)
	}
	if r.happened.N > len(r.res.Events) {
		out.Fastest = nil
	}
}

// lists reports whether results list an event: all of the model or, if they are to list the first ones, those whose
// times are not known without a run.
func (r *Runner) lists(e sens.EventTime) bool {
	return r.model.Shows(e) && !(r.setup.Events > 0 && e.Mode && r.guards[e.Guard].Piece)
}

// grazes reports whether an event hardly meets its condition.
func grazes(list []solvers.Warning) bool {
	return slices.ContainsFunc(list, func(w solvers.Warning) bool { return w.Kind == solvers.Grazing })
}

// finite reports whether the derivatives of objective i, row, are finite. A long row is not read where the sweep knows
// that. byInitial is what the row has by initial values.
func (r *Runner) finite(i, stride int, row, byInitial []float64) bool {
	if i < len(r.res.Suspect) && r.res.Suspect[i] {
		return false
	}
	if i < len(r.res.Sound) && r.res.Sound[i] && len(r.parts) == 0 && r.people == nil && r.chain.Empty() {
		return trust.Finite(byInitial)
	}
	return trust.Finite(row) && (r.placed || trust.Finite(r.res.DP[i*stride:i*stride+r.problem.Width()]))
}

// Values integrates the model and writes the values of the objectives to to, with the bits that Solve gives. It returns
// how many steps that took. Nothing is compared with another run.
func (r *Runner) Values(ctx context.Context, to []float64) (steps int, err error) {
	notes := r.warnings // those of Prepare stay
	defer func() { r.warnings = notes }()
	parts, err := r.simulators(r.setup)
	if err != nil {
		return 0, err
	}
	if _, err := r.totalValues(ctx, r.setup.Progress, parts); err != nil {
		return 0, err
	}
	r.worker.KeepStages(nil)
	if past := r.reading.past; past != nil {
		past.Forgets(true)
	}
	solve := func() (int, error) {
		if r.observer == nil {
			r.observer = sens.NewObserver(r.over(r.worker, 0))
		}
		stats, err := r.Run.solve(ctx, r.solver, r.worker, r.setup.Progress, r.observer)
		return stats.Steps, err
	}
	steps, err = solve()
	for r.needsMore(err) {
		if r.observer, err = nil, equipAgain(ctx, r); err == nil {
			steps, err = solve()
		}
	}
	if err == nil {
		r.observer.Values(to)
	}
	return steps, err
}
