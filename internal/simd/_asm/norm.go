package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"odes.dev/odes/internal/simd/_asm/emit"
)

// norms writes normV and normS, for tolerances of their own and one for all.
func norms() {
	TEXT("normV", NOSPLIT, "func(square, most, e, y0, y1, abs *float64, rel float64, n int) (bad int)")
	Doc("normV adds the squares of |e[i]|/sc[i] to square[i mod 8] and takes them into most[0:4]; bad if a scale is not finite.")
	Pragma("noescape")
	norm(false)
	TEXT("normS", NOSPLIT, "func(square, most, e, y0, y1, abs *float64, rel float64, n int) (bad int)")
	Doc("normS is normV for one abs.")
	Pragma("noescape")
	norm(true)
}

func norm(scalar bool) {
	p := pointers("square", "most", "e", "y0", "y1", "abs")
	square, most, in := p[0], p[1], p[2:]
	rel, m, bad, abs := YMM(), YMM(), YMM(), YMM()
	address, err := Param("rel").Resolve()
	if err != nil {
		panic(err)
	}
	emit.Broadcast(address.Addr, rel)
	VMOVUPD(Mem{Base: most}, m)
	VXORPD(bad, bad, bad)
	s := []reg.VecVirtual{YMM(), YMM()}
	for v := range s {
		VMOVUPD(Mem{Base: square, Disp: 32 * v}, s[v])
	}
	if scalar {
		emit.Broadcast(Mem{Base: in[3]}, abs)
		in = in[:3]
	}
	n := param("n")
	eight := func(masks []reg.VecVirtual) {
		for v := range s {
			f := emit.NewBody(nil)
			var x []val
			for _, p := range in {
				r := YMM()
				if at := (Mem{Base: p, Disp: 32 * v}); masks == nil {
					VMOVUPD(at, r)
				} else {
					emit.LoadMasked(at, masks[v], r)
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
	eight(threeMasks(n)[:2])
	Label("done")
	for v := range s {
		VMOVUPD(s[v], Mem{Base: square, Disp: 32 * v})
	}
	VMOVUPD(m, Mem{Base: most})
	r := GP64()
	VMOVMSKPD(bad, r.As32())
	VZEROUPPER()
	Store(r, ReturnIndex(0))
	RET()
}
