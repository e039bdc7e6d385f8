// Package inference finds the units of names that were written without one. Units that expressions must have are handed
// down to the names in them.
package inference

import (
	"math"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// Unknown reports an expression whose unit could be worked out.
func Unknown(e model.Expr) bool {
	return !e.Type().Unit.Known() && !terms.IsBad(e) && !model.Static(e)
}

// Finder passes demands down to the names.
type Finder struct {
	Time    units.Unit
	Written map[[2]string]bool // mixtures of units that the file writes
	Found   map[string]Found
	Refused []Refusal
	Seen    map[model.Expr]bool // empty at the start
}

// Found is the unit of a name, and the use that it follows from.
type Found struct {
	Unit units.Unit
	Use  source.Span
}

// Refusal is a unit that is not inferred, because it would hide a factor such as that of h in min.
type Refusal struct {
	E    model.Expr // a name
	Unit units.Unit
	Pair [2]string
}

// Hides returns two units of one kind that u mixes although the file never writes them in one unit. It returns false
// if there are none, or if value, where it is known, is the factor between them: then it is meant.
func (f *Finder) Hides(u units.Unit, value model.Expr) (pair [2]string, hides bool) {
	if k, ok := value.(*model.Const); ok && u.Dimensionless() && len(k.Data) == 1 {
		if x := float64(k.Data[0] * units.Factor(u, units.One)); math.Abs(x-1) <= 1e-6 {
			return pair, false
		}
	}
	for _, p := range u.Mixed() {
		if !f.Written[p] && !f.Written[[2]string{p[1], p[0]}] {
			return p, true
		}
	}
	return pair, false
}

// refuse records that e would need the unit u, which hides a factor. It returns false if it does not.
func (f *Finder) refuse(e, value model.Expr, u units.Unit) bool {
	pair, hides := f.Hides(u, value)
	if hides {
		f.Refused = append(f.Refused, Refusal{e, u, pair})
	}
	return hides
}

// Hand passes to the operands of e the units that they need for e to have unit u.
func (f *Finder) Hand(e model.Expr, u units.Unit) {
	if !u.Known() || f.Seen[e] {
		return
	}
	// a const, or a number as it stands in the text
	if k, ok := e.(*model.Const); ok && terms.Bare(k) && !terms.Zero(k) {
		f.Seen[e] = true
		f.refuse(e, k, u)
		return
	}
	if !Unknown(e) {
		return
	}
	f.Seen[e] = true
	switch e := e.(type) {
	case *model.Ref:
		if !e.Sym.Type.Unit.Known() && f.refuse(e, e.Sym.Value, u) {
			return
		}
		if _, ok := f.Found[e.Sym.Name]; !ok && !e.Sym.Type.Unit.Known() {
			f.Found[e.Sym.Name] = Found{Unit: u, Use: e.S}
		}
	case *model.Call:
		f.call(e, u)
	case *model.Access:
		f.Hand(e.X, u)
	case *model.Assemble:
		for _, p := range e.Pieces {
			f.Hand(p.Value, u)
		}
	case *model.Reduce:
		if e.Fn.Name != "prod" {
			f.Hand(e.Body, u)
		}
	case *model.If:
		f.Hand(e.Then, u)
		f.Hand(e.Else, u)
	case *model.Stack:
		for _, x := range e.Elems {
			f.Hand(x, u)
		}
	case *model.NoEvent:
		f.Hand(e.X, u)
	case *model.Limit:
		f.Hand(e.X, u)
	case *model.Functional:
		switch {
		case e.Table != nil || e.Kind == model.EventTime:
		case e.Kind == model.Integral:
			f.Hand(e.Body, u.Div(f.Time))
		default:
			f.Hand(e.Body, u)
		}
	}
}

func (f *Finder) call(e *model.Call, u units.Unit) {
	all := func() {
		for _, a := range e.Args {
			f.Hand(a, u)
		}
	}
	switch e.Fn.Units {
	case stdlib.UnitsSame:
		all()
	case stdlib.UnitsProduct:
		a, b := e.Args[0], e.Args[1]
		f.Hand(b, u.Div(terms.Known(a)))
		f.Hand(a, u.Div(terms.Known(b)))
	case stdlib.UnitsQuotient:
		a, b := e.Args[0], e.Args[1]
		f.Hand(a, u.Mul(terms.Known(b)))
		f.Hand(b, terms.Known(a).Div(u))
	case stdlib.UnitsRoot:
		n := int64(2)
		if e.Fn.Name == "cbrt" {
			n = 3
		}
		r, _ := units.MakeRatio(n, 1)
		f.Hand(e.Args[0], u.Pow(r))
	case stdlib.UnitsPower:
		if k, ok := e.Args[1].(*model.Const); ok && len(k.Data) == 1 {
			if r, ok := terms.Exponent(k.Data[0]); ok && r.Num != 0 {
				inverse, _ := units.MakeRatio(int64(r.Den), int64(r.Num))
				f.Hand(e.Args[0], u.Pow(inverse))
			}
		}
	}
}
