package compose

import (
	"maps"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
)

// used are copies of a component in a model.
type used struct {
	*outer
	item   *ast.Use
	prefix string // with its dot
	inner  *flat
	dims   []ast.Expr        // how many copies there are in each direction; nil for one alone
	loop   []string          // the names of the copies' subscripts in its equations
	sets   map[string]*given // by name in the component
	starts map[string]*given // initial values
}

// given is what a use says of a name.
type given struct {
	*ast.UseSet
	name string
}

// use makes the items of a component's copies. What a use gives is in the names of the model around it.
func (o *outer) use(it *ast.Use, components map[string]*component) []ast.Item {
	one, known := components[it.Component.Name]
	name := it.Target.Name
	switch {
	case !known:
		var names []string
		for n := range components {
			names = append(names, n)
		}
		slices.Sort(names)
		o.list.Errorf(CodeComponent, it.Component.Span, "%q is no component%s; a model is brought by: import model "+
			"\"file.ode\" as %s", it.Component.Name, diag.DidYouMean(it.Component.Name, names), it.Component.Name)
		o.uses[name.Name] = nil
		return nil
	case one == nil: // which was reported
		o.uses[name.Name] = nil
		return nil
	case it.Target.Of != nil:
		o.list.Errorf(CodeComponent, it.Target.Span, "copies of a component have a name without dots")
		return nil
	}
	if o.full { // which was reported
		o.uses[name.Name] = nil
		return nil
	}
	if _, twice := o.uses[name.Name]; twice || o.flat.names[name.Name] != nil {
		o.list.Errorf(CodeComponent, name.Span, "%q is declared twice; rename one of them", name.Name)
		return nil
	}
	u := &used{
		outer: o, item: it, prefix: name.Name + ".", inner: o.flatten(one), sets: map[string]*given{},
		starts: map[string]*given{},
	}
	o.uses[name.Name] = u
	if _, ok := o.placed[one.file]; !ok {
		o.placed[one.file], o.composer.uses[one.tree.Source] = true, it.Span
	}
	if !u.size() {
		o.uses[name.Name] = nil
		return nil
	}
	for _, s := range it.List {
		u.give(s)
	}
	u.sameTime()
	return u.items()
}

// size reads how many copies there are. It reports whether it could.
func (u *used) size() bool {
	it := u.item
	bound := names(it.For)
	refuse := func(n ast.Node, text string, args ...any) bool {
		u.list.Errorf(CodeComponent, n.Pos(), text, args...)
		return false
	}
	for _, s := range it.Target.Subs {
		if s.All || s.Hi != nil {
			return refuse(s, "copies are numbered from 1: use %s as %s[i] for i in 1:10", it.Component.Name,
				it.Target.Name.Name)
		}
		if n, ok := s.Lo.(*ast.Name); ok && slices.Contains(bound, n.Name) {
			b := it.For[slices.Index(bound, n.Name)]
			if first, ok := number(b.Lo); !ok || first != 1 || b.Step != nil {
				return refuse(&b, "copies are numbered from 1: for %s in 1:10", n.Name)
			}
			u.dims = append(u.dims, b.Hi)
			continue
		}
		u.dims = append(u.dims, s.Lo)
	}
	switch {
	case len(it.For) > 0 && len(it.For) != len(u.dims):
		return refuse(it.Target, "`for` has %d names, and %s has %d subscripts", len(it.For), it.Target.Name.Name,
			len(u.dims))
	case it.Data && len(u.dims) > 0:
		return refuse(it.Target, "several copies cannot have the data of %s; observe them in this model",
			it.Component.Name)
	}
	for i := range it.For {
		last, ok := number(it.For[i].Hi)
		if size, fixed := number(u.dims[i]); ok && fixed && last != size {
			return refuse(&it.For[i], "there are %d copies, and `for` runs to %d", size, last)
		}
	}
	taken := u.inner.identifiers()
	for _, s := range it.List { // what is given names no copy but by the names of `for`
		maps.Copy(taken, read(s.Value))
	}
	if u.flat.time != nil { // which may be read in the loops
		taken[u.flat.time.Name.Name] = true
	}
	for i := range u.dims {
		loop := []string{"i", "j", "k"}[min(i, 2)]
		if len(bound) > 0 {
			loop = bound[i]
		}
		for taken[loop] || u.flat.names[loop] != nil {
			loop += "_"
		}
		taken[loop] = true
		u.loop = append(u.loop, loop)
	}
	return true
}

// identifiers returns the names that a model contains.
func (f *flat) identifiers() map[string]bool {
	found := map[string]bool{}
	for _, item := range f.items {
		ast.Inspect(item, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Name:
				found[n.Name] = true
			case *ast.Ident:
				found[n.Name] = true
			}
			return true
		})
	}
	return found
}

// give reads one value of a use.
func (u *used) give(s *ast.UseSet) {
	wanted, key, into := settable, s.Key, u.sets
	if call, ok := key.(*ast.Call); ok {
		if fun, ok := call.Fun.(*ast.Name); ok && fun.Name == "initial" && len(call.Args) == 1 {
			wanted, key, into = initial, call.Args[0].Value, u.starts
		}
	}
	name, ok := plain(key)
	if !ok {
		u.list.Errorf(CodeComponent, s.Key.Pos(), "a component is given values of its params, consts and initial "+
			"values, by their names: { k = 2  initial(x) = 1 }")
		return
	}
	m := u.inner.names[name]
	switch {
	case m == nil || m.kind != wanted:
		words := u.inner.words(func(m *meaning) bool { return m.kind == wanted })
		what := map[kind]string{settable: "param or const", initial: "state"}[wanted]
		if m != nil {
			u.list.Errorf(CodeUnknown, s.Key.Pos(),
				"%q of %s is a %s, not a %s: a use gives values to params, consts and "+
					"initial(state)", name, u.item.Component.Name, m.what, what).Relate(m.at, "declared here")
			return
		}
		d := u.list.Errorf(CodeUnknown, s.Key.Pos(), "%s has no %s %q%s", u.item.Component.Name, what, name,
			diag.DidYouMean(name, words))
		if len(words) > 0 && len(words) <= 12 {
			d.Message += "; it has " + strings.Join(words, ", ")
		}
	case into[name] != nil:
		u.list.Errorf(CodeComponent, s.Key.Pos(), "%q is given twice", name).Relate(into[name].Key.Pos(), "given here")
	default:
		into[name] = &given{UseSet: s, name: name}
	}
}

// plain returns the name that a key of a use is: k, or m.half of a component's own component.
func plain(key ast.Expr) (string, bool) {
	switch e := key.(type) {
	case *ast.Name:
		return e.Name, true
	case *ast.Member:
		head, ok := plain(e.X)
		return head + "." + e.Name.Name, ok
	}
	return "", false
}

// sameTime reports a component whose time has another unit.
func (u *used) sameTime() {
	in, out := u.inner.time, u.flat.time
	if in == nil || out == nil || ast.UnitString(in.Unit) == ast.UnitString(out.Unit) {
		return
	}
	words := func(t *ast.Time) string {
		if t.Unit == nil {
			return "no unit"
		}
		return ast.UnitString(t.Unit)
	}
	u.list.Errorf(CodeComponent, u.item.Component.Span,
		"the time of %s has %s, and that of this model %s; write both in "+
			"one unit", u.item.Component.Name, words(in), words(out)).Relate(in.Span, "the time of the component").
		Relate(out.Span, "the time of this model")
}

// id returns the name in the model of what has a name in the component.
func (u *used) id(name ast.Ident) ast.Ident {
	name.Name = u.prefix + name.Name
	name.Quoted = true
	return name
}

// subs returns the subscripts of a copy, in the component's equations.
func (u *used) subs(at ast.At) []*ast.Sub {
	var list []*ast.Sub
	for _, n := range u.loop {
		list = append(list, &ast.Sub{At: at, Lo: &ast.Name{Ident: ast.Ident{At: at, Name: n}}})
	}
	return list
}

// binders returns the loop over all copies, before those of an item.
func (u *used) binders(rest []ast.Binder) []ast.Binder {
	at := u.item.Target.At
	var list []ast.Binder
	for i, n := range u.loop {
		list = append(list, ast.Binder{
			At: at, Name: ast.Ident{At: at, Name: n}, Lo: &ast.Number{At: at, Text: "1", Value: 1}, Hi: u.dims[i],
		})
	}
	return append(list, rest...)
}

func wholes(at ast.At, n int) []*ast.Sub {
	var list []*ast.Sub
	for range n {
		list = append(list, &ast.Sub{At: at, All: true})
	}
	return list
}

// element returns the subscripts of what a name of the component is in one copy.
func (u *used) element(name ast.Ident, m *meaning, subs []*ast.Sub) []*ast.Sub {
	if m.alone || len(u.dims) == 0 {
		return subs
	}
	switch {
	case len(subs) > m.rank:
		u.list.Errorf(CodeComponent, name.Span, "%q is an array without subscripts; write them where it is declared, "+
			"as in: let w[i] = … for i in 1:n. Then there can be several copies of %s", name.Name,
			u.item.Component.Name).Relate(u.item.Span, "used here")
	case len(subs) == 0:
		subs = wholes(name.At, m.rank)
	}
	return append(u.subs(name.At), subs...)
}

// read returns what a name of the component is in the model; nil for what is no name of the component.
func (u *used) read(n ast.Name, subs []*ast.Sub) ast.Expr {
	m := u.inner.names[n.Name]
	if m == nil {
		return u.fromOutside(n, subs)
	}
	if m.left && !u.item.Data {
		u.list.Errorf(CodeComponent, n.Span, "%q is a %s of the component: say `with data` where it is used", n.Name,
			m.what).Relate(u.item.Span, "used here, without its data")
		return &ast.BadExpr{At: n.At}
	}
	if m.from != nil {
		return &ast.Member{At: n.At, X: &ast.Name{Ident: u.module(m.from)}, Name: n.Ident}
	}
	name := &ast.Name{Ident: u.id(n.Ident)}
	if subs = u.element(n.Ident, m, subs); len(subs) == 0 {
		return name
	}
	return &ast.Index{At: n.At, X: name, Subs: subs}
}

// fromOutside sees to a name that the component does not declare: it must not be one of the model around it.
func (u *used) fromOutside(n ast.Name, subs []*ast.Sub) ast.Expr {
	if t := u.inner.time; t != nil && t.Name.Name == n.Name {
		if u.flat.time != nil {
			n.Ident.Name, n.Quoted = u.flat.time.Name.Name, u.flat.time.Name.Quoted
		}
		if subs == nil {
			return &n
		}
		return nil
	}
	_, use := u.uses[n.Name]
	if use || u.flat.names[n.Name] != nil || u.flat.time != nil && u.flat.time.Name.Name == n.Name {
		u.list.Errorf(CodeComponent, n.Span,
			"%s has no %q: a component sees of the model around it only what is given "+
				"to its params", u.item.Component.Name, n.Name).Relate(u.item.Span, "used here")
		return &ast.BadExpr{At: n.At}
	}
	return nil
}

// module returns the name under which the model knows the file of an import of the component.
func (u *used) module(it *ast.Import) ast.Ident {
	return u.id(ast.Ident{At: it.At, Name: it.Path.Value})
}

// export tells what the names of the component are in the model, for those who use that.
func (u *used) export(f *flat) {
	if u == nil {
		return
	}
	if n := len(u.dims); n > 0 {
		f.copies[u.item.Target.Name.Name] = n
	}
	for name, n := range u.inner.copies {
		f.copies[u.prefix+name] = n
	}
	for name, m := range u.inner.names {
		if m.from != nil || m.left && !u.item.Data {
			continue
		}
		twin := *m
		if !m.alone {
			twin.rank += len(u.dims)
		}
		if u.sets[name] != nil {
			twin.kind, twin.what = other, "given value"
		}
		f.names[u.prefix+name] = &twin
	}
}
