package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// In bodies of vectors of eight, comparisons and what is made of them are in registers for masks. A mask leaves these
// where it chooses between numbers, or keeps some of them.

// isMask reports whether v is in a register for masks.
func (f *Body) isMask(v V) bool {
	x := &f.values[v]
	if !f.wide || x.kind != binary {
		return false
	}
	switch x.name {
	case "cmp":
		return true
	case "and", "or", "andn":
		return f.isMask(x.a) && f.isMask(x.b)
	}
	return false
}

// mask returns the sign bits of v in a register for masks.
func (f *Body) mask(v V) reg.OpmaskVirtual {
	if f.isMask(v) {
		return f.values[v].bits
	}
	k := K()
	VPTESTMQ_BCST(Words(signBit), f.load(v), k)
	return k
}

// lowerMasked writes a value that is a mask, or numbers of which a mask keeps some. It reports whether v is such a
// value.
func (f *Body) lowerMasked(id V) bool {
	v := &f.values[id]
	a, b := v.a, v.b
	switch {
	case v.name == "cmp":
		x := f.load(a)
		v.bits = K()
		f.put(immediate(v.imm, binaries["cmp"]), b, x, v.bits)
		return true
	case f.isMask(id):
		v.bits = K()
		map[string]func(k, k1, k2 Op){"and": KANDW, "or": KORW, "andn": KANDNW}[v.name](f.mask(b), f.mask(a), v.bits)
		return true
	case v.name == "and" && f.isMask(b):
		a, b = b, a
	case v.name != "and" && v.name != "andn" || !f.isMask(a):
		return false
	}
	k := f.mask(a)
	if v.name == "andn" {
		k = K()
		KNOTW(f.mask(a), k)
	}
	v.reg = ZMM()
	f.put(instruction{eight: ofThree(VMOVUPD_Z), one: ofThree(VBROADCASTSD_Z)}, b, k, v.reg)
	return true
}

// ofThree is an instruction with three operands.
func ofThree(g func(a, b, c Op)) func(...Op) { return func(ops ...Op) { g(ops[0], ops[1], ops[2]) } }

// all sets all lanes of a mask of vectors of eight.
func all(mask reg.Register) {
	bits := GP64()
	MOVQ(I32(-1), bits)
	KMOVW(bits.As32(), mask)
}

// within writes the instructions for y and returns its register. Where bad is not None, they jump to outside if one of
// the lanes of mask is bad.
func (f *Body) within(y, bad V, mask reg.Register, outside string) reg.VecVirtual {
	if bad == None {
		return f.Emit(y)[0]
	}
	f.write(y, bad)
	any := GP64()
	if f.wide {
		k := K()
		KANDW(mask, f.mask(bad), k)
		KMOVW(k, any.As32())
	} else {
		r := f.load(bad)
		VANDPD(mask, r, r)
		VMOVMSKPD(r, any.As32())
	}
	TESTL(any.As32(), any.As32())
	JNZ(LabelRef(outside))
	return f.load(y)
}
