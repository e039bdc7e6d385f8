package tape

import (
	"fmt"
	"math"
	"slices"
)

// Const returns a constant array. A single element fills the shape. The Builder
// keeps data, which must not be changed.
func (b *Builder) Const(shape Shape, data ...float64) Value {
	return b.Emit(Instr{Op: Const, Shape: shape, Attr: Attr{Data: data}})
}

// Scalar returns a constant scalar.
func (b *Builder) Scalar(x float64) Value { return b.Const(nil, x) }

// Op1 appends an elementwise instruction with one operand. Powi has its own method.
func (b *Builder) Op1(op Op, x Value) Value { return b.elementwise(op, x) }

// Op2 appends an elementwise instruction with two operands.
func (b *Builder) Op2(op Op, x, y Value) Value { return b.elementwise(op, x, y) }

// Op3 appends an elementwise instruction with three operands.
func (b *Builder) Op3(op Op, x, y, z Value) Value { return b.elementwise(op, x, y, z) }

func (b *Builder) elementwise(op Op, args ...Value) Value {
	if !op.Valid() || !op.Row().Elementwise() {
		panic(fmt.Sprintf("tape: %v is not elementwise", op))
	}
	return b.Emit(Instr{Op: op, Args: args})
}

// Neg returns -x.
func (b *Builder) Neg(x Value) Value { return b.Op1(Neg, x) }

// Add returns x + y.
func (b *Builder) Add(x, y Value) Value { return b.Op2(Add, x, y) }

// Sub returns x - y.
func (b *Builder) Sub(x, y Value) Value { return b.Op2(Sub, x, y) }

// Mul returns x·y, elementwise.
func (b *Builder) Mul(x, y Value) Value { return b.Op2(Mul, x, y) }

// Div returns x/y, elementwise.
func (b *Builder) Div(x, y Value) Value { return b.Op2(Div, x, y) }

// Select returns c != 0 ? x : y, elementwise.
func (b *Builder) Select(c, x, y Value) Value { return b.Op3(Select, c, x, y) }

// maxPowi is the largest exponent that Pow turns into repeated multiplication. For
// larger ones its rounding errors exceed those of the op Pow.
const maxPowi = 32

// Pow returns x to the power y. A constant whole exponent of moderate size becomes
// repeated multiplication, and 1/2 a square root, as the operator ^ of models
// demands. It is the one method of a Builder whose result may differ from the op's.
func (b *Builder) Pow(x, y Value) Value {
	if e, ok := b.Uniform(y); ok && b.fits(x, y) {
		switch {
		case e == math.Trunc(e) && math.Abs(e) <= maxPowi:
			return b.Powi(x, int(e))
		case e == 0.5:
			return b.Op1(Sqrt, x)
		}
	}
	return b.Op2(Pow, x, y)
}

// fits reports whether y stretches to the shape of x.
func (b *Builder) fits(x, y Value) bool {
	s, err := Stretch(b.Shape(x), b.Shape(y))
	return err == nil && s.Equal(b.Shape(x))
}

// Powi returns x to the power n.
func (b *Builder) Powi(x Value, n int) Value {
	return b.Emit(Instr{Op: Powi, Args: []Value{x}, Attr: Attr{Power: n}})
}

// Slice returns the elements start[k] + i·step[k], i = 0 … shape[k]-1, of each
// axis k. A nil step means 1 everywhere.
func (b *Builder) Slice(x Value, start []int, shape Shape, step []int) Value {
	return b.Emit(Instr{
		Op: Slice, Args: []Value{x}, Shape: slices.Clone(shape),
		Attr: Attr{Start: slices.Clone(start), Step: slices.Clone(step)},
	})
}

// Element returns one element of x as a scalar.
func (b *Builder) Element(x Value, index ...int) Value {
	one := make(Shape, len(index))
	for k := range one {
		one[k] = 1
	}
	return b.Reshape(b.Slice(x, index, one, nil), nil)
}

// Pad returns x placed at start[k] + i·step[k] of each axis k in zeros of the
// given shape. A nil step means 1 everywhere.
func (b *Builder) Pad(x Value, shape Shape, start, step []int) Value {
	return b.Emit(Instr{
		Op: Pad, Args: []Value{x}, Shape: slices.Clone(shape),
		Attr: Attr{Start: slices.Clone(start), Step: slices.Clone(step)},
	})
}

// Reshape returns the elements of x in another shape.
func (b *Builder) Reshape(x Value, shape Shape) Value {
	return b.Emit(Instr{Op: Reshape, Args: []Value{x}, Shape: slices.Clone(shape)})
}

// Transpose returns x with axis perm[i] as axis i. Without perm the axes are reversed.
func (b *Builder) Transpose(x Value, perm ...int) Value {
	if len(perm) == 0 {
		for k := len(b.Shape(x)) - 1; k >= 0; k-- {
			perm = append(perm, k)
		}
	}
	return b.Emit(Instr{Op: Transpose, Args: []Value{x}, Attr: Attr{Perm: slices.Clone(perm)}})
}

// Broadcast returns x with axes of length 1 stretched, or a scalar filled, to
// the given shape.
func (b *Builder) Broadcast(x Value, shape Shape) Value {
	return b.Emit(Instr{Op: Broadcast, Args: []Value{x}, Shape: slices.Clone(shape)})
}

// Concat returns the operands one after the other along axis.
func (b *Builder) Concat(axis int, xs ...Value) Value {
	return b.Emit(Instr{Op: Concat, Args: slices.Clone(xs), Attr: Attr{Axis: axis}})
}

// Stack returns the operands, of one shape, side by side along a new axis.
func (b *Builder) Stack(axis int, xs ...Value) Value {
	rows := make([]Value, len(xs))
	for i, x := range xs {
		rows[i] = b.Reshape(x, slices.Insert(slices.Clone(b.Shape(x)), axis, 1))
	}
	return b.Concat(axis, rows...)
}

// Take returns the given positions of x along axis.
func (b *Builder) Take(x Value, axis int, index []int) Value {
	return b.Emit(Instr{Op: Take, Args: []Value{x}, Attr: Attr{Axis: axis, Index: slices.Clone(index)}})
}

// Put adds the slices of x along axis to zeros at the given positions. The result
// has the shape of x, but length n along axis.
func (b *Builder) Put(x Value, axis int, index []int, n int) Value {
	shape := slices.Clone(b.Shape(x))
	if axis >= 0 && axis < len(shape) {
		shape[axis] = n
	}
	return b.Emit(Instr{Op: Put, Args: []Value{x}, Shape: shape, Attr: Attr{Axis: axis, Index: slices.Clone(index)}})
}

// Reduce returns x reduced by SumAxes, ProdAxes, MaxAxes or MinAxes over the given
// axes, or over all axes if none is given.
func (b *Builder) Reduce(op Op, x Value, axes ...int) Value {
	if len(b.Shape(x)) == 0 {
		return x
	}
	axes = slices.Clone(axes)
	slices.Sort(axes)
	if len(axes) == 0 {
		for k := range b.Shape(x) {
			axes = append(axes, k)
		}
	}
	return b.Emit(Instr{Op: op, Args: []Value{x}, Attr: Attr{Axes: axes}})
}

// SumAxes returns x summed over the given axes, or over all axes if none is given.
func (b *Builder) SumAxes(x Value, axes ...int) Value { return b.Reduce(SumAxes, x, axes...) }

// MatMul returns op(x) @ op(y), where op transposes x if ta is set and y if tb is.
// For two vectors it is their Dot.
func (b *Builder) MatMul(x, y Value, ta, tb bool) Value {
	if len(b.Shape(x)) == 1 && len(b.Shape(y)) == 1 {
		return b.Dot(x, y)
	}
	return b.Emit(Instr{Op: MatMul, Args: []Value{x, y}, Attr: Attr{TA: ta, TB: tb}})
}

// Dot returns the sum of x[i]·y[i].
func (b *Builder) Dot(x, y Value) Value { return b.Emit(Instr{Op: Dot, Args: []Value{x, y}}) }

// Outer returns the matrix x[i]·y[j].
func (b *Builder) Outer(x, y Value) Value { return b.Emit(Instr{Op: Outer, Args: []Value{x, y}}) }

// Find returns the intervals between knots that the elements of x lie in.
func (b *Builder) Find(knots, x Value) Value { return b.Emit(Instr{Op: Find, Args: []Value{knots, x}}) }

// Pick returns the elements of x at places.
func (b *Builder) Pick(x, places Value) Value {
	return b.Emit(Instr{Op: Pick, Args: []Value{x, places}})
}

// Drop adds the elements of x to n zeros at places.
func (b *Builder) Drop(x, places Value, n int) Value {
	return b.Emit(Instr{Op: Drop, Args: []Value{x, places}, Shape: Shape{n}})
}
