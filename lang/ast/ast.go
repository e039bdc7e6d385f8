// Package ast is the tree of a model file: what was written, before any name is looked up. It keeps
// everything that the formatter needs (parentheses, comments, the text of numbers, units), and
// writes trees as text. It knows nothing of types, shapes or values, and reports no errors.
package ast

import "odes.dev/odes/lang/source"

// File is a parsed file.
type File struct {
	Source   *source.File
	Items    []Item
	Comments []Comment // all of them, in order, doc comments included
	Tokens   []Token   // all of them, in order, without the final EOF; nil for a tree made by a program
	// Copies tells how many subscripts choose a copy of each component, "c" or "c.m", whose names are part of Items.
	Copies map[string]int
	// Uses has, of each file whose items are part of Items, where it is used first.
	Uses map[*source.File]source.Span
	// Sets has, by the place where a component is given a value, what is given it.
	Sets map[source.Span]*Var
}

// Token is one word or sign of a file. Text is what it means: NFC for names,
// without the backquotes for quoted names, the ASCII sign where a look-alike
// was written; otherwise it is the text as written.
type Token struct {
	Kind       TokenKind
	Text       string
	Start, End int  // byte offsets
	NewLine    bool // a line ends between the token before and this one, or it is the first
}

// TokenKind is the class of a token.
type TokenKind uint8

// The kinds of token.
const (
	EOF TokenKind = iota
	IdentToken
	QuotedToken // a name in backquotes
	KeywordToken
	NumberToken
	StringToken
	SignToken // operators and brackets
	BadToken  // an error was reported already
)

// String returns the kind in words.
func (k TokenKind) String() string {
	return [...]string{"end of file", "name", "quoted name", "keyword", "number", "string", "sign", "bad"}[k]
}

// Comment is one comment with its marker, without the line ending.
type Comment struct {
	Text string // "# …", "## …" or "#! …"
	Span source.Span
}

// Node is anything that has a place in the file.
type Node interface {
	Pos() source.Span
}

// At is embedded in every node and holds its place.
type At struct{ Span source.Span }

// Pos returns the node's place.
func (a At) Pos() source.Span { return a.Span }

// Place sets the node's place.
func (a *At) Place(at source.Span) { a.Span = at }

// Ident is a name where it is written. Quoted is set for a name in backquotes.
type Ident struct {
	At
	Name   string // normalised: NFC, micro sign folded to mu
	Quoted bool
}

// Item is a top-level declaration, equation or block.
type Item interface {
	Node
	// Keyword returns the reserved word that the item starts with; "equation", "alg equation" or "bad" for items that
	// start with none.
	Keyword() string
}

// DeclKind says which word a declaration starts with.
type DeclKind uint8

// The kinds of declaration.
const (
	Const DeclKind = iota
	Param
	State
	Alg
	Discrete
	Random
)

// String returns the keyword.
func (k DeclKind) String() string {
	return [...]string{"const", "param", "state", "alg", "discrete", "random"}[k]
}

// The items.
type (
	// Model is `model Name "title"`.
	Model struct {
		At
		Name  Ident
		Title *String
		Doc   string
	}

	// Import is `import "path" [as name]`, `import a, b from "path"` or, for a component, `import model "path" as
	// name`.
	Import struct {
		At
		Model bool
		Path  String
		As    *Ident
		Names []Ident
	}

	// Use is `use Cell as c[i] { k = kk[i] } for i in 1:n with data`: copies of a component.
	Use struct {
		At
		Component Ident
		Target    *LValue // subscripts are names of For, or numbers of copies
		List      []*UseSet
		For       []Binder
		Data      bool // with data
	}

	// UnitDecl is `unit uM = 1e-6 [mol/L]`.
	UnitDecl struct {
		At
		Name  Ident
		Value Expr
		Doc   string
	}

	// Time is `time t : [s] from a to b`.
	Time struct {
		At
		Name     Ident
		Unit     *Unit
		From, To Expr
		Doc      string
	}

	// Decl is `param a = 1, b[n] : [s] = 2 in [0, 3] ~ normal(0, 1)`, or `random e ~ normal(0, w) by D.OCC`.
	Decl struct {
		At
		Kind DeclKind
		Vars []*Var
	}

	// Control is `control u = 0 in [a, b] piecewise constant on grid(…)`.
	Control struct {
		At
		Var    *Var
		Linear bool
		Grid   Expr
	}

	// Let is `let w[i] : [m] = e for i in 1:n`, or the same with `output`.
	Let struct {
		At
		Output bool
		Target *LValue
		Unit   *Unit
		Value  Expr
		For    []Binder
		Doc    string
	}

	// Report is `output x, y`: names of other items that are reported.
	Report struct {
		At
		Names []Ident
	}

	// Fn is `fn f(x: [m], A[n,m]) : [s] = e` or with a body of lets.
	Fn struct {
		At
		Name   Ident
		Params []*FnParam
		Unit   *Unit
		Lets   []*Let // in a braced body
		Result Expr
		Braced bool
		Doc    string
	}

	// Event is `event e when c { … }`, `event e at … { … }`, `event e every P … { … }`.
	Event struct {
		At
		Name     *Ident // nil when unnamed
		When     Expr   // exactly one of When, Times, Every is set
		Times    []Expr
		Every    Expr
		From     Expr // of Every; may be nil
		To       Expr
		Count    Expr
		For      []Binder
		Priority Expr
		Once     bool
		Start    bool // at start
		Options  []*Option
		Body     []*Affect
		Doc      string
	}

	// Reaction is `reaction r: 2 A + B -> C rate e`. Net is set for `<->`.
	Reaction struct {
		At
		Name        Ident
		Left, Right []*Specie
		Net         bool
		Rate        Expr
		Doc         string
	}

	// Equilibrate is `equilibrate { … }` or `equilibrate { … } every T`.
	Equilibrate struct {
		At
		Body  []*Affect
		Every Expr // nil for a steady state without a period
	}

	// Experiment is `experiment e { … }`, or `experiment e from D by D.id { … }`: one for each value of a column.
	Experiment struct {
		At
		Name  Ident
		From  *Ident
		By    Expr
		Items []*ExpItem
		Doc   string
	}

	// Data is `data D = csv(…)` or `data D { time = … }`.
	Data struct {
		At
		Name     Ident
		Value    Expr       // nil for the block form
		Settings []*Setting // the block's columns
		Doc      string
	}

	// Doses is `doses D { gut where CMT == 1  lag = tlag }`: rows of a table are records of doses.
	Doses struct {
		At
		Table Ident
		Items []*DoseItem
	}

	// Observe is `observe y = e ~ normal(s) from D.y where D.kind == 1`.
	Observe struct {
		At
		Name  Ident
		Unit  *Unit
		Value Expr
		Noise Expr
		From  Expr // may be nil
		Where Expr // may be nil
		Doc   string
	}

	// Objective is `objective J[i] : [m] = e for i in 1:n`.
	Objective struct {
		At
		Target *LValue
		Unit   *Unit
		Value  Expr
		For    []Binder
		Doc    string
	}

	// Constraint is `constraint c: a <= b`.
	Constraint struct {
		At
		Name Ident
		Cond Expr
		For  []Binder
		Doc  string
	}

	// Invariant is `invariant a == b`.
	Invariant struct {
		At
		Cond Expr
	}

	// Assert is `assert c, "text"`.
	Assert struct {
		At
		Cond Expr
		Text *String
	}

	// Settings is `solver fast { … }`, or a block of another kind.
	Settings struct {
		At
		Block Ident  // "solver", "sens", "fit" or "ensemble"
		Name  *Ident // nil for the unnamed block
		List  []*Setting
	}

	// AlgEq is `0 = e for …`.
	AlgEq struct {
		At
		Value Expr
		For   []Binder
	}

	// Mass is `mass(x) = M`.
	Mass struct {
		At
		Name  Ident
		Value Expr
	}

	// Equation is `x[i]' = e for i in 1:n`. Add is set for `+=`.
	Equation struct {
		At
		Target *LValue
		Add    bool
		Value  Expr
		For    []Binder
		Doc    string
	}

	// Bad is an item that did not parse. Its errors were reported. Names are those that it seems to
	// declare or, for an equation or a reaction, to be about: other uses of these names are then
	// not reported as errors.
	Bad struct {
		At
		Word  string // the reserved word that it starts with, or "equation", or ""
		Names []Ident
	}
)

func (*Model) Keyword() string       { return "model" }
func (*Import) Keyword() string      { return "import" }
func (*Use) Keyword() string         { return "use" }
func (*UnitDecl) Keyword() string    { return "unit" }
func (*Time) Keyword() string        { return "time" }
func (n *Decl) Keyword() string      { return n.Kind.String() }
func (*Control) Keyword() string     { return "control" }
func (*Fn) Keyword() string          { return "fn" }
func (*Event) Keyword() string       { return "event" }
func (*Reaction) Keyword() string    { return "reaction" }
func (*Equilibrate) Keyword() string { return "equilibrate" }
func (*Experiment) Keyword() string  { return "experiment" }
func (*Data) Keyword() string        { return "data" }
func (*Doses) Keyword() string       { return "doses" }
func (*Observe) Keyword() string     { return "observe" }
func (*Objective) Keyword() string   { return "objective" }
func (*Constraint) Keyword() string  { return "constraint" }
func (*Invariant) Keyword() string   { return "invariant" }
func (*Assert) Keyword() string      { return "assert" }
func (*Report) Keyword() string      { return "output" }
func (n *Settings) Keyword() string  { return n.Block.Name }
func (*AlgEq) Keyword() string       { return "alg equation" }
func (*Mass) Keyword() string        { return "mass" }
func (*Equation) Keyword() string    { return "equation" }
func (*Bad) Keyword() string         { return "bad" }

// Keyword is "let" or "output".
func (n *Let) Keyword() string {
	if n.Output {
		return "output"
	}
	return "let"
}

// Parts of items.
type (
	// Var is one variable of a declaration.
	Var struct {
		At
		Name   Ident
		Dims   []Expr
		Unit   *Unit
		Value  Expr // may be nil
		Lo, Hi Expr // `in [lo, hi]`; both nil or both set
		Prior  Expr // may be nil
		By     Expr // of a random effect: the column of its occasions; nil for none
		Doc    string
	}

	// UseSet is `Key = Value`, where the key is a name of a component, initial(name), or one of its own components.
	UseSet struct {
		At
		Key   Expr
		Value Expr
	}

	// LValue is a name with optional subscripts, on the left of an assignment. Of is `c[2]` of `c[2].V`, which is of a
	// component.
	LValue struct {
		At
		Of   Expr // may be nil
		Name Ident
		Subs []*Sub
	}

	// Sub is one subscript: `:` (All), `e`, `lo:hi` or `lo:step:hi`.
	Sub struct {
		At
		All          bool
		Lo, Step, Hi Expr // Lo alone: an index; Hi set: a range; Step may be nil
	}

	// Binder is `i in lo:hi` or `i in lo:step:hi`.
	Binder struct {
		At
		Name         Ident
		Lo, Step, Hi Expr // Step may be nil
	}

	// FnParam is a parameter of a function. A dimension is a name, a number or ":".
	FnParam struct {
		At
		Name Ident
		Dims []FnDim
		Unit *Unit
	}

	// FnDim is a dimension of a function parameter: All for ":", Name, or Size.
	FnDim struct {
		At
		All  bool
		Name string
		Size int
	}

	// Affect is a statement of an event body: `stop`, a let, or an assignment.
	Affect struct {
		At
		Stop   bool
		Let    *Let
		Target *LValue
		Op     AssignOp
		Value  Expr
		For    []Binder
	}

	// Specie is `2 A` on a side of a reaction.
	Specie struct {
		At
		Coeff *Number // nil for 1
		Name  *LValue
	}

	// ExpItem is an item of an experiment: exactly one field group is set.
	ExpItem struct {
		At
		Equil    *Equilibrate
		Time     Expr // `at time where Where priority Priority { Body }`
		Body     []*Affect
		Use      *Ident // `use D where Where`
		Where    Expr
		Priority Expr
		Name     *Ident // `Name = Value`
		Value    Expr
	}

	// DoseItem is an item of `doses`: `gut where CMT == 1`, or `Key = Value`, about the state before it.
	DoseItem struct {
		At
		Target *LValue
		Where  Expr // may be nil
		Key    *Ident
		Value  Expr
	}

	// Option is `, key = value` of an event.
	Option struct {
		At
		Key   Ident
		Value Expr
	}

	// Setting is `key = value`.
	// Setting is `key = value`, or `k ~ lognormal(0, 1)` in an ensemble block. Drawn is then what is drawn, and Key has
	// its first name.
	Setting struct {
		At
		Key   Ident
		Drawn Expr // nil for `key = value`
		Value Expr
	}
)

// AssignOp is the operator of an affect.
type AssignOp uint8

// The assignment operators.
const (
	Set AssignOp = iota // =
	AddTo
	SubFrom
	MulBy
	DivBy
)

// String returns the operator as written.
func (o AssignOp) String() string { return [...]string{"=", "+=", "-=", "*=", "/="}[o] }

// Expr is an expression.
type Expr interface {
	Node
	expr()
}

// The expressions.
type (
	// Number is a literal, with its unit if one follows.
	Number struct {
		At
		Text  string // as written
		Value float64
		Unit  *Unit
	}

	// String is a string literal; Value is unescaped.
	String struct {
		At
		Value string
	}

	// Name is a name used as a value. `end` and `true` are names.
	Name struct {
		Ident
	}

	// Paren is `( e )`.
	Paren struct {
		At
		X Expr
	}

	// Unary is `-x`, `+x` or `not x`.
	Unary struct {
		At
		Op Op
		X  Expr
	}

	// Binary is `x op y`; comparisons and `crosses` included.
	Binary struct {
		At
		Op   Op
		OpAt source.Span
		X, Y Expr
		Way  string // of crosses: "up", "down" or ""
	}

	// If is `if c then a elseif d then b else e`: len(Conds) == len(Thens).
	If struct {
		At
		Conds, Thens []Expr
		Else         Expr
	}

	// Call is `f(a, key = b)` or `sum(e for i in 1:n)`.
	Call struct {
		At
		Fun  Expr // a Name or a Member
		Args []Arg
		For  []Binder
	}

	// Arg is an argument; Key is nil for a positional one.
	Arg struct {
		At
		Key   *Ident
		Value Expr
	}

	// Index is `x[subs]`.
	Index struct {
		At
		X    Expr
		Subs []*Sub
	}

	// Member is `D.column` or `module.name`.
	Member struct {
		At
		X    Expr
		Name Ident
	}

	// As is `x as [unit]`.
	As struct {
		At
		X    Expr
		Unit *Unit
	}

	// Array is `[a, b]`, or `[e for i in 1:n]` with one element and binders. In settings its
	// elements may be Entries.
	Array struct {
		At
		Elems []Expr
		For   []Binder
		Unit  *Unit
	}

	// Entry is `key = value` in an Array.
	Entry struct {
		At
		Key   Ident
		Value Expr
	}

	// BadExpr stands where an expression did not parse.
	BadExpr struct{ At }
)

func (*Number) expr()  {}
func (*String) expr()  {}
func (*Name) expr()    {}
func (*Paren) expr()   {}
func (*Unary) expr()   {}
func (*Binary) expr()  {}
func (*If) expr()      {}
func (*Call) expr()    {}
func (*Index) expr()   {}
func (*Member) expr()  {}
func (*As) expr()      {}
func (*Array) expr()   {}
func (*Entry) expr()   {}
func (*BadExpr) expr() {}

// Op is an operator of an expression.
type Op uint8

// The operators.
const (
	Add       Op = iota // +
	Sub_                // -
	Mul                 // * (elementwise)
	Div                 // /
	MatMul              // @
	Pow                 // ^
	Less                // <
	LessEq              // <=
	Greater             // >
	GreaterEq           // >=
	Equal               // ==
	NotEqual            // !=
	Crosses             // crosses
	And                 // and
	Or                  // or
	Not                 // not (unary)
	Neg                 // - (unary)
	Plus                // + (unary)
)

// String returns the operator as written.
func (o Op) String() string {
	return [...]string{
		"+", "-", "*", "/", "@", "^", "<", "<=", ">", ">=", "==", "!=", "crosses", "and", "or", "not", "-", "+",
	}[o]
}

// Comparison reports whether o is one of < <= > >= == != crosses.
func (o Op) Comparison() bool { return o >= Less && o <= Crosses }

// Unit is a unit in brackets, as a product of factors.
type Unit struct {
	At
	Factors []UnitFactor
}

// UnitFactor is a name, a number or a group, to a rational power.
type UnitFactor struct {
	At
	Div      bool   // divides what precedes it
	Name     string // one of Name, Number, Group
	Number   *Number
	Group    *Unit
	Num, Den int  // exponent; 1/1 when none is written
	Bare     bool // written as m^1/2, which means (m^1)/2 and deserves a warning
}
