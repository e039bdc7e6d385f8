// Package machine is machine code that is made while a program runs: an encoder of the instructions
// of amd64, and memory that the code runs in. It knows nothing of what the code does.
//
// Code exists on amd64 with AVX2 and FMA, on systems that let programs make it. Elsewhere Available
// reports false.
package machine

import "math/bits"

// Reg is a general register, by its number in the encoding.
type Reg uint8

// The registers but SP and BP, which are Go's. In Go code R14 and R15 are as well.
const (
	AX  Reg = 0
	CX  Reg = 1
	DX  Reg = 2
	BX  Reg = 3
	SI  Reg = 6
	DI  Reg = 7
	R8  Reg = 8
	R9  Reg = 9
	R10 Reg = 10
	R11 Reg = 11
	R12 Reg = 12
	R13 Reg = 13
	R14 Reg = 14
	R15 Reg = 15
)

// Vec is a vector register. Those from 16 on exist with AVX-512.
type Vec uint8

// Mem is memory: [base + index·scale + disp].
type Mem struct {
	Base    Reg
	Index   Reg
	Indexed bool
	Scale   uint8 // 1, 2, 4 or 8
	Disp    int32
}

// Arg is an operand that may be a register or memory.
type Arg struct {
	Kind   ArgKind
	Reg    Vec
	Mem    Mem
	Lit    int32 // number of a literal in the code's pool
	Repeat bool  // memory is one element, which is repeated (AVX-512)
}

// ArgKind is where an operand is.
type ArgKind uint8

const (
	InRegister ArgKind = iota
	InMemory
	InPool // a literal, whose displacement a Fixup fills in
)

// InReg is a register as an operand, and InMem memory.
func InReg(v Vec) Arg { return Arg{Reg: v} }
func InMem(m Mem) Arg { return Arg{Kind: InMemory, Mem: m} }

// Instr describes a vector instruction: its opcode byte, the map it stands in, its prefix and, with
// AVX-512, its W bit. Without AVX-512 W is VexW.
type Instr struct {
	Opcode uint8
	Group  uint8 // 1: 0F, 2: 0F38, 3: 0F3A
	Prefix uint8 // 0: none, 1: 66, 2: F3, 3: F2
	VexW   uint8
	Unit   uint8 // bytes that a short displacement counts in, with AVX-512; 0: the size of the vector
}

// Asm collects instructions.
type Asm struct {
	Code   []byte
	Fixups []Fixup // displacements of literals
	jumps  []jump
	labels []int // by label: its place in the code; -1: not set
	Count  int   // instructions
	Wide   bool  // Vector may use instructions of AVX-512 where they are shorter

	Writemask uint8 // of evex instructions: the mask register, with 0x80 to set elements outside the mask to zero
}

// Fixup is a displacement that is filled in later: that of a literal, relative to the end of the
// instruction.
type Fixup struct {
	At, End int
	Lit     int32
}

type jump struct {
	at    int
	label Label
}

// Label is a place in the code to jump to.
type Label int

// Byte appends bytes, and Int32 a number of 32 bits.
func (a *Asm) Byte(b ...byte) { a.Code = append(a.Code, b...) }

func (a *Asm) Int32(x int32) {
	a.Byte(byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
}

// NewLabel returns a label that is not set yet.
func (a *Asm) NewLabel() Label {
	a.labels = append(a.labels, -1)
	return Label(len(a.labels) - 1)
}

// Set places l at the end of the code.
func (a *Asm) Set(l Label) { a.labels[l] = len(a.Code) }

// Condition codes of jumps.
const (
	Always  = 0xff
	Below   = 0x2 // unsigned <
	Equal   = 0x4
	Unequal = 0x5
	Less    = 0xc
	AtLeast = 0xd // signed ≥
	AtMost  = 0xe // signed ≤
	Greater = 0xf
)

// Jump goes to l if the condition holds.
func (a *Asm) Jump(condition uint8, l Label) {
	if condition == Always {
		a.Byte(0xe9)
	} else {
		a.Byte(0x0f, 0x80|condition)
	}
	a.jumps = append(a.jumps, jump{len(a.Code), l})
	a.Int32(0)
	a.Count++
}

// Resolve fills in the displacements of jumps.
func (a *Asm) Resolve() {
	for _, j := range a.jumps {
		Put32(a.Code[j.at:], int32(a.labels[j.label]-j.at-4))
	}
	a.jumps, a.labels = a.jumps[:0], a.labels[:0]
}

// Put32 writes x to the first bytes of b.
func Put32(b []byte, x int32) {
	b[0], b[1], b[2], b[3] = byte(x), byte(x>>8), byte(x>>16), byte(x>>24)
}

// Rex writes a REX prefix for 64-bit operands.
func (a *Asm) rex(r Reg, index Reg, base Reg) {
	a.Byte(0x48 | uint8(r>>3)<<2 | uint8(index>>3)<<1 | uint8(base>>3))
}

// modrm writes the operand bytes of register field r and memory m. A short displacement counts in
// units of unit bytes.
func (a *Asm) modrm(r uint8, m Mem, unit int32) {
	r = r & 7 << 3
	base := uint8(m.Base) & 7
	mod, short, long := uint8(0), false, false
	switch {
	case m.Disp == 0 && base != 5:
	case isShort(m.Disp, unit):
		mod, short = 0x40, true
	default:
		mod, long = 0x80, true
	}
	switch {
	case m.Indexed:
		a.Byte(mod|r|4, uint8(bits.TrailingZeros8(m.Scale))<<6|uint8(m.Index)&7<<3|base)
	case base == 4:
		a.Byte(mod|r|4, 0x24)
	default:
		a.Byte(mod | r | base)
	}
	switch {
	case short:
		a.Byte(byte(m.Disp / unit))
	case long:
		a.Int32(m.Disp)
	}
}

// Op64 writes an instruction on a general register and memory.
func (a *Asm) Op64(opcode uint8, r Reg, m Mem) {
	a.rex(r, m.indexOr0(), m.Base)
	a.Byte(opcode)
	a.modrm(uint8(r), m, 1)
	a.Count++
}

func (m Mem) indexOr0() Reg {
	if m.Indexed {
		return m.Index
	}
	return 0
}

// Load sets r to the 64 bits at m.
func (a *Asm) Load(r Reg, m Mem) { a.Op64(0x8b, r, m) }

// Address sets r to the address of m.
func (a *Asm) Address(r Reg, m Mem) { a.Op64(0x8d, r, m) }

// Two writes an instruction on two general registers, with from as its source and to as its
// destination. Opcode 01 adds, 29 subtracts, 39 compares, 89 moves, and 31 is exclusive or.
func (a *Asm) Two(opcode uint8, to, from Reg) {
	a.rex(from, 0, to)
	a.Byte(opcode, 0xc0|uint8(from)&7<<3|uint8(to)&7)
	a.Count++
}

// Immediate writes an instruction on a general register and a number. For what, 0 adds, 5
// subtracts, 7 compares, and 4 is and.
func (a *Asm) Immediate(what uint8, r Reg, x int32) {
	a.rex(0, 0, r)
	if x >= -128 && x <= 127 {
		a.Byte(0x83, 0xc0|what<<3|uint8(r)&7, byte(x))
	} else {
		a.Byte(0x81, 0xc0|what<<3|uint8(r)&7)
		a.Int32(x)
	}
	a.Count++
}

// Set32 sets the low 32 bits of r to x, and the others to zero.
func (a *Asm) Set32(r Reg, x uint32) {
	if r >= 8 {
		a.Byte(0x41)
	}
	a.Byte(0xb8 | uint8(r)&7)
	a.Int32(int32(x))
	a.Count++
}

// JumpTo jumps to the address in r.
func (a *Asm) JumpTo(r Reg) {
	if r >= 8 {
		a.Byte(0x41)
	}
	a.Byte(0xff, 0xe0|uint8(r)&7)
	a.Count++
}

// NoImm says that an instruction has no immediate byte.
const NoImm = -1

// Vector writes an instruction on vector registers: dst, x (-1 if it has none) and y. The length is
// 0, 1 or 2 for 16, 32 or 64 bytes. It uses the shorter encoding where that is possible. A mask
// register as destination or operand needs the longer one.
func (a *Asm) Vector(in Instr, length uint8, dst Vec, x int, y Arg, imm int) {
	long := length == 2 || dst >= 16 || x >= 16 || y.Kind == InRegister && y.Reg >= 16 || y.Repeat ||
		a.Wide && y.Kind == InMemory && !isShort(y.Mem.Disp, 1) && isShort(y.Mem.Disp, in.unit(length)) &&
			in.Opcode != Comparison.Opcode && in.Opcode != Blend.Opcode // the longer ones have masks
	if long {
		a.Evex(in, length, dst, x, y, imm)
		return
	}
	r, vvvv, b, xx := uint8(dst)>>3, uint8(15), uint8(0), uint8(0)
	if x >= 0 {
		vvvv = 15 - uint8(x)
	}
	switch y.Kind {
	case InRegister:
		b = uint8(y.Reg) >> 3
	case InMemory:
		b = uint8(y.Mem.Base) >> 3
		xx = uint8(y.Mem.indexOr0()) >> 3
	}
	last := vvvv<<3 | length<<2 | in.Prefix
	if in.Group == 1 && in.VexW == 0 && b == 0 && xx == 0 {
		a.Byte(0xc5, (1-r)<<7|last)
	} else {
		a.Byte(0xc4, (1-r)<<7|(1-xx)<<6|(1-b)<<5|in.Group, in.VexW<<7|last)
	}
	a.Byte(in.Opcode)
	a.operand(uint8(dst), y, 1, imm)
}

// unit returns the bytes that a short displacement counts in, with AVX-512.
func (in Instr) unit(length uint8) int32 {
	if in.Unit > 0 {
		return int32(in.Unit)
	}
	return 16 << length
}

// isShort reports whether a displacement is a byte that counts in so many bytes.
func isShort(disp, unit int32) bool { return disp%unit == 0 && disp/unit >= -128 && disp/unit <= 127 }

// Evex writes the long encoding of vector. Its W bit is always 1, because numbers have 64 bits.
func (a *Asm) Evex(in Instr, length uint8, dst Vec, x int, y Arg, imm int) {
	r, r2 := uint8(dst)>>3&1, uint8(dst)>>4
	v := uint8(0)
	if x >= 0 {
		v = uint8(x)
	}
	b, xx, repeat := uint8(0), uint8(0), uint8(0)
	switch y.Kind {
	case InRegister:
		b, xx = uint8(y.Reg)>>3&1, uint8(y.Reg)>>4
	case InMemory:
		b, xx = uint8(y.Mem.Base)>>3, uint8(y.Mem.indexOr0())>>3
	}
	unit := in.unit(length)
	if y.Repeat {
		repeat, unit = 1, 8
	}
	a.Byte(0x62,
		(1-r)<<7|(1-xx)<<6|(1-b)<<5|(1-r2)<<4|in.Group,
		1<<7|(^v&15)<<3|1<<2|in.Prefix,
		length<<5|repeat<<4|(1-v>>4)<<3|a.Writemask)
	a.Byte(in.Opcode)
	a.operand(uint8(dst), y, unit, imm)
}

// operand writes the bytes behind the opcode.
func (a *Asm) operand(r uint8, y Arg, unit int32, imm int) {
	switch y.Kind {
	case InRegister:
		a.Byte(0xc0 | r&7<<3 | uint8(y.Reg)&7)
	case InMemory:
		a.modrm(r, y.Mem, unit)
	case InPool:
		a.Byte(r&7<<3 | 5)
		f := Fixup{At: len(a.Code), Lit: y.Lit}
		a.Int32(0)
		f.End = len(a.Code)
		if imm != NoImm {
			f.End++
		}
		a.Fixups = append(a.Fixups, f)
	}
	if imm != NoImm {
		a.Byte(byte(imm))
	}
	a.Count++
}

// The instructions on vectors and, where they exist, on one element.
var (
	MovPacked  = Instr{Opcode: 0x10, Group: 1, Prefix: 1}          // from memory
	MovAligned = Instr{Opcode: 0x28, Group: 1, Prefix: 1}          // between registers
	StPacked   = Instr{Opcode: 0x11, Group: 1, Prefix: 1}          // to memory
	MovOne     = Instr{Opcode: 0x10, Group: 1, Prefix: 3, Unit: 8} //
	StOne      = Instr{Opcode: 0x11, Group: 1, Prefix: 3, Unit: 8} //
	DupPair    = Instr{Opcode: 0x12, Group: 1, Prefix: 3, Unit: 8} // one element to two
	Broadcast  = Instr{Opcode: 0x19, Group: 2, Prefix: 1, Unit: 8} // to four or eight
	Comparison = Instr{Opcode: 0xc2, Group: 1, Prefix: 1}          //
	CompareOne = Instr{Opcode: 0xc2, Group: 1, Prefix: 3, Unit: 8} //
	ExpandMask = Instr{Opcode: 0x38, Group: 2, Prefix: 2}          // mask register to vector
	Blend      = Instr{Opcode: 0x4b, Group: 3, Prefix: 1}          // its mask is the immediate
	Ternary    = Instr{Opcode: 0x25, Group: 3, Prefix: 1}          // any function of three bits
	Rounding   = Instr{Opcode: 0x09, Group: 3, Prefix: 1}          //
	RoundOne   = Instr{Opcode: 0x0b, Group: 3, Prefix: 1, Unit: 8} //
)

// Fused returns a fused multiply-add in the form 132, 213 or 231.
func Fused(form int, negP, negC, one bool) Instr {
	in := Instr{Opcode: 0x98, Group: 2, Prefix: 1, VexW: 1}
	switch form {
	case 213:
		in.Opcode += 0x10
	case 231:
		in.Opcode += 0x20
	}
	if negC {
		in.Opcode += 2
	}
	if negP {
		in.Opcode += 4
	}
	if one {
		in.Opcode++
		in.Unit = 8
	}
	return in
}

// Return goes back to what called the code.
func (a *Asm) Return() {
	a.Byte(0xc5, 0xf8, 0x77) // VZEROUPPER
	a.Byte(0xc3)
	a.Count += 2
}

// Load32 sets the low 32 bits of r to those at m, and the others to zero.
func (a *Asm) Load32(r Reg, m Mem) {
	if x := uint8(r>>3)<<2 | uint8(m.indexOr0()>>3)<<1 | uint8(m.Base>>3); x != 0 {
		a.Byte(0x40 | x)
	}
	a.Byte(0x8b)
	a.modrm(uint8(r), m, 1)
	a.Count++
}

// LoadSigned sets r to the signed number of 32 bits at m.
func (a *Asm) LoadSigned(r Reg, m Mem) { a.Op64(0x63, r, m) }

// ShiftDown shifts the bits of r right by n.
func (a *Asm) ShiftDown(r Reg, n uint8) {
	a.rex(0, 0, r)
	a.Byte(0xc1, 0xe8|uint8(r)&7, n)
	a.Count++
}

// Align pads the code to an address at which a loop runs fast.
func (a *Asm) Align() {
	for len(a.Code)%32 != 0 {
		if n := 32 - len(a.Code)%32; n >= 8 {
			a.Byte(0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0)
		} else if n >= 4 {
			a.Byte(0x0f, 0x1f, 0x40, 0)
		} else {
			a.Byte(0x90)
		}
	}
}
