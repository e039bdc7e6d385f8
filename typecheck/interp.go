package typecheck

import (
	"fmt"
	"math"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// interpKinds lists the kinds of interpolation.
var interpKinds = []string{"linear", "spline", "monotone", "previous", "next"}

// interp elaborates interp(t, y, q, kind = …). Every continuous kind is written as the first value plus, for
// each interval, a polynomial in the part w of the interval that lies below q. This form is
// constant outside the knots, needs no search, and has kinks only where min and max have them.
// Where q is an affine function of time, lowering turns these kinks into ends of steps. Long tables
// that are read at such a q have a Search as well, which lowering takes instead.
func (c *checker) interp(x context, e *ast.Call, row *stdlib.Func) model.Expr {
	kind := "linear"
	positional := *e
	positional.Args = nil
	for i := range e.Args {
		a := &e.Args[i]
		if a.Key == nil {
			positional.Args = append(positional.Args, *a)
			continue
		}
		n, ok := strip(a.Value).(*ast.Name)
		if a.Key.Name != "kind" || !ok || !contains(interpKinds, n.Name) {
			word := ""
			if ok && a.Key.Name == "kind" {
				word = diag.DidYouMean(n.Name, interpKinds)
			}
			c.errorf(CodeArguments, a.Span, "write interp(t, y, q) or interp(t, y, q, kind = …) with %s%s",
				strings.Join(interpKinds, ", "), word)
			return bad(e.Span)
		}
		kind = n.Name
	}
	args, ok := []model.Expr(nil), false
	if t, y, course := courseOf(c, positional.Args); course && len(positional.Args) == 3 && len(positional.For) == 0 {
		args, ok = []model.Expr{t, y, c.expr(x, positional.Args[2].Value)}, true
	} else {
		args, ok = c.arguments(x, &positional, row)
	}
	if !ok || anyBad(args...) {
		return bad(e.Span)
	}
	t, y, q := tabulated(args[0]), tabulated(args[1]), args[2]
	for _, a := range args {
		if !c.numeric(a, "interp", a.Span()) {
			return bad(e.Span)
		}
	}
	ts := t.Type().Shape
	if len(ts) != 1 || ts[0] < 2 || !ts.Equal(y.Type().Shape) || len(q.Type().Shape) != 0 {
		c.errorf(CodeShape, e.Span, "interp takes knots and values of one length (at least 2) and a scalar, and got "+
			"%s, %s and %s", shapeOf(t), shapeOf(y), shapeOf(q))
		return bad(e.Span)
	}
	if !c.knots(t, kind) {
		return bad(e.Span)
	}
	c.sameUnit("interp", e.Span, t, q)
	return c.quietly(func() model.Expr {
		b := &table1{c: c, at: e.Span, t: t, y: y, n: ts[0]}
		var v model.Expr
		switch kind {
		case "previous":
			v = b.held(q, b.part(t, 2, b.n-1), "")
		case "next":
			v = b.next(q)
		default:
			v = b.through(q, kind)
		}
		u := y.Type()
		u.Kind, u.Shape = types.Real, nil
		return retype(v, u)
	})
}

// tabulated returns e as a constant where it is known at compile time.
func tabulated(e model.Expr) model.Expr {
	if _, is := e.(*model.Const); is || isBad(e) || !model.Static(e) || len(model.Free(e)) > 0 {
		return e
	}
	return model.Seal(&model.Const{Base: model.NewBase(e.Type(), e.Span()), Data: tabulate.Tabulate(e, nil)})
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// knots checks the knots of a table, of interp or of a control.
func (c *checker) knots(t model.Expr, kind string) bool {
	of := "interp"
	if kind == "control" {
		of = "a control"
	}
	k, is := t.(*model.Const)
	switch {
	case is:
		for i := 1; i < len(k.Data); i++ {
			if !(k.Data[i] > k.Data[i-1]) {
				c.errorf(CodeArguments, t.Span(), "the knots ascend, but knot %d is %g after %g", i+1, k.Data[i],
					k.Data[i-1])
				return false
			}
		}
		if len(k.Data) == 1 {
			c.errorf(CodeArguments, t.Span(), "the knots ascend, but all are %g", k.Data[0])
			return false
		}
	case model.Depends(t)&^model.UsesParam != 0:
		c.errorf(CodePlace, t.Span(), "the knots of %s are consts or params", of)
		return false
	case kind == "spline":
		c.errorf(CodePlace, t.Span(), "the knots of a spline are consts, because all its slopes depend on all of "+
			"them; use kind = monotone for knots that are params")
		return false
	default:
		c.ascend(t, of)
	}
	return true
}

// mostKnots is up to how many knots that are params have an assertion each, which says where they do not ascend.
const mostKnots = 256

// ascend asserts that knots that are params ascend. They belong to what of says.
func (c *checker) ascend(t model.Expr, of string) {
	n := t.Type().Shape[0]
	if c.asserted[t] {
		return
	}
	if c.asserted == nil {
		c.asserted = map[model.Expr]bool{}
	}
	c.asserted[t] = true
	less := func(a, b model.Expr) model.Expr {
		return c.quietly(func() model.Expr { return c.elementwise(stdlib.Operator("<"), t.Span(), types.Bool, a, b) })
	}
	if n > mostKnots {
		b := &table1{c: c, at: t.Span()}
		if cond := less(b.part(t, 1, n-1), b.part(t, 2, n-1)); !isBad(cond) {
			c.model.Asserts = append(c.model.Asserts, &model.Assert{
				Cond: cond, Span: t.Span(), Implied: true,
				Text: fmt.Sprintf("the knots of %s ascend, but not all of them do", of),
			})
		}
		return
	}
	one := t.Type()
	one.Shape = nil
	knot := func(i int) (model.Expr, string) {
		name := fmt.Sprintf("knot %d", i)
		if s, ok := t.(*model.Stack); ok {
			return s.Elems[i-1], fmt.Sprintf("%s, %q,", name, s.Elems[i-1].Span().Text())
		}
		at := model.Sub{At: number(float64(i), units.Unit{}, t.Span())}
		return model.Seal(&model.Access{Base: model.Base{T: one, S: t.Span()}, X: t, Subs: []model.Sub{at}}), name
	}
	for i := 1; i < n; i++ {
		a, first := knot(i)
		b, second := knot(i + 1)
		cond := less(a, b)
		if isBad(cond) || model.Static(cond) {
			continue
		}
		c.model.Asserts = append(c.model.Asserts, &model.Assert{
			Cond: cond, Span: t.Span(), Implied: true,
			Text: fmt.Sprintf("the knots of %s ascend, but %s does not lie before %s", of, first,
				strings.TrimSuffix(second, ",")),
		})
	}
}

// table1 writes the interpolation of one table.
type table1 struct {
	c    *checker
	at   source.Span
	t, y model.Expr // [n]
	n    int
}

func (b *table1) op(name string, x, y model.Expr) model.Expr {
	return b.c.apply(stdlib.Operator(name), b.at, x, y)
}

func (b *table1) of(name string, args ...model.Expr) model.Expr {
	return b.c.apply(stdlib.Find(name, stdlib.Elementwise), b.at, args...)
}

func (b *table1) num(x float64) model.Expr { return number(x, units.Unit{}, b.at) }

// part is v[lo : lo+n-1].
func (b *table1) part(v model.Expr, lo, n int) model.Expr {
	u := v.Type()
	u.Shape = types.Shape{n}
	return b.c.foldAccess(&model.Access{
		Base: model.NewBase(u, b.at), X: v,
		Subs: []model.Sub{{Lo: lo, Step: 1, Count: n}},
	})
}

// elem is v[i].
func (b *table1) elem(v model.Expr, i int) model.Expr {
	u := v.Type()
	u.Shape = nil
	return b.c.foldAccess(&model.Access{Base: model.NewBase(u, b.at), X: v, Subs: []model.Sub{{At: b.num(float64(i))}}})
}

// choose returns `if x < y then a else b`, without events.
func (b *table1) choose(x, y, then, els model.Expr) model.Expr {
	cond := b.c.elementwise(stdlib.Operator("<"), b.at, types.Bool, x, y)
	shape, _ := b.c.broadcastShape("if", b.at, cond, then, els)
	e := model.Seal(&model.If{
		Base: model.NewBase(types.Type{Kind: types.Real, Shape: shape}, b.at), Cond: cond, Then: then, Else: els,
		Static: model.Static(cond),
	})
	if model.Static(e) {
		return model.Seal(&model.Const{Base: model.NewBase(e.T, b.at), Data: tabulate.Tabulate(e, nil)})
	}
	return model.Seal(&model.NoEvent{Base: model.NewBase(e.T, b.at), X: e})
}

func (b *table1) through(q model.Expr, kind string) model.Expr {
	m := b.n - 1
	t0, t1 := b.part(b.t, 1, m), b.part(b.t, 2, m)
	h := b.op("-", t1, t0)
	slope := b.op("/", b.op("-", b.part(b.y, 2, m), b.part(b.y, 1, m)), h)
	// At a knot min and max are both the knot, so only the interval behind it has a slope there:
	// the one on the right.
	w := b.op("-", b.of("max", b.of("min", t1, q), t0), t0)
	var rise, d model.Expr
	if kind == "linear" {
		rise = b.op("*", slope, w)
	} else {
		d = b.slopes(kind, h, slope)
		d0, d1 := b.part(d, 1, m), b.part(d, 2, m)
		// Hermite's cubic: w*(d0 + w*(c2 + w*c3)).
		c2 := b.op("/", b.op("-", b.op("*", b.num(3), slope), b.op("+", b.op("*", b.num(2), d0), d1)), h)
		c3 := b.op("/", b.op("-", b.op("+", d0, d1), b.op("*", b.num(2), slope)), b.op("*", h, h))
		rise = b.op("*", w, b.op("+", d0, b.op("*", w, b.op("+", c2, b.op("*", w, c3)))))
	}
	v := b.op("+", b.elem(b.y, 1), b.c.reduction(b.at, stdlib.Find("sum", stdlib.Reduction), rise))
	return b.searched(v, q, d)
}

// searched returns v, a sum over all rows, with its table, and a search if that is long and can be searched. d is nil
// for a table that is linear.
func (b *table1) searched(v, q, d model.Expr) model.Expr {
	if call, is := v.(*model.Call); is {
		call.Table = &model.Search{Knots: b.t, Values: b.y, Slopes: d, Time: q}
		if b.n > mostSummed && rises(q) && held(b.t) && held(b.y) {
			call.Search = call.Table
		}
	}
	return v
}

// mostSummed is up to how many rows a table is always read by a sum over all of them. Gradients by as many params take
// as long by a search there.
const mostSummed = 64

// held reports whether e is the same for all loop variables, and does not change between two events.
func held(e model.Expr) bool {
	return model.Depends(e)&^(model.UsesParam|model.UsesDiscrete) == 0 && len(model.Free(e)) == 0
}

// rises reports whether e is an affine function of time that rises at a constant rate.
func rises(e model.Expr) bool {
	switch e := e.(type) {
	case *model.Ref:
		return e.Sym.Kind == model.TimeSymbol
	case *model.Call:
		shifts := func(k int) bool { return model.Depends(e.Args[k])&^(model.UsesParam|model.UsesDiscrete) == 0 }
		scales := func(k int) bool {
			f, is := e.Args[k].(*model.Const)
			return is && len(f.Data) == 1 && f.Data[0] > 0
		}
		switch e.Fn.Name {
		case "+":
			return rises(e.Args[0]) && shifts(1) || shifts(0) && rises(e.Args[1])
		case "-":
			return len(e.Args) == 2 && rises(e.Args[0]) && shifts(1)
		case "*":
			return rises(e.Args[0]) && scales(1) || scales(0) && rises(e.Args[1])
		case "/":
			return rises(e.Args[0]) && scales(1)
		}
	}
	return false
}

// slopes returns the derivatives at the knots, [n].
func (b *table1) slopes(kind string, h, slope model.Expr) model.Expr {
	switch {
	case b.n == 2:
		return b.join(b.elem(slope, 1), nil, b.elem(slope, 1))
	case kind == "spline":
		return b.splineSlopes()
	}
	return b.monotoneSlopes(h, slope)
}

// join returns [first, middle…, last].
func (b *table1) join(first, middle, last model.Expr) model.Expr {
	one := func(i int) []model.Sub { return []model.Sub{{Lo: i, Step: 1, Count: 1}} }
	pieces := []model.Piece{{Subs: one(1), Value: first, Span: b.at}}
	if middle != nil {
		pieces = append(pieces, model.Piece{
			Subs: []model.Sub{{Lo: 2, Step: 1, Count: b.n - 2}}, Value: middle,
			Span: b.at,
		})
	}
	pieces = append(pieces, model.Piece{Subs: one(b.n), Value: last, Span: b.at})
	e := model.Seal(&model.Assemble{
		Base:   model.NewBase(types.Type{Kind: types.Real, Shape: types.Shape{b.n}}, b.at),
		Pieces: pieces,
	})
	if model.Static(e) {
		return model.Seal(&model.Const{Base: model.NewBase(e.T, b.at), Data: tabulate.Tabulate(e, nil)})
	}
	return e
}

// monotoneSlopes returns the slopes of Fritsch and Butland (doi:10.1137/0905021). At inner knots
// they are the weighted harmonic mean of the neighbouring slopes, and 0 at an extremum. At the ends
// they are those of a parabola, limited so that the curve stays monotone.
func (b *table1) monotoneSlopes(h, slope model.Expr) model.Expr {
	m := b.n - 1
	ha, hb := b.part(h, 1, m-1), b.part(h, 2, m-1)
	sa, sb := b.part(slope, 1, m-1), b.part(slope, 2, m-1)
	wa := b.op("+", b.op("*", b.num(2), hb), ha)
	wb := b.op("+", hb, b.op("*", b.num(2), ha))
	same := b.op("*", sa, sb)
	// Where the slopes have different signs the mean is 0. There, nothing may be divided by what
	// could be 0.
	under := b.choose(b.num(0), same, b.op("+", b.op("*", wa, sb), b.op("*", wb, sa)), b.num(1))
	mean := b.op("/", b.op("*", b.op("+", wa, wb), b.of("max", same, b.num(0))), under)
	end := func(h0, h1, s0, s1 model.Expr) model.Expr {
		d := b.op("/", b.op("-", b.op("*", b.op("+", b.op("*", b.num(2), h0), h1), s0), b.op("*", h0, s1)),
			b.op("+", h0, h1))
		three := b.op("*", b.num(3), s0)
		// d, but at most 3 s0 where the slopes differ in sign, and 0 where d has not the sign of
		// s0.
		limited := b.choose(b.of("abs", three), b.of("abs", d), three, d)
		limited = b.choose(b.op("*", s0, s1), b.num(0), limited, d)
		return b.choose(b.num(0), b.op("*", d, s0), limited, b.num(0))
	}
	first := end(b.elem(h, 1), b.elem(h, 2), b.elem(slope, 1), b.elem(slope, 2))
	last := end(b.elem(h, m), b.elem(h, m-1), b.elem(slope, m), b.elem(slope, m-1))
	return b.join(first, mean, last)
}

// times is the product of a matrix and a vector.
func (b *table1) times(a, v model.Expr) model.Expr {
	return model.Seal(&model.Call{
		Base: model.NewBase(types.Type{Kind: types.Real, Shape: a.Type().Shape[:1:1]}, b.at), Fn: stdlib.Operator("@"),
		Args: []model.Expr{a, v},
	})
}

// splineSlopes returns the slopes of the natural cubic spline. They are linear in the values, with
// a matrix that depends on the knots.
func (b *table1) splineSlopes() model.Expr {
	t := b.t.(*model.Const).Data
	if k, ok := b.y.(*model.Const); ok {
		y := tabulate.ConstTable(k).Data
		return model.Seal(&model.Const{
			Base: model.NewBase(types.Type{Kind: types.Real, Shape: types.Shape{b.n}}, b.at),
			Data: naturalSlopes(t, y),
		})
	}
	n := b.n
	if !b.c.fits(types.Shape{n, n}, b.at) {
		return bad(b.at)
	}
	d := make([]float64, n*n)
	unit := make([]float64, n)
	for j := range n {
		unit[j] = 1
		for i, x := range naturalSlopes(t, unit) {
			d[i*n+j] = x
		}
		unit[j] = 0
	}
	return b.times(model.Seal(&model.Const{Base: model.NewBase(types.Type{Kind: types.Real, Shape: types.Shape{n, n}},
		b.at), Data: d}), b.y)
}

// naturalSlopes solves the tridiagonal system of the spline through (t, y) whose second derivative
// is 0 at both ends. Its diagonal dominates, so no pivots are needed.
func naturalSlopes(t, y []float64) []float64 {
	n := len(t)
	upper, d := make([]float64, n), make([]float64, n)
	for i := range n {
		// low*d[i-1] + mid*d[i] + up*d[i+1] = right
		var low, up, mid, right float64
		if i > 0 {
			low = 1 / (t[i] - t[i-1])
			right = float64(3*low*low) * (y[i] - y[i-1])
		}
		if i < n-1 {
			up = 1 / (t[i+1] - t[i])
			right = math.FMA(float64(3*up*up), y[i+1]-y[i], right)
		}
		mid = float64(2 * (low + up))
		if i > 0 {
			mid = math.FMA(-low, upper[i-1], mid)
			right = math.FMA(-low, d[i-1], right)
		}
		upper[i], d[i] = up/mid, right/mid
	}
	for i := n - 2; i >= 0; i-- {
		d[i] = math.FMA(-upper[i], d[i+1], d[i])
	}
	return d
}
