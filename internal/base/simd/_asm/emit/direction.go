package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// inFours runs body for each four of n elements, a multiple of four. Pointers of p advance with them.
func inFours(n reg.GPVirtual, p []reg.Register, body func()) {
	SUBQ(Imm(4), n)
	JL(LabelRef("done"))
	Label("four")
	body()
	for _, q := range p {
		ADDQ(Imm(32), q)
	}
	SUBQ(Imm(4), n)
	JGE(LabelRef("four"))
	Label("done")
}

// here loads four elements.
func here(f *Body, p reg.Register) V {
	r := YMM()
	VMOVUPD(Mem{Base: p}, r)
	return f.Input(r)
}

// Turn makes v[i] the difference (k[i] - f[i])·by. Of a[i] = v[i]·per[i] after and b[i] before, it adds a[i]·b[i] to
// dot[i mod 4] and a[i]² to square[i mod 4], fused, and takes |a[i]| into most[i mod 4] where it is greater: arguments
// dot, square, most, v, k, f, per, by, n. Without a difference v stays, and there is no dot: arguments square, most, v,
// per, n.
func Turn(args Args, difference bool) {
	names := []string{"square", "most"}
	if difference {
		names = append(names, "dot")
	}
	to := pointers(args, names...)
	v, per := args.Load("v"), args.Load("per")
	in := []reg.Register{v, per}
	by := YMM()
	if difference {
		in = append(in, args.Load("k"), args.Load("f"))
		Broadcast(args.Float("by"), by)
	}
	s := make([]reg.VecVirtual, len(to))
	for i := range s {
		s[i] = YMM()
		VMOVUPD(Mem{Base: to[i]}, s[i])
	}
	inFours(args.Load("n"), in, func() {
		f := NewBody(nil)
		scale := here(f, per)
		a := f.Mul(here(f, v), scale)
		var turned, before V
		if difference {
			before = a
			turned = f.Mul(f.Sub(here(f, in[2]), here(f, in[3])), f.Pinned(by))
			a = f.Mul(turned, scale)
		}
		out := []V{f.Fma(a, a, f.Pinned(s[0])), f.Greater(f.Abs(a), f.Pinned(s[1]))}
		if difference {
			out = append(out, f.Fma(a, before, f.Pinned(s[2])), turned)
		}
		got := f.Emit(out...)
		for i, x := range s {
			VMOVAPD(got[i], x)
		}
		if difference {
			VMOVUPD(got[3], Mem{Base: v})
		}
	})
	for i, x := range s {
		VMOVUPD(x, Mem{Base: to[i]})
	}
}

// Tolerable writes size[i] = abs + rel·max(|y[i]|, |h·f[i]|), fused, and per[i] = 1/size[i]: arguments size, per, y, f,
// h, rel, abs, n.
func Tolerable(args Args) {
	p := pointers(args, "size", "per", "y", "f")
	var c []reg.VecVirtual
	for _, name := range []string{"h", "rel", "abs"} {
		r := YMM()
		Broadcast(args.Float(name), r)
		c = append(c, r)
	}
	inFours(args.Load("n"), p, func() {
		f := NewBody(nil)
		change := f.Abs(f.Mul(f.Pinned(c[0]), here(f, p[3])))
		size := f.Fma(f.Pinned(c[1]), f.Max(f.Abs(here(f, p[2])), change), f.Pinned(c[2]))
		out := f.Emit(size, f.Div(f.Num(1), size))
		VMOVUPD(out[0], Mem{Base: p[0]})
		VMOVUPD(out[1], Mem{Base: p[1]})
	})
}

// Constants of SplitMix64.
const (
	splitMixStep = 0x9e3779b97f4a7c15
	splitMix1    = 0xbf58476d1ce4e5b9
	splitMix2    = 0x94d049bb133111eb
)

// Perturb adds u·by, rounded, times size[i] to v[i], fused: u in [-1, 1) is what the finalizer of SplitMix64 makes of a
// number that begins at seed and grows by its step from element to element. Arguments v, size, by, seeds, which are
// those of the first four, n.
func Perturb(args Args) {
	p := pointers(args, "v", "size")
	by, seed, step := YMM(), YMM(), YMM()
	Broadcast(args.Float("by"), by)
	VMOVUPD(Mem{Base: args.Load("seeds")}, seed)
	const four = splitMixStep * 4 % (1 << 64)
	VMOVUPD(Words(four), step)
	inFours(args.Load("n"), p, func() {
		f := NewBody(nil)
		x := f.Pinned(seed)
		x = f.MulInt(f.Xor(x, f.ShiftRight(x, 30)), splitMix1)
		x = f.MulInt(f.Xor(x, f.ShiftRight(x, 27)), splitMix2)
		u := f.Mul(f.ToFloat(f.Xor(x, f.ShiftRight(x, 31))), f.Num(0x1p-63))
		out := f.Emit(f.Fma(f.Mul(u, f.Pinned(by)), here(f, p[1]), here(f, p[0])))
		VMOVUPD(out[0], Mem{Base: p[0]})
		VPADDQ(step, seed, seed)
	})
}
