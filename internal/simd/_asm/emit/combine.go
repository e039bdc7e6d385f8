package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Combine is out[i] = base[i] + h·Σ_j c[j]·k[row[j]·stride + i], fused, the first
// product rounded: arguments out, base, h, c, row, terms > 0, k, stride, n.
func Combine(args Args) {
	p := pointers(args, "out", "base", "c", "row", "k")
	out, base, c, row, k := p[0], p[1], p[2], p[3], p[4]
	h := YMM()
	Broadcast(args.Float("h"), h)
	stride, terms, n := bytes(args, "stride"), args.Load("terms"), args.Load("n")

	// chain runs all terms for some vectors, which then stand in acc.
	chain := func(acc []reg.VecVirtual, mask *reg.VecVirtual, label string) {
		read := func(m Mem, to reg.VecVirtual) {
			if mask == nil {
				VMOVUPD(m, to)
			} else {
				LoadMasked(m, *mask, to)
			}
		}
		j, at, s := GP64(), GP64(), YMM()
		locate := func() {
			MOVQ(Mem{Base: row, Index: j, Scale: 8}, at)
			IMULQ(stride, at)
			ADDQ(k, at)
			Broadcast(At(c, j), s)
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
			StoreMasked(x, *mask, Mem{Base: out, Disp: 32 * v})
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
	Mask(n, mask)
	chain(registers(1), &mask, "last")
	Label("done")
}
