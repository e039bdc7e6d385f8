// Package tape is the intermediate representation of everything odes computes:
// straight-line programs whose values are whole arrays. A tape has named
// inputs, instructions in single-assignment form, and named outputs. Its
// derivatives are tapes again (package tapec). The package holds the op table,
// the checker, the textual form and a reference evaluator in real and complex
// arithmetic; it knows nothing of the language above it or the machine below.
package tape

import "odes.dev/odes/lang/source"

// MaxRank is the largest rank of a value.
const MaxRank = 4

// Shape lists the lengths of a value's axes, each at least 1; the empty Shape
// is a scalar. Storage is row-major: the last axis is contiguous.
type Shape []int

// Value names the result of an input or an instruction: values 0 … len(Inputs)-1
// are the inputs, then one per instruction.
type Value int32

// Input is an argument of a tape. Its name is any text without control
// characters. What the names of a model's tapes mean is told by tapec.Name.
type Input struct {
	Name    string
	Shape   Shape
	PerLane bool // one copy per lane (seeds of a derivative tape); else one for all
}

// Output is a named result.
type Output struct {
	Name  string
	Value Value
}

// Instr is one instruction. Which fields beside Op and Args mean something
// depends on the op; see the op table.
type Instr struct {
	Op    Op
	Args  []Value
	Shape Shape // of the result
	Attr  Attr
	Span  source.Span // the expression it came from; may be zero
}

// Attr is the static data of an instruction. Lengths are checked by Check.
type Attr struct {
	Data  []float64 // Const: the elements, row-major; one element fills the shape
	Perm  []int     // Transpose: result axis i is operand axis Perm[i]
	Power int       // Powi: the exponent
	Start []int     // Slice, Pad: first index per axis (0-based)
	Step  []int     // Slice, Pad: step per axis (≥ 1); nil means all 1
	Axis  int       // Concat, Take, Put
	Index []int     // Take, Put: 0-based positions along Axis, in any order, repeats allowed
	Axes  []int     // SumAxes, ProdAxes, MaxAxes, MinAxes: the axes that go, ascending, at least one
	TA    bool      // MatMul: the first operand is transposed
	TB    bool      // MatMul: the second operand is transposed
}

// Tape is a straight-line program. Build one with a Builder; treat it as
// immutable afterwards.
type Tape struct {
	Name    string
	Inputs  []Input
	Instrs  []Instr
	Outputs []Output
}
