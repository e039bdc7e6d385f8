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

// SeededStepPuller is a CotangentField that can transpose whole steps of which something has been read.
type SeededStepPuller interface {
	CotangentField
	// PullSeededStep does for c, which does not want H, what Pull of a method with arithmetic a does where seeds have
	// been sown, to the same bits, accumulators of the field included. Alternatively it does nothing and reports false.
	PullSeededStep(a *Arithmetic, s *Step, c *StepCotangent, seeds *Seeds) bool
}

// TangentStepper is a TangentField that can push tangents through whole steps.
type TangentStepper interface {
	TangentField
	// PushStep writes to T1, Y1 and DQ of d, whose H is zero, what Push of a method with arithmetic a writes, to the
	// same bits. Alternatively it writes nothing and reports false.
	PushStep(a *Arithmetic, s *Step, d *StepTangent) bool
}

// SecondStepPuller is a SecondField that can push tangents through transposes of whole steps.
type SecondStepPuller interface {
	SecondField
	// PullPushStep does for d, whose H is zero, and c, which does not want H, what PullPush of a method with arithmetic
	// a does, to the same bits, accumulators of the field included. It leaves H of c alone. Alternatively it does
	// nothing and reports false.
	PullPushStep(a *Arithmetic, s *Step, d *StepTangent, c *StepSecond) bool
}

// GuardReader is a System that can read its guards at all points of a step at once.
type GuardReader interface {
	System
	// ReadGuards writes rho[points][guards] and truth[points][guards] at the points of s, a step of a method with
	// arithmetic a, to the bits of its Interpolate and of GuardValues. The stages of the dense output have been made.
	// Alternatively it writes nothing and reports false.
	ReadGuards(a *Arithmetic, s *Step, rho []float64, truth []bool) bool
}

// GuardReading is a Method that lets its field read guards at all points of a step at once.
type GuardReading interface {
	Method
	// ReadGuards makes the stages of the dense output and is ReadGuards of f.
	ReadGuards(f GuardReader, s *Step, rho []float64, truth []bool) bool
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

// Sampling is an Interpolant that lets others read its dense output at the Samples of steps.
type Sampling interface {
	Interpolant
	// Sampling makes the rows of K of the dense output, unless s has them, and returns an arithmetic with the Samples
	// of s; nil for none. That of methods which solve equations is part of a SolvedArithmetic.
	Sampling(f Field, s *Step) *Arithmetic
}

// Arithmetic describes, for a Stepper, what a method with explicit stages does in a step besides evaluating the
// right-hand side, in double precision. Its address identifies it, and it never changes.
type Arithmetic struct {
	Stages int
	FSAL   bool // stage value Stages-1 is Y1
	// Nodes are c_i: stage i is at T for 0, at T1 for 1 and otherwise at fma(c_i, H, T). Those of the dense output come
	// last, here and in A.
	Nodes []float64
	A     []Terms // of the stage values, over the rows of K and Y0
	B     Terms   // of Y1, over Y0, and of DQ, over 0
	E     Terms   // of E, over 0; empty if there is no estimate or it is not such a sum
	// Combined are the two sums that an estimate is made of that is not one; see Tableau.E3.
	Combined [2]Terms
	Live     []bool // stages on which Y1 depends: the others are not pulled

	// The cotangent of stage i is 0 + H·At[i], over the cotangents of Y1 (row 0) and of the stage values (row 1+j for
	// stage j). For a quadrature it is H·(b·q̄), with b the coefficient of row 0, or 0. The cotangent of Y0 is that
	// of Y1 + 1·Sum. The cotangent of T0 is that of T1 plus those of the times of the stages, last stage first.
	At  []Terms
	Sum Terms

	Rows  int    // of K, with those of the dense output
	Curve *Curve // of the dense output
	// At and Sum of steps within which something is read: all rows of K are pulled, those of the dense output first. A
	// further term of a row's cotangent is its row of Seeds; see there.
	SeededAt  []Terms
	SeededSum Terms
	Points    []Point // where guards are read, in ascending order; the last is the end of the step
	// Samples are the ends of as many equal parts of a step as the dense output has orders, two at least. Largest
	// values are looked for from there. They read the first Sampled rows of K.
	Samples []Sample
	Sampled int
}

// Sample is a point of a step, of which 0 has Y0, and the rate at which the dense output changes there: 0 + 1·Drift,
// over the rows of K.
type Sample struct {
	Point
	Drift Terms
}

// Seeds are the cotangents of what was read within a step, which Pull takes in, for L lanes. Pull of a method with an
// Arithmetic computes the cotangent of row i of K as H·(K_i + 1·SeededAt[i]). T is added to the cotangent of T0 before
// those of the stages are, H to that of the length, and Y0 to that of Y0 at the end.
type Seeds struct {
	Sown bool      // there are any
	K    []float64 // [rows of K][N·L] Σ β_i(θ) w
	Y0   []float64 // [N·L] Σ w
	H, T []float64 // [L] what θ = (t* - t)/h adds to h̄ and t̄₀
	// C are those [degree][Of·L] of the coefficients of the Curve of the step over its length, which are still to be
	// added to K; nil for none. They belong to who has sown them. Of are the numbers of the states.
	C  []float64
	Of []int
}

// Curve is a dense output as one polynomial for each state, y₀ + θ Σ c_k (2θ - 1)^k. c_k is 0 + H·Of[k], over the
// differences of Rows of K to the first of them, and behind these that one: what slopes have in common is added apart,
// and nothing cancels.
type Curve struct {
	Rows []int
	Of   []Terms
	Beta [][]float64 // of Rows, for the cotangents: that of a row is Σ Beta_k c̄_k
}

// Point is a point of a step, at Theta: the time fma(Theta, H, T), or T1 for 1. The state is Weights over the rows of K
// and Y0, or Y1 for 1.
type Point struct {
	Theta   float64
	Weights Terms
}
