package ast

// Item is a top-level declaration, equation or block. A kind of item is described in one place: its struct, the word
// that it starts with, and its form, which says what it is made of in the order of the text.
type Item interface {
	described
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

// Model is `model Name "title"`.
type Model struct {
	At
	Name  Ident
	Title *String
	Doc   string
}

func (*Model) Keyword() string { return "model" }

func (n *Model) form() form {
	return form{
		head: "model", doc: &n.Doc, gives: named("model", n.Name, nil),
		parts: []Part{piece("model ", &n.Name), piece(" ", n.Title)},
	}
}

// Import is `import "path" [as name]`, `import a, b from "path"` or, for a component, `import model "path" as
// name`.
type Import struct {
	At
	Model bool
	Path  String
	As    *Ident
	Names []Ident
}

func (*Import) Keyword() string { return "import" }

func (n *Import) form() form {
	f := form{head: "import", parts: []Part{
		says("import ", ""), only(n.Model, says("model ", "model")), idents("", n.Names).end(" from "),
		piece("", &n.Path), piece(" as ", n.As),
	}}
	f.parts[2].last, f.parts[4].word = true, "as"
	if n.As != nil {
		f.gives = named("module", *n.As, nil)
	}
	return f
}

// Use is `use Cell as c[i] { k = kk[i] } for i in 1:n with data`: copies of a component.
type Use struct {
	At
	Component Ident
	Target    *LValue // subscripts are names of For, or numbers of copies
	List      []*UseSet
	For       []Binder
	Data      bool // with data
}

func (*Use) Keyword() string { return "use" }

func (n *Use) form() form {
	return form{head: "use", gives: indexed("component", n.Target, nil), parts: []Part{
		piece("use ", &n.Component), piece(" as ", n.Target), only(len(n.List) > 0, braces(" ", "  ", n.List)),
		loop(&n.For), only(n.Data, says(" with data", "data")),
	}}
}

// UnitDecl is `unit uM = 1e-6 [mol/L]`.
type UnitDecl struct {
	At
	Name  Ident
	Value Expr
	Doc   string
}

func (*UnitDecl) Keyword() string { return "unit" }

func (n *UnitDecl) form() form {
	return form{
		head: "unit", doc: &n.Doc, gives: named("unit", n.Name, n.Value),
		parts: []Part{piece("unit ", &n.Name), expr(" = ", n.Value)},
	}
}

// Time is `time t : [s] from a to b`.
type Time struct {
	At
	Name     Ident
	Unit     *Unit
	From, To Expr
	Doc      string
}

func (*Time) Keyword() string { return "time" }

func (n *Time) form() form {
	return form{head: "time", doc: &n.Doc, gives: named("time", n.Name, nil), parts: []Part{
		piece("time ", &n.Name), piece(" : ", n.Unit), expr(" from ", n.From), expr(" to ", n.To),
	}}
}

// Decl is `param a = 1, b[n] : [s] = 2 in [0, 3] ~ normal(0, 1)`, or `random e ~ normal(0, w) by D.OCC`.
type Decl struct {
	At
	Kind DeclKind
	Vars []*Var
}

// Keyword returns the word of its kind.
func (n *Decl) Keyword() string { return n.Kind.String() }

func (n *Decl) form() form {
	word := n.Kind.String()
	return form{
		head: word, class: word, gives: Declaration{Kind: word},
		parts: []Part{several(word+" ", ", ", n.Vars)},
	}
}

// Control is `control u = 0 in [a, b] piecewise constant on grid(…)`.
type Control struct {
	At
	Var    *Var
	Linear bool
	Grid   Expr
}

func (*Control) Keyword() string { return "control" }

func (n *Control) form() form {
	shape := says(" piecewise constant", "")
	if n.Linear {
		shape = says(" piecewise linear", "linear")
	}
	f := form{head: "control", gives: named("control", n.Var.Name, n.Var.Value), parts: []Part{
		piece("control ", n.Var), shape, expr(" on ", n.Grid).as("on"),
	}}
	f.gives.Doc = &n.Var.Doc
	return f
}

// Let is `let w[i] : [m] = e for i in 1:n`, or the same with `output`.
type Let struct {
	At
	Output bool
	Target *LValue
	Unit   *Unit
	Value  Expr
	For    []Binder
	Doc    string
}

// Keyword returns "let" or "output".
func (n *Let) Keyword() string {
	if n.Output {
		return "output"
	}
	return "let"
}

func (n *Let) form() form {
	word := n.Keyword()
	return form{
		head: word, class: word, doc: &n.Doc, gives: indexed(word, n.Target, n.Value),
		parts: assignment(word+" ", n.Target, n.Unit, " = ", n.Value, &n.For),
	}
}

// Report is `output x, y`: names of other items that are reported.
type Report struct {
	At
	Names []Ident
}

func (*Report) Keyword() string { return "output" }

func (n *Report) form() form {
	names := idents("output ", n.Names)
	names.dotted = true
	return form{head: "output", parts: []Part{names}}
}

// Fn is `fn f(x: [m], A[n,m]) : [s] = e` or with a body of lets.
type Fn struct {
	At
	Name   Ident
	Params []*FnParam
	Unit   *Unit
	Lets   []*Let // in a braced body
	Result Expr
	Braced bool
	Doc    string
}

func (*Fn) Keyword() string { return "fn" }

func (n *Fn) form() form {
	params := several("(", ", ", n.Params)
	params.present, params.behind = true, ")"
	f := form{head: "fn", doc: &n.Doc, gives: named("function", n.Name, nil), parts: []Part{
		piece("fn ", &n.Name), params, piece(" : ", n.Unit),
	}}
	if !n.Braced {
		f.parts = append(f.parts, expr(" = ", n.Result).as("return"))
		return f
	}
	f.parts = append(f.parts, says(" { ", ""), several("", "; ", n.Lets).end("; "),
		expr("return ", n.Result).as("return").end(" }"))
	return f
}

// Event is `event e when c { … }`, `event e at … { … }`, `event e every P … { … }`.
type Event struct {
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

func (*Event) Keyword() string { return "event" }

func (n *Event) form() form {
	f := form{head: "event", doc: &n.Doc, gives: Declaration{Kind: "event"}, parts: []Part{
		says("event ", ""), piece("", n.Name).end(" "),
		expr("when ", n.When).as("when"), expr("at ", n.Times...).as("at"),
		expr("every ", n.Every).as("every"), expr(" from ", n.From).as("from"), expr(" to ", n.To).as("to"),
		expr(" count ", n.Count).as("count"), loop(&n.For), expr(" priority ", n.Priority).as("priority"),
		only(n.Once, says(" once", "once")), only(n.Start, says(" at start", "start")),
		several("", "", n.Options), body(" ", n.Body),
	}}
	if n.Name != nil {
		f.gives.Name = *n.Name
	}
	return f
}

// Reaction is `reaction r: 2 A + B -> C rate e`. Net is set for `<->`.
type Reaction struct {
	At
	Name        Ident
	Left, Right []*Specie
	Net         bool
	Rate        Expr
	Doc         string
}

func (*Reaction) Keyword() string { return "reaction" }

func (n *Reaction) form() form {
	left, right := several(": ", " + ", n.Left).as("+").cell(1, 0), several("", " + ", n.Right).as("+")
	left.present, right.present = true, true
	if len(n.Left) > 0 {
		left.behind = " "
	}
	if len(n.Right) > 0 {
		right.behind = " "
	}
	arrow := "->"
	if n.Net {
		arrow = "<->"
	}
	return form{
		head: "reaction", class: "reaction", doc: &n.Doc, gives: named("reaction", n.Name, nil), parts: []Part{
			piece("reaction ", &n.Name), left, says(arrow+" ", arrow).cell(2, 1), right,
			expr("rate ", n.Rate).as("rate").cell(3, 2),
		},
	}
}

// Equilibrate is `equilibrate { … }` or `equilibrate { … } every T`.
type Equilibrate struct {
	At
	Body  []*Affect
	Every Expr // nil for a steady state without a period
}

func (*Equilibrate) Keyword() string { return "equilibrate" }

func (n *Equilibrate) form() form {
	return form{head: "equilibrate", parts: []Part{
		body("equilibrate ", n.Body), expr(" every ", n.Every).as("every"),
	}}
}

// Experiment is `experiment e { … }`, or `experiment e from D by D.id { … }`: one for each value of a column.
type Experiment struct {
	At
	Name  Ident
	From  *Ident
	By    Expr
	Items []*ExpItem
	Doc   string
}

func (*Experiment) Keyword() string { return "experiment" }

func (n *Experiment) form() form {
	return form{
		head: "experiment", class: "experiment", doc: &n.Doc, gives: named("experiment", n.Name, nil), parts: []Part{
			piece("experiment ", &n.Name), piece(" from ", n.From), expr(" by ", n.By).as("by"),
			only(n.From == nil || len(n.Items) > 0, braces(" ", " ", n.Items)).cell(1, 1),
		},
	}
}

// Data is `data D = csv(…)` or `data D { time = … }`.
type Data struct {
	At
	Name     Ident
	Value    Expr       // nil for the block form
	Settings []*Setting // the block's columns
	Doc      string
}

func (*Data) Keyword() string { return "data" }

func (n *Data) form() form {
	return form{head: "data", doc: &n.Doc, gives: named("data table", n.Name, nil), parts: []Part{
		piece("data ", &n.Name), expr(" = ", n.Value), only(n.Value == nil, settings(n.Settings)),
	}}
}

// Doses is `doses D { gut where CMT == 1  lag = tlag }`: rows of a table are records of doses.
type Doses struct {
	At
	Table Ident
	Items []*DoseItem
}

func (*Doses) Keyword() string { return "doses" }

func (n *Doses) form() form {
	return form{head: "doses", parts: []Part{piece("doses ", &n.Table), braces(" ", " ", n.Items)}}
}

// Observe is `observe y = e ~ normal(s) from D.y where D.kind == 1`.
type Observe struct {
	At
	Name  Ident
	Unit  *Unit
	Value Expr
	Noise Expr
	From  Expr // may be nil
	Where Expr // may be nil
	Doc   string
}

func (*Observe) Keyword() string { return "observe" }

func (n *Observe) form() form {
	return form{head: "observe", doc: &n.Doc, gives: named("observation", n.Name, n.Value), parts: []Part{
		piece("observe ", &n.Name), piece(" : ", n.Unit), expr(" = ", n.Value), expr(" ~ ", n.Noise).as("~"),
		expr(" from ", n.From).as("from"), expr(" where ", n.Where).as("where"),
	}}
}

// Objective is `objective J[i] : [m] = e for i in 1:n`.
type Objective struct {
	At
	Target *LValue
	Unit   *Unit
	Value  Expr
	For    []Binder
	Doc    string
}

func (*Objective) Keyword() string { return "objective" }

func (n *Objective) form() form {
	return form{
		head: "objective", class: "objective", doc: &n.Doc, gives: indexed("objective", n.Target, n.Value),
		parts: assignment("objective ", n.Target, n.Unit, " = ", n.Value, &n.For),
	}
}

// Constraint is `constraint c: a <= b`.
type Constraint struct {
	At
	Name Ident
	Cond Expr
	For  []Binder
	Doc  string
}

func (*Constraint) Keyword() string { return "constraint" }

func (n *Constraint) form() form {
	return form{
		head: "constraint", class: "constraint", doc: &n.Doc, gives: named("constraint", n.Name, nil),
		parts: []Part{piece("constraint ", &n.Name), expr(": ", n.Cond).cell(1, 0), loop(&n.For)},
	}
}

// Invariant is `invariant a == b`.
type Invariant struct {
	At
	Cond Expr
}

func (*Invariant) Keyword() string { return "invariant" }

func (n *Invariant) form() form {
	return form{head: "invariant", parts: []Part{expr("invariant ", n.Cond)}}
}

// Assert is `assert c, "text"`.
type Assert struct {
	At
	Cond Expr
	Text *String
}

func (*Assert) Keyword() string { return "assert" }

func (n *Assert) form() form {
	return form{head: "assert", parts: []Part{expr("assert ", n.Cond), piece(", ", n.Text)}}
}

// Settings is `solver fast { … }`, or a block of another kind.
type Settings struct {
	At
	Block Ident  // "solver", "sens", "fit" or "ensemble"
	Name  *Ident // nil for the unnamed block
	List  []*Setting
}

// Keyword returns the word of the block.
func (n *Settings) Keyword() string { return n.Block.Name }

func (n *Settings) form() form {
	word := piece("", &n.Block)
	word.undumped = true
	return form{head: n.Block.Name, class: "settings", parts: []Part{
		word, piece(" ", n.Name), settings(n.List).cell(1, 1),
	}}
}

// AlgEq is `0 = e for …`.
type AlgEq struct {
	At
	Value Expr
	For   []Binder
}

func (*AlgEq) Keyword() string { return "alg equation" }

func (n *AlgEq) form() form {
	return form{head: "0=", parts: []Part{expr("0 = ", n.Value), loop(&n.For)}}
}

// Mass is `mass(x) = M` or, as a Past, `past x = e`.
type Mass struct {
	At
	Name  Ident
	Past  bool
	Value Expr
}

// Keyword returns "mass" or "past".
func (n *Mass) Keyword() string {
	if n.Past {
		return "past"
	}
	return "mass"
}

func (n *Mass) form() form {
	name := piece("mass(", &n.Name).end(")")
	if n.Past {
		name = piece("past ", &n.Name)
	}
	return form{head: n.Keyword(), parts: []Part{name, expr(" = ", n.Value)}}
}

// Equation is `x[i]' = e for i in 1:n`. Add is set for `+=`.
type Equation struct {
	At
	Target *LValue
	Add    bool
	Value  Expr
	For    []Binder
	Doc    string
}

func (*Equation) Keyword() string { return "equation" }

func (n *Equation) form() form {
	sign := "="
	if n.Add {
		sign = "+="
	}
	parts := assignment("", n.Target, nil, " "+sign+" ", n.Value, &n.For)
	parts[0] = parts[0].end("'")
	return form{
		head: "'" + sign, class: "'", doc: &n.Doc, gives: indexed("equation", n.Target, n.Value), parts: parts,
	}
}

// Bad is an item that did not parse. Its errors were reported. Names are those that it seems to
// declare or, for an equation or a reaction, to be about: other uses of these names are then
// not reported as errors.
type Bad struct {
	At
	Word  string // the reserved word that it starts with, or "equation", or ""
	Names []Ident
}

func (*Bad) Keyword() string { return "bad" }

func (*Bad) form() form {
	return form{head: "bad"}
}

// assignment is the parts of `word target : unit = value for …`.
func assignment(word string, target *LValue, unit *Unit, sign string, value Expr, binders *[]Binder) []Part {
	return []Part{
		piece(word, target), piece(" : ", unit).cell(unitSlot, 1), expr(sign, value).cell(valueSlot, 1), loop(binders),
	}
}

// Var is one variable of a declaration.
type Var struct {
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

func (n *Var) form() form {
	dims := expr("[", n.Dims...).as("shape").end("]")
	return form{head: "var", doc: &n.Doc, parts: []Part{
		piece("", &n.Name), dims, piece(" : ", n.Unit).cell(unitSlot, 1), expr(" = ", n.Value).cell(valueSlot, 1),
		expr(" in [", n.Lo, n.Hi).as("in").end("]").cell(boundsSlot, 2),
		expr(" ~ ", n.Prior).as("~").cell(priorSlot, 2), expr(" by ", n.By).as("by"),
	}}
}

// UseSet is `Key = Value`, where the key is a name of a component, initial(name), or one of its own components.
type UseSet struct {
	At
	Key   Expr
	Value Expr
}

func (n *UseSet) form() form {
	return form{head: "=", parts: []Part{expr("", n.Key), expr(" = ", n.Value)}}
}

// LValue is a name with optional subscripts, on the left of an assignment. Of is `c[2]` of `c[2].V`, which is of a
// component.
type LValue struct {
	At
	Of   Expr // may be nil
	Name Ident
	Subs []*Sub
}

// Sub is one subscript: `:` (All), `e`, `lo:hi` or `lo:step:hi`.
type Sub struct {
	At
	All          bool
	Lo, Step, Hi Expr // Lo alone: an index; Hi set: a range; Step may be nil
}

// Binder is `i in lo:hi` or `i in lo:step:hi`.
type Binder struct {
	At
	Name         Ident
	Lo, Step, Hi Expr // Step may be nil
}

// FnParam is a parameter of a function. A dimension is a name, a number or ":".
type FnParam struct {
	At
	Name Ident
	Dims []FnDim
	Unit *Unit
}

func (n *FnParam) form() form {
	dims := Part{present: len(n.Dims) > 0, before: "[", between: ", ", behind: "]"}
	for i := range n.Dims {
		dims.Nodes = append(dims.Nodes, &n.Dims[i])
	}
	return form{head: "of", parts: []Part{piece("", &n.Name), dims, piece(": ", n.Unit)}}
}

// FnDim is a dimension of a function parameter: All for ":", Name, or Size.
type FnDim struct {
	At
	All  bool
	Name string
	Size int
}

// Affect is a statement of an event body: `stop`, a let, or an assignment.
type Affect struct {
	At
	Stop   bool
	Let    *Let
	Target *LValue
	Op     AssignOp
	Value  Expr
	For    []Binder
}

func (n *Affect) form() form {
	switch {
	case n.Stop:
		return form{parts: []Part{says("stop", "stop")}}
	case n.Let != nil:
		return form{parts: []Part{piece("", n.Let)}}
	}
	sign := n.Op.String()
	return form{head: sign, parts: assignment("", n.Target, nil, " "+sign+" ", n.Value, &n.For)}
}

// Specie is `2 A` on a side of a reaction.
type Specie struct {
	At
	Coeff *Number // nil for 1
	Name  *LValue
}

func (n *Specie) form() form {
	if n.Coeff == nil {
		return form{parts: []Part{piece("", n.Name)}}
	}
	return form{head: "*", parts: []Part{piece("", n.Coeff).end(" "), piece("", n.Name)}}
}

// ExpItem is an item of an experiment: exactly one field group is set.
type ExpItem struct {
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

func (n *ExpItem) form() form {
	switch {
	case n.Equil != nil:
		return form{parts: []Part{piece("", n.Equil)}}
	case n.Time != nil:
		return form{head: "at", parts: []Part{
			expr("at ", n.Time), expr(" where ", n.Where).as("where"), expr(" priority ", n.Priority).as("priority"),
			body(" ", n.Body),
		}}
	}
	name, head := piece("", n.Name), "="
	if n.Use != nil {
		name, head = piece("use ", n.Use), "use"
	}
	name.dotted = true
	return form{head: head, parts: []Part{name, expr(" where ", n.Where).as("where"), expr(" = ", n.Value)}}
}

// DoseItem is an item of `doses`: `gut where CMT == 1`, or `Key = Value`, about the state before it.
type DoseItem struct {
	At
	Target *LValue
	Where  Expr // may be nil
	Key    *Ident
	Value  Expr
}

func (n *DoseItem) form() form {
	if n.Target == nil {
		return form{head: "=", parts: []Part{piece("", n.Key), expr(" = ", n.Value)}}
	}
	return form{head: "into", parts: []Part{piece("", n.Target), expr(" where ", n.Where).as("where")}}
}

// Option is `, key = value` of an event.
type Option struct {
	At
	Key   Ident
	Value Expr
}

func (n *Option) form() form {
	return form{head: ",", parts: []Part{piece(", ", &n.Key), expr(" = ", n.Value)}}
}

// Setting is `key = value`.
// Setting is `key = value`, or `k ~ lognormal(0, 1)` in an ensemble block. Drawn is then what is drawn, and Key has
// its first name.
type Setting struct {
	At
	Key   Ident
	Drawn Expr // nil for `key = value`
	Value Expr
}

func (n *Setting) form() form {
	if n.Drawn != nil {
		return form{head: "~", parts: []Part{expr("", n.Drawn), expr(" ~ ", n.Value)}}
	}
	return form{head: "=", parts: []Part{piece("", &n.Key), expr(" = ", n.Value)}}
}
