package solvers

// Step is one step of a Method and what its tangent and transpose need of it.
type Step struct {
	T  float64 // start
	H  float64 // length
	T1 float64 // end: fl(T+H), or exactly the time the step was clipped to
	// Made is T1 when the step was made: an event there may move it by a rounding, on to the time of another.
	Made float64
	Y0   []float64 // [N]
	Y1   []float64 // [N]
	DQ   []float64 // [Q] increments of the quadratures
	K    []float64 // [stages + dense stages][N+Q] stage derivatives

	Dense bool // the rows of K past the stages are filled; Step clears it

	E         []float64 // [N+Q] what Error writes, if Estimated; may be nil
	Estimated bool      // who made the step knows its error; Step clears it
}

// Method is a one-step method: it owns the step, its tangent and its
// transpose. It holds work arrays, so it belongs to one goroutine. Nothing in
// the interface assumes that the method is explicit.
type Method interface {
	Info() Info
	// Step fills K, Y1 and DQ of s from T, H, T1 and Y0. With reuse, row 0 of K already holds f(T, Y0).
	Step(f Field, s *Step, reuse bool)
	// Error writes the estimated local error e[N+Q] of s. A method without an estimate writes zeros.
	Error(s *Step, e []float64)
	// Interpolate writes y[N] at T + theta·H, theta in [0, 1]. It may evaluate f for extra stages (once per
	// step; s.K has room for Info().DenseStages more rows).
	Interpolate(f Field, s *Step, theta float64, y []float64)
	// Push writes c's outputs from its inputs; s must hold a finished step.
	Push(f TangentField, s *Step, d *StepTangent)
	// Pull is the transpose of Push; it divides by nothing.
	Pull(f CotangentField, s *Step, c *StepCotangent)
}

// Info describes a method.
type Info struct {
	Name        string
	Order       int       // of Y1
	Embedded    int       // order of the error estimate's other solution; 0 when there is none
	Stages      int       // rows of K that Step fills
	DenseStages int       // extra rows that Interpolate fills
	DenseOrder  int       // of Interpolate
	FSAL        bool      // the last row of K is f(T1, Y1)
	Nodes       []float64 // [Stages] the fractions of the step at which stages lie; guards are sampled there
	// End is the row of K that is f(T1, Y1): the last stage of an FSAL method, or one of the extra rows (once
	// Step.Dense is set); -1 when no row is.
	End int
	// Evals is the number of right-hand sides of a step after the first.
	Evals int
}

// StepTangent holds the tangents of a step in L lanes. Moving the start (T0),
// the length (H) and the initial state gives those of the end.
type StepTangent struct {
	T0, H, Y0  []float64 // in: [L], [L], [N·L]
	T1, Y1, DQ []float64 // out: [L], [N·L], [Q·L]
}

// StepCotangent holds the cotangents of a step in L lanes.
type StepCotangent struct {
	T1, Y1, DQ []float64 // in: [L], [N·L], [Q·L]; unchanged
	T0, H, Y0  []float64 // out: [L], [L], [N·L]; overwritten
	WantH      bool      // whether H is wanted; it costs inner products with the stages
}
