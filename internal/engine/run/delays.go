package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/base/sets"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/lag"
	"odes.dev/odes/internal/engine/onesided"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/steady"
	"odes.dev/odes/tape"
)

// whole is what makes a system of a worker: with derivatives and objectives.
type whole interface {
	solvers.TangentSystem
	solvers.CotangentSystem
	sens.CotangentObjectives
	sens.TangentObjectives
}

// reading is what a run of a model with delays has besides.
type reading struct {
	past *lag.Record // nil for a model without
	of   *system.Worker
	last *lag.Worker // that reads the past for of
}

// over returns w, as it reads the past where the model does, with the run's method for so many lanes.
func (r *Run) over(w *system.Worker, lanes int) whole {
	if r.reading.past == nil {
		return w
	}
	if r.reading.of != w {
		r.reading.of, r.reading.last = w, lag.Of(w, r.reading.past, r.method(lanes))
	}
	return r.reading.last
}

// controlReads has errors of what is read later take part in the control of steps.
func controlReads(r *Run, w whole, how *solvers.Options) {
	x, ok := w.(*lag.Worker)
	if !ok || how.Fixed > 0 {
		return
	}
	d := &lag.Defect{X: x, RTol: how.RTols, ATol: r.settings.Absolute(nil)}
	if d.RTol == nil {
		d.RTol = []float64{how.RTol}
	}
	how.Also = d.Norm
}

// along returns m as it makes and differentiates the steps of w.
func along(w whole, m solvers.Method) solvers.Method {
	if x, ok := w.(*lag.Worker); ok {
		return x.Method(m)
	}
	return m
}

// chooseForDelays makes the choices of a model with delays, and reports what does not go with them. Nothing that would
// leave a delay out is let through.
func chooseForDelays(r *Run, l *diag.List) {
	m := r.model.Checked
	var met []*model.Symbol
	for _, g := range r.model.System.Compiled.GuardList {
		if g.Past != nil {
			met = append(met, g.Past)
		}
	}
	if r.reading.past = lag.NewRecord(m, met); r.reading.past == nil {
		return
	}
	at := m.Lags[0].Span
	no := func(what, instead string) {
		l.Errorf(settings.CodeSetting, at, "%s does not go with delays yet; %s", what, instead)
	}
	s := &r.settings
	if s.Method == "" || s.Method == settings.Auto {
		s.MethodOfPast()
		r.asked.Method = s.Method
	}
	if s.Control == settings.ControlAuto {
		s.Control = settings.ControlOff
	}
	if s.Mode == settings.Auto {
		s.Mode, r.asked.Mode = sens.DefaultMode, sens.DefaultMode
	}
	switch s.Mode {
	case sens.ModeAdjoint, sens.ModeTangent, sens.ModeForward, sens.ModeComplex, "":
	default:
		no("mode = "+s.Mode, "write mode = adjoint, tangent, forward or complex")
	}
	switch {
	case m.Algebraic():
		no("an algebraic equation", "solve it for its unknown, or give that a fast rate")
	case len(r.problem.Peaks) > 0:
		no("max_over", "read the state at times, by sum_at, or at an event where its slope crosses zero")
	case s.Control == settings.ControlOn:
		no("sens.control", "leave it out")
	case s.Check != nil && (r.reading.past.Moves() || r.model.System.Settles()):
		no("sens.check with delays that move, or steady states,", "compare with a run at tighter tolerances "+
			"(solver.trust)")
	case s.Checkpoint.Kind != record.CheckpointAuto:
		no("solver.checkpoint", "leave it out: the whole run is kept")
	}
	if slices.ContainsFunc(m.Lags, (*model.Lag).ByStates) {
		s.Stiff = nil // steps that read themselves are made again, which is dear where each solves equations
	}
	if len(model.MovingDelays(m.Lags)) > 0 && s.Solver.Fixed > 0 {
		no("fixed_step where delays move with time or states", "leave the steps to error control")
	}
	if r.model.System.Settles() {
		restsOfPast(r, no)
	}
	for _, e := range m.Events {
		if reads(e.Rank) {
			no("a priority that reads a delay", "write the present value")
		}
	}
	for _, x := range m.Invariants {
		if reads(x.Left) || reads(x.Right) {
			no("an invariant that reads a delay", "write it as an objective")
		}
	}
	if l.HasErrors() {
		return
	}
	if spec, err := s.Spec(); err == nil && !spec.Remembers() {
		l.Errorf(settings.CodeSetting, s.AtMethod, "method %s does not go with delays: a run reads its past from the "+
			"dense output of the method, whose order is too low here; leave the method out, or write tsit5, or "+
			"radau9 for a stiff model", spec.Name)
	}
}

// restsOfPast reports what does not go with steady states of a model with delays.
func restsOfPast(r *Run, no func(what, instead string)) {
	const many = 200 // states
	m, s := r.model.Checked, &r.settings
	for _, e := range m.Events {
		switch {
		case e.Settles && !e.After:
			no("equilibrate", "begin with the steady state by a past and initial values that are its closed "+
				"form, or run longer")
			return
		case !e.Settles && len(e.At()) == 0, e.Slot != nil:
			no("a steady state of a model with events by conditions, or with a delay,",
				"read the state after a long run with final(…)")
			return
		}
	}
	switch {
	case len(model.MovingDelays(m.Lags)) > 0:
		no("a steady state where delays move with time or states", "read the state after a long run with final(…)")
	case s.SteadyFlow:
		no("sens.steady", "leave it out")
	case s.Steady != steady.Auto:
		no("solver.steady", "leave it out: the run is followed until it comes to rest")
	case r.problem.Size().N > many:
		no("a steady state of more than 200 states", "read the state after a long run with final(…)")
	}
}

// restSteps is how many steps a run that goes on to its steady state may take, and restSpans how long it may be, in
// longest delays and time spans.
const (
	restSteps = 20_000
	restSpans = 10_000
)

// goesOn returns what continues a run of r.
func goesOn(r *Run) lag.GoesOnBy {
	return func(ctx context.Context, t float64, y, d []float64, visit lag.Visit) error {
		return goOn(ctx, r, t, y, d, visit)
	}
}

func goOn(ctx context.Context, r *Run, t float64, y, d []float64, visit lag.Visit) error {
	k, err := r.problem.Kit(1, compiled.Values, false)
	if err != nil {
		return err
	}
	on := lag.GoesOn(r.problem.Worker(k), r.reading.past, r.method(0), t, y, d)
	longest := on.Longest()
	if span := r.problem.Steady.Span; span < longest {
		return &steady.Error{Fault: steady.Broken, Cause: fmt.Errorf("the run is shorter, %s, than a "+
			"delay, %s, so the past would be read after the end of the run; make the run longer", diag.Number(span),
			diag.Number(longest))}
	}
	on.Until = t + float64(restSpans*max(longest, r.problem.Steady.Span))
	method := r.method(0)
	how := r.settings.Solver
	how.Norm, how.Quadratures, how.QuadTol = r.settings.Rule().Norm, []int{}, -1
	how.NoJacobian, how.Explicit, how.MaxSteps = !r.problem.Jacobian, r.explicit, restSteps
	controlReads(r, on.Worker, &how)
	s := hybrid.NewSolver(on, along(on.Worker, method), r.settings.Rule().Controller(method.Info()), how)
	_, err = s.Solve(ctx, &visitor{visit: visit, longest: longest})
	var many *solvers.TooManyStepsError
	if errors.Is(err, errRests) || errors.As(err, &many) {
		return nil
	}
	return err
}

// errRests ends a run that has come to rest.
var errRests = errors.New("it has come to rest")

// visitor is a solvers.Sink that shows each step until that is done.
type visitor struct {
	visit   lag.Visit
	longest float64
}

// Begin implements solvers.Sink.
func (v *visitor) Begin(solvers.System, solvers.Method) error { return nil }

// Mark implements solvers.Sink.
func (v *visitor) Mark(*solvers.Mark) error { return nil }

// Step implements solvers.Sink.
func (v *visitor) Step(s *solvers.Step, _ solvers.End) error {
	done, err := v.visit(s.T1, s.Y1, v.longest)
	if err == nil && done {
		return errRests
	}
	return err
}

// reads reports whether e reads the past.
func reads(e model.Expr) (found bool) {
	if e == nil {
		return false
	}
	model.Walk(func(e model.Expr) bool {
		x, ok := e.(*model.Ref)
		found = found || ok && x.Sym.Kind == model.StateSymbol && x.Sym.Hidden
		return !found
	}, e)
	return found
}

// outputsOf returns what writes the outputs of w at a time, a state and discretes.
func outputsOf(r *Run, w *system.Worker) func(t float64, y, d, outputs []float64) {
	if r.reading.past == nil {
		return w.Outputs
	}
	r.over(w, 0)
	return r.reading.last.Outputs
}

// Repeatable returns an error if runs of the model cannot be repeated in complex arithmetic, as what does.
func Repeatable(r *Run, what string) error {
	if r.reading.past == nil || !r.reading.past.Moves() && !r.model.System.Settles() {
		return nil
	}
	var l diag.List
	l.Errorf(settings.CodeSetting, r.model.Checked.Lags[0].Span, "%s does not go yet with delays that move with time "+
		"or states, nor with steady states of models with delays; compare with a run at tighter tolerances", what)
	return l.Err()
}

// PresentOnly returns an error if the model reads its past, which what cannot do.
func (r *Run) PresentOnly(what, instead string) error {
	if r.reading.past == nil {
		return nil
	}
	var l diag.List
	l.Errorf(settings.CodeSetting, r.model.Checked.Lags[0].Span, "%s does not go with delays yet; %s", what,
		instead)
	return l.Err()
}

// dropTwoSided makes those products with Hessians NaN that have two sides, since what comes back of the past meets
// something else there that moves otherwise: by directions and by columns that move the two apart. parted are the times
// of that by objectives, or sums of these, and directions, NaN for none; along makes a direction of one in the space of
// columns.
func dropTwoSided(
	ctx context.Context, r *Runner, method *sens.Second, sums [][]float64, count int,
	along func(v, totals, dp, dy0 []float64), parted, out []float64,
) error {
	if r.partedAt = math.NaN(); r.reading.past == nil || !r.reading.past.ComesWithOthers() {
		return nil
	}
	c := r.columns
	var columns sens.Products
	tell := method.Tell
	method.Tell = nil
	defer func() { method.Tell = tell }()
	of := sens.Directions{Count: c, Write: func(k int, dp, dy0 []float64) {
		v := make([]float64, c)
		v[k] = 1
		along(v, make([]float64, len(r.model.Checked.Totals)), dp, dy0)
	}}
	if err := method.OfSums(ctx, &r.trajectory, sums, of, &columns); err != nil {
		return r.failed(err, r.worker)
	}
	for i := range len(parted) / count {
		for k := range count {
			for e := range c {
				for _, t := range []float64{parted[i*count+k], columns.Parts[i*c+e]} {
					if t == t {
						r.partedAt, out[(i*count+k)*c+e] = t, math.NaN()
					}
				}
			}
		}
	}
	return nil
}

// partedOf returns a time at which second derivatives of the last run had two sides for what came back of the past, NaN
// for none.
func partedOf(r *Runner) float64 {
	at := r.partedAt
	for _, part := range r.parts {
		if t := partedOf(part); t == t {
			at = t
		}
	}
	return at
}

// CodeDelay is the code of what a run cannot read of its past.
const CodeDelay diag.Code = "delay"

// ofPast reports whether err is of what a run reads of its past, and where that is written.
func ofPast(err error) (at source.Span, is bool) {
	var read *lag.Error
	if errors.As(err, &read) {
		return read.Lag.Span, true
	}
	return at, false
}

// mostReturned limits states times steps of a run with delays of which derivatives are compared with runs on both sides
// for kinks that something read at a moment may have: where these cannot be told, they are suspected.
const mostReturned = mostBeside

// foldsOfPast returns what makes all derivatives of the last run suspect to be those of one side: that something comes
// back of the past when something else happens, or that what is read at moments has kinks, which cannot be evaluated.
func foldsOfPast(ctx context.Context, r *Runner, steps int) (list []onesided.Fold, err error) {
	if r.reading.past == nil || r.share > 0 || r.columns == 0 {
		return nil, nil
	}
	r.reader.Open(ctx, &r.trajectory)
	var m solvers.Mark
	var times []lag.Moment
	for i := range r.trajectory.Marks() {
		if _, _, err := r.reader.LoadMark(i, &m); err != nil {
			return nil, err
		}
		if m.Kind != solvers.MarkStart && !m.Caused { // what a jump makes true comes with that
			root := m.Guard >= 0
			past := root && r.model.System.Compiled.GuardList[m.Guard].Past != nil
			times = append(times, lag.Moment{T: m.T, Root: root, Past: past})
		}
	}
	work := float64(r.problem.Size().N+1) * float64(steps)
	suspect := work <= mostReturned && kinksAtMoments(r.Run) ||
		r.reading.past.Meets(times, r.settings.Solver.RTol)
	if !suspect {
		if suspect, err = staysAtKinks(ctx, r); !suspect {
			return nil, err
		}
	}
	all := onesided.Fold{Moves: sets.New(r.columns), Into: onesided.IntoAll()}
	for k := range r.columns {
		all.Moves.Add(k)
	}
	return []onesided.Fold{all}, nil
}

// kinksAtMoments reports whether there are kinks or jumps in what is read or set at moments, or of all that was read.
func kinksAtMoments(r *Run) bool {
	c := r.model.System.Compiled
	tapes := append([]*tape.Tape{c.Initial, c.Final, c.Objective}, slices.Concat(c.AtTimes, c.AtEvents, c.Affects)...)
	return slices.ContainsFunc(tapes, func(t *tape.Tape) bool {
		return t != nil && slices.ContainsFunc(t.Instrs, func(in tape.Instr) bool {
			return !in.Seamless && (in.Op.HasKink() || in.Op.HasJump())
		})
	})
}
