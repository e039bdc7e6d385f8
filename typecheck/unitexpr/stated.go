package unitexpr

import (
	"slices"

	"odes.dev/odes/lang/ast"
)

// Written reports whether e is a number with a unit, with a sign or not, or an array of them.
func Written(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Number:
		return e.Unit != nil
	case *ast.Unary:
		return Written(e.X)
	case *ast.Paren:
		return Written(e.X)
	case *ast.Array:
		if e.Unit != nil {
			return true
		}
		return len(e.Elems) > 0 && !slices.ContainsFunc(e.Elems, func(x ast.Expr) bool { return !Written(x) })
	}
	return false
}

// StatesUnit reports whether a unit is written in e: with it, even 1 is a unit that was meant.
func StatesUnit(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Number:
			found = found || n.Unit != nil
		case *ast.Array:
			found = found || n.Unit != nil
		case *ast.As:
			found = true
		}
		return !found
	})
	return found
}
