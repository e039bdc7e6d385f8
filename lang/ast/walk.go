package ast

import "odes.dev/odes/lang/source"

// Pos returns the place of the whole file.
func (f *File) Pos() source.Span {
	if f.Source == nil {
		return source.Span{}
	}
	return source.Span{File: f.Source, End: len(f.Source.Text())}
}

// Inspect calls visit for n and, as long as visit returns true, for the parts of n, in the order of
// the source. Absent parts are not visited.
func Inspect(n Node, visit func(Node) bool) { Walk(n, visit, nil) }

// Walk is Inspect with a second function. It calls leave, which may be nil, for every node that was
// entered once the parts of that node have been visited.
func Walk(n Node, enter func(Node) bool, leave func(Node)) {
	w := walker{enter, leave}
	w.node(n)
}

type walker struct {
	enter func(Node) bool
	leave func(Node)
}

func (w *walker) node(n Node) {
	if !w.enter(n) {
		return
	}
	switch n := n.(type) {
	case *File:
		for _, item := range n.Items {
			w.node(item)
		}
	case Item:
		w.item(n)
	case Expr:
		w.parts(n)
	default:
		w.piece(n)
	}
	if w.leave != nil {
		w.leave(n)
	}
}

// nodes visits nodes one after the other.
func nodes[N Node](w *walker, list []N) {
	for _, n := range list {
		w.node(n)
	}
}

func (w *walker) item(n Item) {
	switch n := n.(type) {
	case *Model:
		w.node(&n.Name)
		if n.Title != nil {
			w.node(n.Title)
		}
	case *Import:
		w.idents(n.Names)
		w.node(&n.Path)
		w.ident(n.As)
	case *Use:
		w.node(&n.Component)
		w.node(n.Target)
		for _, s := range n.List {
			w.node(s)
		}
		w.binders(n.For)
	case *UnitDecl:
		w.node(&n.Name)
		w.expr(n.Value)
	case *Time:
		w.node(&n.Name)
		w.unit(n.Unit)
		w.expr(n.From, n.To)
	case *Decl:
		for _, v := range n.Vars {
			w.node(v)
		}
	case *Control:
		if n.Var != nil {
			w.node(n.Var)
		}
		w.expr(n.Grid)
	case *Let:
		w.assignment(n.Target, n.Unit, n.Value, n.For)
	case *Report:
		w.idents(n.Names)
	case *Fn:
		w.node(&n.Name)
		for _, p := range n.Params {
			w.node(p)
		}
		w.unit(n.Unit)
		for _, l := range n.Lets {
			w.node(l)
		}
		w.expr(n.Result)
	case *Event:
		w.ident(n.Name)
		w.expr(n.When)
		w.expr(n.Times...)
		w.expr(n.Every, n.From, n.To, n.Count)
		w.binders(n.For)
		w.expr(n.Priority)
		for _, o := range n.Options {
			w.node(o)
		}
		w.body(n.Body)
	case *Reaction:
		w.node(&n.Name)
		for _, s := range n.Left {
			w.node(s)
		}
		for _, s := range n.Right {
			w.node(s)
		}
		w.expr(n.Rate)
	case *Equilibrate:
		w.body(n.Body)
		w.expr(n.Every)
	case *Experiment:
		w.node(&n.Name)
		w.ident(n.From)
		w.expr(n.By)
		nodes(w, n.Items)
	case *Data:
		w.node(&n.Name)
		w.expr(n.Value)
		w.settings(n.Settings)
	case *Doses:
		w.node(&n.Table)
		nodes(w, n.Items)
	case *Observe:
		w.node(&n.Name)
		w.unit(n.Unit)
		w.expr(n.Value, n.Noise, n.From, n.Where)
	case *Objective:
		w.assignment(n.Target, n.Unit, n.Value, n.For)
	case *Constraint:
		w.node(&n.Name)
		w.expr(n.Cond)
		w.binders(n.For)
	case *Invariant:
		w.expr(n.Cond)
	case *Assert:
		w.expr(n.Cond)
		if n.Text != nil {
			w.node(n.Text)
		}
	case *Settings:
		w.node(&n.Block)
		w.ident(n.Name)
		w.settings(n.List)
	case *AlgEq:
		w.expr(n.Value)
		w.binders(n.For)
	case *Mass:
		w.node(&n.Name)
		w.expr(n.Value)
	case *Equation:
		w.assignment(n.Target, nil, n.Value, n.For)
	}
}

// piece visits what is neither an item nor an expression.
func (w *walker) piece(n Node) {
	switch n := n.(type) {
	case *Var:
		w.node(&n.Name)
		w.expr(n.Dims...)
		w.unit(n.Unit)
		w.expr(n.Value, n.Lo, n.Hi, n.Prior, n.By)
	case *UseSet:
		w.expr(n.Key, n.Value)
	case *LValue:
		w.expr(n.Of)
		w.node(&n.Name)
		w.subs(n.Subs)
	case *Sub:
		w.expr(n.Lo, n.Step, n.Hi)
	case *Binder:
		w.node(&n.Name)
		w.expr(n.Lo, n.Step, n.Hi)
	case *FnParam:
		w.node(&n.Name)
		for i := range n.Dims {
			w.node(&n.Dims[i])
		}
		w.unit(n.Unit)
	case *Affect:
		if n.Let != nil {
			w.node(n.Let)
		}
		w.assignment(n.Target, nil, n.Value, n.For)
	case *Specie:
		if n.Coeff != nil {
			w.node(n.Coeff)
		}
		if n.Name != nil {
			w.node(n.Name)
		}
	case *ExpItem:
		if n.Equil != nil {
			w.node(n.Equil)
		}
		w.expr(n.Time)
		w.ident(n.Use)
		w.expr(n.Where)
		w.expr(n.Priority)
		w.body(n.Body)
		w.ident(n.Name)
		w.expr(n.Value)
	case *DoseItem:
		if n.Target != nil {
			w.node(n.Target)
		}
		w.expr(n.Where)
		w.ident(n.Key)
		w.expr(n.Value)
	case *Option:
		w.node(&n.Key)
		w.expr(n.Value)
	case *Setting:
		if n.Drawn != nil {
			w.expr(n.Drawn)
		} else {
			w.node(&n.Key)
		}
		w.expr(n.Value)
	case *Arg:
		w.ident(n.Key)
		w.expr(n.Value)
	case *Unit:
		for i := range n.Factors {
			w.node(&n.Factors[i])
		}
	case *UnitFactor:
		if n.Number != nil {
			w.node(n.Number)
		}
		w.unit(n.Group)
	}
}

func (w *walker) parts(n Expr) {
	switch n := n.(type) {
	case *Number:
		w.unit(n.Unit)
	case *Paren:
		w.expr(n.X)
	case *Unary:
		w.expr(n.X)
	case *Binary:
		w.expr(n.X, n.Y)
	case *If:
		for i := range n.Conds {
			w.expr(n.Conds[i], n.Thens[i])
		}
		w.expr(n.Else)
	case *Call:
		w.expr(n.Fun)
		for i := range n.Args {
			w.node(&n.Args[i])
		}
		w.binders(n.For)
	case *Index:
		w.expr(n.X)
		w.subs(n.Subs)
	case *Member:
		w.expr(n.X)
		w.node(&n.Name)
	case *As:
		w.expr(n.X)
		w.unit(n.Unit)
	case *Entry:
		w.node(&n.Key)
		w.expr(n.Value)
	case *Array:
		w.expr(n.Elems...)
		w.binders(n.For)
		w.unit(n.Unit)
	}
}

func (w *walker) expr(list ...Expr) {
	for _, e := range list {
		if e != nil {
			w.node(e)
		}
	}
}

func (w *walker) ident(n *Ident) {
	if n != nil {
		w.node(n)
	}
}

func (w *walker) idents(list []Ident) {
	for i := range list {
		w.node(&list[i])
	}
}

func (w *walker) unit(u *Unit) {
	if u != nil {
		w.node(u)
	}
}

func (w *walker) binders(list []Binder) {
	for i := range list {
		w.node(&list[i])
	}
}

func (w *walker) subs(list []*Sub) {
	for _, s := range list {
		w.node(s)
	}
}

func (w *walker) body(list []*Affect) {
	for _, a := range list {
		w.node(a)
	}
}

func (w *walker) settings(list []*Setting) {
	for _, s := range list {
		w.node(s)
	}
}

func (w *walker) assignment(target *LValue, unit *Unit, value Expr, binders []Binder) {
	if target != nil {
		w.node(target)
	}
	w.unit(unit)
	w.expr(value)
	w.binders(binders)
}
