package terms

import (
	"math"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// InOwn is the unit of an expression, as the unit of a state to a power times a known unit.
type InOwn struct {
	Power int64
	Times units.Unit
	OK    bool // the unit is known in this form
}

// Own works out units relative to that of the state sym, which is unknown.
type Own struct {
	Sym  *model.Symbol
	seen map[model.Expr]InOwn
}

// Summands lists the terms of a sum.
func Summands(e model.Expr, list []model.Expr) []model.Expr {
	if call, ok := e.(*model.Call); ok && (call.Fn.Name == "+" || call.Fn.Name == "-") && len(call.Args) == 2 {
		return Summands(call.Args[1], Summands(call.Args[0], list))
	}
	return append(list, e)
}

// Of returns the unit of an expression.
func (o *Own) Of(e model.Expr) InOwn {
	if u, ok := o.seen[e]; ok {
		return u
	}
	if o.seen == nil {
		o.seen = map[model.Expr]InOwn{}
	}
	o.seen[e] = InOwn{}
	u := o.work(e)
	o.seen[e] = u
	return u
}

func (o *Own) work(e model.Expr) InOwn {
	if u := Known(e); u.Known() {
		return InOwn{Times: u, OK: true}
	}
	switch e := e.(type) {
	case *model.Ref:
		return InOwn{Power: 1, Times: units.One, OK: e.Sym == o.Sym}
	case *model.Access:
		return o.Of(e.X)
	case *model.Limit:
		return o.Of(e.X)
	case *model.NoEvent:
		return o.Of(e.X)
	case *model.If:
		return o.first(e.Then, e.Else)
	case *model.Stack:
		return o.first(e.Elems...)
	case *model.Reduce:
		if e.Fn.Name != "prod" {
			return o.Of(e.Body)
		}
	case *model.Call:
		return o.call(e)
	}
	return InOwn{}
}

// first returns the first known unit of several expressions, which share one.
func (o *Own) first(list ...model.Expr) InOwn {
	for _, e := range list {
		if u := o.Of(e); u.OK {
			return u
		}
	}
	return InOwn{}
}

func (o *Own) call(e *model.Call) InOwn {
	switch e.Fn.Units {
	case stdlib.UnitsSame:
		return o.first(e.Args...)
	case stdlib.UnitsProduct:
		a, b := o.Of(e.Args[0]), o.Of(e.Args[1])
		return InOwn{a.Power + b.Power, a.Times.Mul(b.Times), a.OK && b.OK}
	case stdlib.UnitsQuotient:
		a, b := o.Of(e.Args[0]), o.Of(e.Args[1])
		return InOwn{a.Power - b.Power, a.Times.Div(b.Times), a.OK && b.OK}
	case stdlib.UnitsPower:
		k, ok := e.Args[1].(*model.Const)
		if !ok || len(k.Data) != 1 {
			return InOwn{}
		}
		if r, ok := Exponent(k.Data[0]); ok && r.Den == 1 {
			a := o.Of(e.Args[0])
			return InOwn{a.Power * int64(r.Num), a.Times.Pow(r), a.OK}
		}
	}
	return InOwn{}
}

// Known returns the unit of a factor. The unit of a whole number is 1.
func Known(e model.Expr) units.Unit {
	if k, ok := e.(*model.Const); ok && !k.T.Unit.Known() && len(k.Data) == 1 && Whole(k.Data[0]) && k.Data[0] != 0 {
		return units.One
	}
	return e.Type().Unit
}

// Exponent recognises small fractions.
func Exponent(x float64) (units.Ratio, bool) {
	for den := int64(1); den <= 12; den++ {
		if n := x * float64(den); Whole(n) && n < 1000 && n > -1000 {
			return units.MakeRatio(int64(n), den)
		}
	}
	for den := int64(3); den <= 12; den++ {
		n := int64(math.Floor(float64(x*float64(den)) + 0.5))
		if n < 1000 && n > -1000 && float64(n)/float64(den) == x {
			return units.MakeRatio(n, den)
		}
	}
	return units.Ratio{}, false
}
