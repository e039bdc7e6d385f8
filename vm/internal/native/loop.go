package native

import (
	"math/bits"
	"slices"

	"odes.dev/odes/internal/base/machine"
)

// Fixed is the number from which on the slices of a Loop's places are those of the table. Lower
// numbers are pointers, which are set for each segment.
const Fixed = 1 << 20

// Loop is a body that runs over segments of arrays, Wide elements at a time.
//
// The Slice of a place below Fixed is the number of a pointer. If the place moves, its elements
// follow each other within a segment. From Fixed on, Slice is a slice of the table, one element of
// which is repeated in all segments alike. Every value is Wide.
//
// The list of segments consists of numbers of 32 bits. Each segment has its number of elements and
// two numbers for each pointer: where its slice is in the table, and where it begins there. Both
// are in bytes, and the second one is signed. A segment of no elements ends the list.
type Loop struct {
	*Body
	Width    int // elements of a Wide value, 4 or 8
	Pointers int
	Rowwise  []bool // by pointer: it moves by one element for Lanes elements of the others
	Lanes    int    // 2, 4 or 8, at most Width; the elements of a segment are a multiple of it
	Whole    bool   // the elements of every segment are a multiple of Width

	// Row is the number of elements that all segments have, or 0 if they differ. With a Row the
	// ends of what is loaded may be patched. It is for AVX512 only.
	Row     int
	Patches map[Place]Patch
}

// Patch says that the first Head and the last Tail elements of a segment are loaded from other
// places. Before is where the first one is, and Behind where the last vector of a segment would
// begin.
type Patch struct {
	Head, Tail     int
	Before, Behind Place
}

// Registers that a loop uses besides those of its pointers.
const (
	loopList    = machine.CX
	loopLeft    = machine.DX
	loopIndex   = machine.BX
	loopScratch = machine.AX  // the one address in use
	loopSpill   = machine.R15 // the slice of values without a register

	loopMask = 2  // mask register of the end of a segment
	maskVec  = 15 // the vector register for that mask where there are no mask registers
)

var loopPointers = []machine.Reg{machine.DI, machine.R8, machine.R9, machine.R10, machine.R11, machine.R12, machine.R14}

// loopWriter is the state of a writer that concerns the loop around its body.
type loopWriter struct {
	*Loop
	slots  map[int]int // by pointer without a register: its slot
	masked bool        // the end of a segment is being written
	spread Value       // which element of a row goes to which place

	// For a loop with a Row:
	head, tail bool                  // its first or its last vector is being written
	last       int                   // elements of the last vector
	masks      map[machine.Vec]uint8 // contents of mask registers
}

// Loop appends a block that runs l over the segments in the list of its record
// (kernel.Record.SetList), and returns the byte at which it begins. The slice number spill is as in
// Block.
func (c *Code) Loop(l *Loop, spill int) (at int) {
	at = c.begin()
	mask := none
	if c.masks(l) {
		mask = l.Bits(4, 0, 1, 2, 3)
	}
	spread := none
	if l.Width == 8 && l.spreads() {
		spread = l.Bits(8, 0/uint64(l.Lanes), 1/uint64(l.Lanes), 2/uint64(l.Lanes), 3/uint64(l.Lanes),
			4/uint64(l.Lanes), 5/uint64(l.Lanes), 6/uint64(l.Lanes), 7/uint64(l.Lanes))
	}
	w := c.newWriter(l.Body, l.Width, -1)
	w.loop = &loopWriter{Loop: l, slots: map[int]int{}, spread: spread}
	w.Asm.Load(loopList, machine.Mem{Base: machine.SI, Disp: recordList})
	w.Asm.Load(loopSpill, machine.Mem{Base: machine.R13, Disp: int32(24 * spill)})
	if mask != none {
		w.bind(mask, maskVec)
		w.pinned[mask] = true
	}
	w.sums(machine.MovPacked)
	if spread != none {
		w.keep(spread)
	}
	w.hoist()
	homes := slices.Clone(w.homes)

	segment, end := c.NewLabel(), c.NewLabel()
	c.Set(segment)
	c.Load32(loopLeft, machine.Mem{Base: loopList})
	c.Two(0x85, loopLeft, loopLeft)
	c.Jump(machine.Equal, end)
	w.pointers()
	c.Two(0x31, loopIndex, loopIndex)
	if l.Row > 0 {
		w.row(homes)
	} else {
		w.along(homes, mask)
	}
	c.Immediate(0, loopList, int32(4+8*l.Pointers))
	c.Jump(machine.Always, segment)
	c.Set(end)
	w.sums(machine.StPacked)
	c.spillSize = max(c.spillSize, w.size)
	c.end()
	return at
}

// sums loads the starting values of the body's sums into their registers, or stores the registers.
func (w *writer) sums(in machine.Instr) {
	for i := range w.b.ops {
		o := &w.b.ops[i]
		if o.code != opSum {
			continue
		}
		v := Value(i)
		if w.reg[v] < 0 {
			w.locked = 0
			w.bind(v, w.take())
			w.pinned[v] = true
		}
		w.Evex(in, lengthOf(w.width), machine.Vec(w.reg[v]), -1, machine.InMem(w.loopMem(o.at)), machine.NoImm)
	}
}

// sum adds a product to a sum. For elements that are masked out the sum stays as it is.
func (w *writer) sum(v Value, o *op) {
	x := w.inRegister(o.a)
	y := w.operand(o.b, false)
	if w.loop.masked {
		w.Writemask = loopMask
	}
	w.Evex(machine.Fused(231, false, false, false), lengthOf(w.width), machine.Vec(w.reg[v]), int(x), y, machine.NoImm)
	w.Writemask = 0
	w.passed(o.a)
	w.passed(o.b)
}

// along writes the loop over a segment.
func (w *writer) along(homes []home, mask Value) {
	c, l := w.Code, w.loop
	whole, rest, next := c.NewLabel(), c.NewLabel(), c.NewLabel()
	c.Immediate(5, loopLeft, int32(l.Width))
	c.Jump(machine.Less, rest)
	c.Align()
	c.Set(whole)
	w.body()
	c.Immediate(0, loopIndex, int32(l.Width))
	c.Immediate(5, loopLeft, int32(l.Width))
	c.Jump(machine.AtLeast, whole)
	c.Set(rest)
	if !l.Whole {
		c.Immediate(0, loopLeft, int32(l.Width))
		c.Jump(machine.Equal, next)
		w.setMask(mask)
		w.rewind(homes)
		l.masked = true
		w.body()
	}
	c.Set(next)
}

// row writes the loop over a segment of Row elements: its first vector, the ones in between, and
// its last one.
func (w *writer) row(homes []home) {
	c, l := w.Code, w.loop
	vectors := (l.Row + l.Width - 1) / l.Width
	l.last = l.Row - (vectors-1)*l.Width
	body := func(head, tail bool) {
		w.rewind(homes)
		l.head, l.tail, l.masked = head, tail, tail && l.last < l.Width
		l.masks = map[machine.Vec]uint8{}
		if l.masked {
			w.mask(loopMask, 1<<l.last-1)
			if l.spreads() {
				w.mask(spreadMask, 1<<(l.last/l.Lanes)-1)
			}
		}
		w.body()
	}
	if vectors > 1 {
		body(true, false)
		c.Immediate(0, loopIndex, int32(l.Width))
	}
	if vectors > 2 {
		c.Set32(loopLeft, uint32(vectors-2))
		c.Align()
		top := c.NewLabel()
		c.Set(top)
		body(false, false)
		c.Immediate(0, loopIndex, int32(l.Width))
		c.Immediate(5, loopLeft, 1)
		c.Jump(machine.Unequal, top)
	}
	body(vectors == 1, true)
}

// mask sets a mask register to bits.
func (w *writer) mask(k machine.Vec, bits uint8) {
	if old, ok := w.loop.masks[k]; ok && old == bits {
		return
	}
	w.loop.masks[k] = bits
	w.Set32(loopScratch, uint32(bits))
	w.Vector(toMask, 0, k, -1, machine.InReg(machine.Vec(loopScratch)), machine.NoImm)
}

// patched reports whether what is loaded from p is patched in the vector being written.
func (w *writer) patched(p Place) bool {
	if w.loop == nil || !w.loop.head && !w.loop.tail {
		return false
	}
	x := w.loop.Patches[p]
	return w.loop.head && x.Head > 0 || w.loop.tail && x.Tail > 0
}

// fetchPatched loads a vector and inserts its patches.
func (w *writer) fetchPatched(r machine.Vec, p Place) {
	l := w.loop
	x := l.Patches[p]
	lanes := uint8(1<<l.Width - 1)
	if l.masked {
		lanes = 1<<l.last - 1
	}
	var head, tail uint8
	if l.head {
		head = 1<<x.Head - 1
	}
	if l.tail {
		tail = (1<<x.Tail - 1) << (l.last - x.Tail)
	}
	read := func(k machine.Vec, lanes, zero uint8, p Place) {
		w.mask(k, lanes)
		w.Writemask = uint8(k) | zero
		w.Evex(machine.MovPacked, lengthOf(w.width), r, -1, machine.InMem(w.loopMem(p)), machine.NoImm)
		w.Writemask = 0
	}
	read(patchRest, lanes&^head&^tail, 0x80, p)
	if head != 0 {
		read(patchHead, head, 0, x.Before)
	}
	if tail != 0 {
		read(patchTail, tail, 0, x.Behind)
	}
}

// Mask registers of patches.
const (
	patchRest = 3
	patchHead = 4
	patchTail = 5
)

// spreads reports whether one element for several lanes does not fill a whole vector.
func (l *Loop) spreads() bool { return slices.Contains(l.Rowwise, true) && l.Lanes < l.Width }

// spread reports whether the elements at p are repeated for their lanes.
func (w *writer) spread(p Place) bool {
	return w.loop != nil && w.loop.Lanes < w.width && p.Slice >= 0 && p.Slice < Fixed && p.Moves &&
		w.loop.Rowwise[p.Slice]
}

// fetchSpread loads elements and repeats each for its lanes.
func (w *writer) fetchSpread(r machine.Vec, p Place) {
	switch {
	case w.width == 4 && w.loop.masked:
		w.Vector(machine.MovOne, 0, r, -1, machine.InMem(w.mem(p)), machine.NoImm)
	case w.width == 4:
		w.Vector(machine.MovPacked, 0, r, -1, machine.InMem(w.mem(p)), machine.NoImm)
	default:
		if w.loop.masked {
			w.Writemask = spreadMask | 0x80
		}
		w.Evex(machine.MovPacked, lengthOf(w.width/w.loop.Lanes), r, -1, machine.InMem(w.loopMem(p)), machine.NoImm)
		w.Writemask = 0
		w.Evex(permute, 2, r, int(w.reg[w.loop.spread]), machine.InReg(r), machine.NoImm)
		return
	}
	w.Vector(permuteBy, 1, r, -1, machine.InReg(r), 0x50)
}

var (
	permute   = machine.Instr{Opcode: 0x16, Group: 2, Prefix: 1}          // VPERMPD
	permuteBy = machine.Instr{Opcode: 0x01, Group: 3, Prefix: 1, VexW: 1} // VPERMPD, by its immediate
)

// spreadMask is the mask register of the elements that are repeated.
const spreadMask = 6

// masks reports whether the ends of segments need a mask in a vector register.
func (c *Code) masks(l *Loop) bool { return !l.Whole && c.target != AVX512 }

// rewind prepares to write the body once more.
func (w *writer) rewind(homes []home) {
	copy(w.homes, homes)
	copy(w.next, w.p.uses)
	w.ended = w.ended[:0]
	for r, v := range w.in {
		if v != none && !w.pinned[v] {
			w.in[r], w.reg[v] = none, -1
		}
	}
	for i := range w.slots {
		if w.slots[i].owner != kept {
			w.slots[i].owner = none
		}
	}
}

// hoist loads what is the same in all segments before the loop, as much of it as should stay in
// registers.
func (w *writer) hoist() {
	room := 4
	if w.target == AVX512 {
		room = 14
	}
	var list []Value
	for i := range w.b.ops {
		v := Value(i)
		if w.b.ops[i].code == opSum {
			room--
		}
		if o := &w.b.ops[i]; w.p.uses[i+1] > w.p.uses[i] && !w.pinned[v] &&
			(o.code == opConst || o.code == opSplat && o.at.Slice >= Fixed) {
			list = append(list, v)
		}
	}
	weight := func(v Value) int32 {
		n := w.p.uses[v+1] - w.p.uses[v]
		if w.b.ops[v].code == opSplat {
			n *= 3
		}
		return n
	}
	slices.SortStableFunc(list, func(x, y Value) int { return int(weight(y) - weight(x)) })
	for _, v := range list[:min(room, len(list))] {
		w.keep(v)
	}
}

// pointers loads the pointers of a segment.
func (w *writer) pointers() {
	for i := range w.loop.Pointers {
		r := loopScratch
		if i < len(loopPointers) {
			r = loopPointers[i]
		}
		at := int32(4 + 8*i)
		w.Load32(r, machine.Mem{Base: loopList, Disp: at})
		w.Asm.Load(r, machine.Mem{Base: machine.R13, Index: r, Indexed: true, Scale: 1})
		if i < len(loopPointers) {
			w.LoadSigned(loopScratch, machine.Mem{Base: loopList, Disp: at + 4})
			w.Two(0x01, r, loopScratch)
			continue
		}
		slot, ok := w.loop.slots[i]
		if !ok {
			slot = w.slot(kept, 1)
			w.loop.slots[i] = slot
		}
		w.LoadSigned(loopIndex, machine.Mem{Base: loopList, Disp: at + 4})
		w.Two(0x01, loopIndex, r)
		w.Op64(0x89, loopIndex, machine.Mem{Base: loopSpill, Disp: int32(8 * slot)})
	}
}

// loopMem is mem in a loop.
func (w *writer) loopMem(p Place) machine.Mem {
	m := machine.Mem{Base: loopScratch, Disp: int32(8 * p.Off)}
	switch {
	case p.Slice < 0:
		m.Base = loopSpill
		return m
	case p.Slice >= Fixed:
		w.Asm.Load(m.Base, machine.Mem{Base: machine.R13, Disp: int32(24 * (p.Slice - Fixed))})
		return m
	case p.Slice < len(loopPointers):
		m.Base = loopPointers[p.Slice]
	default:
		w.Asm.Load(m.Base, machine.Mem{Base: loopSpill, Disp: int32(8 * w.loop.slots[p.Slice])})
	}
	if p.Moves {
		m.Index, m.Indexed, m.Scale = loopIndex, true, 8
		if w.loop.Rowwise[p.Slice] {
			m.Scale = uint8(8 / w.loop.Lanes)
		}
	}
	return m
}

// partial reports whether only some elements of a vector at p may be touched.
func (w *writer) partial(p Place, n int) bool {
	return w.loop != nil && w.loop.masked && n > 1 && p.Slice >= 0 && p.Slice < Fixed
}

// fetchPart loads the elements that the mask selects.
func (w *writer) fetchPart(r machine.Vec, p Place) {
	if w.target == AVX512 {
		w.Writemask = loopMask | 0x80 // other elements become zero
		w.Evex(machine.MovPacked, lengthOf(w.width), r, -1, machine.InMem(w.mem(p)), machine.NoImm)
		w.Writemask = 0
		return
	}
	w.Vector(maskLoad, 1, r, maskVec, machine.InMem(w.mem(p)), machine.NoImm)
}

// storePart stores the elements that the mask selects.
func (w *writer) storePart(p Place, r machine.Vec) {
	if w.target == AVX512 {
		w.Writemask = loopMask
		w.Evex(machine.StPacked, lengthOf(w.width), r, -1, machine.InMem(w.mem(p)), machine.NoImm)
		w.Writemask = 0
		return
	}
	w.Vector(maskStore, 1, r, maskVec, machine.InMem(w.mem(p)), machine.NoImm)
}

// setMask makes the mask of the elements that remain.
func (w *writer) setMask(mask Value) {
	if w.target == AVX512 {
		scratch := machine.Vec(loopScratch)
		w.Set32(loopScratch, 0xffffffff)
		w.Vector(keepBits, 0, scratch, int(loopLeft), machine.InReg(scratch), machine.NoImm)
		w.Vector(toMask, 0, loopMask, -1, machine.InReg(scratch), machine.NoImm)
		if w.loop.spreads() { // the elements are a half or a quarter of the vector
			w.ShiftDown(loopLeft, uint8(bits.TrailingZeros(uint(w.loop.Lanes))))
			w.Set32(loopScratch, 0xffffffff)
			w.Vector(keepBits, 0, scratch, int(loopLeft), machine.InReg(scratch), machine.NoImm)
			w.Vector(toMask, 0, spreadMask, -1, machine.InReg(scratch), machine.NoImm)
		}
		return
	}
	w.Vector(toVector, 0, maskVec, -1, machine.InReg(machine.Vec(loopLeft)), machine.NoImm)
	w.Vector(repeatInt, 1, maskVec, -1, machine.InReg(maskVec), machine.NoImm)
	w.Vector(exceeds, 1, maskVec, maskVec, w.argument(w.homes[mask]), machine.NoImm)
}

var (
	keepBits  = machine.Instr{Opcode: 0xf5, Group: 2}                     // BZHI
	toMask    = machine.Instr{Opcode: 0x92, Group: 1}                     // KMOVW
	toVector  = machine.Instr{Opcode: 0x6e, Group: 1, Prefix: 1, VexW: 1} // VMOVQ
	repeatInt = machine.Instr{Opcode: 0x59, Group: 2, Prefix: 1}          // VPBROADCASTQ
	exceeds   = machine.Instr{Opcode: 0x37, Group: 2, Prefix: 1}          // VPCMPGTQ
	maskLoad  = machine.Instr{Opcode: 0x2d, Group: 2, Prefix: 1}          // VMASKMOVPD
	maskStore = machine.Instr{Opcode: 0x2f, Group: 2, Prefix: 1}          //
)

// recordList is the offset of a record's list.
const recordList = 48
