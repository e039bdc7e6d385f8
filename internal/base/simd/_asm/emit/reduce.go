package emit

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Sum adds x[i] to partial[i mod 8]: arguments partial, x, n.
func Sum(args Args) {
	partials(args, 1, func(s reg.VecVirtual, x []reg.VecVirtual) { VADDPD(x[0], s, s) })
}

// Dot adds x[i]·y[i] to partial[i mod 8], fused: arguments partial, x, y, n.
func Dot(args Args) {
	partials(args, 2, func(s reg.VecVirtual, x []reg.VecVirtual) { VFMADD231PD(x[0], x[1], s) })
}

func partials(args Args, arity int, add func(s reg.VecVirtual, x []reg.VecVirtual)) {
	partial, in := args.Load("partial"), pointers(args, []string{"x", "y"}[:arity]...)
	n := args.Load("n")
	s := []reg.VecVirtual{YMM(), YMM()}
	for v := range s {
		VMOVUPD(Mem{Base: partial, Disp: 32 * v}, s[v])
	}
	eight := func(mask []reg.VecVirtual) {
		for v := range s {
			x := make([]reg.VecVirtual, arity)
			for k, p := range in {
				x[k] = YMM()
				if m := (Mem{Base: p, Disp: 32 * v}); mask == nil {
					VMOVUPD(m, x[k])
				} else {
					LoadMasked(m, mask[v], x[k])
				}
			}
			if mask == nil {
				add(s[v], x)
				continue
			}
			y := YMM()
			VMOVAPD(s[v], y)
			add(y, x)
			VBLENDVPD(mask[v], y, s[v], s[v])
		}
	}
	SUBQ(Imm(8), n)
	JL(LabelRef("short"))
	Label("eight")
	eight(nil)
	for _, p := range in {
		ADDQ(Imm(64), p)
	}
	SUBQ(Imm(8), n)
	JGE(LabelRef("eight"))
	Label("short")
	ADDQ(Imm(8), n)
	JZ(LabelRef("done"))
	eight(masks(n, 2))
	Label("done")
	for v := range s {
		VMOVUPD(s[v], Mem{Base: partial, Disp: 32 * v})
	}
}

// ScaledSquares adds the squares of |e[i]|/sc[i] to square[i mod 8], fused, and
// takes the quotients into the maxima most[0:4], NaN if one is;
// sc[i] = abs[i] + rel·max(|y0[i]|, |y1[i]|). Arguments square, most, e, y0, y1,
// abs, of which scalar means one for all, rel, n. It returns a register that is
// not 0 if a scale was infinite or NaN.
func ScaledSquares(args Args, scalar bool) reg.GPVirtual {
	p := pointers(args, "square", "most", "e", "y0", "y1", "abs")
	square, most, in := p[0], p[1], p[2:]
	rel, m, bad, abs := YMM(), YMM(), YMM(), YMM()
	Broadcast(args.Float("rel"), rel)
	VMOVUPD(Mem{Base: most}, m)
	VXORPD(bad, bad, bad)
	s := []reg.VecVirtual{YMM(), YMM()}
	for v := range s {
		VMOVUPD(Mem{Base: square, Disp: 32 * v}, s[v])
	}
	if scalar {
		Broadcast(Mem{Base: in[3]}, abs)
		in = in[:3]
	}
	n := args.Load("n")
	eight := func(masks []reg.VecVirtual) {
		for v := range s {
			f := NewBody(nil)
			var x []V
			for _, p := range in {
				r := YMM()
				if at := (Mem{Base: p, Disp: 32 * v}); masks == nil {
					VMOVUPD(at, r)
				} else {
					LoadMasked(at, masks[v], r)
				}
				x = append(x, f.Input(r))
			}
			if scalar {
				x = append(x, f.Pinned(abs))
			}
			y0, y1 := f.Abs(x[1]), f.Abs(x[2])
			sc := f.Fma(f.Pinned(rel), f.Greater(y0, y1), x[3])
			zero := f.Num(0)
			q := f.And(f.Or(f.Ne(x[0], zero), f.Ne(sc, zero)), f.Div(f.Abs(x[0]), sc))
			wrong := f.Or(f.NotLe(sc, f.Num(math.MaxFloat64)), f.Unordered(y0, y1))
			out := f.Emit(f.Fma(q, q, f.Pinned(s[v])), f.Max(f.Pinned(m), q), f.Or(f.Pinned(bad), wrong))
			VMOVAPD(out[0], s[v])
			VMOVAPD(out[1], m)
			VMOVAPD(out[2], bad)
		}
	}
	SUBQ(Imm(8), n)
	JL(LabelRef("short"))
	Label("eight")
	eight(nil)
	for _, p := range in {
		ADDQ(Imm(64), p)
	}
	SUBQ(Imm(8), n)
	JGE(LabelRef("eight"))
	Label("short")
	ADDQ(Imm(8), n)
	JZ(LabelRef("done"))
	eight(masks(n, 2))
	Label("done")
	for v := range s {
		VMOVUPD(s[v], Mem{Base: square, Disp: 32 * v})
	}
	VMOVUPD(m, Mem{Base: most})
	r := GP64()
	VMOVMSKPD(bad, r.As32())
	return r
}
