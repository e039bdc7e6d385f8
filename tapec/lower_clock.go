package tapec

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/tape"
)

// flowKey is what flow and degree of a node depend on.
type flowKey struct {
	e     model.Expr
	plain bool
}

// flow returns which of time and states e depends on between two events, while discretes and modes are held. In a
// plain scope no mode is held.
func (c *compiler) flow(e model.Expr, plain bool) model.Uses {
	uses := model.Depends(e) & (model.UsesTime | model.UsesState)
	if uses == 0 {
		return 0
	}
	key := flowKey{e, plain}
	if f, ok := c.flowOf[key]; ok {
		return f
	}
	switch x := e.(type) {
	case *model.Ref: // the time or a state
	case *model.NoEvent:
		uses = c.flow(x.X, true)
	case *model.If:
		uses = c.flow(x.Then, plain) | c.flow(x.Else, plain)
		if plain {
			uses |= c.flow(x.Cond, plain)
		}
	case *model.Call:
		uses = 0
		if !plain && c.equality(x) != nil { // while its sign is held
			break
		}
		if !isJump(x.Fn) || plain || isSawtooth(x.Fn) {
			for _, a := range x.Args {
				uses |= c.flow(a, plain)
			}
		}
	default:
		uses = 0
		for _, a := range operands(e) {
			uses |= c.flow(a, plain)
		}
	}
	c.flowOf[key] = uses
	return uses
}

// operands returns the operands of a node that have values of their own at run time.
func operands(e model.Expr) []model.Expr {
	switch e := e.(type) {
	case *model.Call:
		return e.Args
	case *model.Access:
		return []model.Expr{e.X}
	case *model.Assemble:
		var list []model.Expr
		for _, p := range e.Pieces {
			list = append(list, p.Value)
		}
		return list
	case *model.Reduce:
		return []model.Expr{e.Body}
	case *model.If:
		return []model.Expr{e.Then, e.Else}
	case *model.Stack:
		return e.Elems
	case *model.NoEvent:
		return []model.Expr{e.X}
	case *model.Limit:
		return []model.Expr{e.X}
	}
	return nil
}

// degree returns 0 for an expression that is constant between two events, 1 for one that is affine in time, and 2 for
// any other.
func (c *compiler) degree(e model.Expr, plain bool) int {
	switch c.flow(e, plain) {
	case 0:
		return 0
	case model.UsesTime:
	default:
		return 2
	}
	key := flowKey{e, plain}
	if d, ok := c.degreeOf[key]; ok {
		return d
	}
	most := func() (d int) {
		for _, a := range operands(e) {
			d = max(d, c.degree(a, plain))
		}
		return d
	}
	d := 2
	switch x := e.(type) {
	case *model.Ref:
		d = 1
	case *model.NoEvent:
		d = c.degree(x.X, true)
	case *model.If:
		if x.Static || !plain {
			d = most()
		}
	case *model.Access, *model.Assemble, *model.Stack, *model.Limit:
		d = most()
	case *model.Reduce:
		if x.Fn.Name == "sum" || x.Fn.Name == "mean" {
			d = most()
		}
	case *model.Call:
		switch {
		case x.Fn.Op == tape.Add || x.Fn.Op == tape.Sub || x.Fn.Op == tape.Neg,
			x.Fn.Op == tape.Mod && !plain && c.degree(x.Args[1], plain) == 0,
			x.Fn.Class == stdlib.Reduction && (x.Fn.Name == "sum" || x.Fn.Name == "mean"):
			d = most()
		case x.Fn.Op == tape.Mul || x.Fn.Name == "@" || x.Fn.Name == "dot":
			d = min(c.degree(x.Args[0], plain)+c.degree(x.Args[1], plain), 2)
		case x.Fn.Op == tape.Div && c.degree(x.Args[1], plain) == 0:
			d = c.degree(x.Args[0], plain)
		}
	}
	c.degreeOf[key] = d
	return d
}

// atoms calls visit for every comparison that the condition e is made of. A condition that is not made of comparisons
// is an atom itself. What held modes stand for is not looked into: they have atoms of their own.
func (l *lowerer) atoms(e model.Expr, s scope, visit func(e model.Expr, s scope)) {
	if l.c.flow(e, s.plain) == 0 {
		return
	}
	switch e := e.(type) {
	case *model.Call:
		switch e.Fn.Op {
		case tape.And, tape.Or, tape.Not:
			for _, a := range e.Args {
				l.atoms(a, s, visit)
			}
			return
		}
	case *model.If:
		if e.Static {
			mask, ax := l.c.mask(e.Cond, s)
			l.split(mask, ax, s, shapeOf(e), func(then bool, s scope) array {
				x := e.Else
				if then {
					x = e.Then
				}
				l.atoms(x, s, visit)
				return array{v: l.expand(l.number(0), nil, shapeOf(e)), own: shapeOf(e)}
			})
			return
		}
		if s.plain {
			l.atoms(e.Cond, s, visit)
		}
		l.atoms(e.Then, s, visit)
		l.atoms(e.Else, s, visit)
		return
	case *model.Access:
		l.atoms(e.X, s, visit)
		return
	case *model.Stack:
		for _, x := range e.Elems {
			l.atoms(x, s, visit)
		}
		return
	case *model.Assemble:
		for _, p := range e.Pieces {
			if !empty(p.Indices) {
				l.atoms(p.Value, s.with(l.frames, p.Indices), visit)
			}
		}
		return
	case *model.NoEvent:
		s.plain = true
		l.atoms(e.X, s, visit)
		return
	}
	visit(e, s)
}

// clock gathers the atoms that depend on time, params, discretes and modes only.
type clock struct {
	*lowerer
	margins, truths []tape.Value
	seen            map[memoKey]bool
	numbered        int           // atoms have numbers
	jumps           map[*mode]int // the atoms of the equalities that each makes true
	again           bool          // what is added next are the atoms that were added last
	kinks           bool          // kinks of the rates are added
}

// add appends an atom for each element of margin, which is positive where truth holds. The margin is affine in time if
// its degree is 1.
func (l *clock) add(margin, truth array, degree int, span source.Span) {
	ax, own := union(margin.ax, truth.ax), margin.own
	if len(own) == 0 {
		own = truth.own
	}
	l.margins = append(l.margins, l.flat(margin, ax, own))
	l.truths = append(l.truths, l.flat(truth, ax, own))
	n := join(lengths(ax), own).Size()
	if l.again {
		l.numbered -= n
	}
	for range n {
		c := Clock{Affine: degree == 1, Kink: l.kinks, Atom: l.numbered, Span: span}
		l.c.out.ClockList = append(l.c.out.ClockList, c)
		l.numbered++
	}
}

// condition appends the atoms of a condition.
func (l *clock) condition(e model.Expr, s scope) {
	l.atoms(e, s, func(e model.Expr, s scope) {
		key := memoKey{e: e, bound: s.key(model.Free(e)), plain: s.plain}
		if l.seen[key] || l.c.flow(e, s.plain) != model.UsesTime {
			return
		}
		l.seen[key] = true
		l.span = e.Span()
		call, ok := e.(*model.Call)
		if !ok || call.Fn.Class != stdlib.Comparison {
			l.add(l.root(e, s), l.lower(e, s), 2, e.Span())
			return
		}
		a, b := l.lower(call.Args[0], s), l.lower(call.Args[1], s)
		margin := l.elementwise(tape.Sub, b, a)
		degree := max(l.c.degree(call.Args[0], s.plain), l.c.degree(call.Args[1], s.plain))
		l.add(margin, l.elementwise(call.Fn.Op, a, b), degree, e.Span())
	})
}

// jumpsOf calls visit for the modes that hold the levels of jumps in e.
func (c *compiler) jumpsOf(e model.Expr, s scope, visit func(*mode)) {
	if call, ok := e.(*model.Call); ok && isJump(call.Fn) && switches(call) && !still(call) {
		visit(c.jumpMode(call, s))
	}
	for _, x := range operands(e) {
		c.jumpsOf(x, s, visit)
	}
}

// sign appends the atoms of a change of sign of e.
func (l *clock) sign(e model.Expr, s scope) {
	if l.c.flow(e, s.plain) != model.UsesTime {
		return
	}
	l.span = e.Span()
	x, degree := l.lower(e, s), l.c.degree(e, s.plain)
	l.add(x, l.elementwise(tape.Less, l.number(0), x), degree, e.Span())
	l.again = true
	l.add(l.elementwise(tape.Neg, x), l.elementwise(tape.Less, x, l.number(0)), degree, e.Span())
	l.again = false
}

// clocks writes the atoms that depend on time, params, discretes and modes only: of conditions of events and modes,
// and the bounds of levels. They change at times that no state moves. It returns nil if there are none.
func (c *compiler) clocks() *tape.Tape {
	l := &clock{lowerer: c.lowerer("clocks"), seen: map[memoKey]bool{}, jumps: map[*mode]int{}}
	l.held = true
	for _, ev := range c.model.Events {
		if empty(ev.Indices) {
			continue
		}
		s := scope{}.with(c.frames, ev.Indices)
		h := c.happening(ev)
		if h.when != nil {
			l.condition(h.when, s)
		}
		for _, m := range h.moments {
			first := l.numbered
			if m.curvature != nil { // the one before it is the same, where it touches
				l.numbered--
			}
			if l.sign(m.root, s); !m.crosses && l.numbered == first+1 {
				c.jumpsOf(m.root, s, func(m *mode) { l.jumps[m] = first })
			}
		}
	}
	for _, m := range c.modes {
		if !m.Rooted {
			continue
		}
		switch node := m.node.(type) {
		case *model.If:
			l.condition(node.Cond, m.s)
		case *model.Call:
			uses, degree := model.Uses(0), 0
			for k, a := range node.Args {
				uses |= c.flow(a, m.s.plain)
				if d := c.degree(a, m.s.plain); d > 0 {
					degree = max(degree, d+k) // what a divisor depends on time by is not affine
				}
			}
			if uses == model.UsesTime {
				l.span = m.Span
				next := l.numbered
				first, known := l.jumps[m] // an equality that a jump makes true changes with the jump
				if known {
					l.numbered = first
				}
				for k, p := range l.leaves(m) {
					l.again = k > 0
					l.add(p[0], p[1], degree, m.Span)
				}
				if l.again = false; known {
					l.numbered = next
				}
			}
		}
	}
	l.kinks = true
	for _, m := range l.kinkMargins(true) {
		l.span = m.span
		l.add(m.array, l.elementwise(tape.Less, l.number(0), m.array), m.degree, m.span)
	}
	if len(l.margins) == 0 {
		return nil
	}
	l.span = source.Span{}
	l.output(ClockMargins.Name(), l.emit().Concat(0, l.margins...))
	l.output(ClockTruths.Name(), l.emit().Concat(0, l.truths...))
	return c.finish(l.lowerer)
}
