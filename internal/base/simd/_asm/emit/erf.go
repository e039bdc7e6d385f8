package emit

import "math"

// erfcLarge is erfc(x) for ½ ≤ x ≤ 28.
func (f *Body) erfcLarge(x V) V {
	c := f.table("erfcCoef")
	t := f.Div(f.Sub(x, f.Num(4)), f.Add(x, f.Num(4)))
	v := f.TwoSum(f.Num(c[0]), f.Fma(t, f.Horner(c[1:], t), f.con("erfcCoefLo")))
	v = f.DivDD(v, f.TwoSum(f.Num(1), f.Add(x, x)))
	s := f.TwoMul(x, x)
	k := f.expReduce(f.Neg(s.Hi), f.Neg(s.Lo))
	return f.scaled(f.Float(f.MulDD(f.onePlus(k.q), v)), k.bits)
}

// Erf is the error function.
func (f *Body) Erf(a V) (V, V) {
	c := f.table("erfCoef")
	x := f.Abs(a)
	large := f.Where(f.Gt(x, f.Num(6)), f.Num(1), f.Sub(f.Num(1), f.erfcLarge(x)))
	z := f.Mul(a, a)
	small := f.Fma(a, f.Num(c[0]), f.Mul(a, f.Fma(z, f.Horner(c[1:], z), f.con("erfCoefLo"))))
	r := f.Where(f.Le(x, f.Num(0.84)), small, f.Copysign(large, a))
	return f.Where(f.EqOrNaN(a, f.Num(0)), a, r), None
}

// Erfc is the complementary error function.
func (f *Body) Erfc(a V) (V, V) {
	c := f.table("erfCoef")
	large := f.erfcLarge(f.Abs(a))
	large = f.Where(a, f.Sub(f.Num(2), large), large)
	large = f.AndNot(f.Gt(a, f.Num(28)), f.Where(f.Lt(a, f.Num(-6)), f.Num(2), large))
	z := f.Mul(a, a)
	h := f.TwoMul(a, f.Num(c[0]))
	e := f.TwoSum(h.Hi, f.Fma(a, f.Fma(z, f.Horner(c[1:], z), f.con("erfCoefLo")), h.Lo))
	small := f.Float(f.AddFloat(f.NegDD(e), f.Num(1)))
	r := f.Where(f.And(f.Ge(a, f.Num(-1)), f.Le(a, f.Num(0.5))), small, large)
	return f.Where(f.IsNaN(a), a, r), None
}

// Hypot is √(a² + b²).
func (f *Body) Hypot(a, b V) (V, V) {
	a, b = f.Abs(a), f.Abs(b)
	swap := f.Gt(b, a)
	x, y := f.Where(swap, b, a), f.Where(swap, a, b)
	tiny := f.Le(y, f.Mul(x, f.Num(0x1p-54)))
	yy := f.Mul(y, y)
	h := f.Sqrt(f.Fma(x, x, yy))
	hh, xx := f.Mul(h, h), f.Mul(x, x)
	d := f.Add(f.Fma(f.Neg(y), y, f.Sub(hh, xx)), f.Fma(h, h, f.Neg(hh)))
	d = f.Sub(d, f.Fma(x, x, f.Neg(xx)))
	r := f.Sub(h, f.Div(d, f.Mul(h, f.Num(2))))
	extreme := f.Or(f.Gt(x, f.Num(0x1p510)), f.Lt(y, f.Num(0x1p-450)))
	bad := f.Or(f.Or(f.NotLe(x, f.Num(math.MaxFloat64)), f.Unordered(a, b)), f.AndNot(tiny, extreme))
	return f.Where(tiny, f.Add(x, y), r), bad
}

// Mod is a - b·floor(a/b).
func (f *Body) Mod(a, b V) (V, V) {
	zero := f.Num(0)
	q := f.Div(a, b)
	r := f.Fma(f.Neg(f.Floor(q)), b, a)
	pos, neg := f.Gt(b, zero), f.Lt(b, zero)
	under := f.Or(f.And(pos, f.Lt(r, zero)), f.And(neg, f.Gt(r, zero)))
	over := f.Or(f.And(pos, f.Ge(r, b)), f.And(neg, f.Le(r, b)))
	y := f.Where(under, f.Add(r, b), f.Where(over, f.Sub(r, b), r))
	return y, f.Or(f.Gt(f.Abs(b), f.Num(math.MaxFloat64)), f.Ge(f.Abs(q), f.Num(0x1p53)))
}

// Atan2 is the angle of the point (x, y).
func (f *Body) Atan2(y, x V) (V, V) {
	ax, ay := f.Abs(x), f.Abs(y)
	steep := f.Gt(ay, ax)
	lo, hi := f.Where(steep, ax, ay), f.Where(steep, ay, ax)
	q := f.Div(lo, hi)
	tiny := f.Lt(lo, f.Mul(hi, f.Num(0x1p-30)))
	extreme := f.AndNot(tiny, f.Lt(lo, f.Num(0x1p-500)))
	bad := f.Or(f.Or(f.NotLe(hi, f.Num(0x1p500)), f.Unordered(x, y)), extreme)
	r := f.atanKernel(DD{q, f.Div(f.Fma(f.Neg(q), hi, lo), hi)})
	r = DD{f.Where(tiny, q, r.Hi), f.AndNot(tiny, r.Lo)}
	r = f.WhereDD(steep, f.AddDD(DD{f.con("halfPiHi"), f.con("halfPiLo")}, f.NegDD(r)), r)
	r = f.WhereDD(x, f.AddDD(DD{f.con("piHi"), f.con("piLo")}, f.NegDD(r)), r)
	return f.Copysign(f.Float(r), y), bad
}
