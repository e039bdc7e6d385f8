package tape

// Op is an operation. Derivatives of ops, forward and reverse, are made of the same
// ops; the one exception is the derivative of Tetragamma.
type Op uint8

// Elementwise operations broadcast. Operands have the same rank or are scalars (of
// rank 0). Axes of length 1 stretch, and the result has the stretched shape.
//
// Conditions are the numbers 0 and 1. As an operand, any number but 0 is true, and
// so is NaN. Comparisons with NaN are 0, but NotEqual is 1. Min and Max are defined
// by comparison: Min(a,b) = b < a ? b : a, Max(a,b) = a < b ? b : a. A NaN operand
// gives NaN. Products that are part of an op are rounded before they are added,
// unless the op says FMA.
const (
	Invalid Op = iota

	Const // a constant array: Attr.Data

	// One operand.
	Neg
	Abs
	Sign // -1, 0, 1; NaN for NaN
	Not  // 1 - a, for a condition a
	Recip
	Sqrt
	Cbrt
	Exp
	Expm1
	Log
	Log1p
	Log10
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Sinh
	Cosh
	Tanh
	Asinh
	Acosh
	Atanh
	Erf
	Erfc
	Lgamma
	Digamma // derivative of Lgamma
	Trigamma
	Tetragamma // derivative of Trigamma; the only op whose own derivative is not made of these ops
	Floor
	Ceil
	Round // half away from zero
	Trunc
	Sigmoid // 1/(1+exp(-a)), without overflow
	Sqr     // a·a
	Powi    // a to the integer power Attr.Power, as elem.Powi defines it

	// Two operands.
	Add
	Sub
	Mul
	Div
	Pow
	Atan2
	Hypot
	Mod // a - b·floor(a/b), as elem.Mod defines it
	Min
	Max
	Less
	LessEq
	Equal
	NotEqual
	And // a != 0 && b != 0
	Or  // a != 0 || b != 0
	// ZeroMul is a·b, but 0 where a is 0, whatever b is. Transposes use it below a
	// Select: the branch that is not taken must not spoil a gradient with 0·Inf.
	ZeroMul

	// Three operands.
	Select // a != 0 ? b : c
	FMA    // a·b + c rounded once

	// Structure. Slice takes the elements Start[k] + i·Step[k], i = 0 … Shape[k]-1,
	// of each axis k, where Shape is the result's. Pad is its transpose: it places
	// the operand at these positions in zeros of the result's shape.
	Slice
	Pad
	Reshape   // same elements, other shape
	Transpose // Attr.Perm
	Broadcast // axes of length 1 stretched to the result's shape (same rank), or a scalar filled
	Concat    // along Attr.Axis, any number of operands
	// Take selects the positions Attr.Index along Attr.Axis. Put is its transpose:
	// it adds the operand's slices to zeros at these positions.
	Take
	Put

	// Contraction. SumAxes removes Attr.Axes. Let i count the elements that it adds
	// up, row-major over the removed axes. Element i is added to partial sum i mod 8;
	// all eight start from zero and are added as ((0+4)+(2+6))+((1+5)+(3+7)). The
	// others start from the first element and go on in the same order, with p·x,
	// Max(m, x) and Min(m, x).
	SumAxes
	ProdAxes
	MaxAxes
	MinAxes
	// MatMul is op(a) @ op(b) of matrices, where op transposes if the flag is set.
	// One of the operands may be a vector, whose flag is then false; the product of
	// two vectors is Dot. Each element of the result is one chain of FMAs from zero,
	// over the inner index in order.
	MatMul
	Dot   // sum over i of a[i]·b[i] of two vectors: 8 partial sums by FMA, added as in SumAxes
	Outer // a[i]·b[j]

	// Lookup, by a search instead of a sum over a whole table. Find(a, b) tells for each element of b how many of the
	// knots a, a vector that ascends, lie at or below it, without the first and the last: the 0-based number of the
	// interval between two knots, of which the first and the last reach to infinity. Pick(a, b) is the element of
	// vector a at each place of b. Drop is its transpose: it adds the elements of a to zeros at the places b. Places
	// are rounded down, and those outside the vector are its ends; NaN is 0.
	//
	// These ops serve functions that are continuous at the knots: their jumps are not looked for.
	Find
	Pick
	Drop

	numOps
)
