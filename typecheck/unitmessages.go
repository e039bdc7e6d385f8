package typecheck

import (
	"fmt"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/terms"
)

// mixError reports two values whose units should agree. The message has what before "mixes", both
// sides with their origins, and the fix.
func (c *checker) mixError(what string, s source.Span, a, b model.Expr) {
	u, v := a.Type().Unit, b.Type().Unit
	if c.reportedAs(s, u, v, a, b) {
		return
	}
	d := c.unitErrorf(s, "%s mixes %s and %s%s", what, bracketed(u), bracketed(v), mixHint(u, v))
	c.origin(d, a)
	c.origin(d, b)
	switch {
	case terms.LiteralNumber(a) && u.Plain():
		c.give(d, a, v)
	case terms.LiteralNumber(b) && v.Plain():
		c.give(d, b, u)
	case u.SameDimension(v) && !u.Plain():
		c.convert(d, b, u)
	}
}

// give attaches to d that the number e has unit u, which is that of what stands beside it. That is not offered where u
// is in another unit of time than the model: the number may be in that of the model.
func (c *checker) give(d *diag.Diagnostic, e model.Expr, u units.Unit) {
	if t := c.timeUnitKnown(); t.Known() && len(u.Mul(t).Mixed()) > len(u.Mixed()) {
		return
	}
	d.Fix(e.Span(), e.Span().Text()+" "+bracketed(u), "give the number its unit")
}

// mixHint says how to correct a sum of u and v.
func mixHint(u, v units.Unit) string {
	switch {
	case u.SameDimension(v):
		return fmt.Sprintf(" (same dimension, factor %.6g): convert one with `as [unit]`", units.Factor(u, v))
	case u.Plain() || v.Plain():
		return ": give the number its unit, or divide the other by 1 of its unit"
	}
	return "; they differ by a factor in " + bracketed(v.Div(u))
}

// wrongUnit reports a value that must have another unit in its place.
func (c *checker) wrongUnit(what string, value model.Expr, u units.Unit, declared source.Span) *diag.Diagnostic {
	v := value.Type().Unit
	if c.reportedAs(value.Span(), v, u, value) {
		return &diag.Diagnostic{}
	}
	hint := ""
	switch {
	case v.SameDimension(u):
		hint = fmt.Sprintf(" (same dimension, factor %.6g): convert it with `as %s`", units.Factor(v, u), bracketed(u))
		if number, inverse := terms.ByHand(value, units.Factor(v, u)); number != nil {
			hint = fmt.Sprintf(" (same dimension, factor %.6g): write %s", units.Factor(v, u),
				conversion(number, inverse, v, u))
		}
	case v.Plain() && terms.LiteralNumber(value):
		hint = ": give the number its unit"
	case u.Plain():
		hint = "; divide it by something in " + bracketed(v)
	default:
		hint = "; it lacks a factor in " + bracketed(u.Div(v))
	}
	d := c.unitErrorf(value.Span(), "%s has unit %s, expected %s%s", what, bracketed(v), bracketed(u), hint)
	if text := c.unitsWithin(value); text != "" {
		d.Relate(value.Span(), "%s: %s", bracketed(v), text)
	}
	c.declaration(d, value)
	if !declared.IsZero() {
		d.Relate(declared, "%s is declared here", bracketed(u))
	}
	switch {
	case v.SameDimension(u):
		c.convert(d, value, u)
	case v.Plain() && terms.LiteralNumber(value):
		d.Fix(value.Span(), value.Span().Text()+" "+bracketed(u), "give the number its unit")
	}
	return d
}

// convert attaches to d the conversion of e to u. Where e has been converted by hand, by a bare number, that number is
// given the unit that it stands for: to convert e once more would make it too large or too small by as much.
func (c *checker) convert(d *diag.Diagnostic, e model.Expr, u units.Unit) {
	text := e.Span().Text()
	if len(text) > 60 || strings.ContainsAny(text, "\n#") {
		return
	}
	v := e.Type().Unit
	if number, inverse := terms.ByHand(e, units.Factor(v, u)); number != nil {
		d.Fix(number.Span(), conversion(number, inverse, v, u), "give the conversion its unit")
		return
	}
	if terms.Compound(text) {
		text = "(" + text + ")"
	}
	d.Fix(e.Span(), text+" as "+bracketed(u), "convert it")
}

// conversion writes a number that converts v to u with its unit.
func conversion(number model.Expr, inverse bool, v, u units.Unit) string {
	if inverse {
		u, v = v, u
	}
	return number.Span().Text() + " " + bracketed(u.Div(v))
}

// origin attaches to d the unit of an operand and where it comes from.
func (c *checker) origin(d *diag.Diagnostic, e model.Expr) {
	text := bracketed(e.Type().Unit)
	if p := c.unitsWithin(e); p != "" {
		text += ": " + p
	}
	d.Relate(e.Span(), "%s", text)
	c.declaration(d, e)
}

// declaration attaches to d where the unit of a name comes from.
func (c *checker) declaration(d *diag.Diagnostic, e model.Expr) {
	r, ok := e.(*model.Ref)
	if !ok {
		c.inferredWithin(d, e)
		return
	}
	if r.Sym.Span.IsZero() {
		return
	}
	if u, ok := c.inferred[r.Sym.Name]; ok {
		d.Relate(u.use, "%q has unit %s because of its use here", r.Sym.Name, bracketed(u.unit))
		return
	}
	d.Relate(r.Sym.Span, "%q is declared here", r.Sym.Name)
}

// inferredWithin attaches to d where the inferred unit of the first such name in e comes from.
func (c *checker) inferredWithin(d *diag.Diagnostic, e model.Expr) {
	s := model.FindSymbol(e, func(s *model.Symbol) bool { _, ok := c.inferred[s.Name]; return ok })
	if s != nil {
		u := c.inferred[s.Name]
		d.Relate(u.use, "%q has unit %s because of its use here", s.Name, bracketed(u.unit))
	}
}

// unitsWithin lists the units of the names in a compound expression: "k is [1/h], x is [mg]".
func (c *checker) unitsWithin(e model.Expr) string {
	if _, ok := e.(*model.Ref); ok {
		return ""
	}
	const few = 4
	var list []string
	seen := map[string]bool{}
	model.Walk(func(x model.Expr) bool {
		if r, ok := x.(*model.Ref); ok && !seen[r.Sym.Name] && r.Sym.Type.Unit.Known() && len(list) <= few {
			seen[r.Sym.Name] = true
			word := "is"
			if _, ok := c.inferred[r.Sym.Name]; ok {
				word = "is taken to be"
			}
			list = append(list, fmt.Sprintf("%s %s %s", r.Sym.Name, word, bracketed(r.Sym.Type.Unit)))
		}
		return len(list) <= few
	}, e)
	if len(list) > few {
		list = append(list[:few], "…")
	}
	return strings.Join(list, ", ")
}
