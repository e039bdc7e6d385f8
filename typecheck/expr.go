package typecheck

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

var nan = math.NaN()

// count counts a node. It stops unlimited expansion, and checks for which nobody waits.
func (c *checker) count(s source.Span) bool {
	c.nodes++
	if c.nodes%256 == 1 {
		c.list.Look()
	}
	if c.nodes > maxNodes && !c.tooMany {
		c.tooMany = true
		c.errorf(CodeSize, s, "the model expands to more than %d expressions; use arrays and loops instead of nested "+
			"functions", maxNodes)
	}
	return !c.tooMany
}

// expr elaborates e. It always returns a node, which is bad after an error.
func (c *checker) expr(x context, e ast.Expr) model.Expr {
	if e == nil {
		return bad(source.Span{File: c.file.Source})
	}
	if !c.count(e.Pos()) {
		return bad(e.Pos())
	}
	if _, parens := e.(*ast.Paren); parens || !x.sparse {
		v := c.elaborate(x, e)
		if !x.sparse && c.largeSparse(v) {
			return c.onlyMultiplied(e, v)
		}
		return v
	}
	x.sparse = false
	return c.elaborate(x, e)
}

func (c *checker) elaborate(x context, e ast.Expr) model.Expr {
	switch e := e.(type) {
	case *ast.Number:
		u := units.One
		if e.Unit != nil {
			u = c.unit(e.Unit)
		} else if e.Value == 0 {
			u = units.Unit{} // 0 has every unit
		}
		return number(e.Value, u, e.Span)
	case *ast.String:
		if x.texts() {
			return c.text([]string{e.Value}, nil, e.Span)
		}
		return model.Seal(&model.Const{
			Base: model.NewBase(types.Type{Kind: types.String}, e.Span),
			Data: []float64{nan},
		})
	case *ast.Name:
		return c.name(x, e.Ident)
	case *ast.Paren:
		return c.expr(x, e.X)
	case *ast.Unary:
		return c.unary(x, e)
	case *ast.Binary:
		return c.binary(x, e)
	case *ast.If:
		return c.ifExpr(x, e, 0)
	case *ast.Call:
		return c.call(x, e)
	case *ast.Index:
		return c.index(x, e)
	case *ast.Member:
		return c.member(x, e)
	case *ast.As:
		return c.as(x, e)
	case *ast.Array:
		return c.array(x, e)
	case *ast.Entry:
		c.expr(x, e.Value)
		c.errorf(CodeArguments, e.Key.Span, "an array holds values without names, in order: [1, 2]")
		return bad(e.Span)
	case *ast.BadExpr:
		return bad(e.Span)
	}
	panic("typecheck: unknown expression")
}

func (c *checker) unary(x context, e *ast.Unary) model.Expr {
	v := c.expr(x, e.X)
	switch e.Op {
	case ast.Not:
		return c.logic("not", e.Span, v)
	case ast.Plus:
		c.numeric(v, "+", e.X.Pos())
		return v
	}
	return c.apply(stdlib.Operator("neg"), e.Span, v)
}

func (c *checker) binary(x context, e *ast.Binary) model.Expr {
	if e.Op == ast.Crosses {
		c.errorf(CodeCondition, e.Span, "`crosses` stands only in the condition of an event: event e when x crosses "+
			"1 { … }")
		c.expr(x, e.X)
		c.expr(x, e.Y)
		return bad(e.Span)
	}
	x.sparse, x.compared = e.Op == ast.MatMul, e.Op == ast.Equal || e.Op == ast.NotEqual
	a := c.expr(x, e.X)
	if _, converts := e.Y.(*ast.As); converts {
		c.operand = e
	}
	b := c.expr(x, e.Y)
	switch e.Op {
	case ast.And, ast.Or:
		return c.logic(e.Op.String(), e.Span, a, b)
	case ast.MatMul:
		return c.matmul(e, a, b)
	case ast.Greater:
		return c.compare(x, "<", e, b, a)
	case ast.GreaterEq:
		return c.compare(x, "<=", e, b, a)
	case ast.Less, ast.LessEq:
		return c.compare(x, e.Op.String(), e, a, b)
	case ast.Equal, ast.NotEqual:
		if anyBad(a, b) {
			return bad(e.Span)
		}
		if a.Type().Kind == types.String || b.Type().Kind == types.String {
			if x.texts() {
				return c.compareTexts(e, a, b)
			}
			c.errorf(CodeType, e.Span, "texts are compared only in `use … where`, and in the values of an experiment "+
				"that is made from a table")
			return bad(e.Span)
		}
		return c.compare(x, e.Op.String(), e, a, b)
	}
	return c.apply(stdlib.Operator(e.Op.String()), e.Span, a, b)
}

// numeric reports an operand that is not a number.
func (c *checker) numeric(v model.Expr, what string, s source.Span) bool {
	switch v.Type().Kind {
	case types.Bool:
		d := c.errorf(CodeType, s, "%q needs numbers, and this is a condition; choose with: if … then 1 else 0", what)
		if value := map[string]string{"true": "1", "false": "0"}[v.Span().Text()]; value != "" &&
			v.Span().File == s.File {
			d.Message = fmt.Sprintf("%q needs numbers; write %s for %s, and name > 0 for a condition", what, value,
				v.Span().Text())
			d.Fix(v.Span(), value, "write "+value)
		}
		return false
	case types.String:
		c.errorf(CodeType, s, "%q needs numbers, and this is a text", what)
		return false
	}
	return !isBad(v)
}

func (c *checker) logic(op string, s source.Span, args ...model.Expr) model.Expr {
	ok := true
	for _, a := range args {
		if k := a.Type().Kind; k != types.Bool && k != types.Invalid {
			c.errorf(CodeType, a.Span(), "`%s` joins conditions, and this is a %s; write a comparison", op, k)
			ok = false
		}
	}
	if !ok || anyBad(args...) {
		return bad(s)
	}
	return c.elementwise(stdlib.Operator(op), s, types.Bool, args...)
}

func (c *checker) compare(x context, op string, e *ast.Binary, a, b model.Expr) model.Expr {
	word := e.Op.String()
	if !c.numeric(a, word, a.Span()) || !c.numeric(b, word, b.Span()) {
		return bad(e.Span)
	}
	if x.place != placeWhere || !bare(a) && !bare(b) { // a bare number takes the unit of the column
		c.sameUnit(word, e.Span, a, b)
	}
	return c.elementwise(stdlib.Operator(op), e.Span, types.Bool, a, b)
}

// apply applies an elementwise row to numbers.
func (c *checker) apply(fn *stdlib.Func, s source.Span, args ...model.Expr) model.Expr {
	what := fn.Name
	if what == "neg" {
		what = "-"
	}
	ok := true
	for _, a := range args {
		ok = c.numeric(a, what, a.Span()) && ok
	}
	if !ok {
		return bad(s)
	}
	kind := types.Real
	switch fn.Name {
	case "+", "-", "*", "neg", "min", "max", "mod", "abs":
		kind = types.Int
		for _, a := range args {
			if a.Type().Kind != types.Int {
				kind = types.Real
			}
		}
	}
	return c.elementwise(fn, s, kind, args...)
}

// elementwise checks shapes and units and makes the node.
func (c *checker) elementwise(fn *stdlib.Func, s source.Span, kind types.Kind, args ...model.Expr) model.Expr {
	shape, ok := c.broadcastShape(fn.Name, s, args...)
	if !ok {
		return bad(s)
	}
	u, ok := c.resultUnit(fn, s, args)
	if !ok {
		return bad(s)
	}
	if kind == types.Bool {
		u = units.Unit{}
	}
	return c.fold(&model.Call{
		Base: model.NewBase(types.Type{Kind: kind, Shape: shape, Unit: u}, s), Fn: fn,
		Args: args,
	})
}

// broadcastShape returns the common shape of operands: equal shapes, or scalars.
func (c *checker) broadcastShape(op string, s source.Span, args ...model.Expr) (types.Shape, bool) {
	var shape types.Shape
	for _, a := range args {
		t := a.Type().Shape
		switch {
		case len(t) == 0:
		case shape == nil:
			shape = t
		case !shape.Equal(t):
			if op == "neg" {
				op = "-"
			}
			d := c.errorf(CodeShape, s, "shapes %s and %s do not match for %q (only scalars broadcast)", shape, t, op)
			if op == "*" && shape[len(shape)-1] == t[0] {
				d.Message += "; the product of matrices is @"
			}
			d.Relate(args[0].Span(), "%s", shapeOf(args[0])).Relate(a.Span(), "%s", shapeOf(a))
			return nil, false
		}
	}
	return shape, true
}

func shapeOf(e model.Expr) string {
	if len(e.Type().Shape) == 0 {
		return "a scalar"
	}
	return "shape " + e.Type().Shape.String()
}

// foldable is the size of constant arrays up to which calls on them are evaluated here.
const foldable = 4096

// fold evaluates a call on constants: scalars, small arrays, and, element by element, arrays that
// one number fills.
func (c *checker) fold(e *model.Call) model.Expr {
	v := folded(e)
	c.course.Follows(v, e.Args...)
	return v
}

func folded(e *model.Call) model.Expr {
	all, fills := true, e.Fn.Class <= stdlib.Logic
	for _, a := range e.Args {
		k, ok := a.(*model.Const)
		all = all && ok && (len(k.Data) == 1 || len(k.Data) <= foldable)
		fills = fills && ok && len(k.Data) == 1
	}
	switch {
	case !all || !fills && (e.T.Shape.Size() > foldable ||
		slices.ContainsFunc(e.Args, func(a model.Expr) bool { return a.Type().Shape.Size() > foldable })):
		return model.Seal(e)
	case fills && len(e.T.Shape) > 0:
		args := make([]*tabulate.Value, len(e.Args))
		for i, a := range e.Args {
			args[i] = &tabulate.Value{Data: a.(*model.Const).Data}
		}
		return model.Seal(&model.Const{Base: model.NewBase(e.T, e.S), Data: tabulate.ApplyFunc(e.Fn, nil, args).Data})
	}
	v := tabulate.Tabulate(model.Seal(e), nil)
	if len(e.T.Shape) == 0 && e.T.Kind == types.Real && whole(v[0]) && plain(e.T.Unit) {
		e.T.Kind = types.Int
	}
	return model.Seal(&model.Const{Base: model.NewBase(e.T, e.S), Data: v})
}

func plain(u units.Unit) bool { return !u.Known() || u.Plain() }

// ifExpr elaborates arm k of e and the arms after it.
func (c *checker) ifExpr(x context, e *ast.If, k int) model.Expr {
	if k == len(e.Conds) {
		return c.expr(x, e.Else)
	}
	cond := c.expr(x, e.Conds[k])
	kind := cond.Type().Kind
	if kind != types.Bool && kind != types.Invalid {
		c.errorf(CodeType, cond.Span(), "`if` needs a condition, and this is a %s; write a comparison", kind)
		cond = bad(cond.Span())
	}
	yes, no := x, x
	static := !isBad(cond) && model.Static(cond)
	if static && len(cond.Type().Shape) == 0 {
		yes, no = x.under(cond, false), x.under(cond, true)
	}
	then, els := c.expr(yes, e.Thens[k]), c.ifExpr(no, e, k+1)
	if anyBad(cond, then, els) {
		return bad(e.Span)
	}
	t, f := then.Type().Kind, els.Type().Kind
	if t == types.String && f == types.String {
		c.errorf(CodeType, e.Span, "`if` chooses between numbers or conditions, and these are texts")
		return bad(e.Span)
	}
	if (t == types.Bool) != (f == types.Bool) || t == types.String || f == types.String {
		c.errorf(CodeType, e.Span, "the branches of `if` differ: one is a %s, the other a %s", t, f)
		return bad(e.Span)
	}
	shape, ok := c.broadcastShape("if", e.Span, cond, then, els)
	if !ok {
		return bad(e.Span)
	}
	kind = types.Real
	if t == types.Bool {
		kind = types.Bool
	} else if t == types.Int && f == types.Int {
		kind = types.Int
	}
	u := c.joinUnits("if", e.Span, then, els)
	if k, ok := cond.(*model.Const); ok && len(k.T.Shape) == 0 {
		taken := els
		if k.Data[0] != 0 {
			taken = then
		}
		if shape.Equal(taken.Type().Shape) {
			return taken
		}
	}
	return model.Seal(&model.If{
		Base: model.NewBase(types.Type{Kind: kind, Shape: shape, Unit: u}, e.Span), Cond: cond, Then: then, Else: els,
		Static: static,
	})
}

// matmul checks a matrix product.
func (c *checker) matmul(e *ast.Binary, a, b model.Expr) model.Expr {
	if !c.numeric(a, "@", a.Span()) || !c.numeric(b, "@", b.Span()) {
		return bad(e.Span)
	}
	s, t := a.Type().Shape, b.Type().Shape
	var shape types.Shape
	ok := len(s) >= 1 && len(s) <= 2 && len(t) >= 1 && len(t) <= 2 && s[len(s)-1] == t[0]
	if !ok {
		hint := ""
		switch {
		case len(s) == 0 || len(t) == 0:
			hint = "; multiply by a scalar with *"
		case len(s) == 2 && len(t) == 1 && s[0] == t[0]:
			hint = "; did you mean transpose(A) @ x?"
		}
		c.errorf(CodeShape, e.OpAt, "cannot multiply shapes %s @ %s%s", brackets(s), brackets(t), hint).
			Relate(a.Span(), "%s", shapeOf(a)).Relate(b.Span(), "%s", shapeOf(b))
		return bad(e.Span)
	}
	if v := c.sparseProduct(e, a, b); v != nil {
		return v
	}
	if len(s) == 2 {
		shape = append(shape, s[0])
	}
	if len(t) == 2 {
		shape = append(shape, t[1])
	}
	return c.fold(&model.Call{Base: model.NewBase(types.Type{
		Kind: types.Real, Shape: shape,
		Unit: a.Type().Unit.Mul(b.Type().Unit),
	},
		e.Span), Fn: stdlib.Operator("@"), Args: []model.Expr{a, b}})
}

func brackets(s types.Shape) string {
	if len(s) == 0 {
		return "[]"
	}
	return s.String()
}

// array elaborates a literal or a comprehension.
func (c *checker) array(x context, e *ast.Array) model.Expr {
	var v model.Expr
	if len(e.For) > 0 {
		v = c.comprehension(x, e)
	} else {
		v = c.stack(x, e)
	}
	if e.Unit == nil || isBad(v) {
		return v
	}
	return c.withUnit(v, c.unit(e.Unit), e.Unit.Span)
}

func (c *checker) stack(x context, e *ast.Array) model.Expr {
	if len(e.Elems) == 0 {
		c.errorf(CodeShape, e.Span, "an array has at least one element")
		return bad(e.Span)
	}
	elems := make([]model.Expr, len(e.Elems))
	constant, ok := true, true
	kind := types.Int
	var u units.Unit
	for i, a := range e.Elems {
		elems[i] = c.expr(x, a)
		if isBad(elems[i]) {
			ok = false
			continue
		}
		t := elems[i].Type()
		if t.Kind == types.String {
			c.errorf(CodeType, elems[i].Span(), "an array of texts stands only in a data item")
			return bad(e.Span)
		}
		if t.Kind == types.Bool {
			c.errorf(CodeType, elems[i].Span(), "an array holds numbers, and this is a condition; choose with: if … "+
				"then 1 else 0")
			return bad(e.Span)
		}
		if t.Kind != types.Int {
			kind = types.Real
		}
		if ok && i > 0 && !t.Shape.Equal(elems[0].Type().Shape) {
			c.errorf(CodeShape, elems[i].Span(), "element %d is %s, but element 1 is %s; all have one shape", i+1,
				t.Shape, elems[0].Type().Shape).
				Relate(elems[0].Span(), "element 1")
			ok = false
		}
		if _, is := elems[i].(*model.Const); !is {
			constant = false
		}
	}
	if !ok {
		return bad(e.Span)
	}
	u = elems[0].Type().Unit
	for _, el := range elems[1:] {
		u = c.mergeUnits("an array literal", u, elems[0], el)
	}
	shape := append(types.Shape{len(elems)}, elems[0].Type().Shape...)
	if len(shape) > maxRank {
		c.errorf(CodeShape, e.Span, "arrays have at most %d dimensions", maxRank)
		return bad(e.Span)
	}
	node := model.Seal(&model.Stack{
		Base:  model.NewBase(types.Type{Kind: kind, Shape: shape, Unit: u}, e.Span),
		Elems: elems,
	})
	if constant {
		return model.Seal(&model.Const{Base: model.NewBase(node.T, e.Span), Data: tabulate.Tabulate(node, nil)})
	}
	return node
}

// comprehension elaborates [e for i in 1:n, j in 1:m]. Its axes are one for each binder, then those
// of e.
func (c *checker) comprehension(x context, e *ast.Array) model.Expr {
	y, indices, ok := c.binders(x, e.For)
	if !ok || len(e.Elems) != 1 {
		return bad(e.Span)
	}
	v := c.expr(y, e.Elems[0])
	if isBad(v) {
		return v
	}
	if !c.numeric(v, "[… for …]", v.Span()) {
		return bad(e.Span)
	}
	return c.assembleOver(e.Span, indices, v)
}

// assembleOver makes an array of v with one new leading axis for each index.
func (c *checker) assembleOver(s source.Span, indices []*model.Index, v model.Expr) model.Expr {
	var shape types.Shape
	subs := []model.Sub{}
	for _, ix := range indices {
		if ix.Count == 0 {
			c.errorf(CodeRange, ix.Span, "the range of %q is empty, and an array has at least one element", ix.Name)
			return bad(s)
		}
		shape = append(shape, ix.Count)
		subs = append(subs, model.Sub{At: c.position(ix)})
	}
	for _, n := range v.Type().Shape {
		shape = append(shape, n)
		subs = append(subs, model.Sub{Lo: 1, Step: 1, Count: n})
	}
	if len(shape) > maxRank {
		c.errorf(CodeShape, s, "this makes an array of %d dimensions; arrays have at most %d", len(shape), maxRank)
		return bad(s)
	}
	if !c.fits(shape, s) {
		return bad(s)
	}
	t := v.Type()
	t.Shape = shape
	return model.Seal(&model.Assemble{
		Base:   model.NewBase(t, s),
		Pieces: []model.Piece{{Indices: indices, Subs: subs, Value: v, Span: s}},
	})
}

// position returns the 1-based position of an index among its values.
func (c *checker) position(ix *model.Index) model.Expr {
	return c.positionOf(terms.LoopVar(ix, ix.Span), ix, ix.Span)
}

// positionOf returns the 1-based position of value v among those of ix: (v - Lo)/Step + 1.
func (c *checker) positionOf(v model.Expr, ix *model.Index, s source.Span) model.Expr {
	num := func(n int) model.Expr { return number(float64(n), units.Unit{}, s) }
	switch {
	case ix.Lo == 1 && ix.Step == 1:
		return v
	case ix.Step == 1:
		return c.apply(stdlib.Operator("+"), s, v, num(1-ix.Lo))
	}
	v = c.apply(stdlib.Operator("/"), s, c.apply(stdlib.Operator("-"), s, v, num(ix.Lo)), num(ix.Step))
	return c.apply(stdlib.Operator("+"), s, v, num(1))
}

// fits reports an array or iteration space beyond the limit.
func (c *checker) fits(shape types.Shape, s source.Span) bool {
	n := 1.0
	for _, d := range shape {
		n *= float64(d)
	}
	if n > float64(c.env.MaxElements) {
		c.errorf(CodeSize, s, "an array of shape %s has %.3g elements; the limit is %.3g", shape, n,
			float64(c.env.MaxElements))
		return false
	}
	return true
}

// static evaluates a compile-time expression for all values of axes, or reports that this is too
// much work.
func (c *checker) static(e model.Expr, axes []*model.Index) (v []float64, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(tabulate.TooLarge); !is {
				panic(r)
			}
			c.errorf(CodeSize, e.Span(), "this takes more than %.3g elements at compile time",
				float64(c.env.MaxElements))
			v, ok = nil, false
		}
	}()
	n := float64(e.Type().Shape.Size())
	for _, a := range axes {
		n *= float64(a.Count)
	}
	if n > float64(c.env.MaxElements) {
		panic(tabulate.TooLarge{})
	}
	ev := tabulate.Evaluator{Limit: c.env.MaxElements, List: c.list}
	return ev.Eval(e).Over(axes), true
}

// constant elaborates a scalar that is known at compile time and depends on no loop variables.
func (c *checker) constant(x context, e ast.Expr, what string) (float64, model.Expr, bool) {
	d, v, ok := c.constants(x, e, what)
	if ok && len(v.Type().Shape) != 0 {
		c.errorf(CodeShape, v.Span(), "%s is a single number, and this has shape %s", what, v.Type().Shape)
		ok = false
	}
	if !ok {
		return 0, v, false
	}
	return d[0], v, true
}

// constants is constant for arrays too: their elements, row by row.
func (c *checker) constants(x context, e ast.Expr, what string) ([]float64, model.Expr, bool) {
	v := c.expr(x.at(&place{name: what, knows: "consts", fixed: true}), e)
	if isBad(v) || !c.numeric(v, what, v.Span()) {
		return nil, v, false
	}
	if free := model.Free(v); len(free) > 0 {
		c.errorf(CodePlace, v.Span(), "%s is fixed at compile time and cannot use the loop variable %q", what,
			free[0].Name)
		return nil, v, false
	}
	d, ok := c.static(v, nil)
	return d, v, ok
}

// integer is constant for whole numbers within [lo, hi].
func (c *checker) integer(x context, e ast.Expr, what string, lo, hi int) (int, bool) {
	v, node, ok := c.constant(x, e, what)
	if !ok {
		return 0, false
	}
	c.counts(x, e)
	var d *diag.Diagnostic
	switch {
	case !whole(v):
		d = c.errorf(CodeSubscript, e.Pos(), "%s is a whole number, and this is %g", what, v)
	case v > float64(hi) && hi == c.env.MaxElements:
		d = c.errorf(CodeSize, e.Pos(), "%s is %g; the limit is %g", what, v, float64(hi))
	case v < float64(lo):
		d = c.errorf(CodeRange, e.Pos(), "%s is %g; it must be at least %d", what, v, lo)
	case v > float64(hi):
		d = c.errorf(CodeRange, e.Pos(), "%s is %g; it must be at most %d", what, v, hi)
	default:
		return int(v), true
	}
	at, here := node.Span(), e.Pos()
	if at.File != here.File || at.Start < here.Start || at.End > here.End { // that of a const is where it is declared
		d.Relate(at, "%q is declared here", at.Text())
	}
	return 0, false
}
