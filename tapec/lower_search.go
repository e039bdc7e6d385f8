package tapec

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
)

// search reads a table by a search. It adds up the pieces on both sides of the interval found as well, so that a kink
// at one of its ends has both of its slopes. Beyond the ends of the table there are none: what stands for them ends
// before it begins, so that nothing lies in it, and no time is at its end.
func (l *lowerer) search(t *model.Search, s scope) array {
	q := l.lower(t.Time, s)
	if l.held {
		l.c.meet(corner{t.Time, t.Knots, s})
	}
	op := func(op tape.Op, xs ...array) array { return l.elementwise(op, xs...) }
	at := array{v: l.emit().Find(l.lower(t.Knots, s).v, q.v), ax: q.ax}
	around := array{v: l.emit().Const(tape.Shape{4}, -1, 0, 1, 2), own: tape.Shape{4}}
	places := op(tape.Add, at, around)
	knots, values := l.apart(l.at(t.Knots, places, s)), l.allAlong(t.Values, places, s)
	var slopes [4]array
	if t.Slopes != nil {
		slopes = l.allAlong(t.Slopes, places, s)
	}
	one, two, three := l.number(1), l.number(2), l.number(3)
	sum := values[0]
	for k := range 3 {
		t0, t1 := knots[k], knots[k+1]
		if k != 1 {
			t1 = op(tape.Select, op(tape.Equal, t1, t0), op(tape.Sub, t0, one), t1)
		}
		h := op(tape.Sub, t1, t0)
		slope := op(tape.Div, op(tape.Sub, values[k+1], values[k]), h)
		w := op(tape.Sub, op(tape.Max, op(tape.Min, t1, q), t0), t0)
		rise := slope
		if t.Slopes != nil { // Hermite's cubic, as package typecheck sums it
			d0, d1 := slopes[k], slopes[k+1]
			c2 := op(tape.Div, op(tape.Sub, op(tape.Mul, three, slope), op(tape.Add, op(tape.Mul, two, d0), d1)), h)
			c3 := op(tape.Div, op(tape.Sub, op(tape.Add, d0, d1), op(tape.Mul, two, slope)), op(tape.Mul, h, h))
			rise = op(tape.Add, d0, op(tape.Mul, w, op(tape.Add, c2, op(tape.Mul, w, c3))))
		}
		sum = op(tape.Add, sum, op(tape.Mul, w, rise))
	}
	return sum
}

// allAlong returns the elements of e, a vector or a matrix, at four places along its last axis. Those of a vector are
// read at once, so that the transpose of the reading adds to all of e once.
func (l *lowerer) allAlong(e model.Expr, places array, s scope) (list [4]array) {
	if len(shapeOf(e)) == 1 {
		return l.apart(l.along(e, places, s))
	}
	for k, place := range l.apart(places) {
		list[k] = l.along(e, place, s)
	}
	return list
}

// apart returns the four elements of x.
func (em *emitter) apart(x array) (list [4]array) {
	start, one := make([]int, len(x.ax)+1), append(lengths(x.ax), 1)
	for k := range list {
		start[len(x.ax)] = k
		list[k] = array{v: em.reshape(em.emit().Slice(x.v, start, one, nil), lengths(x.ax)), ax: x.ax}
	}
	return list
}
