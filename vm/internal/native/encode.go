package native

// reg is a general register, by its number in the encoding.
type reg uint8

// The registers that code may use. They are not SP, BP, R14 and R15, which are Go's, and not SI and
// R13, which are kept throughout a threaded program.
const (
	ax  reg = 0
	cx  reg = 1
	dx  reg = 2
	bx  reg = 3
	si  reg = 6 // the record
	di  reg = 7
	r8  reg = 8
	r9  reg = 9
	r10 reg = 10
	r11 reg = 11
	r12 reg = 12
	r13 reg = 13 // the table of slices
)

// vec is a vector register. Those from 16 on exist with AVX-512.
type vec uint8

// mem is memory: [base + index·scale + disp].
type mem struct {
	base    reg
	index   reg
	indexed bool
	scale   uint8 // 1, 2, 4 or 8
	disp    int32
}

// arg is an operand that may be a register or memory.
type arg struct {
	kind   argKind
	reg    vec
	mem    mem
	lit    int32 // number of a literal in the code's pool
	repeat bool  // memory is one element, which is repeated (AVX-512)
}

type argKind uint8

const (
	inRegister argKind = iota
	inMemory
	inPool
)

func inReg(v vec) arg { return arg{reg: v} }
func inMem(m mem) arg { return arg{kind: inMemory, mem: m} }

// instr describes a vector instruction: its opcode byte, the map it stands in, its prefix and, with
// AVX-512, its W bit. Without AVX-512 W is vexW.
type instr struct {
	opcode uint8
	group  uint8 // 1: 0F, 2: 0F38, 3: 0F3A
	prefix uint8 // 0: none, 1: 66, 2: F3, 3: F2
	vexW   uint8
	unit   uint8 // bytes that a short displacement counts in, with AVX-512; 0: the size of the vector
}

// asm collects instructions.
type asm struct {
	code   []byte
	fixups []fixup // displacements of literals
	jumps  []jump
	labels []int // by label: its place in the code; -1: not set
	count  int   // instructions

	writemask uint8 // of evex instructions: the mask register, with 0x80 to set elements outside the mask to zero
}

// fixup is a displacement that is filled in later: that of a literal, relative to the end of the
// instruction.
type fixup struct {
	at, end int
	lit     int32
}

type jump struct {
	at    int
	label label
}

// label is a place in the code to jump to.
type label int

func (a *asm) byte(b ...byte) { a.code = append(a.code, b...) }

func (a *asm) int32(x int32) {
	a.byte(byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
}

// newLabel returns a label that is not set yet.
func (a *asm) newLabel() label {
	a.labels = append(a.labels, -1)
	return label(len(a.labels) - 1)
}

// set places l at the end of the code.
func (a *asm) set(l label) { a.labels[l] = len(a.code) }

// Condition codes of jumps.
const (
	always  = 0xff
	below   = 0x2 // unsigned <
	equal   = 0x4
	unequal = 0x5
	less    = 0xc
	atLeast = 0xd // signed ≥
	atMost  = 0xe // signed ≤
	greater = 0xf
)

// jump goes to l if the condition holds.
func (a *asm) jump(condition uint8, l label) {
	if condition == always {
		a.byte(0xe9)
	} else {
		a.byte(0x0f, 0x80|condition)
	}
	a.jumps = append(a.jumps, jump{len(a.code), l})
	a.int32(0)
	a.count++
}

// resolve fills in the displacements of jumps.
func (a *asm) resolve() {
	for _, j := range a.jumps {
		put32(a.code[j.at:], int32(a.labels[j.label]-j.at-4))
	}
	a.jumps, a.labels = a.jumps[:0], a.labels[:0]
}

func put32(b []byte, x int32) {
	b[0], b[1], b[2], b[3] = byte(x), byte(x>>8), byte(x>>16), byte(x>>24)
}

// rex writes a REX prefix for 64-bit operands.
func (a *asm) rex(r reg, index reg, base reg) {
	a.byte(0x48 | uint8(r>>3)<<2 | uint8(index>>3)<<1 | uint8(base>>3))
}

// modrm writes the operand bytes of register field r and memory m. A short displacement counts in
// units of unit bytes.
func (a *asm) modrm(r uint8, m mem, unit int32) {
	r = r & 7 << 3
	base := uint8(m.base) & 7
	mod, short, long := uint8(0), false, false
	switch {
	case m.disp == 0 && base != 5:
	case m.disp%unit == 0 && m.disp/unit >= -128 && m.disp/unit <= 127:
		mod, short = 0x40, true
	default:
		mod, long = 0x80, true
	}
	switch {
	case m.indexed:
		scale := map[uint8]uint8{1: 0, 2: 0x40, 4: 0x80, 8: 0xc0}[m.scale]
		a.byte(mod|r|4, scale|uint8(m.index)&7<<3|base)
	case base == 4:
		a.byte(mod|r|4, 0x24)
	default:
		a.byte(mod | r | base)
	}
	switch {
	case short:
		a.byte(byte(m.disp / unit))
	case long:
		a.int32(m.disp)
	}
}

// op64 writes an instruction on a general register and memory.
func (a *asm) op64(opcode uint8, r reg, m mem) {
	a.rex(r, m.indexOr0(), m.base)
	a.byte(opcode)
	a.modrm(uint8(r), m, 1)
	a.count++
}

func (m mem) indexOr0() reg {
	if m.indexed {
		return m.index
	}
	return 0
}

// load sets r to the 64 bits at m.
func (a *asm) load(r reg, m mem) { a.op64(0x8b, r, m) }

// two writes an instruction on two general registers, with from as its source and to as its
// destination. Opcode 01 adds, 29 subtracts, 39 compares, 89 moves, and 31 is exclusive or.
func (a *asm) two(opcode uint8, to, from reg) {
	a.rex(from, 0, to)
	a.byte(opcode, 0xc0|uint8(from)&7<<3|uint8(to)&7)
	a.count++
}

// immediate writes an instruction on a general register and a number. For what, 0 adds, 5
// subtracts, 7 compares, and 4 is and.
func (a *asm) immediate(what uint8, r reg, x int32) {
	a.rex(0, 0, r)
	if x >= -128 && x <= 127 {
		a.byte(0x83, 0xc0|what<<3|uint8(r)&7, byte(x))
	} else {
		a.byte(0x81, 0xc0|what<<3|uint8(r)&7)
		a.int32(x)
	}
	a.count++
}

// set32 sets the low 32 bits of r to x, and the others to zero.
func (a *asm) set32(r reg, x uint32) {
	if r >= 8 {
		a.byte(0x41)
	}
	a.byte(0xb8 | uint8(r)&7)
	a.int32(int32(x))
	a.count++
}

// jumpTo jumps to the address in r.
func (a *asm) jumpTo(r reg) {
	if r >= 8 {
		a.byte(0x41)
	}
	a.byte(0xff, 0xe0|uint8(r)&7)
	a.count++
}

// next jumps to the handler of the next record of the threaded program, which is size bytes further
// on.
func (a *asm) next(size int) {
	a.load(ax, mem{base: si, disp: int32(size)})
	a.immediate(0, si, int32(size))
	a.jumpTo(ax)
}

// noImm says that an instruction has no immediate byte.
const noImm = -1

// vector writes an instruction on vector registers: dst, x (-1 if it has none) and y. The length is
// 0, 1 or 2 for 16, 32 or 64 bytes. It uses the shorter encoding where that is possible. A mask
// register as destination or operand needs the longer one.
func (a *asm) vector(in instr, length uint8, dst vec, x int, y arg, imm int) {
	long := length == 2 || dst >= 16 || x >= 16 || y.kind == inRegister && y.reg >= 16 || y.repeat
	if long {
		a.evex(in, length, dst, x, y, imm)
		return
	}
	r, vvvv, b, xx := uint8(dst)>>3, uint8(15), uint8(0), uint8(0)
	if x >= 0 {
		vvvv = 15 - uint8(x)
	}
	switch y.kind {
	case inRegister:
		b = uint8(y.reg) >> 3
	case inMemory:
		b = uint8(y.mem.base) >> 3
		xx = uint8(y.mem.indexOr0()) >> 3
	}
	last := vvvv<<3 | length<<2 | in.prefix
	if in.group == 1 && in.vexW == 0 && b == 0 && xx == 0 {
		a.byte(0xc5, (1-r)<<7|last)
	} else {
		a.byte(0xc4, (1-r)<<7|(1-xx)<<6|(1-b)<<5|in.group, in.vexW<<7|last)
	}
	a.byte(in.opcode)
	a.operand(uint8(dst), y, 1, imm)
}

// evex writes the long encoding of vector. Its W bit is always 1, because numbers have 64 bits.
func (a *asm) evex(in instr, length uint8, dst vec, x int, y arg, imm int) {
	r, r2 := uint8(dst)>>3&1, uint8(dst)>>4
	v := uint8(0)
	if x >= 0 {
		v = uint8(x)
	}
	b, xx, repeat := uint8(0), uint8(0), uint8(0)
	switch y.kind {
	case inRegister:
		b, xx = uint8(y.reg)>>3&1, uint8(y.reg)>>4
	case inMemory:
		b, xx = uint8(y.mem.base)>>3, uint8(y.mem.indexOr0())>>3
	}
	unit := int32(16) << length
	if in.unit > 0 {
		unit = int32(in.unit)
	}
	if y.repeat {
		repeat, unit = 1, 8
	}
	a.byte(0x62,
		(1-r)<<7|(1-xx)<<6|(1-b)<<5|(1-r2)<<4|in.group,
		1<<7|(^v&15)<<3|1<<2|in.prefix,
		length<<5|repeat<<4|(1-v>>4)<<3|a.writemask)
	a.byte(in.opcode)
	a.operand(uint8(dst), y, unit, imm)
}

// operand writes the bytes behind the opcode.
func (a *asm) operand(r uint8, y arg, unit int32, imm int) {
	switch y.kind {
	case inRegister:
		a.byte(0xc0 | r&7<<3 | uint8(y.reg)&7)
	case inMemory:
		a.modrm(r, y.mem, unit)
	case inPool:
		a.byte(r&7<<3 | 5)
		f := fixup{at: len(a.code), lit: y.lit}
		a.int32(0)
		f.end = len(a.code)
		if imm != noImm {
			f.end++
		}
		a.fixups = append(a.fixups, f)
	}
	if imm != noImm {
		a.byte(byte(imm))
	}
	a.count++
}

// The instructions on vectors and, where they exist, on one element.
var (
	movPacked  = instr{opcode: 0x10, group: 1, prefix: 1}                         // from memory
	movAligned = instr{opcode: 0x28, group: 1, prefix: 1}                         // between registers
	stPacked   = instr{opcode: 0x11, group: 1, prefix: 1}                         // to memory
	movOne     = instr{opcode: 0x10, group: 1, prefix: 3, unit: 8}                //
	stOne      = instr{opcode: 0x11, group: 1, prefix: 3, unit: 8}                //
	dupPair    = instr{opcode: 0x12, group: 1, prefix: 3, unit: 8}                // one element to two
	broadcast  = instr{opcode: 0x19, group: 2, prefix: 1, unit: 8}                // to four or eight
	comparison = instr{opcode: 0xc2, group: 1, prefix: 1}                         //
	compareOne = instr{opcode: 0xc2, group: 1, prefix: 3, unit: 8}                //
	expandMask = instr{opcode: 0x38, group: 2, prefix: 2}                         // mask register to vector
	blend      = instr{opcode: 0x4b, group: 3, prefix: 1}                         // its mask is the immediate
	ternary    = instr{opcode: 0x25, group: 3, prefix: 1}                         // any function of three bits
	rounding   = instr{opcode: 0x09, group: 3, prefix: 1}                         //
	roundOne   = instr{opcode: 0x0b, group: 3, prefix: 1, unit: 8}                //
	bitwise    = [...]uint8{opAnd: 0x54, opAndNot: 0x55, opOr: 0x56, opXor: 0x57} //
	arithmetic = [...]uint8{
		opAdd: 0x58, opMul: 0x59, opSub: 0x5c, opLesser: 0x5d, opDiv: 0x5e, opGreater: 0x5f,
		opSqrt: 0x51,
	}
)

// binary returns the instruction of an operation on a vector, or on one element.
func binary(code opcode, one bool) instr {
	in := instr{group: 1, prefix: 1}
	if int(code) < len(bitwise) && bitwise[code] != 0 {
		in.opcode = bitwise[code]
		return in
	}
	in.opcode = arithmetic[code]
	if one {
		in.prefix, in.unit = 3, 8
	}
	return in
}

// fused returns a fused multiply-add in the form 132, 213 or 231.
func fused(form int, negP, negC, one bool) instr {
	in := instr{opcode: 0x98, group: 2, prefix: 1, vexW: 1}
	switch form {
	case 213:
		in.opcode += 0x10
	case 231:
		in.opcode += 0x20
	}
	if negC {
		in.opcode += 2
	}
	if negP {
		in.opcode += 4
	}
	if one {
		in.opcode++
		in.unit = 8
	}
	return in
}
