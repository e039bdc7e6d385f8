package tapec

import (
	"slices"

	"odes.dev/odes/tape"
	"odes.dev/odes/typecheck"
)

// reduce is `sum(e for i in …)` and the like.
func (l *lowerer) reduce(e *typecheck.Reduce, s scope) array {
	if empty(e.Indices) {
		switch e.Fn.Name {
		case "prod":
			return l.number(1)
		case "sum", "norm":
			return l.number(0)
		}
		panic(misplaced{e.Span(), e.Fn.Name + " over an empty range has no value; let the range hold at least one index"})
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
func (l *lowerer) reduceOver(e *typecheck.Reduce, s scope, over []*axis) array {
	total := float64(lengths(over).Size())
	switch e.Fn.Name {
	case "sum":
		return l.sum(e.Body, s, over)
	case "mean":
		return l.elementwise(tape.Div, l.sum(e.Body, s, over), l.number(total))
	}
	x := l.lower(e.Body, s)
	gone := intersect(over, x.ax)
	missing := lengths(without(over, x.ax...)).Size() // terms that are alike
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

// fold reduces the loop axes gone of x.
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

// factors are the operands of a product, found through * / and signs.
type factors struct {
	num, den []array
	negative bool
}

// sum adds body up over the axes. A product is contracted factor by factor:
// what does not depend on an axis stays outside its sum, and two factors that
// share only that axis become a matrix product.
func (l *lowerer) sum(body typecheck.Expr, s scope, over []*axis) array {
	var f factors
	l.factorise(body, s, over, false, &f)
	// A divisor that varies with the sum is a factor like any other.
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

// factorise splits the scalar e into factors. Divisors come apart only where
// the sum does not touch them: x/y is one rounding, x·(1/y) two.
func (l *lowerer) factorise(e typecheck.Expr, s scope, over []*axis, inverse bool, f *factors) {
	if c, ok := e.(*typecheck.Call); ok && len(c.Type().Shape) == 0 {
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
			if d := c.Args[1]; len(intersect(s.axesOf(typecheck.Free(d)), over)) == 0 {
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

// product multiplies two labelled values, broadcasting.
func (l *lowerer) product(x, y labelled) labelled {
	z := l.elementwise(tape.Mul, array{v: x.v, ax: x.ax}, array{v: y.v, ax: y.ax})
	return labelled{z.v, z.ax}
}

// products multiplies all of them; 1 if there are none.
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

// loops makes an array of x, all of whose dimensions are axes of loops.
func (l *lowerer) loops(x labelled) array { return l.unlabel(x, nil) }

// contract sums the product of xs over k and returns the factors that remain.
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

// closest picks the two factors whose product is smallest, i < j; among equals the first.
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

// matrixProduct contracts x and y, which share the axis k and no other.
func (l *lowerer) matrixProduct(x, y labelled, k *axis) labelled {
	xo, yo := without(x.ax, k), without(y.ax, k)
	// The operand whose axes come first is the left one, a vector the right one.
	if len(xo) == 0 && len(yo) > 0 || len(xo) > 0 && len(yo) > 0 && before(yo[0], xo[0]) {
		x, y, xo, yo = y, x, yo, xo
	}
	left, ta := l.matrix(x, xo, k)
	right, k2 := l.matrix(y, yo, k)
	// matrix puts k last unless it stands first; on the right, k belongs first.
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

func before(a, b *axis) bool { return a.ord < b.ord || a.ord == b.ord && a.id < b.id }

// matrix returns x as a matrix of its other axes and k, or as a vector; first
// tells that k is the first dimension.
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

// matmul is x @ y: over the last own dimension of x and the first of y.
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
		ax.ord++ // after those of x
	}
	parts := l.contract([]labelled{a, b}, k)
	return l.unlabel(l.products(parts), append(i, j...))
}
