package terms

import (
	"math"
	"strconv"
	"strings"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/units"
)

// UnitOf returns the unit that is known of what stands together.
func UnitOf(args []model.Expr) units.Unit {
	unknown := false
	var u units.Unit
	for _, a := range args {
		v := a.Type().Unit
		switch {
		case !v.Known():
			unknown = unknown || !Zero(a)
		case !u.Known() || u.Plain():
			u = v
		}
	}
	if unknown && u.Plain() {
		return units.Unit{}
	}
	return u
}

// ByHand returns the bare number by which the product e is multiplied, or divided if inverse is set, to convert it by
// factor; nil if there is none.
func ByHand(e model.Expr, factor float64) (number model.Expr, inverse bool) {
	call, ok := e.(*model.Call)
	if !ok {
		return nil, false
	}
	divides := call.Fn.Name == "/"
	if !divides && call.Fn.Name != "*" && call.Fn.Name != "neg" {
		return nil, false
	}
	for k, x := range call.Args {
		inverse, want := divides && k == 1, factor
		if inverse {
			want = 1 / factor
		}
		if v, ok := x.(*model.Const); ok && LiteralNumber(x) && math.Abs(v.Data[0]-want) <= 1e-3*want {
			return x, inverse
		}
		if number, under := ByHand(x, factor); number != nil && !inverse {
			return number, under
		}
	}
	return nil, false
}

// Compound reports whether a text has operators outside brackets.
func Compound(text string) bool {
	depth := 0
	for _, r := range text {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '+', '-', '*', '/', '@', '^':
			if depth == 0 {
				return true
			}
		}
	}
	return strings.HasPrefix(text, "if ")
}

// LiteralNumber reports whether e is a number as it stands in the text.
func LiteralNumber(e model.Expr) bool {
	k, ok := e.(*model.Const)
	if !ok || len(k.Data) != 1 || e.Span().IsZero() {
		return false
	}
	_, err := strconv.ParseFloat(e.Span().Text(), 64)
	return err == nil
}
