// Package emit holds the parts that vector kernels are made of: bodies of expressions of four or eight
// lanes, the elementary functions of internal/base/elem, loads and stores with masked ends, and tiles of matrix
// products. A part writes instructions into the avo function that is open. It knows neither the
// arguments nor the loops around it, so stand-alone kernels and the handlers of a threaded program
// are made of the same parts.
//
// Every part performs the operations of the Go code that it stands for in the same order, so its
// results have the same bits.
package emit

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Body records an expression over vectors of four or eight float64 and writes it as instructions. Each
// value is written once, and unused ones not at all. Values that are no longer needed give their register
// to the result.
type Body struct {
	values []value
	same   map[key]V
	coef   Coefficients
	wide   bool // vectors of eight, by AVX-512F alone

	// strands, if any, are values whose instructions are written side by side, before all others. Values of each belong
	// to one vector.
	strands [][]V
	// again tells to compute what is made of memory alone again where it is used, which takes no register until then.
	again bool
}

// V is a value of a body.
type V int

type kind uint8

const (
	input  kind = iota
	pinned      // an input whose register must survive
	memory      // a constant in memory
	binary      // arithmetic, comparison or bits of two values
	unary       // of one value
	fused       // ±a·b ± c
	blend       // mask ? a : b
	gather
)

// key is what identifies an operation: equal keys are one value.
type key struct {
	kind       kind
	name       string
	imm        uint8
	a, b, c    V
	negP, negC bool
}

type value struct {
	key
	reg  reg.VecVirtual
	bits reg.OpmaskVirtual // instead of reg: a mask of vectors of eight
	mem  Mem
	uses int
	done bool
}

// NewBody returns an empty body of vectors of four. The coefficients may be nil where no elementary
// function is needed.
func NewBody(coef Coefficients) *Body { return &Body{same: map[key]V{}, coef: coef} }

func (f *Body) add(v value) V {
	f.values = append(f.values, v)
	return V(len(f.values) - 1)
}

func (f *Body) op(k key) V {
	if f.again && k.kind == binary && f.isMem(k.a) && f.isMem(k.b) {
		return f.add(value{key: k})
	}
	if v, ok := f.same[k]; ok {
		return v
	}
	v := f.add(value{key: k})
	f.same[k] = v
	return v
}

// Input makes a register a value that the body may overwrite.
func (f *Body) Input(r reg.VecVirtual) V {
	return f.add(value{key: key{kind: input}, reg: r, done: true})
}

// Pinned makes a register a value that the body must not overwrite.
func (f *Body) Pinned(r reg.VecVirtual) V {
	return f.add(value{key: key{kind: pinned}, reg: r, done: true})
}

// Memory makes 32 bytes of memory a value. They must not change before Emit.
func (f *Body) Memory(m Mem) V { return f.add(value{key: key{kind: memory}, mem: m, done: true}) }

// Num returns the constant x in all lanes.
func (f *Body) Num(x float64) V { return f.Bits(math.Float64bits(x)) }

// Bits returns the 64 bits in all lanes.
func (f *Body) Bits(bits uint64) V {
	k := key{kind: memory, name: fmt.Sprintf("%016x", bits)}
	if v, ok := f.same[k]; ok {
		return v
	}
	v := f.add(value{key: k, mem: Words(bits), done: true})
	f.same[k] = v
	return v
}

func (f *Body) bin(name string, a, b V) V { return f.op(key{kind: binary, name: name, a: a, b: b}) }

// Arithmetic of float64.
func (f *Body) Add(a, b V) V { return f.bin("add", a, b) }
func (f *Body) Sub(a, b V) V { return f.bin("sub", a, b) }
func (f *Body) Mul(a, b V) V { return f.bin("mul", a, b) }
func (f *Body) Div(a, b V) V { return f.bin("div", a, b) }

// Lesser is a < b ? a : b, and Greater is a > b ? a : b. Both are b where an operand is NaN.
func (f *Body) Lesser(a, b V) V  { return f.bin("min", a, b) }
func (f *Body) Greater(a, b V) V { return f.bin("max", a, b) }

// Operations on the bits of two values; AndNot is ^a & b.
func (f *Body) And(a, b V) V    { return f.bin("and", a, b) }
func (f *Body) AndNot(a, b V) V { return f.bin("andn", a, b) }
func (f *Body) Or(a, b V) V     { return f.bin("or", a, b) }
func (f *Body) Xor(a, b V) V    { return f.bin("xor", a, b) }

// Operations on integers of 64 bits.
func (f *Body) AddInt(a, b V) V { return f.bin("addi", a, b) }
func (f *Body) SubInt(a, b V) V { return f.bin("subi", a, b) }

// MulInt is the product by c of integers of 64 bits, modulo 2⁶⁴: instructions multiply their halves.
func (f *Body) MulInt(a V, c uint64) V {
	low, high := f.Bits(c&(1<<32-1)), f.Bits(c>>32)
	cross := f.AddInt(f.bin("muli", f.ShiftRight(a, 32), low), f.bin("muli", a, high))
	return f.AddInt(f.bin("muli", a, low), f.ShiftLeft(cross, 32))
}

// ToFloat rounds signed integers of 64 bits to float64. Their halves become exact numbers, which are added.
func (f *Body) ToFloat(a V) V {
	const two84, two52 = 0x4530_0000_0000_0000, 0x4330_0000_0000_0000
	a = f.Xor(a, f.Bits(signBit)) // 2⁶³ more, without a sign
	high := f.Sub(f.Or(f.ShiftRight(a, 32), f.Bits(two84)), f.Num(0x1p84+0x1p63+0x1p52))
	return f.Add(high, f.Or(f.And(a, f.Bits(1<<32-1)), f.Bits(two52)))
}

// ShiftLeft and ShiftRight move the 64 bits of each lane and fill with zeros.
func (f *Body) ShiftLeft(a V, n uint8) V {
	return f.op(key{kind: unary, name: "shl", a: a, imm: n})
}

func (f *Body) ShiftRight(a V, n uint8) V {
	return f.op(key{kind: unary, name: "shr", a: a, imm: n})
}

// Comparisons give a mask, all ones where true. With a NaN they are false, but for the negated ones
// and IsNaN, which are true.
func (f *Body) cmp(a, b V, pred uint8) V {
	return f.op(key{kind: binary, name: "cmp", a: a, b: b, imm: pred})
}
func (f *Body) Lt(a, b V) V        { return f.cmp(a, b, 17) }
func (f *Body) Le(a, b V) V        { return f.cmp(a, b, 18) }
func (f *Body) Gt(a, b V) V        { return f.cmp(a, b, 30) }
func (f *Body) Ge(a, b V) V        { return f.cmp(a, b, 29) }
func (f *Body) Eq(a, b V) V        { return f.cmp(a, b, 0) }
func (f *Body) Ne(a, b V) V        { return f.cmp(a, b, 4) }
func (f *Body) NotLt(a, b V) V     { return f.cmp(a, b, 21) }
func (f *Body) NotLe(a, b V) V     { return f.cmp(a, b, 22) }
func (f *Body) NotGt(a, b V) V     { return f.cmp(a, b, 26) }
func (f *Body) NotGe(a, b V) V     { return f.cmp(a, b, 25) }
func (f *Body) EqOrNaN(a, b V) V   { return f.cmp(a, b, 8) }
func (f *Body) Unordered(a, b V) V { return f.cmp(a, b, 3) }
func (f *Body) IsNaN(a V) V        { return f.cmp(a, a, 3) }

// Sqrt is the square root.
func (f *Body) Sqrt(a V) V { return f.op(key{kind: unary, name: "sqrt", a: a}) }

// Floor, Ceil and Trunc round to integers.
func (f *Body) Floor(a V) V { return f.op(key{kind: unary, name: "round", a: a, imm: 9}) }
func (f *Body) Ceil(a V) V  { return f.op(key{kind: unary, name: "round", a: a, imm: 10}) }
func (f *Body) Trunc(a V) V { return f.op(key{kind: unary, name: "round", a: a, imm: 11}) }

const (
	signBit = 1 << 63
	noSign  = signBit - 1
)

// Neg is -a, Abs |a|, and Copysign |a| with the sign of b.
func (f *Body) Neg(a V) V         { return f.op(key{kind: unary, name: "neg", a: a}) }
func (f *Body) Abs(a V) V         { return f.And(a, f.Bits(noSign)) }
func (f *Body) Copysign(a, b V) V { return f.Or(f.Abs(a), f.And(b, f.Bits(signBit))) }

// Fma is a·b + c rounded once. Negations of operands become part of the instruction.
func (f *Body) Fma(a, b, c V) V {
	k := key{kind: fused}
	strip := func(x V) (V, bool) {
		if v := f.values[x]; v.kind == unary && v.name == "neg" {
			return v.a, true
		}
		return x, false
	}
	na, nb := false, false
	k.a, na = strip(a)
	k.b, nb = strip(b)
	k.c, k.negC = strip(c)
	k.negP = na != nb
	return f.op(k)
}

// Where is mask ? a : b, by the sign bit of the mask's lanes.
func (f *Body) Where(mask, a, b V) V { return f.op(key{kind: blend, a: a, b: b, c: mask}) }

// Lookup returns table[i] for the integers i in the lanes, which must be in range.
func (f *Body) Lookup(table Mem, i V) V {
	return f.add(value{key: key{kind: gather, a: i}, mem: table})
}

// Emit writes the instructions for outs and returns their registers.
func (f *Body) Emit(outs ...V) []reg.VecVirtual {
	f.write(outs...)
	regs := make([]reg.VecVirtual, len(outs))
	for i, v := range outs {
		regs[i] = f.load(v)
	}
	return regs
}

// write writes the instructions for outs.
func (f *Body) write(outs ...V) {
	for _, v := range outs {
		f.use(v)
	}
	for _, v := range f.sideBySide() {
		f.lower(v)
	}
	for i := range f.values {
		if v := &f.values[i]; v.uses > 0 && !v.done {
			f.lower(V(i))
		}
	}
}

// use counts the uses of the values that v needs.
func (f *Body) use(id V) {
	v := &f.values[id]
	v.uses++
	if v.uses > 1 || v.done {
		return
	}
	f.use(v.a)
	switch v.kind {
	case binary:
		f.use(v.b)
	case fused, blend:
		f.use(v.b)
		f.use(v.c)
	}
}

func (f *Body) isMem(v V) bool { return f.values[v].kind == memory }

// vector returns a new register.
func (f *Body) vector() reg.VecVirtual {
	if f.wide {
		return ZMM()
	}
	return YMM()
}

// load returns v in a register.
func (f *Body) load(v V) reg.VecVirtual {
	x := &f.values[v]
	switch {
	case f.isMask(v):
		panic("emit: a mask is no number")
	case x.kind == memory && f.wide:
		r := ZMM()
		Broadcast(x.mem, r)
		return r
	case x.kind == memory:
		r := YMM()
		VMOVUPD(x.mem, r)
		return r
	}
	return x.reg
}

// operand returns v as a register or as memory.
func (f *Body) operand(v V) Op {
	if x := &f.values[v]; x.kind == memory {
		return x.mem
	}
	return f.load(v)
}

// last reports whether this is the last use of v and its register is free to be overwritten.
func (f *Body) last(v V) bool {
	x := &f.values[v]
	return x.kind != memory && x.kind != pinned && x.uses == 1
}

func (f *Body) release(vs ...V) {
	for _, v := range vs {
		f.values[v].uses--
	}
}

func (f *Body) lower(id V) {
	v := &f.values[id]
	switch v.kind {
	case binary:
		if f.wide && f.lowerMasked(id) {
			f.release(v.a, v.b)
			break
		}
		v.reg = f.lowerBinary(v)
		f.release(v.a, v.b)
	case unary:
		v.reg = f.lowerUnary(v)
		f.release(v.a)
	case fused:
		v.reg = f.lowerFused(v)
		f.release(v.a, v.b, v.c)
	case blend:
		v.reg = f.vector()
		if f.wide {
			f.put(instruction{eight: VBLENDMPD, one: VBLENDMPD_BCST}, v.a, f.load(v.b), f.mask(v.c), v.reg)
		} else {
			VBLENDVPD(f.load(v.c), f.operand(v.a), f.load(v.b), v.reg)
		}
		f.release(v.a, v.b, v.c)
	case gather:
		v.reg = f.vector()
		base := GP64()
		if f.wide {
			mask := K()
			all(mask)
			LEAQ(v.mem, base)
			Broadcast(Words(0), v.reg)
			VGATHERQPD(Mem{Base: base, Index: f.load(v.a), Scale: 8}, mask, v.reg)
		} else {
			mask := YMM()
			LEAQ(v.mem, base)
			VMOVUPD(Words(1<<64-1), mask)
			VMOVUPD(Words(0), v.reg)
			VGATHERQPD(mask, Mem{Base: base, Index: f.load(v.a), Scale: 8}, v.reg)
		}
		f.release(v.a)
	}
	v.done = true
}

// instruction is how an operation is written for vectors of four and of eight; one is eight with a first
// operand in memory that is one element for all.
type instruction struct{ four, eight, one func(...Op) }

// put writes an instruction with the operand x, which may be memory, before the others.
func (f *Body) put(in instruction, x V, others ...Op) {
	ops := append([]Op{f.operand(x)}, others...)
	switch {
	case !f.wide:
		in.four(ops...)
	case f.isMem(x):
		in.one(ops...)
	default:
		in.eight(ops...)
	}
}

// immediate gives an instruction a number in front.
func immediate(n uint8, in instruction) instruction {
	with := func(g func(...Op)) func(...Op) {
		return func(ops ...Op) { g(append([]Op{Imm(uint64(n))}, ops...)...) }
	}
	return instruction{with(in.four), with(in.eight), with(in.one)}
}

var commutes = map[string]bool{"add": true, "mul": true, "and": true, "or": true, "xor": true, "addi": true}

var binaries = map[string]instruction{
	"add":  {VADDPD, VADDPD, VADDPD_BCST},
	"sub":  {VSUBPD, VSUBPD, VSUBPD_BCST},
	"mul":  {VMULPD, VMULPD, VMULPD_BCST},
	"div":  {VDIVPD, VDIVPD, VDIVPD_BCST},
	"min":  {VMINPD, VMINPD, VMINPD_BCST},
	"max":  {VMAXPD, VMAXPD, VMAXPD_BCST},
	"and":  {VANDPD, VPANDQ, VPANDQ_BCST},
	"andn": {VANDNPD, VPANDNQ, VPANDNQ_BCST},
	"or":   {VORPD, VPORQ, VPORQ_BCST},
	"xor":  {VXORPD, VPXORQ, VPXORQ_BCST},
	"addi": {VPADDQ, VPADDQ, VPADDQ_BCST},
	"subi": {VPSUBQ, VPSUBQ, VPSUBQ_BCST},
	"muli": {VPMULUDQ, VPMULUDQ, VPMULUDQ_BCST}, // of the lower halves
	"cmp":  {VCMPPD, VCMPPD, VCMPPD_BCST},
}

func (f *Body) lowerBinary(v *value) reg.VecVirtual {
	a, b := v.a, v.b
	if f.isMem(a) && commutes[v.name] {
		a, b = b, a
	}
	in := binaries[v.name]
	if v.name == "cmp" {
		in = immediate(v.imm, in)
	}
	x, r := f.load(a), f.vector()
	f.put(in, b, x, r)
	return r
}

func (f *Body) lowerUnary(v *value) reg.VecVirtual {
	r := f.vector()
	switch v.name {
	case "shl":
		VPSLLQ(Imm(uint64(v.imm)), f.load(v.a), r)
	case "shr":
		VPSRLQ(Imm(uint64(v.imm)), f.load(v.a), r)
	case "sqrt":
		f.put(instruction{VSQRTPD, VSQRTPD, VSQRTPD_BCST}, v.a, r)
	case "round":
		f.put(immediate(v.imm, rounding), v.a, r)
	case "neg":
		if f.wide {
			VPXORQ_BCST(Words(signBit), f.load(v.a), r)
		} else {
			VXORPD(Words(signBit), f.load(v.a), r)
		}
	}
	return r
}

var rounding = instruction{
	func(ops ...Op) { VROUNDPD(ops[0], ops[1], ops[2]) }, VRNDSCALEPD, VRNDSCALEPD_BCST,
}

// fma3 holds the three forms of each fused instruction.
type fma3 struct{ f132, f213, f231 instruction }

func fused3(f132, f213, f231, one132, one213, one231 func(...Op)) fma3 {
	return fma3{instruction{f132, f132, one132}, instruction{f213, f213, one213}, instruction{f231, f231, one231}}
}

var forms = map[[2]bool]fma3{ // by negated product, negated addend
	{false, false}: fused3(VFMADD132PD, VFMADD213PD, VFMADD231PD,
		VFMADD132PD_BCST, VFMADD213PD_BCST, VFMADD231PD_BCST),
	{true, false}: fused3(VFNMADD132PD, VFNMADD213PD, VFNMADD231PD,
		VFNMADD132PD_BCST, VFNMADD213PD_BCST, VFNMADD231PD_BCST),
	{false, true}: fused3(VFMSUB132PD, VFMSUB213PD, VFMSUB231PD,
		VFMSUB132PD_BCST, VFMSUB213PD_BCST, VFMSUB231PD_BCST),
	{true, true}: fused3(VFNMSUB132PD, VFNMSUB213PD, VFNMSUB231PD,
		VFNMSUB132PD_BCST, VFNMSUB213PD_BCST, VFNMSUB231PD_BCST),
}

// lowerFused chooses the form by which operand is memory and which register is free.
func (f *Body) lowerFused(v *value) reg.VecVirtual {
	form := forms[[2]bool{v.negP, v.negC}]
	a, b, c := v.a, v.b, v.c
	if f.isMem(a) {
		a, b = b, a
	}
	free := f.last
	fresh := func(x V) reg.VecVirtual {
		if f.isMem(x) {
			return f.load(x)
		}
		r := f.vector()
		VMOVAPD(f.load(x), r)
		return r
	}
	ra := f.load(a)
	switch {
	case f.isMem(c) && !f.isMem(b):
		if free(b) && !free(a) {
			a, b = b, a
			ra = f.load(a)
		}
		if !free(a) {
			ra = fresh(a)
		}
		f.put(form.f213, c, f.load(b), ra)
		return ra
	case f.isMem(b) && !f.isMem(c) && !free(c) && free(a):
		f.put(form.f132, b, f.load(c), ra)
		return ra
	case !f.isMem(b) && !free(c) && free(a):
		f.put(form.f213, c, f.load(b), ra)
		return ra
	case !f.isMem(b) && !free(c) && free(b):
		rb := f.load(b)
		f.put(form.f213, c, ra, rb)
		return rb
	}
	rc := f.load(c)
	if !free(c) && !f.isMem(c) {
		rc = fresh(c)
	}
	f.put(form.f231, b, ra, rc)
	return rc
}

var constants = map[uint64]Mem{}

// Words returns 32 read-only bytes that hold the 64 bits four times.
func Words(bits uint64) Mem {
	if m, ok := constants[bits]; ok {
		return m
	}
	m := GLOBL(fmt.Sprintf("c%016x", bits), NOPTR|RODATA)
	for i := range 4 {
		DATA(8*i, U64(bits))
	}
	constants[bits] = m
	return m
}
