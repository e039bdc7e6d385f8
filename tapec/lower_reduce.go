package tapec

import (
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
)

// reduce lowers `sum(e for i in …)` and the like.
func (l *lowerer) reduce(e *model.Reduce, s scope) array {
	if empty(e.Indices) {
		switch e.Fn.Name {
		case "prod":
			return l.number(1)
		case "sum", "norm":
			return l.number(0)
		}
		const text = " over an empty range has no value; let the range hold at least one index"
		panic(misplaced{e.Span(), e.Fn.Name + text})
	}
	s = s.with(l.c.frames, e.Indices)
	over := s.axesOf(e.Indices)
	if len(over) < 2 {
		return l.reduceOver(e, s, over)
	}
	x, ok := l.trying(func() array { return l.reduceOver(e, s, over) })
	if !ok { // one axis in place of several
		points := count(lengths(over).Size())
		list := l.c.frames.part(over, points)
		x = l.reduceOver(e, s.within(l.c.frames, over, list, points), []*axis{list})
	}
	return x
}

// reduceOver reduces the body of e over the axes of its indices.
func (l *lowerer) reduceOver(e *model.Reduce, s scope, over []*axis) array {
	total := float64(lengths(over).Size())
	switch e.Fn.Name {
	case "sum":
		return l.sum(e.Body, s, over)
	case "mean":
		return l.elementwise(tape.Div, l.sum(e.Body, s, over), l.number(total))
	}
	x := l.lower(e.Body, s)
	gone := intersect(over, x.ax)
	missing := lengths(without(over, x.ax...)).Size() // how many equal terms there are of each
	switch e.Fn.Name {
	case "prod":
		x = l.fold(tape.ProdAxes, x, gone)
		if missing > 1 {
			x.v = l.emit().Powi(x.v, missing)
		}
		return x
	case "min":
		return l.fold(tape.MinAxes, x, gone)
	case "max":
		return l.fold(tape.MaxAxes, x, gone)
	case "norm":
		x.v = l.emit().Op1(tape.Sqr, x.v)
		x = l.elementwise(tape.Mul, l.fold(tape.SumAxes, x, gone), l.number(float64(missing)))
		return l.elementwise(tape.Sqrt, x)
	}
	panic(misplaced{e.Span(), "reduction " + e.Fn.Name + " cannot be compiled"})
}

func intersect(a, b []*axis) []*axis {
	var out []*axis
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

// fold reduces x over the axes gone of loops.
func (l *lowerer) fold(op tape.Op, x array, gone []*axis) array {
	if len(gone) == 0 {
		return x
	}
	var dims []int
	for _, a := range gone {
		dims = append(dims, slices.Index(x.ax, a))
	}
	return array{v: l.emit().Reduce(op, x.v, dims...), ax: without(x.ax, gone...), own: x.own}
}

// factors is an expression as a quotient of products, with a sign.
type factors struct {
	num, den []array
	negative bool
}

// sum adds body up over the axes. A product is summed axis by axis: factors that do not
// depend on the axis stay outside, and two factors that have only this axis in common
// make a product of matrices.
func (l *lowerer) sum(body model.Expr, s scope, over []*axis) array {
	var f factors
	l.factorise(body, s, over, false, &f)
	// A divisor that varies along these axes is one factor more: its inverse.
	var den []array
	for _, d := range f.den {
		if len(intersect(d.ax, over)) > 0 {
			f.num = append(f.num, l.elementwise(tape.Recip, d))
		} else {
			den = append(den, d)
		}
	}
	parts := make([]labelled, len(f.num))
	for i, x := range f.num {
		parts[i] = labelled{x.v, x.ax}
	}
	for i := len(over) - 1; i >= 0; i-- {
		parts = l.contract(parts, over[i])
	}
	out := l.loops(l.products(parts))
	if f.negative {
		out = l.elementwise(tape.Neg, out)
	}
	for _, d := range den {
		out = l.elementwise(tape.Div, out, d)
	}
	return out
}

// factorise splits the scalar e into factors. It splits off divisors only if they do not
// vary along the axes of the sum, since x/y is rounded once and x·(1/y) twice.
func (l *lowerer) factorise(e model.Expr, s scope, over []*axis, inverse bool, f *factors) {
	if c, ok := e.(*model.Call); ok && len(c.Type().Shape) == 0 {
		switch c.Fn.Op {
		case tape.Mul:
			l.factorise(c.Args[0], s, over, inverse, f)
			l.factorise(c.Args[1], s, over, inverse, f)
			return
		case tape.Neg:
			f.negative = !f.negative
			l.factorise(c.Args[0], s, over, inverse, f)
			return
		case tape.Div:
			if d := c.Args[1]; len(intersect(s.axesOf(model.Free(d)), over)) == 0 {
				l.factorise(c.Args[0], s, over, inverse, f)
				l.factorise(d, s, over, !inverse, f)
				return
			}
		}
	}
	x := l.lower(e, s)
	if inverse {
		f.den = append(f.den, x)
	} else {
		f.num = append(f.num, x)
	}
}

// product multiplies two values with axes of loops only.
func (l *lowerer) product(x, y labelled) labelled {
	z := l.elementwise(tape.Mul, array{v: x.v, ax: x.ax}, array{v: y.v, ax: y.ax})
	return labelled{z.v, z.ax}
}

// products returns the product of all xs, or 1 if there are none.
func (l *lowerer) products(xs []labelled) labelled {
	if len(xs) == 0 {
		return labelled{v: l.number(1).v}
	}
	out := xs[0]
	for _, x := range xs[1:] {
		out = l.product(out, x)
	}
	return out
}

// loops makes an array of x, which has axes of loops only.
func (l *lowerer) loops(x labelled) array { return l.unlabel(x, nil) }

// contract sums the product of xs over k. It returns factors of the sum.
func (l *lowerer) contract(xs []labelled, k *axis) []labelled {
	var rest, in []labelled
	for _, x := range xs {
		if slices.Contains(x.ax, k) {
			in = append(in, x)
		} else {
			rest = append(rest, x)
		}
	}
	if len(in) == 0 {
		if k.n == 1 {
			return rest
		}
		return append(rest, labelled{v: l.number(float64(k.n)).v})
	}
	for len(in) > 2 {
		i, j := l.closest(in)
		in[i] = l.product(in[i], in[j])
		in = slices.Delete(in, j, j+1)
	}
	if len(in) == 2 {
		if shared := intersect(in[0].ax, in[1].ax); len(shared) == 1 {
			return append(rest, l.matrixProduct(in[0], in[1], k))
		}
		in = []labelled{l.product(in[0], in[1])}
	}
	x := l.fold(tape.SumAxes, array{v: in[0].v, ax: in[0].ax}, []*axis{k})
	return append(rest, labelled{x.v, x.ax})
}

// closest returns the indices i < j of two factors whose product has the fewest elements,
// the first of such pairs.
func (l *lowerer) closest(xs []labelled) (int, int) {
	bi, bj, best := 0, 1, -1
	for i := range xs {
		for j := i + 1; j < len(xs); j++ {
			if n := lengths(union(xs[i].ax, xs[j].ax)).Size(); best < 0 || n < best {
				bi, bj, best = i, j, n
			}
		}
	}
	return bi, bj
}

// matrixProduct sums x·y over k, the only axis that both have.
func (l *lowerer) matrixProduct(x, y labelled, k *axis) labelled {
	xo, yo := without(x.ax, k), without(y.ax, k)
	// The operand whose axes come first stands on the left, but a vector on the right.
	if len(xo) == 0 && len(yo) > 0 || len(xo) > 0 && len(yo) > 0 && yo[0].ord < xo[0].ord {
		x, y, xo, yo = y, x, yo, xo
	}
	left, ta := l.matrix(x, xo, k)
	right, k2 := l.matrix(y, yo, k)
	// Both matrices have k last, unless matrix says that it comes first. A right operand
	// with k last is transposed.
	var v tape.Value
	switch {
	case len(xo) == 0:
		v = l.emit().Dot(left, right)
	case len(yo) == 0:
		v = l.emit().MatMul(left, right, ta, false)
	default:
		v = l.emit().MatMul(left, right, ta, !k2)
	}
	ax := append(xo[:len(xo):len(xo)], yo...)
	l.deep(len(ax))
	return labelled{l.reshape(v, lengths(ax)), ax}
}

// matrix returns x as a matrix over its other axes and k, or as a vector if it has no
// other axes. It reports whether k is the first dimension of the matrix.
func (l *lowerer) matrix(x labelled, other []*axis, k *axis) (v tape.Value, first bool) {
	if len(other) == 0 {
		return x.v, false
	}
	n := lengths(other).Size()
	if x.ax[0] == k {
		return l.reshape(l.emitTranspose(x, append([]*axis{k}, other...)), tape.Shape{k.n, n}), true
	}
	v = l.emitTranspose(x, append(other[:len(other):len(other)], k))
	return l.reshape(v, tape.Shape{n, k.n}), false
}

// matmul lowers x @ y, which sums over the last own dimension of x and the first of y.
func (l *lowerer) matmul(x, y array) array {
	a, i := l.label(x)
	b, j := l.label(y)
	k := i[len(i)-1]
	for d, ax := range b.ax {
		if ax == j[0] {
			b.ax[d] = k
		}
	}
	i, j = i[:len(i)-1], j[1:]
	for _, ax := range j {
		ax.ord++ // so that they come after those of x
	}
	parts := l.contract([]labelled{a, b}, k)
	return l.unlabel(l.products(parts), append(i, j...))
}
