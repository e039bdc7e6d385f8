package odes

import (
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// Item is a top-level item of a model's text, for programs that edit it.
type Item struct {
	// Kind is the word that the item starts with ("param", "event", "solver" …), or "equation", or "bad" when it did not
	// parse.
	Kind string
	// Start and End are the bytes [Start, End) of the item, without doc comments above it.
	Start, End int
	// Parts are what the item declares: the variables of a declaration, the keys of a settings block, otherwise one part
	// that spans the item, or none when the item has no name.
	Parts []Part
}

// Part is a name that an item declares.
type Part struct {
	// Name is the declared name; of an equation what stands on its left ("x[1]'"), of a settings block its key.
	Name string
	// Add tells an equation with +=.
	Add        bool
	Start, End int // of the variable or key with its value
	// ValueStart and ValueEnd are the bytes of the value; both 0 when there is none.
	ValueStart, ValueEnd int
}

// Token is one word or sign of a text.
type Token struct {
	Kind       string // "name", "quoted name", "keyword", "number", "string", "sign" or "bad"
	Text       string // what it means; NFC for names
	Start, End int    // byte offsets
}

// Outline lists the items of a text. The error carries what did not parse; the
// list then holds the rest.
func Outline(name, text string) ([]Item, error) {
	var list diag.List
	tree := parser.Parse(source.NewFile(name, text), &list)
	var items []Item
	for _, it := range tree.Items {
		items = append(items, outline(it))
	}
	return items, list.Err()
}

// Tokens splits text as the parser does, and leaves out what is no token.
func Tokens(text string) []Token {
	var list diag.List
	var out []Token
	for _, t := range parser.Tokens(source.NewFile("", text), &list) {
		if t.Kind != ast.EOF {
			out = append(out, Token{Kind: t.Kind.String(), Text: t.Text, Start: t.Start, End: t.End})
		}
	}
	return out
}

func outline(it ast.Item) Item {
	at := it.Pos()
	out := Item{Start: at.Start, End: at.End}
	named := func(kind, name string, value ast.Node) Item {
		out.Kind = kind
		p := Part{Name: name, Start: at.Start, End: at.End}
		p.value(value)
		if name != "" {
			out.Parts = []Part{p}
		}
		return out
	}
	switch it := it.(type) {
	case *ast.Model:
		return named("model", it.Name.Name, nil)
	case *ast.Import:
		return named("import", it.Path.Span.Text(), nil)
	case *ast.UnitDecl:
		return named("unit", it.Name.Name, it.Value)
	case *ast.Time:
		return named("time", it.Name.Name, nil)
	case *ast.Decl:
		out.Kind = it.Kind.String()
		for _, v := range it.Vars {
			p := Part{Name: v.Name.Name, Start: v.Span.Start, End: v.Span.End}
			if v.Value != nil {
				p.value(v.Value)
			}
			out.Parts = append(out.Parts, p)
		}
		return out
	case *ast.Control:
		return named("control", it.Var.Name.Name, nil)
	case *ast.Let:
		kind := "let"
		if it.Output {
			kind = "output"
		}
		return named(kind, it.Target.Span.Text(), it.Value)
	case *ast.Fn:
		return named("fn", it.Name.Name, nil)
	case *ast.Event:
		if it.Name == nil {
			return named("event", "", nil)
		}
		return named("event", it.Name.Name, nil)
	case *ast.Reaction:
		return named("reaction", it.Name.Name, nil)
	case *ast.Equilibrate:
		return named("equilibrate", "", nil)
	case *ast.Experiment:
		return named("experiment", it.Name.Name, nil)
	case *ast.Data:
		return named("data", it.Name.Name, nil)
	case *ast.Observe:
		return named("observe", it.Name.Name, it.Value)
	case *ast.Objective:
		return named("objective", it.Target.Span.Text(), it.Value)
	case *ast.Constraint:
		return named("constraint", it.Name.Name, nil)
	case *ast.Invariant:
		return named("invariant", "", nil)
	case *ast.Assert:
		return named("assert", "", nil)
	case *ast.Settings:
		out.Kind = it.Block.Name
		if it.Name != nil {
			out.Kind += " " + it.Name.Name
		}
		for _, k := range it.List {
			p := Part{Name: k.Key.Name, Start: k.Span.Start, End: k.Span.End}
			p.value(k.Value)
			out.Parts = append(out.Parts, p)
		}
		return out
	case *ast.AlgEq:
		return named("alg equation", "", nil)
	case *ast.Equation:
		out = named("equation", it.Target.Span.Text()+"'", it.Value)
		out.Parts[0].Add = it.Add
		return out
	}
	return named("bad", "", nil)
}

func (p *Part) value(n ast.Node) {
	if n == nil {
		return
	}
	if at := n.Pos(); !at.IsZero() {
		p.ValueStart, p.ValueEnd = at.Start, at.End
	}
}
