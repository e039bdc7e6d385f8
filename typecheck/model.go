// Package typecheck turns the tree of a model file into a checked Model: names
// resolved, functions inlined, shapes, units and indices verified, equations
// complete, dependencies acyclic. It computes nothing at run time and knows
// neither tapes nor solvers. A Model is immutable.
package typecheck

import (
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
)

// Model is a checked model.
type Model struct {
	Name     string // the file's base name when there is no model item
	Title    string
	Source   *source.File
	Time     *Symbol
	From, To Expr // bounds of time, scalars of parameters
	Params   []*Symbol
	// Totals are inputs besides the params that only objectives read: nll() and nll(D), summed over the experiments.
	// Every experiment's model has one objective for each, in the same order.
	Totals      []*Symbol
	Experiments []*Experiment // in file order; none: nll is a functional of the run
	States      []*Symbol
	Discretes   []*Symbol
	Rates       []Expr // right-hand sides, one per state, of the state's shape
	Events      []*Event
	Outputs     []*Output
	Objectives  []*Objective // constraints are among them
	// Observations are compared with data; objectives read them through nll.
	Observations []*Observation
	Asserts      []*Assert
	Invariants   []*Invariant
	Settings     Settings
	// Later are the places of constructs that were checked and cannot be solved; see Env.CheckOnly.
	Later []source.Span
}

// SymbolKind is the kind of a declared name that has a value at run time.
type SymbolKind uint8

// The kinds of symbol.
const (
	TimeSymbol SymbolKind = iota
	ParamSymbol
	StateSymbol
	DiscreteSymbol
	ControlSymbol // only in a model with Later
	AlgSymbol     // only in a model with Later
)

// Symbol is a declared name.
type Symbol struct {
	Name  string
	Kind  SymbolKind
	Type  types.Type
	Span  source.Span // the declaration
	Doc   string
	Value Expr // default of a param, initial value of a state or discrete: of the symbol's shape, or a scalar that fills it
	// Literal tells that Value depends on nothing but compile-time constants.
	Literal bool
	// Lo and Hi bound a param (±Inf when not written).
	Lo, Hi float64
}

// Index is a loop variable. It takes the values Lo, Lo+Step, … (Count of them),
// and is an axis of length Count for whatever depends on it. Identity is by pointer.
type Index struct {
	Name            string
	Lo, Step, Count int
	Span            source.Span
}

// Expr is a checked expression: a node of a graph in which shared
// subexpressions (lets, arguments of inlined functions) are shared pointers.
// Nodes are immutable.
type Expr interface {
	Type() types.Type
	Span() source.Span
}

// Base is embedded in every node.
type Base struct {
	T types.Type
	S source.Span
	f *facts // what the checker knows of the node; nil for nodes made elsewhere
}

// Type returns the type of the node.
func (b *Base) Type() types.Type { return b.T }

// Span returns the place the node came from (for an inlined function, the call is found through the caller).
func (b *Base) Span() source.Span { return b.S }

// The nodes.
type (
	// Const is a compile-time array: the elements row-major, or one that fills the shape. A Bool is 0 or 1.
	Const struct {
		Base
		Data []float64
	}

	// Ref is the whole of a param, state, discrete, or the time.
	Ref struct {
		Base
		Sym *Symbol
	}

	// LoopVar is the value of a loop variable, an Int.
	LoopVar struct {
		Base
		Index *Index
	}

	// Call applies a row of the function table: elementwise functions and operators, comparisons, logic,
	// reductions (sum, prod, min, max) and structure. Shapes are checked; elementwise operands have equal shapes or are
	// scalars. Rows with a Body are inlined, so every elementwise row has an Op; `a > b` is Call("<", b, a); mean and
	// norm are written with sum; eye, ones, grids and random arrays are Consts.
	Call struct {
		Base
		Fn   *stdlib.Func
		Args []Expr
	}

	// Access is X[subs]. A Sub with At set takes one position (a scalar Int expression of loop variables and
	// constants, 1-based); otherwise it takes Count positions Lo, Lo+Step, … and keeps an axis.
	Access struct {
		Base
		X    Expr
		Subs []Sub
	}

	// Assemble is an array put together from pieces that cover it exactly once: `w[i] = … for …`,
	// comprehensions and equations of a state.
	Assemble struct {
		Base
		Pieces []Piece
	}

	// Reduce is sum, prod, min or max of Body over the values of Indices: `sum(e for i in 1:n)`.
	// Body is a scalar.
	Reduce struct {
		Base
		Fn      *stdlib.Func
		Indices []*Index
		Body    Expr
	}

	// If takes Then where Cond holds, else Else. Static tells that Cond depends on loop variables and constants
	// only: it is resolved at compile time, and a branch is evaluated (and bounds-checked) only where taken.
	If struct {
		Base
		Cond, Then, Else Expr
		Static           bool
	}

	// Stack is an array literal: its elements along a new first axis, all of one shape.
	Stack struct {
		Base
		Elems []Expr
	}

	// NoEvent is X with every If and jump inside taken as it stands, without events.
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

	// Functional is a functional of the trajectory; it stands only in objectives. Its type is that of Body.
	Functional struct {
		Base
		Kind     FunctionalKind
		Body     Expr
		From, To Expr   // Integral: bounds, nil for t0 and tf
		Times    Expr   // SumAt: a vector (or scalar) of times, of parameters
		Table    *Table // SumAt over data rows: one row per time; nil otherwise
		Event    *Event // AtEvent, EventTime
		Elem     []Expr // AtEvent, EventTime: the selected element's 1-based position along each of Event.Indices, nil for all elements
		Nth      int    // AtEvent, EventTime: which firing, 1-based; 0 for all
	}
)

// Sub is a subscript of an Access or a Piece; see Access.
type Sub struct {
	At              Expr
	Lo, Step, Count int
}

// Piece assigns Value to the elements Subs of an array, for all values of
// Indices. Subs is nil for the whole array; Value is a scalar or has the shape of what Subs selects.
type Piece struct {
	Indices []*Index
	Subs    []Sub
	Value   Expr
	Span    source.Span
}

// FunctionalKind is the kind of a Functional.
type FunctionalKind uint8

// The functionals.
const (
	Final FunctionalKind = iota
	Initial
	Integral
	SumAt
	AtEvent
	EventTime
	Steady // only in a model with Later
	MaxOver
)

// Table is a data table: columns of numbers of equal length.
type Table struct {
	Name    string
	Columns []string
	Data    [][]float64 // per column; a missing value is NaN
	Span    source.Span
}

// Event is an event with its elements (the values of Indices, row-major).
type Event struct {
	Name     string // "event@12" when unnamed
	Span     source.Span
	Indices  []*Index
	When     Expr // a scalar condition of the element; nil for an explicit event
	Crossing Expr // for `crosses`: the real whose sign change is the root; When is then the filter (may be nil)
	// Times are the explicit times: scalars of the element, or vectors without Indices (an event with several
	// firings). They depend on parameters and discretes.
	Times    []Expr
	Every    Expr // period; From, To, Count may be nil
	From, To Expr
	Count    Expr
	Priority float64
	Once     bool
	Stop     bool
	Body     []*Assign // at once, from left limits
	Doc      string
}

// Assign sets the elements Subs of Target to Value, for all values of Indices
// (in addition to the event's). `+=` and the like are already part of Value.
type Assign struct {
	Target  *Symbol
	Indices []*Index
	Subs    []Sub // nil: the whole
	Value   Expr
	Span    source.Span
}

// Output is a saved quantity. Models without outputs save their states.
type Output struct {
	Name  string
	Value Expr
	Doc   string
	Span  source.Span
}

// Objective is an expression of functionals and parameters, one per value of
// Indices (row-major) and per element of Value.
type Objective struct {
	Name    string
	Indices []*Index
	Value   Expr
	// Relation is "" for an objective; "==", "<=" or ">=" for a constraint, whose Value is left minus right.
	Relation string
	Doc      string
	Span     source.Span
}

// Observation compares an expression with a column of a table.
type Observation struct {
	Name   string
	Value  Expr
	As     source.Span // the expression as it is written
	Table  *Table      // the rows that count: those of the experiment, without missing values
	Column int
	// Limits are the limits of quantification of the rows: of a value at or under its limit only that is known. nil when
	// there are none, or when they are more than numbers or a column.
	Limits []float64
	Doc    string
	Span   source.Span
}

// Assert is a condition of parameters and constants, checked at the start of a run.
type Assert struct {
	Cond Expr
	Text string
	Span source.Span
}

// Invariant is Left == Right, checked along the run.
type Invariant struct {
	Left, Right Expr
	Span        source.Span
}

// Settings are the solver, sens and fit blocks. A named block is chosen by name.
type Settings struct {
	Blocks []Block
}

// Block is one settings block.
type Block struct {
	Kind string // "solver", "sens", "fit"
	Name string // "" for the unnamed one
	Keys []Setting
}

// Setting is a key and its value.
type Setting struct {
	Key   string
	Span  source.Span // of the key
	Value SettingValue
}

// SettingValue is a number (with Number set), a word, a text, a list (whose elements have names in Keys), a call
// like revolve(ram = 200), or an element like A[1,2] (Word and Array, its subscripts in List).
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
