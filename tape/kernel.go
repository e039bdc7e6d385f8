package tape

import "slices"

// kernel computes an instruction's result from its operands.
type kernel[T Number] func(args [][]T, out []T)

// plan returns the kernel of in, whose operands have the given shapes. It does all
// work beforehand that does not depend on the values of elements.
func plan[T Number](ar *arith[T], in *Instr, shapes []Shape) kernel[T] {
	if in.Op.Row().Elementwise() {
		return planElementwise(ar, in, shapes)
	}
	switch in.Op {
	case Slice, Transpose, Broadcast, Take, Reshape:
		return gather[T](Places(in, shapes[0]))
	case Pad:
		index := Places(in, shapes[0])
		return func(args [][]T, out []T) {
			clear(out)
			for i, j := range index {
				out[j] = args[0][i]
			}
		}
	case Put:
		index := Places(in, shapes[0])
		return func(args [][]T, out []T) {
			clear(out)
			for i, j := range index {
				out[j] = ar.add(out[j], args[0][i])
			}
		}
	case Concat:
		return planConcat[T](in, shapes)
	case SumAxes:
		return planReduce(in, shapes[0], sum8(ar.add))
	case ProdAxes:
		return planReduce(in, shapes[0], fold(ar.mul))
	case MaxAxes:
		return planReduce(in, shapes[0], fold(ar.max))
	case MinAxes:
		return planReduce(in, shapes[0], fold(ar.min))
	case MatMul:
		return planMatMul(ar, in, shapes)
	case Dot:
		return func(args [][]T, out []T) {
			var s [8]T
			for i, x := range args[0] {
				s[i&7] = ar.fma(x, args[1][i], s[i&7])
			}
			out[0] = tree(&s, ar.add)
		}
	case Outer:
		return func(args [][]T, out []T) {
			n := len(args[1])
			for i, x := range args[0] {
				for j, y := range args[1] {
					out[i*n+j] = ar.mul(x, y)
				}
			}
		}
	case Find:
		return func(args [][]T, out []T) {
			for i, x := range args[1] {
				out[i] = find(args[0], x)
			}
		}
	case Pick:
		return func(args [][]T, out []T) {
			for i, x := range args[1] {
				out[i] = pick(args[0], x)
			}
		}
	case Drop:
		return func(args [][]T, out []T) {
			clear(out)
			for i, x := range args[1] {
				drop(ar, out, x, args[0][i])
			}
		}
	}
	panic("tape: no kernel for " + in.Op.String())
}

func planElementwise[T Number](ar *arith[T], in *Instr, shapes []Shape) kernel[T] {
	var index [3][]int // of the operand's element for each element of the result
	for k, s := range shapes {
		index[k] = stretched(in.Shape, s)
	}
	a, b, c := index[0], index[1], index[2]
	row := in.Op.Row()
	switch {
	case in.Op == Powi:
		n := in.Attr.Power
		return func(args [][]T, out []T) {
			for i := range out {
				out[i] = ar.powi(args[0][i], n)
			}
		}
	case row.Arity == 1:
		f := ar.one(row)
		return func(args [][]T, out []T) {
			for i := range out {
				out[i] = f(args[0][i])
			}
		}
	case row.Arity == 2:
		f := ar.two(row)
		return func(args [][]T, out []T) {
			for i := range out {
				out[i] = f(at(args[0], a, i), at(args[1], b, i))
			}
		}
	default:
		f := ar.three(row)
		return func(args [][]T, out []T) {
			for i := range out {
				out[i] = f(at(args[0], a, i), at(args[1], b, i), at(args[2], c, i))
			}
		}
	}
}

// at returns x[index[i]], where a nil index stands for i itself.
func at[T Number](x []T, index []int, i int) T {
	if index == nil {
		return x[i]
	}
	return x[index[i]]
}

// Places tells where a Structure op with one operand, of shape arg, moves elements. For a Pad or Put, it lists for each
// element of the operand where in the result it goes. For the others, it lists for each element of the result which one
// of the operand it is; nil is the identity.
func Places(in *Instr, arg Shape) []int {
	switch in.Op {
	case Slice:
		return window(in.Shape, arg, &in.Attr)
	case Pad:
		return window(arg, in.Shape, &in.Attr)
	case Transpose:
		st := arg.Strides()
		moved := make([]int, len(st))
		for i, p := range in.Attr.Perm {
			moved[i] = st[p]
		}
		return positions(in.Shape, 0, moved)
	case Broadcast:
		return stretched(in.Shape, arg)
	case Take:
		return along(in.Attr.Axis, in.Attr.Index, arg)
	case Put:
		return along(in.Attr.Axis, in.Attr.Index, in.Shape)
	case Reshape:
		return nil
	}
	panic("tape: " + in.Op.String() + " moves no elements of one operand")
}

// gather returns the kernel out[i] = a[index[i]]; a nil index is the identity.
func gather[T Number](index []int) kernel[T] {
	if index == nil {
		return func(args [][]T, out []T) { copy(out, args[0]) }
	}
	return func(args [][]T, out []T) {
		for i, j := range index {
			out[i] = args[0][j]
		}
	}
}

// positions lists offset + Σ i[k]·strides[k] over the indices of shape, row-major.
func positions(shape Shape, offset int, strides []int) []int {
	out := make([]int, 0, shape.Size())
	var walk func(k, at int)
	walk = func(k, at int) {
		if k == len(shape) {
			out = append(out, at)
			return
		}
		for i := range shape[k] {
			walk(k+1, at+i*strides[k])
		}
	}
	walk(0, offset)
	return out
}

// stretched lists, for each element of shape, the element that an operand of shape
// arg has there. It returns nil if the two shapes are the same.
func stretched(shape, arg Shape) []int {
	if shape.Equal(arg) {
		return nil
	}
	strides := make([]int, len(shape))
	if len(arg) == len(shape) {
		copy(strides, arg.Strides())
		for k := range strides {
			if arg[k] == 1 {
				strides[k] = 0
			}
		}
	}
	return positions(shape, 0, strides)
}

// window lists the elements of whole that a Slice with shape part takes.
func window(part, whole Shape, a *Attr) []int {
	strides := whole.Strides()
	offset := 0
	for k := range strides {
		offset += a.Start[k] * strides[k]
		if a.Step != nil {
			strides[k] *= a.Step[k]
		}
	}
	return positions(part, offset, strides)
}

// along lists the elements of whole that a Take of index along axis takes.
func along(axis int, index []int, whole Shape) []int {
	outer, n, inner := blocks(whole, axis)
	out := make([]int, 0, outer*len(index)*inner)
	for o := range outer {
		for _, i := range index {
			for k := range inner {
				out = append(out, (o*n+i)*inner+k)
			}
		}
	}
	return out
}

// blocks returns the sizes before, of and behind an axis.
func blocks(s Shape, axis int) (outer, n, inner int) {
	return s[:axis].Size(), s[axis], s[axis+1:].Size()
}

func planConcat[T Number](in *Instr, shapes []Shape) kernel[T] {
	outer, _, inner := blocks(in.Shape, in.Attr.Axis)
	run := make([]int, len(shapes)) // contiguous elements of each operand
	for k, s := range shapes {
		run[k] = s[in.Attr.Axis] * inner
	}
	return func(args [][]T, out []T) {
		at := 0
		for o := range outer {
			for k, x := range args {
				at += copy(out[at:], x[o*run[k]:(o+1)*run[k]])
			}
		}
	}
}

// planReduce returns the kernel that makes each element of the result of those over
// the removed axes, in row-major order.
func planReduce[T Number](in *Instr, arg Shape, reduce func([]T) T) kernel[T] {
	st := arg.Strides()
	var keep, gone Shape
	var keepStrides, goneStrides []int
	for k, d := range arg {
		if slices.Contains(in.Attr.Axes, k) {
			gone, goneStrides = append(gone, d), append(goneStrides, st[k])
		} else {
			keep, keepStrides = append(keep, d), append(keepStrides, st[k])
		}
	}
	starts, offsets := positions(keep, 0, keepStrides), positions(gone, 0, goneStrides)
	buf := make([]T, len(offsets))
	return func(args [][]T, out []T) {
		for i, start := range starts {
			for k, off := range offsets {
				buf[k] = args[0][start+off]
			}
			out[i] = reduce(buf)
		}
	}
}

// sum8 returns the function that adds elements up as SumAxes does.
func sum8[T Number](add func(a, b T) T) func([]T) T {
	return func(x []T) T {
		var s [8]T
		for i, v := range x {
			s[i&7] = add(s[i&7], v)
		}
		return tree(&s, add)
	}
}

// tree adds eight partial sums up.
func tree[T Number](s *[8]T, add func(a, b T) T) T {
	even := add(add(s[0], s[4]), add(s[2], s[6]))
	return add(even, add(add(s[1], s[5]), add(s[3], s[7])))
}

// fold returns the function that combines elements in order, from the first one on.
func fold[T Number](f func(a, b T) T) func([]T) T {
	return func(x []T) T {
		m := x[0]
		for _, v := range x[1:] {
			m = f(m, v)
		}
		return m
	}
}

// planMatMul returns the kernel of a MatMul. It treats a vector as a matrix of one
// row or one column.
func planMatMul[T Number](ar *arith[T], in *Instr, shapes []Shape) kernel[T] {
	a, b := shapes[0], shapes[1]
	if len(a) == 1 {
		a = Shape{1, a[0]}
	}
	if len(b) == 1 {
		b = Shape{b[0], 1}
	}
	n, inner, m := a[0], a[1], b[1]
	ai, ak := a[1], 1 // strides along the result's row and along the inner index
	if in.Attr.TA {
		n, inner, ai, ak = a[1], a[0], 1, a[1]
	}
	bk, bj := b[1], 1
	if in.Attr.TB {
		m, bk, bj = b[0], 1, b[1]
	}
	return func(args [][]T, out []T) {
		x, y := args[0], args[1]
		for i := range n {
			for j := range m {
				var s T
				for k := range inner {
					s = ar.fma(x[i*ai+k*ak], y[k*bk+j*bj], s)
				}
				out[i*m+j] = s
			}
		}
	}
}
