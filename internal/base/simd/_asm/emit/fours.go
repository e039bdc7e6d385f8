package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fourKind is how the places of the elements of fours are told.
type fourKind int

const (
	fourPlaces     fourKind = iota // of 32 bits, one by one
	fourShort                      // of 16 bits; values have single precision
	fourNeighbours                 // of 32 bits, of the first; the others follow it
)

// fourChains adds the terms of a row of fours to four chains, side by side in sum, the first of which has a value
// already and the others 0: at and values point to the first four, and move on behind the last; left is how many there
// are, which becomes 0. Where sizes are given, those of the terms are added to them, with the bits of a size.
func fourChains(
	label string, x, at, values, left reg.Register, sum reg.VecVirtual, kind fourKind, sizes, size reg.VecVirtual,
) {
	TESTL(left, left)
	JZ(LabelRef(label + "none"))
	Label(label + "four")
	terms, places := YMM(), uint64(16)
	switch kind {
	case fourNeighbours:
		first := GP64()
		MOVLQSX(Mem{Base: at}, first)
		VMOVUPD(Mem{Base: x, Index: first, Scale: 8}, terms)
		places = 4
	default:
		place := func(k int, to reg.Register) { MOVLQSX(Mem{Base: at, Disp: 4 * k}, to) }
		if kind == fourShort {
			place = func(k int, to reg.Register) { MOVWQZX(Mem{Base: at, Disp: 2 * k}, to) }
			places = 8
		}
		upper := XMM()
		for k, to := range []reg.VecVirtual{terms.AsX().(reg.VecVirtual), upper} {
			first, second := GP64(), GP64()
			place(2*k, first)
			place(2*k+1, second)
			VMOVSD(Mem{Base: x, Index: first, Scale: 8}, to)
			VMOVHPD(Mem{Base: x, Index: second, Scale: 8}, to, to)
		}
		VINSERTF128(Imm(1), upper, terms, terms)
	}
	bytes := uint64(32)
	switch {
	case kind == fourShort:
		wide := YMM()
		VCVTPS2PD(Mem{Base: values}, wide)
		VFMADD231PD(wide, terms, sum)
		bytes = 16
	case sizes != nil:
		own := YMM()
		VMOVUPD(Mem{Base: values}, own)
		VFMADD231PD(own, terms, sum)
		VANDPD(size, own, own)
		VANDPD(size, terms, terms)
		VFMADD231PD(own, terms, sizes)
	default:
		VFMADD231PD(Mem{Base: values}, terms, sum)
	}
	ADDQ(Imm(places), at)
	ADDQ(Imm(bytes), values)
	DECL(left)
	JNZ(LabelRef(label + "four"))
	Label(label + "none")
}

// chainSum replaces the first of four chains by (s₀ + s₂) + (s₁ + s₃).
func chainSum(sum reg.VecVirtual) {
	low, upper := sum.AsX(), XMM()
	VEXTRACTF128(Imm(1), sum, upper)
	VADDPD(upper, low, low)
	VUNPCKHPD(low, low, upper)
	VADDSD(upper, low, low)
}

// rowLength loads how many fours the row has at whose start the pointer is, and moves the pointer to the next.
func rowLength(start reg.Register) reg.Register {
	left := GP32()
	MOVL(Mem{Base: start, Disp: 4}, left)
	SUBL(Mem{Base: start}, left)
	ADDQ(Imm(4), start)
	return left
}

// SubstituteFours is w[j] ← w[j] + Σ v·w[at] for the j of a number of rows, or, if there is recip, recip times
// Σ v·w[at] - w[j]. Arguments are w, recip, which may be 0, and order, the addresses of recip and j of the first row,
// at, values and start of the first row, step, of recip and order from one row to the next, and count.
func SubstituteFours(args Args, short bool) {
	p := pointers(args, "w", "recip", "order", "at", "values", "start")
	w, recip, order, at, values, start := p[0], p[1], p[2], p[3], p[4], p[5]
	step, count := args.Load("step"), args.Load("count")
	sign := XMM() // of the first chain
	VPCMPEQD(sign, sign, sign)
	VPSLLQ(Imm(63), sign, sign)
	VMOVQ(sign, sign)
	rows := func(label string, scaled bool) {
		sum, j := YMM(), GP64()
		own := sum.AsX()
		Label(label)
		left := rowLength(start)
		MOVLQSX(Mem{Base: order}, j)
		VMOVSD(Mem{Base: w, Index: j, Scale: 8}, own)
		if scaled {
			VXORPD(sign, own, own)
		}
		kind := fourPlaces
		if short {
			kind = fourShort
		}
		fourChains(label, w, at, values, left, sum, kind, nil, nil)
		chainSum(sum)
		if scaled {
			VMULSD(Mem{Base: recip}, own, own)
			LEAQ(Mem{Base: recip, Index: step, Scale: 8}, recip)
		}
		VMOVSD(own, Mem{Base: w, Index: j, Scale: 8})
		LEAQ(Mem{Base: order, Index: step, Scale: 4}, order)
		DECQ(count)
		JNZ(LabelRef(label))
	}
	TESTQ(recip, recip)
	JZ(LabelRef("plain"))
	rows("scaled", true)
	JMP(LabelRef("done"))
	rows("plain", false)
	Label("done")
}

// ResidualFours is r[j] = b[j] + Σ v·x[at], row by row, as long as |r[j]| is at most limit[0] times the sum of the
// sizes of the row's terms, where that is at most limit[1], or |r[j]| is at most limit[2]. Arguments are r, b, x, at,
// values and start of the first row, limit and count. count becomes what is left of it, the row that ends the loop
// included.
func ResidualFours(args Args, neighbours bool) {
	p := pointers(args, "r", "b", "x", "at", "values", "start", "limit", "count")
	r, b, x, at, values, start, limit, number := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	count := GP64()
	MOVQ(Mem{Base: number}, count)
	size := YMM()
	VPCMPEQD(size, size, size)
	VPSRLQ(Imm(1), size, size)
	var limits [3]reg.VecVirtual
	for k := range limits {
		limits[k] = XMM()
		VMOVSD(Mem{Base: limit, Disp: 8 * k}, limits[k])
	}
	sum, sizes := YMM(), YMM()
	own, all := sum.AsX(), sizes.AsX()
	kind := fourPlaces
	if neighbours {
		kind = fourNeighbours
	}
	Label("row")
	left := rowLength(start)
	VMOVSD(Mem{Base: b}, own)
	VANDPD(size, sum, sizes)
	fourChains("row", x, at, values, left, sum, kind, sizes, size)
	chainSum(sum)
	chainSum(sizes)
	VMOVSD(own, Mem{Base: r})
	VANDPD(size.AsX(), own, own)
	VUCOMISD(all, limits[1])
	JCS(LabelRef("large"))
	VMULSD(limits[0], all, all)
	VUCOMISD(own, all)
	JCC(LabelRef("next"))
	Label("large")
	VUCOMISD(own, limits[2])
	JCS(LabelRef("done"))
	Label("next")
	ADDQ(Imm(8), r)
	ADDQ(Imm(8), b)
	DECQ(count)
	JNZ(LabelRef("row"))
	Label("done")
	MOVQ(count, Mem{Base: number})
}

// EliminateColumn is u[e] = own[e] for e < count, and behind each of these c[4k+q] += l[from+q]·u[e] for the updates
// between start[e] and start[e+1], pairs of from and 16k + mask, and the bits q of the mask; to others is added 0·u[e].
// Arguments are c, own, which is the address of an element of c, u, l, updates, of which the first is the one at
// start[0], start and count.
func EliminateColumn(args Args) {
	p := pointers(args, "c", "own", "u", "l", "updates", "start")
	c, own, u, l, updates, start := p[0], p[1], p[2], p[3], p[4], p[5]
	count, by := args.Load("count"), YMM()
	signs := GLOBL("bitsToSigns", NOPTR|RODATA) // shifts that make signs of the four lowest bits
	for q := range 4 {
		DATA(8*q, U64(63-q))
	}
	shift := YMM()
	VMOVDQU(signs, shift)
	Label("entry")
	VBROADCASTSD(Mem{Base: own}, by)
	VMOVSD(by.AsX(), Mem{Base: u})
	ADDQ(Imm(8), own)
	ADDQ(Imm(8), u)
	left := rowLength(start)
	TESTL(left, left)
	JZ(LabelRef("none"))
	Label("update")
	from, to, mask, terms, sum := GP64(), GP64(), YMM(), YMM(), YMM()
	MOVLQSX(Mem{Base: updates}, from)
	MOVL(Mem{Base: updates, Disp: 4}, to.As32())
	VPBROADCASTD(Mem{Base: updates, Disp: 4}, mask)
	VPSLLVQ(shift, mask, mask)
	ANDL(I32(-16), to.As32())
	VMASKMOVPD(Mem{Base: l, Index: from, Scale: 8}, mask, terms)
	VMOVUPD(Mem{Base: c, Index: to, Scale: 2}, sum)
	VFMADD231PD(terms, by, sum)
	VMOVUPD(sum, Mem{Base: c, Index: to, Scale: 2})
	ADDQ(Imm(8), updates)
	DECL(left)
	JNZ(LabelRef("update"))
	Label("none")
	DECQ(count)
	JNZ(LabelRef("entry"))
}
