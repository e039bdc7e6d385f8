// Package terms writes terms of models that do not stand so in the text: the interpolation of tables, functions that
// are constant between times, products with sparse matrices. It reads no text. What it needs of the checker, which
// knows the file, is in Checker.
package terms

import (
	"math"
	"slices"

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

// LoopVar returns the value of a loop variable: a whole number, and like one in the text a pure one.
func LoopVar(ix *model.Index, at source.Span) model.Expr {
	return model.Seal(&model.LoopVar{
		Base: model.NewBase(types.Type{Kind: types.Int, Unit: units.One}, at), Index: ix,
	})
}

// Values returns what stands in the text for e: the values of the pieces of an array, else e.
func Values(e model.Expr) []model.Expr {
	a, ok := e.(*model.Assemble)
	if !ok {
		return []model.Expr{e}
	}
	list := make([]model.Expr, len(a.Pieces))
	for k, p := range a.Pieces {
		list[k] = p.Value
	}
	return list
}

// Whole reports whether x is a whole number that is held exactly.
func Whole(x float64) bool { return x == math.Trunc(x) && math.Abs(x) < 1<<53 }

// Less is `a < b`, whose units are known to fit.
func Less(c Checker, at source.Span, a, b model.Expr) model.Expr {
	return c.Quietly(func() model.Expr { return c.Elementwise(stdlib.Operator("<"), at, types.Bool, a, b) })
}

// Zero reports whether e is a constant whose value fits every unit.
func Zero(e model.Expr) bool {
	k, ok := e.(*model.Const)
	return ok && len(k.Data) == 1 && (k.Data[0] == 0 || k.Data[0]-k.Data[0] != 0)
}

// Bare reports whether e is a plain number that is known at compile time. In a declaration such a
// number takes the declared unit.
func Bare(e model.Expr) bool {
	u := e.Type().Unit
	return model.Static(e) && (!u.Known() || u.Plain())
}

// Bracketed returns a unit as messages print it.
func Bracketed(u units.Unit) string { return "[" + u.String() + "]" }

// Not removes `not` by negating comparisons.
func Not(e model.Expr, negate bool) model.Expr {
	k, ok := e.(*model.Call)
	if !ok {
		if !negate {
			return e
		}
		if k, ok := e.(*model.Const); ok {
			d := slices.Clone(k.Data)
			for i := range d {
				d[i] = 1 - d[i]
			}
			return model.Seal(&model.Const{Base: model.NewBase(k.T, k.S), Data: d})
		}
		return model.Seal(&model.Call{
			Base: model.NewBase(e.Type(), e.Span()), Fn: stdlib.Operator("not"),
			Args: []model.Expr{e},
		})
	}
	remake := func(name string, args ...model.Expr) model.Expr {
		return model.Seal(&model.Call{Base: model.NewBase(k.T, k.S), Fn: stdlib.Operator(name), Args: args})
	}
	switch k.Fn.Name {
	case "not":
		return Not(k.Args[0], !negate)
	case "and", "or":
		name := k.Fn.Name
		if negate {
			name = map[string]string{"and": "or", "or": "and"}[name]
		}
		return remake(name, Not(k.Args[0], negate), Not(k.Args[1], negate))
	}
	if !negate {
		return e
	}
	switch k.Fn.Name {
	case "<":
		return remake("<=", k.Args[1], k.Args[0])
	case "<=":
		return remake("<", k.Args[1], k.Args[0])
	case "==":
		return remake("!=", k.Args...)
	case "!=":
		return remake("==", k.Args...)
	}
	return model.Seal(&model.Call{
		Base: model.NewBase(e.Type(), e.Span()), Fn: stdlib.Operator("not"),
		Args: []model.Expr{e},
	})
}

// BeforeOthers is the priority of triggers and lapses: below those of the two events of `equilibrate`, which stands
// before the run.
const BeforeOthers = math.MaxFloat64 / 2

// MostElements is how many elements an event may have, or times, where max_events of the file is not more.
const MostElements = 100_000

// Retype returns e with another type: the same values in another unit.
func Retype(e model.Expr, t types.Type) model.Expr {
	switch e := e.(type) {
	case *model.Const:
		return model.Seal(&model.Const{Base: model.NewBase(t, e.S), Data: e.Data})
	case *model.Ref:
		return model.Seal(&model.Ref{Base: model.NewBase(t, e.S), Sym: e.Sym})
	case *model.LoopVar:
		return model.Seal(&model.LoopVar{Base: model.NewBase(t, e.S), Index: e.Index})
	case *model.Call:
		return model.Seal(&model.Call{
			Base: model.NewBase(t, e.S), Fn: e.Fn, Args: e.Args, Search: e.Search, Table: e.Table, Control: e.Control,
		})
	case *model.Access:
		return model.Seal(&model.Access{Base: model.NewBase(t, e.S), X: e.X, Subs: e.Subs})
	case *model.Assemble:
		return model.Seal(&model.Assemble{Base: model.NewBase(t, e.S), Pieces: e.Pieces})
	case *model.Reduce:
		return model.Seal(&model.Reduce{Base: model.NewBase(t, e.S), Fn: e.Fn, Indices: e.Indices, Body: e.Body})
	case *model.If:
		return model.Seal(&model.If{
			Base: model.NewBase(t, e.S), Cond: e.Cond, Then: e.Then, Else: e.Else,
			Static: e.Static, Support: e.Support,
		})
	case *model.Stack:
		return model.Seal(&model.Stack{Base: model.NewBase(t, e.S), Elems: e.Elems})
	case *model.NoEvent:
		return model.Seal(&model.NoEvent{Base: model.NewBase(t, e.S), X: e.X})
	case *model.Limit:
		return model.Seal(&model.Limit{Base: model.NewBase(t, e.S), X: e.X, Post: e.Post})
	case *model.Functional:
		f := *e
		f.Base = model.NewBase(t, e.S)
		return model.Seal(&f)
	case *model.Row:
		return model.Seal(&model.Row{Base: model.NewBase(t, e.S), Table: e.Table, Column: e.Column})
	}
	return e
}
