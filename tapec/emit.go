package tapec

import (
	"slices"

	"odes.dev/odes/lang/source"
	"odes.dev/odes/tape"
)

// array is a lowered expression. The dimensions of its value are the axes of loops along
// which it varies, in order, and then those of its own shape.
type array struct {
	v   tape.Value
	ax  []*axis
	own tape.Shape
}

// labelled is a value with an axis for each dimension, in any order. Axes that are not
// of loops stand for dimensions of its own.
type labelled struct {
	v  tape.Value
	ax []*axis
}

// emitter writes instructions on arrays to a tape. Which expressions they are, it does not know.
type emitter struct {
	b      *tape.Builder
	span   source.Span // in the model, of what is written
	frames *frames
}

// emit returns the Builder, set to the current place in the source.
func (em *emitter) emit() *tape.Builder {
	em.b.SetSpan(em.span)
	return em.b
}

// number returns a scalar constant.
func (em *emitter) number(x float64) array { return array{v: em.emit().Scalar(x)} }

// align returns x with a dimension for each of axes and rank dimensions of its own. They
// have length 1 where x does not vary. A scalar stays a scalar.
func (em *emitter) align(x array, axes []*axis, rank int) tape.Value {
	if len(x.ax) == 0 && len(x.own) == 0 {
		return x.v
	}
	shape := make(tape.Shape, 0, len(axes)+rank)
	for _, a := range axes {
		if slices.Contains(x.ax, a) {
			shape = append(shape, a.n)
		} else {
			shape = append(shape, 1)
		}
	}
	if len(x.own) > 0 {
		shape = append(shape, x.own...)
	} else {
		for range rank {
			shape = append(shape, 1)
		}
	}
	return em.reshape(x.v, shape)
}

// reshape returns the elements of v in another shape.
func (em *emitter) reshape(v tape.Value, shape tape.Shape) tape.Value {
	return em.emit().Reshape(v, shape)
}

// deep panics with tooDeep if no value can have a rank.
func (em *emitter) deep(rank int) {
	if rank > tape.MaxRank {
		panic(tooDeep{em.span, rank})
	}
}

// expand returns x stretched over axes and to the shape own.
func (em *emitter) expand(x array, axes []*axis, own tape.Shape) tape.Value {
	em.deep(len(axes) + len(own))
	v := em.align(x, axes, len(own))
	return em.emit().Broadcast(v, join(lengths(axes), own))
}

// flat returns x stretched over axes and to own, as a vector.
func (em *emitter) flat(x array, axes []*axis, own tape.Shape) tape.Value {
	v := em.expand(x, axes, own)
	return em.reshape(v, tape.Shape{em.b.Shape(v).Size()})
}

// elementwise applies op to operands whose own shapes are equal or those of scalars.
func (em *emitter) elementwise(op tape.Op, xs ...array) array {
	var out array
	for _, x := range xs {
		out.ax = union(out.ax, x.ax)
		if len(x.own) > len(out.own) {
			out.own = x.own
		}
	}
	em.deep(len(out.ax) + len(out.own))
	vs := make([]tape.Value, len(xs))
	for i, x := range xs {
		vs[i] = em.align(x, out.ax, len(out.own))
	}
	b := em.emit()
	switch op {
	case tape.Pow:
		out.v = b.Pow(vs[0], vs[1])
	default:
		switch len(vs) {
		case 1:
			out.v = b.Op1(op, vs[0])
		case 2:
			out.v = b.Op2(op, vs[0], vs[1])
		default:
			out.v = b.Op3(op, vs[0], vs[1], vs[2])
		}
	}
	return out
}

// arrange returns x with its dimensions in the order of want, which holds all of them.
// Either of x and want may lack dimensions of length 1.
func (em *emitter) arrange(x labelled, want []*axis) tape.Value {
	var perm []int
	for _, a := range want {
		if k := slices.Index(x.ax, a); k >= 0 {
			perm = append(perm, k)
		}
	}
	if len(perm) < len(x.ax) { // the others have length 1
		keep := slices.Clone(perm)
		slices.Sort(keep)
		var kept []*axis
		for _, k := range keep {
			kept = append(kept, x.ax[k])
		}
		x = labelled{em.reshape(x.v, lengths(kept)), kept}
		return em.arrange(x, want)
	}
	v := x.v
	if len(perm) > 1 {
		v = em.emit().Transpose(v, perm...)
	}
	em.deep(len(want))
	return em.reshape(v, lengths(want))
}

// label gives every dimension of x an axis. The axes of its own dimensions are new; label
// returns them, too.
func (em *emitter) label(x array) (labelled, []*axis) {
	var own []*axis
	for k, n := range x.own {
		own = append(own, em.frames.label(n, k))
	}
	return labelled{x.v, slices.Concat(x.ax, own)}, own
}

// reorder moves position i of dimension dim to at[i], a permutation.
func (em *emitter) reorder(v tape.Value, dim int, at []int) tape.Value {
	if slices.IsSorted(at) {
		return v
	}
	from := make([]int, len(at))
	for i, p := range at {
		from[p] = i
	}
	// A few runs are cheaper as slices: these are simplified where a Concat made v.
	const few = 4
	starts := []int{0}
	for i := 1; i < len(from) && len(starts) <= few; i++ {
		if from[i] != from[i-1]+1 {
			starts = append(starts, i)
		}
	}
	b := em.emit()
	if len(starts) > few {
		return b.Take(v, dim, from)
	}
	var runs []tape.Value
	for k, s := range starts {
		end := len(from)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		runs = append(runs, b.Take(v, dim, from[s:end]))
	}
	return b.Concat(dim, runs...)
}

// input returns the input called n, which lanes share.
func (em *emitter) input(n Name, shape tape.Shape) tape.Value {
	return em.b.Input(n.String(), shape, false)
}

// output makes v the output called n.
func (em *emitter) output(n Name, v tape.Value) { em.b.Output(n.String(), v) }

// unlabel makes an array of x. The axes own stand for its own dimensions, in this order.
func (em *emitter) unlabel(x labelled, own []*axis) array {
	ax := without(x.ax, own...)
	sortAxes(ax)
	return array{v: em.arrange(x, append(ax[:len(ax):len(ax)], own...)), ax: ax, own: lengths(own)}
}

// fold reduces x over the axes gone of loops.
func (em *emitter) fold(op tape.Op, x array, gone []*axis) array {
	if len(gone) == 0 {
		return x
	}
	var dims []int
	for _, a := range gone {
		dims = append(dims, slices.Index(x.ax, a))
	}
	return array{v: em.emit().Reduce(op, x.v, dims...), ax: without(x.ax, gone...), own: x.own}
}

// reduction applies the reduction called name to all own dimensions of x.
func (em *emitter) reduction(name string, x array) array {
	if len(x.own) == 0 {
		if name == "norm" {
			return em.elementwise(tape.Abs, x)
		}
		return x
	}
	var dims []int
	for k := range x.own {
		dims = append(dims, len(x.ax)+k)
	}
	fold := func(op tape.Op, v tape.Value) array {
		return array{v: em.emit().Reduce(op, v, dims...), ax: x.ax}
	}
	switch name {
	case "sum":
		return fold(tape.SumAxes, x.v)
	case "prod":
		return fold(tape.ProdAxes, x.v)
	case "min":
		return fold(tape.MinAxes, x.v)
	case "max":
		return fold(tape.MaxAxes, x.v)
	case "mean":
		return em.elementwise(tape.Div, fold(tape.SumAxes, x.v), em.number(float64(x.own.Size())))
	case "norm":
		return em.elementwise(tape.Sqrt, fold(tape.SumAxes, em.emit().Op1(tape.Sqr, x.v)))
	}
	panic(misplaced{em.span, "reduction " + name + " cannot be compiled"})
}

// sorted returns x, whose axes may stand in any order, with its axes sorted.
func (em *emitter) sorted(x array) array {
	w, own := em.label(x)
	return em.unlabel(w, own)
}

// vector returns x as a vector: row-major over axes in the given order, then over the
// shape own.
func (em *emitter) vector(x array, order []*axis, own tape.Shape) tape.Value {
	axes := union(order)
	w, dims := em.label(array{v: em.expand(x, axes, own), ax: axes, own: own})
	v := em.emitTranspose(w, append(order[:len(order):len(order)], dims...))
	return em.reshape(v, tape.Shape{em.b.Shape(v).Size()})
}

// emitTranspose puts the dimensions of w in the order of want, which holds exactly these.
func (em *emitter) emitTranspose(w labelled, want []*axis) tape.Value {
	perm := make([]int, len(want))
	for i, a := range want {
		perm[i] = slices.Index(w.ax, a)
	}
	if len(perm) < 2 {
		return w.v
	}
	return em.emit().Transpose(w.v, perm...)
}
