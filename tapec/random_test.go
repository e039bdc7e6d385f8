package tapec

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/tape"
)

// The nodes of hand-made models.

func base(kind types.Kind, shape ...int) model.Base {
	return model.Base{T: types.Type{Kind: kind, Shape: shape}}
}

func num(x float64) model.Expr {
	return &model.Const{Base: base(types.Real), Data: []float64{x}}
}

func whole(n int) model.Expr {
	return &model.Const{Base: base(types.Int), Data: []float64{float64(n)}}
}

func loopVar(ix *model.Index) model.Expr {
	return &model.LoopVar{Base: base(types.Int), Index: ix}
}

func symbol(name string, kind model.SymbolKind, shape ...int) *model.Symbol {
	return &model.Symbol{Name: name, Kind: kind, Type: types.Type{Kind: types.Real, Shape: shape}, Value: num(0)}
}

func ref(s *model.Symbol) model.Expr {
	return &model.Ref{Base: base(types.Real, s.Type.Shape...), Sym: s}
}

func index(name string, lo, step, count int) *model.Index {
	return &model.Index{Name: name, Lo: lo, Step: step, Count: count}
}

// structure calls a function that rearranges or contracts arrays.
func structure(name string, shape []int, args ...model.Expr) model.Expr {
	return &model.Call{Base: base(types.Real, shape...), Fn: stdlib.Find(name, stdlib.Structure), Args: args}
}

// apply calls an operator or elementwise function.
func apply(name string, args ...model.Expr) model.Expr {
	fn := stdlib.Find(name, stdlib.Elementwise)
	if fn == nil {
		fn = stdlib.Operator(name)
	}
	kind, shape := types.Int, types.Shape(nil)
	for _, a := range args {
		if a.Type().Kind != types.Int {
			kind = types.Real
		}
		if len(a.Type().Shape) > 0 {
			shape = a.Type().Shape
		}
	}
	if fn.Class == stdlib.Comparison || fn.Class == stdlib.Logic {
		kind = types.Bool
	}
	return &model.Call{Base: base(kind, shape...), Fn: fn, Args: args}
}

func access(x model.Expr, at ...model.Expr) model.Expr {
	subs := make([]model.Sub, len(at))
	for k, a := range at {
		subs[k].At = a
	}
	return &model.Access{Base: base(x.Type().Kind), X: x, Subs: subs}
}

// gen makes random expressions over a few symbols.
type gen struct {
	t       *rapid.T
	symbols []*model.Symbol
	time    *model.Symbol
	events  bool // conditions on states, and jumps, are wanted
	loops   int
}

func newGen(t *rapid.T) *gen {
	return &gen{
		t:    t,
		time: symbol("t", model.TimeSymbol),
		symbols: []*model.Symbol{
			symbol("x", model.StateSymbol, 5),
			symbol("u", model.StateSymbol, 4, 5),
			symbol("s", model.StateSymbol),
			symbol("A", model.ParamSymbol, 5, 5),
			symbol("c", model.ParamSymbol, 3, 4, 5),
			symbol("p", model.ParamSymbol),
			symbol("g", model.DiscreteSymbol, 4),
		},
	}
}

func (g *gen) pick(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "pick") }

// index returns a subscript within 1:n of the loop variables in scope.
func (g *gen) index(scope []*model.Index, n int) model.Expr {
	if len(scope) == 0 || g.pick(6) == 0 {
		return whole(1 + g.pick(n))
	}
	ix := scope[g.pick(len(scope))]
	i := loopVar(ix)
	last := ix.Lo + (ix.Count-1)*ix.Step
	fits := ix.Lo >= 1 && last >= 1 && ix.Lo <= n && last <= n
	switch g.pick(7) {
	case 0:
		if fits {
			return i
		}
	case 1:
		if fits {
			return apply("-", whole(n+1), i)
		}
	case 2:
		j := loopVar(scope[g.pick(len(scope))])
		return apply("+", whole(1), apply("mod", apply("+", apply("*", i, whole(2)), j), whole(n)))
	case 3:
		return apply("+", whole(1), apply("mod", apply("+", i, whole(g.pick(3))), whole(n)))
	case 4:
		list := &model.Const{Base: base(types.Int, 3), Data: []float64{float64(n), 1, float64(1 + n/2)}}
		return access(list, g.index(scope, 3))
	}
	if fits && g.pick(2) == 0 {
		return i
	}
	return apply("min", apply("max", apply("+", i, whole(g.pick(3)-1)), whole(1)), whole(n))
}

// static returns a condition on loop variables.
func (g *gen) static(scope []*model.Index) model.Expr {
	i := loopVar(scope[g.pick(len(scope))])
	j := loopVar(scope[g.pick(len(scope))])
	k := whole(1 + g.pick(4))
	switch g.pick(7) {
	case 0, 1:
		return apply("==", i, k)
	case 2:
		return apply("<", i, k)
	case 3:
		return apply("<", i, j)
	case 4:
		return apply("or", apply("==", i, k), apply("==", j, whole(2)))
	case 5:
		return apply("and", apply("<", i, k), apply("<=", whole(2), j))
	}
	return apply("not", apply("==", i, j))
}

// cond returns a condition on reals.
func (g *gen) cond(scope []*model.Index, depth int) model.Expr {
	op := []string{"<", "<="}[g.pick(2)]
	c := apply(op, apply("+", num(0.1234567), g.expr(scope, depth-1)), g.expr(scope, depth-2)) // no ties
	switch g.pick(5) {
	case 0:
		return apply("not", c)
	case 1:
		return apply("and", c, g.cond(scope, depth-2))
	case 2:
		return apply("or", c, g.cond(scope, depth-2))
	}
	return c
}

func (g *gen) loop() *model.Index {
	g.loops++
	return index(fmt.Sprint("k", g.loops), 1+g.pick(2), 1+g.pick(2), 1+g.pick(4))
}

// expr returns a scalar of the loop variables in scope.
func (g *gen) expr(scope []*model.Index, depth int) model.Expr {
	if depth <= 0 {
		switch g.pick(7) {
		case 0:
			return num(float64(g.pick(9))/2 - 2)
		case 1:
			return ref(g.time)
		case 2:
			if len(scope) > 0 {
				return loopVar(scope[g.pick(len(scope))])
			}
		}
		return g.leaf(scope)
	}
	sub := func() model.Expr { return g.expr(scope, depth-1) }
	switch g.pick(18) {
	case 0, 1:
		return apply("+", sub(), sub())
	case 2, 3:
		return apply("*", sub(), sub())
	case 4:
		return apply("-", sub(), sub())
	case 5:
		return apply("/", sub(), apply("+", num(3), apply("abs", sub())))
	case 6:
		return apply([]string{"sin", "tanh", "neg", "abs", "sqrt"}[g.pick(5)], sub())
	case 7:
		return apply("^", sub(), num(float64(g.pick(4))))
	case 8, 9:
		if len(scope) < 3 {
			fn := stdlib.Find([]string{"sum", "sum", "sum", "prod", "min", "max"}[g.pick(6)], stdlib.Reduction)
			ix := []*model.Index{g.loop()}
			if len(scope) < 2 && g.pick(3) == 0 {
				ix = append(ix, g.loop())
			}
			inner := append(append([]*model.Index{}, scope...), ix...)
			return &model.Reduce{Base: base(types.Real), Fn: fn, Indices: ix, Body: g.expr(inner, depth-1)}
		}
	case 10, 11:
		if len(scope) > 0 {
			return &model.If{Base: base(types.Real), Cond: g.static(scope), Then: sub(), Else: sub(), Static: true}
		}
	case 12:
		if g.events {
			return &model.If{Base: base(types.Real), Cond: g.cond(scope, depth), Then: sub(), Else: sub()}
		}
	case 13:
		if g.events {
			if g.pick(3) == 0 {
				return apply("mod", apply("+", num(0.0371), sub()), num(1.5))
			}
			jump := []string{"floor", "ceil", "round", "trunc", "sign"}[g.pick(5)]
			return apply(jump, apply("+", num(0.0371), apply("*", num(1.7), sub())))
		}
	case 14: // guarded by the condition: the branch not taken is out of range
		if len(scope) > 0 {
			ix := scope[g.pick(len(scope))]
			i := loopVar(ix)
			inside := apply("and", apply("<=", whole(2), i), apply("<=", i, whole(6)))
			return &model.If{
				Base: base(types.Real), Cond: inside, Static: true,
				Then: access(ref(g.symbols[0]), apply("-", i, whole(1))), Else: sub(),
			}
		}
	case 15:
		return g.contraction(scope, depth)
	case 16:
		if v := g.vector(scope, depth); v != nil {
			return access(v, g.index(scope, v.Type().Shape[0]))
		}
	case 17:
		if v := g.vector(scope, depth); v != nil {
			fn := stdlib.Find([]string{"sum", "mean", "norm", "min", "max", "prod"}[g.pick(6)], stdlib.Reduction)
			return &model.Call{Base: base(types.Real), Fn: fn, Args: []model.Expr{v}}
		}
	}
	return sub()
}

// leaf reads an element, or a reduction of a part of an array.
func (g *gen) leaf(scope []*model.Index) model.Expr {
	s := g.symbols[g.pick(len(g.symbols))]
	x := ref(s)
	if len(s.Type.Shape) == 0 {
		return x
	}
	a := &model.Access{Base: base(types.Real), X: x}
	var kept []int
	for _, n := range s.Type.Shape {
		sub := model.Sub{}
		if len(scope)+len(kept) < 3 && g.pick(5) == 0 {
			sub = model.Sub{Lo: 1 + g.pick(2), Step: 1, Count: 2}
			if g.pick(3) == 0 {
				sub = model.Sub{Lo: n, Step: -1, Count: n}
			}
			kept = append(kept, sub.Count)
		} else {
			sub.At = g.index(scope, n)
		}
		a.Subs = append(a.Subs, sub)
	}
	if len(kept) == 0 {
		return a
	}
	a.T.Shape = kept
	return &model.Call{Base: base(types.Real), Fn: stdlib.Find("sum", stdlib.Reduction), Args: []model.Expr{a}}
}

// vector returns a vector of the loop variables in scope, or nil if it would need too
// many dimensions.
func (g *gen) vector(scope []*model.Index, depth int) model.Expr {
	if len(scope) > 2 {
		return nil
	}
	mat := ref(g.symbols[3])
	switch g.pick(6) {
	case 0: // a row times a number
		subs := []model.Sub{{At: g.index(scope, 5)}, {Lo: 1, Step: 1, Count: 5}}
		row := &model.Access{Base: base(types.Real, 5), X: mat, Subs: subs}
		return apply("*", row, g.expr(scope, depth-1))
	case 1: // a comprehension
		ix := index("c", 1, 1, 5)
		inner := append(append([]*model.Index{}, scope...), ix)
		at := []model.Sub{{At: apply("-", whole(6), loopVar(ix))}}
		return &model.Assemble{Base: base(types.Real, 5), Pieces: []model.Piece{
			{Indices: []*model.Index{ix}, Subs: at, Value: g.expr(inner, depth-1)},
		}}
	case 2:
		s := &model.Stack{Base: base(types.Real, 3)}
		for range 3 {
			s.Elems = append(s.Elems, g.expr(scope, depth-1))
		}
		return s
	case 3:
		subs := []model.Sub{{Lo: 5, Step: -1, Count: 5}, {At: g.index(scope, 5)}}
		column := &model.Access{Base: base(types.Real, 5), X: mat, Subs: subs}
		return &model.NoEvent{Base: base(types.Real, 5), X: apply("+", column, ref(g.symbols[0]))}
	case 4:
		return structure("diag", []int{5}, mat)
	}
	ix := index("f", 1, 1, 4)
	inner := append(append([]*model.Index{}, scope...), ix)
	wrapped := apply("+", whole(1), apply("mod", apply("*", loopVar(ix), whole(3)), whole(5)))
	return &model.Assemble{Base: base(types.Real, 5), Pieces: []model.Piece{ // not in order, in two pieces
		{Indices: []*model.Index{ix}, Subs: []model.Sub{{At: wrapped}}, Value: g.expr(inner, depth-1)},
		{Subs: []model.Sub{{At: whole(1)}}, Value: g.expr(scope, depth-1)},
	}}
}

// contraction is an inner product, written with functions of whole arrays.
func (g *gen) contraction(scope []*model.Index, depth int) model.Expr {
	mat, vec := ref(g.symbols[3]), ref(g.symbols[0])
	at := structure("transpose", []int{5, 5}, mat)
	mm := func(shape []int, a, b model.Expr) model.Expr {
		return &model.Call{Base: base(types.Real, shape...), Fn: stdlib.Operator("@"), Args: []model.Expr{a, b}}
	}
	i, j := g.index(scope, 5), g.index(scope, 5)
	subs := []model.Sub{{At: i}, {Lo: 1, Step: 1, Count: 5}}
	row := &model.Access{Base: base(types.Real, 5), X: mat, Subs: subs}
	switch g.pick(6) {
	case 0:
		return access(mm([]int{5}, mat, vec), i)
	case 1:
		return access(mm([]int{5}, vec, at), i)
	case 2:
		return access(mm([]int{5, 5}, at, mat), i, j)
	case 3:
		if len(scope) < 3 {
			return mm(nil, row, vec)
		}
	case 4:
		return access(structure("outer", []int{5, 5}, vec, mm([]int{5}, mat, vec)), i, j)
	}
	return structure("dot", nil, vec, mm([]int{5}, mat, vec))
}

// world gives every input a value.
func (g *gen) world() map[string][]float64 {
	values := map[string][]float64{"t": {0.75}}
	seed := rapid.Uint64().Draw(g.t, "world")
	for _, s := range g.symbols {
		v := make([]float64, s.Type.Shape.Size())
		for i := range v {
			seed = seed*6364136223846793005 + 1442695040888963407
			v[i] = float64(int64(seed)>>33) / (1 << 30)
		}
		values[[...]string{"", "p.", "y.", "d."}[s.Kind]+s.Name] = v
	}
	return values
}

// model wraps an expression as an output and as the rate of a state.
func (g *gen) model(e model.Expr) *model.Model {
	m := &model.Model{Timespan: model.Timespan{Time: g.time, From: num(0), To: num(1)}}
	z := symbol("z", model.StateSymbol, e.Type().Shape...)
	for _, s := range append(g.symbols, z) {
		switch s.Kind {
		case model.ParamSymbol:
			m.Params = append(m.Params, s)
		case model.StateSymbol:
			rate := num(0)
			if s == z {
				rate = e
			}
			m.States, m.Rates = append(m.States, s), append(m.Rates, rate)
		default:
			m.Discretes = append(m.Discretes, s)
		}
	}
	m.Outputs = []*model.Output{{Name: "z", Value: e}}
	return m
}

// over makes an array of random expressions, put together in one of several ways.
func (g *gen) over(depth int) model.Expr {
	i, j := index("i", 1, 1, 6), index("j", 1, 1, 7)
	two := []*model.Index{i, j}
	out := &model.Assemble{Base: base(types.Real, 6, 7)}
	at := func(k model.Expr) model.Sub { return model.Sub{At: k} }
	piece := func(ix []*model.Index, value model.Expr, subs ...model.Sub) {
		out.Pieces = append(out.Pieces, model.Piece{Indices: ix, Subs: subs, Value: value})
	}
	rows := model.Sub{Lo: 1, Step: 1, Count: 6}
	switch g.pick(6) {
	case 0:
		piece(two, g.expr(two, depth), at(loopVar(i)), at(loopVar(j)))
	case 1: // transposed loops, reversed rows
		piece([]*model.Index{j, i}, g.expr(two, depth), at(apply("-", whole(7), loopVar(i))), at(loopVar(j)))
	case 2: // the west wall, and the rest by odd and even columns
		piece([]*model.Index{j}, g.expr([]*model.Index{j}, depth), at(whole(1)), at(loopVar(j)))
		r, odd, even := index("r", 2, 1, 5), index("o", 1, 2, 4), index("e", 2, 2, 3)
		for _, c := range []*model.Index{odd, even} {
			two := []*model.Index{r, c}
			piece(two, g.expr(two, depth), at(loopVar(r)), at(loopVar(c)))
		}
	case 3: // the diagonal, and the rest along shifted diagonals
		piece([]*model.Index{i}, g.expr([]*model.Index{i}, depth), at(loopVar(i)), at(loopVar(i)))
		k := index("k", 1, 1, 6)
		shifted := apply("-", apply("+", loopVar(i), loopVar(k)), whole(1))
		wrapped := apply("+", whole(1), apply("mod", shifted, whole(7)))
		piece([]*model.Index{i, k}, g.expr([]*model.Index{i, k}, depth), at(loopVar(i)), at(wrapped))
	case 4: // whole rows
		cols := model.Sub{Lo: 2, Step: 1, Count: 4}
		subs := []model.Sub{at(g.index([]*model.Index{i}, 4)), cols}
		row := &model.Access{Base: base(types.Real, 4), X: ref(g.symbols[1]), Subs: subs}
		piece([]*model.Index{i}, apply("*", g.expr([]*model.Index{i}, depth), row), at(loopVar(i)), cols)
		piece(nil, g.expr(nil, depth), rows, at(whole(1)))
		last := index("l", 6, 1, 2)
		piece([]*model.Index{last}, g.expr([]*model.Index{last}, depth), rows, at(loopVar(last)))
	default:
		stack := &model.Stack{Base: base(types.Real, 6, 7)}
		for range 6 {
			loop := []*model.Index{j}
			value := model.Piece{Indices: loop, Subs: []model.Sub{at(loopVar(j))}, Value: g.expr(loop, depth)}
			row := &model.Assemble{Base: base(types.Real, 7), Pieces: []model.Piece{value}}
			stack.Elems = append(stack.Elems, row)
		}
		return stack
	}
	return out
}

// compileModel compiles a hand-made model and checks all its tapes.
func compileModel(t interface {
	Helper()
	Fatalf(string, ...any)
}, m *model.Model,
) *Compiled {
	t.Helper()
	var l diag.List
	c := Compile(m, &l)
	if c == nil {
		t.Fatalf("does not compile: %v", l.Err())
	}
	for _, x := range c.Tapes() {
		if err := tape.Check(x); err != nil {
			t.Fatalf("%v\n%v", err, x)
		}
	}
	return c
}

// run evaluates a tape on the inputs that it has.
func run(t interface {
	Helper()
	Fatalf(string, ...any)
}, tp *tape.Tape, values map[string][]float64,
) func(output string) []float64 {
	t.Helper()
	in := map[string][]float64{}
	for _, i := range tp.Inputs {
		in[i.Name] = values[i.Name]
		if MustName(i.Name).Role == KeptMode { // none is
			in[i.Name] = slices.Repeat([]float64{math.Inf(1)}, i.Shape.Size())
		}
	}
	ev, err := tape.Eval(tp, in)
	if err != nil {
		t.Fatalf("%v\n%v", err, tp)
	}
	return ev.Output
}

func compare(t *rapid.T, what string, got, want []float64, tp *tape.Tape) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	scale := 1.0
	for _, w := range want {
		if !math.IsNaN(w) && !math.IsInf(w, 0) {
			scale = math.Max(scale, math.Abs(w))
		}
	}
	for i := range got {
		if !close(got[i], want[i], scale) {
			t.Fatalf("%s: element %d is %v, want %v\n%v", what, i, got[i], want[i], tp)
		}
	}
}

// Lowering to whole arrays computes the same as evaluation element by element.
func TestLoweringAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGen(t)
		e := g.over(4)
		m := g.model(e)
		m.Rates[len(m.Rates)-1] = num(0)
		m.States[len(m.States)-1].Type.Shape = nil
		c := compileModel(t, m)
		values := g.world()
		o := &oracle{values: values}
		compare(t, "output", run(t, c.Outputs, values)("out.z"), o.eval(e, nil), c.Outputs)
	})
}

// With modes as chosen, rates are what the conditions themselves give. A guard is true
// exactly where choosing anew would change its mode.
func TestModesAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGen(t)
		g.events = true
		e := g.over(4)
		c := compileModel(t, g.model(e))
		values := g.world()
		choose := func(values map[string][]float64) map[string][]float64 {
			out := map[string][]float64{}
			if c.Choose != nil {
				get := run(t, c.Choose, values)
				for _, o := range c.Choose.Outputs {
					out[o.Name] = get(o.Name)
				}
			}
			return out
		}
		held := choose(values)
		for k, v := range held {
			values[k] = v
		}
		o := &oracle{values: values}
		compare(t, "rate", run(t, c.Rates, values)("dy.z"), o.eval(e, nil), c.Rates)
		if c.Guards == nil {
			return
		}
		for i, truth := range run(t, c.Guards, values)("truth") {
			if truth != 0 && c.GuardList[i].Mode >= 0 {
				t.Fatalf("guard %d of %+v is true where modes were just chosen\n%v", i, c.GuardList[i], c.Guards)
			}
		}
		moved := g.world()
		for k, v := range held {
			moved[k] = v
		}
		guards := run(t, c.Guards, moved)
		rho, truth := guards("rho"), guards("truth")
		if len(rho) != len(c.GuardList) || len(truth) != len(rho) {
			t.Fatalf("%d guards, %d values", len(c.GuardList), len(rho))
		}
		some := false
		for i := range rho {
			some = some || truth[i] != 0 && c.GuardList[i].Mode >= 0
			if truth[i] != 0 && rho[i] < 0 || truth[i] == 0 && rho[i] > 0 {
				t.Fatalf("guard %d: rho %v and truth %v disagree", i, rho[i], truth[i])
			}
		}
		rooted := false
		for i, m := range c.Modes {
			name := fmt.Sprint("m.", i)
			now := choose(moved)[name]
			for k := range now {
				if close(now[k], held[name][k], 0) {
					continue
				}
				if math.IsNaN(now[k]) || math.IsNaN(held[name][k]) {
					return // a step that leads there is rejected
				}
				if m.Rooted {
					rooted = true
				}
				if !m.Rooted && !some {
					return // parameters moved, which a run does not do
				}
			}
		}
		if some != rooted && !hasUnrooted(c) {
			t.Fatalf("guards say %v, choosing anew says %v: %v, then %v\n%v\n%v",
				some, rooted, held, choose(moved), c.Choose, c.Guards)
		}
	})
}

func hasUnrooted(c *Compiled) bool {
	for _, m := range c.Modes {
		if !m.Rooted {
			return true
		}
	}
	return false
}
