package result

// Bench is what Model.Bench measured.
type Bench struct {
	Settings Settings
	Runs     int
	RHS, VJP BenchProgram
	// Step and StepVJP are a step of the method and its transpose, without the choice of its length.
	// Their instructions and bytes are zero if the step is not a program of its own. All is zero where steps read
	// the past.
	Step, StepVJP BenchProgram
	// Forward, Adjoint and their sum Gradient are seconds, over all objectives. They do not include
	// compilation.
	Forward, Adjoint, Gradient BenchTimes
	Steps                      int
	Evaluations, Transposes    int // of the right-hand side in a gradient, including those within steps
	TransposedSteps            int // in a gradient, over all sweeps
	RecomputedSteps            int // in a gradient: those that were not kept (solver.checkpoint)
	PeakTrajectoryBytes        int64
	// Checksum is the Frobenius norm of the derivatives by params: two programs that agree on it
	// have computed the same thing.
	Checksum float64
}

// BenchProgram is the cost of one evaluation.
type BenchProgram struct {
	Nanoseconds  float64
	Instructions int
	Bytes        int     // of working memory
	Native       int     // bytes of machine code that was made for it
	GFlops       float64 // per second
}

// BenchTimes are statistics over the runs, in seconds.
type BenchTimes struct{ Median, Min float64 }

// Share returns which part of the seconds that count evaluations of p take on that many threads; at
// most 1.
func (p BenchProgram) Share(count int, seconds float64, threads int) float64 {
	return min(float64(count)*p.Nanoseconds/1e9/(seconds*float64(threads)), 1)
}
