package run

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"time"

	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/base/team"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/steps"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/vm"
)

// Run is one run of a model: its settings, its parameters and what is wanted of it.
type Run struct {
	model        *Model
	asked        settings.Settings // as they were asked for, with Auto where the choice is open
	settings     settings.Settings // with all choices made
	problem      *system.Problem
	objectives   []objective
	spec         *solvers.Spec              // of the method
	errorControl *sens.ErrorControl         // lets derivatives take part in error control; nil where they do not
	made         []int                      // steps of each member of the method in the last run
	tolerances   []float64                  // absolute ones of states in it, one or one for each
	explicit     bool                       // the Jacobian is too large for implicit members of the method
	within       func(int, result.Progress) // is told how far single experiments are, while they are solved
	reading      reading
	lacking      string // why an experiment has no value, and which, in words
	chained      bool   // the run is one of several that follow one another; see Runner.Warm
	stopped      string // what stopped the last run before its end, in words
	warnings     diag.List
	summands     []*contribution // room for those of experiments

	kept      *steps.StageValues // what runs keep of their stages for the adjoint; nil for nothing
	keepLimit int64              // bytes of that
	together  int                // runs of experiments that are recorded at once; 0 for none

	people *people // the subjects of a population; nil for a model without random effects

	// trace is told the adjoint states, as sens.Adjoint says; nil for nobody.
	trace func(t float64, first int, lam []float64)
}

// Begin makes all choices of a run. The error carries all that is wrong with them.
func (m *Model) Begin(setup Setup) (*Run, error) {
	l := setup.Wrong
	r := &Run{model: m, asked: setup.Settings, settings: setup.Settings, together: setup.Beside}
	point := m.System.NewPoint(setup.Set, &l)
	r.objectives = m.objectivesOf(r.settings.Of, &l)
	if err := l.Err(); err != nil {
		return nil, err
	}
	var rows []int
	var goals []*model.Objective
	for _, o := range r.objectives {
		rows, goals = append(rows, o.row), append(goals, o.of)
	}
	r.problem = system.NewProblem(m.System, point, rows, m.System.PeaksOf(goals))
	r.problem.Done = setup.Done
	if r.problem.Integrals = m.System.IntegralsOf(goals); r.settings.Solver.QuadTol < 0 {
		r.problem.Integrals = []int{}
	}
	if !m.Part { // which the whole has asked of
		checkDistributions(m.Checked, r.problem.Point.Param, &l)
	}
	if l.HasErrors() {
		return nil, l.Err()
	}
	if setup.CompileAfter != nil {
		r.problem.CompileAfter = *setup.CompileAfter
	}
	for _, d := range r.settings.Notes {
		r.warnings.Add(d)
	}
	if chooseForDelays(r, &l); l.HasErrors() {
		return nil, l.Err()
	}
	r.auto()
	spec, err := r.settings.Spec()
	if err != nil {
		l.Errorf(settings.CodeSetting, r.settings.AtMethod, "%v", err)
		return nil, l.Err()
	}
	if r.spec = spec; setup.Method != nil {
		r.spec = setup.Method
	}
	if m.System.Algebraic() {
		r.solvesAlgebraic(&l)
	}
	if r.spec.Can.Has(solvers.SplitRates) {
		r.splits(&l)
	}
	if len(r.problem.Peaks) > 0 {
		r.Require(solvers.DenseDerivatives, "max_over", &l)
	}
	if err := l.Err(); err != nil {
		return nil, err
	}
	all := r.specimen()
	info := all.Info()
	r.problem.Stages = info.Stages + info.DenseStages
	r.problem.StepStages = solvers.Members(all)[0].Info().Stages
	r.problem.Linear = r.settings.Linear
	r.problem.Split = r.spec.Can.Has(solvers.SplitRates)
	r.problem.Jacobian = m.System.Algebraic() || len(r.settings.Stiff) == 0 && r.spec.Can.Has(solvers.NeedsJacobian)
	if err := r.settles(); err != nil {
		return nil, err
	}
	return r, m.Explain.Asserts(point)
}

// leftOut notes what the model says that derivatives have no part in: sens blocks whose names were not asked for, and
// experiments.
func (r *Run) leftOut(unchosen []string, l *diag.List) {
	if r.model.Part {
		return
	}
	if unchosen != nil {
		l.Add(settings.NoneChosen("sens", unchosen))
	}
	if names := r.model.Names(); len(names) > 0 && !r.readsTotals() {
		l.Notef(CodeUnused, source.Span{}, "nothing here is of the experiments (%s), all is of the run without "+
			"changes: only nll() adds up over experiments", diag.Some(names))
	}
}

// LeftOut returns notes on what the model says that derivatives for opts have no part in: settings blocks whose names
// were not asked for, and experiments. Runner and Model.Sensitivities tell it by themselves.
func (m *Model) LeftOut(setup Setup) []diag.Diagnostic {
	r, err := m.Begin(setup)
	if err != nil {
		return nil
	}
	l := r.warnings
	r.leftOut(setup.Unchosen, &l)
	return l.All()
}

// solvesAlgebraic reports a method or a mode that is not for models with algebraic unknowns.
func (r *Run) solvesAlgebraic(l *diag.List) {
	if !r.spec.Can.Has(solvers.MassMatrix) {
		l.Errorf(settings.CodeSetting, r.settings.AtMethod,
			"method %s does not solve algebraic equations (`0 = …`); write "+
				"method = auto, rodas5p, or an implicit Runge–Kutta method such as radau5", r.spec.Name)
	}
	switch mode := r.settings.Mode; {
	case mode == sens.ModeBacksolve:
		l.Errorf(settings.CodeSetting, r.model.Checked.Time.Span,
			"mode = backsolve integrates the states back by their rates, "+
				"and algebraic unknowns have none; write mode = continuous or adjoint")
	case mode == sens.ModeContinuous && r.model.System.Combined():
		l.Errorf(settings.CodeSetting, r.model.Checked.Time.Span,
			"mode = continuous does not take a mass matrix that combines "+
				"algebraic unknowns with rates of states; write mode = adjoint, tangent or forward")
	}
}

// splits reports what is against a method that solves equations with a part of the rates.
func (r *Run) splits(l *diag.List) {
	var none *compiled.NoImplicitPartError
	switch err := r.model.System.Splits(); {
	case errors.As(err, &none):
		l.Errorf(settings.CodeSetting, r.settings.AtMethod,
			"method %s solves equations with the terms of the rates that are "+
				"linear in the states, and there are none; write method = auto", r.spec.Name)
		return
	case err != nil:
		l.Errorf(settings.CodeSetting, r.settings.AtMethod, "method %s: %v", r.spec.Name, err)
		return
	}
	switch mode := r.settings.Mode; {
	case mode == sens.ModeContinuous || mode == sens.ModeBacksolve || mode == sens.ModeForward:
		l.Errorf(settings.CodeSetting, r.model.Checked.Time.Span,
			"mode = %s integrates by the rates as a whole, and method %s "+
				"splits them; write mode = adjoint, tangent or complex", mode, r.spec.Name)
	case r.model.System.Settles():
		l.Errorf(settings.CodeSetting, r.settings.AtMethod,
			"method %s splits the rates, and steady states are sought by "+
				"them as a whole; write method = auto", r.spec.Name)
	}
}

// Require reports what the run's method cannot do of what by asks of it.
func (r *Run) Require(can solvers.Capability, by string, l *diag.List) {
	if err := r.spec.Check(can); err != nil {
		l.Errorf(settings.CodeSetting, r.model.Checked.Time.Span, "%s: %v; choose another method", by, err)
	}
}

// auto makes the choices that the settings leave open, with a note on each. The mode is settled later,
// when Prepare knows how many objectives and variables there are.
func (r *Run) auto() {
	s := &r.settings
	if why := s.Decide(); why != "" {
		r.warnings.Notef(CodeAuto, r.model.Checked.Time.Span, "method = %s, %s", s.Method, why)
	}
	if s.Mode == settings.Auto {
		s.Mode = sens.DefaultMode
	}
}

// set gives the run other values, after those of the Setup that it was made with, and notes them there.
func (r *Run) set(setup *Setup, set []compiled.Override) error {
	var l diag.List
	// The newest assignment of a name takes the place of older ones.
	all := make([]compiled.Override, 0, len(setup.Set)+len(set))
	for _, a := range setup.Set {
		if !slices.ContainsFunc(set, func(b compiled.Override) bool { return b.Name == a.Name }) {
			all = append(all, a)
		}
	}
	all = append(all, set...)
	pt := r.model.System.NewPoint(all, &l)
	if err := l.Err(); err != nil {
		return err
	}
	for _, name := range r.problem.Point.Move(pt) {
		l.Errorf(compiled.CodeOverride, source.Span{},
			"%q follows other params; to cut that link, set it in the options "+
				"of Prepare", name)
	}
	if err := l.Err(); err != nil {
		return err
	}
	if !r.model.Part { // otherwise it is for those who run them all
		r.problem.Answers.Next()
	}
	if err := r.people.set(set); err != nil {
		return err
	}
	setup.Set = all
	return nil
}

// Differentiate tells the problem which params are active: those that derivatives by variables need.
func (r *Run) Differentiate(variables []result.Variable) {
	r.problem.Differentiate(r.problem.Point.Active(systemVariables(variables)))
}

// systemVariables are variables as package system knows them.
func systemVariables(list []result.Variable) []compiled.Variable {
	out := make([]compiled.Variable, len(list))
	for i, v := range list {
		out[i] = compiled.Variable{Name: v.Name, Initial: v.Initial, Place: vec.Place{Offset: v.Offset, Len: v.Size()}}
	}
	return out
}

// Settings returns the settings of the run, with all choices made.
func (r *Run) Settings() *settings.Settings { return &r.settings }

// Problem returns the model with the values of the run.
func (r *Run) Problem() *system.Problem { return r.problem }

// Method returns the step method of the run, with work space for that many lanes.
func (r *Run) Method(lanes int) solvers.Method { return r.method(lanes) }

// specimen returns the run's step method for what there is to know of it, without work space for a long state.
func (r *Run) specimen() solvers.Method { return r.spec.New(solvers.Size{N: 1}, 0) }

// method returns the run's step method with work space for that many lanes.
func (r *Run) method(lanes int) solvers.Method {
	return r.spec.New(r.problem.Size(), lanes)
}

// sharedStates is how many states a model has, at least, with work that is worth sharing out: that of large matrices,
// or of long vectors.
const sharedStates = 384

// spread lets a worker with lanes, one of several goroutines, share its work out to the threads that are left.
func (r *Run) spread(w *system.Worker, lanes, goroutines int) *system.Worker {
	const few = 4 // that any machine may be asked for
	if r.problem.Size().N*max(lanes, 1) >= sharedStates {
		w.Share(team.New(min(r.settings.Threads/max(goroutines, 1), max(runtime.NumCPU(), few))))
	}
	return w
}

// alike lets a method share its work out as a worker does.
func alike(m solvers.Method, w *system.Worker) solvers.Method {
	for _, member := range solvers.Members(m) {
		if s, ok := member.(solvers.Sharing); ok {
			s.Share(w.Team())
		}
	}
	return m
}

// sweepers returns how many goroutines sweep the objectives backwards, so many at a time.
func (r *Run) sweepers(lanes int) int {
	return min(r.settings.Threads, (len(r.objectives)+lanes-1)/lanes)
}

// solver returns a solver for w with the run's settings.
func (r *Run) solver(w *system.Worker) *hybrid.Solver {
	method := alike(r.method(0), w)
	controller := r.settings.Rule().Controller(method.Info())
	how := r.settings.Solver
	how.Norm = r.settings.Rule().Norm
	how.Quadratures = r.problem.Integrals
	how.NoJacobian, how.Explicit = !r.problem.Jacobian, r.explicit
	if r.errorControl != nil {
		how.Also = r.errorControl.Norm
	}
	sys := r.over(w, 0)
	controlReads(r, sys, &how)
	return hybrid.NewSolver(sys, along(sys, method), controller, how)
}

// forward solves the model into sink.
func (r *Run) forward(
	ctx context.Context, w *system.Worker, progress func(result.Progress), sink solvers.Sink,
) (solvers.Stats, error) {
	return r.solve(ctx, r.solver(w), w, progress, sink)
}

// solve solves the model into sink with a solver that has its work space already.
func (r *Run) solve(
	ctx context.Context, s *hybrid.Solver, w *system.Worker, progress func(result.Progress), sink solvers.Sink,
) (solvers.Stats, error) {
	r.problem.Search(ctx)
	if list := r.model.Explain.Windows(w); list != nil {
		return solvers.Stats{}, &result.RunError{List: list, Cause: list, From: math.NaN(), T: math.NaN()}
	}
	if r.errorControl != nil {
		sink = solvers.Sinks{sink, r.errorControl}
	}
	if progress != nil {
		sink = solvers.Sinks{sink, &reporter{tell: progress, phase: "forward"}}
	}
	watch := r.model.Explain.Invariants(w, r.settings.Solver.RTol, r.settings.Solver.ATol)
	if watch != nil {
		sink = solvers.Sinks{sink, watch}
	}
	r.problem.Heed(ctx)
	stats, err := s.Solve(ctx, sink)
	if r.problem.Unheed() && !explain.Interrupted(err) {
		err = &solvers.CancelledError{Place: solvers.Place{T: stats.T}, Cause: ctx.Err()}
	}
	if r.wants(err) != nil {
		return stats, err // for needsMore
	}
	if err != nil {
		return stats, r.failed(cmp.Or(r.problem.SteadyError(), err), w)
	}
	r.made, r.tolerances = stats.Made, append(r.tolerances[:0], hybrid.Tolerances(s)...)
	r.stopped = r.model.Explain.Stopped(&stats)
	r.model.Explain.Warnings(fell(r, r.model.Explain.WorthTelling(&stats)), &r.warnings)
	r.model.Explain.Unwatched(w.Omitted(), &r.warnings)
	if watch != nil {
		watch.Report(&r.warnings)
	}
	return stats, nil
}

// wants returns what makes programs that a run which err ended needs to go on: of the Jacobian, or of rates that are
// extended where they had no values. A Jacobian that is too large leaves the run to the explicit method.
func (r *Run) wants(err error) (make func()) {
	if err == nil {
		return nil
	}
	var stiff *solvers.StiffError
	switch {
	case errors.As(err, &stiff) && r.problem.Model.JacobianTooLarge():
		return func() { r.explicit = true }
	case stiff != nil:
		return func() { r.problem.Jacobian = true }
	case solvers.Undefined(err) && r.problem.Extends():
		return r.problem.Extend
	}
	return nil
}

// needsMore gives the problem what a run wants that err ended, if anything. What made the run is to be made anew.
func (r *Run) needsMore(err error) bool {
	make := r.wants(err)
	if make != nil {
		make()
	}
	return make != nil
}

// asNeeded does what solves the model, and does it again as long as the run needs more.
func asNeeded[T any](r *Run, do func() (T, error)) (T, error) {
	out, err := do()
	for r.needsMore(err) {
		out, err = do()
	}
	return out, err
}

// makers returns the methods that made the steps of the last run, and which of them each member of its method belongs
// to; nil where one made all.
func (r *Run) makers() (list []result.MethodSteps, of []int) {
	if len(r.settings.Stiff) == 0 || len(r.made) != len(r.spec.Members) ||
		!slices.ContainsFunc(r.made[1:], func(n int) bool { return n > 0 }) { // the usual case
		return nil, nil
	}
	for i, m := range r.spec.Members {
		if i > 0 && r.made[i] == 0 {
			of = append(of, -1)
			continue
		}
		at := slices.IndexFunc(list, func(other result.MethodSteps) bool { return other.Name == m.Name })
		if at < 0 {
			at, list = len(list), append(list, result.MethodSteps{Name: m.Name})
		}
		list[at].Steps += r.made[i]
		of = append(of, at)
	}
	if len(list) == 1 {
		return nil, nil
	}
	return list, of
}

// methods says which methods made the steps of the last run.
func (r *Run) methods() string {
	list, _ := r.makers()
	if list == nil {
		return r.settings.Method
	}
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	return diag.All(names)
}

// controlErrors lets derivatives of the states by the variables take part in the error control of the run, if
// sens.control asks for it. record will hold the run.
func (r *Run) controlErrors(variables []result.Variable, record *record.Trajectory) error {
	s := r.settings
	if s.Control != settings.ControlOn || s.Solver.Fixed > 0 {
		return nil
	}
	g := &sens.ErrorControl{Run: record, RTol: s.Solver.RTols, ATol: s.Absolute(nil)}
	if g.RTol == nil {
		g.RTol = []float64{s.Solver.RTol}
	}
	n := r.problem.Width()
	for _, v := range variables {
		if v.Initial && !g.Initial {
			g.Initial = true
			n += r.model.System.States()
		}
	}
	lanes := chooseLanes(n)
	k, err := r.problem.Kit(lanes, compiled.PushElements, false)
	if err != nil {
		return err
	}
	g.New = func() sens.TangentWorker {
		g.Size = r.problem.ActiveValues()
		w := r.problem.Worker(k)
		return sens.TangentWorker{System: w, Objectives: w, Method: r.method(lanes)}
	}
	r.errorControl = g
	return nil
}

// record prepares tr to record the run. Programs of k recompute what tr does not keep.
func (r *Run) record(tr *record.Trajectory, k *compiled.Kit) {
	tr.Keep, tr.Open, tr.Limit = r.settings.Checkpoint, scratch, r.settings.TrajectoryLimit()
	tr.Fixed = r.settings.Solver.Fixed
	if r.settings.Solver.Memory == 0 { // the rest is for gradients, and for the run that results are compared with
		tr.Limit = min(tr.Limit, max(memory.Budget()-memory.Used(), 0)/3)
	}
	// Runs of experiments are kept as well, all at once.
	tr.Limit /= int64(max(len(r.model.Experiments), r.together) + 1)
	r.keepLimit = tr.Limit / 8
	if tr.Replayer = nil; r.reading.past != nil { // what a step read cannot be had without the record
		r.keepLimit = 0
		return
	}
	tr.Replayer = func() (solvers.System, solvers.Method) {
		w := r.spread(r.problem.Worker(k), 1, r.sweepers(chooseLanes(len(r.objectives))))
		w.KeepStages(r.kept)
		return w, alike(r.method(0), w)
	}
}

// scratchFile is a temporary file. Where the system allows it, the file has no name, so that nothing
// is left of it however the program ends.
type scratchFile struct {
	*os.File
	name string // "" for none
}

// Close closes the file, and removes it if it has a name.
func (f *scratchFile) Close() error {
	err := f.File.Close()
	if f.name != "" {
		err = os.Remove(f.name)
	}
	return err
}

// scratch makes a file for states of a run.
func scratch() (record.Disk, error) {
	f, err := os.CreateTemp("", "odes-states-*")
	if err != nil {
		return nil, err
	}
	s := &scratchFile{File: f}
	if os.Remove(f.Name()) != nil {
		s.name = f.Name()
	}
	return s, nil
}

// reporter is a Sink that tells how far a run is, at most ten times a second.
type reporter struct {
	tell     func(result.Progress)
	phase    string
	from, to float64
	steps    int
	last     time.Time
	looked   time.Time // at the clock
	stride   int       // steps from one look at it to the next: fewer where each takes long
	look     int       // step of the next
}

func (p *reporter) Begin(sys solvers.System, _ solvers.Method) error {
	p.steps, p.last, p.stride, p.look = 0, time.Now(), 1, 1
	p.looked = p.last
	times := make([]float64, len(sys.Instants()))
	sys.InstantTimes(make([]float64, sys.Size().D), times)
	p.from, p.to = times[0], times[1]
	return nil
}

func (p *reporter) Step(s *solvers.Step, _ solvers.End) error {
	p.steps++
	if p.steps < p.look {
		return nil
	}
	now := time.Now()
	if p.stride = min(2*p.stride, 64); now.Sub(p.looked) > TellEvery/16 {
		p.stride = 1
	}
	p.looked, p.look = now, p.steps+p.stride
	if now.Sub(p.last) > TellEvery {
		p.last = now
		p.tell(result.Progress{Phase: p.phase, T: s.T1, Steps: p.steps, Done: (s.T1 - p.from) / (p.to - p.from)})
	}
	return nil
}

func (p *reporter) Mark(*solvers.Mark) error { return nil }

// stats gathers the counts of a run.
func (r *Run) stats(s solvers.Stats) work {
	out := work{Stats: result.Stats{
		Steps: s.Steps, Rejected: s.Rejected, F: s.Evals,
		NonFinite: s.NotFinite, Singular: s.Singular, Sought: s.Sought,
		Jacobians: s.Jacobians, Factorisations: s.Factorisations, Solves: s.Solves,
	}}
	if out.Drift = s.Drift; s.Drift > 0 {
		out.Drifts = r.problem.Model.StateName(s.Drifts)
	}
	if out.Methods, _ = r.makers(); out.Methods != nil {
		out.Changes = s.Changes
	}
	var rests []result.Rest
	states := r.problem.Resting()
	for _, rest := range states {
		rests = append(rests, result.Rest{
			Eigenvalue: rest.Slowest, NearZero: rest.NearZero, Time: rest.T, Steps: rest.Steps, Newton: rest.Newton,
			Periods: rest.Periods, Warm: rest.Warm, Saved: rest.Saved,
		})
	}
	out.rested(rests, states)
	out.SteadyFlow = r.problem.Flowed()
	out.Seconds.Parse, out.Seconds.Compile = r.model.Seconds.Parse, r.model.Seconds.Compile
	return out
}

func (r *Run) report(lanes int) result.Settings {
	return result.Settings{
		Method: r.methods(), RTol: r.settings.Solver.RTol, ATol: r.settings.Reported(),
		Sized: r.settings.Solver.Sized(), Mode: r.settings.Mode, Checkpoint: r.settings.Checkpoint.String(),
		Backend: vm.Backend(), Lanes: lanes, Threads: r.settings.Threads, Errors: r.shows(),
	}
}

// grazingLimit is the slope of a guard along the trajectory, relative to a head-on crossing, below
// which derivatives get a warning. At this slope, a change of the threshold by about a millionth
// removes the event.
const grazingLimit = 1e-3

// chooseLanes returns how many of m objectives to sweep together. Two vectors of four are best, but a
// few more cost less than another sweep.
func chooseLanes(m int) int {
	for _, l := range []int{1, 2, 4, 8} {
		if m <= l {
			return l
		}
	}
	if m <= 12 {
		return m
	}
	return 8
}

// seldom returns what passes on how far a method is in a phase, at most ten times a second; nil where tell is.
func seldom(tell func(result.Progress), phase string) func(t, done float64, steps int) {
	if tell == nil {
		return nil
	}
	var last time.Time
	return func(t, done float64, steps int) {
		if now := time.Now(); now.Sub(last) > TellEvery {
			last = now
			tell(result.Progress{Phase: phase, T: t, Done: done, Steps: steps})
		}
	}
}

// TellEvery is how long progress is silent between two reports. Tests make it shorter.
var TellEvery = 100 * time.Millisecond
