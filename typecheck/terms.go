package typecheck

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// writer is the checker as packages know it that write terms.
type writer struct{ *checker }

func (w writer) Apply(fn *stdlib.Func, at source.Span, args ...model.Expr) model.Expr {
	return w.apply(fn, at, args...)
}

func (w writer) Elementwise(fn *stdlib.Func, at source.Span, kind types.Kind, args ...model.Expr) model.Expr {
	return w.elementwise(fn, at, kind, args...)
}

func (w writer) Broadcast(op string, at source.Span, args ...model.Expr) (types.Shape, bool) {
	return w.broadcastShape(op, at, args...)
}

func (w writer) Reduction(at source.Span, fn *stdlib.Func, v model.Expr) model.Expr {
	return w.reduction(at, fn, v)
}

func (w writer) Fold(e *model.Access) model.Expr             { return w.foldAccess(e) }
func (w writer) Fits(shape types.Shape, at source.Span) bool { return w.fits(shape, at) }
func (w writer) Position(ix *model.Index) model.Expr         { return w.position(ix) }
func (w writer) Quietly(f func() model.Expr) model.Expr      { return w.quietly(f) }

// bad is the value of an expression with a reported error. It is compatible with everything.
func bad(s source.Span) model.Expr { return terms.Bad(s) }

func isBad(e model.Expr) bool { return terms.IsBad(e) }

// number returns a scalar constant.
func number(x float64, u units.Unit, s source.Span) model.Expr { return terms.Number(x, u, s) }

// retype returns e with another type: the same values in another unit.
func retype(e model.Expr, t types.Type) model.Expr { return terms.Retype(e, t) }

func whole(x float64) bool { return terms.Whole(x) }

// zero reports whether e is a constant whose value fits every unit.
func zero(e model.Expr) bool { return terms.Zero(e) }

// bare reports whether e is a plain number that is known at compile time.
func bare(e model.Expr) bool { return terms.Bare(e) }

// bracketed returns a unit as messages print it.
func bracketed(u units.Unit) string { return terms.Bracketed(u) }
