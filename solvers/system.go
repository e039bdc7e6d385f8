// Package solvers says how initial value problems with events are integrated. For every step it also owns the tangent
// and the transpose, from which package sens makes derivatives of whole runs.
//
// It must not know of the language, of compiled models, or of how a right-hand side is evaluated: it sees a System,
// which it can evaluate, push tangents through and pull cotangents through. It prints nothing and opens no file.
// Errors are typed values that carry a time, a state and a place; the caller turns them into messages about a model.
//
// Conventions: y has N elements, the quadratures Q, the parameters P, the discretes D and the modes M. Tangents and
// cotangents of a vector come in L lanes, laid out [element][lane] with the lane fastest. Nothing here allocates
// inside a step. A System belongs to one goroutine, and so does a Method.
//
// This package has the contracts: System, Method (with what methods can do besides, Capability), Sink, Options, Stats
// and errors. Its rooms are hybrid, which makes runs; record, which keeps them; methods, which lists the families of
// methods of explicit, implicit and rosenbrock; and what these share, in stages and matrices.
package solvers

import (
	"math"

	"odes.dev/odes/lang/policy"
)

// Size gives the lengths of a System's vectors.
type Size struct {
	N int // states y
	Q int // quadratures: rows of the right-hand side on which nothing depends
	P int // parameters
	D int // discretes: piecewise constant, changed by events, differentiated
	M int // modes: held values of conditions, changed by events, not differentiated
}

// Field is a right-hand side y' = f(t, y), q' = r(t, y) at fixed discretes and modes.
type Field interface {
	Size() Size
	// Eval writes k[N+Q] = (f, r)(t, y). The result overlaps none of the arguments. The same holds for every result
	// below.
	Eval(t float64, y, k []float64)
}

// TangentField pushes tangents through a Field.
type TangentField interface {
	Field
	Lanes() int
	// Push writes kd[(N+Q)·L] = ∂(f, r)/∂(t, y, d, p) · (td, yd, dd, pd), with td[L], yd[N·L] and the current
	// tangents of the discretes and parameters.
	Push(t float64, y, td, yd, kd []float64)
}

// CotangentField pulls cotangents through a Field.
type CotangentField interface {
	Field
	Lanes() int
	// Pull overwrites yb[N·L] = (∂(f, r)/∂y)ᵀ kb and tb[L] = (∂(f, r)/∂t)ᵀ kb for kb[(N+Q)·L]. It adds the cotangents
	// of discretes and parameters to accumulators of its own.
	Pull(t float64, y, kb, yb, tb []float64)
}

// System is an initial value problem with events: what Solve integrates.
//
// Guards are real functions ρ_i(t, y), each with a truth value. A one-sided guard fires when its truth becomes true
// (ρ > 0, or ρ ≥ 0 for a non-strict condition). A crossing guard fires when ρ changes sign, if its truth, then called
// the filter, holds at the left limit. The guard of a mode tells that the held value is no longer what Choose would
// give; it fires like a one-sided guard.
//
// Instants are times known beforehand: functions T_i(p, d) of parameters and discretes. Instants 0 and 1 are t0 and
// tf; t0 depends on no discrete.
//
// Events are listed in the order of the file. Affect, its tangent and its transpose are called after Enter with the
// discretes and modes of the left limit.
type System interface {
	Field
	// Start writes the initial y[N] and d[D] for the run that begins at t0.
	Start(t0 float64, y, d []float64)
	// Enter makes d[D] and m[M] current for Eval, Guards and Choose, and redoes the work hoisted on them.
	Enter(d, m []float64)
	// Choose writes the modes m[M] that hold at (t, y) with the current discretes. Mode i keeps its value where kept[i]
	// is set, also inside conditions that read it. kept may be nil.
	Choose(t float64, y []float64, kept []bool, m []float64)

	Guards() []Guard
	// GuardValues writes ρ and truth of every guard at (t, y).
	GuardValues(t float64, y, rho []float64, truth []bool)

	Instants() []Instant
	// InstantTimes writes T[len(Instants())] for discretes d.
	InstantTimes(d, times []float64)

	Events() []Event
	// Affect applies the body of element f.Elem of event f.Event to the left limits ym[N], dm[D]. It writes the right
	// limits yp, dp, which do not overlap them, and reports whether the body stops the run.
	Affect(f Firing, t float64, ym, dm, yp, dp []float64) (stop bool)

	// StateName names element i of y, for messages.
	StateName(i int) string
}

// Grouped is a System some of whose states are elements of one array, and so alike.
type Grouped interface {
	System
	// Groups returns the numbers of the arrays of the states, [N], from 0.
	Groups() []int32
}

// Cause is why something happens at a time: the root of a guard, or occurrence Nth of an instant.
type Cause struct {
	Guard        int // -1 where it is an instant
	Instant, Nth int
}

// Separator is a System that knows which causes can come apart. Apart reports whether a and b, which meet at (t, y)
// with discretes d, happen at different times for some other values of what derivatives are taken by. At the start
// (instant 0), y moves as initial values do; otherwise y may move in any direction. Without a Separator all causes
// can come apart, except two at fixed times.
type Separator interface {
	Apart(t float64, y, d []float64, a, b Cause) bool
	// ApartAt reports whether several conditions or levels of guards change at j, and can come apart. It names two of
	// them, for messages. The caller must enter the segment anew afterwards.
	ApartAt(j *Junction) (which [2]string, some bool)
}

// Junction is a point of a run at which several conditions may change at one time.
type Junction struct {
	T          float64
	Y, D       []float64
	M          [2][]float64 // modes before and behind it
	Start, End bool         // of the run
	Bounds     int          // bounds of integrals that come there
	Fired      []Cause      // of the events there
	Soon       float64      // the time within which conditions change at one time
}

// Clock is a System with conditions, levels or kinks that depend on time, parameters, discretes and modes only. They
// need no state, so the times at which they change are found before a step is taken.
type Clock interface {
	System
	// Clocks returns how many of them there are. Without any, NextSwitch is not called.
	Clocks() int
	// NextSwitch returns the first time in (t, limit] at which one of them changes, with the discretes and modes that
	// are current, or +Inf. It is the first float at which the truth, as it is computed, is another one than at t.
	NextSwitch(t, limit float64) float64
}

// Signals is a System whose right-hand side has parts that depend on time, parameters, discretes and modes only, or on
// states besides whose rates depend on no more than that and not on time: known functions of time between two events.
type Signals interface {
	System
	// Signals returns the number of these functions that are watched. Without any, Unseen is not called.
	Signals() int
	// Unseen looks for what these functions do within a step that their values at times, the nodes of the step in
	// ascending order, do not show, with the discretes and modes that are current and the state y at the first of them.
	// If there is none, it returns the end of the step, or a later time up to which no step has any. Else it returns
	// true and the end of a shorter step that comes nearer, or shows more of it.
	Unseen(times, y []float64) (end float64, some bool)
}

// Enclosing is a System that encloses those of its guards that are not affine in time and states: it bounds them over
// all that times and states within given ranges can be.
type Enclosing interface {
	System
	// Bent returns the numbers of these guards, and of the states that they read. Without any guard, Enclose is not
	// called.
	Bent() (guards, states []int)
	// Enclose writes enclosures of the margins of bent guards, in their order, for times within t and states within y,
	// and of their slopes where states change within yd per unit of time. The slope of a guard that may jump, or of
	// which nothing is known, holds NaN.
	Enclose(t Range, y, yd, rho, slope []Range)
}

// Range is a closed set of numbers, [Lo, Hi]; both are NaN where nothing is known.
type Range struct{ Lo, Hi float64 }

// Guard describes a root function. A guard that neither fires an event nor belongs to a mode has Event and Mode -1.
type Guard struct {
	Event    int  // index into Events, or -1 for a mode
	Elem     int  // which element of an array event (0-based)
	Mode     int  // index into m when Event is -1
	Crossing bool // fires as ρ changes sign; Way says in which direction
	Way      int8 // of a crossing guard: 1 as ρ rises, -1 as it falls, 0 either way
	Instant  bool // of a crossing guard that fires at roots alone: a jump over one is none, a jump onto one is
	Watch    bool // never fires: an atom of a condition made of several; samples of a step include the times it changes
	Kink     bool // fires in either direction, changes nothing: a step ends at a kink of the right-hand side
	Clock    bool // depends on time, p, d and modes only: NextSwitch finds it, so it is not looked for between samples
	// Affine tells that ρ is affine in time and state between two events. Roots of others may be hidden; see Enclosing.
	Affine bool
	// Unknowns tells that ρ depends on algebraic unknowns.
	Unknowns bool
	// Seen tells that the mode is read otherwise than by rates: at any time, as by what is to be largest.
	Seen bool
	// Piece tells that the mode is the number of a piece. A mark of its change has in Firing.Elem which piece ends.
	Piece bool
	// Name is what messages call a mode: "if@12". Events have names of their own.
	Name string
}

// Event describes an event for scheduling and messages.
type Event struct {
	Name    string             // "bounce", or "event@12" when unnamed
	Element func(k int) string // what element k of an array is called in messages, "c[2].spike"; nil for a plain event
	Elems   int                // number of elements; 1 for a plain event
	policy.Policy
	Varies   bool // Priority is that of Prioritized instead
	Explicit bool // at instants; otherwise by guards
	If       int  // of a Transient event: the event whose condition must go on to hold
	// Slots makes the event the trigger of event Then: its body writes the time of an execution, which is that of
	// instant (Then, element, slot), for a slot whose time is Never. 0 for other events.
	Slots, Then int
	// Settles tells that a state after a long time comes of the body: guards then stand as they do at the start of a
	// run. What has After is executed once the run has ended, after everything else, and at no time.
	Settles, After bool
	Silent         bool // the body changes nothing that is seen at once: only what is pending
	Unguarded      bool // the body changes nothing that guards read
}

// Never is the time of an instant that is not pending.
const Never = math.MaxFloat64

// Prioritized is a System with events whose priority varies.
type Prioritized interface {
	System
	// Priorities writes the priority of every element of every event at (t, y), with the discretes that are current.
	// Those of events that do not vary are not read.
	Priorities(t float64, y, priorities []float64)
}

// ElemName returns the name of element k as users write it: "dose[2]".
func (e Event) ElemName(k int) string {
	if e.Element == nil {
		return e.Name
	}
	return e.Element(k)
}

// InstantKind says what happens at an instant.
type InstantKind uint8

// The kinds of instant.
const (
	InstantStart  InstantKind = iota
	InstantEnd                // end of the run
	InstantFire               // element Elem of Event fires
	InstantEvery              // Event fires at T + k·Period, k = 0, 1, …, up to To and Count
	InstantSite               // observation site Site is read
	InstantRemode             // modes are chosen anew (quadrature windows, knots of tables)
	InstantValue              // no time of its own: Period, To or Count of another instant
)

// Instant describes an explicit time. Times of +Inf never come.
type Instant struct {
	Kind  InstantKind
	Event int
	Elem  int
	Slot  int // of a Pending one
	Site  int
	// For InstantEvery: the instants that hold the period, the last time (inclusive) and the count; -1 for none.
	Period, To, Count int
	// Modes are the elements of m that an InstantRemode changes. They keep their values until it comes, whatever else
	// happens at its time.
	Modes []int
	// Opens tells that the Modes, those of integrals between bounds, become 1 at the instant. Others become 0.
	Opens bool
	// Fixed tells that the time, and the period of an InstantEvery, depend on neither parameters nor discretes. It
	// only saves work: fixed instants at one time share a step, and their times are not differentiated.
	Fixed bool
	// Pending tells that the time is that of an execution which a trigger writes; Never while there is none.
	Pending bool
}

// Firing names an element of an event.
type Firing struct {
	Event, Elem int
	Nth         int // how many times this element has fired before in this run
	Slot        int // of a trigger or of what it triggered: where the time and the captured values are kept
}

// TangentSystem pushes tangents through everything a System does. The tangents of p and d are state of the system.
type TangentSystem interface {
	System
	TangentField
	// SetTangent makes pd[P·L] the tangent of the parameters.
	SetTangent(pd []float64)
	// StartPush writes the tangents yd[N·L], dd[D·L] of the initial values where t0 moves by td[L].
	StartPush(t0 float64, td, yd, dd []float64)
	// EnterPush makes dd[D·L] the tangent of the current discretes; call it after Enter.
	EnterPush(dd []float64)
	// GuardPush writes rd[L], the tangent of ρ_i.
	GuardPush(i int, t float64, y, td, yd, rd []float64)
	// AffectPush writes the tangents of the right limits.
	AffectPush(f Firing, t float64, ym, dm, td, ymd, dmd, ypd, dpd []float64)
	// InstantPush writes Td[L], the tangent of instant i, at the current discretes.
	InstantPush(i int, td []float64)
}

// CotangentSystem pulls cotangents through everything a System does. The cotangents of the parameters gather in the
// system until Finish, those of a segment's discretes until Leave.
//
// Instants and guards are pulled while the segment in which they came about is entered; instant 0 is pulled after
// StartPull, outside any segment.
type CotangentSystem interface {
	System
	CotangentField
	// Begin starts a sweep. The cotangents of the parameters of lane l go to rows[l][P], which is nil for a lane that
	// is not used. The system may write there at any time until Finish.
	Begin(rows [][]float64)
	// Leave adds the cotangents of the current discretes to db[D·L] and clears them. It ends, backwards, the segment
	// that Enter began: nothing of that segment may be pulled afterwards without another Enter.
	Leave(db []float64)
	// GuardPull adds ρ_i's transpose applied to w[L] to yb[N·L] and tb[L], and to the accumulators.
	GuardPull(i int, t float64, y, w, yb, tb []float64)
	// AffectPull overwrites ymb[N·L], dmb[D·L] with the transpose of the body applied to ypb, dpb, and adds to tb[L].
	AffectPull(f Firing, t float64, ym, dm, ypb, dpb, ymb, dmb, tb []float64)
	// InstantPull adds the transpose of instant i, at the current discretes, applied to w[L].
	InstantPull(i int, w []float64)
	// StartPull pulls the cotangents of the initial values into the parameters and adds to tb[L] that of t0.
	StartPull(t0 float64, yb, db, tb []float64)
	// Finish completes the rows given to Begin.
	Finish()
}

// Revisitor is a CotangentSystem that keeps work from one sweep over a run for the next. Visit says that the Pulls
// that follow belong to the Method.Pull of a step, whose stages always come in the same order; -1 stands for no step
// in particular. Forget says that the sweeps to come are over another run.
type Revisitor interface {
	Visit(step int)
	Forget()
}

// ComplexSystem evaluates a System in complex arithmetic, for the complex-step method. It repeats a recorded run, so
// it decides nothing.
type ComplexSystem interface {
	Size() Size
	// SetParameters makes p[P] current; it must be called before anything else.
	SetParameters(p []complex128)
	Start(t0 complex128, y, d []complex128)
	Enter(d []complex128, m []float64)
	Eval(t complex128, y, k []complex128)
	// Guard returns ρ_i. Its total derivative is left to the caller.
	Guard(i int, t complex128, y []complex128) complex128
	Instant(i int) complex128 // at the current discretes
	// Affect finds the recorded right limits in yp.
	Affect(f Firing, t complex128, ym, dm, yp, dp []complex128)
}
