package model

// Replace returns e with what with returns in the place of each reference to a symbol; nil leaves the reference.
func Replace(e Expr, with func(*Ref) Expr) Expr {
	done := map[Expr]Expr{}
	var one func(Expr) Expr
	list := func(es []Expr) (out []Expr, changed bool) {
		out = make([]Expr, len(es))
		for i, x := range es {
			out[i] = one(x)
			changed = changed || out[i] != x
		}
		return out, changed
	}
	subs := func(s []Sub) (out []Sub, changed bool) {
		out = make([]Sub, len(s))
		copy(out, s)
		for i := range out {
			if at := out[i].At; at != nil {
				out[i].At = one(at)
				changed = changed || out[i].At != at
			}
		}
		return out, changed
	}
	change := func(e Expr) Expr {
		switch e := e.(type) {
		case *Ref:
			if v := with(e); v != nil {
				return v
			}
		case *Call:
			if args, is := list(e.Args); is {
				return Seal(&Call{Base: NewBase(e.T, e.S), Fn: e.Fn, Args: args})
			}
		case *Access:
			x := one(e.X)
			if s, is := subs(e.Subs); is || x != e.X {
				return Seal(&Access{Base: NewBase(e.T, e.S), X: x, Subs: s})
			}
		case *Assemble:
			pieces, any := make([]Piece, len(e.Pieces)), false
			for i, p := range e.Pieces {
				s, is := subs(p.Subs)
				pieces[i] = p
				pieces[i].Value = one(p.Value)
				if any = any || is || pieces[i].Value != p.Value; p.Subs != nil {
					pieces[i].Subs = s
				}
			}
			if any {
				return Seal(&Assemble{Base: NewBase(e.T, e.S), Pieces: pieces})
			}
		case *Reduce:
			if body := one(e.Body); body != e.Body {
				return Seal(&Reduce{Base: NewBase(e.T, e.S), Fn: e.Fn, Indices: e.Indices, Body: body})
			}
		case *If:
			if l, is := list([]Expr{e.Cond, e.Then, e.Else}); is {
				return Seal(&If{Base: NewBase(e.T, e.S), Cond: l[0], Then: l[1], Else: l[2], Static: e.Static})
			}
		case *Stack:
			if l, is := list(e.Elems); is {
				return Seal(&Stack{Base: NewBase(e.T, e.S), Elems: l})
			}
		case *NoEvent:
			if x := one(e.X); x != e.X {
				return Seal(&NoEvent{Base: NewBase(e.T, e.S), X: x})
			}
		case *Limit:
			if x := one(e.X); x != e.X {
				return Seal(&Limit{Base: NewBase(e.T, e.S), X: x, Post: e.Post})
			}
		}
		return e
	}
	one = func(e Expr) Expr {
		if e == nil {
			return nil
		}
		if v, known := done[e]; known {
			return v
		}
		v := change(e)
		done[e] = v
		return v
	}
	return one(e)
}
