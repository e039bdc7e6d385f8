package compose

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
)

// outer is a model that uses components.
type outer struct {
	*composer
	flat *flat
	dir  string
	uses map[string]*used // by name; nil for those that were reported
}

// readers are the functions that read a file of the model's folder.
var readers = []string{"csv", "load"}

// item returns an item of the model with the names of components resolved. Files that it names are in dir, if dir is
// not "".
func (o *outer) item(item ast.Item, dir string) ast.Item {
	c := &copier{value: o.bare, member: o.chain, target: o.target, hidden: map[string]int{}}
	switch it := item.(type) {
	case *ast.Import:
		twin := *it
		if dir != "" {
			twin.Path.Value = inFolder(dir, it.Path.Value)
		}
		for _, m := range o.flat.names {
			if m.from == it {
				m.from = &twin
			}
		}
		return &twin
	case *ast.UnitDecl, *ast.Bad, *ast.Model, *ast.Time:
		return item // the same wherever it is used
	case *ast.Report:
		return o.report(it)
	}
	if dir != "" && dir != "." {
		c.file = func(name string) string { return inFolder(dir, name) }
	}
	out := copied(c, item)
	if it, ok := out.(*ast.Experiment); ok {
		o.experiment(it)
	}
	return out
}

// bare sees to a name without dots: that of a component is no value.
func (o *outer) bare(n ast.Name, _ []*ast.Sub) ast.Expr {
	u, ok := o.uses[n.Name]
	if !ok {
		return nil
	}
	if u != nil {
		o.list.Errorf(CodeComponent, n.Span, "%q is a component; say what of it, as in %s", n.Name, u.example())
	}
	return &ast.BadExpr{At: n.At}
}

// example names a state of the component.
func (u *used) example() string {
	name := "x"
	if states := u.inner.words(func(m *meaning) bool { return m.kind == initial }); len(states) > 0 {
		name = states[0]
	}
	at := ""
	if len(u.dims) > 0 {
		at = "[1" + strings.Repeat(", 1", len(u.dims)-1) + "]"
	}
	return strings.TrimSuffix(u.prefix, ".") + at + "." + name
}

// step is a name with its subscripts in a chain of names with dots.
type step struct {
	name ast.Ident
	subs []*ast.Sub
	at   ast.At // up to here
}

// steps returns the parts of a chain.
func steps(e ast.Expr) []step {
	switch n := e.(type) {
	case *ast.Name:
		return []step{{name: n.Ident, at: n.At}}
	case *ast.Member:
		return append(steps(n.X), step{name: n.Name, at: n.At})
	case *ast.Index:
		list := steps(n.X)
		last := &list[len(list)-1]
		last.subs = append(last.subs, n.Subs...)
		last.at = n.At
		return list
	}
	return nil
}

// chain resolves a name of a component; nil where e is none.
func (o *outer) chain(e ast.Expr) ast.Expr {
	list := steps(e)
	first := list[0]
	u, ok := o.uses[first.name.Name]
	at := ast.At{Span: e.Pos()}
	switch {
	case !ok:
		return nil
	case u == nil: // it was reported
		return &ast.BadExpr{At: at}
	case len(list) == 1:
		return o.bare(ast.Name{Ident: first.name}, nil)
	}
	// The longest name that the component has: what follows is a column of a table.
	for n := len(list); n > 1; n-- {
		var parts []string
		for _, s := range list[1:n] {
			parts = append(parts, s.name.Name)
		}
		name := strings.Join(parts, ".")
		m := u.inner.names[name]
		if m == nil || m.from != nil {
			continue
		}
		if m.left && !u.item.Data {
			o.list.Errorf(CodeComponent, at.Span, "%q is a %s of the component: say `with data` where it is used", name,
				m.what).Relate(u.item.Span, "used here, without its data")
			return &ast.BadExpr{At: at}
		}
		out := u.part(list[:n], name, m)
		for _, s := range list[n:] {
			out = &ast.Member{At: s.at, X: out, Name: s.name}
			if s.subs != nil {
				out = &ast.Index{At: s.at, X: out, Subs: o.within(s.subs)}
			}
		}
		return out
	}
	wanted := list[1].name
	if bad := diag.DidYouMean(wanted.Name, u.inner.words(func(m *meaning) bool { return m.from == nil })); bad != "" {
		o.list.Errorf(CodeUnknown, wanted.Span, "%s has no %q%s", u.item.Component.Name, wanted.Name, bad)
	} else {
		o.list.Errorf(CodeUnknown, wanted.Span, "%s has no %q", u.item.Component.Name, wanted.Name)
	}
	return &ast.BadExpr{At: at}
}

// within resolves the names in subscripts.
func (o *outer) within(subs []*ast.Sub) []*ast.Sub {
	return copied(&copier{value: o.bare, member: o.chain, target: o.target, hidden: map[string]int{}}, subs)
}

// part returns what a chain of names with dots stands for.
func (u *used) part(list []step, name string, m *meaning) ast.Expr {
	last := list[len(list)-1]
	at := last.at
	out := &ast.Name{Ident: u.id(ast.Ident{At: at, Name: name})}
	copies, rest := list[0].subs, []*ast.Sub(nil)
	for _, s := range list[1:] {
		rest = append(rest, s.subs...)
	}
	dims := len(u.dims)
	if m.alone {
		copies, dims = nil, 0
	}
	switch {
	case len(copies) == 0 && len(rest) == 0:
		return out
	case len(copies) == 0 && dims > 0 && len(rest) < dims+m.rank:
		copies = wholes(at, dims)
	case len(copies) > 0 && len(rest) == 0:
		rest = wholes(at, m.rank)
	}
	if n := len(copies) + len(rest); n != dims+m.rank && (m.rank > 0 || dims > 0 || len(copies) > 0) {
		u.list.Errorf(CodeComponent, at.Span, "%s takes %d subscripts, and %d are given", out.Name, dims+m.rank, n)
		return &ast.BadExpr{At: at}
	}
	return &ast.Index{At: at, X: out, Subs: u.within(append(slices.Clone(copies), rest...))}
}

// target resolves where an assignment goes.
func (o *outer) target(v *ast.LValue) *ast.LValue {
	if v.Of == nil {
		return v
	}
	at := ast.At{Span: v.Span}
	var e ast.Expr = &ast.Member{At: at, X: v.Of, Name: v.Name}
	if v.Subs != nil {
		e = &ast.Index{At: at, X: e, Subs: v.Subs}
	}
	first := head(e)
	if _, ok := o.uses[first.Name]; !ok {
		o.list.Errorf(CodeComponent, first.Span, "%q is no component of this model", first.Name)
		return &ast.LValue{At: at, Name: ast.Ident{At: v.Name.At}}
	}
	switch x := o.chain(e).(type) {
	case *ast.Name:
		return &ast.LValue{At: at, Name: x.Ident}
	case *ast.Index:
		if n, ok := x.X.(*ast.Name); ok {
			return &ast.LValue{At: at, Name: n.Ident, Subs: x.Subs}
		}
	}
	return &ast.LValue{At: at, Name: ast.Ident{At: v.Name.At}}
}

// report resolves the names of `output c.V, x`.
func (o *outer) report(it *ast.Report) ast.Item {
	twin := *it
	twin.Names = slices.Clone(it.Names)
	for i := range twin.Names {
		o.dotted(&twin.Names[i])
	}
	return &twin
}

// dotted resolves a name with dots where no subscripts can stand, c.V.
func (o *outer) dotted(name *ast.Ident) {
	first, rest, dotted := strings.Cut(name.Name, ".")
	u, ok := o.uses[first]
	if !dotted || name.Quoted || !ok || u == nil {
		return
	}
	if m := u.inner.names[rest]; m == nil || m.from != nil {
		o.list.Errorf(CodeUnknown, name.Span, "%s has no %q%s", u.item.Component.Name, rest,
			diag.DidYouMean(rest, u.inner.words(func(m *meaning) bool { return m.from == nil })))
	}
	name.Quoted = true
}

// experiment resolves the names of what an experiment sets, and of the tables that it uses.
func (o *outer) experiment(it *ast.Experiment) {
	for _, x := range it.Items {
		if x.Use != nil {
			o.dotted(x.Use)
		}
		if x.Name != nil {
			o.dotted(x.Name)
		}
	}
}
