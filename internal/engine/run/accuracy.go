package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/solvers/stock"
)

// Refined returns opts for a run with tolerances multiplied by factor, or with fixed steps halved.
func (r *Run) Refined(setup Setup, factor float64) Setup {
	setup.Gradient = nil
	order := r.specimen().Info().Order
	return setup.With(func(s *settings.Settings) { s.Refine(factor, order) })
}

// checking is a Runner whose results are compared with those of independent runs, and made again where that shows that
// they must be.
type checking struct{ *Runner }

// twin returns a Runner that repeats the runs of r by other means. Which part of the error of r its difference to them
// is, it has as its share. Its runs take most steps at most.
func (r checking) twin(ctx context.Context, most int) (*Runner, error) {
	setup := r.setup.InPhase("check")
	setup.Gradient, setup.Method = nil, nil
	mode, kinks := r.settings.Mode, r.model.System.Compiled.KinksLeft != nil
	own := r.settings
	share := own.Independent(mode, kinks)
	setup = setup.With(func(s *settings.Settings) { // of experiments as well, at once
		s.Independent(mode, kinks)
		s.Solver.MaxSteps = most
	})
	twin, err := r.model.PrepareWhile(ctx, setup)
	if err != nil {
		return nil, err
	}
	twin.share = share
	if r.trajectory.Stock == nil {
		r.drawFrom(&stock.Stock{Most: 2 * room})
	}
	twin.drawFrom(r.trajectory.Stock)
	return twin, nil
}

// judged compares s, the result that r made last, with that of an independent run. It writes estimated errors to s,
// and grades all of its numbers. sizes are those of the variables.
func (r checking) judged(ctx context.Context, s *trust.Result, sizes []float64) (*trust.Opinion, error) {
	start := time.Now()
	defer func() { s.Stats.Seconds.Check += time.Since(start).Seconds() }()
	o := &trust.Opinion{Sizes: sizes}
	if r.other == nil {
		var err error
		if r.other, err = r.twin(ctx, r.settings.Solver.MaxSteps); err != nil {
			return nil, err
		}
	}
	b := r.other
	o.By = b.inWords()
	g := r.grader(r.variables, sizes, s.Stats.Steps)
	if r.errorControl != nil && len(r.parts) == 0 {
		g.Reached = r.errorControl.Reached(r.res.Functionals)
		for n, v := range r.variables {
			g.Variables[n].Zero = !slices.ContainsFunc(r.valuesOf(v), func(x float64) bool { return x != 0 })
		}
	}
	mine, err := r.crossed(ctx, s)
	if err != nil {
		return nil, err
	}
	if !r.keep {
		r.makeRoom()
	}
	log := s.Log != nil
	b.logged = &log
	fine, err := b.once(ctx)
	var theirs *Sides
	if err == nil && mine != nil {
		b.kinked = r.kinked // the independent run does not look for these
		theirs, _, err = b.Sides(ctx, r.curve.direction)
	}
	if !r.keep {
		b.release()
		b.makeRoom()
	}
	switch {
	case err != nil && (explain.Interrupted(err) || ctx.Err() != nil):
		return nil, err
	case err != nil:
		var failed *result.RunError
		if !errors.As(err, &failed) {
			return nil, err
		}
		o.Failed = err
	default:
		if err := s.Compare(fine, b.share); err != nil {
			return nil, err
		}
		d, decided := r.decide(s, fine, mine, theirs, sizes, b.share)
		if !decided || r.wantsSecond() { // of second derivatives, sides know nothing
			if err := r.nearby(ctx, s, fine, sizes); err != nil {
				return nil, err
			}
			s.Agree()
		}
		if d != nil {
			if err := r.pieces(ctx, s, mine, d); err != nil {
				return nil, err
			}
		}
		o.Strange, _ = r.strange(b, mine, theirs, decided, 0)
		s.TakeBeside(d, o.Strange == "")
		s.TellSides(r.model.Explain, decided, d != nil && d.Clears)
		o.Faint = r.faint || b.faint
	}
	if !r.settings.Trust {
		s.Grade(g, false)
		return o, nil
	}
	s.GradeBy(g, o)
	if s.Decided != nil {
		s.DoubtTimes(mine.of(0))
	}
	s.LoseLeaps()
	return o, nil
}

// inWords says how r runs, whatever it ran before: "dop853 with rtol 1e-7".
func (r *Run) inWords() string {
	what, x := "rtol", r.settings.Solver.RTol
	if h := r.settings.Solver.Fixed; h > 0 {
		what, x = "steps of", settings.Rounded(h, 2)
	}
	text := strings.Replace(diag.Number(x), "e-0", "e-", 1)
	return fmt.Sprintf("a run of %s with %s %s", r.settings.Method, what, text)
}

// grader returns what grades the result of a run with so many steps. sizes are those of the variables.
func (r *Run) grader(variables []result.Variable, sizes []float64, steps int) *trust.Grader {
	g := &trust.Grader{
		Rounding: float64(0x1p-48 * math.Sqrt(float64(steps+1))), Promised: 10 * r.settings.LeastAbsolute(),
	}
	g.Allowed = r.allowed()
	for n, v := range variables {
		g.Variables = append(g.Variables, trust.Variable{Offset: v.Offset, Count: v.Size(), Size: sizes[n]})
	}
	return g
}

// strange describes the first event in the runs of r and of b, the experiments' among them, that the other one lacks or
// has at another time. It returns "" where they agree.
func (r *Runner) strange(b *Runner, mine, theirs *Sides, decided bool, experiment int) (what string, at float64) {
	here, there := &r.happened, &b.happened
	if decided { // what comes at coincidences may come once more or not at all, with rounding: sides say what it does
		here, there = here.Without(mine.of(experiment)), there.Without(theirs.of(experiment))
	}
	if what, at = trust.StrangeEvent(here, there, r.out.From, r.out.To, b.out.To); what != "" {
		return what, at
	}
	for i, part := range r.parts {
		if what, at = part.strange(b.parts[i], mine, theirs, decided, i+1); what != "" {
			return what + " in experiment " + r.model.Experiments[i].Name, at
		}
	}
	return "", 0
}

// sizes returns how large the variables are, by which they might change: the largest absolute value of their elements,
// and 1 for zero. Where the time span lies far from zero, a param that lies in it is a time, and as large as the span.
func (r *Runner) sizes() []float64 {
	from, to := r.out.From, r.out.To
	out := make([]float64, len(r.variables))
	for i, v := range r.variables {
		for _, x := range r.valuesOf(v) {
			size := math.Abs(x)
			if span := to - from; !v.Initial && size > float64(10*span) && x >= from-span && x <= to+span {
				size = span
			}
			out[i] = max(out[i], size)
		}
		if !(out[i] > 1e-300) || math.IsInf(out[i], 0) {
			out[i] = 1
		}
	}
	return out
}

// smallestSize is what a state that begins at zero is larger than in a run if that has made something of it but
// rounding's leftovers: products of these are smaller than any unit is.
const smallestSize = 1e-100

// extend makes the size of each state that begins at zero that of the state in the last run, if it is at hand: such an
// initial value has no size of its own, and states may be in any unit.
func (r checking) extend(ctx context.Context, sizes []float64) error {
	const most = 200 // steps that are looked at
	kept := r.trajectory.Kept().Kind
	if kept != record.CheckpointAll && (kept != record.CheckpointAuto || r.trajectory.Thinned()) {
		return nil
	}
	var reader record.Reader
	var step solvers.Step
	for n, v := range r.variables {
		if !v.Initial || slices.ContainsFunc(r.valuesOf(v), func(x float64) bool { return x != 0 }) {
			continue
		}
		reader.Open(ctx, &r.trajectory)
		at, size, steps := r.model.System.State(v.Name).Offset, 0.0, r.trajectory.Steps()
		for i := steps - 1; i >= 0; i -= (steps + most - 1) / most {
			if _, err := reader.Load(i, &step); err != nil {
				return err
			}
			for _, y := range step.Y1[at:][:v.Size()] {
				size = max(size, math.Abs(y))
			}
		}
		if size > smallestSize && size <= math.MaxFloat64 {
			sizes[n] = size
		}
	}
	return nil
}

// valuesOf returns the values of a variable in the last run.
func (r *Runner) valuesOf(v result.Variable) []float64 {
	if !v.Initial {
		return r.problem.Point.Param(v.Name)
	}
	return r.trajectory.Initial()[r.model.System.State(v.Name).Offset:][:v.Size()]
}

// A recorded run of more than room bytes is freed before the next one is made. One of more than recycled bytes is
// recorded in the memory of the run before: smaller runs fit the caches side by side, and need not share.
const room, recycled = 16 << 20, 4 << 20

// drawFrom lets the runs of r and its parts be recorded in memory of s.
func (r *Runner) drawFrom(s *stock.Stock) {
	r.trajectory.Stock = s
	for _, part := range r.parts {
		part.drawFrom(s)
	}
}

// makeRoom gives up the memory of the runs that r and its parts recorded last, where it is large.
func (r *Runner) makeRoom() {
	switch bytes := r.trajectory.Bytes(); {
	case bytes > room:
		r.trajectory.Drop()
	case bytes > recycled:
		r.trajectory.Recycle()
	}
	for _, part := range r.parts {
		part.makeRoom()
	}
}

// attempt is a result, the Runner that made it and what an independent run says of it.
type attempt struct {
	run     *Runner
	s       *trust.Result
	opinion *trust.Opinion
}

// attempt solves and differentiates once, and compares the result with an independent run.
func (r checking) attempt(ctx context.Context) (*attempt, error) {
	s, err := r.once(ctx)
	if err != nil {
		return nil, err
	}
	a := &attempt{run: r.Runner, s: s}
	sizes := r.sizes()
	if err := r.extend(ctx, sizes); err != nil {
		return nil, err
	}
	if a.opinion, err = r.judged(ctx, s, sizes); err != nil {
		return nil, err
	}
	return a, nil
}

// checked computes values and first derivatives and compares them with those of an independent run. It repeats them
// with derivatives under error control where the comparison shows that they need it, and with tighter tolerances as
// long as sens_tol is not met.
func (r checking) checked(ctx context.Context) (*trust.Result, error) {
	a, err := r.attempt(ctx)
	if err != nil {
		return nil, err
	}
	if a, err = r.controlled(ctx, a); err != nil {
		return nil, err
	}
	if a, err = r.refine(ctx, a); err != nil {
		return nil, err
	}
	s, o := a.s, a.opinion
	if r.last = a.run; a.run != r.Runner {
		s.Gradient = r.gradient[:copy(r.gradient, s.Gradient)]
		s.Settings.Errors = r.shows()
	}
	s.Tell(r.model.Explain, o)
	r.opinion = o
	if r.people != nil && r.settings.Trust && !r.setup.Integrals {
		return s, tellIntegrals(ctx, r.Runner, s)
	}
	return s, nil
}

// shows tells whether results are to show estimated errors.
func (r *Run) shows() bool { return r.settings.Errors || r.settings.SensTol > 0 }

// affordable bounds the work of a run with derivatives under error control: directions times states times steps. Where
// steps solve equations, their tangents do so at each stage: it is a part of that, unless so many steps are less than
// muchMore times those of the run without.
const (
	affordable = 1e7
	implicit   = 1.0 / 8
	muchMore   = 20
)

// Error control of derivatives carries a tangent for each variable. Where there are manyTangents, runs with tolerances
// of leastPart of what they were cost less, and are tried first. They aim at a part of the error that makes a mark,
// since errors follow tolerances roughly.
const (
	manyTangents = 16
	leastPart    = 1e-3
	aimedAt      = 0.1
)

// controlled repeats a, the attempt of r, with derivatives under error control if its derivatives are not sound and
// that is affordable: or with tighter tolerances, where these cost less and are enough. It returns the best.
func (r checking) controlled(ctx context.Context, a *attempt) (*attempt, error) {
	lost, loose := a.s.Count()
	size := r.problem.Size()
	per := float64(max(r.problem.Width(), 1)) * float64(size.N+size.Q+1)
	if r.byInitial {
		per += float64(size.N) * float64(size.N+size.Q+1)
	}
	steps := affordable / per
	if lost+loose == 0 || r.settings.Control != settings.ControlAuto || r.settings.Solver.Fixed > 0 ||
		r.spec.Check(solvers.TangentErrors) != nil || float64(a.s.Stats.Steps) > steps {
		return a, nil
	}
	if tight, err := r.tightened(ctx, a); err != nil {
		return nil, err
	} else if tight != nil {
		if a = tight; !a.lost() {
			return a, nil
		}
	}
	if few := implicit * steps; a.s.Stats.Factorisations > 0 && float64(muchMore*a.s.Stats.Steps) < few {
		steps = few
	}
	most := int(steps)
	if own := r.settings.Solver.MaxSteps; own > 0 {
		most = min(most, own)
	}
	if r.careful == nil || r.careful.settings.Solver.MaxSteps != most {
		setup := r.setup
		setup.Gradient = nil
		var err error
		if r.careful, err = r.model.PrepareWhile(ctx, setup.With(func(s *settings.Settings) {
			s.GradientOnly()
			s.Control = settings.ControlOn
			s.Trust = r.settings.Trust
			s.Solver.MaxSteps = most
		})); err != nil {
			return nil, err
		}
		r.careful.keep, r.careful.settings.Solver.Bends = r.keep, r.keep
		r.careful.drawFrom(r.trajectory.Stock)
	}
	r.careful.curve = r.curve // second derivatives of its run may follow
	b, err := r.again(ctx, a, r.careful)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return a, nil
	}
	b.s.Note(r.model.Explain, result.CodeTrust, diag.Note,
		"derivatives needed error control: %s in place of %d (control = on)",
		diag.Count(b.s.Stats.Steps, "step"), a.s.Stats.Steps)
	return b, nil
}

// lost reports whether numbers of a are.
func (a *attempt) lost() bool {
	lost, _ := a.s.Count()
	return lost > 0
}

// tightened repeats a, the attempt of r, with tolerances so much tighter that errors which follow them leave no mark.
// It returns nil where derivatives are by few variables, or errors are not why they are marked, or do not follow.
func (r checking) tightened(ctx context.Context, a *attempt) (*attempt, error) {
	if r.problem.Width() < manyTangents || r.settings.Mode != sens.ModeAdjoint || a.opinion.Failed != nil {
		return nil, nil
	}
	reached, _ := a.s.Accuracy(a.opinion.Sizes)
	part := max(float64(aimedAt*trust.LooseDerivative)/reached, leastPart)
	if rtol := float64(part * r.settings.Solver.RTol); !(part < aimedAt) || !(rtol > 100*settings.LeastTol) {
		return nil, nil
	}
	if r.finer == nil || r.finerBy != part {
		next, err := r.model.PrepareWhile(ctx, r.Refined(r.setup, part).With(func(s *settings.Settings) {
			s.Trust = r.settings.Trust
		}))
		if err != nil {
			return nil, err
		}
		next.keep, next.settings.Solver.Bends = r.keep, r.keep
		next.drawFrom(r.trajectory.Stock)
		r.finer, r.finerBy = next, part
	}
	r.finer.curve = r.curve
	b, err := r.again(ctx, a, r.finer)
	if b == nil || err != nil {
		return nil, err
	}
	b.s.Note(r.model.Explain, result.CodeTrust, diag.Note,
		"derivatives needed tighter tolerances: %s in place of %d (rtol = %s)",
		diag.Count(b.s.Stats.Steps, "step"), a.s.Stats.Steps, diag.Number(b.s.Settings.RTol))
	return b, nil
}

// again repeats a with another Runner. It returns nil unless that leaves fewer marks, those of what is lost first.
func (r checking) again(ctx context.Context, a *attempt, with *Runner) (*attempt, error) {
	if !r.keep {
		r.makeRoom()
	}
	start := time.Now()
	b, err := checking{with}.attempt(ctx)
	took := time.Since(start).Seconds()
	if err != nil {
		var failed *result.RunError
		if explain.Interrupted(err) || ctx.Err() != nil || !errors.As(err, &failed) {
			return nil, err
		}
		a.s.Stats.Seconds.Check += took
		return nil, nil
	}
	lost, loose := a.s.Count()
	if lostThen, looseThen := b.s.Count(); b.opinion.Failed != nil || lostThen > lost ||
		lostThen == lost && looseThen >= loose {
		a.s.Stats.Seconds.Check += took
		return nil, nil
	}
	first := a.s.Stats.Seconds
	b.s.Stats.Seconds.Check += first.Forward + first.Adjoint + first.Check
	return b, nil
}

// judgeSecond compares the second derivatives of s with those of the independent run, where that is affordable. It
// warns of what is not right and says where nothing was compared.
func (r checking) judgeSecond(ctx context.Context, s *trust.Result) error {
	left := r.lacking()
	if left != nil {
		s.Note(r.model.Explain, explain.CodeKink, diag.Warning,
			"second derivatives lack what kinks contribute: the rates have more "+
				"of them (min, max, abs, tables of states) than steps end at; `if x > c then x else c` in place of "+
				"max(x, c) ends steps however many there are")
	}
	if t := partedOf(r.last); r.reading.past != nil && t == t {
		s.Unknown()
		s.Note(r.model.Explain, explain.CodeKink, diag.Warning, "second derivatives that are nan have two sides: a "+
			"jump or kink that comes back after a delay coincides with something else at %s, and a variable moves "+
			"the two apart", diag.Number(t))
	}
	b := r.last.other
	if !r.settings.Trust || b == nil {
		return nil
	}
	if r.opinion.Failed != nil {
		r.opinion.DoubtSecond(s)
		return nil
	}
	if !r.affords(b) {
		s.Note(r.model.Explain, result.CodeTrust, diag.Note,
			"second derivatives are not compared with those of an independent run, "+
				"which would take too long")
		return nil
	}
	start := time.Now()
	b.curve, b.last = r.curve, b
	fine := result.Sensitivities{Columns: r.columns}
	if err := b.differentiateTwice(ctx, &fine, s.Reached); err != nil {
		return err
	}
	s.Stats.Seconds.Check += time.Since(start).Seconds()
	sizes := make([]float64, 0, r.columns)
	for n, v := range r.variables {
		for range v.Size() {
			sizes = append(sizes, r.opinion.Sizes[n])
		}
	}
	s.GradeSecond(r.model.Explain, &fine, sizes, left, r.opinion)
	return nil
}

// lacking tells which variables, by columns, move kinks that lie inside steps: what these contribute to second
// derivatives by two of them is not there. It is nil where no kink does.
func (r checking) lacking() []bool {
	kinks := r.model.System.Compiled.KinksLeft
	if kinks == nil {
		return nil
	}
	if len(r.parts) > 0 { // their columns are others
		return slices.Repeat([]bool{true}, r.columns)
	}
	return r.worker.Movers(kinks, r.places, r.columns)
}

// affords reports whether the second derivatives of another run take little enough time to be compared.
func (r checking) affords(b *Runner) bool {
	count := 1
	if r.curve.hessian {
		count += r.columns
	}
	size := r.problem.Size()
	return float64(count)*float64(size.N+size.Q+1)*float64(b.out.Stats.Steps) <= affordable
}

// refine repeats a with tighter tolerances until sens_tol is met, if it is asked for.
func (r checking) refine(ctx context.Context, a *attempt) (*attempt, error) {
	want, first := r.settings.SensTol, a.s.Settings.RTol
	for round := 0; want > 0 && a.opinion.Failed == nil; round++ {
		reached, where := a.s.Accuracy(a.opinion.Sizes)
		if reached <= want {
			if round > 0 {
				a.s.Note(r.model.Explain, CodeAccuracy, diag.Note,
					"sens_tol = %s is met with rtol = %s in place of %s (estimated %s)", diag.Number(want),
					diag.Number(a.s.Settings.RTol), diag.Number(first), diag.Number(reached))
			}
			break
		}
		how := a.run.settings.Solver
		if how.RTol <= 2*settings.LeastTol || how.Fixed > 0 && round > 20 || round > 0 && math.IsNaN(reached) {
			a.s.Note(r.model.Explain, CodeAccuracy, diag.Warning,
				"sens_tol = %s is not met: the derivative of %s is accurate "+
					"to %s, and rounding leaves no more to gain", diag.Number(want), where, diag.Number(reached))
			break
		}
		// Errors follow tolerances roughly: aim at half of what is wanted.
		factor := min(float64(0.5*want)/reached, 0.25)
		if !(factor > 1e-3) { // far off, they follow poorly
			factor = 1e-3
		}
		next, err := r.model.PrepareWhile(ctx, a.run.Refined(a.run.setup, factor).With(func(s *settings.Settings) {
			s.Trust = r.settings.Trust
		}))
		if err != nil {
			return nil, err
		}
		next.keep = r.keep
		seconds := a.s.Stats.Seconds
		a.run.release()
		if a, err = (checking{next}).attempt(ctx); err != nil {
			next.release()
			return nil, err
		}
		a.s.Stats.Seconds.Forward += seconds.Forward
		a.s.Stats.Seconds.Adjoint += seconds.Adjoint
		a.s.Stats.Seconds.Check += seconds.Check
	}
	return a, nil
}
