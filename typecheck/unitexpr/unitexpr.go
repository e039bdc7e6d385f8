// Package unitexpr works out units as they are written, and says what a name that is no unit may mean.
package unitexpr

import (
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
)

// Names knows what the names in a unit stand for, and hears what is wrong with it.
type Names interface {
	// Unit is that of a name; false for none. What is wrong with its declaration has been reported.
	Unit(name string, at source.Span) (units.Unit, bool)
	// NoUnit hears of a name that is no unit.
	NoUnit(name string, at source.Span)
	// OutOfRange hears of an exponent that no unit can have.
	OutOfRange(at source.Span)
	// Mixes hears that a unit has two names of one kind, such as L and cm^3.
	Mixes(pair [2]string)
}

// Evaluate returns a unit as written. It is unknown after an error.
func Evaluate(u *ast.Unit, names Names) units.Unit {
	result := units.One
	for i := range u.Factors {
		f := &u.Factors[i]
		r, ok := units.MakeRatio(int64(f.Num), int64(f.Den))
		if !ok {
			names.OutOfRange(f.Span)
			return units.Unit{}
		}
		if v := factor(f, names).Pow(r); f.Div {
			result = result.Div(v)
		} else {
			result = result.Mul(v)
		}
	}
	for _, p := range result.Mixed() {
		names.Mixes(p)
	}
	return result
}

// factor returns a factor of a unit, without its exponent.
func factor(f *ast.UnitFactor, names Names) units.Unit {
	switch {
	case f.Group != nil:
		return Evaluate(f.Group, names)
	case f.Number == nil:
		u, ok := names.Unit(f.Name, f.Span)
		if !ok {
			names.NoUnit(f.Name, f.Span)
		}
		return u
	case f.Number.Value == 1:
		return units.One
	}
	return units.New(f.Number.Text, f.Number.Value, units.One)
}
