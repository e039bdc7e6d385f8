package tapec

import (
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
)

// elems returns the number of elements of an event.
func elems(ev *model.Event) int { return over(ev.Indices) }

// over returns how many values indices have together.
func over(indices []*model.Index) int {
	n := 1
	for _, ix := range indices {
		n *= ix.Count
	}
	return n
}

// fired returns a mask over the axes of indices, those of an event, with or without its slots: 1 for what fires, 0
// elsewhere. It reports false where there is one element, which needs none.
func (em *emitter) fired(indices []*model.Index, s scope) (mask array, ok bool) {
	n := over(indices)
	if n == 1 {
		return array{}, false
	}
	order := axesInOrder(s, indices)
	v := em.input(Fired.Name(), tape.Shape{n})
	em.deep(len(order))
	return em.sorted(array{v: em.reshape(v, lengths(order)), ax: order}), true
}

// affect writes the targets of an event's body. All values that it reads are left limits.
func (c *compiler) affect(ev *model.Event) *tape.Tape {
	l := c.lowerer("affect." + ev.Name)
	l.span = ev.Span
	if elems(ev) == 0 {
		return c.finish(l)
	}
	s := scope{}.with(c.frames, ev.Axes())
	mask, masked := l.fired(ev.Axes(), s)
	var targets []*model.Symbol
	now := map[*model.Symbol]array{}
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
		p := l.piece(&model.Piece{Indices: a.Indices, Subs: a.Subs, Value: a.Value, Span: a.Span}, old.own, s)
		l.span = a.Span
		now[a.Target] = l.assign(old, p, s.axesOf(ev.Axes()), mask, masked)
	}
	for _, sym := range targets {
		role := State
		if sym.Kind == model.DiscreteSymbol {
			role = Discrete
		}
		l.output(role.Called(sym.Name), now[sym].v)
	}
	return c.finish(l)
}

// assign returns old with elements replaced by those of p, where mask, over the axes of
// the event, holds. The values of elements that do not fire may be NaN, so Selects keep
// them out of sums.
func (em *emitter) assign(old array, p piece, event []*axis, mask array, masked bool) array {
	var selecting []*axis // axes of the event along which the element of the target varies
	for _, q := range p.places {
		selecting = union(selecting, intersect(event, q.ax))
	}
	if masked {
		if rest := without(event, selecting...); len(rest) > 0 {
			if gone := intersect(rest, p.x.ax); len(gone) > 0 {
				p.x = em.elementwise(tape.Select, mask, p.x, em.number(0))
				p.x = em.fold(tape.SumAxes, p.x, rest)
			}
			mask = em.fold(tape.SumAxes, mask, rest)
		}
		masked = len(selecting) > 0 // else every firing writes these elements
	}
	p.loops = union(selecting, p.loops)
	at, ranges := p.positions(old.own)
	size := old.own.Size()
	vector := func(x array) tape.Value { return em.vector(x, p.loops, ranges) }
	flatOld := em.reshape(old.v, tape.Shape{size})

	var v tape.Value
	switch {
	case len(at) == size && isIdentity(at):
		v = vector(p.x)
		if masked {
			v = em.emit().Select(vector(mask), v, flatOld)
		}
	case masked:
		m := vector(mask)
		v = em.emit().Select(m, vector(p.x), em.emit().Scalar(0))
		v = em.emit().Put(v, 0, at, size)
		v = em.emit().Select(em.emit().Put(m, 0, at, size), v, flatOld)
	default:
		hit := make([]float64, size)
		for _, k := range at {
			hit[k] = 1
		}
		v = em.emit().Put(vector(p.x), 0, at, size)
		v = em.emit().Select(em.emit().Const(tape.Shape{size}, hit...), v, flatOld)
	}
	return array{v: em.reshape(v, old.own), own: old.own}
}

func isIdentity(at []int) bool {
	for i, p := range at {
		if i != p {
			return false
		}
	}
	return true
}

// schedule collects the instants and the values that hold their times.
type schedule struct {
	*lowerer
	times []tape.Value
}

// instants writes all times that are known before the run.
func (c *compiler) instants() *tape.Tape {
	l := &schedule{lowerer: c.lowerer("instants")}
	l.single(AtStart, c.model.From)
	l.single(AtEnd, c.model.To)
	for i, ev := range c.model.Events {
		if elems(ev) > 0 {
			l.firings(i, ev)
		}
	}
	for g, group := range c.groups {
		e := group.times
		times := l.vector(l.lower(e, group.s), nil, shapeOf(e))
		l.add(times, Site, e, func(k int, in *Instant) { in.Group, in.Row = g, k })
	}
	for _, m := range c.modes {
		if m.kind == kindWindow {
			f := m.node.(*model.Functional)
			l.bound(f.From, WindowFrom, m)
			l.bound(f.To, WindowTo, m)
		}
	}
	for _, k := range c.corners {
		e := k.at
		if e == nil {
			e = k.x
		}
		x := l.time(k)
		l.add(l.vector(x, x.ax, x.own), Remode, e, nil)
	}
	l.output(Times.Name(), l.b.Concat(0, l.times...))
	return c.finish(l.lowerer)
}

// add appends an instant of a kind for each element of v. The function set, if
// there is one, completes the k-th of them. The index of the first is returned.
func (l *schedule) add(v tape.Value, kind InstantKind, e model.Expr, set func(k int, in *Instant)) int {
	list := &l.c.out.InstantList
	first := len(*list)
	l.times = append(l.times, v)
	for k := range l.b.Shape(v).Size() {
		in := Instant{Kind: kind, Event: -1, Group: -1, Row: -1, Period: -1, To: -1, Count: -1, Span: e.Span()}
		if set != nil {
			set(k, &in)
		}
		*list = append(*list, in)
	}
	return first
}

// single appends one instant.
func (l *schedule) single(kind InstantKind, e model.Expr) {
	l.add(l.vector(l.lower(e, scope{}), nil, nil), kind, e, nil)
}

// firings appends the times at which event number i fires, one by one and periodically.
func (l *schedule) firings(i int, ev *model.Event) {
	if ev.Pending {
		s := scope{}.with(l.frames, ev.Axes())
		for _, e := range ev.Times {
			times := l.vector(l.lower(e, s), axesInOrder(s, ev.Axes()), nil)
			l.add(times, Fire, e, func(k int, in *Instant) {
				in.Event, in.Elem, in.Slot, in.Pending = i, k/ev.Slot.Count, k%ev.Slot.Count, true
			})
		}
		return
	}
	s := scope{}.with(l.frames, ev.Indices)
	order := axesInOrder(s, ev.Indices)
	for _, e := range ev.Times {
		own := shapeOf(e)
		times := l.vector(l.lower(e, s), order, own)
		l.add(times, Fire, e, func(k int, in *Instant) { in.Event, in.Elem = i, k/own.Size() })
	}
	if ev.Period != nil {
		of := l.vector(l.lower(ev.Period, s), order, nil)
		l.add(of, ValueOf, ev.Period, func(_ int, in *Instant) { in.Event, in.Elem = i, 0 })
	}
	if ev.Every == nil {
		return
	}
	// values appends what e is for each element; first is -1 without e.
	values := func(e model.Expr) (first int) {
		if e == nil {
			return -1
		}
		of := l.vector(l.lower(e, s), order, nil)
		return l.add(of, ValueOf, e, func(k int, in *Instant) { in.Event, in.Elem = i, k })
	}
	period, to, count := values(ev.Every), values(ev.To), values(ev.Count)
	element := func(first, k int) int {
		if first < 0 {
			return -1
		}
		return first + k
	}
	from := ev.From
	if from == nil {
		from = l.c.model.From
	}
	l.add(l.vector(l.lower(from, s), order, nil), Every, ev.Every, func(k int, in *Instant) {
		in.Event, in.Elem = i, k
		in.Period, in.To, in.Count = element(period, k), element(to, k), element(count, k)
	})
}

// priorities writes those of all elements of events, or returns nil if none varies.
func (c *compiler) priorities() *tape.Tape {
	l := c.lowerer("priorities")
	var list []tape.Value
	varies := false
	for _, ev := range c.model.Events {
		if empty(ev.Indices) {
			continue
		}
		s := scope{}.with(c.frames, ev.Indices)
		l.span = ev.Span
		x := l.number(ev.Priority)
		if ev.Rank != nil {
			varies = true
			x = l.lower(ev.Rank, s)
		}
		list = append(list, l.vector(x, axesInOrder(s, ev.Indices), nil))
	}
	if !varies {
		return nil
	}
	l.output(Priority.Name(), l.emit().Concat(0, list...))
	return c.finish(l)
}

// windows tells of each integral with bounds which modes hold its windows.
func (c *compiler) windows() {
	for i, f := range c.functionals {
		if f.node.Kind != model.Integral || f.node.From == nil && f.node.To == nil {
			continue
		}
		m := c.windowMode(f.node, f.s)
		window := make([]int, f.shape().Size())
		elements := count(m.Offset + lengths(m.ax).Size())[m.Offset:]
		addTable(window, slices.Concat(f.ax, []*axis{{n: f.own.Size()}}), place{ax: m.ax, at: elements}, 1)
		c.out.Functionals[i].Window = window
	}
}

// bound appends the bound e of the integral that m tells the window of; e may be nil.
func (l *schedule) bound(e model.Expr, bound Bound, m *mode) {
	if e == nil {
		return
	}
	x := l.lower(e, m.s)
	l.add(l.vector(x, x.ax, shapeOf(e)), Remode, e, func(k int, in *Instant) {
		in.Bound, in.Modes = bound, m.along(x.ax, k)
	})
}
