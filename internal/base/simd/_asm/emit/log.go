package emit

import "math"

const (
	sqrtHalfBits = 0x3fe6a09e667f3bcd
	oneBits      = 0x3ff0000000000000
	fractionMask = 1<<52 - 1
	twoTo52      = 0x1p52
	twoTo52Bits  = 0x4330000000000000
)

// split is x = 2ᵏ·m with √½ ≤ m < √2 for normal x; biased holds k + 1023 as an integer.
func (f *Body) split(x V) (k, m, biased V) {
	b := f.AddInt(x, f.Bits(oneBits-sqrtHalfBits))
	biased = f.ShiftRight(b, 52)
	k = f.Sub(f.Or(biased, f.Bits(twoTo52Bits)), f.Num(twoTo52+1023))
	m = f.AddInt(f.And(b, f.Bits(fractionMask)), f.Bits(sqrtHalfBits))
	return k, m, biased
}

// notPositive is the mask of zeros, denormals, negative and infinite numbers and NaN.
func (f *Body) notPositive(a V) V {
	return f.Or(f.NotGe(a, f.Num(minNormal)), f.NotLe(a, f.Num(math.MaxFloat64)))
}

func (f *Body) logTailOf(g, half V) V {
	s := f.Div(g, f.Add(g, f.Num(2)))
	z := f.Mul(s, s)
	p := f.Horner(f.table("logCoef"), z)
	return f.Mul(s, f.Fma(z, p, half))
}

// Log is the natural logarithm.
func (f *Body) Log(a V) (V, V) {
	k, m, _ := f.split(a)
	g := f.Sub(m, f.Num(1))
	half := f.Mul(f.Mul(g, f.Num(0.5)), g)
	lo := f.Fma(k, f.con("ln2Rest"), f.logTailOf(g, half))
	kl := f.Mul(k, f.con("ln2Short"))
	w := f.Add(kl, g)
	r := f.Add(w, f.Add(f.Add(f.Sub(kl, w), g), f.Sub(lo, half)))
	return r, f.notPositive(a)
}

// Log1p is log(1 + a).
func (f *Body) Log1p(a V) (V, V) {
	u := f.TwoSum(f.Num(1), a)
	k, m, _ := f.split(u.Hi)
	ul := f.AndNot(f.Gt(k, f.Num(60)), u.Lo)
	down := f.ShiftLeft(f.Sub(f.Num(twoTo52+1023), f.Lesser(k, f.Num(60))), 52)
	rest := f.Div(f.Mul(ul, down), m)
	g := f.Sub(m, f.Num(1))
	half := f.Mul(f.Mul(g, f.Num(0.5)), g)
	lo := f.Add(f.Fma(k, f.con("ln2Rest"), f.logTailOf(g, half)), rest)
	kl := f.Mul(k, f.con("ln2Short"))
	w := f.Add(kl, g)
	r := f.Add(w, f.Add(f.Add(f.Sub(kl, w), g), f.Sub(lo, half)))
	bad := f.Or(f.NotGt(a, f.Num(-1)), f.NotLe(a, f.Num(math.MaxFloat64)))
	return f.Where(f.Eq(a, f.Num(0)), a, r), bad
}

// logDD is the logarithm of x with x.Hi positive and normal; exact says that x.Lo is 0.
func (f *Body) logDD(x DD, exact bool) DD {
	k, m, biased := f.split(x.Hi)
	ml := f.Num(0)
	if !exact {
		u := f.SubInt(f.Bits(2048+1023), biased)
		ml = f.And(f.Ne(x.Lo, f.Num(0)), f.twoSteps(x.Lo, u))
	}
	g := f.Sub(m, f.Num(1))
	d := f.Add(g, f.Num(2))
	dl := f.Add(f.Add(f.Sub(f.Num(2), d), g), ml)
	s := DD{Hi: f.Div(g, d)}
	s.Lo = f.Div(f.Add(f.Fma(f.Neg(s.Hi), d, g), f.Fma(f.Neg(s.Hi), dl, ml)), d)
	s = f.QuickTwoSum(s.Hi, s.Lo)
	z := f.MulDD(s, s)
	p := f.Horner(f.table("logTail"), z.Hi)
	c := f.QuickTwoSum(f.con("twoFifthsHi"), f.Fma(z.Hi, p, f.con("twoFifthsLo")))
	c = f.MulDD(c, z)
	c = f.AddFloat(f.QuickTwoSum(f.con("twoThirdsHi"), c.Hi), f.Add(c.Lo, f.con("twoThirdsLo")))
	c = f.MulDD(f.MulDD(c, z), s)
	l := f.AddDD(f.Scale(s, f.Num(2)), c)
	kl := f.QuickTwoSum(f.Mul(k, f.con("ln2Short")), f.Mul(k, f.con("ln2Rest")))
	return f.AddDD(kl, l)
}

// Log10 is the decimal logarithm.
func (f *Body) Log10(a V) (V, V) {
	l := f.logDD(DD{a, f.Num(0)}, true)
	return f.Float(f.MulDD(l, DD{f.con("log10EHi"), f.con("log10ELo")})), f.notPositive(a)
}

// Asinh is the inverse hyperbolic sine.
func (f *Body) Asinh(a V) (V, V) {
	x := f.Abs(a)
	one := f.Num(1)
	q := f.TwoMul(x, x)
	w := f.AddFloat(f.SqrtDD(f.AddFloat(q, one)), one)
	r := f.logDD(f.AddFloat(f.AddFloat(f.DivDD(q, w), x), one), false)
	y := f.Copysign(f.Float(r), a)
	return f.Where(f.NotGe(x, f.Num(0x1p-28)), a, y), f.Gt(x, f.Num(0x1p30))
}

// Acosh is the inverse hyperbolic cosine.
func (f *Body) Acosh(a V) (V, V) {
	t := f.TwoSum(a, f.Num(-1))
	u := f.AddDD(t, f.SqrtDD(f.MulDD(t, f.AddFloat(t, f.Num(2)))))
	r := f.logDD(f.AddFloat(u, f.Num(1)), false)
	return f.Float(r), f.Or(f.NotGt(a, f.Num(1)), f.Gt(a, f.Num(0x1p30)))
}

// Atanh is the inverse hyperbolic tangent.
func (f *Body) Atanh(a V) (V, V) {
	x := f.Abs(a)
	one := f.Num(1)
	l := f.logDD(f.DivDD(f.TwoSum(one, x), f.TwoSum(one, f.Neg(x))), false)
	y := f.Copysign(f.Mul(f.Num(0.5), f.Float(l)), a)
	return f.Where(f.NotGe(x, f.Num(0x1p-28)), a, y), f.Ge(x, one)
}

// Pow is a to the power b.
func (f *Body) Pow(a, b V) (V, V) {
	l := f.logDD(DD{a, f.Num(0)}, true)
	e := f.TwoMul(l.Hi, b)
	bad := f.Or(f.notPositive(a), f.Or(f.NotGe(e.Hi, f.Num(-760)), f.NotLe(e.Hi, f.Num(720))))
	k := f.expReduce(e.Hi, f.Fma(l.Lo, b, e.Lo))
	return f.scaled(f.Float(f.onePlus(k.q)), k.bits), bad
}
