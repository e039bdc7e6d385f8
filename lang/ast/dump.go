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

func name(n Ident) string {
	if n.Quoted {
		return "`" + n.Name + "`"
	}
	return n.Name
}

func doc(text string) string {
	if text == "" {
		return ""
	}
	return "(doc " + quote(text) + ")"
}

func (d *dumper) node(n Node) {
	switch n := n.(type) {
	case *File:
		d.list("file", d.each(len(n.Items), func(i int) Node { return n.Items[i] }))
	case described:
		d.form(n.form())
	case Expr:
		d.expr(n)
	default:
		d.piece(n)
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
	case *FnDim:
		d.WriteString(n.String())
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
