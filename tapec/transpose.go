package tapec

import (
	"fmt"

	"odes.dev/odes/tape"
)

// transpose adds the contribution of bar to the cotangent of operand k, where bar is
// the cotangent of v, the result of a structure or contraction op.
func (r *reverse) transpose(in *tape.Instr, k int, v, bar tape.Value, guard bool) {
	b := r.b
	arg := r.t.Shape(in.Args[k])
	scalar := len(b.Shape(bar)) == 0 // bar is the same for all elements of the result
	whole := func() tape.Value { return r.full(bar, in.Shape) }
	switch in.Op {
	case tape.Slice:
		r.addPart(in, contribution{value: whole(), start: in.Attr.Start, step: in.Attr.Step})
	case tape.Take:
		if back, ok := inverse(in.Attr.Index, arg[in.Attr.Axis]); ok { // such as neighbours on a ring
			if !scalar {
				bar = b.Take(whole(), in.Attr.Axis, back)
			}
			r.add(in, k, bar)
			break
		}
		r.addPart(in, contribution{value: whole(), axis: in.Attr.Axis, index: in.Attr.Index})
	case tape.Pad:
		if !scalar {
			bar = b.Slice(whole(), in.Attr.Start, arg, in.Attr.Step)
		}
		r.add(in, k, bar)
	case tape.Put:
		if !scalar {
			bar = b.Take(whole(), in.Attr.Axis, in.Attr.Index)
		}
		r.add(in, k, bar)
	case tape.Reshape:
		if !scalar {
			bar = b.Reshape(whole(), arg)
		}
		r.add(in, k, bar)
	case tape.Transpose:
		if !scalar {
			back := make([]int, len(in.Attr.Perm))
			for i, p := range in.Attr.Perm {
				back[p] = i
			}
			bar = b.Transpose(whole(), back...)
		}
		r.add(in, k, bar)
	case tape.Broadcast:
		r.add(in, k, r.unstretch(bar, in.Shape, arg))
	case tape.Concat:
		if !scalar {
			start := make([]int, len(in.Shape))
			for _, a := range in.Args[:k] {
				start[in.Attr.Axis] += r.t.Shape(a)[in.Attr.Axis]
			}
			bar = b.Slice(whole(), start, arg, nil)
		}
		r.add(in, k, bar)
	case tape.SumAxes:
		r.add(in, k, r.kept(bar, in, arg))
	case tape.ProdAxes:
		r.add(in, k, r.times(r.kept(bar, in, arg), r.exclusive(r.args(in)[0], in.Attr.Axes), guard))
	case tape.MaxAxes, tape.MinAxes:
		is, weight := r.chosen(r.args(in)[0], r.prim[v], in.Attr.Axes)
		r.add(in, k, b.Select(is, b.Mul(r.kept(bar, in, arg), weight), b.Scalar(0)))
	case tape.Dot:
		r.add(in, k, r.times(bar, r.args(in)[1-k], guard))
	case tape.Outer:
		other := factor{r.args(in)[1-k], guard && !r.finite[in.Args[1-k]]}
		// ā = C̄ b and b̄ = a C̄.
		r.add(in, k, r.product(whole(), other, k == 0, false, false))
	case tape.MatMul:
		other := factor{r.args(in)[1-k], guard && !r.finite[in.Args[1-k]]}
		r.add(in, k, r.transposeMatMul(in, k, whole(), other))
	case tape.Pick:
		r.add(in, k, b.Drop(whole(), r.args(in)[1], arg[0]))
	case tape.Drop:
		r.add(in, k, b.Pick(whole(), r.args(in)[1]))
	default:
		panic(fmt.Sprintf("tapec: no transpose for %v", in.Op))
	}
}

// kept returns the cotangent of a reduction with axes of length 1 in place of the
// removed ones, so that it stretches to the operand's shape.
func (r *reverse) kept(bar tape.Value, in *tape.Instr, arg tape.Shape) tape.Value {
	if len(r.b.Shape(bar)) == 0 {
		return bar
	}
	return r.b.Reshape(r.full(bar, in.Shape), ones(arg, in.Attr.Axes))
}

// factor is what a cotangent is multiplied by. With guard, the product is 0 where the
// cotangent is 0, whatever the factor is.
type factor struct {
	value tape.Value
	guard bool
}

// transposeMatMul returns the cotangent of operand k of c = op(a) @ op(b), where
// bar is c's and other is the other operand.
func (r *reverse) transposeMatMul(in *tape.Instr, k int, bar tape.Value, other factor) tape.Value {
	ta, tb := in.Attr.TA, in.Attr.TB
	vectorA, vectorB := len(r.t.Shape(in.Args[0])) == 1, len(r.t.Shape(in.Args[1])) == 1
	switch {
	case k == 0 && vectorB: // c̄ bᵀ or its transpose
		return r.outer(bar, other, !ta)
	case k == 1 && vectorA: // aᵀ c̄ or its transpose
		return r.outer(bar, other, tb)
	case k == 0 && vectorA: // op(b) c̄
		return r.product(bar, other, false, tb, false)
	case k == 1 && vectorB: // op(a)ᵀ c̄
		return r.product(bar, other, false, !ta, false)
	case k == 0 && !ta: // c̄ op(b)ᵀ
		return r.product(bar, other, true, false, !tb)
	case k == 0: // op(b) c̄ᵀ
		return r.product(bar, other, false, tb, true)
	case !tb: // op(a)ᵀ c̄
		return r.product(bar, other, false, !ta, false)
	default: // c̄ᵀ op(a)
		return r.product(bar, other, true, true, ta)
	}
}

// outer returns the matrix bar[i]·other[j] if barFirst is set, else other[i]·bar[j].
func (r *reverse) outer(bar tape.Value, other factor, barFirst bool) tape.Value {
	b := r.b
	x, y := bar, other.value
	if !other.guard {
		if !barFirst {
			x, y = y, x
		}
		return b.Outer(x, y)
	}
	column := func(v tape.Value) tape.Value { return b.Reshape(v, tape.Shape{b.Shape(v)[0], 1}) }
	row := func(v tape.Value) tape.Value { return b.Reshape(v, tape.Shape{1, b.Shape(v)[0]}) }
	if barFirst {
		return b.Op2(tape.ZeroMul, column(x), row(y))
	}
	return b.Op2(tape.ZeroMul, row(x), column(y))
}

// product returns op(bar) @ op(other) if barFirst is set, else op(other) @ op(bar).
// The flags ta and tb tell whether the first and the second of them is transposed.
func (r *reverse) product(bar tape.Value, other factor, barFirst, ta, tb bool) tape.Value {
	b := r.b
	x, y := bar, other.value
	if !barFirst {
		x, y = y, x
	}
	if !other.guard {
		return b.MatMul(x, y, ta, tb)
	}
	// The products x[i,k]·y[k,j], summed over k, take more memory than a MatMul. But
	// they are 0 where bar is, even if the other factor is infinite.
	var shape tape.Shape // of the result
	first, second := x, y
	if sx := b.Shape(x); len(sx) == 1 {
		first = b.Reshape(x, tape.Shape{1, sx[0], 1})
	} else {
		if ta {
			first = b.Transpose(x)
		}
		sx = b.Shape(first)
		shape = append(shape, sx[0])
		first = b.Reshape(first, tape.Shape{sx[0], sx[1], 1})
	}
	if sy := b.Shape(y); len(sy) == 1 {
		second = b.Reshape(y, tape.Shape{1, sy[0], 1})
	} else {
		if tb {
			second = b.Transpose(y)
		}
		sy = b.Shape(second)
		shape = append(shape, sy[1])
		second = b.Reshape(second, tape.Shape{1, sy[0], sy[1]})
	}
	if !barFirst {
		first, second = second, first
	}
	return b.Reshape(b.SumAxes(b.Op2(tape.ZeroMul, first, second), 1), shape)
}

// inverse returns the inverse of index, if that is a permutation of n positions.
func inverse(index []int, n int) (back []int, ok bool) {
	if len(index) != n {
		return nil, false
	}
	back = make([]int, n)
	seen := make([]bool, n)
	for i, p := range index {
		if seen[p] {
			return nil, false
		}
		back[p], seen[p] = i, true
	}
	return back, true
}
