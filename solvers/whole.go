package solvers

// Stepper is a Field that can make whole steps. Where a right-hand side is a few operations, what lies between two of
// them costs more than both.
type Stepper interface {
	Field
	// MakeStep writes to s what Step of a method with arithmetic a writes, to the same bits; it may also write E.
	// With reuse, row 0 of K already holds f(T, Y0). Alternatively it writes nothing and reports false.
	MakeStep(a *Arithmetic, s *Step, reuse bool) bool
}

// StepPuller is a CotangentField that can transpose whole steps.
type StepPuller interface {
	CotangentField
	// PullStep does for c, which does not want H, what Pull of a method with arithmetic a does, to the same bits,
	// accumulators of the field included. Alternatively it does nothing and reports false.
	PullStep(a *Arithmetic, s *Step, c *StepCotangent) bool
}

// Terms is a linear form Σ_j C_j v_{Row_j}, with rows in ascending order. Every method adds such a form, times h, to
// a base b as
//
//	fma(h, fma(C_m, v_m, … fma(C_2, v_2, C_1·v_1)), b),
//
// with the product C_1·v_1 rounded. Without terms the result is b.
type Terms struct {
	Row []int
	C   []float64
}

// Arithmetical is a Method with explicit stages, which lets its Field make whole steps; see Stepper.
type Arithmetical interface {
	Method
	// Arithmetic returns the arithmetic of the method's steps: the same address for all methods that a Spec makes.
	Arithmetic() *Arithmetic
}

// Arithmetic describes, for a Stepper, what a method with explicit stages does in a step besides evaluating the
// right-hand side, in double precision. Its address identifies it, and it never changes.
type Arithmetic struct {
	Stages int
	FSAL   bool // stage value Stages-1 is Y1
	// Nodes are c_i: stage i is at T for 0, at T1 for 1 and otherwise at fma(c_i, H, T).
	Nodes []float64
	A     []Terms // of the stage values, over the rows of K and Y0
	B     Terms   // of Y1, over Y0, and of DQ, over 0
	E     Terms   // of E, over 0; empty if there is no estimate or it is not such a sum
	Live  []bool  // stages on which Y1 depends: the others are not pulled

	// The cotangent of stage i is 0 + H·At[i], over the cotangents of Y1 (row 0) and of the stage values (row 1+j for
	// stage j). For a quadrature it is H·(b·q̄), with b the coefficient of row 0, or 0. The cotangent of Y0 is that
	// of Y1 + 1·Sum. The cotangent of T0 is that of T1 plus those of the times of the stages, last stage first.
	At  []Terms
	Sum Terms
}
