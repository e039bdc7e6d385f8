package tapec

import (
	"odes.dev/odes/tape"
	"odes.dev/odes/typecheck"
)

// elems returns the number of elements of an event.
func elems(ev *typecheck.Event) int {
	n := 1
	for _, ix := range ev.Indices {
		n *= ix.Count
	}
	return n
}

// fired returns the one-hot vector over the elements of ev, over the axes of
// its indices; ok is false for an event of one element, which needs none.
func (l *lowerer) fired(ev *typecheck.Event, s scope) (mask array, ok bool) {
	n := elems(ev)
	if n == 1 {
		return array{}, false
	}
	order := axesInOrder(s, ev.Indices)
	v := l.input(Fired.Name(), tape.Shape{n})
	l.deep(len(order))
	return l.sorted(array{v: l.reshape(v, lengths(order)), ax: order}), true
}

// affect writes the targets of an event's body. Everything is read at the left limits.
func (c *compiler) affect(ev *typecheck.Event) *tape.Tape {
	l := c.lowerer("affect." + ev.Name)
	l.span = ev.Span
	if elems(ev) == 0 {
		return c.finish(l)
	}
	s := scope{}.with(c.frames, ev.Indices)
	mask, masked := l.fired(ev, s)
	var targets []*typecheck.Symbol
	now := map[*typecheck.Symbol]array{}
	for _, a := range ev.Body {
		if empty(a.Indices) {
			continue
		}
		l.span = a.Span
		old, ok := now[a.Target]
		if !ok {
			old = l.ref(a.Target, s)
			targets = append(targets, a.Target)
		}
		p := l.piece(&typecheck.Piece{Indices: a.Indices, Subs: a.Subs, Value: a.Value, Span: a.Span}, old.own, s)
		l.span = a.Span
		now[a.Target] = l.assign(old, p, s.axesOf(ev.Indices), mask, masked)
	}
	for _, sym := range targets {
		role := State
		if sym.Kind == typecheck.DiscreteSymbol {
			role = Discrete
		}
		l.output(role.Called(sym.Name), now[sym].v)
	}
	return c.finish(l)
}

// assign returns old with the elements of p replaced where mask, over the
// event's axes, holds. What did not fire is never added to anything: its value
// may be NaN.
func (l *lowerer) assign(old array, p piece, event []*axis, mask array, masked bool) array {
	var selecting []*axis // axes of the event that tell which element of the target is meant
	for _, q := range p.places {
		selecting = union(selecting, intersect(event, q.ax))
	}
	if masked {
		if rest := without(event, selecting...); len(rest) > 0 {
			if gone := intersect(rest, p.x.ax); len(gone) > 0 {
				p.x = l.elementwise(tape.Select, mask, p.x, l.number(0))
				p.x = l.fold(tape.SumAxes, p.x, rest)
			}
			mask = l.fold(tape.SumAxes, mask, rest)
		}
		masked = len(selecting) > 0 // else some element fired, and all of them write here
	}
	p.loops = union(selecting, p.loops)
	at, ranges := p.positions(old.own)
	size := old.own.Size()
	vector := func(x array) tape.Value { return l.vector(x, p.loops, ranges) }
	flatOld := l.reshape(old.v, tape.Shape{size})

	var v tape.Value
	switch {
	case len(at) == size && isIdentity(at):
		v = vector(p.x)
		if masked {
			v = l.emit().Select(vector(mask), v, flatOld)
		}
	case masked:
		m := vector(mask)
		v = l.emit().Select(m, vector(p.x), l.emit().Scalar(0))
		v = l.emit().Put(v, 0, at, size)
		v = l.emit().Select(l.emit().Put(m, 0, at, size), v, flatOld)
	default:
		hit := make([]float64, size)
		for _, k := range at {
			hit[k] = 1
		}
		v = l.emit().Put(vector(p.x), 0, at, size)
		v = l.emit().Select(l.emit().Const(tape.Shape{size}, hit...), v, flatOld)
	}
	return array{v: l.reshape(v, old.own), own: old.own}
}

func isIdentity(at []int) bool {
	for i, p := range at {
		if i != p {
			return false
		}
	}
	return true
}

// instants writes all times that are known beforehand.
func (c *compiler) instants() *tape.Tape {
	l := c.lowerer("instants")
	var ts []tape.Value
	add := func(v tape.Value, make func(k int) Instant) int {
		first := len(c.out.InstantList)
		ts = append(ts, v)
		for k := range l.b.Shape(v).Size() {
			c.out.InstantList = append(c.out.InstantList, make(k))
		}
		return first
	}
	instant := func(kind InstantKind, e typecheck.Expr) Instant {
		return Instant{Kind: kind, Event: -1, Group: -1, Row: -1, Period: -1, To: -1, Count: -1, Span: e.Span()}
	}
	scalar := func(kind InstantKind, e typecheck.Expr) {
		add(l.vector(l.lower(e, scope{}), nil, nil), func(int) Instant { return instant(kind, e) })
	}
	scalar(AtStart, c.model.From)
	scalar(AtEnd, c.model.To)

	for i, ev := range c.model.Events {
		n := elems(ev)
		if n == 0 {
			continue
		}
		s := scope{}.with(c.frames, ev.Indices)
		order := axesInOrder(s, ev.Indices)
		for _, e := range ev.Times {
			own := shapeOf(e)
			add(l.vector(l.lower(e, s), order, own), func(k int) Instant {
				in := instant(Fire, e)
				in.Event, in.Elem = i, k/own.Size()
				return in
			})
		}
		if ev.Every == nil {
			continue
		}
		value := func(e typecheck.Expr) int {
			if e == nil {
				return -1
			}
			return add(l.vector(l.lower(e, s), order, nil), func(k int) Instant {
				in := instant(ValueOf, e)
				in.Event, in.Elem = i, k
				return in
			})
		}
		period, to, times := value(ev.Every), value(ev.To), value(ev.Count)
		from := ev.From
		if from == nil {
			from = c.model.From
		}
		element := func(first, k int) int {
			if first < 0 {
				return -1
			}
			return first + k
		}
		add(l.vector(l.lower(from, s), order, nil), func(k int) Instant {
			in := instant(Every, ev.Every)
			in.Event, in.Elem = i, k
			in.Period, in.To, in.Count = element(period, k), element(to, k), element(times, k)
			return in
		})
	}
	for g, group := range c.groups {
		e := group.times
		add(l.vector(l.lower(e, group.s), nil, shapeOf(e)), func(k int) Instant {
			in := instant(Site, e)
			in.Group, in.Row = g, k
			return in
		})
	}
	remode := func(e typecheck.Expr, s scope, bound Bound, m *mode) {
		if e != nil {
			x := l.lower(e, s)
			add(l.vector(x, x.ax, shapeOf(e)), func(k int) Instant {
				in := instant(Remode, e)
				in.Bound = bound
				if m != nil {
					in.Modes = m.along(x.ax, k)
				}
				return in
			})
		}
	}
	for _, m := range c.modes {
		if m.kind == kindWindow {
			f := m.node.(*typecheck.Functional)
			remode(f.From, m.s, WindowFrom, m)
			remode(f.To, m.s, WindowTo, m)
		}
	}
	for _, k := range c.corners {
		remode(k.at, k.s, NoBound, nil)
	}
	l.output(Times.Name(), l.b.Concat(0, ts...))
	return c.finish(l)
}
