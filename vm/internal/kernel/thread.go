package kernel

//go:generate go run -C _asm . -out ../thread_amd64.s -stubs ../thread_amd64.go -names ../names_amd64.go -pkg kernel

import "unsafe"

// Record is an instruction of a threaded program: code whose handlers, written in
// assembly, each jump to the next, so that a program is entered once. Its fields
// are what the handlers read.
type Record struct {
	handler      uintptr
	Out, A, B, C Ref // C holds the steps of a move or the stride of a product
	N            int // elements, or rows
	Lanes        int // elements of a row
	Step         int32
	Next         int32 // the record to go on with after a stop
}

// Ref is an operand: bytes into the table of slices, and from there into the slice.
type Ref struct{ slice, offset uint32 }

// NewRef is element off of slice number i of a table.
func NewRef(i, off int) Ref { return Ref{uint32(24 * i), uint32(8 * off)} }

// Steps gives, for a move, how many elements rows of the result and rows of the
// operand lie apart.
func Steps(out, a int) Ref { return Ref{uint32(int32(8 * out)), uint32(int32(8 * a))} }

// Stride gives, for a product, how many elements rows of the matrix lie apart.
func Stride(n int) Ref { return Ref{uint32(n), uint32(n >> 32)} }

// SetList sets a list that native code reads. The record does not keep it alive.
func (r *Record) SetList(list []uint32) {
	r.Lanes = int(uintptr(unsafe.Pointer(unsafe.SliceData(list))))
}

// End ends a program.
var End = Record{handler: addressOf["stop"], Step: -1}

// Stop is a record that stops, for step number step to be done in Go.
func Stop(step int) Record { return Record{handler: addressOf["stop"], Step: int32(step)} }

// Handle sets the handler by its name: an operation of package tape, copy or move,
// with the forms of its operands (V: an element each; S: one for a row) and "/1",
// "/2" or "/4" where that is how many elements there are; or a contraction. It
// reports whether there is one.
func (r *Record) Handle(name string) bool {
	a, ok := addressOf[name]
	r.handler = a
	return ok
}

// RecordSize is the size of a Record in bytes: where the next one begins.
const RecordSize = int(unsafe.Sizeof(Record{}))

// SetHandler sets a handler that was made while the program runs, by its address.
// It ends by jumping to the handler of the next record, as all do, and keeps the
// registers that hold the record and the table.
func (r *Record) SetHandler(address uintptr) { r.handler = address }

// Enter runs code from record i on until one stops: it returns that record's Step
// and Next, and how many elements of it are done. The code must end with End, and
// every operand be within its slice.
func Enter(code []Record, i int, table [][]float64) (step, next, done int) {
	at, done := enter(&code[i].handler, &table[0])
	return int(int32(at)), at >> 32, done
}
