package typecheck

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
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
		if a.Key.Name != "kind" || !ok || !slices.Contains(interpKinds, n.Name) {
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
	args, ok := []model.Expr(nil), true
	if list := positional.Args; len(list) == 3 && len(positional.For) == 0 {
		columns := x
		columns.course, columns.sparse = x.place != placeWhere, false
		args = []model.Expr{c.expr(columns, list[0].Value), c.expr(columns, list[1].Value), c.expr(x, list[2].Value)}
	} else {
		args, ok = c.arguments(x, &positional, row)
	}
	if !ok || anyBad(args...) {
		return bad(e.Span)
	}
	var from *entity
	if table := c.course.Table(args[0]); table != nil {
		from = c.globals[table.Name]
	}
	t, y, q := terms.Tabulated(args[0]), terms.Tabulated(args[1]), args[2]
	for _, a := range args {
		if !c.numeric(a, "interp", a.Span()) {
			return bad(e.Span)
		}
	}
	ts := t.Type().Shape
	least := 2
	whole, every := model.Expr(nil), model.Expr(nil)
	if from != nil && len(ts) == 1 && ts[0] == from.table.rows() && ts.Equal(y.Type().Shape) {
		whole, every = t, y
		if t, y, ok = courseOf(c, &positional, from, t, y); !ok {
			return bad(e.Span)
		}
		ts, least = t.Type().Shape, 1
	}
	if len(ts) != 1 || ts[0] < least || !ts.Equal(y.Type().Shape) || len(q.Type().Shape) != 0 {
		c.errorf(CodeShape, e.Span, "interp takes knots and values of one length (at least 2) and a scalar, and got "+
			"%s, %s and %s", shapeOf(t), shapeOf(y), shapeOf(q))
		return bad(e.Span)
	}
	if _, fixed := t.(*model.Const); (least > 1 || !fixed && ts[0] > 1) && !c.knots(t, kind) {
		return bad(e.Span)
	}
	c.sameUnit("interp", e.Span, t, q)
	return c.quietly(func() model.Expr {
		b := &terms.Table{C: writer{c}, At: e.Span, Knots: t, Values: y, N: ts[0]}
		u := y.Type()
		u.Kind, u.Shape = types.Real, nil
		v := retype(b.Value(q, kind), u)
		if whole != nil {
			c.course.InTime(v, y, q, func(q model.Expr) model.Expr {
				return c.quietly(func() model.Expr { return retype(b.Value(q, kind), u) })
			})
			c.course.Leap(v, from.table.Table, rowsRead(c, from), whole, every, q, kind)
		}
		return v
	})
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
	case !c.asserted[t]:
		if c.asserted == nil {
			c.asserted = map[model.Expr]bool{}
		}
		c.asserted[t] = true
		c.model.Asserts = append(c.model.Asserts, terms.Ascend(writer{c}, t, of)...)
	}
	return true
}
