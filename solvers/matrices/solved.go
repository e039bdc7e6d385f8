package matrices

import (
	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/solvers"
)

// SolvingStepper is a Field that can make whole steps of methods that solve equations.
type SolvingStepper interface {
	JacobianField
	// MakeSolvedStep writes to s and x what Step of a method with arithmetic a writes, to the same bits, and E.
	// With reuse, row 0 of K already holds f(T, Y0). Alternatively it reports false; then s and x hold nothing but
	// row 0 of K.
	MakeSolvedStep(a *SolvedArithmetic, m *StepMatrix, s *solvers.Step, reuse bool, x *SolvedStep) bool
}

// SolvingStepPuller is a CotangentField that can transpose whole steps of methods that solve equations.
type SolvingStepPuller interface {
	CotangentJacobianField
	// PullSolvedStep does for c, which does not want H, what Pull of a method with arithmetic a does, to the same bits,
	// accumulators of the field included. kept are the factors of the step, as LU.Keep writes them, and then the
	// entries of the Jacobian. Alternatively it does nothing and reports false.
	PullSolvedStep(a *SolvedArithmetic, m *StepMatrix, s *solvers.Step, c *solvers.StepCotangent, kept []float64) bool
}

// SolvedArithmetical is a Method with solved stages, which lets its Field make whole steps; see SolvingStepper.
type SolvedArithmetical interface {
	solvers.Implicit
	// SolvedArithmetic returns the arithmetic of the method's steps, the same address for all methods that a Spec
	// makes, and their matrix; nil where whole steps cannot be made. The method is prepared.
	SolvedArithmetic() (*SolvedArithmetic, *StepMatrix)
	// Exchanged returns the exchanges of rows of the last step, as LU.Keep writes them; nil where it could not be made.
	Exchanged() []float64
}

// SolvedArithmetic describes, for a SolvingStepper, what a Rosenbrock method does in a step besides evaluating rates
// and their Jacobian, in double precision. Stages count from 1, as their rows of K do. Its address identifies it, and
// it never changes. What Arithmetic holds of it are Stages (one more than are solved), Nodes, A, B, E, Sum and At, but
// row j of At belongs to stage j.
type SolvedArithmetic struct {
	solvers.Arithmetic
	Inverse, Gamma float64         // 1/γ, γ
	Gammas         []float64       // γ_i
	Same           []int           // the first stage with the same right-hand side
	C              []solvers.Terms // of the right-hand sides, over the rows of K
	Ct             []solvers.Terms // of those of v_i, over v_j
	Omega          []float64       // v_i of quadratures is h ω_i q̄
}

// StepMatrix describes, for a SolvingStepper, the matrix of a Jacobian's steps, I/γ - h ∂f/∂y, and where the entries of
// the Jacobian belong. Its address identifies it, and it never changes.
type StepMatrix struct {
	Analysis *linalg.Analysis
	NonZeros int
	Flops    int          // of a factorisation
	Factors  int          // elements of the factors
	Kept     int          // numbers that LU.Keep writes before the exchanges of rows
	Diagonal []int32      // places in the matrix
	States   []EntryPlace // entries of ∂f/∂y
	Outer    []Entry      // those of the derivatives of quadratures by states
	Times    []Entry      // those by time
	All      []Entry
}

// EntryPlace is entry E of a Jacobian and its place in the matrix.
type EntryPlace struct{ E, Place int32 }

// Entry is entry E of a Jacobian and where it stands. See Jacobian.
type Entry struct{ E, Row, Col int32 }

// SolvedStep is what a step leaves besides itself.
type SolvedStep struct {
	// Kept is what LU.Keep writes. What its end says of exchanges of rows is expected of the step.
	Kept    []float64
	Entries []float64 // of the Jacobian at the start
}
