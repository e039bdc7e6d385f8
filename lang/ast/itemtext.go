package ast

import (
	"strconv"
	"strings"
)

// item writes an item as it would stand in a model.

func (t *text) item(item Item) {
	switch n := item.(type) {
	case *Model:
		t.put("model ")
		t.ident(n.Name)
		if n.Title != nil {
			t.put(" ", quote(n.Title.Value))
		}
	case *Import:
		t.imports(n)
	case *Use:
		t.use(n)
	case *UnitDecl:
		t.put("unit ")
		t.ident(n.Name)
		t.value(" = ", n.Value)
	case *Time:
		t.put("time ")
		t.ident(n.Name)
		t.colon(n.Unit)
		t.value(" from ", n.From)
		t.value(" to ", n.To)
	case *Decl:
		t.put(n.Kind.String(), " ")
		for i, v := range n.Vars {
			if i > 0 {
				t.put(", ")
			}
			t.variable(v)
		}
	case *Control:
		t.put("control ")
		t.variable(n.Var)
		t.put(" piecewise ", map[bool]string{false: "constant", true: "linear"}[n.Linear])
		t.value(" on ", n.Grid)
	case *Let:
		t.put(map[bool]string{false: "let ", true: "output "}[n.Output])
		t.assignment(n.Target, n.Unit, " = ", n.Value, n.For)
	case *Report:
		t.put("output ")
		t.idents(n.Names, (*text).dotted)
	case *Fn:
		t.fn(n)
	case *Event:
		t.event(n)
	case *Reaction:
		t.reaction(n)
	case *Equilibrate:
		t.put("equilibrate ")
		t.body(n.Body)
		if n.Every != nil {
			t.put(" every ")
			t.expr(n.Every, 0)
		}
	case *Experiment:
		t.experiment(n)
	case *Data:
		t.put("data ")
		t.ident(n.Name)
		if n.Value != nil {
			t.value(" = ", n.Value)
			return
		}
		t.settings(n.Settings)
	case *Doses:
		t.doses(n)
	case *Observe:
		t.put("observe ")
		t.ident(n.Name)
		t.colon(n.Unit)
		t.value(" = ", n.Value)
		t.value(" ~ ", n.Noise)
		t.value(" from ", n.From)
		t.value(" where ", n.Where)
	case *Objective:
		t.put("objective ")
		t.assignment(n.Target, n.Unit, " = ", n.Value, n.For)
	case *Constraint:
		t.put("constraint ")
		t.ident(n.Name)
		t.value(": ", n.Cond)
		t.binders(n.For)
	case *Invariant:
		t.value("invariant ", n.Cond)
	case *Assert:
		t.value("assert ", n.Cond)
		if n.Text != nil {
			t.put(", ", quote(n.Text.Value))
		}
	case *Settings:
		t.put(n.Block.Name)
		if n.Name != nil {
			t.put(" ")
			t.ident(*n.Name)
		}
		t.settings(n.List)
	case *AlgEq:
		t.value("0 = ", n.Value)
		t.binders(n.For)
	case *Mass:
		t.put("mass(")
		t.ident(n.Name)
		t.value(") = ", n.Value)
	case *Equation:
		op := "' = "
		if n.Add {
			op = "' += "
		}
		t.assignment(n.Target, nil, op, n.Value, n.For)
	}
}

// value writes a word and the expression behind it, or nothing for nil.
func (t *text) value(word string, e Expr) {
	if e != nil {
		t.put(word)
		t.expr(e, 0)
	}
}

func (t *text) colon(u *Unit) {
	if u != nil {
		t.put(" : ")
		t.unit(u)
	}
}

func (t *text) lvalue(v *LValue) {
	if v.Of != nil {
		t.expr(v.Of, 0)
		t.put(".")
	}
	t.ident(v.Name)
	t.subs(v.Subs)
}

func (t *text) assignment(target *LValue, u *Unit, op string, value Expr, binders []Binder) {
	t.lvalue(target)
	t.colon(u)
	t.value(op, value)
	t.binders(binders)
}

func (t *text) imports(n *Import) {
	t.put("import ")
	if n.Model {
		t.put("model ")
	}
	t.idents(n.Names, (*text).ident)
	if len(n.Names) > 0 {
		t.put(" from ")
	}
	t.put(quote(n.Path.Value))
	if n.As != nil {
		t.put(" as ")
		t.ident(*n.As)
	}
}

// idents writes names with commas between them.
func (t *text) idents(list []Ident, write func(*text, Ident)) {
	for i, name := range list {
		if i > 0 {
			t.put(", ")
		}
		write(t, name)
	}
}

// dotted writes a name that may be of a component: c.V.
func (t *text) dotted(n Ident) {
	for i, part := range strings.Split(n.Name, ".") {
		if n.Quoted {
			t.ident(n)
			return
		}
		t.put([2]string{"", "."}[min(i, 1)])
		t.ident(Ident{Name: part})
	}
}

func (t *text) use(n *Use) {
	t.put("use ")
	t.ident(n.Component)
	t.put(" as ")
	t.lvalue(n.Target)
	if len(n.List) > 0 {
		t.put(" {")
		for _, s := range n.List {
			t.value(" ", s.Key)
			t.value(" = ", s.Value)
			t.put(" ")
		}
		t.put("}")
	}
	t.binders(n.For)
	if n.Data {
		t.put(" with data")
	}
}

func (t *text) variable(v *Var) {
	t.ident(v.Name)
	for i, d := range v.Dims {
		t.put([2]string{"[", ", "}[min(i, 1)])
		t.expr(d, 0)
	}
	if len(v.Dims) > 0 {
		t.put("]")
	}
	t.colon(v.Unit)
	t.value(" = ", v.Value)
	if v.Lo != nil {
		t.value(" in [", v.Lo)
		t.value(", ", v.Hi)
		t.put("]")
	}
	t.value(" ~ ", v.Prior)
	t.value(" by ", v.By)
}

func (t *text) fn(n *Fn) {
	t.put("fn ")
	t.ident(n.Name)
	t.put("(")
	for i, p := range n.Params {
		if i > 0 {
			t.put(", ")
		}
		t.ident(p.Name)
		for j, d := range p.Dims {
			t.put([2]string{"[", ", "}[min(j, 1)])
			switch {
			case d.All:
				t.put(":")
			case d.Name != "":
				t.ident(Ident{Name: d.Name})
			default:
				t.put(strconv.Itoa(d.Size))
			}
		}
		if len(p.Dims) > 0 {
			t.put("]")
		}
		if p.Unit != nil {
			t.put(": ")
			t.unit(p.Unit)
		}
	}
	t.put(")")
	t.colon(n.Unit)
	if !n.Braced {
		t.value(" = ", n.Result)
		return
	}
	t.put(" { ")
	for _, l := range n.Lets {
		t.item(l)
		t.put("; ")
	}
	t.value("return ", n.Result)
	t.put(" }")
}

func (t *text) event(n *Event) {
	t.put("event ")
	if n.Name != nil {
		t.ident(*n.Name)
		t.put(" ")
	}
	t.value("when ", n.When)
	for i, at := range n.Times {
		t.value([2]string{"at ", ", "}[min(i, 1)], at)
	}
	t.value("every ", n.Every)
	t.value(" from ", n.From)
	t.value(" to ", n.To)
	t.value(" count ", n.Count)
	t.binders(n.For)
	t.value(" priority ", n.Priority)
	if n.Once {
		t.put(" once")
	}
	if n.Start {
		t.put(" at start")
	}
	for _, o := range n.Options {
		t.put(", ")
		t.ident(o.Key)
		t.value(" = ", o.Value)
	}
	t.put(" ")
	t.body(n.Body)
}

func (t *text) body(list []*Affect) {
	t.put("{ ")
	for i, a := range list {
		if i > 0 {
			t.put("; ")
		}
		switch {
		case a.Stop:
			t.put("stop")
		case a.Let != nil:
			t.item(a.Let)
		default:
			t.assignment(a.Target, nil, " "+a.Op.String()+" ", a.Value, a.For)
		}
	}
	if len(list) > 0 {
		t.put(" ")
	}
	t.put("}")
}

func (t *text) reaction(n *Reaction) {
	t.put("reaction ")
	t.ident(n.Name)
	t.put(": ")
	t.side(n.Left)
	t.put(map[bool]string{false: "-> ", true: "<-> "}[n.Net])
	t.side(n.Right)
	t.value("rate ", n.Rate)
}

func (t *text) side(list []*Specie) {
	for i, s := range list {
		if i > 0 {
			t.put("+ ")
		}
		if s.Coeff != nil {
			t.put(s.Coeff.Text, " ")
		}
		t.lvalue(s.Name)
		t.put(" ")
	}
}

func (t *text) expItem(x *ExpItem) {
	switch {
	case x.Equil != nil:
		t.item(x.Equil)
	case x.Time != nil:
		t.value("at ", x.Time)
		t.value(" where ", x.Where)
		t.value(" priority ", x.Priority)
		t.put(" ")
		t.body(x.Body)
	case x.Use != nil:
		t.put("use ")
		t.dotted(*x.Use)
		t.value(" where ", x.Where)
	default:
		t.dotted(*x.Name)
		t.value(" = ", x.Value)
	}
}

func (t *text) experiment(n *Experiment) {
	t.put("experiment ")
	t.ident(n.Name)
	if n.From != nil {
		t.put(" from ")
		t.ident(*n.From)
		t.value(" by ", n.By)
		if len(n.Items) == 0 {
			return
		}
	}
	t.put(" { ")
	for _, x := range n.Items {
		t.expItem(x)
		t.put(" ")
	}
	t.put("}")
}

func (t *text) doses(n *Doses) {
	t.put("doses ")
	t.ident(n.Table)
	t.put(" { ")
	for _, x := range n.Items {
		t.doseItem(x)
		t.put(" ")
	}
	t.put("}")
}

func (t *text) doseItem(x *DoseItem) {
	if x.Target == nil {
		t.ident(*x.Key)
		t.value(" = ", x.Value)
		return
	}
	t.lvalue(x.Target)
	t.value(" where ", x.Where)
}

func (t *text) settings(list []*Setting) {
	t.put(" { ")
	for _, s := range list {
		if s.Drawn != nil {
			t.value("", s.Drawn)
			t.value(" ~ ", s.Value)
		} else {
			t.ident(s.Key)
			t.value(" = ", s.Value)
		}
		t.put("  ")
	}
	t.put("}")
}
