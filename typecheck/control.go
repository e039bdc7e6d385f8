package typecheck

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/typecheck/terms"
)

// A control is a param and a function of time. The param has the control's name, unit and bounds, and one value for
// each interval of the grid, or each time of it where the control is linear; an array of controls has its own indices
// first. The function is what the name stands for in equations.

// controlGrid elaborates the times on which e is piecewise. The result is bad if there was an error.
func (c *checker) controlGrid(e *entity) model.Expr {
	g := c.expr(context{place: placeTime}, e.control.Grid)
	if isBad(g) || !c.numeric(g, "on", g.Span()) {
		return bad(e.control.Grid.Pos())
	}
	if len(g.Type().Shape) != 1 || g.Type().Shape[0] < 2 {
		is := "this is one number"
		if len(g.Type().Shape) > 0 {
			is = "this has shape " + g.Type().Shape.String()
		}
		c.errorf(CodeShape, g.Span(), "a control is given on a vector of times, such as grid(0, 10, 21), and %s", is)
		return bad(g.Span())
	}
	if !c.knots(g, "control") {
		return bad(g.Span())
	}
	if t := c.globalTime(); t != nil {
		c.resolve(t)
		c.timeUnit("a time of control "+e.name, g)
	}
	return g
}

// control makes the function of time that the control e is.
func (c *checker) control(e *entity, grid model.Expr) {
	t := c.globalTime()
	if e.sym == nil || isBad(e.sym.Value) || isBad(grid) || t == nil || t.sym == nil ||
		c.override(e) != nil && (e.value == nil || isBad(e.value)) {
		e.value = bad(e.span)
		return
	}
	s := e.span
	y := model.Expr(model.Seal(&model.Ref{Base: model.NewBase(e.sym.Type, s), Sym: e.sym}))
	switch { // an experiment may give it other values
	case e.stand != nil:
		y = model.Seal(&model.Ref{Base: model.NewBase(e.stand.Type, s), Sym: e.stand})
	case c.override(e) != nil:
		y = e.value
	}
	q := model.Seal(&model.Ref{Base: model.NewBase(t.sym.Type, s), Sym: t.sym})
	e.value = c.quietly(func() model.Expr {
		b := &terms.Table{C: writer{c}, At: s, Knots: grid, Values: y, N: grid.Type().Shape[0]}
		v := b.Piecewise(q, e.name, e.control.Linear)
		u := e.sym.Type
		u.Kind, u.Shape = types.Real, u.Shape[:len(u.Shape)-1]
		if len(u.Shape) == 0 {
			u.Shape = nil
		}
		return retype(v, u)
	})
}

// controlShape returns the shape of the param behind the control e.
func (c *checker) controlShape(e *entity, grid model.Expr) (types.Shape, bool) {
	shape, ok := c.shape(context{place: placeShape}, e.variable.Dims)
	if !ok || isBad(grid) {
		return nil, false
	}
	n := grid.Type().Shape[0]
	if !e.control.Linear {
		n--
	}
	shape = append(shape, n)
	if len(shape) > 2 {
		c.errorf(CodeShape, e.span, "a control is a number or a vector; declare several for a matrix")
		return nil, false
	}
	return shape, c.fits(shape, e.span)
}

// globalTime returns the entity of the time, or nil.
func (c *checker) globalTime() *entity {
	for _, e := range c.order {
		if e.kind == timeName {
			return e
		}
	}
	return nil
}
