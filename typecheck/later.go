package typecheck

import "odes.dev/odes/lang/source"

// The language is larger than what this version solves: controls, equilibration and steady states. These are checked like everything else (names, shapes, units), so that a file
// will mean the same once they are solved. Then each of them is reported, once.

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

// checkEquilibrations checks the assignments before a run to the steady state.
func (c *checker) checkEquilibrations() {
	for _, it := range c.equilibrations {
		e := &Event{Name: "equilibrate", Span: it.Span}
		c.body(context{place: placeEvent}, e, it.Body)
		for _, a := range it.Body {
			if a.Stop {
				c.errorf(CodeTarget, a.Span, "`stop` ends a run, and `equilibrate` is before it; leave it out")
			}
		}
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
