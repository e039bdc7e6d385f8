package tapec

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/tape"
)

// slope returns the derivative by time of e, a scalar function of time, params and discretes while modes are held; nil
// for zero. It reports false where e has an operation that it does not know.
func (c *compiler) slope(e model.Expr) (model.Expr, bool) {
	if c.flow(e, false) == 0 {
		return nil, true
	}
	num := func(x float64) model.Expr {
		return &model.Const{Base: model.Base{T: e.Type(), S: e.Span()}, Data: []float64{x}}
	}
	op := func(name string, a, b model.Expr) model.Expr { return join2(name, e, a, b) }
	fn := func(name string, a model.Expr) model.Expr {
		return &model.Call{
			Base: model.Base{T: e.Type(), S: e.Span()}, Fn: stdlib.Find(name, stdlib.Elementwise),
			Args: []model.Expr{a},
		}
	}
	switch x := e.(type) {
	case *model.Ref:
		return num(1), x.Sym.Kind == model.TimeSymbol && len(e.Type().Shape) == 0
	case *model.Call:
		if len(e.Type().Shape) > 0 || x.Fn.Class != stdlib.Elementwise || len(x.Args) > 2 {
			return nil, false
		}
		d := make([]model.Expr, len(x.Args))
		for i, a := range x.Args {
			var ok bool
			if d[i], ok = c.slope(a); !ok {
				return nil, false
			}
		}
		a, da := x.Args[0], d[0]
		times := func(f model.Expr) (model.Expr, bool) { return op("*", f, da), true }
		switch x.Fn.Op {
		case tape.Add, tape.Sub:
			return plus(x.Fn.Name, e, d[0], d[1]), true
		case tape.Mod:
			return da, d[1] == nil
		case tape.Mul:
			return plus("+", e, scaled(e, da, x.Args[1]), scaled(e, d[1], a)), true
		case tape.Div:
			b := x.Args[1]
			down := scaled(e, d[1], op("/", e, b))
			if da != nil {
				da = op("/", da, b)
			}
			return plus("-", e, da, down), true
		case tape.Pow:
			k, ok := x.Args[1].(*model.Const)
			if !ok {
				return nil, false
			}
			return times(op("*", k, op("^", a, num(k.Data[0]-1))))
		case tape.Neg:
			return &model.Call{Base: x.Base, Fn: x.Fn, Args: d}, true
		case tape.Sqr:
			return times(op("*", num(2), a))
		case tape.Sqrt:
			return times(op("/", num(0.5), e))
		case tape.Exp:
			return times(e)
		case tape.Log:
			return times(op("/", num(1), a))
		case tape.Sin:
			return times(fn("cos", a))
		case tape.Cos:
			return times(op("-", num(0), fn("sin", a)))
		case tape.Tan:
			return times(op("+", num(1), op("*", e, e)))
		case tape.Sinh:
			return times(fn("cosh", a))
		case tape.Cosh:
			return times(fn("sinh", a))
		case tape.Tanh:
			return times(op("-", num(1), op("*", e, e)))
		case tape.Atan:
			return times(op("/", num(1), op("+", num(1), op("*", a, a))))
		}
	}
	return nil, false
}

// plus is a + b or a − b, where nil is zero.
func plus(name string, like, a, b model.Expr) model.Expr {
	switch {
	case b == nil:
		return a
	case a == nil && name == "+":
		return b
	case a == nil:
		a = &model.Const{Base: model.Base{T: like.Type(), S: like.Span()}, Data: []float64{0}}
	}
	return join2(name, like, a, b)
}

// scaled is a·b, where nil is zero.
func scaled(like, a, b model.Expr) model.Expr {
	if a == nil {
		return nil
	}
	return join2("*", like, a, b)
}

// touches returns the slope and the curvature of the root of an equality of time, where it may touch zero without
// crossing it, as cos(t) − 1 does.
func (c *compiler) touches(root model.Expr) (slope, curvature model.Expr, ok bool) {
	if c.flow(root, false) != model.UsesTime || c.degree(root, false) < 2 {
		return nil, nil, false
	}
	if slope, ok = c.slope(root); !ok || slope == nil {
		return nil, nil, false
	}
	curvature, ok = c.slope(slope)
	return slope, curvature, ok && curvature != nil
}

// noise is the part of the terms of a sum below which it is not told from zero.
const noise = 0x1p-40

// terms returns the sum of the sizes of the terms that f is a sum or difference of.
func terms(l *lowerer, f model.Expr, s scope) array {
	if call, ok := f.(*model.Call); ok && (call.Fn.Op == tape.Sub || call.Fn.Op == tape.Add) {
		return l.elementwise(tape.Add, terms(l, call.Args[0], s), terms(l, call.Args[1], s))
	}
	return l.elementwise(tape.Abs, l.lower(f, s))
}

// nearZero returns whether f is zero within the rounding of its terms.
func nearZero(l *lowerer, f model.Expr, s scope) array {
	return l.elementwise(tape.LessEq, l.elementwise(tape.Abs, l.lower(f, s)),
		l.elementwise(tape.Mul, l.number(noise), terms(l, f, s)))
}

// crosses returns whether the extremum of f next to a root lies beyond the rounding of its terms: whether f crosses
// zero.
func crosses(l *lowerer, f, slope, curvature model.Expr, s scope) array {
	op := func(op tape.Op, xs ...array) array { return l.elementwise(op, xs...) }
	depth := op(tape.Mul, l.number(noise*2), op(tape.Mul, terms(l, f, s), op(tape.Abs, l.lower(curvature, s))))
	return op(tape.Less, depth, op(tape.Sqr, l.lower(slope, s)))
}
