package kernel

//go:generate go run -C _asm . -out ../thread_amd64.s -stubs ../thread_amd64.go -names ../names_amd64.go -pkg kernel

import "unsafe"

// Record is an instruction of a threaded program. The handlers of such a program are written in
// assembly, and each jumps to the next, so that the program is entered once. The fields of a Record
// are what the handlers read.
type Record struct {
	handler      uintptr
	Out, A, B, C Ref // C holds the steps of a move, or the stride of a product
	N            int // elements, or rows
	Lanes        int // elements of a row
	Step         int32
	Next         int32 // the record to continue with after a stop
}

// Ref is an operand: an offset into the table of slices, and one into that slice, both in bytes.
type Ref struct{ slice, offset uint32 }

// NewRef returns element off of slice number i of a table.
func NewRef(i, off int) Ref { return Ref{uint32(24 * i), uint32(8 * off)} }

// Steps gives, for a move, the distances of the rows of the result and of the operand, in elements.
func Steps(out, a int) Ref { return Ref{uint32(int32(8 * out)), uint32(int32(8 * a))} }

// Stride gives, for a product, the distance of the rows of the matrix, in elements.
func Stride(n int) Ref { return Ref{uint32(n), uint32(n >> 32)} }

// SetList sets a list that native code reads. The record does not keep the list alive.
func (r *Record) SetList(list []uint32) {
	r.Lanes = int(uintptr(unsafe.Pointer(unsafe.SliceData(list))))
}

// End ends a program.
var End = Record{handler: addressOf["stop"], Step: -1}

// Stop is a record that stops the program, so that step number step can run in Go.
func Stop(step int) Record { return Record{handler: addressOf["stop"], Step: int32(step)} }

// Handle sets the handler by its name, and reports whether there is one. A name is an operation of
// package tape, copy or move, or a contraction. It has the forms of its operands (V: an element
// each; S: one for a row) and ends in "/1", "/2" or "/4" where that is the number of elements.
func (r *Record) Handle(name string) bool {
	a, ok := addressOf[name]
	r.handler = a
	return ok
}

// RecordSize is the size of a Record in bytes, which is the distance of the next one.
const RecordSize = int(unsafe.Sizeof(Record{}))

// SetHandler sets the address of a handler that was made while the program runs. Like all handlers,
// it must end by jumping to the handler of the next record, and keep the registers that hold the
// record and the table.
func (r *Record) SetHandler(address uintptr) { r.handler = address }

// Enter runs code from record i on until a record stops it. It returns the Step and Next of that
// record, and how many of its elements are done. The code must end with End, and every operand must
// lie within its slice.
func Enter(code []Record, i int, table [][]float64) (step, next, done int) {
	at, done := enter(&code[i].handler, &table[0])
	return int(int32(at)), at >> 32, done
}
