package explain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/engine/origin"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/target"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/steady"
	"odes.dev/odes/tape"
)

// Interrupted reports whether err is a run that its context ended.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// OfModel reports whether err ended a run because of what the model does at some time: something is no finite number
// there, steps become too short, or events accumulate. What other runs reached are limits of how they were made.
func OfModel(err error) bool {
	var nonFinite *solvers.NonFiniteError
	var short *solvers.StepUnderflowError
	var events *solvers.ChatteringError
	return errors.As(err, &nonFinite) || errors.As(err, &short) || errors.As(err, &events) && events.Max == 0
}

// failure is a run that failed, while it is explained.
type failure struct {
	*Explainer
	worker *system.Worker // nil where there is none
	method solvers.Method
	list   diag.List
}

// failures explain the typed errors of solvers and sensitivity methods. The first one that knows an error
// explains it.
var failures = []func(*failure, error) bool{
	explains((*failure).nonFinite),
	explains((*failure).matrix),
	explains((*failure).inconsistent),
	explains((*failure).noJacobian),
	explains((*failure).underflow),
	explains((*failure).tooMany),
	explains((*failure).chattering),
	explains((*failure).cascade),
	explains((*failure).pending),
	explains((*failure).delay),
	explains((*failure).memory),
	explains((*failure).refused),
	explains((*failure).disk),
	explains((*failure).cancelled),
	explains((*failure).backward),
	explains((*failure).wrongTime),
	explains((*failure).incapable),
	explains((*failure).steady),
	(*failure).interrupted,
}

// explains makes an entry of failures from what explains one type of error.
func explains[E error](explain func(*failure, E)) func(*failure, error) bool {
	return func(f *failure, err error) bool {
		var e E
		if !errors.As(err, &e) {
			return false
		}
		explain(f, e)
		return true
	}
}

// Failure explains the error of a run of w with a method. It returns nil for an error that is not from
// a solver or a sensitivity method. It also returns where the run was, or nil if the error names no
// place. w may be nil.
func (x *Explainer) Failure(err error, w *system.Worker, method solvers.Method) (*diag.ListError, *solvers.Place) {
	f := &failure{Explainer: x, worker: w, method: method}
	if !slices.ContainsFunc(failures, func(explain func(*failure, error) bool) bool { return explain(f, err) }) {
		return nil, nil
	}
	var placed interface{ At() *solvers.Place }
	if errors.As(err, &placed) {
		return &diag.ListError{Diagnostics: f.list.All()}, placed.At()
	}
	return &diag.ListError{Diagnostics: f.list.All()}, nil
}

// steady explains why there is no steady state.
func (f *failure) steady(e *steady.Error) {
	at := f.span
	for _, ev := range f.model.Checked.Events {
		if ev.Settles {
			at = ev.Span
		}
	}
	d := f.list.Errorf(CodeSteady, at, "%v", e)
	if e.Fault != steady.Marginal {
		return
	}
	if params, _ := f.model.Coefficients(context.Background()); len(params) > 0 {
		d.Message += "; a sum of states stays what it was, but its coefficients are of " + strings.Join(params, ", ") +
			": where these are declared const, as volumes may be, it is found"
	}
}

func (f *failure) nonFinite(e *solvers.NonFiniteError) {
	if e.Matrix != nil {
		f.unsolvable(e.Matrix, &e.Place)
		return
	}
	d := f.list.Errorf(CodeNonFinite, f.span, "%s is not a finite number at %s", e.What, f.at(&e.Place))
	switch {
	case f.worker == nil:
	case e.Body != nil:
		if a, from := f.worker.NonFiniteBody(*e.Body, e.T, e.Y, e.D); a != nil {
			f.assigns(d, a, from, e)
		}
	case e.Guard > 0:
		g := f.worker.Guards()[e.Guard-1]
		if d.Span = f.eventSpan(g.Name); g.Event >= 0 {
			d.Span = f.model.Checked.Events[g.Event].Span
		}
		if from, found := f.worker.NonFiniteGuards(e.T, e.Y, e.D, e.M); found {
			f.move(d, from, causes(from), e.T)
		}
	case e.Stage < 0 && f.atStart(d, e):
	default:
		f.blame(d, f.worker, f.method, &e.Place)
	}
}

// atStart says which initial value is not a finite number.
func (f *failure) atStart(d *diag.Diagnostic, e *solvers.NonFiniteError) bool {
	i := slices.IndexFunc(e.Y, func(v float64) bool { return v-v != 0 })
	if i < 0 {
		return false
	}
	name := f.model.StateName(i)
	base := target.Array(name)
	for _, s := range f.model.Checked.States {
		if s.Name == base && s.Value != nil && !s.Value.Span().IsZero() {
			d.Span = s.Value.Span()
			d.Message = fmt.Sprintf("the initial value of %s is %s, which is not a finite number, at %s", name,
				diag.Number(e.Y[i]), f.at(&e.Place))
			return true
		}
	}
	return false
}

// assigns says which assignment of a body made a number that is not finite, and why.
func (f *failure) assigns(d *diag.Diagnostic, a *model.Assign, from origin.Origin, e *solvers.NonFiniteError) {
	d.Span = a.Span
	if v := a.Value.Span(); v.File == a.Span.File {
		d.Span = a.Span.To(v)
	}
	why := ""
	if !from.Span.IsZero() {
		why = ": " + from.String()
	}
	d.Message = fmt.Sprintf("%q in %s makes %s something that is not a finite number, at %s%s",
		strings.Join(strings.Fields(d.Span.Text()), " "), strings.TrimPrefix(e.What, "the state after "), a.Target.Name,
		f.at(&e.Place), why)
}

// unsolvable explains why the equations of an implicit step at p had no solution.
func (f *failure) unsolvable(e *solvers.MatrixError, p *solvers.Place) {
	switch {
	case e.Kind == solvers.MatrixTooLarge:
		f.matrix(e)
	case e.Kind == solvers.MatrixNotFinite && !e.Overflow:
		d := f.list.Errorf(CodeNonFinite, f.rate(e.Rows), "the derivative of %s by %s is not a finite number at %s, "+
			"and %s solves equations with it; keep away from there, write a smooth expression, or take an explicit "+
			"method",
			f.rateName(e.Rows[0]), f.columnName(e.Cols[0]), f.at(p), f.method.Info().Name)
		if f.worker == nil || len(p.Y) != f.model.States() {
			return
		}
		if from, found := f.worker.NonFiniteJacobian(p.T, p.Y, p.D, p.M); found {
			f.move(d, from, "the derivative of %q is not a finite number at %s; %s", p.T)
		}
	case e.Kind == solvers.MatrixDiverged:
		f.list.Errorf(CodeUnderflow, f.rate(e.Rows), "Newton's method finds no solution of the equations for a step "+
			"of %s at %s: with h = %s, it goes on to change %s; shorter steps (hmax, fixed_step, rtol), or another "+
			"method may do without", f.method.Info().Name, f.at(p), diag.Number(p.H), f.stateNames(e.Cols))
	case !e.Overflow && f.unknowns(e.Cols):
		f.list.Errorf(CodeInconsistent, f.rate(e.Cols), "the algebraic equations do not determine %s at %s: two "+
			"solutions meet there, the solution ends, or the model is of a higher index there; begin with another "+
			"guess (alg z = …), or end the run before", f.stateNames(e.Cols), f.at(p))
	default:
		why := "they do not determine " + f.stateNames(e.Cols)
		if e.Overflow {
			why = "those of " + f.stateNames(e.Cols) + " overflow there"
		}
		f.list.Errorf(CodeUnderflow, f.rate(e.Rows), "the equations for a step of %s have no solution at %s: with "+
			"h = %s, %s; another length of steps, rtol, or another method may do without",
			f.method.Info().Name, f.at(p), diag.Number(p.H), why)
	}
}

// matrix explains a matrix that has no room.
func (f *failure) matrix(e *solvers.MatrixError) {
	instead := ""
	if e.Iterative {
		instead = "linear = gmres, which has no factors, "
	}
	f.list.Errorf(CodeMemory, f.span, "the equations for a step of an implicit method need more than %s of memory "+
		"once they are factored, and may take %s; take %sfewer states, a coarser grid, or an explicit method: "+
		"method = rkc2 for diffusion", diag.Bytes(float64(e.Bytes)), diag.Bytes(float64(e.Limit)), instead)
}

// inconsistent explains algebraic equations without a solution.
func (f *failure) inconsistent(e *matrices.ConsistencyError) {
	when := "at the start, " + f.at(&e.Place)
	from := "the guesses of the unknowns (`alg z = guess`)"
	finite, regular := "give guesses where it is", "either another guess leads past that point"
	solved := "a guess nearer to the solution may do"
	if e.After != "" || e.Step > 0 { // no guess has a part in it
		finite, regular = "keep away from there", "either solutions meet at that point"
		solved = "the nearest solution may be far from there"
	}
	if e.After != "" {
		when, from = "after "+e.After+", "+f.at(&e.Place), "the values before it"
	} else if e.Step > 0 {
		when, from = "from "+f.at(&e.Place)+" on", "the values before"
	}
	at, name := f.span, "an algebraic equation"
	if len(e.Rows) > 0 {
		at, name = f.model.Equation(e.Rows[0])
	}
	switch e.Kind {
	case matrices.ConsistencySingular:
		var equations []string
		for _, i := range e.Rows {
			_, name := f.model.Equation(i)
			equations = append(equations, name)
		}
		why := "the derivatives of " + strings.Join(equations, " and ") + " by them are linearly dependent there"
		if len(e.Rows) == 1 && len(e.Cols) == 1 {
			why = "the derivative of " + equations[0] + " by it is zero there"
		}
		f.list.Errorf(CodeInconsistent, at, "the algebraic equations do not determine %s %s: %s; %s, or the model is "+
			"of a higher index there", f.stateNames(e.Cols), when, why, regular)
	case matrices.ConsistencyNotFinite:
		d := f.list.Errorf(CodeInconsistent, at, "%s, or a derivative of it, is not a finite number %s; %s", name,
			when, finite)
		f.blame(d, f.worker, f.method, &e.Place)
	default:
		f.list.Errorf(CodeInconsistent, at, "no consistent values were found %s: Newton's method from %s comes no "+
			"nearer, with the largest residual in %s, %s; %s, or there is none", when, from, name,
			diag.Number(e.Residual), solved)
	}
}

// unknowns reports whether all of some columns of the Jacobian are algebraic unknowns.
func (f *failure) unknowns(cols []int) bool {
	return f.model.Algebraic() && len(cols) > 0 && !slices.ContainsFunc(cols, func(i int) bool {
		return !slices.Contains(f.model.Mass.Unknowns, int32(i))
	})
}

func (f *failure) noJacobian(e *solvers.NoJacobianError) {
	f.list.Errorf(CodeIncapable, f.span, "%s", e.Error())
}

// rate returns the place of the equation of the first of the rows.
func (f *failure) rate(rows []int) source.Span {
	if len(rows) == 0 || rows[0] >= f.model.States() {
		return f.span
	}
	at, _ := f.model.Equation(rows[0])
	return at
}

// rateName names a row of the Jacobian: "x'", or an integral.
func (f *failure) rateName(row int) string {
	if row >= f.model.States() {
		return "what an objective integrates"
	}
	_, name := f.model.Equation(row)
	return name
}

// columnName names a column of the Jacobian.
func (f *failure) columnName(col int) string {
	if col >= f.model.States() {
		return f.time
	}
	return f.model.StateName(col)
}

// stateNames lists states, the first few of them.
func (f *failure) stateNames(list []int) string {
	const most = 4
	var names []string
	for _, i := range list[:min(len(list), most)] {
		names = append(names, f.model.StateName(i))
	}
	if more := len(list) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

func (f *failure) underflow(e *solvers.StepUnderflowError) {
	if e.Matrix != nil {
		f.unsolvable(e.Matrix, &e.Place)
		return
	}
	if e.NonFinite {
		d := f.list.Errorf(CodeUnderflow, f.span, "every step from %s gives something that is not a finite number, "+
			"however short", f.at(&e.Place))
		f.blame(d, f.worker, f.method, &e.Place)
		return
	}
	f.list.Errorf(CodeUnderflow, f.blamed(&e.Place),
		"the step size fell below %s: the estimated error stays above the tolerance at %s%s; the model may be "+
			"singular or stiff there, or the tolerances too tight",
		diag.Number(e.HMin), f.at(&e.Place), f.worst(&e.Place))
}

// cures say what to do about a switch along which the solution slides.
const cures = "give the switch a hysteresis (two thresholds, with a discrete that two events set), smooth it " +
	"(tanh(x/w) for the sign of x), or write out the equations of the sliding motion"

func (f *failure) tooMany(e *solvers.TooManyStepsError) {
	if i := f.slides(&e.Place); i >= 0 {
		name := f.model.StateName(i)
		f.list.Errorf(CodeTooMany, f.equation(name), "more than max_steps = %d steps, and only at %s: the rate of %s "+
			"jumps there, and leads back from both sides of the jump, so the solution slides along a switch in "+
			"noevent(…), and more steps do not help; %s", e.Max, f.at(&e.Place), name, cures)
		return
	}
	d := f.list.Errorf(CodeTooMany, f.blamed(&e.Place), "more than max_steps = %d steps, and only at %s%s; raise "+
		"solver.max_steps, loosen rtol, or shorten the time span", e.Max, f.at(&e.Place), f.worst(&e.Place))
	members := solvers.Members(f.method)
	_, explicit := f.method.(solvers.StiffnessDetector)
	switch m := e.Matrix; {
	case m == nil && explicit && len(members) == 1:
		d.Message += "; for a stiff model take method = auto"
	case m == nil:
	case m.Kind == solvers.MatrixNotFinite && !m.Overflow:
		d.Message += fmt.Sprintf("; the run is stiff there, and %s cannot make its steps, since the derivative of %s "+
			"by %s is not a finite number: keep away from there, or write a smooth expression",
			members[len(members)-1].Info().Name, f.rateName(m.Rows[0]), f.columnName(m.Cols[0]))
	case m.Kind == solvers.MatrixTooLarge:
		d.Message += fmt.Sprintf("; the run is stiff there, and the factors that %s needs take more than %s of "+
			"memory, and may take %s: take a coarser grid, or linear = gmres", members[len(members)-1].Info().Name,
			diag.Bytes(float64(m.Bytes)), diag.Bytes(float64(m.Limit)))
	}
}

// slides returns a state whose rate has a jump that no event shows within a few steps of a place, and leads back from
// behind it; or -1. Where a rate is only steep there, it is larger the farther from there.
func (f *failure) slides(p *solvers.Place) int {
	w, n := f.worker, f.model.States()
	jumps := slices.ContainsFunc(f.model.Compiled.Rates.Instrs, func(in tape.Instr) bool { return in.Op.HasJump() })
	if !jumps || w == nil || len(p.Y) != n || p.H == 0 {
		return -1
	}
	w.Enter(p.D, p.M)
	size := w.Size()
	here := make([]float64, size.N+size.Q)
	w.Eval(p.T, p.Y, here)
	var beyond [2][]float64
	for i, steps := range []float64{16, 64} {
		y := slices.Clone(p.Y)
		for k := range y {
			y[k] += float64(steps * p.H * here[k])
		}
		beyond[i] = make([]float64, len(here))
		w.Eval(p.T+float64(steps*p.H), y, beyond[i])
	}
	for k := range n {
		near, far := beyond[0][k], beyond[1][k]
		if here[k]*near < 0 && here[k]*far < 0 && far/near > 0.5 && far/near < 2 {
			return k
		}
	}
	return -1
}

func (f *failure) chattering(e *solvers.ChatteringError) {
	last := make([]string, len(e.Times))
	for i, t := range e.Times {
		last[i] = strconv.FormatFloat(t, 'g', 13, 64)
	}
	mode := f.isMode(e.Event)
	what, times := "event "+e.Event, strings.Join(last, ", ")
	if mode {
		what = "the condition of " + e.Event
	}
	at := f.eventSpan(e.Event)
	const many = "more than max_events = %d events and changes of mode happened"
	switch {
	case e.Kind == solvers.Regular && e.Max > 0:
		f.list.Errorf(CodeChattering, at, many+" before %s; the last, %s, comes every %s (last times %s); if that is "+
			"meant, raise solver.max_events", e.Max, f.at(&e.Place), what, diag.Number(e.Gap), times)
	case e.Kind == solvers.Zeno:
		how := "comes faster and faster"
		if e.Max > 0 {
			how = fmt.Sprintf("comes faster and faster, and "+many, e.Max)
		}
		f.list.Errorf(CodeChattering, at, "%s is chattering: it %s (last times %s), at %s; its times accumulate at "+
			"about %s (a Zeno point), which no number of events passes, so raising solver.max_events does not help: "+
			"end the run with such an event (stop), or let it switch the model to rest",
			what, how, times, f.at(&e.Place), f.When(e.Limit))
	case e.Kind == solvers.Sliding:
		turn := "on both sides of it the equations lead back to it"
		if e.Other != "" {
			turn = "it fires in turn with event " + e.Other + ", and each leads back to the other"
		}
		f.list.Errorf(CodeChattering, at, "%s is chattering: it %s (last times %s), at %s; %s, so the solution slides "+
			"along it: %s; noevent(…) does not help", what, e.Reason, times, f.at(&e.Place), turn, cures)
	case e.Kind == solvers.Undecided:
		if !mode {
			what = "the condition of " + what
		}
		f.list.Errorf(CodeChattering, at, "%s %s, at %s; write it otherwise: leave out what cancels, or compare "+
			"with a margin", what, e.Reason, f.at(&e.Place))
	case mode:
		f.list.Errorf(CodeChattering, at, "%s is chattering: it %s (last times %s), at %s; smooth the switch, or give "+
			"it a hysteresis",
			what, e.Reason, times, f.at(&e.Place))
	default:
		f.list.Errorf(CodeChattering, at, "%s is chattering: it %s (last times %s), at %s; end the run with such an "+
			"event (stop), or let it switch the model to rest", what, e.Reason, times, f.at(&e.Place))
	}
}

func (f *failure) pending(e *solvers.PendingError) {
	f.list.Errorf(CodePending, f.eventSpan(e.Event), "more than %d executions of event %s are pending at %s; raise "+
		"its option pending", e.Max, e.Event, f.at(&e.Place))
}

func (f *failure) delay(e *solvers.DelayError) {
	f.list.Errorf(CodeTime, f.eventSpan(e.Event), "the delay of event %s is negative, %s, at %s",
		e.Event, diag.Number(e.Value), f.at(&e.Place))
}

func (f *failure) cascade(e *solvers.CascadeError) {
	at := f.span
	if len(e.Events) > 0 {
		at = f.eventSpan(e.Events[0])
	}
	f.list.Errorf(CodeCascade, at, "events set each other off at one time more than max_cascade = %d times: %s, at "+
		"%s; break the loop, or raise solver.max_cascade",
		e.Max, strings.Join(e.Events, ", "), f.at(&e.Place))
}

func (f *failure) memory(e *record.MemoryError) {
	keep, less := "", "loosen rtol, or shorten the time span"
	switch {
	case e.Keep.Kind == record.CheckpointAuto:
	case e.Thinned:
		keep = ", with every state kept and nothing else,"
		if k := e.Keep.Every; k > 1 {
			keep = fmt.Sprintf(", with one state in %d kept and nothing else,", k)
		}
	case e.Keep.Kind == record.CheckpointBinomial:
		keep = fmt.Sprintf(" with checkpoint = %s", e.Keep)
		less = "keep fewer states there, or some on disk: revolve(ram = 20, disk = 200)"
		if e.Keep.Stages {
			less = "keep fewer steps there, or some on disk: stages(ram = 20, disk = 200)"
		}
	default:
		keep = fmt.Sprintf(" with checkpoint = %s", e.Keep)
		less = "leave checkpoint out, so that less is kept where it must be"
	}
	f.list.Errorf(CodeMemory, f.span, "the trajectory needs more than the %s that memory leaves it%s at %s; raise "+
		"solver.memory, or %s", diag.Bytes(float64(e.Limit)), keep, f.at(&e.Place), less)
}

func (f *failure) refused(e *memory.RefusedError) {
	f.list.Errorf(CodeMemory, f.span, "%s; make the model smaller, choose fewer objectives and variables with --of "+
		"and --wrt, or take fewer --lanes and --threads", e.Error())
}

func (f *failure) disk(e *record.DiskError) {
	f.list.Errorf(CodeMemory, f.span, "%s; files for it are made in %s: set %s to a directory with room, or keep "+
		"fewer states on disk (solver.checkpoint)", e.Error(), os.TempDir(), tempVariable())
}

func (f *failure) cancelled(e *solvers.CancelledError) {
	f.list.Errorf(CodeInterrupted, source.Span{}, "interrupted at %s", f.at(&e.Place))
}

func (f *failure) backward(e *sens.BackwardError) {
	f.list.Errorf(CodeBackward, f.span, "%s", e.Error())
}

func (f *failure) wrongTime(e *solvers.TimeError) {
	f.list.Errorf(CodeTime, f.instantSpan(e.Instant, f.span), "%s", e.Message)
}

func (f *failure) incapable(e *solvers.IncapableError) {
	f.list.Errorf(CodeIncapable, f.span, "%s, which this run asks for; choose another method", e.Error())
}

// interrupted explains an interruption after the run, which names no place.
func (f *failure) interrupted(err error) bool {
	if !Interrupted(err) {
		return false
	}
	f.list.Errorf(CodeInterrupted, source.Span{}, "interrupted while differentiating; the run itself was done")
	return true
}

// shownStates is how many states a place shows.
const shownStates = 4

// at says where a run was: the time, the step, the last event and a few states.
func (x *Explainer) at(p *solvers.Place) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %s (step %d, h = %s)", x.time, diag.Number(p.T), p.Step+1, diag.Number(p.H))
	if n := len(p.Y); n > 0 {
		b.WriteString(" with ")
		for i := range min(n, shownStates) {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s = %s", x.model.StateName(i), diag.Number(p.Y[i]))
		}
		if n > shownStates {
			fmt.Fprintf(&b, ", … (%d states)", n)
		}
	}
	if p.LastEvent != "" {
		fmt.Fprintf(&b, ", after event %s at %s", p.LastEvent, diag.Number(p.LastTime))
	}
	return b.String()
}

// worst names the states that kept the step small.
func (x *Explainer) worst(p *solvers.Place) string {
	stiff := ""
	if p.Stiff > 0 {
		stiff = fmt.Sprintf("; this looks stiff: stability holds the steps short (an eigenvalue of about -%s)",
			strconv.FormatFloat(p.Stiff, 'g', 2, 64))
	}
	if len(p.Worst) == 0 {
		return stiff
	}
	parts := make([]string, len(p.Worst))
	for i, w := range p.Worst {
		value := ""
		if len(p.Y) > shownStates { // the place may not show it
			value = " = " + diag.Number(w.Value)
		}
		parts[i] = fmt.Sprintf("%s%s (error %s × tolerance)", w.Name, value, strconv.FormatFloat(w.Scaled, 'g', 3, 64))
	}
	return "; kept small by " + strings.Join(parts, ", ") + stiff
}

// blamed returns the place of the equation of the state that kept the step small.
func (x *Explainer) blamed(p *solvers.Place) source.Span {
	if len(p.Worst) > 0 {
		return x.equation(p.Worst[0].Name)
	}
	return x.span
}

// equation returns the place of the equation of a state.
func (x *Explainer) equation(state string) source.Span {
	base := target.Array(state)
	for i, s := range x.model.Checked.Differential() {
		if s.Name == base && !x.model.Checked.Rates[i].Span().IsZero() {
			return x.model.Checked.Rates[i].Span()
		}
	}
	return x.span
}

// witness is a Field that remembers the first point where the right-hand side was not finite.
type witness struct {
	*system.Worker
	seen bool
	t    float64
	y    []float64
}

func (w *witness) Eval(t float64, y, k []float64) {
	w.Worker.Eval(t, y, k)
	if w.seen {
		return
	}
	for _, x := range k {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			w.seen, w.t, w.y = true, t, append([]float64(nil), y...)
			return
		}
	}
}

// MakeStep declines, so that a step is made stage by stage and Eval sees each.
func (*witness) MakeStep(*solvers.Arithmetic, *solvers.Step, bool) bool { return false }

// MakeSolvedStep declines likewise.
func (*witness) MakeSolvedStep(*matrices.SolvedArithmetic, *matrices.StepMatrix, *solvers.Step, bool,
	*matrices.SolvedStep,
) bool {
	return false
}

// blame moves d to the expression that first gave a number that is not finite. It finds the expression
// by repeating the step that failed.
func (x *Explainer) blame(d *diag.Diagnostic, w *system.Worker, method solvers.Method, p *solvers.Place) {
	if w == nil || len(p.Y) != x.model.States() {
		return
	}
	w.Enter(p.D, p.M)
	size := w.Size()
	see := &witness{Worker: w}
	see.Eval(p.T, p.Y, make([]float64, size.N+size.Q))
	if !see.seen && p.H != 0 {
		s := solvers.NewStep(method.Info(), size)
		s.T, s.H, s.T1 = p.T, p.H, p.T+p.H
		copy(s.Y0, p.Y)
		method.Step(see, s, false)
		if !see.seen {
			see.y = s.Y1
		}
	}
	if !see.seen {
		if !x.blameGuard(d, w, p, see.y) {
			x.blameState(d, see.y)
		}
		return
	}
	from, found := w.NonFinite(see.t, see.y, p.D, p.M)
	if !found {
		x.blameState(d, see.y)
		return
	}
	d.Relate(d.Span, "while solving over this time span")
	x.move(d, from, causes(from), see.t)
}

// causes is the format of move for an origin.
func causes(from origin.Origin) string {
	if from.Cause != "" {
		return "%q is " + from.Cause + " at %s; %s"
	}
	return "%q is not a finite number at %s; %s"
}

// blameGuard moves d to the condition of an event that is not a number at the end of the step that failed, at y. It
// reports whether there is one.
func (x *Explainer) blameGuard(d *diag.Diagnostic, w *system.Worker, p *solvers.Place, y []float64) bool {
	if len(y) == 0 {
		y = p.Y
	}
	from, found := w.NonFiniteGuards(p.T+p.H, y, p.D, p.M)
	if !found {
		return false
	}
	guards := w.Guards()
	rho, truth := make([]float64, len(guards)), make([]bool, len(guards))
	w.GuardValues(p.T+p.H, y, rho, truth)
	i := slices.IndexFunc(rho, func(v float64) bool { return v != v })
	if i < 0 {
		return false
	}
	d.Relate(d.Span, "while solving over this time span")
	d.Message = "the condition of " + x.guardName(guards[i]) + " is not a number; " + d.Message
	x.move(d, from, causes(from), p.T+p.H)
	return true
}

// guardName returns what messages call a guard.
func (x *Explainer) guardName(g solvers.Guard) string {
	if g.Event < 0 {
		return g.Name
	}
	return x.model.Checked.Events[g.Event].Name
}

// blameState moves d to the equation of the first of the states y that is not a finite number.
func (x *Explainer) blameState(d *diag.Diagnostic, y []float64) {
	i := slices.IndexFunc(y, func(v float64) bool { return v-v != 0 })
	if i < 0 {
		return
	}
	name := x.model.StateName(i)
	d.Relate(d.Span, "while solving over this time span")
	d.Span = x.equation(name)
	d.Message = fmt.Sprintf("%s grows too large for a number; %s", name, d.Message)
}

// move moves d to an expression and puts before its message what format says of the expression at a time.
func (x *Explainer) move(d *diag.Diagnostic, from origin.Origin, format string, t float64) {
	d.Span = from.Span
	text := from.Span.Text()
	if len(text) > 60 {
		text = text[:60] + "…"
	}
	d.Message = fmt.Sprintf(format, text, x.When(t), d.Message)
}

// tempVariable is the environment variable that says where temporary files are made.
func tempVariable() string {
	if runtime.GOOS == "windows" {
		return "TMP"
	}
	return "TMPDIR"
}
