package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"odes.dev/odes/internal/simd/_asm/emit"
)

// combinations writes
// out[i] = base[i] + h·(c[0]·k[row[0]·stride + i] + c[1]·k[row[1]·stride + i] + …).
func combinations() {
	TEXT("combine", NOSPLIT, "func(out, base *float64, h float64, c *float64, row *int, terms int, k *float64, stride, n int)")
	Doc("combine sets out[i] = base[i] + h·Σ_j c[j]·k[row[j]·stride + i], fused, the first product rounded.")
	Pragma("noescape")
	p := pointers("out", "base", "c", "row", "k")
	out, base, c, row, k := p[0], p[1], p[2], p[3], p[4]
	h := YMM()
	hm, err := Param("h").Resolve()
	if err != nil {
		panic(err)
	}
	emit.Broadcast(hm.Addr, h)
	stride, terms, n := bytes("stride"), param("terms"), param("n")

	// chain runs all terms for some vectors, which then stand in acc.
	chain := func(acc []reg.VecVirtual, mask *reg.VecVirtual, label string) {
		read := func(m Mem, to reg.VecVirtual) {
			if mask == nil {
				VMOVUPD(m, to)
			} else {
				emit.LoadMasked(m, *mask, to)
			}
		}
		j, at, s := GP64(), GP64(), YMM()
		locate := func() {
			MOVQ(Mem{Base: row, Index: j, Scale: 8}, at)
			IMULQ(stride, at)
			ADDQ(k, at)
			emit.Broadcast(emit.At(c, j), s)
		}
		zero(j)
		locate()
		for v, x := range acc {
			read(Mem{Base: at, Disp: 32 * v}, x)
			VMULPD(s, x, x)
		}
		INCQ(j)
		CMPQ(j, terms)
		JGE(LabelRef(label + "closed"))
		Label(label + "term")
		locate()
		for v, x := range acc {
			if mask == nil {
				VFMADD231PD(Mem{Base: at, Disp: 32 * v}, s, x)
				continue
			}
			y := YMM()
			read(Mem{Base: at, Disp: 32 * v}, y)
			VFMADD231PD(y, s, x)
		}
		INCQ(j)
		CMPQ(j, terms)
		JLT(LabelRef(label + "term"))
		Label(label + "closed")
		for v, x := range acc {
			m := Mem{Base: base, Disp: 32 * v}
			if mask == nil {
				VFMADD213PD(m, h, x)
				VMOVUPD(x, Mem{Base: out, Disp: 32 * v})
				continue
			}
			y := YMM()
			read(m, y)
			VFMADD213PD(y, h, x)
			emit.StoreMasked(x, *mask, Mem{Base: out, Disp: 32 * v})
		}
	}
	advance := func(by uint64) {
		ADDQ(U32(by), out)
		ADDQ(U32(by), base)
		ADDQ(U32(by), k)
	}
	registers := func(n int) []reg.VecVirtual {
		acc := make([]reg.VecVirtual, n)
		for v := range acc {
			acc[v] = YMM()
		}
		return acc
	}
	const vecs = 6
	SUBQ(Imm(4*vecs), n)
	JL(LabelRef("short"))
	Label("wide")
	chain(registers(vecs), nil, "wide")
	advance(32 * vecs)
	SUBQ(Imm(4*vecs), n)
	JGE(LabelRef("wide"))
	Label("short")
	ADDQ(Imm(4*vecs-4), n)
	JL(LabelRef("end"))
	Label("four")
	chain(registers(1), nil, "four")
	advance(32)
	SUBQ(Imm(4), n)
	JGE(LabelRef("four"))
	Label("end")
	ADDQ(Imm(4), n)
	JZ(LabelRef("done"))
	mask := YMM()
	emit.Mask(n, mask)
	chain(registers(1), &mask, "last")
	Label("done")
	VZEROUPPER()
	RET()
}

// reductions writes sums over 8 partials, element i in partial i mod 8.
func reductions() {
	TEXT("sumV", NOSPLIT, "func(partial, x *float64, n int)")
	Doc("sumV adds x[i] to partial[i mod 8].")
	Pragma("noescape")
	partials(1, func(s reg.VecVirtual, x []reg.VecVirtual) { VADDPD(x[0], s, s) })
	TEXT("dotV", NOSPLIT, "func(partial, x, y *float64, n int)")
	Doc("dotV adds x[i]·y[i] to partial[i mod 8], fused.")
	Pragma("noescape")
	partials(2, func(s reg.VecVirtual, x []reg.VecVirtual) { VFMADD231PD(x[0], x[1], s) })
}

func partials(arity int, add func(s reg.VecVirtual, x []reg.VecVirtual)) {
	partial, in := pointers("partial")[0], pointers([]string{"x", "y"}[:arity]...)
	n := param("n")
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
					emit.LoadMasked(m, mask[v], x[k])
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
	eight(threeMasks(n)[:2])
	Label("done")
	for v := range s {
		VMOVUPD(s[v], Mem{Base: partial, Disp: 32 * v})
	}
	VZEROUPPER()
	RET()
}
