package native

import (
	"slices"

	"odes.dev/odes/internal/base/machine"
)

// home is a place in memory from which a value can be read.
type home struct {
	kind   homeKind
	place  Place
	repeat bool // the place is one element, repeated
	lit    int32
}

type homeKind uint8

const (
	nowhere homeKind = iota
	inPlace
	literal
)

// writer writes one body. It gives registers to values in order, and takes them from the values
// whose next read is farthest away.
type writer struct {
	*Code
	b     *Body
	p     *plan
	width int // elements of a Wide value
	at    int // position in the order of operations
	spill int // the slice of places for values that get no register

	reg    []int16 // by value: its register, or -1
	homes  []home
	next   []int32 // by value: index in p.reads of its next read
	pinned []bool  // by value: it stays in its register
	in     [32]Value
	locked uint32 // registers that the current instruction reads

	base  map[int]machine.Reg // by slice: the register for its address
	ready map[int]bool        // by slice: the address is loaded
	spare machine.Reg         // for the slices that have no register of their own
	holds int                 // slice whose address is in the spare register; -1: none
	index machine.Reg         // index of the loop

	slots []slot  // places for values that get no register
	ended []Value // values that were read for the last time
	size  int     // elements of the slots

	loop *loopWriter // the loop around the body; nil for none
}

type slot struct {
	off, size int
	owner     Value // none: the slot is free
}

// kept owns slots that are never given to another value.
const kept = Value(-2)

// General registers for addresses. The first ones make shorter instructions.
var pointers = []machine.Reg{
	machine.AX, machine.CX, machine.DX, machine.BX, machine.DI, machine.R8, machine.R9,
	machine.R10, machine.R11, machine.R12,
}

func (c *Code) newWriter(b *Body, width, spill int) *writer {
	n := len(b.ops)
	w := &writer{
		Code: c, b: b, p: b.newPlan(), width: width, spill: spill,
		reg: zeros(&b.room.reg, n), homes: zeros(&b.room.homes, n), next: zeros(&b.room.next, n),
		pinned: zeros(&b.room.pinned, n),
		base:   map[int]machine.Reg{}, ready: map[int]bool{}, holds: -1,
	}
	for i := range w.in {
		w.in[i] = none
	}
	for i := range b.ops {
		w.reg[i] = -1
		w.next[i] = w.p.uses[i]
		switch o := &b.ops[i]; o.code {
		case opLoad:
			w.homes[i] = home{kind: inPlace, place: o.at}
		case opSplat:
			w.homes[i] = home{kind: inPlace, place: o.at, repeat: true}
		case opConst:
			w.homes[i] = w.literal(Value(i))
		}
	}
	return w
}

// literal puts a constant into the pool: one element where an instruction can repeat that,
// otherwise all of them.
func (w *writer) literal(v Value) home {
	words := w.b.constants.words(w.b.ops[v].literal)
	n := w.widthOf(v)
	if len(words) > 1 {
		return home{kind: literal, lit: w.pool.number(words)}
	}
	if w.target == AVX512 && n > 1 || n == 1 {
		return home{kind: literal, lit: w.pool.number(words), repeat: n > 1}
	}
	return home{kind: literal, lit: w.whole(words[0], n)}
}

// whole returns a literal that fills a vector of n elements.
func (c *Code) whole(word uint64, n int) int32 {
	if c.wholes == nil {
		c.wholes = map[wholeKey]int32{}
	}
	k := wholeKey{word, n}
	if i, ok := c.wholes[k]; ok {
		return i
	}
	c.pool.list = append(c.pool.list, slices.Repeat([]uint64{word}, n))
	i := int32(len(c.pool.list) - 1)
	c.wholes[k] = i
	return i
}

type wholeKey struct {
	word uint64
	n    int
}

// widthOf returns the elements of v.
func (w *writer) widthOf(v Value) int {
	if n := int(w.b.ops[v].width); n != Wide {
		return n
	}
	return w.width
}

// lengthOf returns the code that instructions have for a width.
func lengthOf(width int) uint8 {
	switch width {
	case 4:
		return 1
	case 8:
		return 2
	}
	return 0
}

// addresses gives general registers to the slices that are read and written. The slices that are
// used most get those of short instructions. The reserved registers are not used.
func (w *writer) addresses(reserved ...machine.Reg) {
	count := map[int]int{}
	order := []int{w.spill}
	for i := range w.b.ops {
		if o := &w.b.ops[i]; o.code == opLoad || o.code == opSplat || o.code == opStore {
			if count[o.at.Slice] == 0 && o.at.Slice != w.spill {
				order = append(order, o.at.Slice)
			}
			count[o.at.Slice]++
		}
	}
	var free []machine.Reg
	for _, r := range pointers {
		if !slices.Contains(reserved, r) {
			free = append(free, r)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return count[b] - count[a] })
	if len(order) > len(free) {
		w.spare, free = free[len(free)-1], free[:len(free)-1]
		i := slices.Index(order, w.spill)
		order = append([]int{w.spill}, slices.Delete(order, i, i+1)...)[:len(free)]
	}
	for i, s := range order {
		w.base[s] = free[i]
	}
}

// pointer returns the register that holds the address of a slice, loading it.
func (w *writer) pointer(slice int) machine.Reg {
	r, ok := w.base[slice]
	switch {
	case !ok && w.holds != slice:
		r, w.holds = w.spare, slice
	case !ok:
		return w.spare
	case w.ready[slice]:
		return r
	}
	w.Asm.Load(r, machine.Mem{Base: machine.R13, Disp: int32(24 * slice)})
	w.ready[slice] = ok
	return r
}

// mem returns the address of a place. It may load a general register, the spare one included, so
// only one such address can be in use at a time.
func (w *writer) mem(p Place) machine.Mem {
	if w.loop != nil {
		return w.loopMem(p)
	}
	m := machine.Mem{Base: w.pointer(p.Slice), Disp: int32(8 * p.Off)}
	if p.Moves {
		m.Index, m.Indexed, m.Scale = w.index, true, 8
	}
	return m
}

// argument returns a home as an operand of an instruction.
func (w *writer) argument(h home) machine.Arg {
	if h.kind == literal {
		return machine.Arg{Kind: machine.InPool, Lit: h.lit, Repeat: h.repeat}
	}
	a := machine.InMem(w.mem(h.place))
	a.Repeat = h.repeat
	return a
}

// nextRead returns the position of the next read of v, or a large number.
func (w *writer) nextRead(v Value) int32 {
	if i := w.next[v]; i < w.p.uses[v+1] {
		return w.p.reads[i]
	}
	return 1 << 30
}

// passed counts the reads of v by the current operation, and frees its register after the last one.
func (w *writer) passed(v Value) {
	if v < 0 {
		return
	}
	for w.nextRead(v) <= int32(w.at) {
		w.next[v]++
	}
	if w.nextRead(v) == 1<<30 && !w.pinned[v] {
		w.drop(v)
		w.ended = append(w.ended, v)
	}
}

// reuse gives back the slots of values that are not read any more.
func (w *writer) reuse() {
	for _, v := range w.ended {
		if h := w.homes[v]; h.kind == inPlace && h.place.Slice == w.spill {
			for i := range w.slots {
				if s := &w.slots[i]; s.owner == v {
					s.owner = none
				}
			}
		}
	}
	w.ended = w.ended[:0]
}

// drop frees the register of v.
func (w *writer) drop(v Value) {
	if r := w.reg[v]; r >= 0 {
		w.in[r], w.reg[v] = none, -1
	}
}

// take returns a free register. If there is none, it frees one.
func (w *writer) take() machine.Vec {
	n := 16
	if w.target == AVX512 {
		n = 32
	}
	best, far := -1, int32(-1)
	for r := range n {
		v := w.in[r]
		if v == none {
			if w.locked>>r&1 == 0 {
				return machine.Vec(r)
			}
			continue
		}
		if w.locked>>r&1 == 1 || w.pinned[v] {
			continue
		}
		d := w.nextRead(v) - int32(w.at)
		if w.homes[v].kind != nowhere {
			d *= 2
		}
		if d > far {
			best, far = r, d
		}
	}
	w.evict(w.in[best])
	return machine.Vec(best)
}

// evict writes v to memory if it is not there already, and frees its register.
func (w *writer) evict(v Value) {
	if w.homes[v].kind == nowhere && w.nextRead(v) < 1<<30 {
		n := w.widthOf(v)
		p := Place{Slice: w.spill, Off: w.slot(v, n)}
		w.store(p, machine.Vec(w.reg[v]), n)
		w.homes[v] = home{kind: inPlace, place: p}
		w.spills++
	}
	w.drop(v)
}

// slot returns a free place for n elements of v.
func (w *writer) slot(v Value, n int) int {
	for i := range w.slots {
		if s := &w.slots[i]; s.owner == none && s.size == n {
			s.owner = v
			return s.off
		}
	}
	w.slots = append(w.slots, slot{off: w.size, size: n, owner: v})
	w.size += n
	return w.size - n
}

// store writes a register to a place.
func (w *writer) store(p Place, r machine.Vec, n int) {
	if w.partial(p, n) {
		w.storePart(p, r)
		return
	}
	in := machine.StPacked
	if n == 1 {
		in = machine.StOne
	}
	w.Vector(in, lengthOf(n), r, -1, machine.InMem(w.mem(p)), machine.NoImm)
}

// fetch reads a home into a register.
func (w *writer) fetch(r machine.Vec, h home, n int) {
	if h.repeat && h.kind == inPlace && w.spread(h.place) {
		w.fetchSpread(r, h.place)
		return
	}
	if !h.repeat && h.kind == inPlace && w.patched(h.place) {
		w.fetchPatched(r, h.place)
		return
	}
	if !h.repeat && h.kind == inPlace && w.partial(h.place, n) {
		w.fetchPart(r, h.place)
		return
	}
	a := w.argument(h)
	repeat := h.repeat
	a.Repeat = false
	switch {
	case !repeat && n == 1:
		w.Vector(machine.MovOne, 0, r, -1, a, machine.NoImm)
	case !repeat:
		w.Vector(machine.MovPacked, lengthOf(n), r, -1, a, machine.NoImm)
	case n == 2:
		w.Vector(machine.DupPair, 0, r, -1, a, machine.NoImm)
	default:
		w.Vector(machine.Broadcast, lengthOf(n), r, -1, a, machine.NoImm)
	}
}

// bind puts v into register r.
func (w *writer) bind(v Value, r machine.Vec) machine.Vec {
	w.in[r], w.reg[v] = v, int16(r)
	return r
}

// inRegister returns the register of v, which it loads if v is in memory only, and locks the
// register for the current instruction.
func (w *writer) inRegister(v Value) machine.Vec {
	if w.reg[v] < 0 {
		r := w.take()
		w.fetch(r, w.homes[v], w.widthOf(v))
		w.bind(v, r)
	}
	w.locked |= 1 << w.reg[v]
	return machine.Vec(w.reg[v])
}

// folds reports whether an instruction can read v from memory. With bits set, the instruction reads
// 16 bytes even of a single element.
func (w *writer) folds(v Value, bits bool) bool {
	h := w.homes[v]
	if w.reg[v] >= 0 || h.kind == nowhere {
		return false
	}
	if h.kind == inPlace && h.repeat && w.spread(h.place) {
		return false
	}
	if w.loop != nil && h.kind == inPlace && !h.repeat &&
		(w.patched(h.place) || w.partial(h.place, w.width) || w.after(v) < 1<<30) {
		return false // it is better loaded once
	}
	return !(h.repeat && w.target != AVX512) && !(bits && w.widthOf(v) == 1 && h.kind != literal)
}

// operand returns v as an operand, which may be memory.
func (w *writer) operand(v Value, bits bool) machine.Arg {
	if w.folds(v, bits) {
		h := w.homes[v]
		if h.kind == literal && w.widthOf(v) == 1 && bits {
			h.lit = w.whole(w.pool.words(h.lit)[0], 2)
		}
		return w.argument(h)
	}
	return machine.InReg(w.inRegister(v))
}

// keep loads a load, splat or constant into a register that belongs to it to the end.
func (w *writer) keep(v Value) {
	w.locked = 0
	w.inRegister(v)
	w.pinned[v] = true
}

// body writes the operations.
func (w *writer) body() {
	for at, v := range w.p.order {
		w.at, w.locked = at, 0
		w.reuse()
		w.instruction(v)
	}
}

// result ends the reads of the current operation and returns a register for v.
func (w *writer) result(v Value) machine.Vec {
	o := &w.b.ops[v]
	w.locked = 0
	w.passed(o.a)
	w.passed(o.b)
	w.passed(o.c)
	return w.bind(v, w.take())
}

func (w *writer) instruction(v Value) {
	o := &w.b.ops[v]
	n := w.widthOf(v)
	length, one := lengthOf(n), n == 1
	switch o.code {
	case opLoad, opSplat: // only loads of memory that a store is about to overwrite
		w.inRegister(v)
		w.homes[v] = home{}
	case opStore:
		r := w.inRegister(o.a)
		w.store(o.at, r, n)
		if w.p.keeps[v] && w.homes[o.a].kind == nowhere && !o.at.Moves {
			w.homes[o.a] = home{kind: inPlace, place: o.at}
		}
		w.passed(o.a)
	case opSum:
		w.sum(v, o)
	case opDup:
		w.dup(v, o, n)
	case opFma:
		w.fma(v, o, length, one)
	case opBlend:
		w.blend(v, o, length)
	case opSqrt, opRound:
		w.unary(v, o, length, one)
	case opCompare:
		x := w.inRegister(o.a)
		y := w.operand(o.b, false)
		in := machine.Comparison
		if one {
			in = machine.CompareOne
		}
		w.compare(in, length, v, x, y, int(o.imm))
	default:
		bits := o.code >= opAnd && o.code <= opXor
		a, b := o.a, o.b
		if o.code == opAdd || o.code == opMul || o.code == opAnd || o.code == opOr || o.code == opXor {
			a, b = w.better(a, b, bits)
		}
		x := w.inRegister(a)
		y := w.operand(b, bits)
		w.Vector(binary(o.code, one), length, w.result(v), int(x), y, machine.NoImm)
	}
}

// better orders the operands of an operation that may swap them. The second one is read from
// memory, if one of them can be. If both can be, the one whose next read is sooner goes first, into
// a register.
func (w *writer) better(a, b Value, bits bool) (Value, Value) {
	if w.folds(a, bits) && !w.folds(b, bits) {
		return b, a
	}
	if w.folds(a, bits) && w.folds(b, bits) && w.after(b) < w.after(a) {
		return b, a
	}
	return a, b
}

// after returns the position at which v is read after the current operation.
func (w *writer) after(v Value) int32 {
	for i := w.next[v]; i < w.p.uses[v+1]; i++ {
		if w.p.reads[i] > int32(w.at) {
			return w.p.reads[i]
		}
	}
	return 1 << 30
}

// dup repeats a single element. An element in memory is read from there when the repeated value is
// read.
func (w *writer) dup(v Value, o *op, n int) {
	if h := w.homes[o.a]; h.kind != nowhere && w.reg[o.a] < 0 && w.b.ops[o.a].code != opLoad {
		h.repeat = true
		w.homes[v] = h
		for i := range w.slots { // both values read the slot
			if s := &w.slots[i]; s.owner == o.a {
				s.owner = kept
			}
		}
		w.passed(o.a)
		return
	}
	x := w.inRegister(o.a)
	in := machine.Broadcast
	if n == 2 {
		in = machine.DupPair
	}
	w.Vector(in, lengthOf(n), w.result(v), -1, machine.InReg(x), machine.NoImm)
}

// compare writes a comparison, whose result is a vector of masks.
func (w *writer) compare(in machine.Instr, length uint8, v Value, x machine.Vec, y machine.Arg, imm int) {
	short := length < 2 && x < 16 && (y.Kind != machine.InRegister || y.Reg < 16) && !y.Repeat
	r := w.result(v)
	if short && r < 16 {
		w.Vector(in, length, r, int(x), y, imm)
		return
	}
	w.Evex(in, length, 1, int(x), y, imm) // to mask register 1
	w.Evex(machine.ExpandMask, length, r, -1, machine.InReg(1), machine.NoImm)
}

func (w *writer) unary(v Value, o *op, length uint8, one bool) {
	in, imm := binary(opSqrt, one), machine.NoImm
	if o.code == opRound {
		in, imm = machine.Rounding, int(o.imm)
		if one {
			in = machine.RoundOne
		}
	}
	if !one {
		x := w.operand(o.a, false)
		w.Vector(in, length, w.result(v), -1, x, imm)
		return
	}
	x := w.inRegister(o.a)
	w.Vector(in, length, w.result(v), int(x), machine.InReg(x), imm)
}

// blend writes a choice by a mask.
func (w *writer) blend(v Value, o *op, length uint8) {
	mask, y := w.inRegister(o.a), w.inRegister(o.c)
	x := w.operand(o.b, true)
	if length < 2 && mask < 16 && y < 16 && (x.Kind != machine.InRegister || x.Reg < 16) && !x.Repeat {
		if r := w.result(v); r < 16 {
			w.Vector(machine.Blend, length, r, int(y), x, int(mask)<<4)
			return
		} else {
			w.Vector(machine.MovAligned, length, r, -1, machine.InReg(mask), machine.NoImm)
			w.Vector(machine.Ternary, length, r, int(y), x, 0xac)
			return
		}
	}
	r := w.fresh(v, o.a, mask, length)
	w.Evex(machine.Ternary, length, r, int(y), x, 0xac) // mask ? x : y
}

// fresh returns a register for v that holds x. It is the register of operand a itself if nothing
// else reads a, otherwise a copy.
func (w *writer) fresh(v, a Value, x machine.Vec, length uint8) machine.Vec {
	o := &w.b.ops[v]
	last := w.after(a) == 1<<30 && !w.pinned[a] && w.reg[a] == int16(x)
	if last {
		w.passed(o.a)
		w.passed(o.b)
		w.passed(o.c)
		w.locked = 0
		return w.bind(v, x)
	}
	r := w.take() // other than the operands, which are locked
	w.Vector(machine.MovAligned, length, r, -1, machine.InReg(x), machine.NoImm)
	w.locked = 0
	w.passed(o.a)
	w.passed(o.b)
	w.passed(o.c)
	return w.bind(v, r)
}

// fma writes a fused operation. Its form depends on which operand is in memory and which register
// is free.
func (w *writer) fma(v Value, o *op, length uint8, one bool) {
	a, b, c := o.a, o.b, o.c
	if w.folds(a, false) && !w.folds(b, false) {
		a, b = b, a
	}
	free := func(x Value) bool { return w.reg[x] >= 0 && w.after(x) == 1<<30 && !w.pinned[x] }
	if w.folds(c, false) && !w.folds(b, false) { // 213: a = a·b + c
		x, y := w.inRegister(a), w.inRegister(b)
		if free(b) && !free(a) {
			a, x, y = b, y, x
		}
		z := w.operand(c, false)
		w.Vector(machine.Fused(213, o.negP, o.negC, one), length, w.fresh(v, a, x, length), int(y), z, machine.NoImm)
		return
	}
	x, z := w.inRegister(a), w.inRegister(c)
	y := w.operand(b, false)
	if !free(c) && free(a) && a != b { // 132: a = a·b + c
		w.Vector(machine.Fused(132, o.negP, o.negC, one), length, w.fresh(v, a, x, length), int(z), y, machine.NoImm)
		return
	}
	// 231: c = a·b + c
	w.Vector(machine.Fused(231, o.negP, o.negC, one), length, w.fresh(v, c, z, length), int(x), y, machine.NoImm)
}

// The opcodes of operations on vectors.
var (
	bitwise    = [...]uint8{opAnd: 0x54, opAndNot: 0x55, opOr: 0x56, opXor: 0x57} //
	arithmetic = [...]uint8{
		opAdd: 0x58, opMul: 0x59, opSub: 0x5c, opLesser: 0x5d, opDiv: 0x5e, opGreater: 0x5f,
		opSqrt: 0x51,
	}
)

// binary returns the instruction of an operation on a vector, or on one element.
func binary(code opcode, one bool) machine.Instr {
	in := machine.Instr{Group: 1, Prefix: 1}
	if int(code) < len(bitwise) && bitwise[code] != 0 {
		in.Opcode = bitwise[code]
		return in
	}
	in.Opcode = arithmetic[code]
	if one {
		in.Prefix, in.Unit = 3, 8
	}
	return in
}
