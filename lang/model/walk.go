package model

// Walk calls visit once for every node reachable from roots, and for a node before its operands.
// Where visit returns false, the operands are not visited through that node. Nil roots are skipped.
func Walk(visit func(Expr) bool, roots ...Expr) {
	seen := map[Expr]bool{}
	var walk func(Expr)
	walk = func(e Expr) {
		if e == nil || seen[e] {
			return
		}
		seen[e] = true
		if !visit(e) {
			return
		}
		switch e := e.(type) {
		case *Call:
			for _, a := range e.Args {
				walk(a)
			}
		case *Access:
			walk(e.X)
			for _, s := range e.Subs {
				walk(s.At)
			}
		case *Assemble:
			for _, p := range e.Pieces {
				for _, s := range p.Subs {
					walk(s.At)
				}
				walk(p.Value)
			}
		case *Reduce:
			walk(e.Body)
		case *If:
			walk(e.Cond)
			walk(e.Then)
			walk(e.Else)
		case *Stack:
			for _, x := range e.Elems {
				walk(x)
			}
		case *NoEvent:
			walk(e.X)
		case *Limit:
			walk(e.X)
		case *Functional:
			for _, x := range []Expr{e.Body, e.From, e.To, e.Times} {
				walk(x)
			}
			for _, x := range e.Elem {
				walk(x)
			}
		}
	}
	for _, r := range roots {
		walk(r)
	}
}

// FindSymbol returns a symbol that e reads and want accepts, or nil.
func FindSymbol(e Expr, want func(*Symbol) bool) *Symbol {
	var found *Symbol
	Walk(func(e Expr) bool {
		if r, ok := e.(*Ref); ok && found == nil && want(r.Sym) {
			found = r.Sym
		}
		return found == nil
	}, e)
	return found
}
