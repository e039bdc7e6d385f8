package terms

import (
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

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
