package typecheck

import "odes.dev/odes/lang/source"

// The language is larger than what this version solves: equilibration and steady states. These are checked like
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
