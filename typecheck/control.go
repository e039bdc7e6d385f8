package typecheck

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
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
		b := &table1{c: c, at: s, t: grid, y: y, n: grid.Type().Shape[0]}
		v := b.piecewise(q, e.name, e.control.Linear)
		u := e.sym.Type
		u.Kind, u.Shape = types.Real, u.Shape[:len(u.Shape)-1]
		if len(u.Shape) == 0 {
			u.Shape = nil
		}
		return retype(v, u)
	})
}

// piecewise is the value at q of a function that is constant between the knots, or linear. The last axis of the values
// is that of the knots.
//
// A constant piece begins with its knot. The number of the piece ends steps and has derivatives by the knots, as any
// function that jumps.
func (b *table1) piecewise(q model.Expr, control string, linear bool) model.Expr {
	m := b.n - 1
	if linear && len(b.y.Type().Shape) == 1 {
		return b.through(q, "linear")
	}
	if linear {
		t0, t1 := b.part(b.t, 1, m), b.part(b.t, 2, m)
		w := b.op("/", b.op("-", b.of("max", b.of("min", t1, q), t0), t0), b.op("-", t1, t0))
		return b.searched(b.op("+", b.last(1, 0), b.times(b.op("-", b.last(2, m), b.last(1, m)), w)), q, nil)
	}
	if m == 1 {
		return b.last(1, 0)
	}
	return b.held(q, b.part(b.t, 2, m-1), control)
}

// held is the value at q of what is constant between ends, with one value more than ends. It belongs to a control if
// that has a name.
func (b *table1) held(q, ends model.Expr, control string) model.Expr {
	fold := func(e model.Expr) model.Expr {
		if !model.Static(e) || len(model.Free(e)) > 0 {
			return e
		}
		return model.Seal(&model.Const{Base: model.NewBase(e.Type(), b.at), Data: tabulate.Tabulate(e, nil)})
	}
	piece := fold(model.Seal(&model.Call{
		Base: model.NewBase(types.Type{Kind: types.Real, Unit: units.One}, b.at), Fn: stdlib.Interval,
		Args:    []model.Expr{q, ends},
		Control: control,
	}))
	t := b.y.Type()
	if t.Shape = t.Shape[: len(t.Shape)-1 : len(t.Shape)-1]; len(t.Shape) == 0 {
		t.Shape = nil
	}
	return fold(model.Seal(&model.Call{Base: model.NewBase(t, b.at), Fn: stdlib.Pick, Args: []model.Expr{b.y, piece}}))
}

// last is the part of the values that begins at lo along their last axis: n of them, or for 0 one without the axis.
func (b *table1) last(lo, n int) model.Expr {
	t := b.y.Type()
	var subs []model.Sub
	for _, k := range t.Shape[:len(t.Shape)-1] {
		subs = append(subs, model.Sub{Lo: 1, Step: 1, Count: k})
	}
	t.Shape = t.Shape[: len(t.Shape)-1 : len(t.Shape)-1]
	if n > 0 {
		t.Shape = append(t.Shape, n)
		subs = append(subs, model.Sub{Lo: lo, Step: 1, Count: n})
	} else {
		subs = append(subs, model.Sub{At: b.num(float64(lo))})
	}
	if len(t.Shape) == 0 {
		t.Shape = nil
	}
	return b.c.foldAccess(&model.Access{Base: model.NewBase(t, b.at), X: b.y, Subs: subs})
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

// variableGrid is grid(a, b, n) with ends that are not constants: a·(1 − w) + b·w at n points w from 0 to 1, which
// is a and b exactly at the ends.
func (c *checker) variableGrid(a, b model.Expr, n int, s source.Span) model.Expr {
	u := c.joinUnits("grid", s, a, b)
	w, v := make([]float64, n), make([]float64, n)
	for i := range w {
		w[i] = float64(i) / float64(n-1)
		v[i] = float64(n-1-i) / float64(n-1)
	}
	t := types.Type{Kind: types.Real, Shape: types.Shape{n}, Unit: units.One}
	op := func(name string, x, y model.Expr) model.Expr { return c.apply(stdlib.Operator(name), s, x, y) }
	e := c.quietly(func() model.Expr {
		upper := op("*", b, model.Seal(&model.Const{Base: model.NewBase(t, s), Data: w}))
		if k, ok := a.(*model.Const); ok && k.Data[0] == 0 {
			return upper
		}
		return op("+", op("*", a, model.Seal(&model.Const{Base: model.NewBase(t, s), Data: v})), upper)
	})
	t.Unit = u
	return retype(e, t)
}
