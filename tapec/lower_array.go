package tapec

import (
	"slices"

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

// emit returns the Builder, set to the current place in the source.
func (l *lowerer) emit() *tape.Builder {
	l.b.SetSpan(l.span)
	return l.b
}

// number returns a scalar constant.
func (l *lowerer) number(x float64) array { return array{v: l.emit().Scalar(x)} }

// align returns x with a dimension for each of axes and rank dimensions of its own. They
// have length 1 where x does not vary. A scalar stays a scalar.
func (l *lowerer) align(x array, axes []*axis, rank int) tape.Value {
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
	return l.reshape(x.v, shape)
}

// reshape returns the elements of v in another shape.
func (l *lowerer) reshape(v tape.Value, shape tape.Shape) tape.Value {
	return l.emit().Reshape(v, shape)
}

// deep panics with tooDeep if no value can have a rank.
func (l *lowerer) deep(rank int) {
	if rank > tape.MaxRank {
		panic(tooDeep{l.span, rank})
	}
}

// expand returns x stretched over axes and to the shape own.
func (l *lowerer) expand(x array, axes []*axis, own tape.Shape) tape.Value {
	l.deep(len(axes) + len(own))
	v := l.align(x, axes, len(own))
	return l.emit().Broadcast(v, join(lengths(axes), own))
}

// flat returns x stretched over axes and to own, as a vector.
func (l *lowerer) flat(x array, axes []*axis, own tape.Shape) tape.Value {
	v := l.expand(x, axes, own)
	return l.reshape(v, tape.Shape{l.b.Shape(v).Size()})
}

// elementwise applies op to operands whose own shapes are equal or those of scalars.
func (l *lowerer) elementwise(op tape.Op, xs ...array) array {
	var out array
	for _, x := range xs {
		out.ax = union(out.ax, x.ax)
		if len(x.own) > len(out.own) {
			out.own = x.own
		}
	}
	l.deep(len(out.ax) + len(out.own))
	vs := make([]tape.Value, len(xs))
	for i, x := range xs {
		vs[i] = l.align(x, out.ax, len(out.own))
	}
	b := l.emit()
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
func (l *lowerer) arrange(x labelled, want []*axis) tape.Value {
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
		x = labelled{l.reshape(x.v, lengths(kept)), kept}
		return l.arrange(x, want)
	}
	v := x.v
	if len(perm) > 1 {
		v = l.emit().Transpose(v, perm...)
	}
	l.deep(len(want))
	return l.reshape(v, lengths(want))
}

// label gives every dimension of x an axis. The axes of its own dimensions are new; label
// returns them, too.
func (l *lowerer) label(x array) (labelled, []*axis) {
	var own []*axis
	for k, n := range x.own {
		own = append(own, l.c.frames.label(n, k))
	}
	return labelled{x.v, slices.Concat(x.ax, own)}, own
}

// reorder moves position i of dimension dim to at[i], a permutation.
func (l *lowerer) reorder(v tape.Value, dim int, at []int) tape.Value {
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
	b := l.emit()
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
