package typecheck

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/parser"
	"odes.dev/odes/stdlib"
)

// call elaborates the call f(args).
func (c *checker) call(x context, e *ast.Call) model.Expr {
	fun, ok := strip(e.Fun).(*ast.Name)
	if !ok {
		if m, is := e.Fun.(*ast.Member); is {
			mod, known := c.moduleOf(x, m.X)
			switch {
			case !known && c.method(x, e, m):
			case !known:
				c.errorf(CodeUndefined, m.X.Pos(), "%s", stdlib.NoModule(m.X.Pos().Text(), m.Name.Name))
			case mod != nil:
				if g := c.inModule(mod, m.Name, fnName); g != nil {
					return c.inline(x, e, g)
				}
			}
		} else {
			c.errorf(CodeKind, e.Fun.Pos(), "only a function is called; to multiply, write *")
		}
		return bad(e.Span)
	}
	name := fun.Name
	if local := x.scope.find(name); local != nil {
		c.errorf(CodeKind, fun.Span, "%q is not a function here; to multiply, write %s*(…)", name, name).
			Relate(local.span, "declared here")
		return bad(e.Span)
	}
	g := c.namesOf(x)[name]
	if g != nil && g.kind == fnName {
		return c.inline(x, e, g)
	}
	rows := stdlib.Named(name)
	if len(rows) == 0 {
		c.notAFunction(x, e, fun, g)
		return bad(e.Span)
	}
	switch rows[0].Class {
	case stdlib.Functional:
		return c.functional(x, e, rows[0])
	case stdlib.Special:
		return c.special(x, e, rows[0])
	case stdlib.Grid:
		return c.grid(x, e, rows[0])
	case stdlib.Noise:
		c.errorf(CodeKind, e.Span, "%q is a distribution and stands only after `~`", name)
		return bad(e.Span)
	}
	if len(e.For) > 0 {
		return c.reduceFor(x, e, name)
	}
	row := rows[0]
	if len(rows) > 1 { // min, max: one argument is reduced, two are compared
		want := stdlib.Elementwise
		if len(e.Args) == 1 {
			want = stdlib.Reduction
		}
		row = stdlib.Find(name, want)
	}
	args, ok := c.arguments(x, e, row)
	if !ok {
		return bad(e.Span)
	}
	return c.applyRow(x, e.Span, row, args)
}

// method reports x.mean(), as other languages write it, and returns whether e is such a call.
func (c *checker) method(x context, e *ast.Call, m *ast.Member) bool {
	n, ok := strip(m.X).(*ast.Name)
	if !ok || x.scope.find(n.Name) == nil && c.namesOf(x)[n.Name] == nil {
		return false
	}
	text := fmt.Sprintf("%s(%s)", m.Name.Name, n.Name)
	d := c.errorf(CodeKind, e.Span, "a function takes its arguments in parentheses: %s", text)
	if len(e.Args) == 0 && len(stdlib.Named(m.Name.Name)) > 0 {
		d.Fix(e.Span, text, "write "+text)
	}
	return true
}

// applyRow applies an elementwise, reduction, structure or index row.
func (c *checker) applyRow(x context, s source.Span, row *stdlib.Func, args []model.Expr) model.Expr {
	if anyBad(args...) {
		return bad(s)
	}
	switch row.Class {
	case stdlib.Reduction:
		return c.reduction(s, row, args[0])
	case stdlib.Structure:
		return c.structure(s, row, args)
	}
	if row.Body != "" {
		y := context{place: x.place, guards: x.guards, module: builtin}
		for i, a := range args {
			if !c.numeric(a, row.Name, a.Span()) {
				return bad(s)
			}
			y = y.with(row.Args[i], a, s)
		}
		if _, ok := c.broadcastShape(row.Name, s, args...); !ok {
			return bad(s)
		}
		return c.at(s, c.define(y, row.Definition()))
	}
	return c.apply(row, s, args...)
}

// define elaborates a definition of the function table, with its parameters bound in x.
func (c *checker) define(x context, d *ast.Fn) model.Expr {
	for _, l := range d.Lets {
		x = x.with(l.Target.Name.Name, c.expr(x, l.Value), l.Span)
	}
	return c.expr(x, d.Result)
}

// at gives a node that is inlined from the function table the place of the call.
func (c *checker) at(s source.Span, e model.Expr) model.Expr {
	n := retype(e, e.Type())
	model.BaseOf(n).S = s
	return n
}

func (c *checker) notAFunction(x context, e *ast.Call, fun *ast.Name, g *entity) {
	if g != nil {
		if g.kind == laterName {
			return
		}
		d := c.errorf(CodeKind, fun.Span, "%q is %s, not a function; index with %s[…], multiply with *", fun.Name,
			g.kind, fun.Name)
		d.Relate(g.span, "declared here")
		moves := g.kind == stateName || g.kind == letName || g.kind == controlName
		switch {
		case x.place != placeGoal && moves && len(e.Args) == 1 &&
			c.mentionsTime(x, e.Args[0].Value):
			d.Message = fmt.Sprintf("%q is %s, not a function; write %s for its value now, and delay(%s, tau) for the "+
				"one at t - tau", fun.Name, g.kind, fun.Name, fun.Name)
		case x.place == placeGoal && moves:
			d.Message = fmt.Sprintf("%q is %s, not a function; its value at a time is sum_at(time, %s), at the end "+
				"final(%s)", fun.Name, g.kind, fun.Name, fun.Name)
		}
		return
	}
	if !fun.Quoted && parser.Reserved(fun.Name) {
		return // the parser has reported that it is no name
	}
	c.errorf(CodeUndefined, fun.Span, "there is no function %q", fun.Name).Later(func(d *diag.Diagnostic) {
		var known []string
		for n, g := range c.namesOf(x) {
			if g.kind == fnName {
				known = append(known, n)
			}
		}
		for _, f := range stdlib.Funcs() {
			known = append(known, f.Name)
		}
		if hint := stdlib.Foreign(fun.Name); hint != "" {
			d.Message += "; " + hint
		} else if best := nearest(fun.Name, known); best != "" {
			d.Message += fmt.Sprintf("; did you mean %q?", best)
			d.Fix(fun.Span, best, "write "+best)
		}
	})
}

// mentionsTime reports whether the name of time stands in an argument.
func (c *checker) mentionsTime(x context, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.Name); ok {
			g := c.namesOf(x)[name.Name]
			found = found || g != nil && g.kind == timeName
		}
		return !found
	})
	return found
}

// arguments elaborates positional arguments and checks their number.
func (c *checker) arguments(x context, e *ast.Call, row *stdlib.Func) ([]model.Expr, bool) {
	if len(e.For) > 0 {
		c.errorf(CodeArguments, e.Span, "%s takes no `for`; only sum, prod, mean, min, max and norm do", row.Name)
		return nil, false
	}
	args := make([]model.Expr, 0, len(e.Args))
	ok := true
	x.sparse = row.Name == "transpose" || row.Name == "rows" || row.Name == "cols"
	for i := range e.Args {
		a := &e.Args[i]
		if a.Key != nil {
			c.errorf(CodeArguments, a.Span, "%s takes no named argument %q; write %s", row.Name, a.Key.Name,
				signature(row))
			ok = false
			continue
		}
		args = append(args, c.expr(x, a.Value))
	}
	if ok && !c.arity(e.Span, row, len(args)) {
		return nil, false
	}
	return args, ok
}

func (c *checker) arity(s source.Span, row *stdlib.Func, n int) bool {
	least := len(row.Args)
	if row.MinArgs > 0 {
		least = row.MinArgs
	}
	if n >= least && n <= len(row.Args) {
		return true
	}
	want := plural(len(row.Args), "argument", "arguments")
	if least < len(row.Args) {
		want = fmt.Sprintf("%d to %s", least, want)
	}
	if (row.Name == "min" || row.Name == "max") && n > 2 {
		c.errorf(CodeArguments, s, "%s compares two values or reduces one array: %s(a, b) or %s([a, b, c])", row.Name,
			row.Name, row.Name)
		return false
	}
	c.errorf(CodeArguments, s, "%s takes %s, but %d %s; write %s", row.Name, want, n, was(n), signature(row))
	return false
}

func signature(row *stdlib.Func) string { return row.Name + "(" + strings.Join(row.Args, ", ") + ")" }

// checkRecursion reports functions that call themselves, directly or through others, whether or not they are called.
func (c *checker) checkRecursion() {
	c.recursive = map[*ast.Fn]bool{}
	seen := map[*entity]bool{}
	var path []*entity
	var visit func(g *entity)
	visit = func(g *entity) {
		seen[g] = true
		path = append(path, g)
		c.eachCall(g, func(e *ast.Call, to *entity) {
			i := slices.Index(path, to)
			switch {
			case i < 0 && !seen[to]:
				visit(to)
			case i < 0 || c.recursive[to.fn]:
			default:
				names := ""
				for _, f := range path[i:] {
					c.recursive[f.fn] = true
					names += f.name + " → "
				}
				c.errorf(CodeRecursion, e.Span, "function %q calls itself (%s); functions are expanded where they are "+
					"called, so write a loop: sum(… for …)", to.name, names+to.name).Relate(to.span, "declared here")
			}
		})
		path = path[:len(path)-1]
	}
	for _, g := range c.order {
		if g.kind == fnName && !seen[g] {
			visit(g)
		}
	}
	for _, name := range sortedKeys(c.modules) {
		if m := c.modules[name]; m != nil {
			for _, g := range m.own {
				if g.kind == fnName && !seen[g] {
					visit(g)
				}
			}
		}
	}
}

// eachCall calls visit for the calls in the body of a function, and the functions that they name. Functions of modules
// that are named with their module, as kin.hill, are left out: no module imports itself, so none leads back.
func (c *checker) eachCall(g *entity, visit func(e *ast.Call, to *entity)) {
	names := c.namesOf(context{module: g.home})
	ast.Inspect(g.fn, func(n ast.Node) bool {
		if e, ok := n.(*ast.Call); ok {
			if name, ok := strip(e.Fun).(*ast.Name); ok {
				if to := names[name.Name]; to != nil && to.kind == fnName && to.fn != nil {
					visit(e, to)
				}
			}
		}
		return true
	})
}

// inline elaborates a call of a user's function: its body, with the arguments in place of the
// parameters.
func (c *checker) inline(x context, e *ast.Call, g *entity) model.Expr {
	fn := g.fn
	if c.recursive[fn] {
		return bad(e.Span)
	}
	if len(c.inlining) > 200 {
		c.errorf(CodeSize, e.Span, "functions call each other more than 200 deep")
		return bad(e.Span)
	}
	y := context{place: x.place, guards: x.guards, body: x.body, limits: x.limits, limit: x.limit, module: g.home}
	args := make([]model.Expr, 0, len(e.Args))
	ok := true
	if len(e.For) > 0 {
		c.errorf(CodeArguments, e.Span, "%s takes no `for`; put it inside sum(… for …) or an array", fn.Name.Name)
		return bad(e.Span)
	}
	byName := map[string]model.Expr{}
	for i := range e.Args {
		a := &e.Args[i]
		v := c.expr(x, a.Value)
		if a.Key == nil {
			args = append(args, v)
			continue
		}
		byName[a.Key.Name] = v
		known := false
		for k, p := range fn.Params {
			known = known || p.Name.Name == a.Key.Name && k >= len(args)
		}
		if !known {
			c.errorf(CodeArguments, a.Span, "%s has no parameter %q left to set", fn.Name.Name, a.Key.Name).
				Relate(fn.Name.Span, "declared here")
			ok = false
		}
	}
	if ok && len(args)+len(byName) != len(fn.Params) {
		names := make([]string, len(fn.Params))
		for i, p := range fn.Params {
			names[i] = p.Name.Name
		}
		n := len(args) + len(byName)
		c.errorf(CodeArguments, e.Span, "%s takes %s, but %d %s; write %s(%s)", fn.Name.Name,
			plural(len(fn.Params), "argument", "arguments"), n, was(n), fn.Name.Name, strings.Join(names, ", ")).
			Relate(fn.Name.Span, "declared here")
		ok = false
	}
	if !ok {
		return bad(e.Span)
	}
	sizes := map[string]int{}
	for i, p := range fn.Params {
		v, positional := byName[p.Name.Name], i < len(args)
		if positional {
			v = args[i]
		}
		if v == nil {
			c.errorf(CodeArguments, e.Span, "%s has no value for parameter %q", fn.Name.Name, p.Name.Name)
			return bad(e.Span)
		}
		if isBad(v) {
			ok = false
			y = y.with(p.Name.Name, v, p.Name.Span)
			continue
		}
		ok = c.parameter(y, fn, p, v, sizes) && ok
		y = y.with(p.Name.Name, v, p.Name.Span)
	}
	if !ok {
		return bad(e.Span)
	}
	for _, p := range fn.Params {
		for _, d := range p.Dims {
			if n, is := sizes[d.Name]; is && d.Name != "" && y.scope.find(d.Name) == nil {
				y = y.with(d.Name, number(float64(n), units.Unit{}, d.Span), d.Span)
			}
		}
	}
	c.inlining = append(c.inlining, fn)
	defer func() { c.inlining = c.inlining[:len(c.inlining)-1] }()
	if y, ok = c.localLets(y, fn.Lets); !ok {
		return bad(e.Span)
	}
	v := c.expr(y, fn.Result)
	if isBad(v) {
		return bad(e.Span)
	}
	if fn.Unit != nil {
		u := c.unit(fn.Unit)
		if !bare(v) {
			c.expectUnit("the result of "+fn.Name.Name, v, u, fn.Unit.Span)
		}
		t := v.Type()
		t.Unit = u
		v = retype(v, t)
	}
	return v
}

// parameter checks an argument against the shape and unit of its parameter. The map sizes binds the
// names of dimensions.
func (c *checker) parameter(x context, fn *ast.Fn, p *ast.FnParam, v model.Expr, sizes map[string]int) bool {
	shape := v.Type().Shape
	if len(p.Dims) > 0 {
		match := len(shape) == len(p.Dims)
		for k := 0; match && k < len(shape); k++ {
			d := p.Dims[k]
			switch {
			case d.All:
			case d.Name != "":
				want, bound := sizes[d.Name]
				if g := c.namesOf(x)[d.Name]; !bound && g != nil && g.kind == constName {
					c.resolve(g)
					if k, is := g.value.(*model.Const); is && len(k.Data) == 1 {
						want, bound = int(k.Data[0]), true
					}
				}
				if bound && want != shape[k] {
					match = false
				}
				sizes[d.Name] = shape[k]
			default:
				match = d.Size == shape[k]
			}
		}
		if !match {
			d := c.errorf(CodeShape, v.Span(), "argument %q of %s is %s, and the function wants %s", p.Name.Name,
				fn.Name.Name, shapeOf(v), p.Span.Text()).Relate(p.Span, "declared here")
			if name := p.Dims[0].Name; len(p.Dims) == 1 && len(shape) == 0 && p.Unit == nil && name != "" {
				if _, is := units.Lookup(name); is {
					unit := p.Name.Name + ": [" + name + "]"
					d.Fix(p.Span, unit, "brackets behind a name are a shape; write a unit behind a colon, "+unit)
				}
			}
			return false
		}
	}
	if p.Unit != nil && !zero(v) {
		c.expectUnit(fmt.Sprintf("argument %q of %s", p.Name.Name, fn.Name.Name), v, c.unit(p.Unit), p.Unit.Span)
	}
	return true
}

// localLets elaborates the lets of a function or event body, in order.
func (c *checker) localLets(x context, lets []*ast.Let) (context, bool) {
	ok := true
	done := map[string]bool{}
	for i, l := range lets {
		name := l.Target.Name.Name
		if done[name] {
			continue
		}
		done[name] = true
		pieces := []*ast.Let{l}
		for _, m := range lets[i+1:] {
			if m.Target.Name.Name != name {
				continue
			}
			if l.Target.Subs == nil || m.Target.Subs == nil {
				c.errorf(CodeDuplicate, m.Target.Span, "%q is declared twice; rename one of them", name).
					Relate(l.Target.Span, "declared here")
				ok = false
				continue
			}
			pieces = append(pieces, m)
		}
		v := c.letValue(x, pieces)
		ok = ok && !isBad(v)
		x = x.with(name, v, l.Target.Name.Span)
	}
	return x, ok
}

// reduceFor elaborates sum(e for i in 1:n) and similar reductions.
func (c *checker) reduceFor(x context, e *ast.Call, name string) model.Expr {
	row := stdlib.Find(name, stdlib.Reduction)
	if row == nil {
		c.errorf(CodeArguments, e.Span, "%s takes no `for`; only sum, prod, mean, min, max and norm do", name)
		return bad(e.Span)
	}
	y, indices, ok := c.binders(x, e.For)
	if !ok || len(e.Args) != 1 {
		return bad(e.Span)
	}
	body := c.expr(y, e.Args[0].Value)
	if isBad(body) || !c.numeric(body, name, body.Span()) {
		return bad(e.Span)
	}
	if len(body.Type().Shape) > 0 {
		// sum(v for i …) of vectors reduces the array of all elements.
		return c.reduction(e.Span, row, c.assembleOver(e.Span, indices, body))
	}
	n := 1
	for _, ix := range indices {
		n *= ix.Count
	}
	if n == 0 {
		switch name {
		case "sum", "norm":
			return number(0, units.Unit{}, e.Span)
		case "prod":
			return number(1, units.One, e.Span)
		}
		c.errorf(CodeRange, e.Span, "%s of an empty range has no value", name)
		return bad(e.Span)
	}
	t := types.Type{Kind: types.Real, Unit: body.Type().Unit}
	make1 := func(name string, body model.Expr, u units.Unit) model.Expr {
		t.Unit = u
		node := model.Seal(&model.Reduce{
			Base: model.NewBase(t, e.Span), Fn: stdlib.Find(name, stdlib.Reduction), Indices: indices,
			Body: body,
		})
		return c.foldReduce(node)
	}
	switch name {
	case "mean":
		return c.apply(stdlib.Operator("/"), e.Span, make1("sum", body, t.Unit), number(float64(n), units.One, e.Span))
	case "norm":
		square := c.apply(stdlib.Operator("*"), e.Span, body, body)
		return c.apply(stdlib.Find("sqrt", stdlib.Elementwise), e.Span, make1("sum", square, square.Type().Unit))
	case "prod":
		r, _ := units.MakeRatio(int64(n), 1)
		return make1("prod", body, t.Unit.Pow(r))
	}
	return make1(name, body, t.Unit)
}

// foldReduce evaluates a reduction of constants.
func (c *checker) foldReduce(e *model.Reduce) model.Expr {
	if !model.Static(e) || len(model.Free(e)) > 0 {
		return e
	}
	v, ok := c.static(e, nil)
	if !ok {
		return bad(e.S)
	}
	return number(v[0], e.T.Unit, e.S)
}

// reduction reduces an array to a scalar.
func (c *checker) reduction(s source.Span, row *stdlib.Func, v model.Expr) model.Expr {
	if isBad(v) || !c.numeric(v, row.Name, v.Span()) {
		return bad(s)
	}
	if len(v.Type().Shape) == 0 {
		if row.Name == "min" || row.Name == "max" {
			c.errorf(CodeArguments, s, "%s of one scalar; write %s(a, b), or give an array", row.Name, row.Name)
			return bad(s)
		}
		if row.Name == "norm" {
			return c.apply(stdlib.Find("abs", stdlib.Elementwise), s, v)
		}
		return v
	}
	n := v.Type().Shape.Size()
	of := func(name string, v model.Expr, u units.Unit) model.Expr {
		return model.Seal(&model.Call{
			Base: model.NewBase(types.Type{Kind: types.Real, Unit: u}, s), Fn: stdlib.Find(name, stdlib.Reduction),
			Args: []model.Expr{v},
		})
	}
	u := v.Type().Unit
	var e model.Expr
	switch row.Name {
	case "mean":
		e = c.apply(stdlib.Operator("/"), s, of("sum", v, u), number(float64(n), units.One, s))
	case "norm":
		square := c.apply(stdlib.Operator("*"), s, v, v)
		e = c.apply(stdlib.Find("sqrt", stdlib.Elementwise), s, of("sum", square, square.Type().Unit))
	case "prod":
		r, _ := units.MakeRatio(int64(n), 1)
		e = of("prod", v, u.Pow(r))
	default:
		e = of(row.Name, v, u)
	}
	if model.Static(e) && len(model.Free(e)) == 0 {
		d, ok := c.static(e, nil)
		if !ok {
			return bad(s)
		}
		return number(d[0], e.Type().Unit, s)
	}
	return e
}

// structure elaborates dot, outer, transpose and diag.
func (c *checker) structure(s source.Span, row *stdlib.Func, args []model.Expr) model.Expr {
	for _, a := range args {
		if !c.numeric(a, row.Name, a.Span()) {
			return bad(s)
		}
	}
	if c.largeSparse(args[0]) {
		return c.transposed(args[0], s)
	}
	t := types.Type{Kind: types.Real, Unit: args[0].Type().Unit}
	a := args[0].Type().Shape
	wrong := func(want string) model.Expr {
		got := make([]string, len(args))
		for i, x := range args {
			got[i] = x.Type().Shape.String()
		}
		c.errorf(CodeShape, s, "%s takes %s, and got %s", row.Name, want, strings.Join(got, " and "))
		return bad(s)
	}
	switch row.Name {
	case "dot", "outer":
		b := args[1].Type().Shape
		t.Unit = t.Unit.Mul(args[1].Type().Unit)
		if len(a) != 1 || len(b) != 1 {
			return wrong("two vectors")
		}
		if row.Name == "dot" && a[0] != b[0] {
			return wrong("two vectors of one length")
		}
		if row.Name == "outer" {
			t.Shape = types.Shape{a[0], b[0]}
		}
	case "transpose":
		if len(a) != 2 {
			return wrong("a matrix")
		}
		t.Shape = types.Shape{a[1], a[0]}
	case "diag":
		switch {
		case len(a) == 1:
			t.Shape = types.Shape{a[0], a[0]}
		case len(a) == 2 && a[0] == a[1]:
			t.Shape = types.Shape{a[0]}
		default:
			return wrong("a vector or a square matrix")
		}
	}
	if !c.fits(t.Shape, s) {
		return bad(s)
	}
	v := c.fold(&model.Call{Base: model.NewBase(t, s), Fn: row, Args: args})
	if m := c.sparse[args[0]]; m != nil && row.Name == "transpose" {
		return c.markSparse(v, &sparse{m.entries.Transpose(), false})
	}
	return v
}
