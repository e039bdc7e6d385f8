package tapec

import (
	"slices"
	"strconv"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
)

// functional is a Functional while a model is compiled: one node of an objective, with
// the indices of the objective bound in one way.
type functional struct {
	node   *model.Functional
	s      scope
	number int
	ax     []*axis
	own    tape.Shape
	group  int // SumAt: its first group of sites
}

// functional returns the functional of e in s, and makes it if there is none yet.
func (c *compiler) functional(e *model.Functional, s scope) *functional {
	free := model.Free(e)
	key := memoKey{e: e, bound: s.key(free)}
	f, ok := c.functionalOf[key]
	if !ok {
		f = &functional{node: e, s: s, number: len(c.functionals), ax: s.axesOf(free), own: shapeOf(e), group: -1}
		c.functionalOf[key] = f
		c.functionals = append(c.functionals, f)
	}
	return f
}

func (f *functional) shape() tape.Shape { return join(lengths(f.ax), f.own) }

func (f *functional) name() Name { return Functionals.Number(f.number) }

// group is a group of sites: functionals that are read at the same times.
type group struct {
	times   model.Expr
	table   *model.Table
	s       scope
	members []member
}

// member is a functional of a group. If its times depend on indices of the objective, it
// is the part of the functional that belongs to one value of these.
type member struct {
	f     *functional
	s     scope
	parts []*axis // in place of f.ax; of length 1 for indices with one value
	start []int   // the position of the part among the slots
}

// keep drops functionals that the objectives, compiled as t, do not read. Lowering met
// them on a way that it gave up.
func (c *compiler) keep(t *tape.Tape) {
	read := func(f *functional) bool {
		if t == nil {
			return false
		}
		_, ok := t.Input(f.name().String())
		return ok
	}
	var kept []*functional
	for _, f := range c.functionals {
		if read(f) {
			kept = append(kept, f)
		}
	}
	for i, f := range c.functionals {
		if !slices.Contains(kept, f) {
			f.number = -1 - i // lowering may try that way once more, where it needs a name
		}
	}
	c.functionals = kept
}

// number gives the functionals their order, integrals first, and sums over times their
// groups.
func (c *compiler) number() {
	slices.SortStableFunc(c.functionals, func(a, b *functional) int {
		return order(a.node.Kind) - order(b.node.Kind)
	})
	index := map[memoKey]int{}
	offset := 0
	for i, f := range c.functionals {
		f.number = i
		if f.node.Kind == model.SumAt {
			c.join(f, index)
		}
		out := Functional{
			Kind: f.node.Kind, Span: f.node.Span(), Shape: []int(f.shape()), Offset: offset,
			Event: -1, Elem: -1, Nth: f.node.Nth, Group: f.group, Table: f.node.Table, ByRow: f.node.ByRow,
		}
		offset += f.shape().Size()
		if f.node.Event != nil {
			out.Event = slices.Index(c.model.Events, f.node.Event)
		}
		if f.node.Elem != nil {
			out.Elem, out.Elems = c.selected(f)
		}
		c.out.Functionals = append(c.out.Functionals, out)
	}
}

func order(k model.FunctionalKind) int {
	if k == model.Integral {
		return 0
	}
	return 1
}

// join adds f to the group of its times, or to one group for each value of the indices on
// which its times depend.
func (c *compiler) join(f *functional, index map[memoKey]int) {
	vary := f.s.axesOf(model.Free(f.node.Times))
	for point := range lengths(vary).Size() {
		m := member{f: f, s: f.s, parts: slices.Clone(f.ax), start: make([]int, len(f.ax)+len(f.own))}
		rest := point
		for k := len(vary) - 1; k >= 0; k-- {
			a, at := vary[k], rest%vary[k].n
			rest /= a.n
			one := c.frames.part([]*axis{a}, []int{at})
			m.s = m.s.within(c.frames, []*axis{a}, one, []int{at})
			d := slices.Index(f.ax, a)
			m.parts[d], m.start[d] = one, at
		}
		key := memoKey{e: f.node.Times, bound: m.s.key(model.Free(f.node.Times))}
		g, ok := index[key]
		if !ok || c.groups[g].table != f.node.Table {
			g = len(c.groups)
			index[key] = g
			c.groups = append(c.groups, &group{times: f.node.Times, table: f.node.Table, s: m.s})
		}
		if f.group < 0 {
			f.group = g
		}
		c.groups[g].members = append(c.groups[g].members, m)
	}
}

// selected returns the element of its event that f reads. If it depends on the slot, it
// returns -1 and the element of each slot.
func (c *compiler) selected(f *functional) (int, []int) {
	at, ax := c.elements(f)
	if len(ax) == 0 {
		return at[0], nil
	}
	shape := f.shape()
	all := make([]int, shape.Size())
	inner := f.own.Size()
	addTable(all, slices.Concat(f.ax, []*axis{{n: inner}}), place{ax: ax, at: at}, 1)
	return -1, all
}

// elements returns the numbers of the elements of its event that f reads, and the axes
// on which they depend.
func (c *compiler) elements(f *functional) ([]int, []*axis) {
	var ax []*axis
	tables := make([][]float64, len(f.node.Elem))
	axes := make([][]*axis, len(f.node.Elem))
	for k, e := range f.node.Elem {
		tables[k], axes[k] = c.table(e, f.s)
		ax = union(ax, axes[k])
	}
	at := make([]int, lengths(ax).Size())
	for k, ix := range f.node.Event.Indices {
		ordinals := make([]int, len(tables[k]))
		for i, x := range tables[k] {
			ordinals[i] = c.ordinal(ix, x, f.node.Elem[k])
		}
		for i := range at {
			at[i] *= ix.Count
		}
		addTable(at, ax, place{ax: axes[k], at: ordinals}, 1)
	}
	return at, ax
}

// ordinal returns the ordinal of ix that the subscript x selects. Subscripts count from 1.
func (c *compiler) ordinal(ix *model.Index, x float64, e model.Expr) int {
	if !(x >= 1 && x <= float64(ix.Count)) {
		c.diags.Errorf(CodeIndex, e.Span(), "the event has no element %v; it has %d of them", x, ix.Count)
		return 0
	}
	return int(x) - 1
}

// site writes the values of the functionals of one kind at a point of time. It returns
// nil if there are none.
func (c *compiler) site(name string, kind model.FunctionalKind) *tape.Tape {
	l := c.lowerer(name)
	l.limits = true
	return c.read(l, kind)
}

// read writes the bodies of the functionals of one kind. It returns nil if there are none.
func (c *compiler) read(l *lowerer, kind model.FunctionalKind) *tape.Tape {
	some := false
	for _, f := range c.functionals {
		if f.node.Kind == kind {
			some = true
			l.span = f.node.Span()
			l.output(f.name(), l.expand(l.lower(f.node.Body, f.s), f.ax, f.own))
		}
	}
	if !some {
		return nil
	}
	return c.finish(l)
}

// peaks writes the expressions that functionals take the largest values of. They are
// read all along the run, so conditions in them are modes, as in the rates. It returns
// nil if there are none.
func (c *compiler) peaks() *tape.Tape {
	l := c.lowerer("peaks")
	l.held, l.rates = true, true
	return c.read(l, model.MaxOver)
}

// atTime writes the values of the members of a group at one of its times.
func (c *compiler) atTime(number int, g *group) *tape.Tape {
	l := c.lowerer("at." + strconv.Itoa(number))
	l.limits = true
	l.row = func(r *model.Row) array {
		if r.Table != g.table {
			panic(misplaced{r.Span(), "a data column is read outside the sum over its table"})
		}
		row := l.input(DataRow.Name(), tape.Shape{len(g.table.Columns)})
		return array{v: l.emit().Element(row, r.Column)}
	}
	for _, m := range g.members {
		f := m.f
		l.span = f.node.Span()
		x := l.lower(f.node.Body, m.s)
		if f.node.ByRow {
			row := l.row(&model.Row{Table: f.node.Table, Column: len(f.node.Table.Columns) - 1})
			place := l.elementwise(tape.Sub, row, l.number(1))
			x = array{v: l.emit().Drop(x.v, place.v, f.own[0]), own: f.own}
		}
		v := l.expand(x, m.parts, f.own)
		if !slices.Equal(m.parts, f.ax) {
			v = l.emit().Pad(v, f.shape(), m.start, nil)
		}
		l.output(f.name(), v)
	}
	return c.finish(l)
}

// atEvent writes the values of functionals when an element of ev fires. It returns nil if
// none reads any.
func (c *compiler) atEvent(ev *model.Event) *tape.Tape {
	l := c.lowerer("at." + ev.Name)
	l.limits = true
	some := false
	for _, f := range c.functionals {
		if f.node.Event != ev || elems(ev) == 0 {
			continue
		}
		some = true
		l.span = f.node.Span()
		l.output(f.name(), l.expand(l.firing(f), f.ax, f.own))
	}
	if !some {
		return nil
	}
	return c.finish(l)
}

// firing returns the value of f at a firing. It is 0 in slots that select another element.
func (l *lowerer) firing(f *functional) array {
	ev := f.node.Event
	body := func(s scope) array {
		if f.node.Kind == model.EventTime {
			return l.ref(l.c.model.Time, s)
		}
		return l.lower(f.node.Body, s)
	}
	s := f.s.with(l.frames, ev.Indices)
	axes := s.axesOf(ev.Indices)
	mask, masked := l.fired(ev.Indices, s)
	if f.node.Elem == nil || !masked {
		x := body(s)
		if gone := intersect(axes, x.ax); masked && len(gone) > 0 {
			x = l.elementwise(tape.Select, mask, x, l.number(0))
			return l.fold(tape.SumAxes, x, axes)
		}
		ax := without(x.ax, axes...)
		return array{v: l.reshape(x.v, join(lengths(ax), x.own)), ax: ax, own: x.own}
	}
	// The elements that slots select bind the indices of the event along axes of the
	// objective.
	for k, ix := range ev.Indices {
		xs, ax := l.c.table(f.node.Elem[k], f.s)
		at := make([]int, len(xs))
		for i, x := range xs {
			at[i] = l.c.ordinal(ix, x, f.node.Elem[k])
		}
		switch len(ax) {
		case 0:
			s = s.at(ix, l.frames.fixed(ix, at[0]))
		case 1:
			s = s.at(ix, l.frames.choose(ix, ax[0], at))
		default:
			panic(misplaced{f.node.Elem[k].Span(), "a subscript of an event may depend on one index only"})
		}
	}
	at, ax := l.c.elements(f)
	n := elems(ev)
	hit := l.reshape(l.emit().Take(l.input(Fired.Name(), tape.Shape{n}), 0, at), lengths(ax))
	return l.elementwise(tape.Select, array{v: hit, ax: ax}, body(s), l.number(0))
}

// objective writes the objectives from the functionals.
func (c *compiler) objective() *tape.Tape {
	l := c.lowerer("objective")
	l.reading = func(f *functional) tape.Value { return l.input(f.name(), f.shape()) }
	var psi []tape.Value
	for _, o := range c.model.Objectives {
		if empty(o.Indices) {
			continue
		}
		s := scope{}.with(c.frames, o.Indices)
		l.span = o.Span
		psi = append(psi, l.vector(l.lower(o.Value, s), axesInOrder(s, o.Indices), shapeOf(o.Value)))
	}
	if len(psi) == 0 {
		return nil
	}
	l.output(Objectives.Name(), l.b.Concat(0, psi...))
	return c.finish(l)
}
