package tapec

import (
	"math"
	"strconv"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/tape"
)

// modeKind is the kind of values that a mode holds.
type modeKind uint8

const (
	kindIf     modeKind = iota // the truth of a condition
	kindJump                   // the level of a jump: the value of floor, sign and so on; see level
	kindWindow                 // whether time is between the bounds of an integral
)

// mode is a Mode while a model is compiled.
type mode struct {
	Mode
	kind   modeKind
	number int
	node   model.Expr // the If, Call or Functional
	s      scope
	ax     []*axis
	own    tape.Shape
}

// modeKey tells modes apart by what they hold. Nodes would not do, since the checker may
// have made several copies of one.
type modeKey struct {
	x, y  model.Expr
	fn    *stdlib.Func
	bound string
}

// along returns the elements of m, in the flat vector of modes, at point k of the axes ax.
func (m *mode) along(ax []*axis, k int) []int {
	var out []int
	size := lengths(m.ax).Size()
	for i := range size {
		at := map[int]int{} // by the order of the axes
		for rest, n := i, len(m.ax)-1; n >= 0; n-- {
			at[m.ax[n].ord] = rest % m.ax[n].n
			rest /= m.ax[n].n
		}
		position := 0
		for _, a := range ax {
			position = position*a.n + at[a.ord]
		}
		if position == k {
			out = append(out, m.Offset+i)
		}
	}
	return out
}

// ifMode returns the mode that holds the condition of e.
func (c *compiler) ifMode(e *model.If, s scope) *mode {
	free := model.Free(e.Cond)
	key := modeKey{x: e.Cond, bound: s.key(free)}
	return c.mode(key, kindIf, e, s, free, shapeOf(e.Cond), model.Depends(e.Cond))
}

// jumpMode returns the mode that holds the level of e.
func (c *compiler) jumpMode(e *model.Call, s scope) *mode {
	free := model.Free(e)
	key := modeKey{x: e.Args[0], fn: e.Fn, bound: s.key(free)}
	if len(e.Args) > 1 {
		key.y = e.Args[1]
	}
	return c.mode(key, kindJump, e, s, free, shapeOf(e), model.Depends(e))
}

// windowMode returns the mode that tells whether time is within the bounds of f.
func (c *compiler) windowMode(f *model.Functional, s scope) *mode {
	var free []*model.Index
	for _, e := range []model.Expr{f.From, f.To} {
		if e != nil {
			free = append(free, model.Free(e)...)
		}
	}
	return c.mode(modeKey{x: f.From, y: f.To, bound: s.key(free)}, kindWindow, f, s, free, nil, 0)
}

// mode returns the mode that key tells, and makes it if there is none yet. It varies
// with the loops of free, and uses tells what the values that it holds depend on.
func (c *compiler) mode(
	key modeKey, kind modeKind, node model.Expr, s scope,
	free []*model.Index, own tape.Shape, uses model.Uses,
) *mode {
	if m, ok := c.modeOf[key]; ok {
		return m
	}
	if rank := len(s.axesOf(free)) + len(own); rank > tape.MaxRank {
		panic(tooDeep{node.Span(), rank})
	}
	m := &mode{kind: kind, number: len(c.modes), node: node, s: s, ax: s.axesOf(free), own: own}
	shape := join(lengths(m.ax), own)
	name := [...]string{"if", "", "window"}[kind]
	call, ok := node.(*model.Call)
	if ok {
		name = map[string]string{"==": "equality", "!=": "equality"}[call.Fn.Name]
		if name == "" {
			name = call.Fn.Name
		}
	}
	if ok && call.Control != "" {
		name = call.Control
	} else if p := node.Span().Begin(); p.Line > 0 {
		name += "@" + strconv.Itoa(p.Line)
	}
	m.Mode = Mode{
		Name: name, Span: node.Span(), Offset: c.modeCount, Shape: []int(shape),
		Rooted: kind != kindWindow && uses&(model.UsesState|model.UsesTime) != 0,
	}
	c.modeCount += shape.Size()
	c.modes = append(c.modes, m)
	c.modeOf[key] = m
	return m
}

// mode reads the values that m holds or, while modes are chosen, those that it is to hold.
func (l *lowerer) mode(m *mode) array {
	read := func(r Role) array {
		return array{v: l.input(r.Number(m.number), join(lengths(m.ax), m.own)), ax: m.ax, own: m.own}
	}
	if l.chosen == nil {
		return read(HeldMode)
	}
	// What another mode reads changes later where it is kept: so does what depends on it.
	now, kept := l.choose(m), read(KeptMode)
	return l.elementwise(tape.Select, l.elementwise(tape.Less, kept, l.number(math.Inf(1))), kept, now)
}

// jump lowers a call of a function that jumps, with its level held.
func (l *lowerer) jump(e *model.Call, s scope) array {
	level := l.mode(l.c.jumpMode(e, s))
	if !isSawtooth(e.Fn) {
		return level
	}
	op := func(op tape.Op, xs ...array) array { return l.elementwise(op, xs...) }
	a, b := l.lower(e.Args[0], s), l.lower(e.Args[1], s)
	switch {
	case e.Fn.Op != tape.Mod:
	case model.Depends(e)&(model.UsesState|model.UsesTime) == 0:
		return op(tape.Mod, a, b) // which is exact where the quotient is too large for a level to be
	default:
		return op(tape.Sub, a, op(tape.Mul, b, level))
	}
	// Left of the origin, beyond the cut from the half that is held, the angle goes on by a turn.
	half := op(tape.Select, op(tape.Less, b, l.number(0)), l.number(math.Pi), l.number(0))
	return op(tape.Add, op(tape.Atan2, a, b), op(tape.Mul, half, op(tape.Sub, level, l.level(e, s))))
}

// level returns the level of a jump as it is now: the value of the function, of mod that of its floor, and of atan2 the
// sign of π on the negative axis.
func (l *lowerer) level(e *model.Call, s scope) array {
	op := func(op tape.Op, xs ...array) array { return l.elementwise(op, xs...) }
	if e.Fn.Op == tape.Find {
		return l.interval(e, s)
	}
	x := l.lower(e.Args[0], s)
	switch e.Fn.Op {
	default:
		return op(e.Fn.Op, x)
	case tape.Atan2:
		return op(tape.Select, op(tape.Less, x, l.number(0)), l.number(-1), l.number(1))
	case tape.Equal, tape.NotEqual:
		return op(tape.Sign, x)
	case tape.Mod:
	}
	// The quotient may be rounded to the next level. What is left above the level tells.
	n := op(tape.Floor, op(tape.Div, x, l.lower(e.Args[1], s)))
	high := op(tape.Less, l.above(e, n, s), l.number(0))
	low := op(tape.LessEq, l.number(0), l.above(e, op(tape.Add, n, l.number(1)), s))
	return op(tape.Add, op(tape.Sub, n, high), low)
}

// above returns the part of a period of the mod e that is left above a level.
func (l *lowerer) above(e *model.Call, level array, s scope) array {
	a, b := l.lower(e.Args[0], s), l.lower(e.Args[1], s)
	return l.elementwise(tape.Div, l.elementwise(tape.Sub, a, l.elementwise(tape.Mul, b, level)), b)
}

// choose writes what every mode is to hold from a point of time on. A condition reads the modes inside it as they are
// chosen here, by the formulas by which its guard reads those that are held. Other formulas would round otherwise, and
// the guard could then be true where the mode was just chosen. Modes that are kept are read as they are.
func (c *compiler) choose() *tape.Tape {
	if len(c.modes) == 0 {
		return nil
	}
	l := c.lowerer("choose")
	l.held, l.chosen = true, map[*mode]array{}
	for i := 0; i < len(c.modes); i++ { // one that depends on no time or state has no guard that found those inside it
		m := c.modes[i]
		l.output(HeldMode.Number(m.number), l.choose(m).v)
	}
	return c.finish(l)
}

// choose returns what m is to hold.
func (l *lowerer) choose(m *mode) array {
	if x, ok := l.chosen[m]; ok {
		return x
	}
	outer := l.span
	l.span = m.Span
	var x array
	switch m.kind {
	case kindIf:
		x = l.lower(m.node.(*model.If).Cond, m.s)
	case kindJump:
		x = l.level(m.node.(*model.Call), m.s)
	case kindWindow: // its bounds are instants, in which nothing is held
		s := m.s
		s.plain = true
		x = l.window(m.node.(*model.Functional), s)
	}
	x = array{v: l.expand(x, m.ax, m.own), ax: m.ax, own: m.own}
	l.span = outer
	l.chosen[m] = x
	return x
}

// window returns whether time is within the bounds of an integral.
func (l *lowerer) window(f *model.Functional, s scope) array {
	now := l.ref(l.c.model.Time, s)
	in := l.number(1)
	if f.From != nil {
		in = l.elementwise(tape.LessEq, l.lower(f.From, s), now)
	}
	if f.To != nil {
		before := l.elementwise(tape.Less, now, l.lower(f.To, s))
		if f.From == nil {
			return before
		}
		in = l.elementwise(tape.And, in, before)
	}
	return in
}

// guards writes the root functions of events and modes. Lowering them may find more
// modes, inside conditions, whose guards follow.
func (c *compiler) guards() *tape.Tape {
	l := c.lowerer("guards")
	l.held = true
	var rho, truth []tape.Value
	// add appends a guard for each element of r; they are alike but for their numbers.
	add := func(r, t tape.Value, g Guard) {
		rho, truth = append(rho, r), append(truth, t)
		for range l.b.Shape(r).Size() {
			c.out.GuardList = append(c.out.GuardList, g)
			switch {
			case g.Event >= 0:
				g.Elem++
			case g.Mode >= 0:
				g.Mode++
			}
		}
	}
	for i, ev := range c.model.Events {
		if empty(ev.Indices) {
			continue
		}
		s := scope{}.with(c.frames, ev.Indices)
		order := axesInOrder(s, ev.Indices)
		l.span = ev.Span
		h := c.happening(ev)
		if h.when != nil {
			t := l.lower(h.when, s)
			add(l.vector(l.root(h.when, s), order, nil), l.vector(t, order, nil), Guard{
				Event: i, Span: ev.When.Span(), Clock: c.flow(h.when, false)&model.UsesState == 0,
				Compound: len(l.parts(h.when, s)) > 1,
			})
		}
		for _, m := range h.moments {
			t := passes(l, m, s)
			add(l.vector(l.lower(m.root, s), order, nil), l.vector(t, order, nil), Guard{
				Event: i, Crossing: true, Instant: !m.crosses, Way: m.way, Span: m.root.Span(),
				Clock: c.flow(m.root, false)&model.UsesState == 0,
			})
		}
	}
	for i := 0; i < len(c.modes); i++ {
		m := c.modes[i]
		if !m.Rooted {
			continue
		}
		l.span = m.Span
		g := Guard{Event: -1, Mode: m.Offset, Clock: c.flowOfMode(m)&model.UsesState == 0, Span: m.Span}
		switch node := m.node.(type) {
		case *model.If:
			g.Compound, g.Past = len(l.parts(node.Cond, m.s)) > 1, node.Past
		case *model.Call:
			g.Piece = node.Control != ""
		}
		for _, p := range l.leaves(m) {
			add(l.flat(p[0], m.ax, m.own), l.flat(p[1], m.ax, m.own), g)
		}
	}
	l.watches(func(r, t array, g Guard) { add(l.flat(r, r.ax, r.own), l.flat(t, r.ax, r.own), g) })
	if len(rho) == 0 {
		return nil
	}
	l.span = source.Span{}
	l.output(Margins.Name(), l.emit().Concat(0, rho...))
	l.output(Truths.Name(), l.emit().Concat(0, truth...))
	t := c.finish(l)
	c.markMargins(t)
	return t
}

// markMargins notes which guards of t have margins that are affine in time and states, and which are made of modes.
func (c *compiler) markMargins(t *tape.Tape) {
	degree := degrees(t, func(n Name) bool { return n == Time.Name() || n.Role == State })
	moves := degrees(t, func(n Name) bool { return n.Role != HeldMode })
	for _, o := range t.Outputs {
		if o.Name != Margins.Name().String() {
			continue
		}
		parts := []tape.Value{o.Value}
		if i := int(o.Value) - len(t.Inputs); i >= 0 && t.Instrs[i].Op == tape.Concat {
			parts = t.Instrs[i].Args
		}
		i := 0
		for _, v := range parts {
			for range t.Shape(v).Size() {
				g := &c.out.GuardList[i]
				g.Affine, g.Held = degree[v] <= 1, moves[v] == 0
				i++
			}
		}
	}
}

// atom is an atom of a condition, in its scope.
type atom struct {
	e model.Expr
	s scope
}

// parts lists the atoms of the condition e.
func (l *lowerer) parts(e model.Expr, s scope) (list []atom) {
	l.atoms(e, s, func(e model.Expr, s scope) { list = append(list, atom{e, s}) })
	return list
}

// watches calls add for the guards that fire nothing: the atoms, with states in them, of conditions made of several,
// and the kinks of the rates.
func (l *lowerer) watches(add func(margin, truth array, g Guard)) {
	seen := map[memoKey]bool{}
	condition := func(e model.Expr, s scope) {
		parts := l.parts(e, s)
		if len(parts) < 2 {
			return
		}
		for _, p := range parts {
			key := memoKey{e: p.e, bound: p.s.key(model.Free(p.e)), plain: p.s.plain}
			if seen[key] || l.c.flow(p.e, p.s.plain)&model.UsesState == 0 {
				continue
			}
			seen[key] = true
			add(l.root(p.e, p.s), l.lower(p.e, p.s), Guard{Event: -1, Mode: -1, Watch: true, Span: p.e.Span()})
		}
	}
	for _, ev := range l.c.model.Events {
		if when := l.c.happening(ev).when; when != nil && !empty(ev.Indices) {
			condition(when, scope{}.with(l.frames, ev.Indices))
		}
	}
	for _, m := range l.c.modes {
		if node, ok := m.node.(*model.If); ok && m.Rooted {
			condition(node.Cond, m.s)
		}
	}
	for _, clock := range []bool{true, false} {
		for _, m := range l.kinkMargins(clock) {
			l.span = m.span
			positive := l.elementwise(tape.Less, l.number(0), m.array)
			add(m.array, positive, Guard{Event: -1, Mode: -1, Kink: true, Clock: clock, Span: m.span})
		}
	}
}

// flowOfMode returns which of time and states what m holds depends on, but for modes inside it.
func (c *compiler) flowOfMode(m *mode) (uses model.Uses) {
	switch node := m.node.(type) {
	case *model.If:
		uses = c.flow(node.Cond, m.s.plain)
	case *model.Call:
		for _, a := range node.Args {
			uses |= c.flow(a, m.s.plain)
		}
	}
	return uses
}

// leaves returns root functions of a mode, each with its truth. They are positive, or
// true, where the held value is no longer right.
func (l *lowerer) leaves(m *mode) [][2]array {
	held := l.mode(m)
	op := func(op tape.Op, xs ...array) array { return l.elementwise(op, xs...) }
	if m.kind == kindIf {
		cond := m.node.(*model.If).Cond
		r, t := l.root(cond, m.s), l.lower(cond, m.s)
		return [][2]array{{op(tape.Select, held, op(tape.Neg, r), r), op(tape.NotEqual, held, t)}}
	}
	call := m.node.(*model.Call)
	one, zero := l.number(1), l.number(0)
	if call.Fn.Op == tape.Mod {
		below, above := l.above(call, held, m.s), l.above(call, op(tape.Add, held, one), m.s)
		return [][2]array{{above, op(tape.LessEq, zero, above)}, {op(tape.Neg, below), op(tape.Less, below, zero)}}
	}
	if call.Fn.Op == tape.Find {
		return l.outside(call, held, m.s)
	}
	x, now := l.lower(call.Args[0], m.s), l.level(call, m.s)
	switch call.Fn.Op {
	case tape.Equal, tape.NotEqual:
		if l.c.abrupt(call.Args[0]) {
			break
		}
		// It comes to rest at zero at events alone, where modes are chosen.
		zeroed, moved := op(tape.Equal, held, zero), op(tape.NotEqual, l.level(call, m.s), zero)
		r := op(tape.Select, zeroed, op(tape.Abs, l.lower(call.Args[0], m.s)), l.number(-1))
		return [][2]array{{r, op(tape.And, zeroed, moved)}}
	}
	switch call.Fn.Op {
	case tape.Sign, tape.Atan2, tape.Equal, tape.NotEqual:
		// A level of ±1 ends where x passes 0, a level of 0 where x is anything else.
		r := op(tape.Select, held, op(tape.Neg, op(tape.Mul, held, x)), op(tape.Abs, x))
		return [][2]array{{r, op(tape.Or, op(tape.Less, now, held), op(tape.Less, held, now))}}
	}
	// The level is right for lo < x < hi and at one of these ends.
	var lo, hi array
	switch call.Fn.Op {
	case tape.Floor:
		lo, hi = held, op(tape.Add, held, one)
	case tape.Ceil:
		lo, hi = op(tape.Sub, held, one), held
	case tape.Round:
		half := l.number(0.5)
		lo, hi = op(tape.Sub, held, half), op(tape.Add, held, half)
	case tape.Trunc:
		lo = op(tape.Select, op(tape.Less, zero, held), held, op(tape.Sub, held, one))
		hi = op(tape.Select, op(tape.Less, held, zero), held, op(tape.Add, held, one))
	default:
		panic(misplaced{call.Span(), "the jumps of " + call.Fn.Name + " cannot be located"})
	}
	return [][2]array{
		{op(tape.Sub, x, hi), op(tape.Less, held, now)},
		{op(tape.Sub, lo, x), op(tape.Less, now, held)},
	}
}

// root returns a real that is positive where the condition e holds and negative where it
// does not. Where it is zero, only a condition that is not strict holds. What is constant between two events is a step,
// so that the root function of the whole is that of the part that moves: its slope is that of the condition.
func (l *lowerer) root(e model.Expr, s scope) array {
	outer := l.span
	l.span = e.Span()
	defer func() { l.span = outer }()
	steady := func(e model.Expr) bool { return l.c.flow(e, s.plain) == 0 }
	step := func(e model.Expr) array {
		return l.elementwise(tape.Select, l.lower(e, s), l.number(1), l.number(-1))
	}
	if steady(e) {
		return step(e)
	}
	switch e := e.(type) {
	case *model.Call:
		switch e.Fn.Op {
		case tape.Less, tape.LessEq:
			return l.elementwise(tape.Sub, l.lower(e.Args[1], s), l.lower(e.Args[0], s))
		case tape.And, tape.Or:
			a, b := e.Args[0], e.Args[1]
			if steady(b) {
				a, b = b, a
			}
			both := e.Fn.Op == tape.And
			switch {
			case steady(a) && both:
				return l.elementwise(tape.Select, l.lower(a, s), l.root(b, s), l.number(-1))
			case steady(a):
				return l.elementwise(tape.Select, l.lower(a, s), l.number(1), l.root(b, s))
			case both:
				return l.elementwise(tape.Min, l.root(a, s), l.root(b, s))
			}
			return l.elementwise(tape.Max, l.root(a, s), l.root(b, s))
		case tape.Not:
			return l.elementwise(tape.Neg, l.root(e.Args[0], s))
		}
	case *model.If:
		if e.Static {
			mask, ax := l.c.mask(e.Cond, s)
			return l.split(mask, ax, s, shapeOf(e), func(then bool, s scope) array {
				if then {
					return l.root(e.Then, s)
				}
				return l.root(e.Else, s)
			})
		}
		cond := array{}
		if !s.plain && switches(e.Cond) {
			cond = l.mode(l.c.ifMode(e, s))
		} else {
			cond = l.lower(e.Cond, s)
		}
		return l.elementwise(tape.Select, cond, l.root(e.Then, s), l.root(e.Else, s))
	case *model.Access:
		x := l.root(e.X, s)
		if len(x.own) == len(e.Subs) {
			return l.index(x, l.places(e, x.own, s))
		}
	case *model.NoEvent:
		s.plain = true
		return l.root(e.X, s)
	}
	return step(e) // it has no root
}

// axesInOrder returns the axis of each index, in the order of indices.
func axesInOrder(s scope, indices []*model.Index) []*axis {
	out := make([]*axis, len(indices))
	for i, ix := range indices {
		out[i] = s.bind[ix].ax
	}
	return out
}

// isJump reports whether fn jumps and lowering knows how to hold its level.
func isJump(fn *stdlib.Func) bool { return fn.Mode && fn.Op.Valid() }

// isSawtooth reports whether fn, which jumps, moves between its jumps.
func isSawtooth(fn *stdlib.Func) bool { return fn.Op == tape.Mod || fn.Op == tape.Atan2 }
