package emit

const trigBig = 0x1p27

// trigReduce is x = n·π/2 + r for |x| < trigBig; bits holds n in its low bits.
func (f *Body) trigReduce(x V) (bits V, r DD) {
	t := f.Fma(x, f.con("twoOverPi"), f.Num(toInteger))
	n := f.Sub(t, f.Num(toInteger))
	u := f.Fma(f.Neg(n), f.con("halfPiHi"), x)
	w := f.TwoMul(n, f.con("halfPiLo"))
	r = f.TwoSum(u, f.Neg(w.Hi))
	r = f.QuickTwoSum(r.Hi, f.Sub(r.Lo, f.Fma(n, f.con("halfPiLo2"), w.Lo)))
	return t, r
}

func (f *Body) sinKernel(r DD) DD {
	z := f.Mul(r.Hi, r.Hi)
	p := f.Horner(f.table("sinCoef"), z)
	v := f.Mul(z, r.Hi)
	t := f.Fma(v, p, f.Fma(f.Mul(z, f.Num(-0.5)), r.Lo, r.Lo))
	s := f.Add(r.Hi, t)
	return DD{s, f.Add(f.Sub(r.Hi, s), t)}
}

func (f *Body) cosKernel(r DD) DD {
	one := f.Num(1)
	z := f.Mul(r.Hi, r.Hi)
	zl := f.Fma(r.Hi, r.Hi, f.Neg(z))
	p := f.Horner(f.table("cosCoef"), z)
	h := f.Mul(z, f.Num(0.5))
	w := f.Sub(one, h)
	l := f.Sub(f.Sub(one, w), h)
	l = f.Sub(l, f.Fma(r.Hi, r.Lo, f.Mul(zl, f.Num(0.5))))
	t := f.Fma(f.Mul(z, z), p, l)
	s := f.Add(w, t)
	return DD{s, f.Add(f.Sub(w, s), t)}
}

// sinCos is the sine of x + q·π/2, the quadrant in bits.
func (f *Body) sinCos(bits V, r DD) V {
	s, c := f.sinKernel(r), f.cosKernel(r)
	v := f.Where(f.ShiftLeft(bits, 63), c.Hi, s.Hi)
	return f.Xor(v, f.And(f.ShiftLeft(bits, 62), f.Bits(signBit)))
}

// Sin is the sine.
func (f *Body) Sin(a V) (V, V) {
	n, r := f.trigReduce(a)
	x := f.Abs(a)
	return f.Where(f.Lt(x, f.Num(0x1p-27)), a, f.sinCos(n, r)), f.NotLt(x, f.Num(trigBig))
}

// Cos is the cosine.
func (f *Body) Cos(a V) (V, V) {
	n, r := f.trigReduce(a)
	return f.sinCos(f.AddInt(n, f.Bits(1)), r), f.NotLt(f.Abs(a), f.Num(trigBig))
}

// Tan is the tangent.
func (f *Body) Tan(a V) (V, V) {
	x := f.Abs(a)
	n, r := f.trigReduce(a)
	s, c := f.sinKernel(r), f.cosKernel(r)
	odd := f.ShiftLeft(n, 63)
	num, den := f.WhereDD(odd, f.NegDD(c), s), f.WhereDD(odd, s, c)
	y := f.Quotient(num, den)
	return f.Where(f.Lt(x, f.Num(0x1p-28)), a, y), f.NotLt(x, f.Num(trigBig))
}

func (f *Body) atanKernel(q DD) DD {
	one := f.Num(1)
	t := f.Fma(q.Hi, f.Num(4), f.Num(toInteger))
	c := f.Mul(f.Sub(t, f.Num(toInteger)), f.Num(0.25))
	qc := f.TwoMul(q.Hi, c)
	d := f.QuickTwoSum(one, qc.Hi)
	d.Lo = f.Add(d.Lo, f.Fma(q.Lo, c, qc.Lo))
	n := f.Sub(q.Hi, c)
	h := f.Div(n, d.Hi)
	l := f.Div(f.Add(f.Fma(f.Neg(h), d.Hi, n), f.Fma(f.Neg(h), d.Lo, q.Lo)), d.Hi)
	z := f.Mul(h, h)
	p := f.Horner(f.table("atanCoef"), z)
	i := f.And(t, f.Bits(7)) // in range for NaN too
	s := f.QuickTwoSum(f.Lookup(f.tableOf("atanHi"), i), h)
	return f.QuickTwoSum(s.Hi, f.Add(s.Lo, f.Fma(f.Mul(h, z), p, f.Add(f.Lookup(f.tableOf("atanLo"), i), l))))
}

// Atan is the arc tangent.
func (f *Body) Atan(a V) (V, V) {
	one := f.Num(1)
	x := f.Lesser(f.Abs(a), f.Num(0x1p60))
	inv := f.Div(one, x)
	big := f.Gt(x, one)
	q := DD{f.Where(big, inv, x), f.And(big, f.Div(f.Fma(f.Neg(inv), x, one), x))}
	k := f.atanKernel(q)
	c := f.AddDD(DD{f.con("halfPiHi"), f.con("halfPiLo")}, f.NegDD(k))
	y := f.Copysign(f.Float(f.WhereDD(big, c, k)), a)
	return f.Where(f.NotGe(f.Abs(a), f.Num(0x1p-28)), a, y), None
}

// asinParts gives the arc sine of x ≤ ½ in two words, or asin(√((1-x)/2)) for greater x.
func (f *Body) asinParts(x V) (small V, r DD) {
	small = f.Le(x, f.Num(0.5))
	z := f.Mul(f.Sub(f.Num(1), x), f.Num(0.5))
	root := f.SqrtDD(DD{z, f.Num(0)})
	zero := f.Eq(z, f.Num(0))
	h := DD{f.Where(small, x, f.AndNot(zero, root.Hi)), f.AndNot(small, f.AndNot(zero, root.Lo))}
	z = f.Where(small, f.Mul(x, x), z)
	p := f.Horner(f.table("asinCoef"), z)
	return small, f.QuickTwoSum(h.Hi, f.Fma(f.Mul(h.Hi, z), p, h.Lo))
}

// Asin is the arc sine.
func (f *Body) Asin(a V) (V, V) {
	x := f.Abs(a)
	small, r := f.asinParts(x)
	big := f.AddDD(DD{f.con("halfPiHi"), f.con("halfPiLo")}, f.Scale(r, f.Num(-2)))
	y := f.Copysign(f.Where(small, r.Hi, f.Float(big)), a)
	return f.Where(f.NotGe(x, f.Num(0x1p-27)), a, y), None
}

// Acos is the arc cosine.
func (f *Body) Acos(a V) (V, V) {
	x := f.Abs(a)
	small, r := f.asinParts(x)
	two := f.Scale(r, f.Num(2))
	// small: π/2 - r or π/2 + r; else 2r, or π - 2r for negative a.
	sign := f.And(f.Gt(a, f.Num(0)), f.Bits(signBit))
	c := DD{f.Where(small, f.Xor(r.Hi, sign), f.Neg(two.Hi)), f.Where(small, f.Xor(r.Lo, sign), f.Neg(two.Lo))}
	base := f.WhereDD(small, DD{f.con("halfPiHi"), f.con("halfPiLo")}, DD{f.con("piHi"), f.con("piLo")})
	y := f.Float(f.AddDD(base, c))
	return f.Where(f.AndNot(small, f.Ge(a, f.Num(0))), f.Float(two), y), None
}
