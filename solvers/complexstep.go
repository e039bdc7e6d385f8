package solvers

import "odes.dev/odes/internal/base/elem"

// ComplexField is a right-hand side in complex arithmetic; a ComplexSystem is one.
type ComplexField interface {
	Size() Size
	// Eval writes k[N+Q].
	Eval(t complex128, y, k []complex128)
}

// ComplexStep is a Step in complex arithmetic. Its imaginary parts, over that
// of an input, are derivatives (Squire, Trapp, SIAM Review 40 (1998) 110–112,
// doi:10.1137/S003614459631241X); its real parts are those of the real step but for the rounding of f.
type ComplexStep struct {
	T, H, T1      complex128
	Member        int          // of the method; see Step
	Y0, Y1, DQ, K []complex128 // [N], [N], [Q], [stages + dense stages][N+Q]
	Dense         bool         // the rows of K past the stages are filled; StepComplex clears it
}

// Node returns the time t + c h; see Step.Node.
func (s *ComplexStep) Node(c float64) complex128 {
	switch c {
	case 0:
		return s.T
	case 1:
		return s.T1
	default:
		return elem.CFMA(complex(c, 0), s.H, s.T)
	}
}

// NewComplexStep returns a step with room for a method's stages.
func NewComplexStep(m Info, size Size) *ComplexStep {
	w := size.N + size.Q
	return &ComplexStep{
		Y0: make([]complex128, size.N),
		Y1: make([]complex128, size.N),
		DQ: make([]complex128, size.Q),
		K:  make([]complex128, (m.Stages+m.DenseStages)*w),
	}
}

// ComplexMethod is a Method that can repeat its steps in complex arithmetic.
type ComplexMethod interface {
	Method
	// StepComplex fills K, Y1 and DQ of s from T, H, T1 and Y0.
	StepComplex(f ComplexField, s *ComplexStep)
	// InterpolateComplex writes y[N] at T + theta·H.
	InterpolateComplex(f ComplexField, s *ComplexStep, theta complex128, y []complex128)
}
