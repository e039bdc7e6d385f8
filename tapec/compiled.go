// Package tapec compiles a checked model into tapes, transforms tapes, and
// differentiates them: tangents (JVP) and transposes (VJP) are tapes as well. It
// also says what the names of inputs and outputs mean. Loops are never unrolled;
// they become slices and gathers of whole arrays.
//
// It must not know the machine that runs tapes, nor the solvers that need them. It
// reads nothing but checked models: text is the concern of the packages before it.
package tapec

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/tape"
)

// Compiled is a model as tapes. The comments of its tapes say what they read and
// make, in the text of Name, with * for any name or number and lengths in brackets.
// A tape has only the inputs that it needs. The tape of an event with a single
// element does not read fired. If an event's body only stops the run, its tape has no
// outputs. Apart from those, a tape that would compute nothing is nil; but Start, Rates
// and Instants always exist.
type Compiled struct {
	Model *model.Model
	Along

	Defaults   []Default    // of params whose defaults are not just numbers; each after those that it uses
	Start      *tape.Tape   // t, p.* → y.*, d.*: the initial values
	Instants   *tape.Tape   // p.*, d.* → T[len(InstantList)]
	Choose     *tape.Tape   // t, y.*, p.*, d.*, kept.* → m.*
	Guards     *tape.Tape   // t, y.*, p.*, d.*, m.* → rho[len(GuardList)], truth[len(GuardList)]
	Clocks     *tape.Tape   // t, p.*, d.*, m.* → crho[len(ClockList)], ctruth[len(ClockList)]
	Priorities *tape.Tape   // t, y.*, p.*, d.* → prio[elements of all events]; nil if none varies
	Affects    []*tape.Tape // of each event: t, y.*, d.*, p.*, fired → y.* and d.* of its targets
	Initial    *tape.Tape   // t, y.*, d.*, ym.*, dm.*, p.* → F.* of what is read at the start
	Final      *tape.Tape   // likewise, at the end
	Peaks      *tape.Tape   // t, y.*, d.*, m.*, p.* → F.* of what max_over takes the largest value of
	AtTimes    []*tape.Tape // of each group of sites: t, y.*, d.*, ym.*, dm.*, p.*, row → F.*
	AtEvents   []*tape.Tape // of each event: t, y.*, d.*, ym.*, dm.*, p.*, fired → F.*
	Objective  *tape.Tape   // F.*, p.* → psi[all elements of all objectives, in order]
	Outputs    *tape.Tape   // t, y.*, p.*, d.* → out.*
	Asserts    *tape.Tape   // p.* → ok[len(Model.Asserts)]
	Invariants *tape.Tape   // t, y.*, p.*, d.* → gap[2*len(Model.Invariants)]: see Gaps

	InstantList []Instant
	GuardList   []Guard
	// KinksLeft lists what the margins of kinks read where there are more of these than steps end at, so that some lie
	// inside steps.
	KinksLeft   []Name
	ClockList   []Clock
	Modes       []Mode
	Functionals []Functional
}

// Along are the tapes that run along the steps.
type Along struct {
	Rates  *tape.Tape // t, y.*, p.*, d.*, m.* → dy.*, and dq.* of the integrals among the functionals
	Delays *tape.Tape // t, y.*, p.*, d.*, m.* → tau.*: the delays that move; nil if none does
}

// Default is the default of a param in terms of others. A tape without inputs computes constants.
type Default struct {
	Param *model.Symbol
	Tape  *tape.Tape // p.* → p.<name>
}

// InstantKind is a kind of thing that happens at a time known beforehand.
type InstantKind uint8

// The kinds. Instant 0 is of kind AtStart and instant 1 of kind AtEnd.
const (
	AtStart InstantKind = iota
	AtEnd
	Fire    // element Elem of event Event fires
	Every   // Event fires periodically from here
	Site    // functionals read at the times of group Group, with data row Row
	Remode  // modes are chosen anew: at bounds of integrals, and where interpolated tables have kinks
	ValueOf // no time of its own: it holds the period, last time or count of an Every
)

// Instant is an entry of the schedule; its time is the element of T with its index.
// Event, Group, Row, Period, To and Count are -1 where its kind has no use for them.
type Instant struct {
	Kind              InstantKind
	Event, Elem, Slot int
	Pending           bool // an execution, when the discretes say: typecheck.Never for not at all
	Group, Row        int
	Period, To, Count int // of an Every: the instants that hold these values, or -1
	Bound             Bound
	Modes             []int // of a bound: the elements of the flat vector of modes that change there
	Span              source.Span
}

// Bound tells which bound of an integral an instant is.
type Bound uint8

// The bounds. The instants of a WindowTo follow those of their WindowFrom.
const (
	NoBound Bound = iota
	WindowFrom
	WindowTo
)

// Guard is a root function: an element of rho and, with its truth, of truth. That of
// an event's condition is positive where the condition holds; where it is 0, it
// depends on whether the condition is strict. That of a mode is positive where the
// held value is no longer what Choose gives.
type Guard struct {
	Event    int // or -1
	Elem     int // of the event
	Mode     int // index into the flat vector of modes, or -1
	Crossing bool
	Way      int8 // of a crossing: 1 for up, -1 for down, 0 for either
	Instant  bool // a crossing that an equality is: a jump over the root is none, and one onto it is
	Watch    bool // an atom of a condition made of several; it never fires
	Kink     bool // a kink of the rates; it fires in either direction and changes nothing
	Clock    bool // depends on time, params, discretes and modes only
	Piece    bool // the mode is the number of a piece of a control
	Compound bool // of a condition made of several atoms, which have guards or clocks of their own
	Affine   bool // in time and states, between two events
	Held     bool // depends on modes only, and so does not move but where these change
	Span     source.Span
	// Past is the delay of which the mode tells whether what is read is from before the run; nil for others.
	Past *model.Symbol
}

// Clock is an atom that depends on time, params, discretes and modes only: a comparison, a bound of a level or a kink.
// Its margin is positive where it holds; where it is 0, it depends on whether the comparison is strict.
type Clock struct {
	Affine bool // in time, between two events
	Kink   bool // of the rates
	// Atom numbers what changes there: the two bounds of a level, and the two directions of a change of sign, are one.
	Atom int
	Span source.Span
}

// Mode is a group of values that are held from one event to the next: those of one
// `if`, or of one function that jumps such as floor, in all iterations of the loops
// around it. A value is 0 or 1 for a condition, the level for a jump.
type Mode struct {
	Name   string // "if@12", "floor@7", "window@9" …, or that of a control
	Span   source.Span
	Offset int // of its first element in the flat vector of modes
	Shape  types.Shape
	// Rooted tells that it has guards. A mode that depends on discretes and params only has none.
	Rooted bool
}

// Functional is an array of values that the objectives need from the run. It has a
// slot for each combination of the indices of its objective.
type Functional struct {
	Kind   model.FunctionalKind
	Span   source.Span
	Shape  types.Shape // of the slots and, behind them, of one value
	Offset int         // in the flat vector of functionals, where integrals come first, as among the quadratures
	Event  int         // AtEvent, EventTime: number of the event
	Nth    int         // AtEvent, EventTime: which firing, from 1, or 0 for all
	Elem   int         // the selected element of the event; -1 for all, or if slots select different ones
	Elems  []int       // the element that each slot selects, if they may differ; else nil
	Group  int         // SumAt: its group of sites, or the first of several if its times depend on the slot
	Table  *model.Table
	ByRow  bool  // SumAt: slot i is 0 but in the row of Table whose last column is i + 1
	Window []int // Integral with bounds: the element of the flat vector of modes that tells the window of each slot
}
