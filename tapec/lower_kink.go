package tapec

import (
	"math"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/stdlib"
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
func (c *compiler) kink(e model.Expr, s scope) {
	key := memoKey{e: e, bound: s.key(model.Free(e))}
	if s.plain || c.flow(e, false) == 0 || c.kinked[key] {
		return
	}
	c.kinked[key] = true
	c.kinks = append(c.kinks, kink{e, s})
}

// kink is a kink of the rates.
type kink struct {
	e model.Expr // a Call, or a Reduce
	s scope
}

// margin is what changes its sign at kinks. It is affine in time if its degree is 1.
type margin struct {
	array
	degree int
	span   source.Span
}

// Numbers of elements beyond which steps do not end at kinks: fields have too many. Those of states are looked for
// within every step; those of time alone cost a step each.
const (
	mostKinks      = 32
	mostClockKinks = 1000
	mostTies       = 8 // elements of an array whose least or largest one is looked for
)

// sameElement is the part of two elements within which they are the same.
const sameElement = 0x1p-40

// kinkMargins returns what changes its sign at kinks, of time alone or of states. It returns nothing if those of
// operations have too many elements, and leaves out arrays that have too many for their least or largest element.
func (l *lowerer) kinkMargins(clock bool) (list []margin) {
	elements, most := 0, mostKinks
	if clock {
		most = mostClockKinks
	}
	size := func(of []margin) (n int) {
		for _, m := range of {
			n += join(lengths(m.ax), m.own).Size()
		}
		return n
	}
	var arrays []kink
	for _, k := range l.c.kinks {
		if (l.c.flow(k.e, false) == model.UsesTime) != clock {
			continue
		}
		if isReduction(k.e) {
			arrays = append(arrays, k)
			continue
		}
		l.span = k.e.Span()
		m := margin{l.lower(k.e.(*model.Call).Args[0], k.s), 0, k.e.Span()}
		if call := k.e.(*model.Call); call.Fn.Op != tape.Abs {
			m.array = l.elementwise(tape.Sub, m.array, l.lower(call.Args[1], k.s))
		}
		for _, a := range k.e.(*model.Call).Args {
			m.degree = max(m.degree, l.c.degree(a, false))
		}
		list = append(list, m)
		if elements = size(list); elements > most {
			l.c.kinksLeft = true
			return nil
		}
	}
	for _, k := range arrays {
		l.span = k.e.Span()
		of, all := l.ties(k, clock)
		if n := size(of); all && elements+n <= most {
			list, elements = append(list, of...), elements+n
		} else {
			l.c.kinksLeft = true
		}
	}
	return list
}

// isReduction reports whether e is the least or largest element of an array or a loop.
func isReduction(e model.Expr) bool {
	switch e := e.(type) {
	case *model.Reduce:
		return true
	case *model.Call:
		return e.Fn.Class == stdlib.Reduction
	}
	return false
}

// ties returns what changes its sign where the least or largest of some elements, k, becomes another one: the
// differences of pairs, of the least or largest of these, and so on, as if min or max of two were nested. Elements that
// are the same but for rounding, as those of symmetric fields, do not change places.
// It returns false where there are too many.
func (l *lowerer) ties(k kink, clock bool) (list []margin, all bool) {
	x, gone, of, name := l.elements(k)
	rest := without(x.ax, gone...)
	n := lengths(gone).Size() * x.own.Size()
	rows := lengths(rest).Size()
	if n > mostTies && !clock {
		return nil, false
	}
	b := l.emit()
	v := b.Reshape(l.vector(x, append(rest[:len(rest):len(rest)], gone...), x.own), tape.Shape{rows, n})
	op, degree := tape.Max, l.c.degree(of, false)
	if name == "min" {
		op = tape.Min
	}
	for ; n > 1; n = (n + 1) / 2 {
		half := n / 2
		part := func(from, n int) tape.Value { return b.Slice(v, []int{0, from}, tape.Shape{rows, n}, []int{1, 1}) }
		one, other := part(0, half), part(half, half)
		d := b.Sub(one, other)
		if !clock {
			d = tape.Seamlessly(b, func() tape.Value {
				blur := b.Mul(b.Scalar(sameElement), b.Add(b.Op1(tape.Abs, one), b.Op1(tape.Abs, other)))
				return b.Select(b.Op2(tape.LessEq, b.Op1(tape.Abs, d), blur), b.Add(d, b.Mul(b.Scalar(2), blur)), d)
			})
		}
		tie := array{v: b.Reshape(d, tape.Shape{rows * half}), own: tape.Shape{rows * half}}
		list = append(list, margin{tie, degree, k.e.Span()})
		next := b.Op2(op, one, other)
		if n%2 == 1 {
			next = b.Concat(1, next, part(n-1, 1))
		}
		v, degree = next, 2
	}
	return list, true
}

// elements returns the elements that a reduction is taken of, and the axes of loops among theirs that it is taken over.
func (l *lowerer) elements(k kink) (x array, gone []*axis, of model.Expr, name string) {
	if call, ok := k.e.(*model.Call); ok {
		return l.lower(call.Args[0], k.s), nil, call.Args[0], call.Fn.Name
	}
	e := k.e.(*model.Reduce)
	s := k.s.with(l.frames, e.Indices)
	over := s.axesOf(e.Indices)
	x, ok := l.trying(func() array { return l.lower(e.Body, s) })
	if !ok { // one axis in place of several
		points := count(lengths(over).Size())
		list := l.frames.part(over, points)
		over = []*axis{list}
		x = l.lower(e.Body, s.within(l.frames, s.axesOf(e.Indices), list, points))
	}
	return x, intersect(over, x.ax), e.Body, e.Fn.Name
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
		if isReduction(k.e) {
			x, _, _, _ := l.elements(k)
			margins = append(margins, l.flat(x, x.ax, x.own))
			continue
		}
		for _, a := range k.e.(*model.Call).Args {
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
