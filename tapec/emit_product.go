package tapec

import (
	"slices"

	"odes.dev/odes/tape"
)

// Sums of products of arrays, as products of matrices where two factors have one axis in common.

// matmul lowers x @ y, which sums over the last own dimension of x and the first of y.
func (em *emitter) matmul(x, y array) array {
	a, i := em.label(x)
	b, j := em.label(y)
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
	parts := em.contract([]labelled{a, b}, k)
	return em.unlabel(em.products(parts), append(i, j...))
}

// contract sums the product of xs over k. It returns factors of the sum.
func (em *emitter) contract(xs []labelled, k *axis) []labelled {
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
		return append(rest, labelled{v: em.number(float64(k.n)).v})
	}
	for len(in) > 2 {
		i, j := em.closest(in)
		in[i] = em.product(in[i], in[j])
		in = slices.Delete(in, j, j+1)
	}
	if len(in) == 2 {
		if shared := intersect(in[0].ax, in[1].ax); len(shared) == 1 {
			return append(rest, em.matrixProduct(in[0], in[1], k))
		}
		in = []labelled{em.product(in[0], in[1])}
	}
	x := em.fold(tape.SumAxes, array{v: in[0].v, ax: in[0].ax}, []*axis{k})
	return append(rest, labelled{x.v, x.ax})
}

// closest returns the indices i < j of two factors whose product has the fewest elements,
// the first of such pairs.
func (em *emitter) closest(xs []labelled) (int, int) {
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
func (em *emitter) matrixProduct(x, y labelled, k *axis) labelled {
	xo, yo := without(x.ax, k), without(y.ax, k)
	// The operand whose axes come first stands on the left, but a vector on the right.
	if len(xo) == 0 && len(yo) > 0 || len(xo) > 0 && len(yo) > 0 && yo[0].ord < xo[0].ord {
		x, y, xo, yo = y, x, yo, xo
	}
	left, ta := em.matrix(x, xo, k)
	right, k2 := em.matrix(y, yo, k)
	// Both matrices have k last, unless matrix says that it comes first. A right operand
	// with k last is transposed.
	var v tape.Value
	switch {
	case len(xo) == 0:
		v = em.emit().Dot(left, right)
	case len(yo) == 0:
		v = em.emit().MatMul(left, right, ta, false)
	default:
		v = em.emit().MatMul(left, right, ta, !k2)
	}
	ax := append(xo[:len(xo):len(xo)], yo...)
	em.deep(len(ax))
	return labelled{em.reshape(v, lengths(ax)), ax}
}

// matrix returns x as a matrix over its other axes and k, or as a vector if it has no
// other axes. It reports whether k is the first dimension of the matrix.
func (em *emitter) matrix(x labelled, other []*axis, k *axis) (v tape.Value, first bool) {
	if len(other) == 0 {
		return x.v, false
	}
	n := lengths(other).Size()
	if x.ax[0] == k {
		return em.reshape(em.emitTranspose(x, append([]*axis{k}, other...)), tape.Shape{k.n, n}), true
	}
	v = em.emitTranspose(x, append(other[:len(other):len(other)], k))
	return em.reshape(v, tape.Shape{n, k.n}), false
}

// product multiplies two values with axes of loops only.
func (em *emitter) product(x, y labelled) labelled {
	z := em.elementwise(tape.Mul, array{v: x.v, ax: x.ax}, array{v: y.v, ax: y.ax})
	return labelled{z.v, z.ax}
}

// products returns the product of all xs, or 1 if there are none.
func (em *emitter) products(xs []labelled) labelled {
	if len(xs) == 0 {
		return labelled{v: em.number(1).v}
	}
	out := xs[0]
	for _, x := range xs[1:] {
		out = em.product(out, x)
	}
	return out
}

// loops makes an array of x, which has axes of loops only.
func (em *emitter) loops(x labelled) array { return em.unlabel(x, nil) }
