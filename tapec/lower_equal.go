package tapec

import (
	"math"
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/tape"
)

// Equalities of reals.
//
// a = b holds at instants alone where a − b moves: at its roots. As the condition of an event it is a crossing of a − b
// in both directions, with the derivatives of one; jumps that pass the root without coming to rest there are none. In
// a mode it holds while a − b rests at zero, which the sign of a − b tells: the time at which it passes through has no
// length, and no effect on rates. Where a − b changes at events alone, an equality is a condition like others.

// moment is a part of an event's condition that holds at instants alone: the roots of a real.
type moment struct {
	root    model.Expr
	crosses bool // written as `crosses`: jumps over the root count as well
	way     int8 // of such a one: 1 for up, -1 for down, 0 for either
	filters []filter
	// slope and curvature are the derivatives by time of of, where that may touch zero without crossing it. The root
	// is then of, and counts where it crosses zero, or the slope, and counts where of is zero.
	slope, curvature, of model.Expr
}

// filter is a condition that must hold at the root, or must not.
type filter struct {
	e   model.Expr
	not bool
}

// happening is the condition of an event, in the parts that guards are made of.
type happening struct {
	when    model.Expr // what holds for a while; nil where nothing of it does
	moments []moment
}

// happening takes the condition of ev apart.
func (c *compiler) happening(ev *model.Event) happening {
	if h, ok := c.happenings[ev]; ok {
		return h
	}
	var h happening
	switch ev.Kind() {
	case model.ByCrossing:
		m := moment{root: ev.Crossing, crosses: true, way: ev.Way}
		if ev.When != nil {
			m.filters = []filter{{e: c.equalities(ev.When)}}
		}
		h.moments = []moment{m}
	case model.ByCondition:
		e := c.equalities(ev.When)
		h = happening{c.lasting(e), c.moments(e)}
	}
	c.happenings[ev] = h
	return h
}

// equalities returns the condition e with its equalities, in whatever form, written as f == 0 and f != 0, where f is no
// product, no absolute value and the like.
func (c *compiler) equalities(e model.Expr) model.Expr {
	call, ok := e.(*model.Call)
	if !ok {
		return e
	}
	switch call.Fn.Op {
	case tape.And, tape.Or:
		if a, b, ok := between(call); ok {
			if eq := c.equality(join2("==", call, a, b)); eq != nil {
				return eq
			}
		}
		a, b := c.equalities(call.Args[0]), c.equalities(call.Args[1])
		if a != call.Args[0] || b != call.Args[1] {
			return join2(call.Fn.Name, call, a, b)
		}
	default:
		if eq := c.equality(call); eq != nil {
			return eq
		}
	}
	return e
}

// between reports whether e is a <= b and b <= a.
func between(e *model.Call) (a, b model.Expr, ok bool) {
	x, ok1 := e.Args[0].(*model.Call)
	y, ok2 := e.Args[1].(*model.Call)
	if e.Fn.Op != tape.And || !ok1 || !ok2 || x.Fn.Op != tape.LessEq || y.Fn.Op != tape.LessEq ||
		!alike(x.Args[0], y.Args[1]) || !alike(x.Args[1], y.Args[0]) {
		return nil, nil, false
	}
	return x.Args[0], x.Args[1], true
}

// alike reports whether a and b are the same expression.
func alike(a, b model.Expr) bool {
	if a == b {
		return true
	}
	switch x := a.(type) {
	case *model.Const:
		y, ok := b.(*model.Const)
		return ok && len(x.Data) == 1 && len(y.Data) == 1 && x.Data[0] == y.Data[0]
	case *model.Ref:
		y, ok := b.(*model.Ref)
		return ok && x.Sym == y.Sym
	case *model.LoopVar:
		y, ok := b.(*model.LoopVar)
		return ok && x.Index == y.Index
	case *model.Call:
		y, ok := b.(*model.Call)
		if !ok || x.Fn != y.Fn || len(x.Args) != len(y.Args) {
			return false
		}
		for i := range x.Args {
			if !alike(x.Args[i], y.Args[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// join2 makes a call of an operator on a and b, with the type and place of a condition.
func join2(op string, like model.Expr, a, b model.Expr) *model.Call {
	return &model.Call{
		Base: model.Base{T: like.Type(), S: like.Span()}, Fn: stdlib.Operator(op), Args: []model.Expr{a, b},
	}
}

// equality returns the comparison e as a combination of f == 0 by `and` and `or`, or of f != 0. It returns nil where e
// is no comparison for equality, or one that changes at events alone.
func (c *compiler) equality(e *model.Call) model.Expr {
	switch e.Fn.Op {
	case tape.Equal, tape.NotEqual, tape.Less, tape.LessEq:
	default:
		return nil
	}
	if model.Depends(e)&(model.UsesTime|model.UsesState) == 0 {
		return nil
	}
	if eq, ok := c.equal[e]; ok {
		return eq
	}
	a, b := e.Args[0], e.Args[1]
	var eq model.Expr
	if u, ok := rounded(a, b); ok && (e.Fn.Op == tape.Equal || e.Fn.Op == tape.NotEqual) {
		a, b = u, call1("floor", u)
	}
	if c.flow(a, false)|c.flow(b, false) != 0 {
		switch e.Fn.Op {
		case tape.Equal:
			eq = c.zeros(e, difference(a, b))
		case tape.NotEqual:
			eq = opposite(c.zeros(e, difference(a, b)))
		case tape.LessEq:
			if least(a, b) {
				eq = c.zeros(e, difference(a, b))
			}
		case tape.Less:
			if least(b, a) {
				eq = opposite(c.zeros(e, difference(b, a)))
			}
		}
	}
	if leaf, ok := eq.(*model.Call); ok && leaf != e {
		c.equal[leaf] = leaf
	}
	c.equal[e] = eq
	return eq
}

// rounded reports whether a and b are the same but that one has the ceiling of u where the other has the floor: they
// are equal at the instants at which u is whole, and at no other.
func rounded(a, b model.Expr) (u model.Expr, ok bool) {
	x, ok1 := a.(*model.Call)
	y, ok2 := b.(*model.Call)
	if !ok1 || !ok2 || len(x.Args) != len(y.Args) {
		return nil, false
	}
	op := [2]tape.Op{x.Fn.Op, y.Fn.Op}
	if op == [2]tape.Op{tape.Floor, tape.Ceil} || op == [2]tape.Op{tape.Ceil, tape.Floor} {
		return x.Args[0], alike(x.Args[0], y.Args[0])
	}
	if x.Fn != y.Fn || x.Fn.Op != tape.Mul && x.Fn.Op != tape.Div {
		return nil, false
	}
	for k := range x.Args {
		if u, ok := rounded(x.Args[k], y.Args[k]); ok && alike(x.Args[1-k], y.Args[1-k]) {
			return u, true
		}
	}
	return nil, false
}

// call1 is a call of a function of one argument that gives a number like it.
func call1(name string, x model.Expr) model.Expr {
	return &model.Call{
		Base: model.Base{T: x.Type(), S: x.Span()}, Fn: stdlib.Find(name, stdlib.Elementwise),
		Args: []model.Expr{x},
	}
}

// difference is a − b, with types of reals.
func difference(a, b model.Expr) model.Expr {
	if zero(b) {
		return a
	}
	if zero(a) {
		return b
	}
	d := join2("-", a, a, b)
	if len(a.Type().Shape) == 0 {
		d.T = b.Type()
	}
	return d
}

func zero(e model.Expr) bool {
	k, ok := e.(*model.Const)
	return ok && len(k.Data) == 1 && k.Data[0] == 0
}

// bounds returns what e is between whatever the states, params and times in it are. A minimum or maximum counts as any
// of its operands, so that max(x, 0) <= 0 stays the condition x <= 0 that it is.
func bounds(e model.Expr) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	switch e := e.(type) {
	case *model.Const:
		if len(e.Data) == 1 {
			return e.Data[0], e.Data[0]
		}
	case *model.Call:
		if len(e.Args) == 0 || e.Fn.Class != stdlib.Elementwise {
			return lo, hi
		}
		a, b := bounds(e.Args[0])
		c, d := lo, hi
		if len(e.Args) > 1 {
			c, d = bounds(e.Args[1])
		}
		switch e.Fn.Op {
		case tape.Abs, tape.Sqrt, tape.Sqr, tape.Exp, tape.Cosh, tape.Hypot:
			return 0, hi
		case tape.Sin, tape.Cos, tape.Tanh:
			return -1, 1
		case tape.Pow:
			if c == d && c > 0 && c/2 == math.Floor(c/2) || a >= 0 {
				return 0, hi
			}
		case tape.Neg:
			return -b, -a
		case tape.Add:
			return a + c, b + d
		case tape.Sub:
			return a - d, b - c
		case tape.Min, tape.Max:
			if opposed(e) && e.Fn.Op == tape.Max {
				return 0, max(b, d)
			} else if opposed(e) {
				return min(a, c), 0
			}
			return min(a, c), max(b, d)
		case tape.Mul:
			if alike(e.Args[0], e.Args[1]) {
				return 0, hi
			}
			return products(a, b, c, d)
		case tape.Div:
			switch {
			case c >= 0 && (a >= 0 || b <= 0):
				return products(a, b, 0, hi)
			case d <= 0 && (a >= 0 || b <= 0):
				return products(a, b, lo, 0)
			}
		}
	}
	return lo, hi
}

// products returns the bounds of products of numbers from a to b and from c to d, where 0 times infinity is 0.
func products(a, b, c, d float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, x := range [2]float64{a, b} {
		for _, y := range [2]float64{c, d} {
			p := 0.0
			if x != 0 && y != 0 {
				p = float64(x * y)
			}
			lo, hi = min(lo, p), max(hi, p)
		}
	}
	return lo, hi
}

// opposed reports whether e is the maximum or minimum of a real and its negative: its absolute value, or less that.
func opposed(e *model.Call) bool {
	if e.Fn.Op != tape.Max && e.Fn.Op != tape.Min || len(e.Args) != 2 {
		return false
	}
	x, ok1 := e.Args[0].(*model.Call)
	y, ok2 := e.Args[1].(*model.Call)
	switch {
	case ok1 && x.Fn.Op == tape.Neg && alike(x.Args[0], e.Args[1]),
		ok2 && y.Fn.Op == tape.Neg && alike(y.Args[0], e.Args[0]):
		return true
	case ok1 && ok2 && x.Fn.Op == tape.Sub && y.Fn.Op == tape.Sub:
		return alike(x.Args[0], y.Args[1]) && alike(x.Args[1], y.Args[0])
	}
	return false
}

// sided reports whether e is never on the other side of zero: >= 0, or <= 0 for a negative way.
func sided(e model.Expr, way float64) bool {
	lo, hi := bounds(e)
	return way > 0 && lo >= 0 || way < 0 && hi <= 0
}

// least reports whether a is never less than b.
func least(a, b model.Expr) bool {
	lo, _ := bounds(a)
	_, hi := bounds(b)
	return lo >= hi && !math.IsInf(lo, 0)
}

// zeros returns where f is zero: a combination of g == 0 with simpler g. The place is that of the comparison at.
func (c *compiler) zeros(at, f model.Expr) model.Expr {
	if call, ok := f.(*model.Call); ok {
		if opposed(call) {
			return c.zeros(at, call.Args[0])
		}
		pair := func(op string) model.Expr {
			a, b := c.zeros(at, call.Args[0]), c.zeros(at, call.Args[1])
			return join2(op, at, a, b)
		}
		positive := func(way float64) bool {
			if call.Fn.Op == tape.Sub {
				return sided(call.Args[0], way) && sided(call.Args[1], -way)
			}
			return sided(call.Args[0], way) && sided(call.Args[1], way)
		}
		switch call.Fn.Op {
		case tape.Neg, tape.Abs, tape.Sqrt, tape.Sqr, tape.Cbrt, tape.Sinh, tape.Tanh, tape.Asin, tape.Atan, tape.Asinh,
			tape.Atanh, tape.Erf, tape.Expm1, tape.Log1p:
			return c.zeros(at, call.Args[0])
		case tape.Tan: // which changes its sign at poles as well
			return c.zeros(at, call1("sin", call.Args[0]))
		case tape.Pow:
			if k, ok := call.Args[1].(*model.Const); ok && len(k.Data) == 1 && k.Data[0] > 0 {
				return c.zeros(at, call.Args[0])
			}
		case tape.Div:
			return c.zeros(at, call.Args[0])
		case tape.Mul:
			for k, a := range call.Args {
				if x, ok := a.(*model.Const); ok && len(x.Data) == 1 && x.Data[0] != 0 {
					return c.zeros(at, call.Args[1-k])
				}
			}
			return pair("or")
		case tape.Add, tape.Sub, tape.Max:
			if positive(1) || positive(-1) {
				for k, a := range call.Args {
					if zero(a) {
						return c.zeros(at, call.Args[1-k])
					}
				}
				return pair("and")
			}
		case tape.Min:
			if positive(1) {
				return pair("or")
			}
		}
	}
	leaf := join2("==", at, f, &model.Const{Base: model.Base{T: f.Type(), S: at.Span()}, Data: []float64{0}})
	leaf.Args[1].(*model.Const).T.Shape = nil
	if c.flow(f, false) != 0 {
		c.equal[leaf] = leaf
	}
	return leaf
}

// opposite returns the negation of what zeros returns.
func opposite(e model.Expr) model.Expr {
	call := e.(*model.Call)
	switch call.Fn.Op {
	case tape.And:
		return join2("or", call, opposite(call.Args[0]), opposite(call.Args[1]))
	case tape.Or:
		return join2("and", call, opposite(call.Args[0]), opposite(call.Args[1]))
	}
	return join2("!=", call, call.Args[0], call.Args[1])
}

// momentary reports whether e, of what equalities returns, is an equality that holds at instants alone.
func (c *compiler) momentary(e model.Expr) (root model.Expr, ok bool) {
	call, is := e.(*model.Call)
	if !is || call.Fn.Op != tape.Equal || c.flow(call.Args[0], false) == 0 {
		return nil, false
	}
	return call.Args[0], zero(call.Args[1])
}

// lasting returns the part of e, of what equalities returns, that may hold for a while: nil for none.
func (c *compiler) lasting(e model.Expr) model.Expr {
	if _, ok := c.momentary(e); ok {
		return nil
	}
	call, ok := e.(*model.Call)
	if !ok || call.Fn.Op != tape.And && call.Fn.Op != tape.Or {
		return e
	}
	a, b := c.lasting(call.Args[0]), c.lasting(call.Args[1])
	switch {
	case a == call.Args[0] && b == call.Args[1]:
		return e
	case a != nil && b != nil:
		return join2(call.Fn.Name, call, a, b)
	case call.Fn.Op == tape.And:
		return nil
	case a != nil:
		return a
	}
	return b
}

// moments returns the instants at which e, of what equalities returns, holds and did not just before.
func (c *compiler) moments(e model.Expr) (list []moment) {
	if root, ok := c.momentary(e); ok {
		if slope, curvature, ok := c.touches(root); ok {
			return []moment{
				{root: slope, slope: slope, of: root}, {root: root, slope: slope, curvature: curvature, of: root},
			}
		}
		return []moment{{root: root}}
	}
	call, ok := e.(*model.Call)
	if !ok || call.Fn.Op != tape.And && call.Fn.Op != tape.Or {
		return nil
	}
	for k, a := range call.Args {
		other := filter{e: call.Args[1-k]}
		if call.Fn.Op == tape.Or {
			other = filter{c.lasting(other.e), true}
		}
		for _, m := range c.moments(a) {
			if other.e != nil {
				m.filters = append(m.filters[:len(m.filters):len(m.filters)], other)
			}
			list = append(list, m)
		}
	}
	return list
}

// passes returns whether the filters of m let a root pass.
func passes(l *lowerer, m moment, s scope) array {
	var all []array
	switch {
	case m.curvature != nil:
		all = append(all, crosses(l, m.of, m.slope, m.curvature, s))
	case m.slope != nil:
		all = append(all, nearZero(l, m.of, s))
	}
	for _, f := range m.filters {
		x := holds(l, f.e, s)
		if f.not {
			x = l.elementwise(tape.Not, x)
		}
		all = append(all, x)
	}
	if len(all) == 0 {
		return l.number(1)
	}
	for _, x := range all[1:] {
		all[0] = l.elementwise(tape.And, all[0], x)
	}
	return all[0]
}

// holds returns the truth of a filter. Of an equality that holds at instants alone, it is true within rounding.
func holds(l *lowerer, e model.Expr, s scope) array {
	if call, ok := e.(*model.Call); ok {
		switch call.Fn.Op {
		case tape.And, tape.Or:
			return l.elementwise(call.Fn.Op, holds(l, call.Args[0], s), holds(l, call.Args[1], s))
		}
		if root, ok := l.c.momentary(e); ok {
			return nearZero(l, root, s)
		}
	}
	return l.lower(e, s)
}

// abrupt reports whether f may become zero for a while though what it depends on moves: where it is made of pieces.
func (c *compiler) abrupt(f model.Expr) bool {
	if c.flow(f, false) == 0 {
		return false
	}
	switch x := f.(type) {
	case *model.Ref:
		return false
	case *model.If:
		return true
	case *model.Call:
		if x.Fn.Op == tape.Min || x.Fn.Op == tape.Max || x.Fn.Op == tape.Abs || isJump(x.Fn) || x.Search != nil {
			return true
		}
	}
	return slices.ContainsFunc(operands(f), c.abrupt)
}

// resting lowers an equality in a mode: e is what equality returns.
func resting(l *lowerer, e model.Expr, s scope) array {
	call := e.(*model.Call)
	switch {
	case call.Fn.Op == tape.And || call.Fn.Op == tape.Or:
		return l.elementwise(call.Fn.Op, resting(l, call.Args[0], s), resting(l, call.Args[1], s))
	case l.c.flow(call.Args[0], false) == 0:
		return same(l, call.Fn.Op, l.lower(call.Args[0], s), l.lower(call.Args[1], s))
	}
	if l.c.passing(call.Args[0]) {
		return l.elementwise(call.Fn.Op, l.number(1), l.number(0))
	}
	return l.elementwise(call.Fn.Op, l.mode(l.c.jumpMode(call, s)), l.number(0))
}

// passing reports whether f moves evenly with time at a rate that is a number, so that it rests nowhere.
func (c *compiler) passing(f model.Expr) bool {
	if c.flow(f, false) != model.UsesTime {
		return false
	}
	d, ok := c.slope(f)
	return ok && d != nil && nonzero(d)
}

// nonzero reports whether e is a number that is not 0, or a product of such.
func nonzero(e model.Expr) bool {
	switch e := e.(type) {
	case *model.Const:
		return len(e.Data) == 1 && e.Data[0] != 0
	case *model.Call:
		return e.Fn.Op == tape.Mul && nonzero(e.Args[0]) && nonzero(e.Args[1])
	}
	return false
}

// same compares values by == or != with comparisons of their order, which tell where a small change of a value makes
// another result.
func same(l *lowerer, op tape.Op, a, b array) array {
	if op == tape.NotEqual {
		return l.elementwise(tape.Or, l.elementwise(tape.Less, a, b), l.elementwise(tape.Less, b, a))
	}
	return l.elementwise(tape.And, l.elementwise(tape.LessEq, a, b), l.elementwise(tape.LessEq, b, a))
}
