package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"odes.dev/odes/internal/base/simd/_asm/emit"
)

// renamed reads the arguments of a kernel from fields of the record with other names, or computes
// them.
type renamed map[string]any

func (f renamed) Load(name string) reg.GPVirtual {
	switch from := f[name].(type) {
	case string:
		return record{parked: true}.Load(from)
	case int:
		r := GP64()
		MOVQ(U32(uint64(from)), r)
		return r
	case func() reg.GPVirtual:
		return from()
	}
	panic("no argument " + name)
}

func (f renamed) Float(name string) Mem { return record{}.Float(name) }

// products writes the handlers of products with a matrix. They start from zero. Strides of rows are
// in the field c.
func products() {
	vectors := renamed{"y": "out", "a": "a", "x": "b", "rows": "rows", "cols": "lanes", "as": "stride", "from": 0}
	handler("matvec", func() { parking(func() { emit.MatVec(vectors) }) })
	handler("matvec transposed", func() { parking(func() { emit.MatVecT(vectors) }) })
	handler("matvec transposed wide", func() { parking(func() { emit.MatVecTWide(vectors) }) })
	four, eight, several := laned(4), laned(8), laned("stride")
	handler("matvec lanes/4", func() { parking(func() { emit.LaneProduct4(four) }) })
	handler("matvec lanes/8", func() { parking(func() { emit.LaneProduct8(eight) }) })
	handler("matvec lanes/8 wide", func() { parking(func() { emit.LaneProductWide(eight) }) })
	handler("matvec lanes wide", func() { parking(func() { emit.LaneProductTwo(several) }) })
}

// laned returns the arguments of a product of a packed matrix and a vector in each lane. Its
// argument is the number of lanes, or the field that holds it.
func laned(lanes any) renamed {
	return renamed{
		"y": "out", "a": "a", "z": "b", "rows": "rows", "inner": "lanes",
		"ys": lanes, "zs": lanes, "lanes": lanes, "from": 0,
		"as": func() reg.GPVirtual { // six times the inner length
			r := record{parked: true}.Load("lanes")
			LEAQ(Mem{Base: r, Index: r, Scale: 2}, r)
			ADDQ(r, r)
			return r
		},
	}
}

// sums writes the handlers of sum and dot of n elements.
func sums() {
	handler("sum", func() { sum(1, func(s reg.VecVirtual, x []reg.VecVirtual) { VADDPD(x[0], s, s) }) })
	handler("dot", func() { sum(2, func(s reg.VecVirtual, x []reg.VecVirtual) { VFMADD231PD(x[0], x[1], s) }) })
}

// sum adds to 8 partial sums from zero, element i to number i mod 8, and combines these by the tree
// ((0+4)+(2+6))+((1+5)+(3+7)).
func sum(arity int, add func(s reg.VecVirtual, x []reg.VecVirtual)) {
	in := []reg.Register{record{}.Load("a"), record{}.Load("b")}[:arity]
	n := record{}.Load("n")
	s := []reg.VecVirtual{YMM(), YMM()}
	load := func(p reg.Register, v int, mask *reg.VecVirtual) reg.VecVirtual {
		x := YMM()
		if m := (Mem{Base: p, Disp: 32 * v}); mask == nil {
			VMOVUPD(m, x)
		} else {
			emit.LoadMasked(m, *mask, x)
		}
		return x
	}
	loads := func(v int, mask *reg.VecVirtual) (x []reg.VecVirtual) {
		for _, p := range in {
			x = append(x, load(p, v, mask))
		}
		return x
	}
	tail := func(v int) {
		mask := YMM()
		emit.Mask(n, mask)
		y := YMM()
		VMOVAPD(s[v], y)
		add(y, loads(v, &mask))
		VBLENDVPD(mask, y, s[v], s[v])
	}
	for v := range s {
		VXORPD(s[v], s[v], s[v])
	}
	SUBQ(Imm(8), n)
	JL(LabelRef("short"))
	Label("eight")
	for v := range s {
		add(s[v], loads(v, nil))
	}
	for _, p := range in {
		ADDQ(Imm(64), p)
	}
	SUBQ(Imm(8), n)
	JGE(LabelRef("eight"))
	Label("short")
	ADDQ(Imm(4), n)
	JL(LabelRef("three"))
	add(s[0], loads(0, nil))
	tail(1)
	JMP(LabelRef("tree"))
	Label("three")
	ADDQ(Imm(4), n)
	tail(0)
	Label("tree")
	VADDPD(s[1], s[0], s[0])
	high := XMM()
	VEXTRACTF128(Imm(1), s[0], high)
	VADDPD(high, s[0].AsX(), s[0].AsX())
	VPERMILPD(Imm(1), s[0].AsX(), high)
	VADDSD(high, s[0].AsX(), s[0].AsX())
	VMOVSD(s[0].AsX(), element(operands["out"]))
	next()
}
