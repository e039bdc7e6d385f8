package compose

import (
	"reflect"
	"slices"

	"odes.dev/odes/lang/ast"
)

// copier copies trees, and lets names mean something else. Binders, parameters of functions and lets of event bodies
// hide names.
type copier struct {
	// value returns what stands for a name that is read, with its subscripts, which are copied already; nil for the
	// name itself.
	value func(name ast.Name, subs []*ast.Sub) ast.Expr
	// member returns what stands for a chain of names with dots, such as c[2].m.x[1]; nil for what it is without that.
	member func(e ast.Expr) ast.Expr
	// target returns where an assignment goes.
	target func(v *ast.LValue) *ast.LValue
	// function returns what stands for the name of a function in a call; nil for the name itself.
	function func(name ast.Ident) ast.Expr
	// file returns the path of a file that is named.
	file func(name string) string

	hidden map[string]int
	// local says how loops, parameters and lets of bodies with some names are called in the copy.
	local map[string]string
}

// called gives a loop, a parameter or a let of a body its name in the copy.
func (c *copier) called(name *ast.Ident) {
	if to := c.local[name.Name]; to != "" {
		name.Name = to
	}
}

// within hides names while do copies what they hide them in.
func (c *copier) within(names []string, do func()) {
	for _, n := range names {
		c.hidden[n]++
	}
	do()
	for _, n := range names {
		c.hidden[n]--
	}
}

// names returns those that binders give.
func names(list []ast.Binder) []string {
	var out []string
	for i := range list {
		out = append(out, list[i].Name.Name)
	}
	return out
}

// copied returns a copy of a part of a tree.
func copied[T any](c *copier, n T) T {
	out := c.copy(reflect.ValueOf(&n).Elem())
	return out.Interface().(T)
}

var inTrees = reflect.TypeFor[ast.File]().PkgPath()

// copy copies what is of package ast. A place stays the same.
func (c *copier) copy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		if e, ok := v.Interface().(ast.Expr); ok {
			out.Set(reflect.ValueOf(c.expr(e)))
			return out
		}
		out.Set(c.copy(v.Elem()))
		return out
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().PkgPath() != inTrees {
			return v
		}
		switch n := v.Interface().(type) {
		case *ast.LValue:
			return reflect.ValueOf(c.lvalue(n))
		case *ast.Fn:
			return reflect.ValueOf(c.fn(n))
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(c.copy(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		if list, ok := v.Interface().([]*ast.Affect); ok {
			return reflect.ValueOf(c.body(list))
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(c.copy(v.Index(i)))
		}
		return out
	case reflect.Struct:
		if v.Type().PkgPath() != inTrees {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		var hides []string
		loop := v.FieldByName("For")
		if loop.IsValid() {
			hides = names(loop.Interface().([]ast.Binder))
			loop = c.copy(loop) // bounds are outside of the loop: for n in 1:n
		}
		c.within(hides, func() {
			for i := range v.NumField() {
				if v.Type().Field(i).Name == "For" {
					out.Field(i).Set(loop)
					continue
				}
				out.Field(i).Set(c.copy(v.Field(i)))
			}
		})
		if b, ok := out.Addr().Interface().(*ast.Binder); ok {
			c.called(&b.Name)
		}
		return out
	}
	return v
}

// expr copies an expression.
func (c *copier) expr(e ast.Expr) ast.Expr {
	switch n := e.(type) {
	case *ast.Name:
		if c.hidden[n.Name] == 0 && c.value != nil {
			if to := c.value(*n, nil); to != nil {
				return to
			}
		}
		twin := *n
		if c.hidden[n.Name] > 0 {
			c.called(&twin.Ident)
		}
		return &twin
	case *ast.Index:
		if to := c.chain(n); to != nil {
			return to
		}
		if x, ok := n.X.(*ast.Name); ok && c.hidden[x.Name] == 0 && c.value != nil {
			subs := copied(c, n.Subs)
			if to := c.value(*x, subs); to != nil {
				return to
			}
		}
	case *ast.Member:
		if to := c.chain(n); to != nil {
			return to
		}
	case *ast.Call:
		return c.call(n)
	}
	v := reflect.ValueOf(e)
	out := reflect.New(v.Type().Elem())
	out.Elem().Set(c.copy(v.Elem()))
	return out.Interface().(ast.Expr)
}

// chain copies what begins with the name of a component; nil for what does not.
func (c *copier) chain(e ast.Expr) ast.Expr {
	if c.member == nil {
		return nil
	}
	if n := head(e); n == nil || c.hidden[n.Name] > 0 {
		return nil
	}
	return c.member(e)
}

// head returns the name that a chain of members and subscripts begins with; nil for other expressions.
func head(e ast.Expr) *ast.Name {
	for {
		switch n := e.(type) {
		case *ast.Name:
			return n
		case *ast.Index:
			e = n.X
		case *ast.Member:
			e = n.X
		default:
			return nil
		}
	}
}

func (c *copier) call(n *ast.Call) ast.Expr {
	out := *n
	out.For = copied(c, n.For)
	c.within(names(n.For), func() {
		out.Args = make([]ast.Arg, len(n.Args))
		for i, a := range n.Args {
			out.Args[i] = ast.Arg{At: a.At, Key: a.Key, Value: c.expr(a.Value)}
		}
	})
	switch fun := n.Fun.(type) {
	case *ast.Name:
		twin := *fun
		out.Fun = &twin
		if c.function != nil {
			if to := c.function(fun.Ident); to != nil {
				out.Fun = to
			}
		}
		if name, ok := firstString(out.Args); ok && c.file != nil && slices.Contains(readers, fun.Name) {
			path := *name
			path.Value = c.file(name.Value)
			out.Args[0].Value = &path
		}
	default:
		out.Fun = c.expr(n.Fun)
	}
	return &out
}

func firstString(args []ast.Arg) (*ast.String, bool) {
	if len(args) == 0 {
		return nil, false
	}
	s, ok := args[0].Value.(*ast.String)
	return s, ok
}

func (c *copier) lvalue(n *ast.LValue) *ast.LValue {
	if n == nil {
		return nil
	}
	out := *n
	out.Subs = copied(c, n.Subs)
	if n.Of != nil || c.hidden[n.Name.Name] == 0 && c.target != nil {
		return c.target(&out)
	}
	if c.hidden[n.Name.Name] > 0 {
		c.called(&out.Name)
	}
	return &out
}

// fn copies a function, whose parameters and lets hide names.
func (c *copier) fn(n *ast.Fn) *ast.Fn {
	if n == nil {
		return nil
	}
	out := *n
	if c.function != nil {
		if to, ok := c.function(n.Name).(*ast.Name); ok {
			out.Name = to.Ident
		}
	}
	var hides []string
	out.Params = slices.Clone(n.Params)
	for i, p := range out.Params {
		twin := *p
		hides = append(hides, p.Name.Name)
		c.called(&twin.Name)
		out.Params[i] = &twin
	}
	c.within(hides, func() {
		out.Lets = slices.Clone(n.Lets)
		for i, l := range n.Lets { // a let hides a name in what follows it
			value, loop := l.Value, l.For
			twin := *l
			twin.For = copied(c, loop)
			c.within(names(loop), func() { twin.Value = copied(c, value) })
			target := *l.Target
			c.called(&target.Name)
			twin.Target = &target
			out.Lets[i] = &twin
			c.hidden[l.Target.Name.Name]++
		}
		out.Result = copied(c, n.Result)
		for _, l := range n.Lets {
			c.hidden[l.Target.Name.Name]--
		}
	})
	return &out
}

// body copies the body of an event: a let hides a name in what follows it.
func (c *copier) body(list []*ast.Affect) []*ast.Affect {
	var hides []string
	out := make([]*ast.Affect, len(list))
	for i, a := range list {
		if a.Let != nil {
			let := *a.Let
			let.For = copied(c, a.Let.For)
			c.within(names(a.Let.For), func() { let.Value = copied(c, a.Let.Value) })
			name := let.Target.Name.Name
			twin := *let.Target
			c.called(&twin.Name)
			let.Target = &twin
			out[i] = &ast.Affect{At: a.At, Let: &let}
			c.hidden[name]++
			hides = append(hides, name)
			continue
		}
		out[i] = &ast.Affect{At: a.At, Stop: a.Stop, Op: a.Op}
		c.within(names(a.For), func() {
			out[i].Target, out[i].Value = c.lvalue(a.Target), copied(c, a.Value)
		})
		out[i].For = copied(c, a.For)
	}
	for _, n := range hides {
		c.hidden[n]--
	}
	return out
}
