package ast

import (
	"strings"

	"odes.dev/odes/lang/source"
)

// form describes an item, or a part of one, once: its parts in the order of the text. The walker, the text of trees,
// dumps, the columns of Format and Declarations follow it, and so does who asks for [Parts].
type form struct {
	head  string  // of its dump: (head parts…); "" for a dump of its parts alone
	class string  // lines of one class are aligned; "" for items that are not
	doc   *string // nil for what has no doc comment
	gives Declaration
	parts []Part
}

// described is what has a form: the items and the parts of which they are lists. Names, subscripts, loops, units and
// expressions are parts of many, and have none.
type described interface {
	Node
	form() form
}

// Part is a piece of an item: nodes of one kind, and what is written around them.
type Part struct {
	Nodes []Node

	present                 bool
	before, between, behind string
	key                     string    // of a list in dumps: (key nodes…); "" for the nodes alone
	word                    string    // what dumps have for what is written before
	undumped, last          bool      // in dumps: not there, or behind the other parts
	dotted                  bool      // names may be of a component: c.V
	loop                    *[]Binder // that the part is; else nil
	slot, gap               int       // of a cell that begins with what is written before; slot 0 for none
}

// Parts returns what an item is made of, in the order of the text. Absent parts are not among them.
func Parts(item Item) []Part {
	var list []Part
	for _, p := range item.form().parts {
		if p.present {
			list = append(list, p)
		}
	}
	return list
}

// Own returns what an item has for itself: the name that it is called, or the item that it is about, by; nil where it
// has none, or an assignment gives it. And its loop, nil for an item that cannot have one.
func Own(item Item) (name *Ident, loop *[]Binder) {
	assigns := false
	for _, p := range item.form().parts {
		if loop == nil {
			loop = p.loop
		}
		for _, n := range p.Nodes {
			switch n := n.(type) {
			case *LValue:
				assigns = true
			case *Ident:
				if name == nil && !assigns {
					name = n
				}
			}
		}
	}
	return name, loop
}

// as makes the part a list of its own in dumps.
func (p Part) as(key string) Part {
	p.key = key
	return p
}

// cell aligns the part with those of the lines around it that have the same slot, gap spaces behind what precedes it.
func (p Part) cell(slot, gap int) Part {
	p.slot, p.gap = slot, gap
	return p
}

// end writes more behind the part.
func (p Part) end(text string) Part {
	p.behind += text
	return p
}

// says is a part of words alone. Dumps have the second text.
func says(text, dumped string) Part { return Part{present: true, before: text, word: dumped} }

// only is a part that is there on a condition.
func only(on bool, p Part) Part {
	p.present = p.present && on
	return p
}

// piece is a part of one node, or of none for nil.
func piece[T any, N interface {
	*T
	Node
}](before string, n N) Part {
	if n == nil {
		return Part{}
	}
	return Part{present: true, before: before, Nodes: []Node{n}}
}

// several is a part of nodes with a text between them, or of none.
func several[T any, N interface {
	*T
	Node
}](before, between string, list []N) Part {
	p := Part{present: len(list) > 0, before: before, between: between, Nodes: make([]Node, len(list))}
	for i, n := range list {
		p.Nodes[i] = n
	}
	return p
}

// expr is a part of expressions with commas between them. A nil one is left out.
func expr(before string, list ...Expr) Part {
	p := Part{before: before, between: ", ", Nodes: make([]Node, 0, len(list))}
	for _, e := range list {
		if e != nil {
			p.Nodes = append(p.Nodes, e)
		}
	}
	p.present = len(p.Nodes) > 0
	return p
}

// idents is a part of names with commas between them.
func idents(before string, list []Ident) Part {
	p := Part{present: len(list) > 0, before: before, between: ", "}
	for i := range list {
		p.Nodes = append(p.Nodes, &list[i])
	}
	return p
}

// loop is `for i in lo:hi, …`.
func loop(of *[]Binder) Part {
	list := *of
	p := Part{loop: of, present: len(list) > 0, before: " for ", between: ", ", key: "for"}
	for i := range list {
		p.Nodes = append(p.Nodes, &list[i])
	}
	return p
}

// braces is a list in braces, which are there for an empty one too.
func braces[T any, N interface {
	*T
	Node
}](before, between string, list []N) Part {
	p := several(before+"{ ", between, list)
	p.present, p.behind = true, "}"
	if len(list) > 0 {
		p.behind = " }"
	}
	return p
}

// body is the body of an event.
func body(before string, list []*Affect) Part { return braces(before, "; ", list).as("do") }

// settings is a block of settings.
func settings(list []*Setting) Part {
	p := braces(" ", "  ", list)
	if len(list) > 0 {
		p.behind = "  }"
	}
	return p
}

// Declaration is a name that an item gives to something, or an item that could have given one.
type Declaration struct {
	Kind   string  // what has the name, as messages and editors call it: "param", "function", "data table" …
	Name   Ident   // "" for an item without a name
	Target *LValue // the name with its subscripts; nil where none can stand
	Node   Node    // the item, or the variable of a declaration of several
	Doc    *string // the doc comment of Node; nil for what has none
	Value  Expr    // what the name stands for; nil for what has no single value
}

// Declarations returns the names that an item gives, in the order of the text. Of an item that has a doc comment there
// is one even if it has no name. The keys of settings blocks and the columns of tables are not among them.
func Declarations(item Item) []Declaration {
	f := item.form()
	d := f.gives
	switch {
	case d.Kind == "":
		return nil
	case d.Node == nil:
		d.Node = item
	}
	if d.Doc == nil {
		d.Doc = f.doc
	}
	if n, several := item.(*Decl); several {
		list := make([]Declaration, len(n.Vars))
		for i, v := range n.Vars {
			list[i] = Declaration{Kind: d.Kind, Name: v.Name, Node: v, Doc: &v.Doc, Value: v.Value}
		}
		return list
	}
	return []Declaration{d}
}

// named is the declaration of a name without subscripts.
func named(kind string, name Ident, value Expr) Declaration {
	return Declaration{Kind: kind, Name: name, Value: value}
}

// indexed is the declaration of a name that may have subscripts.
func indexed(kind string, target *LValue, value Expr) Declaration {
	return Declaration{Kind: kind, Name: target.Name, Target: target, Value: value}
}

// docOf returns the doc comment of an item; of a declaration, that of its first variable.
func docOf(item Item) string {
	if list := Declarations(item); len(list) > 0 && list[0].Doc != nil {
		return *list[0].Doc
	}
	return ""
}

// form writes what has a form.
func (t *text) form(f form) {
	for _, p := range f.parts {
		if !p.present {
			continue
		}
		t.put(p.before)
		for i, n := range p.Nodes {
			if i > 0 {
				t.put(p.between)
			}
			if name, is := n.(*Ident); is && p.dotted {
				t.dotted(*name)
				continue
			}
			t.node(n)
		}
		t.put(p.behind)
	}
}

// node writes a node of an item.
func (t *text) node(n Node) {
	switch n := n.(type) {
	case Expr:
		t.expr(n, 0)
	case described:
		t.form(n.form())
	case *Ident:
		t.ident(*n)
	case *Unit:
		t.unit(n)
	case *LValue:
		t.lvalue(n)
	case *Binder:
		t.binder(n)
	case *FnDim:
		if n.Name != "" && !n.All {
			t.ident(Ident{Name: n.Name})
			return
		}
		t.put(n.String())
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

// form writes (head parts… doc).
func (d *dumper) form(f form) {
	write := func() {
		for _, last := range []bool{false, true} {
			for _, p := range f.parts {
				if p.present && !p.undumped && p.last == last {
					d.formPart(p, f.head != "")
				}
			}
		}
		if f.doc != nil {
			d.part(doc(*f.doc))
		}
	}
	if f.head == "" {
		write()
		return
	}
	d.list(f.head, write)
}

// formPart writes a part, behind a space within a list.
func (d *dumper) formPart(p Part, within bool) {
	if !within {
		d.WriteString(p.word)
		for _, n := range p.Nodes {
			d.node(n)
		}
		return
	}
	d.part(p.word)
	nodes := func() {
		for _, n := range p.Nodes {
			d.part(n)
		}
	}
	if p.key == "" {
		nodes()
		return
	}
	d.WriteByte(' ')
	d.list(p.key, nodes)
}

// cellsOf notes where those cells of an item start that its form tells. Token i is the item's first.
func (l *layout) cellsOf(i int, at source.Span, parts []Part, slots int) {
	end := at.Start // of what precedes the part
	for _, p := range parts {
		if !p.present {
			continue
		}
		if sign, _, _ := strings.Cut(strings.TrimSpace(p.before), " "); p.slot > 0 && p.slot <= slots {
			for i < len(l.file.Tokens) && (l.file.Tokens[i].Start < end || l.file.Tokens[i].Text != sign) {
				i++
			}
			if i == len(l.file.Tokens) || l.file.Tokens[i].Start >= at.End {
				return
			}
			l.cells[l.file.Tokens[i].Start] = cell{slot: p.slot, gap: p.gap}
		}
		if len(p.Nodes) == 0 {
			continue
		}
		if n, is := p.Nodes[0].(*Number); is && n.Unit != nil && p.slot == valueSlot && slots > valueSlot {
			l.cells[n.Unit.Pos().Start] = cell{slot: valueSlot + 1, gap: 1}
		}
		if v, is := p.Nodes[0].(*Var); is {
			if len(p.Nodes) > 1 { // of several variables the first has a unit and a value that are aligned
				slots = valueSlot
			}
			l.cellsOf(i, v.Span, v.form().parts, slots)
		}
		end = p.Nodes[len(p.Nodes)-1].Pos().End
	}
}

// The columns of declarations and assignments: the unit, the value, behind that the unit of a number, the bounds, and
// the prior.
const (
	unitSlot = iota + 1
	valueSlot
	_
	boundsSlot
	priorSlot
	slots = priorSlot
)
