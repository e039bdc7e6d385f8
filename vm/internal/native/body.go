// Package native makes machine code for amd64 processors while a program runs. The code is
// straight-line arithmetic on values of a few elements. Values live in vector registers, and touch
// memory only where they are loaded, are stored, or are more than there are registers.
//
// A Body lists operations on values. Code turns bodies into blocks, one behind the other, with
// their constants behind them, and Map makes the whole executable. A block is a handler of a
// threaded program (package vm/internal/kernel): it finds its arrays in the table of slices, and
// ends by jumping to the handler of the next record.
//
// Every operation gives the bits of the function of internal/base/elem that it stands for, by the
// instructions that the kernels of internal/base/simd use. The package knows nothing of tapes or
// machines.
package native

import (
	"math"
	"sync"
)

// Target is an instruction set.
type Target uint8

// The targets.
const (
	AVX2   Target = iota // AVX2 and FMA: up to four elements at once, 16 registers
	AVX512               // AVX-512 F, DQ and VL: up to eight, 32 registers
)

// Widest returns the elements of the widest values of t.
func (t Target) Widest() int {
	if t == AVX512 {
		return 8
	}
	return 4
}

// Wide, as the width of a value, is the width that code is written for. It is chosen only when the
// code is written.
const Wide = 0

// Place says where elements lie side by side: from element Off of the table's slice number Slice
// on. If the place moves, the index of the loop is added.
type Place struct {
	Slice, Off int
	Moves      bool
}

// Value is a value of a body: one element, or a vector of 2, 4 or 8, or Wide.
type Value int32

// Body is a list of operations, each on values listed before it.
type Body struct {
	ops       []op
	masks     []bool              // by operation: in each element of its result all bits are set, or none
	same      []int32             // hash table, with open addressing, of shared values: 1 + the value, 0 for none
	shares    int                 // values in it
	stored    map[element]storing // by element that is stored to: its last store
	constants literals
	room      room
}

// room is memory that the writing of one body after another takes.
type room struct {
	reg                       []int16
	homes                     []home
	next, uses, reads, cursor []int32
	order, stack              []Value
	pinned, early, keeps, did []bool
	needs                     []uint8
}

// zeros returns n zeros. It takes the memory of s where that suffices, and leaves it there otherwise.
func zeros[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n, n+n/4)
	}
	*s = (*s)[:n]
	clear(*s)
	return *s
}

// element is one element of a slice of the table.
type element struct{ slice, off int }

// storing says which operation stored, what it stored, and where the store begins.
type storing struct {
	at    int32
	value Value
	begin Place
}

// op is an operation. Operands that it does not have are -1.
type op struct {
	code    opcode
	width   uint8
	imm     uint8 // of a comparison, the predicate; of a rounding, the direction
	negP    bool  // of a fused operation: the product is negated
	negC    bool  // the addend is negated
	a, b, c Value
	at      Place
	literal int32 // of a constant: its number
	serial  int32 // operations with different numbers are not the same value
}

type opcode uint8

const (
	opLoad  opcode = iota // elements of memory
	opSplat               // one element of memory, repeated
	opConst
	opDup // a value of one element, repeated
	opStore
	opSum // a·b, added to a sum that is kept in a register
	opAdd
	opSub
	opMul
	opDiv
	opLesser  // a < b ? a : b
	opGreater // a > b ? a : b
	opAnd
	opAndNot
	opOr
	opXor
	opCompare // all bits of an element are set where true
	opSqrt
	opRound
	opFma   // ±a·b ± c
	opBlend // a's sign bit (all its bits are the same) ? b : c
)

const none = Value(-1)

// bodies are those that were given back: large programs are compiled one after another.
var bodies = sync.Pool{New: func() any { return &Body{stored: map[element]storing{}} }}

// NewBody returns an empty body.
func NewBody() *Body { return bodies.Get().(*Body) }

// Free gives b back, whose memory another body then takes. It must not be used afterwards.
func (b *Body) Free() {
	b.Clear()
	bodies.Put(b)
}

// Clear makes b empty. It keeps as much memory as its operations took.
func (b *Body) Clear() {
	if 8*b.shares < len(b.same) {
		b.same = nil
	}
	clear(b.same)
	if len(b.stored) < 100 {
		b.stored = map[element]storing{}
	}
	clear(b.stored)
	b.ops, b.masks, b.shares, b.constants = b.ops[:0], b.masks[:0], 0, literals{}
}

// Len returns the number of operations.
func (b *Body) Len() int { return len(b.ops) }

// Width returns the elements of v.
func (b *Body) Width(v Value) int { return int(b.ops[v].width) }

func (b *Body) put(o op) Value {
	b.masks = append(b.masks, b.makesMask(&o))
	b.ops = append(b.ops, o)
	return Value(len(b.ops) - 1)
}

// shared returns the value of an operation: one value for all that are the same.
func (b *Body) shared(o op) Value {
	if 2*b.shares >= len(b.same) {
		b.enlarge()
	}
	at := b.slot(&o)
	if v := b.same[at]; v > 0 {
		return Value(v - 1)
	}
	v := b.put(o)
	b.same[at] = int32(v) + 1
	b.shares++
	return v
}

// slot returns where the table has o, or where it belongs.
func (b *Body) slot(o *op) uint64 {
	mask := uint64(len(b.same) - 1)
	at := o.hash() & mask
	for b.same[at] > 0 && b.ops[b.same[at]-1] != *o {
		at = (at + 1) & mask
	}
	return at
}

// enlarge makes the table twice as large.
func (b *Body) enlarge() {
	old := b.same
	b.same = make([]int32, max(2*len(old), 64))
	for _, v := range old {
		if v > 0 {
			b.same[b.slot(&b.ops[v-1])] = v
		}
	}
}

func (o *op) hash() uint64 {
	h := uint64(o.code)<<8 | uint64(o.width)
	for _, x := range [...]uint64{
		uint64(o.imm), uint64(uint32(o.a)), uint64(uint32(o.b)), uint64(uint32(o.c)), uint64(o.at.Slice),
		uint64(o.at.Off), uint64(uint32(o.literal)), uint64(uint32(o.serial)),
	} {
		h = (h ^ x) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return h
}

// Load reads width elements. It sees what the body stored there before.
func (b *Body) Load(width int, at Place) Value { return b.read(opLoad, width, at) }

// Splat reads one element and repeats it.
func (b *Body) Splat(width int, at Place) Value {
	if width == 1 {
		return b.Load(1, at)
	}
	return b.read(opSplat, width, at)
}

func (b *Body) read(code opcode, width int, at Place) Value {
	o := op{code: code, width: uint8(width), a: none, b: none, c: none, at: at}
	n := width
	if code == opSplat {
		n = 1
	}
	if s, ok := b.stored[element{at.Slice, at.Off}]; ok && s.begin == at && s.value >= 0 && b.whole(at, s) {
		if w := b.Width(s.value); w == width && code == opLoad {
			return s.value
		} else if w == 1 && code == opSplat {
			return b.Dup(width, s.value)
		}
	}
	o.serial = b.since(at, n) + 1 // reads before and after a store are not the same value
	return b.shared(o)
}

// since returns the last store to any of n elements, or -1 if there is none.
func (b *Body) since(at Place, n int) int32 {
	last := int32(-1)
	for i := range max(n, 1) {
		if s, ok := b.stored[element{at.Slice, at.Off + i}]; ok {
			last = max(last, s.at)
		}
	}
	return last
}

// whole reports whether everything that s stored at a place is still there.
func (b *Body) whole(at Place, s storing) bool {
	for i := range max(b.Width(s.value), 1) {
		if b.stored[element{at.Slice, at.Off + i}].at != s.at {
			return false
		}
	}
	return true
}

// Const is a constant: x in all elements, or a number for each.
func (b *Body) Const(width int, x ...float64) Value {
	words := make([]uint64, len(x))
	for i := range x {
		words[i] = math.Float64bits(x[i])
	}
	return b.Bits(width, words...)
}

// Bits is a constant given by its bits.
func (b *Body) Bits(width int, words ...uint64) Value {
	return b.shared(op{
		code: opConst, width: uint8(width), a: none, b: none, c: none,
		literal: b.constants.number(words),
	})
}

// Dup repeats a value of one element.
func (b *Body) Dup(width int, v Value) Value {
	o := b.ops[v]
	switch {
	case width == 1:
		return v
	case o.code == opLoad && o.serial == b.since(o.at, 1)+1:
		return b.Splat(width, o.at)
	case o.code == opConst:
		o.width = uint8(width)
		return b.shared(o)
	}
	return b.shared(op{code: opDup, width: uint8(width), a: v, b: none, c: none})
}

// Store writes v to a place.
func (b *Body) Store(at Place, v Value) {
	i := b.put(op{code: opStore, width: b.ops[v].width, a: v, b: none, c: none, at: at})
	b.note(at, v, i)
}

// Sum adds x·y, rounded once, to the Wide elements at a place. A loop for AVX512 keeps them in a
// register. The sum begins with what is at the place before.
func (b *Body) Sum(at Place, x, y Value) {
	b.put(op{code: opSum, width: b.ops[x].width, a: x, b: y, c: none, at: at})
}

func (b *Body) note(at Place, v, store Value) {
	for i := range max(b.Width(v), 1) {
		b.stored[element{at.Slice, at.Off + i}] = storing{at: int32(store), value: v, begin: at}
	}
}

// Accumulate adds v to what is at a place. Other slices may share that memory, so it is read and
// written at this point of the body, neither earlier nor later.
func (b *Body) Accumulate(at Place, v Value) {
	x := b.put(op{code: opLoad, width: b.ops[v].width, a: none, b: none, c: none, at: at, serial: -1})
	b.Store(at, b.Add(x, v))
	for i := range max(b.Width(v), 1) {
		e := element{at.Slice, at.Off + i}
		s := b.stored[e]
		s.value = -1
		b.stored[e] = s
	}
}

func (b *Body) op2(code opcode, x, y Value) Value {
	return b.shared(op{code: code, width: b.ops[x].width, a: x, b: y, c: none})
}

// negated returns x if v is -x; ok is false otherwise.
func (b *Body) negated(v Value) (x Value, ok bool) {
	o := &b.ops[v]
	if o.code != opXor || b.ops[o.b].code != opConst {
		return v, false
	}
	w := b.constants.words(b.ops[o.b].literal)
	if len(w) != 1 || w[0] != signBit {
		return v, false
	}
	return o.a, true
}

// Add is x + y.
func (b *Body) Add(x, y Value) Value {
	if z, ok := b.negated(y); ok {
		return b.op2(opSub, x, z)
	}
	if z, ok := b.negated(x); ok {
		return b.op2(opSub, y, z)
	}
	return b.op2(opAdd, x, y)
}

// Sub is x - y.
func (b *Body) Sub(x, y Value) Value {
	if z, ok := b.negated(y); ok {
		return b.op2(opAdd, x, z)
	}
	return b.op2(opSub, x, y)
}

// Mul is x·y.
func (b *Body) Mul(x, y Value) Value { return b.op2(opMul, x, y) }

// Div is x/y.
func (b *Body) Div(x, y Value) Value { return b.op2(opDiv, x, y) }

// Lesser is x < y ? x : y, which is y where an operand is NaN.
func (b *Body) Lesser(x, y Value) Value { return b.op2(opLesser, x, y) }

// Greater is x > y ? x : y, which is y where an operand is NaN.
func (b *Body) Greater(x, y Value) Value { return b.op2(opGreater, x, y) }

// And is x & y on the bits.
func (b *Body) And(x, y Value) Value { return b.op2(opAnd, x, y) }

// AndNot is ^x & y on the bits.
func (b *Body) AndNot(x, y Value) Value { return b.op2(opAndNot, x, y) }

// Or is x | y on the bits.
func (b *Body) Or(x, y Value) Value { return b.op2(opOr, x, y) }

// Xor is x ^ y on the bits.
func (b *Body) Xor(x, y Value) Value { return b.op2(opXor, x, y) }

// Predicate is a comparison of two numbers.
type Predicate uint8

// The predicates. With a NaN they are false, but for NotEqual and Unordered.
const (
	Equal     Predicate = 0
	Unordered Predicate = 3
	NotEqual  Predicate = 4
	Less      Predicate = 17
	LessEq    Predicate = 18
	GreaterEq Predicate = 29
	Above     Predicate = 30
)

// Compare gives a mask: all bits of an element are set where the predicate is true, none where it
// is false.
func (b *Body) Compare(p Predicate, x, y Value) Value {
	return b.shared(op{code: opCompare, width: b.ops[x].width, imm: uint8(p), a: x, b: y, c: none})
}

// Where is mask ? x : y.
func (b *Body) Where(mask, x, y Value) Value {
	return b.shared(op{code: opBlend, width: b.ops[x].width, a: mask, b: x, c: y})
}

// Sqrt is the square root.
func (b *Body) Sqrt(x Value) Value {
	return b.shared(op{code: opSqrt, width: b.ops[x].width, a: x, b: none, c: none})
}

func (b *Body) round(x Value, direction uint8) Value {
	return b.shared(op{code: opRound, width: b.ops[x].width, imm: direction, a: x, b: none, c: none})
}

// Floor is the greatest integer that is not above x.
func (b *Body) Floor(x Value) Value { return b.round(x, 9) }

// Ceil is the least integer that is not below x.
func (b *Body) Ceil(x Value) Value { return b.round(x, 10) }

// Trunc is x rounded to an integer towards zero.
func (b *Body) Trunc(x Value) Value { return b.round(x, 11) }

// FMA is x·y + z, rounded once.
func (b *Body) FMA(x, y, z Value) Value {
	o := op{code: opFma, width: b.ops[x].width}
	var nx, ny bool
	o.a, nx = b.negated(x)
	o.b, ny = b.negated(y)
	o.c, o.negC = b.negated(z)
	o.negP = nx != ny
	return b.shared(o)
}

const (
	signBit = 1 << 63
	noSign  = signBit - 1
)

// num is the constant x at the width of v.
func (b *Body) num(v Value, x float64) Value { return b.Const(b.Width(v), x) }

// Neg is -x.
func (b *Body) Neg(x Value) Value {
	if y, ok := b.negated(x); ok {
		return y
	}
	return b.Xor(x, b.Bits(b.Width(x), signBit))
}

// Abs is |x|.
func (b *Body) Abs(x Value) Value { return b.And(x, b.Bits(b.Width(x), noSign)) }
