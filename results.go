package odes

import (
	"errors"
	"math"
	"slices"

	"odes.dev/odes/lang/target"

	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/steady"
	"odes.dev/odes/typecheck"
)

// Variable is what objectives are differentiated by: a param, or the initial value of a state.
type Variable struct {
	Name    string
	Initial bool // the initial value of state Name, not a param
	Unit    string
	Shape   []int
	// Offset is the column of the variable's first element in a row of the gradient.
	Offset int
}

// String returns "k" or "initial(x)".
func (v Variable) String() string {
	return v.target().String()
}

func (v Variable) target() target.Target {
	return target.Target{Name: v.Name, Initial: v.Initial}
}

// Size returns the number of elements.
func (v Variable) Size() int {
	n := 1
	for _, d := range v.Shape {
		n *= d
	}
	return n
}

// Value is the value of one scalar objective. Each element of an array objective is a Value of its
// own, named "y[3]".
type Value struct {
	Name     string
	Doc      string
	Unit     string
	Relation string // "", or "==", "<=", ">=" of a constraint
	Value    float64
	Error    float64 // estimated, where Sensitivities.Errors are
	Trust    Trust
	Warnings []string
}

// EventRecord is an event, or a change of mode, that happened.
type EventRecord struct {
	Name  string
	Kind  string // "event", "if", "control" for an end of a piece of a control
	Index []int  // of an array event's element, 1-based; nil otherwise
	T     float64
	// Params are the derivatives of T by the variables, laid out like a row of the gradient. nil
	// unless Options.EventTimes asks for them.
	Params []float64
	// Errors estimate how far each of Params is from the derivative of the exact solution, and Error
	// how far T is from the exact time. They are nil and 0 where no independent run was made, and where
	// it lacks the event.
	Errors []float64
	Error  float64
	Trust  Trust   // of T
	Trusts []Trust // of Params; nil where all are sound
}

// RunSettings are the settings that a run used.
type RunSettings struct {
	Method     string
	RTol, ATol float64
	Mode       string
	Checkpoint string // what was kept of the run, as a solver block says it
	Backend    string
	Lanes      int
	Threads    int
	// CheckedBy says in words which independent run the result was compared with; "" for none.
	CheckedBy string
	// Errors tells that estimated errors are to be shown: sens { error = on }, or sens_tol.
	Errors bool
}

// RunStats count the work of a run.
type RunStats struct {
	Steps, Rejected     int
	F, VJP              int   // evaluations of the right-hand side in the run, and of its transpose
	RecomputedSteps     int   // steps recomputed for the gradient; their right-hand sides are not in F
	PeakTrajectoryBytes int64 // what was kept of the run, with the memory to recompute steps
	SecondSteps         int   // steps crossed for second derivatives, over all sweeps
	// Of Rejected: for a number that is not finite, for equations without a solution, and to come nearer to an event;
	// the others for their errors.
	NonFinite, Singular, Sought int
	// What implicit methods took: Jacobians, factorisations of matrices, and solutions with them.
	Jacobians, Factorisations, Solves int
	// Drift is how many tolerances an algebraic unknown, Drifts, was off at most before the end of a step was made
	// consistent; 0 without algebraic unknowns.
	Drift  float64
	Drifts string
	// Methods made the steps, each so many, where a run went from one to another; nil where one made all. Changes is
	// how often it did.
	Methods []MethodSteps
	Changes int
	// What steady states took: steps of the runs to them, steps of Newton's method, and periods of those that repeat.
	SteadySteps, Newton, Periods int
	// SteadyWarm searches began at a steady state for other values, and SteadyKnown were not made, since another
	// experiment had the same steady state. SteadySaved is how many steps of runs that saved, if runs in their place
	// had taken as many as those before.
	SteadyWarm, SteadyKnown, SteadySaved int

	SteadyFlow int // steps of integrations of their derivatives, with sens { steady = run }
	// Rests are the steady states that the run found.
	Rests []Rest
	// Check is the time of all runs but the one that made the result.
	Seconds struct{ Parse, Compile, Forward, Adjoint, Second, Check float64 }
}

// Rest says of a steady state that it is stable, and how it was found.
type Rest struct {
	// Eigenvalue is that of the Jacobian, reduced by conserved quantities and algebraic equations, that is nearest to
	// growing, per unit of time. Of a periodic state it is the largest multiplier over a period, of which the absolute
	// value is below 1. NaN where it is not known; -∞ where the conserved quantities leave nothing free.
	Eigenvalue complex128
	// NearZero tells that only eigenvalues near zero were looked at, since there are many.
	NearZero bool
	// Time is how long the run to the steady state was; 0 where there was none.
	Time                   float64
	Steps, Newton, Periods int // as in RunStats
	// Warm tells that the search began at a steady state for other values. The state is stable, but need not be the one
	// that the run leads to: solver { steady_start = warm }.
	Warm  bool
	Saved int // steps of a run that this saved

	of *steady.State // experiments may share one
}

// MethodSteps says how many steps a method made.
type MethodSteps struct {
	Name  string
	Steps int
}

// Sensitivities is the result of Model.Sensitivities and of Runner.Sensitivities.
type Sensitivities struct {
	Status    string // "ok" or "partial": some objective has no value, or some number is Lost
	From, To  float64
	Values    []Value
	Variables []Variable
	// Gradient is [len(Values)][Columns]. Row i is the gradient of Values[i], in units of the value by
	// those of the variables; Variable.Offset says in which column a variable starts. It is exact for
	// the computed solution (docs/methods.md).
	Gradient []float64
	// Errors estimate how far each number of Gradient is from the derivative of the exact solution, by
	// an independent run. nil where none was made (sens { trust = off }), or where it failed.
	Errors []float64
	// Trusts are the grades of Gradient, laid out like it: the method Trust reads them. nil where all
	// of its numbers are Sound, and Values and Events as well.
	Trusts  []Trust
	Columns int
	// Hessian is [len(Values)][Columns][Columns], with sens { order = 2 }: the second derivatives of
	// Values[i], in units of the value by those of the two variables. Like the gradient it is exact
	// for the computed solution. Its columns are computed independently and then made symmetric.
	// Asymmetry[len(Values)] is how far the elements were from that, relative to the largest one: the
	// effect of rounding.
	Hessian   []float64
	Asymmetry []float64
	// HessianErrors and ProductErrors estimate how far each number of Hessian and Products is from that of the exact
	// solution, and HessianTrusts and ProductTrusts are the grades. The errors are nil where nothing was compared, and
	// the grades are where all are Sound as well.
	HessianErrors, ProductErrors []float64
	HessianTrusts, ProductTrusts []Trust
	// Products is [len(Values)][Columns]: row i is the Hessian of Values[i] times Direction[Columns],
	// where one was given (sens { hvp = … } or Options.Direction). It costs as much as one column of
	// the Hessians.
	Products  []float64
	Direction []float64
	// Events are those that Options.Events asks for, MoreEvents is how many came after them, and LastEvent is the last
	// of all, without the derivatives of its time. Where Options.EventLog allows it, Events may be nil, and EachEvent
	// reads them.
	Events     []EventRecord
	MoreEvents int
	LastEvent  EventRecord
	sides
	fastest  []float64 // by columns: how much the time of an event moves at most; nil where that is not known
	meetings []meeting // in the run
	unlike   []float64 // how far derivatives are from those with meetings in the other order; nil for none
	parted   []bool    // columns by which some are too far; nil for none
	settled  []bool    // columns of which unlike tells all that meetings do; nil for none
	// leapt tells by places in Gradient which derivatives of the value jump where the variable moves what met.
	leapt    map[int][]bool
	turned   []*Sensitivities // second derivatives of runs with meetings in another order
	held     []bool           // values that read a largest value which is held for a while; nil for none
	Settings RunSettings
	Stats    RunStats
	Warnings []diag.Diagnostic

	finite bool          // all values and derivatives are known to be finite
	log    *loggedEvents // of the events; nil where they are listed
}

// Derivative returns the derivatives of value i by variable v: a view of the gradient, row-major in
// v's shape.
func (s *Sensitivities) Derivative(i int, v Variable) []float64 {
	at := i*s.Columns + v.Offset
	return s.Gradient[at : at+v.Size()]
}

// Second returns the Hessian of value i: a view of Hessian, [Columns][Columns]. It is nil if there is
// none.
func (s *Sensitivities) Second(i int) []float64 {
	if s.Hessian == nil {
		return nil
	}
	n := s.Columns * s.Columns
	return s.Hessian[i*n : (i+1)*n]
}

// Series is one output over time.
type Series struct {
	Name   string
	Doc    string
	Unit   string
	Shape  []int
	Values []float64 // [len(T)][size of Shape], in Unit
	Trust  Trust     // of the worst of Values, beside the largest of the same element
	// Errors estimate how far each of Values is from that of the exact solution. nil where nothing was compared. Next
	// to events they are those of the next time that was compared.
	Errors []float64

	why string // it is not always a finite number; "" where that is not known
}

// Solution is the result of Model.Solve.
type Solution struct {
	Status   string    // "ok" or "partial": some objective has no value, or some number is Lost
	From, To float64   // of the run
	T        []float64 // ascending; at an event both limits appear, so a time may stand twice
	By       []int     // [len(T)] which of Stats.Methods made the step that ends there; nil where one made all
	Outputs  []Series
	Values   []Value // of the objectives
	Events   []EventRecord
	Settings RunSettings
	Stats    RunStats
	Warnings []diag.Diagnostic

	happened happenings
}

// add sums the work of two runs.
func (s *RunStats) add(o *RunStats) {
	s.Steps += o.Steps
	s.Rejected += o.Rejected
	s.F += o.F
	s.VJP += o.VJP
	s.RecomputedSteps += o.RecomputedSteps
	s.NonFinite += o.NonFinite
	s.Singular += o.Singular
	s.Sought += o.Sought
	s.Jacobians += o.Jacobians
	s.Factorisations += o.Factorisations
	s.Solves += o.Solves
	if o.Drift > s.Drift {
		s.Drift, s.Drifts = o.Drift, o.Drifts
	}
	s.Changes += o.Changes
	s.SteadyFlow += o.SteadyFlow
	s.rested(o.Rests)
	if o.Steps > 0 {
		s.Methods = nil // of several runs they are not added up
	}
	s.PeakTrajectoryBytes = max(s.PeakTrajectoryBytes, o.PeakTrajectoryBytes)
	s.Seconds.Forward += o.Seconds.Forward
	s.Seconds.Adjoint += o.Seconds.Adjoint
	s.Seconds.Check += o.Seconds.Check
}

// rested adds steady states, and what they took: once where experiments share one.
func (s *RunStats) rested(list []Rest) {
	before := len(s.Rests)
	s.Rests = append(s.Rests[:before:before], list...)
	for i, r := range list {
		if slices.ContainsFunc(s.Rests[:before+i], func(o Rest) bool { return o.of == r.of }) {
			s.SteadyKnown++
			s.SteadySaved += r.Steps + r.Saved
			continue
		}
		if r.Warm {
			s.SteadyWarm++
			s.SteadySaved += r.Saved
		}
		if r.Periods > 0 {
			s.Periods += r.Periods
			continue
		}
		s.SteadySteps += r.Steps
		s.Newton += r.Newton
	}
}

// RunError is a run that failed. Its diagnostics name the time, the state and the place in the text.
type RunError struct {
	List  *diag.ListError
	Cause error
	// From is where the run began and T how far it came, in the model's unit of time; both are NaN if
	// the run did not begin.
	From, T float64
}

func (e *RunError) Error() string { return e.List.Error() }

// Unwrap returns the solver's typed error and the diagnostics.
func (e *RunError) Unwrap() []error { return []error{e.List, e.Cause} }

// Interrupted reports whether err comes from a run that its context ended.
func Interrupted(err error) bool { return explain.Interrupted(err) }

// failed turns an error of a solver or a sensitivity method, in a run of w, into a RunError. It
// returns other errors as they are.
func (r *run) failed(err error, w *system.Worker) error {
	method := r.specimen()
	if w != nil { // which has the work space of a run; nobody else makes steps to explain the error
		method = r.method(0)
	}
	list, at := r.model.explain.Failure(err, w, method)
	if list == nil {
		return err
	}
	out := &RunError{List: list, Cause: err, From: math.NaN(), T: math.NaN()}
	if at != nil && w != nil {
		out.From, out.T = w.Started(), at.T
	}
	return out
}

// refused explains an error that says that there is not enough memory, and leaves others.
func (r *run) refused(err error) error {
	var refused *memory.RefusedError
	if diag.Of(err) != nil || !errors.As(err, &refused) {
		return err
	}
	return r.failed(err, nil)
}

// Codes of diagnostics, each with its text; `odes doc <text>` says more.
const (
	// What was asked for.

	CodeSetting   diag.Code = settings.CodeSetting     // "setting": a value that a setting does not take
	CodeNoSuchRun diag.Code = settings.CodeUnavailable // "unavailable": this version does not do it
	CodeOverride  diag.Code = system.CodeOverride      // "override": values that do not fit what they set
	CodeUnchosen  diag.Code = settings.CodeUnchosen    // "unchosen": all settings blocks of a kind have names
	CodeUnknown   diag.Code = typecheck.CodeUnknown    // "unknown-name": the model has no such name
	CodeBounds    diag.Code = typecheck.CodeBounds     // "bad-bounds": a warning where a value is outside its bounds

	// Runs that fail.

	CodeNonFinite   diag.Code = explain.CodeNonFinite   // "non-finite": NaN or infinity, with the expression
	CodeUnderflow   diag.Code = explain.CodeUnderflow   // "step-underflow": no step is short enough
	CodeTooMany     diag.Code = explain.CodeTooMany     // "too-many-steps"
	CodeChattering  diag.Code = explain.CodeChattering  // "chattering": an event fires over and over
	CodeCascade     diag.Code = explain.CodeCascade     // "cascade": events at one time set each other off
	CodeMemory      diag.Code = explain.CodeMemory      // "memory": more than is allowed; a note where less was kept
	CodeInterrupted diag.Code = explain.CodeInterrupted // "interrupted": the context ended
	CodeTime        diag.Code = explain.CodeTime        // "time-span": times that are in no order, or outside
	CodeAssert      diag.Code = explain.CodeAssert      // "assert-failed"
	CodeInvariant   diag.Code = explain.CodeInvariant   // "invariant-violated": an error at the start, else a warning
	CodeBackward    diag.Code = explain.CodeBackward    // "backward": an adjoint equation that cannot be integrated
	CodeIncapable   diag.Code = explain.CodeIncapable   // "incapable": what a step method cannot do

	// Warnings and notes.

	CodeGrazing     diag.Code = explain.CodeGrazing     // "grazing": a condition is hardly met
	CodeTie         diag.Code = explain.CodeTie         // "tie": things happen at one time
	CodeOutside     diag.Code = explain.CodeOutside     // "time-outside": a time that never comes
	CodeRest        diag.Code = explain.CodeRest        // "resting-event": an event turned back within rounding
	CodeUnseen      diag.Code = explain.CodeUnseen      // "unseen-peak": fixed steps pass over a peak in time
	CodeStiff       diag.Code = explain.CodeStiff       // "stiff": stability holds the steps short
	CodeSteady      diag.Code = explain.CodeSteady      // "steady-state": there is none, or none to rely on
	CodeHidden      diag.Code = explain.CodeHidden      // "hidden-event": an event that may have been missed
	CodeUnstable    diag.Code = explain.CodeUnstable    // "unstable": steps of fixed length are not stable
	CodeNoInfluence diag.Code = explain.CodeNoInfluence // "no-influence": a param that nothing reads
	CodeKink        diag.Code = explain.CodeKink        // "kink": a value where a function has no derivative
	CodeAuto        diag.Code = "auto"                  // what auto chose
	CodeUnused      diag.Code = "unused-experiments"    // nothing that is differentiated has a part in the experiments
	CodeChecked     diag.Code = "gradient-check"        // what check = fd(…) found
	CodeAccuracy    diag.Code = "accuracy"              // of derivatives
	CodeTrust       diag.Code = "trust"                 // what an independent run says of the numbers
)

// sides say which derivatives, [values][columns], are those of one side.
type sides struct {
	sided    []bool // kinks and ties make them so; nil for none
	allSided bool   // something else makes all of them so
	bent     []bool // derivatives that may be others on the other side, also where they are zero; or nil
	curved   []bool // where bent is not nil: those by which, and any other, second derivatives may jump
	met      []bool // where bent is not nil: those by two of which second derivatives may jump
	reached  []bool // where bent is not nil, or something may be unseen: derivatives by what the value depends on
	// Of sided and bent, those that are so by more than meetings that runs in both orders decide about.
	firmlySided, firmlyBent []bool
}

// lists are all that tell of single derivatives.
func (s *sides) lists() [7]*[]bool {
	return [7]*[]bool{&s.sided, &s.bent, &s.curved, &s.met, &s.reached, &s.firmlySided, &s.firmlyBent}
}

// join adds what o says of row k to row i of s, of so many columns. s has all n rows.
func (s *sides) join(i int, o *sides, k, columns, n int) {
	s.allSided = s.allSided || o.allSided
	from := o.lists()
	for of, to := range s.lists() {
		if *from[of] == nil {
			continue
		}
		if *to == nil {
			*to = make([]bool, n*columns)
		}
		for j, x := range (*from[of])[k*columns : (k+1)*columns] {
			(*to)[i*columns+j] = (*to)[i*columns+j] || x
		}
	}
}
