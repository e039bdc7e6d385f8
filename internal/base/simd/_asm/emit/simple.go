package emit

// The operations below are one or a few instructions, and are valid for all operands.

// Min is b < a ? b : a, and NaN where an operand is NaN.
func (f *Body) Min(a, b V) V { return f.Where(f.IsNaN(b), b, f.Lesser(b, a)) }

// Max is a < b ? b : a, and NaN where an operand is NaN.
func (f *Body) Max(a, b V) V { return f.Where(f.IsNaN(b), b, f.Greater(b, a)) }

// Condition turns a mask into the numbers 0 and 1.
func (f *Body) Condition(mask V) V { return f.And(mask, f.Num(1)) }

// Both and Either are the logical operations of conditions.
func (f *Body) Both(a, b V) V {
	return f.Condition(f.And(f.Ne(a, f.Num(0)), f.Ne(b, f.Num(0))))
}

func (f *Body) Either(a, b V) V {
	return f.Condition(f.Or(f.Ne(a, f.Num(0)), f.Ne(b, f.Num(0))))
}

// ZeroMul is a·b, and 0 where a is 0.
func (f *Body) ZeroMul(a, b V) V { return f.And(f.Ne(a, f.Num(0)), f.Mul(a, b)) }

// Select is a ≠ 0 ? b : c.
func (f *Body) Select(a, b, c V) V { return f.Where(f.Ne(a, f.Num(0)), b, c) }

// Sign is -1, 0 or 1, and NaN for NaN.
func (f *Body) Sign(a V) V {
	zero := f.Num(0)
	s := f.Or(f.And(f.Gt(a, zero), f.Num(1)), f.And(f.Lt(a, zero), f.Num(-1)))
	return f.Where(f.IsNaN(a), a, s)
}

// Round is the nearest integer, halves away from zero.
func (f *Body) Round(a V) V {
	t := f.Trunc(a)
	half := f.Ge(f.Abs(f.Sub(a, t)), f.Num(0.5))
	return f.Add(t, f.Or(f.And(half, f.Num(1)), f.And(a, f.Bits(signBit))))
}

// Cbrt is the cube root.
func (f *Body) Cbrt(a V) (V, V) {
	x := f.Abs(a)
	biased := f.ShiftRight(x, 52)
	k := f.Sub(f.Or(biased, f.Bits(twoTo52Bits)), f.Num(twoTo52-2046)) // e + 1023 - 1023 + 3·1023 - 1023
	third := f.Floor(f.Mul(k, f.Num(0x1.5555555555556p-2)))
	rem := f.Fma(f.Num(-3), third, k)
	is1, is2 := f.Eq(rem, f.Num(1)), f.Eq(rem, f.Num(2))
	root := f.table("cbrtPow")
	m := f.Or(f.And(x, f.Bits(fractionMask)), f.Bits(oneBits))
	y := f.Mul(f.Horner(f.table("cbrtCoef"), m), f.Where(is2, f.Num(root[2]),
		f.Where(is1, f.Num(root[1]), f.Num(root[0]))))
	m = f.Mul(m, f.Where(is2, f.Num(4), f.Where(is1, f.Num(2), f.Num(1))))
	c := f.Mul(y, f.Mul(y, y))
	mm := f.Add(m, m)
	y = f.Div(f.Mul(y, f.Add(c, mm)), f.Add(c, f.Add(c, m)))
	s := f.TwoMul(y, y)
	t := f.MulFloat(s, y)
	y = f.Add(y, f.Div(f.Sub(f.Sub(m, t.Hi), t.Lo), f.Mul(s.Hi, f.Num(3))))
	scale := f.ShiftLeft(f.Add(third, f.Num(twoTo52)), 52)
	return f.Copysign(f.Mul(y, scale), a), f.notPositive(x)
}
