package typecheck

import (
	"fmt"
	"slices"
	"strconv"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
	"odes.dev/odes/typecheck/unitexpr"
)

// unit evaluates a unit as written. It is unknown after an error.
func (c *checker) unit(u *ast.Unit) units.Unit {
	c.anyUnits = true
	return unitexpr.Evaluate(u, unitNames{c})
}

// unitNames knows the units of the file and of the language.
type unitNames struct{ c *checker }

// Unit is that of a name: one of the file, or of the language.
func (n unitNames) Unit(name string, _ source.Span) (units.Unit, bool) {
	if _, ok := n.c.units[name]; ok {
		return n.c.unitNamed(name), true
	}
	return units.Lookup(name)
}

// Mixes notes that the file writes two units of one kind in one unit.
func (n unitNames) Mixes(pair [2]string) { n.c.mixtures[pair] = true }

// OutOfRange reports an exponent.
func (n unitNames) OutOfRange(at source.Span) {
	n.c.errorf(CodeUnknownUnit, at, "this exponent is out of range")
}

// NoUnit reports a name that is no unit.
func (n unitNames) NoUnit(name string, at source.Span) {
	n.c.errorf(CodeUnknownUnit, at, "%q is not a unit", name).Later(func(d *diag.Diagnostic) {
		unitexpr.Meant(d, name, at, sortedKeys(n.c.units))
		if e, ok := n.c.globals[name]; ok {
			d.Relate(e.span, "%q is %s; a bracket after a number is a unit", name, e.kind)
		}
	})
}

// isUnit reports whether name is a unit of the language or of the file.
func (c *checker) isUnit(name string) bool {
	_, known := units.Lookup(name)
	return known || c.units[name] != nil
}

// unitNamed returns a user's unit, which is worked out on first use.
func (c *checker) unitNamed(name string) units.Unit {
	e := c.units[name]
	switch {
	case e.done:
		return e.unit
	case e.busy:
		c.errorf(CodeCycle, e.decl.Name.Span, "unit %q is defined by itself", name)
		e.done = true
		return units.Unit{}
	}
	e.busy = true
	var u units.Unit
	switch v := strip(e.decl.Value).(type) {
	case *ast.Number:
		of := units.One
		if v.Unit != nil {
			of = c.unit(v.Unit)
		}
		if v.Value > 0 && v.Value <= 1e300 {
			u = units.New(name, v.Value, of)
		} else {
			c.errorf(CodeUnknownUnit, v.Span, "the factor of a unit is a positive number")
		}
	default:
		x := context{place: placeConst}
		value := c.expr(x, e.decl.Value)
		if !isBad(value) {
			if d, ok := c.static(value, nil); ok && len(value.Type().Shape) == 0 &&
				value.Type().Kind != types.Bool && d[0] > 0 {
				u = units.New(name, d[0], value.Type().Unit)
			} else if ok {
				c.errorf(CodeUnknownUnit, value.Span(), "a unit is a number of another unit: unit %s = 1e-6 [mol/L]",
					name)
			}
		}
	}
	if !e.done {
		e.unit, e.done = u, true
	}
	return e.unit
}

// sameUnit checks that operands share one unit, and reports those that differ with their places.
func (c *checker) sameUnit(op string, s source.Span, args ...model.Expr) bool {
	for _, b := range args[1:] {
		a := args[0]
		u, v := a.Type().Unit, b.Type().Unit
		switch {
		case !u.Known() || !v.Known():
			// A bare number beside something unknown proves nothing, because those who give only
			// some units must not be held to them.
			if !u.Known() && !bare(b) {
				c.demand(a, v)
			} else if !v.Known() && !bare(a) {
				c.demand(b, u)
			}
		case !u.Same(v):
			c.mixError(strconv.Quote(op), s, a, b)
			return false
		}
	}
	return true
}

// joinUnits returns the unit of a sum, which is that of the operands that have one. A bare number
// beside something unknown proves nothing.
func (c *checker) joinUnits(op string, s source.Span, args ...model.Expr) units.Unit {
	if !c.sameUnitAll(op, s, args) {
		return units.Unit{} // reported, so the unknown unit prevents further reports
	}
	return terms.UnitOf(args)
}

func (c *checker) sameUnitAll(op string, s source.Span, args []model.Expr) bool {
	first := -1
	for i, a := range args {
		if a.Type().Unit.Known() && (first < 0 || c.bareBeside(args[first], a)) {
			first = i
		}
	}
	for i, a := range args {
		if first >= 0 && i != first && !c.sameUnit(op, s, args[first], a) {
			return false
		}
	}
	return true
}

// bareBeside reports whether a is a plain number in the text and b has a unit. A message about this
// says more than one about two units.
func (c *checker) bareBeside(a, b model.Expr) bool {
	return a.Type().Unit.Plain() && model.Static(a) && !b.Type().Unit.Plain()
}

// mergeUnits adds the unit of another element to that of an array.
func (c *checker) mergeUnits(what string, u units.Unit, first, e model.Expr) units.Unit {
	v := e.Type().Unit
	switch {
	case !v.Known():
		if !bare(first) {
			c.demand(e, u)
		}
	case !u.Same(v):
		c.mixError(what, e.Span(), first, e)
	}
	if !u.Known() || u.Plain() {
		return v
	}
	return u
}

// resultUnit applies the unit rule of a row.
func (c *checker) resultUnit(fn *stdlib.Func, s source.Span, args []model.Expr) (units.Unit, bool) {
	name := fn.Name
	if name == "neg" {
		name = "-"
	}
	switch fn.Units {
	case stdlib.UnitsSame:
		return c.joinUnits(name, s, args...), true
	case stdlib.UnitsSameToNo:
		if fn.Class == stdlib.Elementwise {
			c.sameUnitAll(name, s, args)
		}
		return units.One, true
	case stdlib.UnitsProduct:
		return args[0].Type().Unit.Mul(args[1].Type().Unit), true
	case stdlib.UnitsQuotient:
		return args[0].Type().Unit.Div(args[1].Type().Unit), true
	case stdlib.UnitsRoot:
		r := units.Ratio{Num: 1, Den: 2}
		if fn.Name == "cbrt" {
			r.Den = 3
		}
		return args[0].Type().Unit.Pow(r), true
	case stdlib.UnitsPower:
		return c.powerUnit(s, args[0], args[1]), true
	case stdlib.UnitsFree:
		return units.Unit{}, true
	}
	if fn.Class == stdlib.Elementwise {
		for _, a := range args {
			if u := a.Type().Unit; u.Known() && !u.Plain() && !c.reportedAs(a.Span(), u, units.One, a) {
				d := c.unitErrorf(a.Span(), "%s needs a pure number, and this has unit %s; divide it by a reference "+
					"value in %s", name, bracketed(u), bracketed(u))
				if text := c.unitsWithin(a); text != "" {
					d.Relate(a.Span(), "%s: %s", bracketed(u), text)
				}
				c.declaration(d, a)
			}
			c.demand(a, units.One)
		}
		if slices.ContainsFunc(args, func(a model.Expr) bool { return !a.Type().Unit.Known() && !zero(a) }) {
			return units.Unit{}, true
		}
	}
	return units.One, true
}

// powerUnit returns the unit of x^e. A dimensional x needs a constant exponent.
func (c *checker) powerUnit(s source.Span, x, e model.Expr) units.Unit {
	c.demand(e, units.One)
	if u := e.Type().Unit; u.Known() && !u.Plain() {
		c.unitErrorf(e.Span(), "an exponent is a pure number, and this has unit %s", bracketed(u))
		return units.Unit{}
	}
	u := x.Type().Unit
	if !u.Known() || u.Plain() {
		return u
	}
	if k, ok := e.(*model.Const); ok && len(k.Data) == 1 {
		if r, ok := terms.Exponent(k.Data[0]); ok {
			return u.Pow(r)
		}
	}
	c.unitErrorf(s, "%s is raised to a power that is not a constant; divide it by 1 %s first", bracketed(u),
		bracketed(u))
	return units.Unit{}
}

// as elaborates a conversion. It is the one place where a value is rescaled.
func (c *checker) as(x context, e *ast.As) model.Expr {
	v := c.expr(x, e.X)
	to := c.unit(e.Unit)
	if isBad(v) || !to.Known() || !c.numeric(v, "as", v.Span()) {
		return bad(e.Span)
	}
	from := v.Type().Unit
	switch {
	case !from.Known():
		c.errorf(CodeUnit, v.Span(), "the unit of this is not known, so it cannot be converted to %s; declare the "+
			"units of the names in it", bracketed(to))
		return bad(e.Span)
	case !from.SameDimension(to):
		d := c.errorf(CodeUnit, e.Span, "cannot convert %s to %s: the dimensions differ", bracketed(from),
			bracketed(to))
		if c.operand != nil && c.operand.Y == e {
			d.Message += fmt.Sprintf("; `as` binds more tightly than operators: write (%s) as %s to convert all of it",
				c.operand.X.Pos().To(e.X.Pos()).Text(), bracketed(to))
		}
		return bad(e.Span)
	}
	return c.rescale(v, to, e.Span, e.Unit.Span)
}

// rescale returns v, whose unit is known, in the unit to, which is written at stated.
func (c *checker) rescale(v model.Expr, to units.Unit, span, stated source.Span) model.Expr {
	t := v.Type()
	from := t.Unit
	t.Unit = to
	factor := units.Factor(from, to)
	if factor == 1 {
		return retype(v, t)
	}
	t.Kind = types.Real
	f := number(factor, to.Div(from), stated)
	node := &model.Call{Base: model.NewBase(t, span), Fn: stdlib.Operator("*"), Args: []model.Expr{v, f}}
	if factor < 1 {
		// Division by a whole number rounds once, where the product with its inverse would round
		// twice.
		if inverse := units.Factor(to, from); whole(inverse) {
			node = &model.Call{
				Base: model.NewBase(t, span), Fn: stdlib.Operator("/"),
				Args: []model.Expr{v, number(inverse, from.Div(to), stated)},
			}
		}
	}
	return c.fold(node)
}

// stated converts a value to the unit that its declaration states, if it is written as numbers with units: what
// `lag : [h] = 30 [min]` means is plain. e is the text of the value. Of expressions nothing is converted.
func (c *checker) stated(declared *ast.Unit, value model.Expr, e ast.Expr) model.Expr {
	if declared == nil || isBad(value) || !unitexpr.Written(e) {
		return value
	}
	var to units.Unit
	c.quietly(func() model.Expr {
		to = c.unit(declared)
		return value
	})
	return c.written(to, value, e, declared.Span)
}

// written is stated for a unit that is known already, and declared at a place.
func (c *checker) written(to units.Unit, value model.Expr, e ast.Expr, declared source.Span) model.Expr {
	from := value.Type().Unit
	if !unitexpr.Written(e) || bare(value) || !to.Known() || !from.Known() || from.Same(to) || !from.SameDimension(to) {
		return value
	}
	return c.rescale(value, to, value.Span(), declared)
}

// withUnit gives an array literal the unit written after it.
func (c *checker) withUnit(v model.Expr, u units.Unit, s source.Span) model.Expr {
	t := v.Type()
	if !t.Unit.Same(u) && !t.Unit.Plain() {
		c.unitErrorf(s, "the elements have unit %s already", bracketed(t.Unit))
	}
	t.Unit = u
	return retype(v, t)
}

// declaredUnit returns the unit of a name: the declared one, checked against that of the value, or
// else that of the value, whose text is e.
func (c *checker) declaredUnit(declared *ast.Unit, value model.Expr, e ast.Expr, what string) units.Unit {
	if declared == nil {
		if value == nil || isBad(value) || bare(value) && !unitexpr.StatesUnit(e) {
			return units.Unit{}
		}
		return value.Type().Unit
	}
	u := c.unit(declared)
	if value != nil && !isBad(value) && !bare(value) {
		c.expectUnit(what, value, u, declared.Span)
	}
	return u
}

// expectUnit checks that a value has the unit that its place needs.
func (c *checker) expectUnit(what string, value model.Expr, u units.Unit, declared source.Span) {
	if value.Type().Unit.Same(u) {
		c.demand(value, u)
		return
	}
	c.wrongUnit(what, value, u, declared)
}
