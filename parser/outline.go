package parser

import (
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// Item is a top-level item of a model's text, for programs that edit the text.
type Item struct {
	// Kind is the word that the item starts with, such as "param", "event" or "solver", followed by the name of a named
	// settings block. It is "equation" or "alg equation" for equations, and "bad" for an item that did not parse.
	Kind string
	// Start and End are the bytes [Start, End) of the item, without the doc comments above it.
	Start, End int
	// Parts are what the item declares: the variables of a declaration, the keys of a settings block, otherwise one
	// part that spans the item, or none when the item has no name.
	Parts []Part
}

// Part is a name that an item declares.
type Part struct {
	// Name is the declared name, with its subscripts where it has any. For an equation it is the left side ("x[1]'"),
	// for a settings block the key, for an import the path with its quotes.
	Name string
	// Add tells an equation with +=.
	Add        bool
	Start, End int // the bytes of the variable or key with its value
	// ValueStart and ValueEnd are the bytes of the value; both are 0 when there is none.
	ValueStart, ValueEnd int
}

// Outline lists the items of a text. The error carries what did not parse; the list then holds the rest.
func Outline(name, text string) ([]Item, error) {
	var list diag.List
	tree := Parse(source.NewFile(name, text), &list)
	var items []Item
	for _, item := range tree.Items {
		items = append(items, outline(item))
	}
	return items, list.Err()
}

func outline(item ast.Item) Item {
	at := item.Pos()
	out := Item{Kind: item.Keyword(), Start: at.Start, End: at.End}
	add := func(name string, node, value ast.Node) {
		if name == "" {
			return
		}
		p := Part{Name: name, Start: node.Pos().Start, End: node.Pos().End}
		if value != nil && !value.Pos().IsZero() {
			p.ValueStart, p.ValueEnd = value.Pos().Start, value.Pos().End
		}
		out.Parts = append(out.Parts, p)
	}
	switch it := item.(type) {
	case *ast.Import:
		add(it.Path.Span.Text(), it, nil)
	case *ast.Equation:
		add(it.Target.Span.Text()+"'", it, it.Value)
		out.Parts[0].Add = it.Add
	case *ast.Settings:
		if it.Name != nil {
			out.Kind += " " + it.Name.Name
		}
		for _, k := range it.List {
			add(k.Key.Name, k, k.Value)
		}
	default:
		for _, d := range ast.Declarations(item) {
			name := d.Name.Name
			if d.Target != nil {
				name = d.Target.Span.Text()
			}
			add(name, d.Node, d.Value)
		}
	}
	return out
}
