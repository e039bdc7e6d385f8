package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quickLog2 is elem.QuickLog2 of normal positive numbers.
func (f *Body) quickLog2(x V) V {
	k, m, _ := f.split(x)
	one := f.Num(1)
	s := f.Div(f.Sub(m, one), f.Add(m, one))
	q := f.Mul(s, s)
	p := f.Horner([]float64{1, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11}, q)
	const twoOverLn2 = 2.8853900817779268
	return f.Fma(f.Mul(f.Num(twoOverLn2), s), p, k)
}

// quickExp2 is elem.QuickExp2 of numbers.
func (f *Body) quickExp2(x V) V {
	x = f.Lesser(f.Greater(x, f.Num(-1000)), f.Num(1000))
	k := f.Floor(f.Add(x, f.Num(0.5)))
	const ln2 = 0.6931471805599453
	r := f.Mul(f.Sub(x, k), f.Num(ln2))
	p := f.Horner([]float64{
		1, 1, 0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
	}, r)
	return f.Mul(p, f.power(f.Add(k, f.Num(toInteger))))
}

// Control writes what simd.Control defines: arguments factor, e, err, beta, last, before, beta2, beta3, safe, k, n.
func Control(args Args) {
	p := pointers(args, "factor", "e", "err", "beta", "last", "before")
	var c []reg.VecVirtual
	for _, name := range []string{"beta2", "beta3", "safe", "k"} {
		r := YMM()
		Broadcast(args.Float(name), r)
		c = append(c, r)
	}
	inFours(args.Load("n"), p, func() {
		f := NewBody(nil)
		err := here(f, p[2])
		e := f.Sub(f.quickLog2(f.Greater(err, f.Num(0x1p-100))), f.Pinned(c[2]))
		x := f.Mul(here(f, p[3]), e)
		x = f.Fma(f.Pinned(c[0]), here(f, p[4]), x)
		x = f.Fma(f.Pinned(c[1]), here(f, p[5]), x)
		x = f.Where(f.Gt(err, f.Num(1)), e, x)
		out := f.Emit(f.quickExp2(f.Div(f.Neg(x), f.Pinned(c[3]))), e)
		VMOVUPD(out[0], Mem{Base: p[0]})
		VMOVUPD(out[1], Mem{Base: p[1]})
	})
}
