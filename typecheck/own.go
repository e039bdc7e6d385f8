package typecheck

import (
	"fmt"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// A state whose unit is unknown is compatible with everything, but not in every way. In x' = -k*x,
// whatever the unit of x, that of k is 1 over that of time.

// inOwn is the unit of an expression, as the unit of a state to a power times a known unit.
type inOwn struct {
	power int64
	times units.Unit
	ok    bool // the unit is known in this form
}

// own works out units relative to that of the state sym, which is unknown.
type own struct {
	sym  *model.Symbol
	seen map[model.Expr]inOwn
}

// ownRate reports a term of the right-hand side of a state of unknown unit that is proportional to
// the state, by a factor that is not in 1/time. It returns false if it reports one.
func (c *checker) ownRate(what string, sym *model.Symbol, value model.Expr) bool {
	want := units.One.Div(c.model.Time.Type.Unit)
	if !want.Known() || sym.Type.Unit.Known() || value.Type().Unit.Known() || c.unitMode == "off" {
		return true
	}
	o := own{sym, map[model.Expr]inOwn{}}
	for _, term := range summands(value, nil) {
		u := o.of(term)
		if !u.ok || u.power != 1 || u.times.Same(want) || u.times.Plain() { // a writer who gives no unit means none
			continue
		}
		name := sym.Name
		hint := ""
		if u.times.SameDimension(want) {
			hint = fmt.Sprintf(" (same dimension, factor %.6g)", units.Factor(u.times, want))
		}
		d := c.unitErrorf(term.Span(), "%s has the unit of %s times %s, expected times %s%s", what, name,
			bracketed(u.times), bracketed(want), hint)
		if text := c.unitsWithin(term); text != "" {
			d.Relate(term.Span(), "%s", text)
		}
		c.declaration(d, &model.Ref{Base: model.NewBase(c.model.Time.Type, c.model.Time.Span), Sym: c.model.Time})
		return false
	}
	return true
}

// summands lists the terms of a sum.
func summands(e model.Expr, list []model.Expr) []model.Expr {
	if call, ok := e.(*model.Call); ok && (call.Fn.Name == "+" || call.Fn.Name == "-") && len(call.Args) == 2 {
		return summands(call.Args[1], summands(call.Args[0], list))
	}
	return append(list, e)
}

func (o *own) of(e model.Expr) inOwn {
	if u, ok := o.seen[e]; ok {
		return u
	}
	o.seen[e] = inOwn{}
	u := o.work(e)
	o.seen[e] = u
	return u
}

func (o *own) work(e model.Expr) inOwn {
	if u := known(e); u.Known() {
		return inOwn{times: u, ok: true}
	}
	switch e := e.(type) {
	case *model.Ref:
		return inOwn{power: 1, times: units.One, ok: e.Sym == o.sym}
	case *model.Access:
		return o.of(e.X)
	case *model.Limit:
		return o.of(e.X)
	case *model.NoEvent:
		return o.of(e.X)
	case *model.If:
		return o.first(e.Then, e.Else)
	case *model.Stack:
		return o.first(e.Elems...)
	case *model.Reduce:
		if e.Fn.Name != "prod" {
			return o.of(e.Body)
		}
	case *model.Call:
		return o.call(e)
	}
	return inOwn{}
}

// first returns the first known unit of several expressions, which share one.
func (o *own) first(list ...model.Expr) inOwn {
	for _, e := range list {
		if u := o.of(e); u.ok {
			return u
		}
	}
	return inOwn{}
}

func (o *own) call(e *model.Call) inOwn {
	switch e.Fn.Units {
	case stdlib.UnitsSame:
		return o.first(e.Args...)
	case stdlib.UnitsProduct:
		a, b := o.of(e.Args[0]), o.of(e.Args[1])
		return inOwn{a.power + b.power, a.times.Mul(b.times), a.ok && b.ok}
	case stdlib.UnitsQuotient:
		a, b := o.of(e.Args[0]), o.of(e.Args[1])
		return inOwn{a.power - b.power, a.times.Div(b.times), a.ok && b.ok}
	case stdlib.UnitsPower:
		k, ok := e.Args[1].(*model.Const)
		if !ok || len(k.Data) != 1 {
			return inOwn{}
		}
		if r, ok := exponent(k.Data[0]); ok && r.Den == 1 {
			a := o.of(e.Args[0])
			return inOwn{a.power * int64(r.Num), a.times.Pow(r), a.ok}
		}
	}
	return inOwn{}
}
