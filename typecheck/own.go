package typecheck

import (
	"fmt"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/terms"
)

// A state whose unit is unknown is compatible with everything, but not in every way. In x' = -k*x,
// whatever the unit of x, that of k is 1 over that of time.

// ownRate reports a term of the right-hand side of a state of unknown unit that is proportional to
// the state, by a factor that is not in 1/time. It returns false if it reports one.
func (c *checker) ownRate(what string, sym *model.Symbol, value model.Expr) bool {
	want := units.One.Div(c.timeUnitKnown())
	if !want.Known() || sym.Type.Unit.Known() || value.Type().Unit.Known() || c.unitMode == "off" {
		return true
	}
	o := terms.Own{Sym: sym}
	for _, term := range terms.Summands(value, nil) {
		u := o.Of(term)
		if !u.OK || u.Power != 1 || u.Times.Same(want) || u.Times.Plain() { // a writer who gives no unit means none
			continue
		}
		name := sym.Name
		hint := ""
		if u.Times.SameDimension(want) {
			hint = fmt.Sprintf(" (same dimension, factor %.6g)", units.Factor(u.Times, want))
		}
		d := c.unitErrorf(term.Span(), "%s has the unit of %s times %s, expected times %s%s", what, name,
			bracketed(u.Times), bracketed(want), hint)
		if text := c.unitsWithin(term); text != "" {
			d.Relate(term.Span(), "%s", text)
		}
		c.declaration(d, &model.Ref{Base: model.NewBase(c.model.Time.Type, c.model.Time.Span), Sym: c.model.Time})
		return false
	}
	return true
}
