package typecheck

import "odes.dev/odes/lang/source"

// The language is larger than what this version solves: controls and algebraic unknowns. These are checked like
// everything else (names, shapes, units), so that a file will mean the same once they are solved. Then each of them is
// reported, once.

// unavailable reports a construct that this version does not solve.
func (c *checker) unavailable(at source.Span, what string) {
	if !c.env.CheckOnly {
		c.errorf(CodeUnavailable, at, "%s is not available in this version", what)
		return
	}
	c.model.Later = append(c.model.Later, at)
	c.list.Warnf(CodeUnavailable, at, "%s is checked, but this version does not solve it", what)
}

// control checks the times on which a control is piecewise. Its value and bounds are those of a
// variable.
func (c *checker) control(e *entity) {
	g := c.expr(context{place: placeTime}, e.control.Grid)
	if isBad(g) || !c.numeric(g, "on", g.Span()) {
		return
	}
	if len(g.Type().Shape) != 1 || g.Type().Shape[0] < 2 {
		is := "this is one number"
		if len(g.Type().Shape) > 0 {
			is = "this has shape " + g.Type().Shape.String()
		}
		c.errorf(CodeShape, g.Span(), "a control is given on a vector of times, such as grid(0, 10, 21), and %s", is)
		return
	}
	t := c.globalTime()
	if t == nil {
		return
	}
	c.resolve(t)
	c.timeUnit("a time of control "+e.name, g)
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

// checkAlgebraic checks `0 = …`: the sides are numbers, and there are as many as unknowns.
func (c *checker) checkAlgebraic() {
	unknowns, given := 0, 0
	var first *entity
	for _, e := range c.order {
		if e.kind != algName {
			continue
		}
		if e.sym == nil {
			return // it was reported
		}
		if first == nil {
			first = e
		}
		unknowns += e.sym.Type.Shape.Size()
	}
	for _, it := range c.algebraic {
		x, indices, ok := c.binders(context{place: placeRun}, it.For)
		if !ok {
			return
		}
		v := c.expr(x, it.Value)
		if isBad(v) || !c.numeric(v, "0 =", v.Span()) {
			return
		}
		if Depends(v)&UsesState == 0 {
			c.errorf(CodeTarget, v.Span(), "an algebraic equation is about an unknown, and this reads no `alg` and "+
				"no state")
			return
		}
		given += v.Type().Shape.Size() * counts(indices)
	}
	if unknowns == given || c.unparsed {
		return
	}
	text := plural(given, "algebraic equation", "algebraic equations") + " (`0 = …`) for " +
		plural(unknowns, "unknown", "unknowns") + " (`alg`); there must be as many"
	switch {
	case first != nil:
		c.errorf(CodeNoEquation, first.span, "%s", text)
	case len(c.algebraic) > 0:
		c.errorf(CodeNoEquation, c.algebraic[0].Span, "%s", text)
	}
}

// laterVariable says what a control or an algebraic unknown is, for resolveVariable.
func laterVariable(k entityKind, name string) (SymbolKind, *place, string) {
	if k == controlName {
		return ControlSymbol, placeParam, "the value of " + name
	}
	return AlgSymbol, placeInitial, "the guess of " + name
}

// fitted checks the names in a setting of `fit`.
func (c *checker) fitted(key string, v SettingValue) {
	switch key {
	case "minimize", "maximize":
		if v.Array && v.Word == "" || v.Word == "all" {
			c.errorf(CodeSettingValue, v.Span, "`%s` names one objective", key)
			return
		}
		c.selected("of", key, v)
	case "over", "log":
		c.selected("wrt", key, v)
	}
}
