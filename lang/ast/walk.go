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
	case described:
		for _, p := range n.form().parts {
			for _, part := range p.Nodes {
				w.node(part)
			}
		}
	case Expr:
		w.parts(n)
	default:
		w.piece(n)
	}
	if w.leave != nil {
		w.leave(n)
	}
}

// piece visits what is neither an expression nor has a form.
func (w *walker) piece(n Node) {
	switch n := n.(type) {
	case *LValue:
		w.expr(n.Of)
		w.node(&n.Name)
		w.subs(n.Subs)
	case *Sub:
		w.expr(n.Lo, n.Step, n.Hi)
	case *Binder:
		w.node(&n.Name)
		w.expr(n.Lo, n.Step, n.Hi)
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
