package native

import "odes.dev/odes/internal/base/simd"

// Can reports whether Apply has the operation op.
func Can(op simd.Op) bool {
	switch op {
	case simd.Copy, simd.Neg, simd.Abs, simd.Sign, simd.Not, simd.Recip, simd.Sqrt, simd.Sqr, simd.Cube, simd.Fourth,
		simd.Floor, simd.Ceil, simd.Round, simd.Trunc,
		simd.Add, simd.Sub, simd.Mul, simd.Div, simd.Min, simd.Max,
		simd.Less, simd.LessEq, simd.Equal, simd.NotEqual, simd.And, simd.Or, simd.ZeroMul,
		simd.Select, simd.FMA:
		return true
	}
	return false
}

// Apply appends the operation op, for which Can must be true, on operands of one width.
func (b *Body) Apply(op simd.Op, x ...Value) Value {
	switch op {
	case simd.Copy:
		return x[0]
	case simd.Neg:
		return b.Neg(x[0])
	case simd.Abs:
		return b.Abs(x[0])
	case simd.Sign:
		return b.sign(x[0])
	case simd.Not:
		return b.Sub(b.num(x[0], 1), x[0])
	case simd.Recip:
		return b.Div(b.num(x[0], 1), x[0])
	case simd.Sqrt:
		return b.Sqrt(x[0])
	case simd.Sqr:
		return b.Mul(x[0], x[0])
	case simd.Cube:
		return b.Mul(b.Mul(x[0], x[0]), x[0])
	case simd.Fourth:
		s := b.Mul(x[0], x[0])
		return b.Mul(s, s)
	case simd.Floor:
		return b.Floor(x[0])
	case simd.Ceil:
		return b.Ceil(x[0])
	case simd.Round:
		return b.nearest(x[0])
	case simd.Trunc:
		return b.Trunc(x[0])
	case simd.Add:
		return b.Add(x[0], x[1])
	case simd.Sub:
		return b.Sub(x[0], x[1])
	case simd.Mul:
		return b.Mul(x[0], x[1])
	case simd.Div:
		return b.Div(x[0], x[1])
	case simd.Min: // b < a ? b : a, NaN where an operand is NaN
		return b.Where(b.isNaN(x[1]), x[1], b.Lesser(x[1], x[0]))
	case simd.Max:
		return b.Where(b.isNaN(x[1]), x[1], b.Greater(x[1], x[0]))
	case simd.Less:
		return b.condition(b.Compare(Less, x[0], x[1]))
	case simd.LessEq:
		return b.condition(b.Compare(LessEq, x[0], x[1]))
	case simd.Equal:
		return b.condition(b.Compare(Equal, x[0], x[1]))
	case simd.NotEqual:
		return b.condition(b.Compare(NotEqual, x[0], x[1]))
	case simd.And:
		return b.condition(b.And(b.nonzero(x[0]), b.nonzero(x[1])))
	case simd.Or:
		return b.condition(b.Or(b.nonzero(x[0]), b.nonzero(x[1])))
	case simd.ZeroMul:
		return b.And(b.nonzero(x[0]), b.Mul(x[0], x[1]))
	case simd.Select:
		return b.Where(b.nonzero(x[0]), x[1], x[2])
	case simd.FMA:
		return b.FMA(x[0], x[1], x[2])
	}
	panic("native: no operation " + op.String())
}

func (b *Body) isNaN(x Value) Value { return b.Compare(Unordered, x, x) }

// nonzero is the mask of x ≠ 0, which is true for NaN. If x is the condition of a comparison, it is
// that comparison's mask.
func (b *Body) nonzero(x Value) Value {
	if o := &b.ops[x]; o.code == opAnd {
		if c := &b.ops[o.b]; c.code == opConst {
			if w := b.constants.words(c.literal); len(w) == 1 && w[0] == one && b.isMask(o.a) {
				return o.a
			}
		}
	}
	return b.Compare(NotEqual, x, b.num(x, 0))
}

// isMask reports whether in each element of x all bits are set, or none.
func (b *Body) isMask(x Value) bool { return b.masks[x] }

// makesMask reports whether the result of o is such a mask.
func (b *Body) makesMask(o *op) bool {
	switch o.code {
	case opCompare:
		return true
	case opAnd, opOr, opXor, opAndNot:
		return b.masks[o.a] && b.masks[o.b]
	}
	return false
}

// one holds the bits of the number 1.
const one = 0x3ff0000000000000

// condition turns a mask into the numbers 0 and 1.
func (b *Body) condition(mask Value) Value { return b.And(mask, b.Bits(b.Width(mask), one)) }

// sign is -1, 0 or 1, and NaN for NaN.
func (b *Body) sign(x Value) Value {
	zero := b.num(x, 0)
	s := b.Or(b.condition(b.Compare(Above, x, zero)), b.And(b.Compare(Less, x, zero), b.num(x, -1)))
	return b.Where(b.isNaN(x), x, s)
}

// nearest is the nearest integer, halves away from zero.
func (b *Body) nearest(x Value) Value {
	t := b.Trunc(x)
	half := b.Compare(GreaterEq, b.Abs(b.Sub(x, t)), b.num(x, 0.5))
	return b.Add(t, b.Or(b.condition(half), b.And(x, b.Bits(b.Width(x), signBit))))
}
