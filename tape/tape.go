// Package tape is the intermediate representation of everything odes computes:
// straight-line programs whose values are whole arrays. A tape has named inputs,
// instructions in single-assignment form, and named outputs. The package holds the
// table of ops, the checker, the text form and a reference evaluator in real,
// complex and interval arithmetic.
//
// It must not know the language of models, nor what a tape is for: package tapec
// makes tapes of models, differentiates them and gives their names a meaning. Nor
// must it know the machine: package vm compiles tapes and runs them fast.
package tape

import "odes.dev/odes/lang/source"

// MaxRank is the largest rank of a value.
const MaxRank = 4

// Shape lists the lengths of a value's axes. Each is at least 1. The empty Shape
// is that of a scalar. Storage is row-major: the last axis is contiguous.
type Shape []int

// Value is the number of an input or of an instruction's result. Inputs come
// first: values 0 … len(Inputs)-1. One value for each instruction follows.
type Value int32

// Input is an argument of a tape. Its name is any text without control
// characters. What the names of a model's tapes mean is told by tapec.Name.
type Input struct {
	Name    string
	Shape   Shape
	PerLane bool // each lane has a copy of its own (as of cotangents); else all lanes share one
}

// Output is a named result.
type Output struct {
	Name  string
	Value Value
}

// Instr is one instruction. Its op decides which attributes have a meaning; see
// the list of ops.
type Instr struct {
	Op    Op
	Args  []Value
	Shape Shape // of the result
	Attr  Attr
	Span  source.Span // the expression it came from; may be zero
	// Seamless tells that outputs have neither kinks nor jumps where the op has one: it chooses among ways to compute
	// the same. It is not in the text form.
	Seamless bool
}

// Attr holds what is fixed when an instruction is made. Each comment begins with
// the ops that have the attribute. Check compares its length with the shapes.
type Attr struct {
	Data  []float64 // Const: the elements, row-major; one element fills the shape
	Perm  []int     // Transpose: result axis i is operand axis Perm[i]
	Power int       // Powi: the exponent
	Start []int     // Slice, Pad: first index per axis (0-based)
	Step  []int     // Slice, Pad: step per axis (≥ 1); nil means all 1
	Axis  int       // Concat, Take, Put
	Index []int     // Take, Put: 0-based positions along Axis, in any order, repeats allowed
	Axes  []int     // SumAxes, ProdAxes, MaxAxes, MinAxes: the axes to remove, ascending, at least one
	TA    bool      // MatMul: the first operand is transposed
	TB    bool      // MatMul: the second operand is transposed
}

// Tape is a straight-line program. A Builder makes one; it must not be changed
// afterwards.
type Tape struct {
	Name    string
	Inputs  []Input
	Instrs  []Instr
	Outputs []Output
	// Plain is a tape that computes the same in simpler forms, which may overflow; nil for none. What is looked for by
	// its form is looked for there.
	Plain *Tape
}
