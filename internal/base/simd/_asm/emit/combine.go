package emit

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Combine is out[i] = base[i] + h·Σ_j c[j]·k[row[j]·stride + i], fused, the first
// product rounded: arguments out, base, h, c, row, terms > 0, k, stride, n.
func Combine(args Args) {
	combine(args, four, []int{6, 1})
}

// CombineWide is Combine with vectors of eight.
func CombineWide(args Args) {
	combine(args, eight, []int{6, 2, 1})
}

// wideMask is the mask of the last vector of eight.
var wideMask = reg.K1

// setWideMask sets its first n elements.
func setWideMask(n reg.Register) { setMask(n, wideMask) }

// setMask sets the first n ≥ 0 elements of a mask.
func setMask(n, mask reg.Register) {
	bits := GP64()
	MOVQ(I32(-1), bits)
	BZHIQ(n, bits, bits)
	KMOVW(bits.As32(), mask)
}

// shape is a kind of vector.
type shape struct {
	bytes int
	reg   func() reg.VecVirtual
	load  func(m Mem, mask, to reg.VecVirtual)
	store func(x, mask reg.VecVirtual, m Mem)
	mask  func(n reg.Register, to reg.VecVirtual) // of the first n elements
}

// The vectors of four, and those of eight, whose mask is always in wideMask.
var (
	four  = shape{32, YMM, LoadMasked, StoreMasked, Mask}
	eight = shape{
		64, ZMM,
		func(m Mem, mask, to reg.VecVirtual) { VMOVUPD_Z(m, wideMask, to) },
		func(x, mask reg.VecVirtual, m Mem) { VMOVUPD(x, wideMask, m) },
		func(n reg.Register, _ reg.VecVirtual) { setWideMask(n) },
	}
)

// combine processes the elements in blocks; blocks lists their lengths in vectors.
func combine(args Args, is shape, blocks []int) {
	p := pointers(args, "out", "base", "c", "row", "k")
	out, base, c, row, k := p[0], p[1], p[2], p[3], p[4]
	h := is.reg()
	Broadcast(args.Float("h"), h)
	stride, terms, n := bytes(args, "stride"), args.Load("terms"), args.Load("n")

	// chain runs all terms for some vectors and leaves the results in acc.
	chain := func(acc []reg.VecVirtual, mask *reg.VecVirtual, label string) {
		read := func(m Mem, to reg.VecVirtual) {
			if mask == nil {
				VMOVUPD(m, to)
			} else {
				is.load(m, *mask, to)
			}
		}
		j, at, s := GP64(), GP64(), is.reg()
		locate := func() {
			MOVQ(Mem{Base: row, Index: j, Scale: 8}, at)
			IMULQ(stride, at)
			ADDQ(k, at)
			Broadcast(At(c, j), s)
		}
		zero(j)
		locate()
		for v, x := range acc {
			read(Mem{Base: at, Disp: is.bytes * v}, x)
			VMULPD(s, x, x)
		}
		INCQ(j)
		CMPQ(j, terms)
		JGE(LabelRef(label + "closed"))
		Label(label + "term")
		locate()
		for v, x := range acc {
			if mask == nil {
				VFMADD231PD(Mem{Base: at, Disp: is.bytes * v}, s, x)
				continue
			}
			y := is.reg()
			read(Mem{Base: at, Disp: is.bytes * v}, y)
			VFMADD231PD(y, s, x)
		}
		INCQ(j)
		CMPQ(j, terms)
		JLT(LabelRef(label + "term"))
		Label(label + "closed")
		for v, x := range acc {
			m := Mem{Base: base, Disp: is.bytes * v}
			if mask == nil {
				VFMADD213PD(m, h, x)
				VMOVUPD(x, Mem{Base: out, Disp: is.bytes * v})
				continue
			}
			y := is.reg()
			read(m, y)
			VFMADD213PD(y, h, x)
			is.store(x, *mask, Mem{Base: out, Disp: is.bytes * v})
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
			acc[v] = is.reg()
		}
		return acc
	}
	each := is.bytes / 8
	for _, vecs := range blocks {
		label := fmt.Sprintf("by%d", vecs)
		SUBQ(Imm(uint64(each*vecs)), n)
		JL(LabelRef(label + "none"))
		Label(label)
		chain(registers(vecs), nil, label)
		advance(uint64(is.bytes * vecs))
		SUBQ(Imm(uint64(each*vecs)), n)
		JGE(LabelRef(label))
		Label(label + "none")
		ADDQ(Imm(uint64(each*vecs)), n)
	}
	TESTQ(n, n)
	JZ(LabelRef("done"))
	mask := is.reg()
	is.mask(n, mask)
	chain(registers(1), &mask, "last")
	Label("done")
}
