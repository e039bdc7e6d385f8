package vm_test

import (
	"fmt"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/tape"
)

// randomTape writes a tape instruction by instruction. Each instruction reads existing values, the
// latest preferably, and its result becomes one of them.
type randomTape struct {
	r    *elem.Rand
	b    *tape.Builder
	pool []tape.Value
	most int // approximate bound of the elements of a value
}

func newRandomTape(seed uint64) *randomTape {
	rewrites := []tape.Rewrites{0, tape.All}[seed%2]
	return &randomTape{r: elem.NewRand(seed*7919 + 13), b: tape.NewBuilderWith("random", rewrites)}
}

func (g *randomTape) n(k int) int            { return int(g.r.Uint64() % uint64(k)) }
func (g *randomTape) between(lo, hi int) int { return lo + g.n(hi-lo+1) }
func (g *randomTape) oneIn(k int) bool       { return g.n(k) == 0 }

func (g *randomTape) pick() tape.Value {
	if g.oneIn(2) {
		return g.pool[len(g.pool)-1-g.n(min(len(g.pool), 6))]
	}
	return g.pool[g.n(len(g.pool))]
}

// keep adds v to the existing values, or a sum of v where v is too long.
func (g *randomTape) keep(v tape.Value) {
	shape := g.b.Shape(v)
	switch size := shape.Size(); {
	case size > 4*g.most:
		v = g.b.SumAxes(v)
	case size > g.most:
		v = g.b.Reduce(tape.SumAxes, v, g.n(len(shape)))
	}
	g.pool = append(g.pool, v)
}

// Elementwise instructions that native code has, the frequent ones repeated, and some that it does
// not have.
var (
	inNative = []tape.Op{
		tape.Neg, tape.Abs, tape.Sign, tape.Not, tape.Recip, tape.Sqrt, tape.Sqr, tape.Floor, tape.Ceil, tape.Round,
		tape.Trunc,
		tape.Add, tape.Sub, tape.Mul, tape.Div, tape.Min, tape.Max, tape.Less, tape.LessEq, tape.Equal, tape.NotEqual,
		tape.And, tape.Or, tape.ZeroMul, tape.Select, tape.FMA, tape.Powi,
		tape.Add, tape.Sub, tape.Mul, tape.Add, tape.Sub, tape.Mul, tape.FMA, tape.FMA,
	}
	inRecords = []tape.Op{
		tape.Exp, tape.Sin, tape.Log, tape.Pow, tape.Tanh, tape.Atan2, tape.Mod, tape.Sigmoid,
		tape.Hypot,
	}
)

// tape returns a tape of up to 60 instructions on scalars and short vectors, or of
// up to 30 on matrices, on cubes or on long vectors.
func (g *randomTape) tape() *tape.Tape {
	var shapes []tape.Shape
	count := g.between(3, 30)
	g.most = 4000
	switch g.n(6) {
	case 0, 1:
		n := g.between(1, 70)
		shapes = []tape.Shape{{}, {n}, {n}, {1}, {g.between(1, 70)}}
		count, g.most = g.between(3, 60), 300
	case 2, 3:
		r, c := g.between(2, 30), g.between(3, 70)
		shapes = []tape.Shape{{r, c}, {r, c}, {1, c}, {r, 1}, {}, {r, c}}
	case 4:
		a, r, c := g.between(1, 4), g.between(2, 12), g.between(3, 20)
		shapes = []tape.Shape{{a, r, c}, {1, r, c}, {a, 1, c}, {}, {a, r, c}}
	case 5:
		n := g.between(500, 3000)
		shapes = []tape.Shape{{n}, {n}, {}, {1}}
	}
	allLaned := g.oneIn(2)
	for i, s := range shapes {
		g.pool = append(g.pool, g.b.Input(fmt.Sprintf("in%d", i), s, allLaned || g.oneIn(2)))
	}
	for range count {
		switch k := g.n(20); {
		case k < 12:
			g.elementwise(inNative[g.n(len(inNative))])
		case k < 13:
			g.elementwise(inRecords[g.n(len(inRecords))])
		default:
			g.structure()
		}
	}
	g.b.Output("o0", g.pool[len(g.pool)-1])
	for i := range g.between(1, 5) {
		g.b.Output(fmt.Sprintf("o%d", i+1), g.pick())
	}
	return g.b.Tape()
}

func (g *randomTape) elementwise(op tape.Op) {
	in := tape.Instr{Op: op, Args: []tape.Value{g.pick()}}
	for shape := g.b.Shape(in.Args[0]); len(in.Args) < op.Row().Arity; {
		x := g.partner(shape)
		shape, _ = tape.Stretch(shape, g.b.Shape(x))
		in.Args = append(in.Args, x)
	}
	if len(in.Args) > 1 && g.oneIn(2) {
		in.Args[0], in.Args[1] = in.Args[1], in.Args[0]
	}
	if op == tape.Powi {
		in.Attr.Power = g.between(-5, 6)
	}
	g.keep(g.b.Emit(in))
}

// partner returns an operand that fits one of the given shape: an existing value or a constant.
func (g *randomTape) partner(shape tape.Shape) tape.Value {
	if !g.oneIn(8) {
		for range 12 {
			v := g.pick()
			if _, err := tape.Stretch(shape, g.b.Shape(v)); err == nil {
				return v
			}
		}
	}
	shape = slices.Clone(shape)
	switch g.n(4) {
	case 0:
		return g.b.Scalar(float64(g.n(17)-8) / 4)
	case 1:
		for k := range shape {
			if g.oneIn(2) {
				shape[k] = 1
			}
		}
	}
	data := make([]float64, shape.Size())
	for i := range data {
		data[i] = float64(g.n(19)-9) / 8
	}
	if g.oneIn(4) {
		data = data[:1]
	}
	return g.b.Const(shape, data...)
}

// structure writes an instruction that moves elements.
func (g *randomTape) structure() {
	b := g.b
	x := g.pick()
	for range 20 {
		if len(b.Shape(x)) > 0 {
			break
		}
		x = g.pick()
	}
	if len(b.Shape(x)) == 0 {
		x = b.Broadcast(x, tape.Shape{g.between(1, 9)})
	}
	s := b.Shape(x)
	axis := len(s) - 1
	if g.oneIn(2) {
		axis = g.n(len(s))
	}
	n := s[axis]
	switch g.n(11) {
	case 0, 1, 2:
		g.keep(b.Take(x, axis, g.neighbours(n)))
	case 3:
		index := make([]int, g.between(1, n+2))
		for i := range index {
			index[i] = g.n(n)
		}
		if g.oneIn(2) {
			slices.Sort(index)
		}
		g.keep(b.Take(x, axis, index))
	case 4, 5:
		g.part(x)
	case 6:
		to, start, step := make(tape.Shape, len(s)), make([]int, len(s)), make([]int, len(s))
		for k, d := range s {
			start[k], step[k] = g.n(3), 1
			if g.oneIn(4) {
				step[k] = 2
			}
			to[k] = start[k] + (d-1)*step[k] + 1 + g.n(3)
		}
		g.keep(b.Pad(x, to, start, step))
	case 7:
		perm := make([]int, len(s))
		for i := range perm {
			perm[i] = i
		}
		for i := range perm {
			j := g.n(len(perm))
			perm[i], perm[j] = perm[j], perm[i]
		}
		g.keep(b.Transpose(x, perm...))
	case 8:
		switch g.n(3) {
		case 0:
			g.keep(b.Reduce([]tape.Op{tape.SumAxes, tape.MaxAxes, tape.MinAxes}[g.n(3)], x, axis))
		case 1:
			at := make([]int, len(s))
			for k, d := range s {
				at[k] = g.n(d)
			}
			g.keep(b.Element(x, at...))
		case 2:
			g.keep(b.Reshape(x, tape.Shape{s.Size()}))
		}
	case 9:
		to := g.between(max(1, n-2), n+3)
		index := make([]int, n)
		kind := g.n(3)
		for i := range index {
			index[i] = []int{g.n(to), min(i, to-1), (i + 1) % to}[kind]
		}
		g.keep(b.Put(x, axis, index, to))
	case 10:
		if g.oneIn(2) {
			g.keep(b.Concat(axis, x, b.Op1(tape.Neg, x), x))
			return
		}
		wide := slices.Clone(s)
		for k := range wide {
			if wide[k] == 1 {
				wide[k] = g.between(1, 5)
			}
		}
		g.keep(b.Broadcast(x, wide))
	}
}

// neighbours returns, for n elements, the elements a few places further on, around a ring or
// between walls.
func (g *randomTape) neighbours(n int) []int {
	by, ring := g.between(-3, 3), g.oneIn(2)
	if g.oneIn(5) {
		by = g.between(-n, n)
	}
	index := make([]int, n)
	for i := range index {
		if index[i] = min(max(i+by, 0), n-1); ring {
			index[i] = ((i+by)%n + n) % n
		}
	}
	return index
}

// part takes a block out of x, and sometimes puts its squares back between zeros.
func (g *randomTape) part(x tape.Value) {
	s := g.b.Shape(x)
	start, size, step := make([]int, len(s)), make(tape.Shape, len(s)), make([]int, len(s))
	dense := g.oneIn(2)
	for k, d := range s {
		start[k], step[k] = g.n(min(d, 4)), 1
		if !dense {
			step[k] = g.between(1, 2)
		}
		size[k] = max((d-1-start[k])/step[k]+1-g.n(3), 1)
	}
	y := g.b.Slice(x, start, size, step)
	g.keep(y)
	if g.oneIn(2) {
		if dense {
			step = nil
		}
		g.keep(g.b.Pad(g.b.Op1(tape.Sqr, y), s, start, step))
	}
}
