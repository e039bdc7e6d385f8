package tapetest

import (
	"slices"

	"odes.dev/odes/tape"
	"pgregory.net/rapid"
)

// Kind says what a random tape may do.
type Kind uint8

// The kinds.
const (
	// Any tapes apply any op to any operand. They make infinities and NaNs.
	Any Kind = iota
	// Smooth tapes are differentiable at almost every input. Their values are of
	// moderate size, so that derivatives can be compared up to rounding.
	Smooth
)

// Random draws a well-formed tape of about 25 instructions at most, over a few inputs.
// Its outputs "out.0" and "out.1" have any shapes.
func Random(t *rapid.T, kind Kind) *tape.Tape {
	rewrites := tape.Rewrites(rapid.SampledFrom([]int{0, int(tape.All)}).Draw(t, "rewrites"))
	g := &generator{t: t, kind: kind, b: tape.NewBuilderWith("random", rewrites)}
	for i := range rapid.IntRange(1, 3).Draw(t, "inputs") {
		shape := g.shape(3)
		g.keep(g.b.Input("in."+string(rune('a'+i)), shape, rapid.Bool().Draw(t, "lane")))
	}
	for range rapid.IntRange(1, 25).Draw(t, "instrs") {
		g.step()
	}
	g.b.Output("out.0", g.pool[len(g.pool)-1])
	g.b.Output("out.1", g.pick())
	return g.b.Tape()
}

type generator struct {
	t    *rapid.T
	kind Kind
	b    *tape.Builder
	pool []tape.Value
}

func (g *generator) keep(v tape.Value) { g.pool = append(g.pool, v) }

func (g *generator) int(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(g.t, "n") }

func (g *generator) shape(rank int) tape.Shape {
	var s tape.Shape
	for range g.int(0, rank) {
		s = append(s, g.int(1, 4))
	}
	return s
}

// pick draws a value, later ones more often.
func (g *generator) pick() tape.Value {
	lo := 0
	if rapid.Bool().Draw(g.t, "late") {
		lo = max(0, len(g.pool)-4)
	}
	return g.pool[g.int(lo, len(g.pool)-1)]
}

// array draws a value of rank at least 1.
func (g *generator) array() tape.Value {
	v := g.pick()
	if len(g.b.Shape(v)) == 0 {
		return g.b.Broadcast(v, tape.Shape{g.int(1, 3)})
	}
	return v
}

// partner draws or makes an operand that stretches together with shape.
func (g *generator) partner(shape tape.Shape) tape.Value {
	var fitting []tape.Value
	for _, v := range g.pool {
		if _, err := tape.Stretch(shape, g.b.Shape(v)); err == nil {
			fitting = append(fitting, v)
		}
	}
	if len(fitting) == 0 || g.int(0, 3) == 0 {
		return g.b.Const(shape, float64(g.int(-8, 8))/4)
	}
	return fitting[g.int(0, len(fitting)-1)]
}

var elementwiseOps, otherOps = split()

func split() (a, b []tape.Op) {
	for _, op := range tape.Ops() {
		if op.Row().Elementwise() {
			a = append(a, op)
		} else {
			b = append(b, op)
		}
	}
	return a, b
}

func (g *generator) step() {
	if rapid.Bool().Draw(g.t, "elementwise") {
		g.elementwise(rapid.SampledFrom(elementwiseOps).Draw(g.t, "op"))
	} else {
		g.other(rapid.SampledFrom(otherOps).Draw(g.t, "op"))
	}
	if v := g.pool[len(g.pool)-1]; g.b.Shape(v).Size() > 200 { // keep tapes small
		g.keep(g.b.SumAxes(v))
		if g.kind == Smooth {
			g.keep(g.b.Op1(tape.Sin, g.pool[len(g.pool)-1]))
		}
	}
}

func (g *generator) elementwise(op tape.Op) {
	b := g.b
	in := tape.Instr{Op: op}
	in.Args = append(in.Args, g.pick())
	for len(in.Args) < op.Row().Arity {
		shape := b.Shape(in.Args[0]) // of all operands so far, stretched
		if len(in.Args) == 2 {
			shape, _ = tape.Stretch(shape, b.Shape(in.Args[1]))
		}
		in.Args = append(in.Args, g.partner(shape))
	}
	if op == tape.Powi {
		in.Attr.Power = g.int(-3, 5)
	}
	if g.kind == Smooth {
		g.tame(&in)
	}
	g.keep(b.Emit(in))
	if g.kind == Smooth { // keep values of moderate size
		if v := g.pool[len(g.pool)-1]; g.int(0, 2) > 0 {
			g.keep(b.Op1(tape.Sin, v))
		}
	}
}

// tame moves operands to where the op is smooth and of moderate size.
func (g *generator) tame(in *tape.Instr) {
	b := g.b
	row := in.Op.Row()
	if row.NoDeriv { // the one op without a derivative is the derivative of Trigamma
		in.Op = tape.Trigamma
	}
	if row.Class == tape.Condition || in.Op == tape.Select {
		return
	}
	for k := range in.Args {
		bounded := b.Op1(tape.Sin, in.Args[k]) // in [-1, 1]
		switch row.On[k] {
		case tape.Everywhere:
			in.Args[k] = bounded
		case tape.NonZero, tape.Positive, tape.AboveMinusOne:
			in.Args[k] = b.Add(bounded, b.Scalar(1.5))
		case tape.AboveOne:
			in.Args[k] = b.Add(bounded, b.Scalar(2.5))
		case tape.WithinOne:
			in.Args[k] = b.Mul(bounded, b.Scalar(0.75))
		}
	}
}

func (g *generator) other(op tape.Op) {
	b := g.b
	var v tape.Value
	switch op {
	case tape.Const:
		shape := g.shape(3)
		data := make([]float64, shape.Size())
		for i := range data {
			data[i] = float64(g.int(-9, 9)) / 8
		}
		v = b.Const(shape, data...)
	case tape.Slice:
		x := g.array()
		start, size, step := g.window(b.Shape(x))
		v = b.Slice(x, start, size, step)
	case tape.Pad:
		x := g.array()
		n := len(b.Shape(x))
		shape, start, step := make(tape.Shape, n), make([]int, n), make([]int, n)
		for k, d := range b.Shape(x) {
			start[k], step[k] = g.int(0, 2), g.int(1, 2)
			shape[k] = start[k] + (d-1)*step[k] + 1 + g.int(0, 2)
		}
		v = b.Pad(x, shape, start, step)
	case tape.Reshape:
		x := g.pick()
		n := b.Shape(x).Size()
		shape := tape.Shape{n}
		if d := g.int(1, 3); n%d == 0 {
			shape = tape.Shape{d, n / d}
		}
		v = b.Reshape(x, shape)
	case tape.Transpose:
		x := g.array()
		perm := rapid.Permutation(indices(len(b.Shape(x)))).Draw(g.t, "perm")
		v = b.Transpose(x, perm...)
	case tape.Broadcast:
		x := g.pick()
		shape := slices.Clone(b.Shape(x))
		for k := range shape {
			if shape[k] == 1 {
				shape[k] = g.int(1, 3)
			}
		}
		if len(shape) == 0 {
			shape = g.shape(2)
		}
		v = b.Broadcast(x, shape)
	case tape.Concat:
		x := g.array()
		y := b.Op1(tape.Neg, x)
		v = b.Concat(g.int(0, len(b.Shape(x))-1), x, y, x)
	case tape.Take, tape.Put:
		x := g.array()
		axis := g.int(0, len(b.Shape(x))-1)
		n := b.Shape(x)[axis]
		if op == tape.Take {
			v = b.Take(x, axis, g.index(g.int(1, 5), n))
		} else {
			to := g.int(1, 5)
			v = b.Put(x, axis, g.index(n, to), to)
		}
	case tape.SumAxes, tape.ProdAxes, tape.MaxAxes, tape.MinAxes:
		x := g.array()
		var axes []int
		for k := range b.Shape(x) {
			if rapid.Bool().Draw(g.t, "axis") {
				axes = append(axes, k)
			}
		}
		v = b.Reduce(op, x, axes...)
	case tape.MatMul:
		v = g.matmul()
	case tape.Dot:
		x := g.flat(g.pick())
		v = b.Dot(x, b.Op1(tape.Sin, x))
	case tape.Outer:
		v = b.Outer(g.flat(g.pick()), g.flat(g.pick()))
	case tape.Find:
		v = b.Find(g.knots(), g.pick())
	case tape.Pick:
		v = b.Pick(g.flat(g.pick()), g.places(g.pick()))
	case tape.Drop:
		x := g.pick()
		v = b.Drop(x, g.places(b.Op1(tape.Cos, x)), g.int(1, 5))
	}
	if g.kind == Smooth && op.Row().Class == tape.Contraction {
		v = b.Op1(tape.Sin, v)
	}
	g.keep(v)
}

func (g *generator) flat(x tape.Value) tape.Value {
	return g.b.Reshape(x, tape.Shape{g.b.Shape(x).Size()})
}

// knots returns a vector that ascends, none of whose elements other values hit but by chance.
func (g *generator) knots() tape.Value {
	data := make([]float64, g.int(2, 6))
	for i := range data {
		data[i] = float64(i)/2 - 1.0123456789
	}
	return g.b.Const(tape.Shape{len(data)}, data...)
}

// places returns places in a vector, some of them outside, of the shape of x.
func (g *generator) places(x tape.Value) tape.Value {
	places := g.b.Find(g.knots(), x)
	if g.int(0, 1) > 0 {
		places = g.b.Sub(g.b.Scalar(2), places)
	}
	return places
}

// matmul multiplies some value, as a vector or a matrix, by another that is made to fit.
func (g *generator) matmul() tape.Value {
	b := g.b
	x := g.flat(g.pick())
	n := b.Shape(x)[0]
	m := g.int(1, 3)
	data := make([]float64, n*m)
	for i := range data {
		data[i] = float64(i%7)/4 - 0.75
	}
	switch g.int(0, 3) {
	case 0:
		return b.MatMul(x, b.Const(tape.Shape{n, m}, data...), false, false)
	case 1:
		return b.MatMul(b.Const(tape.Shape{n, m}, data...), x, true, false)
	case 2:
		return b.MatMul(b.Outer(x, x), x, rapid.Bool().Draw(g.t, "ta"), false)
	default:
		y := b.Outer(x, b.Op1(tape.Cos, x))
		return b.MatMul(y, y, rapid.Bool().Draw(g.t, "ta"), rapid.Bool().Draw(g.t, "tb"))
	}
}

func (g *generator) window(whole tape.Shape) (start []int, size tape.Shape, step []int) {
	for _, n := range whole {
		s := g.int(0, n-1)
		by := g.int(1, 2)
		start, step = append(start, s), append(step, by)
		size = append(size, g.int(1, (n-1-s)/by+1))
	}
	return start, size, step
}

func (g *generator) index(count, n int) []int {
	out := make([]int, count)
	for i := range out {
		out[i] = g.int(0, n-1)
	}
	return out
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
