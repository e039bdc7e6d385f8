package typecheck

import "odes.dev/odes/lang/source"

// The language is larger than what this version solves. What it does not solve is checked like everything else (names,
// shapes, units), so that a file will mean the same once it is solved. Then it is reported, once.

// unavailable reports a construct that this version does not solve.
func (c *checker) unavailable(at source.Span, what string) {
	if !c.env.CheckOnly {
		c.errorf(CodeUnavailable, at, "%s is not available in this version", what)
		return
	}
	c.model.Later = append(c.model.Later, at)
	c.list.Warnf(CodeUnavailable, at, "%s is checked, but this version does not solve it", what)
}
