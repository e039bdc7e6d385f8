// Package model is what the checker makes of a file: the checked model, its expressions, and walks over them. Names are
// resolved and functions inlined; shapes, units and indices agree; equations are complete, and dependencies acyclic.
// A Model is immutable. The compiler of tapes and all who ask what a model declares read it.
package model

import (
	"cmp"
	"slices"
	"strconv"

	"odes.dev/odes/lang/measured"
	"odes.dev/odes/lang/policy"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/target"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// Called is what a model and its parts are called.
type Called struct {
	Name  string // the file's base name when there is no model item
	Title string
	// Copies tells how many subscripts choose a copy of each component: of "c", and of "c.m" next to those of "c".
	Copies map[string]int
	// Alone is the experiment that this is the model of, without the others, and Among are the names of all; "" and nil
	// for the model of the file.
	Alone string
	Among []string
}

// Model is a checked model.
type Model struct {
	Called
	Timespan
	Source *source.File
	Params []*Symbol
	// Totals are inputs besides the params that only objectives read: nll() and nll(D), summed over
	// the experiments. Every experiment's model has one objective for each of them, in the same
	// order.
	Totals      []*Symbol
	Experiments []*Experiment // in file order; if there are none, nll is a functional of the run
	States      []*Symbol     // those with rates, then the algebraic unknowns
	Discretes   []*Symbol
	// Lets are the definitions that the model names, in file order. Wherever one is used, its Value stands. What is
	// known at compile time is not among them.
	Lets   []*Let
	Consts []*Let // likewise, the consts of the file
	Rates  []Expr // right-hand sides: one for each state with a rate, with its shape
	// Reactions are those of the file. Rates contain what they contribute.
	Reactions []*Reaction
	// Reacting are the states that reactions alone change.
	Reacting []*Symbol
	Algebra
	Events     []*Event
	Regimens   []*Regimen // that events were made of
	Outputs    []*Output
	Objectives []*Objective // including constraints
	// Observations are compared with data. Objectives read them through nll.
	Observations []*Observation
	Drawn
	Asserts    []*Assert
	Invariants []*Invariant
	Settings   Settings
	// Later has the places of constructs that were checked and cannot be solved; see Env.CheckOnly.
	Later []source.Span
}

// Written returns the form in which elements of a name are written: "c[].V" for one of the copies c, "" for the name.
func (c *Called) Written(name string) string { return target.Written(name, c.Copies) }

// Element returns what elements of an event are called, "c[2].m[1].spike" in components; nil for a plain event.
func (c *Called) Element(e *Event) func(k int) string {
	if len(e.Indices) == 0 {
		return nil
	}
	written := cmp.Or(c.Written(e.Name), e.Name)
	return func(k int) string {
		subs := make([]string, len(e.Indices))
		for i, index := range e.Index(k) {
			subs[i] = strconv.Itoa(index)
		}
		return target.Subscripted(written, subs)
	}
}

// Index returns the values of the indices of element k, from 0.
func (e *Event) Index(k int) []int {
	index := make([]int, len(e.Indices))
	for i := len(index) - 1; i >= 0; i-- {
		ix := e.Indices[i]
		index[i] = ix.Lo + k%ix.Count*ix.Step
		k /= ix.Count
	}
	return index
}

// Let is a definition: a name for an expression.
type Let struct {
	Name  string
	Value Expr
	Doc   string
	Span  source.Span
}

// Reaction changes the amounts of its species at a rate.
type Reaction struct {
	Name    string
	Rate    Expr
	Species []Specie // in the order in which they are first named
	Span    source.Span
}

// Specie is an element of a state that takes part in a reaction. It loses Left and gains Right.
type Specie struct {
	State       *Symbol
	Element     int // from 0, row-major
	Left, Right float64
}

// SymbolKind is the kind of a declared name that has a value at run time.
type SymbolKind uint8

// The kinds of symbol.
const (
	TimeSymbol SymbolKind = iota
	ParamSymbol
	StateSymbol
	DiscreteSymbol
	AlgSymbol // an algebraic unknown; Value is where its value at the start is sought from
)

// Symbol is a declared name.
type Symbol struct {
	Name string
	Kind SymbolKind
	Type types.Type
	Span source.Span // the declaration
	Doc  string
	// default of a param, or initial value of a state or discrete: with the symbol's shape, or a
	// scalar that fills it
	Value Expr
	// Literal says that Value depends only on compile-time constants.
	Literal bool
	// Hidden tells that the model does not declare it: it belongs to an event with a delay.
	Hidden bool
	// Still tells that a param stands for numbers of records of doses in an experiment: nobody sets it, and there are
	// no derivatives by it.
	Still bool
	// Control tells that a param is the values of a control.
	Control bool
	Random  bool // a param is a random effect
	// Lo and Hi bound a param (±Inf when not written). Least and Most do where they read params: each is a number that
	// a run has from its start. Bounded tells that they are written, be it as [-inf, inf].
	Lo, Hi      float64
	Least, Most Expr
	Bounded     bool
}

// Index is a loop variable. It takes Count values Lo, Lo+Step, …, and is an axis of length Count
// for everything that depends on it. Its identity is its pointer.
type Index struct {
	Name            string
	Lo, Step, Count int
	Span            source.Span
}

// Expr is a checked expression. It is a node of a graph in which shared subexpressions (lets,
// arguments of inlined functions) are shared pointers. Nodes are immutable.
type Expr interface {
	Type() types.Type
	Span() source.Span
}

// Base is embedded in every node.
type Base struct {
	T types.Type
	S source.Span
	f *facts // what the checker knows of the node; nil for nodes that it did not make
}

// Type returns the type of the node.
func (b *Base) Type() types.Type { return b.T }

// Span returns the place that the node came from. For an inlined function, that is in the function;
// the call is found through the caller.
func (b *Base) Span() source.Span { return b.S }

// The nodes.
type (
	// Const is a compile-time array: its elements in row-major order, or one element that fills the
	// shape. A Bool is 0 or 1.
	Const struct {
		Base
		Data []float64
	}

	// Ref is the whole value of a param, state or discrete, or the time.
	Ref struct {
		Base
		Sym *Symbol
	}

	// LoopVar is the value of a loop variable, an Int.
	LoopVar struct {
		Base
		Index *Index
	}

	// Call applies a row of the function table: elementwise functions and operators, comparisons,
	// logic, reductions (sum, prod, min, max) and structure. Shapes are checked, and elementwise
	// operands have equal shapes or are scalars. Rows with a Body are inlined, so every elementwise
	// row has an Op. The expression `a > b` is Call("<", b, a). Mean and norm are written with sum.
	// Eye, ones, grids and random arrays are Consts.
	Call struct {
		Base
		Fn      *stdlib.Func
		Args    []Expr
		Search  *Search // the same value by a search; nil for none
		Table   *Search // the table that it is the value of, of any length, at any Time; nil for none
		Control string  // of an Interval: the control whose pieces it numbers; "" for any other
	}

	// Access is X[subs]. A Sub with At set takes one position: a scalar Int expression of loop
	// variables and constants, 1-based. Any other Sub takes Count positions Lo, Lo+Step, … and
	// keeps an axis.
	Access struct {
		Base
		X    Expr
		Subs []Sub
	}

	// Assemble is an array made of pieces that cover it exactly once: `w[i] = … for …`,
	// comprehensions, and equations of a state.
	Assemble struct {
		Base
		Pieces []Piece
	}

	// Reduce is the sum, prod, min or max of Body over the values of Indices: `sum(e for i in
	// 1:n)`. Body is a scalar.
	Reduce struct {
		Base
		Fn      *stdlib.Func
		Indices []*Index
		Body    Expr
	}

	// If takes Then where Cond holds, and Else elsewhere. Static says that Cond depends on loop
	// variables and constants only. Then it is resolved at compile time, and a branch is evaluated,
	// and its bounds are checked, only where it is taken.
	If struct {
		Base
		Cond, Then, Else Expr
		Static           bool
		// Support says that Cond tells where there is a value at all, as that of a prior is within its bounds. At
		// their edge there is a derivative, from where they hold, and no other side to differ from.
		Support bool
		// Past is the delay of an earlier time of which Cond tells whether that lies before the run; nil for others.
		Past *Symbol
	}

	// Stack is an array literal: its elements along a new first axis, all of one shape.
	Stack struct {
		Base
		Elems []Expr
	}

	// NoEvent is X with every If and jump in it taken as it stands, without events.
	NoEvent struct {
		Base
		X Expr
	}

	// Limit is X at the left (pre) or right (post) limit of the instant where it is read.
	Limit struct {
		Base
		X    Expr
		Post bool
	}

	// Row is a column's entry of the data row that a SumAt visits (see Functional.Table).
	Row struct {
		Base
		Table  *Table
		Column int
	}

	// Functional is a functional of the trajectory. It stands only in objectives. Its type is that
	// of Body.
	Functional struct {
		Base
		Kind     FunctionalKind
		Body     Expr
		From, To Expr   // Integral: bounds; nil for the start and the end of the run
		Times    Expr   // SumAt: a vector (or scalar) of times, which may depend on parameters
		Table    *Table // SumAt over data rows: one row per time; nil otherwise
		// SumAt: the value of a row stands in the slot that the last column of Table numbers, from 1, and other slots
		// are 0. Body is the scalar value of a row then.
		ByRow bool
		Event *Event // AtEvent, EventTime
		// AtEvent, EventTime: the 1-based position of the selected element along each of
		// Event.Indices; nil for all elements
		Elem []Expr
		Nth  int // AtEvent, EventTime: which firing, 1-based; 0 for all
	}
)

// Search is a table of many rows, read by a search for the two knots around Time instead of a sum over all rows. The
// value is constant outside the knots, and between two of them a cubic with these slopes, or linear if there are none.
type Search struct {
	// They do not change between two events. The last axis is that of the knots; several values share them if there are
	// no slopes.
	Knots, Values, Slopes Expr
	Time                  Expr // an affine function of time that rises at a constant rate
}

// Sub is a subscript of an Access or a Piece; see Access.
type Sub struct {
	At              Expr
	Lo, Step, Count int
}

// Piece assigns Value to the elements Subs of an array, for all values of Indices. Subs is nil for
// the whole array. Value is a scalar, or has the shape of what Subs selects.
type Piece struct {
	Indices []*Index
	Subs    []Sub
	Value   Expr
	Span    source.Span
}

// Table is a data table: columns of numbers of equal length.
type Table struct {
	Name    string
	Columns []string
	Data    [][]float64 // per column; a missing value is NaN
	Rows    []int       // from 1: which rows these are of the table as it is declared; nil for all
	Span    source.Span
}

// Row returns the number of row i, from 0, in the table as it is declared.
func (t *Table) Row(i int) int {
	if t.Rows == nil {
		return i + 1
	}
	return t.Rows[i]
}

// Event is an event with its elements (the values of Indices, row-major).
type Event struct {
	Name    string // "event@12" when unnamed
	Span    source.Span
	Indices []*Index
	Trigger
	policy.Policy
	Rank Expr   // the priority, where it is not a number; otherwise nil
	If   *Event // of a Transient event: whose condition must go on to hold
	// An event with a delay is two events and more; see delays.go. Both that which triggers Execution and the execution
	// have slots. Times of the execution, which is Pending, are those of its slots.
	Slot      *Index
	Execution *Event
	Pending   bool
	Hidden    bool // not the event that the model declares
	// Settles tells that the body ends with the steady state that the run would lead to.
	Settles bool
	Period  Expr // of the steady state; nil where it is a state at rest
	Resumes bool // the run proper begins with what it leaves
	Stop    bool
	Body    []*Assign // all at once, from left limits
	Doc     string
}

// Trigger says when an event happens, in one of five ways.
type Trigger struct {
	When     Expr // a scalar condition of the element becomes true
	Crossing Expr // for `crosses`: the real whose sign change is the root; When is then the filter, which may be nil
	Way      int8 // for `crosses`: 1 for up, -1 for down, 0 for either
	// Times are the explicit times: scalars of the element, or vectors without Indices (an event
	// with several firings). They depend on parameters and discretes.
	Times    []Expr
	Every    Expr // the period; From, To and Count may be nil
	From, To Expr
	Count    Expr
	After    bool // it is executed after the end of the run, for what reads it there, and at no time
}

// TriggerKind is a way in which events are triggered.
type TriggerKind uint8

// The kinds of trigger.
const (
	AtTimes TriggerKind = iota
	ByCondition
	ByCrossing
	Periodic
	AfterRun
)

// Kind returns how the event is triggered.
func (t *Trigger) Kind() TriggerKind {
	switch {
	case t.After:
		return AfterRun
	case t.Crossing != nil:
		return ByCrossing
	case t.When != nil:
		return ByCondition
	case t.Every != nil:
		return Periodic
	}
	return AtTimes
}

// Guarded reports whether the event happens at a root, which the run has to find.
func (t *Trigger) Guarded() bool { return t.When != nil || t.Crossing != nil }

// At returns what an explicit event's times are made of.
func (t *Trigger) At() []Expr {
	if t.Every == nil {
		return slices.Clone(t.Times)
	}
	return append([]Expr{t.Every, t.From}, t.Times...)
}

// Axes returns the indices of the event and, behind them, its slot.
func (e *Event) Axes() []*Index {
	if e.Slot == nil {
		return e.Indices
	}
	return append(e.Indices[:len(e.Indices):len(e.Indices)], e.Slot)
}

// Slotted returns the type of values of type t that each slot of each element of the event holds, with more axes
// before those of t.
func (e *Event) Slotted(t types.Type, more ...int) types.Type {
	t.Kind = types.Real
	shape := types.Shape{}
	for _, ix := range e.Axes() {
		shape = append(shape, ix.Count)
	}
	t.Shape = append(append(shape, more...), t.Shape...)
	return t
}

// Assign sets the elements Subs of Target to Value, for all values of Indices in addition to those
// of the event. Operators such as `+=` are already part of Value.
type Assign struct {
	Target  *Symbol
	Indices []*Index
	Subs    []Sub // nil: the whole
	Value   Expr
	Span    source.Span

	// of `x += v`: x, v and the operator; Old is nil for `x = v`
	Old, Change Expr
	Operator    string
}

// Output is a saved quantity. Models without outputs save their states.
type Output struct {
	Name  string
	Value Expr
	Doc   string
	Span  source.Span
}

// Objective is an expression of functionals and parameters. There is one objective for each value
// of Indices (row-major) and each element of Value.
type Objective struct {
	Name    string
	Indices []*Index
	Value   Expr
	// Relation is "" for an objective, and "==", "<=" or ">=" for a constraint, whose Value is left
	// minus right.
	Relation string
	Terms    *Terms // nil where it is not a sum of what Terms has
	Rises    bool   // its negative would have Terms: it rises with the likelihood
	// Joint tells that it is the negative logarithm of the density of data and Individual, with priors or without.
	Joint bool
	Doc   string
	Span  source.Span
}

// Observation compares an expression with a column of a table.
type Observation struct {
	Name   string
	Value  Expr
	As     source.Span // the expression as it is written
	Table  *Table      // the rows that count: those of the experiment, without missing values
	Column int
	Noise  *stdlib.Func    // how the data are distributed around Value
	Args   map[string]Expr // the arguments of Noise, without its centre
	Needs  string          // what the noise demands of its arguments: "normal needs sd > 0"
	// Ranges are the ranges of quantification of the rows. Nil means that there are no limits, or that one is neither a
	// number nor a column.
	Ranges   []measured.Range
	Censored bool // the distribution has a limit of quantification
	Rows     Rows
	Doc      string
	Span     source.Span
	From     *Declared // the whole table
}

// Measured counts the rows whose values are numbers: those that are not beyond a limit, as far as the limits are known.
func (o *Observation) Measured() (n int) {
	for k, y := range o.Rows.Table.Data[o.Column] {
		side := 0
		if o.Rows.Ranges != nil {
			_, side = o.Rows.Ranges[k].Tell(y)
		}
		if side == 0 {
			n++
		}
	}
	return n
}

// Declared is a table as it is declared, with columns of texts.
type Declared struct {
	Name    string
	Columns []DeclaredColumn
}

// DeclaredColumn is a column as it is written: of numbers, or of texts.
type DeclaredColumn struct {
	Name   string
	Unit   units.Unit
	Values []float64
	Texts  []string // nil for numbers
}

// Assert is a condition of parameters and constants, checked at the start of a run.
type Assert struct {
	Cond Expr
	Text string
	Span source.Span
	// Implied tells that the model does not write it: Text is the whole message.
	Implied bool
}

// Invariant is Left == Right, checked along the run.
type Invariant struct {
	Left, Right Expr
	Span        source.Span
}

// Settings are the solver, sens, fit and ensemble blocks. A named block is chosen by its name.
type Settings struct {
	Blocks []Block
}

// Block is one settings block.
type Block struct {
	Kind  string // "solver", "sens", "fit", "ensemble"
	Name  string // "" for the unnamed one
	Keys  []Setting
	Draws []Draw // of an ensemble
	Rows  *Table // of an ensemble; nil for none
}

// Draw says from which distribution of the language a value is drawn.
type Draw struct {
	Target target.Target
	Dist   string
	Args   []float64 // in the order of the distribution's arguments, in the unit of the target
	Lo, Hi float64   // the bounds of the param, which cut the distribution off
	Mass   float64   // the probability of these bounds
	Unit   units.Unit
	// Numbers returns the arguments for each element of the target, where they are not the same constants for all: by
	// the values of the params Of, and of others that these follow from. Then Mass is 1, and Args nil or those of the
	// first element.
	Numbers func(value func(name string) []float64) [][]float64
	Of      []string
	// Blocks are the rows of the blocks of a matrix of covariances whose correlations are drawn; nil for what is drawn
	// number by number.
	Blocks [][]int
}

// Setting is a key and its value.
type Setting struct {
	Key   string
	Span  source.Span // of the key
	Value SettingValue
}

// SettingValue is one of these: a number (with Number set); a word; a text; a list, whose elements
// have names in Keys; a call such as revolve(ram = 200); or an element such as A[1,2], with Word
// and Array set and its subscripts in List.
type SettingValue struct {
	Span   source.Span
	Number *float64
	Word   string         // a name, or the name of a call
	Text   string         // a string literal
	List   []SettingValue // elements of an array, or positional arguments of a call
	Keys   []Setting      // named arguments of a call, named elements of an array
	Call   bool
	Array  bool
}
