package ast

import (
	"strconv"
	"strings"
)

// Dump writes the tree as nested lists, one item a line: (param (var k (/ 1 2) [1/s])). It is for
// tests and for people who want to see what the parser made.
func Dump(f *File) string {
	var b strings.Builder
	for _, item := range f.Items {
		b.WriteString(DumpNode(item))
		b.WriteByte('\n')
	}
	return b.String()
}

// DumpNode writes one node as a nested list. Absent parts are left out. Parts whose meaning their
// place does not tell have a key: (in lo hi).
func DumpNode(n Node) string {
	d := dumper{}
	d.node(n)
	return d.String()
}

type dumper struct{ strings.Builder }

// list writes (head parts…). A part is a string, a Node or a func.
func (d *dumper) list(head string, parts ...any) {
	d.WriteString("(" + head)
	for _, p := range parts {
		d.part(p)
	}
	d.WriteString(")")
}

func (d *dumper) part(p any) {
	switch p := p.(type) {
	case nil:
	case string:
		if p != "" {
			d.WriteString(" " + p)
		}
	case func():
		p()
	case Node:
		d.WriteByte(' ')
		d.node(p)
	}
}

// keyed returns a part that writes (key nodes…), or nothing when the first node is nil.
func (d *dumper) keyed(key string, nodes ...Expr) func() {
	return func() {
		if len(nodes) == 0 || nodes[0] == nil {
			return
		}
		d.WriteByte(' ')
		parts := make([]any, 0, len(nodes))
		for _, n := range nodes {
			if n != nil {
				parts = append(parts, n)
			}
		}
		d.list(key, parts...)
	}
}

func (d *dumper) each(n int, node func(i int) Node) func() {
	return func() {
		for i := range n {
			d.part(node(i))
		}
	}
}

// loop returns a part for binders: (for (i lo hi) …).
func (d *dumper) loop(list []Binder) func() {
	return func() {
		if len(list) > 0 {
			d.WriteByte(' ')
			d.list("for", d.each(len(list), func(i int) Node { return &list[i] }))
		}
	}
}

func (d *dumper) body(list []*Affect) func() {
	return func() {
		d.WriteByte(' ')
		d.list("do", d.each(len(list), func(i int) Node { return list[i] }))
	}
}

func (d *dumper) settings(list []*Setting) func() {
	return d.each(len(list), func(i int) Node { return list[i] })
}

func name(n Ident) string {
	if n.Quoted {
		return "`" + n.Name + "`"
	}
	return n.Name
}

func optName(n *Ident) string {
	if n == nil {
		return ""
	}
	return name(*n)
}

func str(s *String) string {
	if s == nil {
		return ""
	}
	return quote(s.Value)
}

func doc(text string) string {
	if text == "" {
		return ""
	}
	return "(doc " + quote(text) + ")"
}

func flag(on bool, word string) string {
	if on {
		return word
	}
	return ""
}

func (d *dumper) node(n Node) {
	switch n := n.(type) {
	case *File:
		d.list("file", d.each(len(n.Items), func(i int) Node { return n.Items[i] }))
	case Item:
		d.item(n)
	case Expr:
		d.expr(n)
	default:
		d.piece(n)
	}
}

func (d *dumper) item(item Item) {
	switch n := item.(type) {
	case *Model:
		d.list("model", name(n.Name), str(n.Title), doc(n.Doc))
	case *Import:
		d.list("import", flag(n.Model, "model"), str(&n.Path), flag(n.As != nil, "as"), optName(n.As), func() {
			for i := range n.Names {
				d.part(name(n.Names[i]))
			}
		})
	case *Use:
		d.list("use", name(n.Component), n.Target, d.each(len(n.List), func(i int) Node { return n.List[i] }),
			d.loop(n.For), flag(n.Data, "data"))
	case *UnitDecl:
		d.list("unit", name(n.Name), n.Value, doc(n.Doc))
	case *Time:
		d.list("time", name(n.Name), UnitString(n.Unit), n.From, n.To, doc(n.Doc))
	case *Decl:
		d.list(n.Kind.String(), d.each(len(n.Vars), func(i int) Node { return n.Vars[i] }))
	case *Control:
		d.list("control", n.Var, flag(n.Linear, "linear"), d.keyed("on", n.Grid))
	case *Let:
		d.list(map[bool]string{false: "let", true: "output"}[n.Output], n.Target, UnitString(n.Unit), n.Value,
			d.loop(n.For), doc(n.Doc))
	case *Report:
		d.list("output", func() {
			for i := range n.Names {
				d.part(name(n.Names[i]))
			}
		})
	case *Fn:
		d.list("fn", name(n.Name), d.each(len(n.Params), func(i int) Node { return n.Params[i] }), UnitString(n.Unit),
			d.each(len(n.Lets), func(i int) Node { return n.Lets[i] }), d.keyed("return", n.Result), doc(n.Doc))
	case *Event:
		d.list("event", optName(n.Name), d.keyed("when", n.When), d.keyed("at", n.Times...), d.keyed("every", n.Every),
			d.keyed("from", n.From), d.keyed("to", n.To), d.keyed("count", n.Count), d.loop(n.For),
			d.keyed("priority", n.Priority),
			flag(n.Once, "once"), flag(n.Start, "start"),
			d.each(len(n.Options), func(i int) Node { return n.Options[i] }), d.body(n.Body), doc(n.Doc))
	case *Reaction:
		side := func(list []*Specie) func() {
			return func() {
				d.WriteByte(' ')
				d.list("+", d.each(len(list), func(i int) Node { return list[i] }))
			}
		}
		d.list("reaction", name(n.Name), side(n.Left), map[bool]string{false: "->", true: "<->"}[n.Net], side(n.Right),
			d.keyed("rate", n.Rate), doc(n.Doc))
	case *Equilibrate:
		d.list("equilibrate", d.body(n.Body), d.keyed("every", n.Every))
	case *Experiment:
		d.list("experiment", name(n.Name), optName(n.From), d.keyed("by", n.By),
			d.each(len(n.Items), func(i int) Node { return n.Items[i] }), doc(n.Doc))
	case *Data:
		d.list("data", name(n.Name), n.Value, d.settings(n.Settings), doc(n.Doc))
	case *Observe:
		d.list("observe", name(n.Name), UnitString(n.Unit), n.Value, d.keyed("~", n.Noise), d.keyed("from", n.From),
			d.keyed("where", n.Where), doc(n.Doc))
	case *Doses:
		d.list("doses", name(n.Table), d.each(len(n.Items), func(i int) Node { return n.Items[i] }))
	case *Objective:
		d.list("objective", n.Target, UnitString(n.Unit), n.Value, d.loop(n.For), doc(n.Doc))
	case *Constraint:
		d.list("constraint", name(n.Name), n.Cond, d.loop(n.For), doc(n.Doc))
	case *Invariant:
		d.list("invariant", n.Cond)
	case *Assert:
		d.list("assert", n.Cond, str(n.Text))
	case *Settings:
		d.list(n.Block.Name, optName(n.Name), d.settings(n.List))
	case *AlgEq:
		d.list("0=", n.Value, d.loop(n.For))
	case *Mass:
		d.list("mass", name(n.Name), n.Value)
	case *Equation:
		d.list(map[bool]string{false: "'=", true: "'+="}[n.Add], n.Target, n.Value, d.loop(n.For), doc(n.Doc))
	case *Bad:
		d.list("bad")
	}
}

// String returns the dimension as written.
func (n *FnDim) String() string {
	switch {
	case n.All:
		return ":"
	case n.Name != "":
		return n.Name
	}
	return strconv.Itoa(n.Size)
}

// owned writes the name of n, with the component that it is of.
func (d *dumper) owned(n *LValue) {
	if n.Of != nil {
		d.node(n.Of)
		d.WriteByte('.')
	}
	d.WriteString(name(n.Name))
}

func (d *dumper) piece(n Node) {
	switch n := n.(type) {
	case *Ident:
		d.WriteString(name(*n))
	case *Var:
		d.list("var", name(n.Name), d.keyed("shape", n.Dims...), UnitString(n.Unit), n.Value, d.keyed("in", n.Lo, n.Hi),
			d.keyed("~", n.Prior), d.keyed("by", n.By), doc(n.Doc))
	case *UseSet:
		d.list("=", n.Key, n.Value)
	case *LValue:
		if len(n.Subs) == 0 {
			d.owned(n)
			return
		}
		d.list("index", func() { d.WriteByte(' '); d.owned(n) },
			d.each(len(n.Subs), func(i int) Node { return n.Subs[i] }))
	case *Sub:
		switch {
		case n.All:
			d.WriteString(":")
		case n.Hi == nil:
			d.node(n.Lo)
		default:
			d.list(":", n.Lo, n.Step, n.Hi)
		}
	case *Binder:
		d.list(name(n.Name), n.Lo, n.Step, n.Hi)
	case *FnParam:
		d.list("of", name(n.Name), d.each(len(n.Dims), func(i int) Node { return &n.Dims[i] }), UnitString(n.Unit))
	case *FnDim:
		d.WriteString(n.String())
	case *Affect:
		switch {
		case n.Stop:
			d.WriteString("stop")
		case n.Let != nil:
			d.node(n.Let)
		default:
			d.list(n.Op.String(), n.Target, n.Value, d.loop(n.For))
		}
	case *Specie:
		if n.Coeff == nil {
			d.node(n.Name)
			return
		}
		d.list("*", n.Coeff, n.Name)
	case *ExpItem:
		switch {
		case n.Equil != nil:
			d.node(n.Equil)
		case n.Time != nil:
			d.list("at", n.Time, d.keyed("where", n.Where), d.keyed("priority", n.Priority), d.body(n.Body))
		case n.Use != nil:
			d.list("use", optName(n.Use), d.keyed("where", n.Where))
		default:
			d.list("=", optName(n.Name), n.Value)
		}
	case *DoseItem:
		if n.Target != nil {
			d.list("into", n.Target, d.keyed("where", n.Where))
			return
		}
		d.list("=", optName(n.Key), n.Value)
	case *Option:
		d.list(",", name(n.Key), n.Value)
	case *Setting:
		if n.Drawn != nil {
			d.list("~", n.Drawn, n.Value)
			return
		}
		d.list("=", name(n.Key), n.Value)
	case *Arg:
		if n.Key == nil {
			d.node(n.Value)
			return
		}
		d.list("=", name(*n.Key), n.Value)
	case *Unit:
		d.WriteString(UnitString(n))
	}
}

func (d *dumper) expr(e Expr) {
	switch n := e.(type) {
	case *Number:
		if n.Unit == nil {
			d.WriteString(n.Text)
			return
		}
		d.list("unit", n.Text, UnitString(n.Unit))
	case *String:
		d.WriteString(quote(n.Value))
	case *Name:
		d.WriteString(name(n.Ident))
	case *Paren:
		d.list("paren", n.X)
	case *Unary:
		d.list(n.Op.String(), n.X)
	case *Binary:
		d.list(strings.TrimSpace(n.Op.String()+" "+n.Way), n.X, n.Y)
	case *If:
		d.list("if", func() {
			for i := range n.Conds {
				d.part(n.Conds[i])
				d.part(n.Thens[i])
			}
		}, n.Else)
	case *Call:
		d.list("call", n.Fun, d.each(len(n.Args), func(i int) Node { return &n.Args[i] }), d.loop(n.For))
	case *Index:
		d.list("index", n.X, d.each(len(n.Subs), func(i int) Node { return n.Subs[i] }))
	case *Member:
		d.list(".", n.X, name(n.Name))
	case *As:
		d.list("as", n.X, UnitString(n.Unit))
	case *Array:
		d.list("array", d.each(len(n.Elems), func(i int) Node { return n.Elems[i] }), d.loop(n.For), UnitString(n.Unit))
	case *Entry:
		d.list("=", name(n.Key), n.Value)
	case *BadExpr:
		d.list("bad")
	}
}
