package ast

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
	one := func(kind string, name Ident, doc *string, value Expr) []Declaration {
		return []Declaration{{Kind: kind, Name: name, Node: item, Doc: doc, Value: value}}
	}
	target := func(kind string, target *LValue, doc *string, value Expr) []Declaration {
		return []Declaration{{Kind: kind, Name: target.Name, Target: target, Node: item, Doc: doc, Value: value}}
	}
	switch it := item.(type) {
	case *Model:
		return one("model", it.Name, &it.Doc, nil)
	case *Import:
		if it.As != nil {
			return one("module", *it.As, nil, nil)
		}
	case *Use:
		return target("component", it.Target, nil, nil)
	case *UnitDecl:
		return one("unit", it.Name, &it.Doc, it.Value)
	case *Time:
		return one("time", it.Name, &it.Doc, nil)
	case *Decl:
		var list []Declaration
		for _, v := range it.Vars {
			list = append(list, Declaration{Kind: it.Kind.String(), Name: v.Name, Node: v, Doc: &v.Doc, Value: v.Value})
		}
		return list
	case *Control:
		return one("control", it.Var.Name, &it.Var.Doc, it.Var.Value)
	case *Let:
		return target(it.Keyword(), it.Target, &it.Doc, it.Value)
	case *Fn:
		return one("function", it.Name, &it.Doc, nil)
	case *Event:
		if it.Name == nil {
			return one("event", Ident{}, &it.Doc, nil)
		}
		return one("event", *it.Name, &it.Doc, nil)
	case *Reaction:
		return one("reaction", it.Name, &it.Doc, nil)
	case *Experiment:
		return one("experiment", it.Name, &it.Doc, nil)
	case *Data:
		return one("data table", it.Name, &it.Doc, nil)
	case *Observe:
		return one("observation", it.Name, &it.Doc, it.Value)
	case *Objective:
		return target("objective", it.Target, &it.Doc, it.Value)
	case *Constraint:
		return one("constraint", it.Name, &it.Doc, nil)
	case *Equation:
		return target("equation", it.Target, &it.Doc, it.Value)
	}
	return nil
}

// docOf returns the doc comment of an item; of a declaration, that of its first variable.
func docOf(item Item) string {
	if list := Declarations(item); len(list) > 0 && list[0].Doc != nil {
		return *list[0].Doc
	}
	return ""
}
