// Package terms writes terms of models that do not stand so in the text: the interpolation of tables, functions that
// are constant between times, products with sparse matrices. It reads no text. What it needs of the checker, which
// knows the file, is in Checker.
package terms

import (
	"math"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// Checker makes expressions, and reports what does not fit.
type Checker interface {
	// Apply applies a function or an operator.
	Apply(fn *stdlib.Func, at source.Span, args ...model.Expr) model.Expr
	// Elementwise applies a function to the elements of its arguments; the result has the kind.
	Elementwise(fn *stdlib.Func, at source.Span, kind types.Kind, args ...model.Expr) model.Expr
	// Broadcast returns the shape that all arguments have together.
	Broadcast(op string, at source.Span, args ...model.Expr) (types.Shape, bool)
	// Fold returns the elements of what is known when the model is compiled.
	Fold(e *model.Access) model.Expr
	// Reduction reduces the elements of a value to one.
	Reduction(at source.Span, fn *stdlib.Func, v model.Expr) model.Expr
	// Fits reports a shape with too many elements.
	Fits(shape types.Shape, at source.Span) bool
	// Position is the value of an index.
	Position(ix *model.Index) model.Expr
	// Quietly calls f, and reports nothing of its units.
	Quietly(f func() model.Expr) model.Expr
}

// Bad is the value of an expression with a reported error. It is compatible with everything.
func Bad(at source.Span) model.Expr {
	return model.Seal(&model.Const{
		Base: model.NewBase(types.Type{Kind: types.Invalid}, at), Data: []float64{math.NaN()},
	})
}

// IsBad reports whether e is the value of an expression with a reported error.
func IsBad(e model.Expr) bool { return e.Type().Kind == types.Invalid }

// Number returns a scalar constant.
func Number(x float64, u units.Unit, at source.Span) model.Expr {
	kind := types.Real
	if Whole(x) && !(u.Known() && !u.Plain()) {
		kind = types.Int
	}
	return model.Seal(&model.Const{Base: model.NewBase(types.Type{Kind: kind, Unit: u}, at), Data: []float64{x}})
}

// Whole reports whether x is a whole number that is held exactly.
func Whole(x float64) bool { return x == math.Trunc(x) && math.Abs(x) < 1<<53 }

// Less is `a < b`, whose units are known to fit.
func Less(c Checker, at source.Span, a, b model.Expr) model.Expr {
	return c.Quietly(func() model.Expr { return c.Elementwise(stdlib.Operator("<"), at, types.Bool, a, b) })
}
