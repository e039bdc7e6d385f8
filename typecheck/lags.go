package typecheck

import (
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/earlier"
)

var placePast = &place{
	name: "a past", knows: "consts, params and the time", allow: model.UsesTime | model.UsesParam,
}

// lagging makes what delays read of the past.
type lagging struct {
	maker *earlier.Maker
	pasts map[*model.Symbol]model.Expr
}

// lagged elaborates delay(e, tau).
func lagged(c *checker, x context, e *ast.Call, row *stdlib.Func) model.Expr {
	if x.place.allow&model.UsesState == 0 || x.place == placeInitial {
		c.errorf(CodePlace, e.Span, "%s has no earlier values; delay stands in equations, lets and events",
			x.place.name)
		return bad(e.Span)
	}
	args, ok := c.arguments(x, e, row)
	if !ok || anyBad(args...) || !c.numeric(args[0], row.Name, args[0].Span()) || !readyLags(c) ||
		!c.numeric(args[1], row.Name, args[1].Span()) {
		return bad(e.Span)
	}
	tau := c.written(c.model.Time.Type.Unit, args[1], e.Args[1].Value, c.model.Time.Span)
	c.expectUnit("a delay", tau, c.model.Time.Type.Unit, c.model.Time.Span)
	return c.lags.maker.Delay(args[0], tau, e.Span)
}

// readyLags makes what makes lags, and elaborates the pasts. It reports whether there is a time.
func readyLags(c *checker) bool {
	if c.lags.maker != nil {
		return true
	}
	for _, e := range c.order {
		if e.kind == timeName {
			c.resolve(e)
		}
	}
	if c.model.Time == nil || isBad(c.model.From) {
		return false // reported
	}
	c.lags.maker = &earlier.Maker{
		Time: c.model.Time, From: c.model.From, Position: c.position,
		Apply: func(op string, at source.Span, args ...model.Expr) model.Expr {
			return c.quietly(func() model.Expr {
				if op == "<" {
					return c.elementwise(stdlib.Operator(op), at, types.Bool, args...)
				}
				return c.apply(stdlib.Operator(op), at, args...)
			})
		},
		Past: func(s *model.Symbol) model.Expr { return c.lags.pasts[s] },
		Fault: func(at source.Span, format string, args ...any) model.Expr {
			c.errorf(CodePlace, at, format, args...)
			return bad(at)
		},
	}
	c.lags.pasts = map[*model.Symbol]model.Expr{}
	for _, it := range c.masses {
		if it.Past {
			past(c, it)
		}
	}
	return true
}

// past elaborates `past x = e`.
func past(c *checker, it *ast.Mass) {
	e, ok := c.globals[it.Name.Name]
	switch {
	case !ok:
		c.undefined(context{place: placePast}, it.Name)
		return
	case e.kind != stateName && e.kind != laterName:
		c.errorf(CodeTarget, it.Name.Span, "%q is %s; states have a past", it.Name.Name, e.kind).
			Relate(e.span, "declared here")
		return
	}
	if c.resolve(e); e.sym == nil {
		return
	}
	if old := c.lags.pasts[e.sym]; old != nil {
		c.errorf(CodeDuplicate, it.Span, "%q has two pasts", it.Name.Name).Relate(old.Span(), "first here")
		return
	}
	v := c.expr(context{place: placePast}, it.Value)
	if isBad(v) || !c.numeric(v, "past", v.Span()) || !c.fill("the past of "+e.name, v, e.sym.Type.Shape, e.span) {
		return
	}
	v = c.written(e.sym.Type.Unit, v, it.Value, e.span)
	if !bare(v) {
		c.expectUnit("the past of "+e.name, v, e.sym.Type.Unit, e.span)
	}
	c.lags.pasts[e.sym] = v
}

// listLags enters what delays need into the model.
func listLags(c *checker) {
	if m := c.lags.maker; m != nil {
		c.model.Lags, c.model.Discretes = m.Lags, append(c.model.Discretes, m.Delays...)
	}
}
