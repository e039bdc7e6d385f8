package tapec

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/tape"
)

// interval returns the number of the interval between knots that e tells, as it is now. Find tells it but for
// enclosures, in which it leaves the knot at their upper end to what is continuous there. Intervals are not.
func (l *lowerer) interval(e *model.Call, s scope) array {
	op := func(op tape.Op, xs ...array) array { return l.elementwise(op, xs...) }
	q, n := l.lower(e.Args[0], s), shapeOf(e.Args[1])[0]
	knots := l.emit().Pad(l.lower(e.Args[1], s).v, tape.Shape{n + 2}, []int{1}, nil) // Find has two ends more
	at := array{v: l.emit().Find(knots, q.v), ax: q.ax}
	more := op(tape.And, op(tape.Less, at, l.number(float64(n))), op(tape.LessEq, l.at(e.Args[1], at, s), q))
	return op(tape.Select, more, op(tape.Add, at, l.number(1)), at)
}

// outside returns the root functions of the mode that holds an interval, with their truths: at its end, and at its
// begin. The first interval has no begin, and the last has no end.
func (l *lowerer) outside(e *model.Call, held array, s scope) [][2]array {
	op := func(op tape.Op, xs ...array) array { return l.elementwise(op, xs...) }
	q, never := l.lower(e.Args[0], s), l.number(-1)
	lo, hi := l.at(e.Args[1], op(tape.Sub, held, l.number(1)), s), l.at(e.Args[1], held, s)
	begins := op(tape.Less, l.number(0), held)
	ends := op(tape.Less, held, l.number(float64(shapeOf(e.Args[1])[0])))
	return [][2]array{
		{op(tape.Select, ends, op(tape.Sub, q, hi), never), op(tape.And, ends, op(tape.LessEq, hi, q))},
		{op(tape.Select, begins, op(tape.Sub, lo, q), never), op(tape.And, begins, op(tape.Less, q, lo))},
	}
}

// along returns the elements of e, a vector or a matrix, at a place along its last axis; of a vector also at several.
func (l *lowerer) along(e model.Expr, place array, s scope) array {
	shape := shapeOf(e)
	v, last := l.lower(e, s).v, len(shape)-1
	if last == 0 {
		return array{v: l.emit().Pick(v, place.v), ax: place.ax, own: place.own}
	}
	rows := make([]float64, shape[0])
	for i := range rows {
		rows[i] = float64(i * shape[last])
	}
	own := shape[:last]
	places := l.elementwise(tape.Add, array{v: l.emit().Const(own, rows...), own: own}, place)
	return array{v: l.emit().Pick(l.reshape(v, tape.Shape{shape.Size()}), places.v), ax: places.ax, own: own}
}

// at is along, but of what is made of vectors element by element, only those elements are computed.
func (l *lowerer) at(e model.Expr, place array, s scope) array {
	op := func(op tape.Op, xs ...array) array { return l.elementwise(op, xs...) }
	switch e := e.(type) {
	case *model.Access:
		if part := e.Subs[0]; len(e.Subs) == 1 && part.At == nil {
			place = op(tape.Add, op(tape.Mul, place, l.number(float64(part.Step))), l.number(float64(part.Lo-1)))
			return l.at(e.X, place, s)
		}
	case *model.Call:
		if e.Fn.Class != stdlib.Elementwise || !e.Fn.Op.Valid() || isJump(e.Fn) {
			break
		}
		args := make([]array, len(e.Args))
		for k, a := range e.Args {
			if len(shapeOf(a)) == 0 {
				args[k] = l.lower(a, s)
			} else {
				args[k] = l.at(a, place, s)
			}
		}
		return op(e.Fn.Op, args...)
	}
	return l.along(e, place, s)
}
