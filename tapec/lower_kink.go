package tapec

import (
	"math"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
)

// corner is a kink at times known beforehand: those at which x, a ramp, is equal to at.
type corner struct {
	x, at model.Expr // at is nil for 0
	s     scope      // in which they are lowered
}

// corner notes the times at which e, a min, max or abs, has a kink, so that steps end there: where a ramp meets what
// depends on params and discretes only. Tables that are read at a ramp have min and max of it and their knots.
func (c *compiler) corner(e *model.Call, s scope) (some bool) {
	for k, x := range e.Args {
		if !ramp(x) {
			continue
		}
		var at model.Expr
		if e.Fn.Op != tape.Abs {
			if at = e.Args[1-k]; !known(at) {
				continue
			}
		}
		some = true
		c.meet(corner{x, at, s})
	}
	return some
}

// meet makes steps end at a corner.
func (c *compiler) meet(k corner) {
	key := cornerKey{k.x, k.at, k.s.key(append(model.Free(k.x), freeOf(k.at)...))}
	if !c.cornered[key] {
		c.cornered[key] = true
		c.corners = append(c.corners, k)
	}
}

// kink notes that e, a min, max or abs of the rates, has a kink at times that are not known beforehand.
func (c *compiler) kink(e *model.Call, s scope) {
	key := memoKey{e: e, bound: s.key(model.Free(e))}
	if s.plain || c.flow(e, false) == 0 || c.kinked[key] {
		return
	}
	c.kinked[key] = true
	c.kinks = append(c.kinks, kink{e, s})
}

// kink is a kink of the rates.
type kink struct {
	e *model.Call
	s scope
}

// Numbers of elements beyond which steps do not end at kinks: fields have too many. Those of states are looked for
// within every step; those of time alone cost a step each.
const (
	mostKinks      = 32
	mostClockKinks = 1000
)

// kinkMargins calls visit with what changes its sign at each kink, of time alone or of states. It visits none if they
// have too many elements.
func (l *lowerer) kinkMargins(clock bool, visit func(k kink, margin array)) {
	var list []kink
	var margins []array
	elements, most := 0, mostKinks
	if clock {
		most = mostClockKinks
	}
	for _, k := range l.c.kinks {
		if (l.c.flow(k.e, false) == model.UsesTime) != clock {
			continue
		}
		l.span = k.e.Span()
		margin := l.lower(k.e.Args[0], k.s)
		if k.e.Fn.Op != tape.Abs {
			margin = l.elementwise(tape.Sub, margin, l.lower(k.e.Args[1], k.s))
		}
		if elements += join(lengths(margin.ax), margin.own).Size(); elements > most {
			l.c.kinksLeft = true
			return
		}
		list, margins = append(list, k), append(margins, margin)
	}
	for i, k := range list {
		l.span = k.e.Span()
		visit(k, margins[i])
	}
}

// left lists what the margins of kinks read, where steps do not end at all of them.
func (c *compiler) left() (list []Name) {
	if !c.kinksLeft {
		return nil
	}
	l := c.lowerer("kinks")
	l.held = true
	var margins []tape.Value
	for _, k := range c.kinks {
		for _, a := range k.e.Args {
			x := l.lower(a, k.s)
			margins = append(margins, l.flat(x, x.ax, x.own))
		}
	}
	l.output(Margins.Name(), l.emit().Concat(0, margins...))
	for _, in := range l.b.Needed().Inputs {
		list = append(list, MustName(in.Name))
	}
	return list
}

// cornerKey tells corners apart.
type cornerKey struct {
	x, at model.Expr
	bound string
}

func freeOf(e model.Expr) []*model.Index {
	if e == nil {
		return nil
	}
	return model.Free(e)
}

// known reports whether e depends on params and discretes only.
func known(e model.Expr) bool {
	return model.Depends(e)&^(model.UsesParam|model.UsesDiscrete) == 0
}

// ramp reports whether e is an affine function of time, with coefficients that depend on params and discretes only,
// or such a function within bounds.
func ramp(e model.Expr) bool {
	switch e := e.(type) {
	case *model.Ref:
		return e.Sym.Kind == model.TimeSymbol
	case *model.Call:
		switch e.Fn.Op {
		case tape.Neg:
			return ramp(e.Args[0])
		case tape.Add, tape.Sub, tape.Mul:
			return ramp(e.Args[0]) && known(e.Args[1]) || known(e.Args[0]) && ramp(e.Args[1])
		case tape.Div:
			return ramp(e.Args[0]) && known(e.Args[1])
		case tape.Min, tape.Max:
			return ramp(e.Args[0]) || ramp(e.Args[1])
		}
	}
	return false
}

// meets returns the time at which e, a ramp, is y; +Inf where it does not move. Bounds are taken for never active:
// where they are, there is no kink, and a step ends for nothing.
func (l *lowerer) meets(e model.Expr, y array, s scope) array {
	call, ok := e.(*model.Call)
	if !ok {
		return y
	}
	op := func(op tape.Op, xs ...array) array { return l.elementwise(op, xs...) }
	x, k := call.Args[0], 0
	if !ramp(x) {
		x, k = call.Args[1], 1
	}
	other := func() array { return l.lower(call.Args[1-k], s) }
	switch call.Fn.Op {
	case tape.Neg:
		y = op(tape.Neg, y)
	case tape.Add:
		y = op(tape.Sub, y, other())
	case tape.Sub:
		if k == 0 {
			y = op(tape.Add, y, other())
		} else {
			y = op(tape.Sub, other(), y)
		}
	case tape.Mul:
		slope, zero := other(), l.number(0)
		rests := op(tape.Equal, slope, zero)
		y = op(tape.Select, rests, l.number(math.Inf(1)), op(tape.Div, y, op(tape.Select, rests, l.number(1), slope)))
	case tape.Div:
		y = op(tape.Mul, y, other())
	}
	return l.meets(x, y, s)
}

// time returns the time of a corner.
func (l *lowerer) time(k corner) array {
	y := l.number(0)
	if k.at != nil {
		y = l.lower(k.at, k.s)
	}
	return l.meets(k.x, y, k.s)
}
