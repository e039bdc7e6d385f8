package emit

// DD is a number as the unevaluated sum of two vectors, as dd in internal/base/elem.
type DD struct{ Hi, Lo V }

// TwoSum is a + b exactly.
func (f *Body) TwoSum(a, b V) DD {
	s := f.Add(a, b)
	t := f.Sub(s, a)
	return DD{s, f.Add(f.Sub(a, f.Sub(s, t)), f.Sub(b, t))}
}

// QuickTwoSum is a + b exactly where |a| ≥ |b| or a = 0.
func (f *Body) QuickTwoSum(a, b V) DD {
	s := f.Add(a, b)
	return DD{s, f.Add(f.Sub(a, s), b)}
}

// TwoMul is a·b exactly.
func (f *Body) TwoMul(a, b V) DD {
	p := f.Mul(a, b)
	return DD{p, f.Fma(a, b, f.Neg(p))}
}

// NegDD is -a.
func (f *Body) NegDD(a DD) DD { return DD{f.Neg(a.Hi), f.Neg(a.Lo)} }

// AddDD is a + b.
func (f *Body) AddDD(a, b DD) DD {
	s := f.TwoSum(a.Hi, b.Hi)
	t := f.TwoSum(a.Lo, b.Lo)
	v := f.QuickTwoSum(s.Hi, f.Add(s.Lo, t.Hi))
	return f.QuickTwoSum(v.Hi, f.Add(t.Lo, v.Lo))
}

// AddFloat is a + b.
func (f *Body) AddFloat(a DD, b V) DD {
	s := f.TwoSum(a.Hi, b)
	return f.QuickTwoSum(s.Hi, f.Add(s.Lo, a.Lo))
}

// MulDD is a·b.
func (f *Body) MulDD(a, b DD) DD {
	p := f.TwoMul(a.Hi, b.Hi)
	return f.QuickTwoSum(p.Hi, f.Add(p.Lo, f.Fma(a.Hi, b.Lo, f.Mul(a.Lo, b.Hi))))
}

// MulFloat is a·b.
func (f *Body) MulFloat(a DD, b V) DD {
	p := f.TwoMul(a.Hi, b)
	return f.QuickTwoSum(p.Hi, f.Fma(a.Lo, b, p.Lo))
}

// Scale is a·s for powers of two s.
func (f *Body) Scale(a DD, s V) DD { return DD{f.Mul(a.Hi, s), f.Mul(a.Lo, s)} }

// DivDD is a/b.
func (f *Body) DivDD(a, b DD) DD {
	q := f.Div(a.Hi, b.Hi)
	r := f.Add(f.Fma(f.Neg(q), b.Hi, a.Hi), f.Fma(f.Neg(q), b.Lo, a.Lo))
	return f.QuickTwoSum(q, f.Div(r, b.Hi))
}

// Quotient is a/b, rounded once.
func (f *Body) Quotient(a, b DD) V {
	inv := f.Div(f.Num(1), b.Hi)
	q := f.Mul(a.Hi, inv)
	r := f.Add(f.Fma(f.Neg(q), b.Hi, a.Hi), f.Fma(f.Neg(q), b.Lo, a.Lo))
	return f.Fma(r, inv, q)
}

// SqrtDD is √a.
func (f *Body) SqrtDD(a DD) DD {
	s := f.Sqrt(a.Hi)
	r := f.Add(f.Fma(f.Neg(s), s, a.Hi), a.Lo)
	return f.QuickTwoSum(s, f.Div(r, f.Mul(f.Num(2), s)))
}

// Float is the nearest float.
func (f *Body) Float(a DD) V { return f.Add(a.Hi, a.Lo) }

// WhereDD is mask ? a : b.
func (f *Body) WhereDD(mask V, a, b DD) DD {
	return DD{f.Where(mask, a.Hi, b.Hi), f.Where(mask, a.Lo, b.Lo)}
}

// Horner is Σ c[i]·xⁱ by fused multiply-adds.
func (f *Body) Horner(c []float64, x V) V {
	p := f.Num(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		p = f.Fma(p, x, f.Num(c[i]))
	}
	return p
}
