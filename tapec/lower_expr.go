package tapec

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/tape"
)

// lowerer lowers expressions to a tape.
type lowerer struct {
	emitter
	c    *compiler
	memo map[memoKey]array

	held    bool                         // conditions and jumps are modes, whose held values are read
	chosen  map[*mode]array              // what modes are to hold, where that is read in place of what they hold
	rates   bool                         // kinks are those of the rates
	limits  bool                         // left limits have inputs of their own
	start   bool                         // states and discretes stand for their initial values
	row     func(*model.Row) array       // reads a data row; nil where there is none
	reading func(*functional) tape.Value // reads a functional; nil where there is none
}

// memoKey is what the value of a lowered node depends on.
type memoKey struct {
	e           model.Expr
	bound       string // how its loop variables are bound
	plain, left bool
}

// tooDeep is what lowering panics with where a value would have too many dimensions.
type tooDeep struct {
	span source.Span
	rank int
}

// lowerer returns a lowerer of a tape called name.
func (c *compiler) lowerer(name string) *lowerer {
	return &lowerer{
		emitter: emitter{b: tape.NewBuilder(name), frames: c.frames}, c: c, memo: map[memoKey]array{},
	}
}

// lower returns the value of e in the scope s.
func (l *lowerer) lower(e model.Expr, s scope) array {
	key := memoKey{e, s.key(model.Free(e)), s.plain, s.left}
	if x, ok := l.memo[key]; ok {
		return x
	}
	l.c.diags.Look()
	outer := l.span
	if !e.Span().IsZero() {
		l.span = e.Span()
	}
	x, ok := l.attempt(e, s)
	if !ok {
		x = l.flattened(e, s)
	}
	l.span = outer
	l.memo[key] = x
	return x
}

// attempt lowers e. It reports false if that needs a value with too many dimensions
// although e itself has not; flattening the loops around e may help then.
func (l *lowerer) attempt(e model.Expr, s scope) (array, bool) {
	ax := s.axesOf(model.Free(e))
	if len(ax) < 2 || len(ax)+len(shapeOf(e)) > tape.MaxRank {
		return l.node(e, s), true
	}
	return l.trying(func() array { return l.node(e, s) })
}

// trying calls f and reports whether it did without values of too many dimensions.
func (l *lowerer) trying(f func() array) (x array, ok bool) {
	place := l.span
	defer func() {
		if p := recover(); p != nil {
			if _, deep := p.(tooDeep); !deep {
				panic(p)
			}
			l.span, x, ok = place, array{}, false
		}
	}()
	return f(), true
}

// flattened lowers e with one axis, of all points, in place of those of the loops around it.
func (l *lowerer) flattened(e model.Expr, s scope) array {
	ax := s.axesOf(model.Free(e))
	points := count(lengths(ax).Size())
	list := l.frames.part(ax, points)
	x := l.node(e, s.within(l.frames, ax, list, points))
	own := x.own
	v := l.expand(x, []*axis{list}, own)
	return array{v: l.reshape(v, join(lengths(ax), own)), ax: ax, own: own}
}

// node lowers e without looking at the memo.
func (l *lowerer) node(e model.Expr, s scope) array {
	switch e := e.(type) {
	case *model.Const:
		return array{v: l.emit().Const(shapeOf(e), e.Data...), own: shapeOf(e)}
	case *model.Ref:
		return l.ref(e.Sym, s)
	case *model.LoopVar:
		return l.loopVar(e.Index, s)
	case *model.Call:
		return l.call(e, s)
	case *model.Access:
		return l.access(e, s)
	case *model.Assemble:
		return l.assemble(e, s)
	case *model.Reduce:
		return l.reduce(e, s)
	case *model.If:
		return l.choice(e, s)
	case *model.Stack:
		return l.stack(e, s)
	case *model.NoEvent:
		s.plain = true
		return l.lower(e.X, s)
	case *model.Limit:
		s.left = !e.Post && l.limits
		return l.lower(e.X, s)
	case *model.Row:
		if l.row == nil {
			panic(misplaced{e.Span(), "a data column is read outside the sum over its table"})
		}
		return l.row(e)
	case *model.Functional:
		if l.reading == nil {
			panic(misplaced{e.Span(), "a functional of the trajectory stands outside an objective"})
		}
		l.deep(len(s.axesOf(model.Free(e))) + len(shapeOf(e)))
		f := l.c.functional(e, s)
		return array{v: l.reading(f), ax: f.ax, own: shapeOf(e)}
	}
	panic(misplaced{e.Span(), "this expression cannot be compiled"})
}

// misplaced is what lowering panics with at a node that has no meaning where it stands.
type misplaced struct {
	span source.Span
	text string
}

func shapeOf(e model.Expr) tape.Shape { return tape.Shape(e.Type().Shape) }

// ref reads a symbol.
func (l *lowerer) ref(sym *model.Symbol, s scope) array {
	own := tape.Shape(sym.Type.Shape)
	input := func(n Name) array { return array{v: l.input(n, own), own: own} }
	state, discrete := State, Discrete
	if s.left && l.limits {
		state, discrete = LeftState, LeftDiscrete
	}
	switch sym.Kind {
	case model.TimeSymbol:
		return input(Time.Name())
	case model.ParamSymbol:
		return input(Param.Called(sym.Name))
	case model.StateSymbol, model.AlgSymbol, model.DiscreteSymbol:
		if l.start {
			return l.filled(sym.Value, scope{}, own)
		}
		if sym.Kind != model.DiscreteSymbol {
			return input(state.Called(sym.Name))
		}
		return input(discrete.Called(sym.Name))
	}
	panic(misplaced{sym.Span, "this name has no value at run time"})
}

// filled returns e, which depends on no loop, stretched to the shape own.
func (l *lowerer) filled(e model.Expr, s scope, own tape.Shape) array {
	return array{v: l.expand(l.lower(e, s), nil, own), own: own}
}

func (l *lowerer) loopVar(ix *model.Index, s scope) array {
	b := s.bind[ix]
	data := make([]float64, len(b.at))
	for k, o := range b.at {
		data[k] = float64(ix.Lo + o*ix.Step)
	}
	if b.ax == nil {
		return array{v: l.emit().Scalar(data[0])}
	}
	return array{v: l.emit().Const(tape.Shape{b.ax.n}, data...), ax: []*axis{b.ax}}
}

func (l *lowerer) all(es []model.Expr, s scope) []array {
	xs := make([]array, len(es))
	for i, e := range es {
		xs[i] = l.lower(e, s)
	}
	return xs
}

func (l *lowerer) call(e *model.Call, s scope) array {
	if isJump(e.Fn) && l.held && !s.plain && switches(e) && !still(e) {
		return l.jump(e, s)
	}
	if l.held && !s.plain {
		if eq := l.c.equality(e); eq != nil {
			return resting(l, eq, s)
		}
	}
	switch {
	case e.Search != nil:
		return l.search(e.Search, s)
	case e.Fn.Op == tape.Find:
		return l.interval(e, s)
	case e.Fn.Op == tape.Pick:
		return l.at(e.Args[0], l.lower(e.Args[1], s), s)
	}
	switch e.Fn.Class {
	case stdlib.Elementwise, stdlib.Comparison, stdlib.Logic, stdlib.Index:
		if !e.Fn.Op.Valid() {
			break
		}
		if l.held && (e.Fn.Op == tape.Min || e.Fn.Op == tape.Max || e.Fn.Op == tape.Abs) {
			if known := l.c.corner(e, s); l.rates && !known {
				l.c.kink(e, s)
			}
		}
		if (e.Fn.Op == tape.Equal || e.Fn.Op == tape.NotEqual) && switches(e) {
			return same(l, e.Fn.Op, l.lower(e.Args[0], s), l.lower(e.Args[1], s))
		}
		return l.elementwise(e.Fn.Op, l.all(e.Args, s)...)
	case stdlib.Reduction:
		l.bends(e, e.Fn.Name, tape.Shape(e.Args[0].Type().Shape).Size(), s)
		return l.reduction(e.Fn.Name, l.lower(e.Args[0], s))
	case stdlib.Structure:
		return l.structure(e, s)
	}
	panic(misplaced{e.Span(), "function " + e.Fn.Name + " cannot be compiled here"})
}

// switches reports whether e may change in a run. If it depends on loop variables and
// constants only, there is nothing to hold.
func switches(e model.Expr) bool {
	return model.Depends(e)&(model.UsesTime|model.UsesState|model.UsesDiscrete|model.UsesParam) != 0
}

// still reports whether e is an angle that turns at events alone, if at all: it has no way on which to jump.
func still(e *model.Call) bool {
	return e.Fn.Op == tape.Atan2 && model.Depends(e)&(model.UsesTime|model.UsesState) == 0
}

// structure lowers calls of functions that rearrange or contract arrays.
func (l *lowerer) structure(e *model.Call, s scope) array {
	xs := l.all(e.Args, s)
	x := xs[0]
	lead := len(x.ax)
	switch e.Fn.Name {
	case "@", "dot":
		return l.matmul(x, xs[1])
	case "outer":
		a, i := l.label(x)
		b, j := l.label(xs[1])
		j[0].ord++
		return l.unlabel(l.product(a, b), append(i, j...))
	case "transpose":
		perm := append(count(lead), lead+1, lead)
		return array{v: l.emit().Transpose(x.v, perm...), ax: x.ax, own: tape.Shape{x.own[1], x.own[0]}}
	case "diag":
		n := x.own[0]
		front := lengths(x.ax)
		every := make([]int, n)
		for i := range every {
			every[i] = i * (n + 1)
		}
		if len(x.own) == 2 {
			v := l.reshape(x.v, join(front, tape.Shape{n * n}))
			return array{v: l.emit().Take(v, lead, every), ax: x.ax, own: tape.Shape{n}}
		}
		l.deep(lead + 2)
		v := l.emit().Put(x.v, lead, every, n*n)
		return array{v: l.reshape(v, join(front, tape.Shape{n, n})), ax: x.ax, own: tape.Shape{n, n}}
	}
	panic(misplaced{e.Span(), "function " + e.Fn.Name + " cannot be compiled"})
}

// stack puts elements side by side along a new own dimension, the first.
func (l *lowerer) stack(e *model.Stack, s scope) array {
	xs := l.all(e.Elems, s)
	var ax []*axis
	for _, x := range xs {
		ax = union(ax, x.ax)
	}
	own := shapeOf(e)
	l.deep(len(ax) + len(own))
	row := append(tape.Shape{1}, own[1:]...)
	parts := make([]tape.Value, len(xs))
	for i, x := range xs {
		v := l.expand(x, ax, own[1:])
		parts[i] = l.reshape(v, join(lengths(ax), row))
	}
	return array{v: l.emit().Concat(len(ax), parts...), ax: ax, own: own}
}

// choice lowers an `if`.
func (l *lowerer) choice(e *model.If, s scope) array {
	own := shapeOf(e)
	if e.Static {
		mask, ax := l.c.mask(e.Cond, s)
		return l.split(mask, ax, s, own, func(then bool, s scope) array {
			if then {
				return l.lower(e.Then, s)
			}
			return l.lower(e.Else, s)
		})
	}
	var cond array
	switch then := func() array { return l.lower(e.Then, s) }; {
	case l.held && !s.plain && switches(e.Cond):
		cond = l.mode(l.c.ifMode(e, s))
	case e.Support:
		value := then() // what it reads has its kinks
		tape.Seamlessly(l.emit(), func() tape.Value {
			cond = l.lower(e.Cond, s)
			return cond.v
		})
		return l.elementwise(tape.Select, cond, value, l.lower(e.Else, s))
	default:
		cond = l.lower(e.Cond, s)
	}
	return l.elementwise(tape.Select, cond, l.lower(e.Then, s), l.lower(e.Else, s))
}
