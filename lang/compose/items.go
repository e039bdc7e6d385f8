package compose

import (
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/stdlib"
)

// items returns the component's items as they are in the model. Its settings, outputs and objectives stay behind.
func (u *used) items() []ast.Item {
	c := &copier{value: u.read, target: u.target, function: u.called, hidden: map[string]int{}, local: u.local()}
	var out []ast.Item
	for _, item := range u.inner.items {
		out = append(out, u.copies(c, item)...)
	}
	if u.brought += len(out); u.brought > maxItems && !u.full {
		u.full = true
		u.list.Errorf(CodeComponent, u.item.Span, "components bring more than %d items; write copies as an array: "+
			"use %s as %s[…]", maxItems, u.item.Component.Name, u.item.Target.Name.Name)
	}
	if u.full {
		return nil
	}
	return out
}

// local gives a loop of the component that has the name of the model's time another: the component's time, which has
// that name in the model, may be read within.
func (u *used) local() map[string]string {
	in, out := u.inner.time, u.flat.time
	if in == nil || out == nil || in.Name.Name == out.Name.Name {
		return nil
	}
	taken := u.inner.identifiers()
	for _, n := range u.loop {
		taken[n] = true
	}
	return map[string]string{out.Name.Name: fresh(taken, out.Name.Name+"_")}
}

// called returns the name of a function in a call.
func (u *used) called(name ast.Ident) ast.Expr {
	if m := u.inner.names[name.Name]; m != nil {
		switch {
		case m.from != nil:
			return &ast.Member{At: name.At, X: &ast.Name{Ident: u.module(m.from)}, Name: name}
		case m.kind == function:
			return &ast.Name{Ident: u.id(name)}
		}
	} else if m := u.flat.names[name.Name]; m != nil && m.kind == function {
		u.list.Errorf(CodeComponent, name.Span,
			"%s has no function %q: a component sees nothing of the model around it",
			u.item.Component.Name, name.Name).Relate(u.item.Span, "used here")
	}
	return nil
}

func (u *used) target(v *ast.LValue) *ast.LValue {
	m := u.inner.names[v.Name.Name]
	if m == nil {
		return v // the checker says that it is not there
	}
	v.Subs = u.element(v.Name, m, v.Subs)
	v.Name = u.id(v.Name)
	return v
}

// copies returns what an item of the component is in the model.
func (u *used) copies(c *copier, item ast.Item) []ast.Item {
	several := len(u.dims) > 0
	refuse := func(what string) []ast.Item {
		u.list.Errorf(CodeComponent, item.Pos(), "%s cannot be in a component of which there are several copies", what).
			Relate(u.item.Span, "used here")
		return nil
	}
	switch it := item.(type) {
	case *ast.Import:
		return u.imports(it)
	case *ast.UnitDecl:
		if u.units[it] {
			return nil
		}
		u.units[it] = true
		return []ast.Item{it}
	case *ast.Decl:
		return u.decl(c, it)
	case *ast.Control:
		if g := u.sets[it.Var.Name.Name]; g != nil {
			return []ast.Item{u.given(it.Var, g)}
		}
		return []ast.Item{&ast.Control{
			At: it.At, Var: u.variable(c, it.Var), Linear: it.Linear, Grid: copied(c, it.Grid),
		}}
	case *ast.Let:
		twin := own(u, c, it)
		twin.Output = false
		return []ast.Item{twin}
	case *ast.Fn:
		return []ast.Item{copied(c, it)} // calls of it have its name as well
	case *ast.Reaction:
		if several {
			return u.reactions(c, it)
		}
		return []ast.Item{own(u, c, it)}
	case *ast.Mass:
		if several {
			return refuse(map[bool]string{false: "a mass matrix", true: "a past"}[it.Past])
		}
		return []ast.Item{own(u, c, it)}
	case *ast.Event, *ast.Equation, *ast.AlgEq:
		return []ast.Item{own(u, c, item)}
	case *ast.Equilibrate:
		u.list.Errorf(CodeComponent, it.Span, "a component cannot equilibrate: the model that uses it does").
			Relate(u.item.Span, "used here")
	case *ast.Invariant, *ast.Assert:
		return u.each(c, item)
	case *ast.Data, *ast.Doses, *ast.Observe, *ast.Experiment:
		if u.item.Data {
			return []ast.Item{u.measured(c, it)}
		}
	case *ast.Bad:
		return []ast.Item{it}
	}
	return nil
}

// own returns a copy of an item as one of the model: under its name there, for all copies of the component.
func own[T ast.Item](u *used, c *copier, item T) T {
	twin := copied(c, item)
	name, loop := ast.Own(twin)
	if name != nil {
		*name = u.id(*name)
	}
	if loop != nil {
		*loop = u.binders(*loop)
	}
	return twin
}

// maxEach is how many copies of asserts there can be.
const maxEach = 1000

// each returns a copy of an assert or an invariant for each copy of the component.
func (u *used) each(c *copier, item ast.Item) []ast.Item {
	at := []int{}
	count := 1
	for _, d := range u.dims {
		n, ok := number(d)
		if count *= n; !ok || count > maxEach {
			u.list.Errorf(CodeComponent, item.Pos(),
				"there can be up to %d copies of a component that asserts something, "+
					"and their number is written as a number", maxEach).Relate(u.item.Span, "used here")
			return nil
		}
		at = append(at, 1)
	}
	var out []ast.Item
	for range count {
		fixed := &copier{hidden: map[string]int{}, value: func(n ast.Name, subs []*ast.Sub) ast.Expr {
			if i := slices.Index(u.loop, n.Name); i >= 0 && subs == nil {
				return literal(n.At, at[i])
			}
			return nil
		}}
		out = append(out, copied(fixed, copied(c, item)))
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; i == 0 {
				break
			}
			if n, _ := number(u.dims[i]); at[i] <= n {
				break
			}
			at[i] = 1
		}
	}
	return out
}

// imports are those of functions.
func (u *used) imports(it *ast.Import) []ast.Item {
	if it.As != nil {
		name := u.id(*it.As)
		return []ast.Item{&ast.Import{At: it.At, Path: it.Path, As: &name}}
	}
	name := u.module(it)
	for _, m := range u.inner.names {
		if m.from == it {
			return []ast.Item{&ast.Import{At: it.At, Path: it.Path, As: &name}}
		}
	}
	return nil
}

// decl returns what variables are, those that are given as lets.
func (u *used) decl(c *copier, it *ast.Decl) []ast.Item {
	var out []ast.Item
	rest := &ast.Decl{At: it.At, Kind: it.Kind}
	for _, v := range it.Vars {
		g := u.sets[v.Name.Name]
		if g != nil {
			u.composer.sets[g.Key.Pos()] = v
		}
		switch {
		case g != nil && it.Kind == ast.Const:
			rest.Vars = append(rest.Vars, &ast.Var{
				At: g.At, Name: u.id(v.Name), Dims: copied(c, v.Dims), Unit: unitOf(v), Value: g.Value, Doc: v.Doc,
			})
		case g != nil && it.Kind == ast.Param:
			out = append(out, u.given(v, g))
		case it.Kind == ast.Const:
			twin := copied(c, v)
			twin.Name = u.id(v.Name)
			rest.Vars = append(rest.Vars, twin)
		default:
			rest.Vars = append(rest.Vars, u.variable(c, v))
		}
	}
	if len(rest.Vars) > 0 {
		out = append(out, rest)
	}
	return out
}

// unitOf returns the unit that a variable is declared with, or that of its number.
func unitOf(v *ast.Var) *ast.Unit {
	if v.Unit != nil {
		return v.Unit
	}
	if n, ok := v.Value.(*ast.Number); ok {
		return n.Unit
	}
	return nil
}

// given is a param that a use gives a value.
func (u *used) given(v *ast.Var, g *given) ast.Item {
	at := g.At
	let := &ast.Let{At: at, Unit: unitOf(v), Value: g.Value, Doc: v.Doc}
	let.Target = &ast.LValue{At: ast.At{Span: g.Key.Pos()}, Name: u.id(v.Name)}
	let.Target.Name.At = let.Target.At
	if len(u.dims) == 0 && len(v.Dims) == 0 {
		return let
	}
	loop := u.item.For
	if len(loop) == 0 {
		loop = u.binders(nil)
	}
	for _, n := range names(loop) {
		let.Target.Subs = append(let.Target.Subs, &ast.Sub{At: at, Lo: &ast.Name{Ident: ast.Ident{At: at, Name: n}}})
	}
	let.For = slices.Clone(loop)
	for i := range v.Dims { // an element of what is given
		name := ast.Ident{At: at, Name: freshIn(names(let.For), "q", g.Value)}
		let.For = append(let.For, ast.Binder{
			At: at, Name: name, Lo: literal(at, 1),
			Hi: copied(u.constants(), v.Dims[i]),
		})
		let.Target.Subs = append(let.Target.Subs, &ast.Sub{At: at, Lo: &ast.Name{Ident: name}})
	}
	if n := len(v.Dims); n > 0 && u.vector(g.Value) { // a number is all elements
		let.Value = &ast.Index{At: at, X: &ast.Paren{At: at, X: g.Value}, Subs: let.Target.Subs[len(loop):]}
	}
	return let
}

// constants copies what only consts stand in.
func (u *used) constants() *copier {
	return &copier{value: u.read, function: u.called, hidden: map[string]int{}}
}

// freshIn returns a name that is neither taken nor read in e, where it would hide what is meant.
func freshIn(taken []string, name string, e ast.Expr) string {
	all := read(e)
	for _, n := range taken {
		all[n] = true
	}
	return fresh(all, name)
}

func fresh(taken map[string]bool, name string) string {
	for taken[name] {
		name += "_"
	}
	return name
}

// read returns the names that stand in an expression.
func read(e ast.Expr) map[string]bool {
	found := map[string]bool{}
	ast.Inspect(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.Name); ok {
			found[name.Name] = true
		}
		return true
	})
	return found
}

func literal(at ast.At, n int) *ast.Number {
	return &ast.Number{At: at, Text: strconv.Itoa(n), Value: float64(n)}
}

// variable returns a variable of all copies.
func (u *used) variable(c *copier, v *ast.Var) *ast.Var {
	out := copied(c, v)
	out.Name = u.id(v.Name)
	value, loop := out.Value, u.binders(nil)
	if g := u.starts[v.Name.Name]; g != nil {
		if value = g.Value; len(u.item.For) > 0 {
			loop = slices.Clone(u.item.For)
		}
		if unit := unitOf(v); out.Unit == nil {
			out.Unit = unit
		}
	}
	out.Value = value
	if len(u.dims) == 0 {
		return out
	}
	out.Value = u.spread(value, loop, out.Dims)
	out.Lo, out.Hi = u.spread(out.Lo, u.binders(nil), nil), u.spread(out.Hi, u.binders(nil), nil)
	if out.Prior != nil && mentions(out.Prior, u.loop) {
		u.list.Errorf(CodeComponent, out.Prior.Pos(), "the prior of a component of which there are several copies has "+
			"numbers or consts").Relate(u.item.Span, "used here")
		out.Prior = nil
	}
	out.Dims = append(slices.Clone(u.dims), out.Dims...)
	return out
}

// spread returns a value of one copy as one of all. A number counts for all elements.
func (u *used) spread(e ast.Expr, loop []ast.Binder, dims []ast.Expr) ast.Expr {
	if e == nil {
		return nil
	}
	array := u.vector(e)
	varies := mentions(e, names(loop))
	if !varies && !(array && len(dims) > 0) {
		return e
	}
	at := ast.At{Span: e.Pos()}
	if !array {
		for i := len(dims) - 1; i >= 0; i-- {
			name := ast.Ident{At: at, Name: freshIn(names(loop), "q", e)}
			e = &ast.Array{At: at, Elems: []ast.Expr{e}, For: []ast.Binder{
				{At: at, Name: name, Lo: literal(at, 1), Hi: dims[i]},
			}}
		}
	}
	for i := len(loop) - 1; i >= 0; i-- {
		e = &ast.Array{At: at, Elems: []ast.Expr{e}, For: loop[i : i+1]}
	}
	return e
}

// vector reports whether an expression of the model is an array, as far as its names tell.
func (u *used) vector(e ast.Expr) bool {
	return vector(e, func(n ast.Node) *meaning {
		switch n := n.(type) {
		case *ast.Name:
			if inner, ok := strings.CutPrefix(n.Name, u.prefix); ok {
				return u.inner.names[inner]
			}
			return u.flat.names[n.Name]
		case *ast.Member:
			var parts []string
			given := 0
			for _, s := range steps(n) {
				parts = append(parts, s.name.Name)
				given += len(s.subs)
			}
			if m := u.flat.names[parts[0]]; m != nil && m.left {
				return &meaning{rank: 1} // a column of a table
			}
			if len(parts) < 2 || u.uses[parts[0]] == nil {
				return nil
			}
			of := u.uses[parts[0]]
			to := of.inner.names[strings.Join(parts[1:], ".")]
			if to == nil {
				return nil
			}
			m := *to
			if !m.alone {
				m.rank += len(of.dims) - given
			}
			return &m
		}
		return nil
	})
}

// vector asks of, which is nil within values, what names are.
func vector(e ast.Expr, of func(ast.Node) *meaning) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Array:
			found = true
		case *ast.Index:
			found = found || slices.ContainsFunc(n.Subs, func(s *ast.Sub) bool { return s.All || s.Hi != nil })
			return false
		case *ast.Call:
			fun, ok := n.Fun.(*ast.Name)
			if !ok {
				return true
			}
			switch name := fun.Name; {
			case stdlib.Find(name, stdlib.Reduction) != nil && len(n.Args) == 1, name == "dot", name == "rows",
				name == "cols":
				return false
			case stdlib.Find(name, stdlib.Grid) != nil:
				found = true
			case name == "interp" && len(n.Args) > 0: // of tables, at its last argument
				found = found || vector(n.Args[len(n.Args)-1].Value, of)
				return false
			}
		case *ast.Name, *ast.Member:
			if of == nil {
				return false
			}
			if m := of(n); m != nil {
				found = found || m.rank > 0 || m.value != nil && vector(m.value, nil)
			}
			return false
		}
		return !found
	})
	return found
}

// mentions reports whether one of some names is read in e.
func mentions(e ast.Expr, list []string) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.Name); ok {
			found = found || slices.Contains(list, name.Name)
		}
		return !found
	})
	return found
}

// reactions writes a reaction of all copies as what it adds to equations, since a reaction has no loop.
func (u *used) reactions(c *copier, it *ast.Reaction) []ast.Item {
	out := []ast.Item{&ast.Let{
		At: it.At, Target: &ast.LValue{At: it.Name.At, Name: u.id(it.Name), Subs: u.subs(it.Name.At)},
		Value: copied(c, it.Rate), For: u.binders(nil), Doc: it.Doc,
	}}
	side := func(list []*ast.Specie, sign ast.Op) {
		for _, s := range list {
			var rate ast.Expr = &ast.Index{
				At: it.At, X: &ast.Name{Ident: u.id(it.Name)}, Subs: u.subs(it.At),
			}
			if s.Coeff != nil {
				rate = &ast.Binary{At: it.At, Op: ast.Mul, OpAt: s.Span, X: copied(c, s.Coeff), Y: rate}
			}
			if sign == ast.Neg {
				rate = &ast.Unary{At: it.At, Op: ast.Neg, X: rate}
			}
			out = append(out, &ast.Equation{
				At: it.At, Target: copied(c, s.Name), Add: true, Value: rate,
				For: u.binders(nil),
			})
		}
	}
	side(it.Left, ast.Neg)
	side(it.Right, ast.Plus)
	return out
}

// measured is a table, an observation or an experiment of a component whose data are asked for.
func (u *used) measured(c *copier, item ast.Item) ast.Item {
	twin := own(u, c, item)
	it, is := twin.(*ast.Experiment)
	if !is {
		return twin
	}
	rename := func(name *ast.Ident) *ast.Ident {
		if name == nil || u.inner.names[name.Name] == nil {
			return name
		}
		twin := u.id(*name)
		return &twin
	}
	it.From = rename(it.From)
	for _, x := range it.Items {
		x.Use, x.Name = rename(x.Use), rename(x.Name)
	}
	return it
}
