package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"odes.dev/odes/internal/base/simd/_asm/emit"
)

// Two registers are kept throughout a program: the record that is executed, and the table of
// slices.
var (
	code  = reg.RSI
	table = reg.R13
)

// recordSize is the size of kernel.Record.
const recordSize = 64

// operands holds the offsets of the fields of a kernel.Record that are operands. Each holds the
// offset of its slice in the table and the offset in that slice, in bytes.
var operands = map[string]int{"out": 8, "a": 16, "b": 24, "c": 32}

// integers holds the offsets of the other fields.
var integers = map[string]int{"n": 40, "rows": 40, "lanes": 48, "to": 32, "from": 36, "stride": 32}

const where = 56 // offset of the fields Step and Next, which Go reads when the program stops

// record reads arguments from the fields of the record. Kernels that need every register keep the
// record's address in the place of a result, and read the table's address from the arguments.
type record struct{ parked bool }

func (r record) Load(name string) reg.GPVirtual {
	v := GP64()
	at, ok := operands[name]
	if !ok {
		MOVQ(Mem{Base: r.code(), Disp: integers[name]}, v)
		return v
	}
	m := r.element(at)
	LEAQ(m, v)
	return v
}

func (record) Float(string) Mem { panic("a record holds no number") }

func (r record) code() reg.Register {
	if !r.parked {
		return code
	}
	v := GP64()
	MOVQ(result(0), v)
	return v
}

// element returns where the operand in the field at offset at begins.
func (r record) element(at int) Mem {
	base, disp, rec := GP64(), GP64(), r.code()
	MOVL(Mem{Base: rec, Disp: at}, base.As32())
	if r.parked {
		slices := GP64()
		Load(Param("table"), slices)
		MOVQ(Mem{Base: slices, Index: base, Scale: 1}, base)
	} else {
		MOVQ(Mem{Base: table, Index: base, Scale: 1}, base)
	}
	MOVL(Mem{Base: rec, Disp: at + 4}, disp.As32())
	return Mem{Base: base, Index: disp, Scale: 1}
}

func element(at int) Mem { return record{}.element(at) }

// result returns the place of a result.
func result(i int) Mem {
	b, err := ReturnIndex(i).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// parking runs a kernel that needs every register.
func parking(kernel func()) {
	MOVQ(code, result(0))
	kernel()
	MOVQ(result(0), code)
	Load(Param("table"), table)
	next()
}

// next jumps to the handler of the next record.
func next() {
	r := GP64()
	MOVQ(Mem{Base: code, Disp: recordSize}, r)
	ADDQ(Imm(recordSize), code)
	jump(r)
}

// jump jumps to the handler at r. The registers that are kept throughout a program are its inputs,
// so that the allocator gives them to nothing else.
func jump(r reg.Register) {
	Instruction(&ir.Instruction{
		Opcode:     "JMP",
		Operands:   []Op{r},
		Inputs:     []Op{r, code, table},
		IsTerminal: true,
	})
}

const signature = "func(code *uintptr, table *[]float64) (at, done int)"

// stop returns to Go, with the place of the record and how many of its elements are done.
func stop(done reg.Register) {
	at := GP64()
	MOVQ(Mem{Base: code, Disp: where}, at)
	VZEROUPPER()
	Store(at, ReturnIndex(0))
	Store(done, ReturnIndex(1))
	RET()
}

// handler writes one handler.
func handler(name string, body func()) {
	TEXT(symbol(name), NOSPLIT, signature)
	Doc(symbol(name) + " is the handler of " + name + ".")
	body()
	handlers = append(handlers, name)
}

// handlers lists the handlers that were written, in order.
var handlers []string

var _ emit.Args = record{}
