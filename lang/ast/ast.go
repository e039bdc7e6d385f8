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

// HasCrosses reports whether a condition has a `crosses` among what it joins.
func HasCrosses(e Expr) bool {
	switch e := e.(type) {
	case *Paren:
		return HasCrosses(e.X)
	case *Unary:
		return HasCrosses(e.X)
	case *Binary:
		return e.Op == Crosses || HasCrosses(e.X) || HasCrosses(e.Y)
	}
	return false
}

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
