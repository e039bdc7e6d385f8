package tape

// Op is an operation. The set is closed under JVP and VJP (but for the third
// derivative of Digamma).
type Op uint8

// Elementwise operations broadcast: operands have the same rank, or one is a
// scalar (rank 0); axes of length 1 stretch. The result has the stretched shape.
//
// Conditions are the numbers 0 and 1; as an operand, whatever is not 0 (NaN
// too) is true. Comparisons with NaN are 0 (NotEqual: 1). Min and Max are
// defined by comparison: Min(a,b) = b < a ? b : a, Max(a,b) = a < b ? b : a,
// and a NaN operand gives NaN. Products that are part of an op are rounded
// before they are added, unless the op says FMA.
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
	Tetragamma // derivative of Trigamma; the only op whose own derivative is not in the set
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
	// ZeroMul is a·b, and 0 where a is 0 whatever b is. VJP uses it below a
	// Select, so that the branch not taken cannot poison a gradient with 0·Inf.
	ZeroMul

	// Three operands.
	Select // a != 0 ? b : c
	FMA    // a·b + c rounded once

	// Structure. Slice takes the elements Start[k] + i·Step[k], i = 0 … Shape[k]-1,
	// of each axis k (Shape is the result's). Pad is its transpose: the operand
	// placed at these positions in zeros of the result's shape.
	Slice
	Pad
	Reshape   // same elements, other shape
	Transpose // Attr.Perm
	Broadcast // axes of length 1 stretched to the result's shape (same rank), or a scalar filled
	Concat    // along Attr.Axis, any number of operands
	// Take selects positions Attr.Index along Attr.Axis; Put is its transpose:
	// adds the operand's slices into zeros at these positions.
	Take
	Put

	// Contraction. SumAxes removes Attr.Axes: 8 partial sums from zero over the
	// flattened removed index i (partial i mod 8; row-major over the removed
	// axes), added as ((0+4)+(2+6))+((1+5)+(3+7)). The others fold in index order
	// from the first element: p·x, Max(m, x), Min(m, x).
	SumAxes
	ProdAxes
	MaxAxes
	MinAxes
	// MatMul is op(a) @ op(b) for rank 2, and with a vector on either side
	// (rank 1, whose flag is false) as in the language; vector @ vector is Dot.
	// Each element is one chain of FMAs over the inner index, in order, from zero.
	MatMul
	Dot   // sum over i of a[i]·b[i], rank 1, 8 partials by FMA from zero, added as in SumAxes
	Outer // a[i]·b[j]

	numOps
)
