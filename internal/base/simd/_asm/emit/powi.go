package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// notTame is the mask of numbers outside (2⁻⁹⁰⁰, 2⁹⁰⁰), and of NaN.
func (f *Body) notTame(a V) V {
	x := f.Abs(a)
	return f.Or(f.NotGt(x, f.Num(0x1p-900)), f.NotLt(x, f.Num(0x1p900)))
}

// recipOf is 1/p, valid where p is tame.
func (f *Body) recipOf(p V) (V, V) { return f.Div(f.Num(1), p), f.notTame(p) }

// Recip2, Recip3 and Recip4 are the integer powers -2, -3 and -4.
func (f *Body) Recip2(a V) (V, V) { return f.recipOf(f.Mul(a, a)) }
func (f *Body) Recip3(a V) (V, V) { return f.recipOf(f.Mul(f.Mul(a, a), a)) }
func (f *Body) Recip4(a V) (V, V) { s := f.Mul(a, a); return f.recipOf(f.Mul(s, s)) }

// LongPower is the integer power of magnitude m > 0, or its reciprocal if negative is not 0,
// through the binary digits of m in double words: arguments out, a, n, m, negative. It returns a
// register with the number of elements done, as Elementary.Along does.
func LongPower(args Args) reg.GPVirtual {
	out, a := args.Load("out"), args.Load("a")
	n, i := args.Load("n"), GP64()
	zero(i)
	mask, x := YMM(), YMM()
	base, p := [2]reg.VecVirtual{YMM(), YMM()}, [2]reg.VecVirtual{YMM(), YMM()}
	bad := YMM()
	set := func(to [2]reg.VecVirtual, from []reg.VecVirtual) {
		VMOVAPD(from[0], to[0])
		VMOVAPD(from[1], to[1])
	}
	pinned := func(f *Body, r [2]reg.VecVirtual) DD { return DD{f.Pinned(r[0]), f.Pinned(r[1])} }
	VMOVUPD(Words(1<<64-1), mask)
	SUBQ(Imm(4), n)
	JL(LabelRef("short"))
	Label("loop")
	VMOVUPD(At(a, i), x)
	Label("compute")
	VMOVAPD(x, base[0])
	VXORPD(base[1], base[1], base[1])
	VMOVUPD(Words(oneBits), p[0])
	VXORPD(p[1], p[1], p[1])
	VXORPD(bad, bad, bad)
	m := args.Load("m")
	Label("digit")
	TESTQ(U32(1), m)
	JZ(LabelRef("square"))
	f := NewBody(nil)
	y := f.MulDD(pinned(f, p), pinned(f, base))
	set(p, f.Emit(y.Hi, y.Lo))
	Label("square")
	SHRQ(Imm(1), m)
	JZ(LabelRef("raised"))
	f = NewBody(nil)
	b := pinned(f, base)
	y = f.MulDD(b, b)
	r := f.Emit(y.Hi, y.Lo, f.Or(f.Pinned(bad), f.notTame(y.Hi)))
	set(base, r)
	VMOVAPD(r[2], bad)
	JMP(LabelRef("digit"))
	Label("raised")
	f = NewBody(nil)
	r = f.Emit(f.Or(f.Pinned(bad), f.notTame(f.Pinned(p[0]))))
	VANDPD(mask, r[0], r[0])
	any := GP64()
	VMOVMSKPD(r[0], any.As32())
	TESTL(any.As32(), any.As32())
	JNZ(LabelRef("done"))
	negative := args.Load("negative")
	TESTQ(negative, negative)
	JZ(LabelRef("positive"))
	f = NewBody(nil)
	y = f.DivDD(DD{f.Num(1), f.Num(0)}, pinned(f, p))
	set(p, f.Emit(y.Hi, y.Lo))
	Label("positive")
	VADDPD(p[1], p[0], x)
	CMPQ(n, Imm(0))
	JL(LabelRef("last"))
	VMOVUPD(x, At(out, i))
	ADDQ(Imm(4), i)
	SUBQ(Imm(4), n)
	JGE(LabelRef("loop"))
	Label("short")
	ADDQ(Imm(4), n)
	JZ(LabelRef("done"))
	Mask(n, mask)
	SUBQ(Imm(4), n)
	LoadMasked(At(a, i), mask, x)
	JMP(LabelRef("compute"))
	Label("last")
	StoreMasked(x, mask, At(out, i))
	LEAQ(Mem{Base: i, Index: n, Scale: 1, Disp: 4}, i)
	Label("done")
	return i
}
