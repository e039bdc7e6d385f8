// Package tapec compiles a checked model into tapes, transforms tapes (passes)
// and differentiates them (JVP and VJP are tapes again). It never unrolls: a
// loop becomes slices and gathers of whole arrays. It knows neither machine nor
// solvers.
package tapec

import (
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/tape"
	"odes.dev/odes/typecheck"
)

// Compiled is a model as tapes. Inputs of all tapes are named after what they
// bind to: "t" the time; "y.x" state x, "d.g" discrete g (right limits, or
// simply the current values); "ym.x", "dm.g" left limits; "p.k" param k; "m.0"
// mode group 0; "fired" a one-hot vector over the elements of an event; "row" the
// data row of an observation, one entry per column of the table; "F.2" functional
// 2. A tape has only the inputs it needs; "fired" is
// left out for an event of one element. Outputs are named alike. Objective,
// Guards, Choose, Outputs, Asserts and Invariants are nil when there is nothing
// to compute; the tape of an event whose body only stops the run has no outputs.
type Compiled struct {
	Model *typecheck.Model

	Defaults    []Default    // of params whose default is not written out as numbers, in dependency order
	Start       *tape.Tape   // t, p.* → y.*, d.*: initial values at t0 (later ones may use earlier ones)
	Rates       *tape.Tape   // t, y.*, p.*, d.*, m.* → dy.* and dq.k for each integral functional k
	Instants    *tape.Tape   // p.*, d.* → T[len(InstantList)]
	Choose      *tape.Tape   // t, y.*, p.*, d.* → m.*
	Guards      *tape.Tape   // t, y.*, p.*, d.*, m.* → rho[len(GuardList)], truth[len(GuardList)]
	Affects     []*tape.Tape // per event: t, y.*, d.*, p.*, fired → y.* and d.* of its targets
	Initial     *tape.Tape   // sites: t, y.*, d.*, ym.*, dm.*, p.* → F.*; nil when nothing is read there
	Final       *tape.Tape
	Peaks       *tape.Tape   // t, y.*, d.*, m.*, p.* → F.*: what is largest somewhere on the run; nil without max_over
	AtTimes     []*tape.Tape // per site group: + row → F.*
	AtEvents    []*tape.Tape // per event: + fired → F.*; nil entries when nothing is read
	Objective   *tape.Tape   // F.*, p.* → psi[objectives], all objectives flattened in order
	Outputs     *tape.Tape   // t, y.*, p.*, d.* → out.*
	Asserts     *tape.Tape   // p.* → ok[len(Model.Asserts)]; nil without asserts
	Invariants  *tape.Tape   // t, y.*, p.*, d.* → gap[len(Model.Invariants)]: |left - right|, its largest element
	InstantList []Instant
	GuardList   []Guard
	Modes       []Mode
	Functionals []Functional
}

// Default is the default of a param in terms of others; a tape without inputs computes constants.
type Default struct {
	Param *typecheck.Symbol
	Tape  *tape.Tape // p.* → p.<name>
}

// InstantKind mirrors what can happen at a known time.
type InstantKind uint8

// The kinds of instant. Instants 0 and 1 are AtStart and AtEnd.
const (
	AtStart InstantKind = iota
	AtEnd
	Fire    // element Elem of event Event fires
	Every   // Event fires periodically from here
	Site    // site group Group is read, with data row Row
	Remode  // modes are chosen again (integral windows, knots of tables)
	ValueOf // holds the period, last time or count of an Every
)

// Instant is one entry of the schedule.
type Instant struct {
	Kind              InstantKind
	Event, Elem       int
	Group, Row        int
	Period, To, Count int // instants that hold them; -1 for none
	Bound             Bound
	Modes             []int // of a bound: the elements of the flat mode vector that change there
	Span              source.Span
}

// Bound tells that an instant is a bound of an integral.
type Bound uint8

// The bounds. The instants of a WindowTo with single times follow those of their WindowFrom.
const (
	NoBound Bound = iota
	WindowFrom
	WindowTo
)

// Guard is one root function, element of the vectors rho and truth. For an
// event's condition rho > 0 (or ≥ 0) where it is true. For a mode, rho > 0
// where the held mode is no longer what Choose gives.
type Guard struct {
	Event    int // -1 for a mode
	Elem     int
	Mode     int // index into the flat mode vector, when Event is -1
	Crossing bool
	Span     source.Span
}

// Mode is a group of held conditions: an `if` (or a jump such as floor) and its
// iterations. Its values are 0 or 1 (a jump's: the held value).
type Mode struct {
	Name   string // "if@12", "floor@7", "window@9" …
	Span   source.Span
	Offset int // of its first element in the flat mode vector
	Shape  types.Shape
	// Rooted tells that it has guards; a mode of discretes and params only has none.
	Rooted bool
}

// Functional is one functional array of the objectives.
type Functional struct {
	Kind   typecheck.FunctionalKind
	Span   source.Span
	Shape  types.Shape // of the slots, objective indices included
	Offset int         // in the flat functional vector; integrals come first and their offset is that in q
	Event  int         // AtEvent, EventTime
	Nth    int         // 0: all firings
	Elem   int         // selected element; -1 for all, or when it differs between slots
	Elems  []int       // selected element of each slot, when it depends on the objective's indices; else nil
	Group  int         // SumAt: its site group; the first of several when its times depend on the objective's indices
	Table  *typecheck.Table
}
