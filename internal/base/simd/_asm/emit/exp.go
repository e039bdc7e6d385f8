package emit

import "math"

// None says that a function is valid in all lanes.
const None V = -1

// The functions below have the body of the functions of the same name in internal/base/elem. They return
// the result and a mask of the lanes where it is not valid, which the scalar function must compute
// instead. The mask is None if there are no such lanes.

const (
	toInteger     = 0x1.8p52
	toIntegerBits = 0x4338000000000000
	expMax        = 709.782712893384
	expMin        = -745.1332191019412
	minNormal     = 0x1p-1022
)

func (f *Body) con(name string) V {
	x, ok := f.coef[name]
	if !ok || len(x) != 1 {
		panic("emit: no constant " + name)
	}
	return f.Num(x[0])
}

func (f *Body) table(name string) []float64 {
	x, ok := f.coef[name]
	if !ok || len(x) < 2 {
		panic("emit: no table " + name)
	}
	return x
}

// reduced is x + xl = k·ln 2 + r, q = exp(r) - 1; bits holds k in its low bits, as toInteger + k.
type reduced struct {
	bits V
	q    DD
}

func (f *Body) expReduce(x, xl V) reduced {
	t := f.Fma(x, f.con("log2E"), f.Num(toInteger))
	k := f.Sub(t, f.Num(toInteger))
	h := f.Fma(f.Neg(k), f.con("ln2Short"), x)
	c := f.Fma(k, f.con("ln2Rest"), f.Neg(xl))
	r := f.Sub(h, c)
	rl := f.Sub(f.Sub(h, r), c)
	p := f.Horner(f.table("expCoef"), r)
	z := f.Mul(r, r)
	u := f.Fma(z, p, f.Fma(rl, r, rl))
	s := f.Add(r, u)
	return reduced{t, DD{s, f.Add(f.Sub(r, s), u)}}
}

// onePlus is 1 + q.
func (f *Body) onePlus(q DD) DD {
	one := f.Num(1)
	s := f.Add(q.Hi, one)
	return DD{s, f.Add(f.Add(f.Sub(one, s), q.Hi), q.Lo)}
}

// scaled is m·2ᵏ in two steps.
func (f *Body) scaled(m, bits V) V {
	u := f.AddInt(bits, f.Bits(2048+1<<64-toIntegerBits))
	return f.twoSteps(m, u)
}

// twoSteps is m·2ⁱ for u = i + 2048, as 2ʲ·2ⁱ⁻ʲ with j = ⌊i/2⌋.
func (f *Body) twoSteps(m, u V) V {
	s := f.ShiftRight(u, 1)
	minus := f.Bits(1<<64 - 1)
	a := f.ShiftLeft(f.AddInt(s, minus), 52)
	b := f.ShiftLeft(f.AddInt(f.SubInt(u, s), minus), 52)
	return f.Mul(f.Mul(m, a), b)
}

// power is 2ᵏ where it is normal.
func (f *Body) power(bits V) V {
	return f.ShiftLeft(f.AddInt(bits, f.Bits(1023+1<<64-toIntegerBits)), 52)
}

// Exp is e to the power a.
func (f *Body) Exp(a V) (V, V) {
	x := f.Greater(f.Lesser(a, f.Num(expMax)), f.Num(expMin))
	k := f.expReduce(x, f.Num(0))
	e := f.onePlus(k.q)
	r := f.scaled(f.Float(e), k.bits)
	r = f.Where(f.Gt(a, f.Num(expMax)), f.Num(math.Inf(1)), r)
	r = f.AndNot(f.Lt(a, f.Num(expMin)), r)
	return f.Where(f.IsNaN(a), a, r), None
}

func (f *Body) expm1DD(x V) DD {
	k := f.expReduce(x, f.Num(0))
	s := f.power(k.bits)
	u := f.TwoSum(s, f.Num(-1))
	v := f.TwoSum(u.Hi, f.Mul(s, k.q.Hi))
	return f.QuickTwoSum(v.Hi, f.Fma(s, k.q.Lo, f.Add(v.Lo, u.Lo)))
}

// growth is expm1DD for x ≥ 0.
func (f *Body) growth(x V) DD {
	k := f.expReduce(x, f.Num(0))
	s := f.power(k.bits)
	u := f.QuickTwoSum(s, f.Num(-1))
	v := f.QuickTwoSum(u.Hi, f.Mul(s, k.q.Hi))
	return f.QuickTwoSum(v.Hi, f.Fma(s, k.q.Lo, f.Add(v.Lo, u.Lo)))
}

// Expm1 is exp(a) - 1.
func (f *Body) Expm1(a V) (V, V) {
	x := f.Greater(f.Lesser(a, f.Num(60)), f.Num(-60))
	r := f.Float(f.expm1DD(x))
	return f.Where(f.EqOrNaN(a, f.Num(0)), a, r), f.Gt(a, f.Num(60))
}

// Sinh is the hyperbolic sine.
func (f *Body) Sinh(a V) (V, V) {
	x := f.Abs(a)
	e := f.growth(x)
	r := f.Mul(f.Num(0.5), f.Float(f.AddDD(e, f.DivDD(e, f.AddFloat(e, f.Num(1))))))
	return f.Where(f.NotGe(x, f.Num(0x1p-28)), a, f.Copysign(r, a)), f.Ge(x, f.Num(40))
}

// Cosh is the hyperbolic cosine.
func (f *Body) Cosh(a V) (V, V) {
	x := f.Abs(a)
	k := f.expReduce(x, f.Num(0))
	e := f.Scale(f.onePlus(k.q), f.power(k.bits))
	inv := f.DivDD(DD{f.Num(1), f.Num(0)}, e)
	return f.Mul(f.Num(0.5), f.Float(f.AddDD(e, inv))), f.NotLt(x, f.Num(40))
}

// Tanh is the hyperbolic tangent.
func (f *Body) Tanh(a V) (V, V) {
	x := f.Lesser(f.Abs(a), f.Num(22))
	x = f.Add(x, x)
	k := f.expReduce(x, f.Num(0))
	two := f.power(k.bits)
	e := f.Scale(k.q, two)
	num := f.QuickTwoSum(f.Sub(two, f.Num(1)), e.Hi)
	den := f.QuickTwoSum(f.Add(two, f.Num(1)), e.Hi)
	y := f.Quotient(DD{num.Hi, f.Add(num.Lo, e.Lo)}, DD{den.Hi, f.Add(den.Lo, e.Lo)})
	y = f.Where(f.Gt(f.Abs(a), f.Num(16)), f.Fma(f.Num(-2), f.Div(f.Num(1), den.Hi), f.Num(1)), y)
	return f.Where(f.NotGe(f.Abs(a), f.Num(0x1p-28)), a, f.Copysign(y, a)), None
}

// Sigmoid is 1/(1 + exp(-a)).
func (f *Body) Sigmoid(a V) (V, V) {
	x := f.Greater(f.Or(a, f.Bits(signBit)), f.Num(-60))
	k := f.expReduce(x, f.Num(0))
	e := f.Scale(f.onePlus(k.q), f.power(k.bits))
	num := f.WhereDD(f.Lt(a, f.Num(0)), e, DD{f.Num(1), f.Num(0)})
	d := f.QuickTwoSum(f.Num(1), e.Hi)
	d = f.QuickTwoSum(d.Hi, f.Add(d.Lo, e.Lo))
	r := f.Quotient(num, d)
	return f.Where(f.IsNaN(a), a, r), f.Lt(a, f.Num(-60))
}
