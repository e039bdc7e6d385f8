package solvers

import "math"

// Step is one step of a Method and what its tangent and transpose need of it.
type Step struct {
	T float64 // start
	H float64 // length
	// T1 is the end: fl(T+H), or exactly the time that the step was clipped to. Events that count as one happen at the
	// time of the last: it may be later, and so may be the T of the next step.
	T1 float64
	// Member is which of the method's Members makes the step, or has made it; 0 for a method that does not switch.
	Member int
	// Again tells that T, Y0 and the right-hand side are those of the last Step of the method, or of its last look at
	// the Jacobian: only the length differs.
	Again bool
	Y0    []float64 // [N]
	Y1    []float64 // [N]
	DQ    []float64 // [Q] increments of the quadratures
	// K is [Stages + DenseStages][N+Q]. Row 0 is f(T, Y0) for every method. What the other rows of the step hold is
	// for the method to say: stage derivatives, or whatever else lets it compute the step's derivatives and dense
	// output without solving for the stages a second time. The rows past Stages belong to the dense output.
	K []float64

	// Kept is what the method kept of the step, to save work in its transpose; nil for nothing. Step clears it.
	Kept []float64

	Dense bool // the rows of K past Stages are filled; Step clears it

	E         []float64 // [N+Q] the estimated local error, if Estimated; may be nil
	Estimated bool      // E was computed with the step; Step clears it
}

// NewStep returns a step with room for a method's stages and for those of its dense output.
func NewStep(m Info, size Size) *Step {
	w := size.N + size.Q
	return &Step{
		Y0: make([]float64, size.N),
		Y1: make([]float64, size.N),
		DQ: make([]float64, size.Q),
		E:  make([]float64, w),
		K:  make([]float64, (m.Stages+m.DenseStages)*w),
	}
}

// Node returns the time t + c h. Nodes at the end are at T1 itself, which may differ from the rounded sum when the step
// was clipped to a given time.
func (s *Step) Node(c float64) float64 {
	switch c {
	case 0:
		return s.T
	case 1:
		return s.T1
	default:
		return math.FMA(c, s.H, s.T)
	}
}

// Method is a one-step method: it owns the step, its tangent and its transpose. It holds work arrays, so it belongs
// to one goroutine.
//
// Step is a function of its arguments alone. Runs are recorded in part and their steps made a second time, to the
// same bits, by another Method of the same Spec; nothing may be kept from step to step but row 0 of K, with reuse. A
// step that cannot be made, because its equations have no solution or an iteration does not converge, has a NaN in
// Y1: it is tried with another length.
//
// Nothing in the interface assumes that the method is explicit. A method that needs more of a Field than right-hand
// sides asks the Field for it by a type assertion, as rungeKutta asks for a Stepper, and its Spec says so
// (NeedsJacobian, MassMatrix). Push and Pull differentiate the equations that the stages satisfy, not the iteration
// that solved them: an implicit Runge–Kutta method solves with the matrices of its stage equations, factorised at the
// stages, and with their transposes. Since a Rosenbrock step contains the Jacobian, its tangent contains the
// derivative of the Jacobian along a vector, which is one more thing to ask a Field for. A multistep method, whose
// steps hand on more than Y1, does not fit: its history would be a further field of Step, StepTangent and
// StepCotangent.
//
// What a method can do besides are the interfaces listed with Capability.
type Method interface {
	Info() Info
	// Step fills K, Y1 and DQ of s from T, H, T1 and Y0. With reuse, row 0 of K already holds f(T, Y0).
	Step(f Field, s *Step, reuse bool)
	// Error writes the estimated local error e[N+Q] of s. A method without an estimate writes zeros.
	Error(s *Step, e []float64)
	// Interpolate writes y[N] at T + theta·H, with theta in [0, 1]. It may evaluate f for the dense rows of K, once per
	// step.
	Interpolate(f Field, s *Step, theta float64, y []float64)
	// Push writes the outputs of d from its inputs; s must hold a finished step.
	Push(f TangentField, s *Step, d *StepTangent)
	// Pull is the transpose of Push. It divides by nothing that a step may make zero: not by H, nor by a coefficient.
	Pull(f CotangentField, s *Step, c *StepCotangent)
}

// Info describes a method.
type Info struct {
	Name        string
	Order       int       // of Y1
	Embedded    int       // order of the error estimate's other solution; 0 when there is none
	Stages      int       // rows of K that Step fills
	DenseStages int       // further rows that Interpolate fills
	DenseOrder  int       // of Interpolate
	DenseDegree int       // of Interpolate as a polynomial in theta; 0 where it is none, or the order
	Solved      int       // stages that solve equations; 0 of explicit methods
	Iterates    bool      // these are nonlinear
	FSAL        bool      // the last row that Step fills is f(T1, Y1)
	Nodes       []float64 // fractions of the step of the stages
	// Weighted are the nodes of the stages that both Y1 and the error estimate are made of. What happens at other nodes
	// alone may have no effect. Nil where nothing is known of that.
	Weighted []float64
	// End is the row of K that is f(T1, Y1): the last one that Step fills, or one of the dense rows (once Step.Dense is
	// set); -1 when no row is.
	End int
	// Evals is the number of right-hand sides of a step after the first. Of a method that iterates, these are one for
	// each row; ImplicitWork counts the others.
	Evals int
}

// ReadDegree returns the degree of the polynomials through the points of a step at which guards are read.
func (i *Info) ReadDegree() int { return max(i.DenseDegree, i.DenseOrder, 2) + 1 }

// StepTangent holds the tangents of a step in L lanes. Moving the start (T0), the length (H) and the initial state
// gives those of the end.
type StepTangent struct {
	T0, H, Y0  []float64 // in: [L], [L], [N·L]
	T1, Y1, DQ []float64 // out: [L], [N·L], [Q·L]
}

// StepCotangent holds the cotangents of a step in L lanes.
type StepCotangent struct {
	T1, Y1, DQ []float64 // in: [L], [N·L], [Q·L]; unchanged
	Rows       []int     // of DQ, in ascending order: all others are zero; nil for any
	T0, H, Y0  []float64 // out: [L], [L], [N·L]; overwritten
	WantH      bool      // whether H is wanted; it costs inner products with the stages
}
