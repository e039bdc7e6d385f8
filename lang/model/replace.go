package model

import "maps"

// Replace returns e with what with returns in the place of each reference to a symbol; nil leaves the reference.
func Replace(e Expr, with func(*Ref) Expr) Expr {
	r := &replacer{with: with, done: map[Expr]Expr{}}
	return r.one(e)
}

// ReplaceRows returns e with what with returns in the place of each entry of a data row; nil leaves the entry.
func ReplaceRows(e Expr, with func(*Row) Expr) Expr {
	r := &replacer{with: func(*Ref) Expr { return nil }, rows: with, done: map[Expr]Expr{}}
	return r.one(e)
}

// ReplaceFunctionals returns e with what with returns in the place of each functional and, by refs, of each reference;
// nil leaves them. Nothing within functionals changes.
func ReplaceFunctionals(e Expr, with func(*Functional) Expr, refs func(*Ref) Expr) Expr {
	r := &replacer{with: refs, functionals: with, done: map[Expr]Expr{}}
	return r.one(e)
}

// ReplaceNodes returns e with other expressions in the place of some nodes.
func ReplaceNodes(e Expr, with map[Expr]Expr) Expr {
	r := &replacer{with: func(*Ref) Expr { return nil }, done: maps.Clone(with)}
	return r.one(e)
}

type replacer struct {
	with        func(*Ref) Expr
	rows        func(*Row) Expr        // nil for none
	functionals func(*Functional) Expr // nil for none
	done        map[Expr]Expr
}

func (r *replacer) one(e Expr) Expr {
	if e == nil {
		return nil
	}
	v, known := r.done[e]
	if !known {
		v = r.change(e)
		r.done[e] = v
	}
	return v
}

func (r *replacer) list(es ...Expr) (out []Expr, changed bool) {
	out = make([]Expr, len(es))
	for i, x := range es {
		out[i] = r.one(x)
		changed = changed || out[i] != x
	}
	return out, changed
}

func (r *replacer) subs(list []Sub) (out []Sub, changed bool) {
	if list == nil {
		return nil, false
	}
	out = make([]Sub, len(list))
	copy(out, list)
	for i := range out {
		if at := out[i].At; at != nil {
			out[i].At = r.one(at)
			changed = changed || out[i].At != at
		}
	}
	return out, changed
}

func (r *replacer) pieces(list []Piece) (out []Piece, changed bool) {
	out = make([]Piece, len(list))
	for i, p := range list {
		out[i] = p
		subs, is := r.subs(p.Subs)
		out[i].Subs, out[i].Value = subs, r.one(p.Value)
		changed = changed || is || out[i].Value != p.Value
	}
	return out, changed
}

func (r *replacer) change(e Expr) Expr {
	switch e := e.(type) {
	case *Ref:
		if v := r.with(e); v != nil {
			return v
		}
	case *Row:
		if r.rows == nil {
			return e
		}
		if v := r.rows(e); v != nil {
			return v
		}
	case *Functional:
		if r.functionals == nil {
			return e
		}
		if v := r.functionals(e); v != nil {
			return v
		}
	case *Call:
		if args, is := r.list(e.Args...); is {
			return Seal(&Call{Base: NewBase(e.T, e.S), Fn: e.Fn, Args: args})
		}
	case *Access:
		x := r.one(e.X)
		if subs, is := r.subs(e.Subs); is || x != e.X {
			return Seal(&Access{Base: NewBase(e.T, e.S), X: x, Subs: subs})
		}
	case *Assemble:
		if p, is := r.pieces(e.Pieces); is {
			return Seal(&Assemble{Base: NewBase(e.T, e.S), Pieces: p})
		}
	case *Reduce:
		if body := r.one(e.Body); body != e.Body {
			return Seal(&Reduce{Base: NewBase(e.T, e.S), Fn: e.Fn, Indices: e.Indices, Body: body})
		}
	case *If:
		if l, is := r.list(e.Cond, e.Then, e.Else); is {
			return Seal(&If{
				Base: NewBase(e.T, e.S), Cond: l[0], Then: l[1], Else: l[2], Static: e.Static,
				Support: e.Support,
			})
		}
	case *Stack:
		if l, is := r.list(e.Elems...); is {
			return Seal(&Stack{Base: NewBase(e.T, e.S), Elems: l})
		}
	case *NoEvent:
		if x := r.one(e.X); x != e.X {
			return Seal(&NoEvent{Base: NewBase(e.T, e.S), X: x})
		}
	case *Limit:
		if x := r.one(e.X); x != e.X {
			return Seal(&Limit{Base: NewBase(e.T, e.S), X: x, Post: e.Post})
		}
	}
	return e
}

// Supported notes where a density, which may be a choice, is one of values that there may be, and returns it.
func Supported(density Expr) Expr {
	if e, ok := density.(*If); ok {
		e.Support = true
	}
	return density
}
