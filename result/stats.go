package result

// Settings are the settings that a run used.
type Settings struct {
	Method     string
	RTol, ATol float64
	Sized      bool // absolute tolerances follow the sizes of states; ATol is that of a state of size 1
	Mode       string
	Checkpoint string // what was kept of the run, as a solver block says it
	Backend    string
	Lanes      int
	Threads    int
	// CheckedBy says in words which independent run the result was compared with; "" for none.
	CheckedBy string
	// Errors tells that estimated errors are to be shown: sens { error = on }, or sens_tol.
	Errors bool
}

// Stats count the work of a run.
type Stats struct {
	Steps, Rejected     int
	F, VJP              int   // evaluations of the right-hand side in the run, and of its transpose
	RecomputedSteps     int   // steps recomputed for the gradient; their right-hand sides are not in F
	PeakTrajectoryBytes int64 // what was kept of the run, with the memory to recompute steps
	SecondSteps         int   // steps crossed for second derivatives, over all sweeps
	// Of Rejected: for a number that is not finite, for equations without a solution, and to come nearer to an event;
	// the others for their errors.
	NonFinite, Singular, Sought int
	// What implicit methods took: Jacobians, factorisations of matrices, and solutions with them.
	Jacobians, Factorisations, Solves int
	// Drift is how many tolerances an algebraic unknown, Drifts, was off at most before the end of a step was made
	// consistent; 0 without algebraic unknowns.
	Drift  float64
	Drifts string
	// Methods made the steps, each so many, where a run went from one to another; nil where one made all. Changes is
	// how often it did.
	Methods []MethodSteps
	Changes int
	SteadyStats
	// Rests are the steady states that the run found.
	Rests []Rest
	// Check is the time of all runs but the one that made the result.
	Seconds struct{ Parse, Compile, Forward, Adjoint, Second, Check float64 }
}

// SteadyStats count what the steady states of a run took.
type SteadyStats struct {
	// Steps of the runs to them, steps of Newton's method, and periods of those that repeat.
	SteadySteps, Newton, Periods int
	// SteadyWarm searches began at a steady state for other values, and SteadyKnown were not made, since another
	// experiment had the same steady state. SteadySaved is how many steps of runs that saved, if runs in their place
	// had taken as many as those before.
	SteadyWarm, SteadyKnown, SteadySaved int

	SteadyFlow int // steps of integrations of their derivatives, with sens { steady = run }
}

// Rest says of a steady state that it is stable, and how it was found.
type Rest struct {
	// Eigenvalue is that of the Jacobian, reduced by conserved quantities and algebraic equations, that is nearest to
	// growing, per unit of time. Of a periodic state it is the largest multiplier over a period, of which the absolute
	// value is below 1. NaN where it is not known; -∞ where the conserved quantities leave nothing free.
	Eigenvalue complex128
	// NearZero tells that only eigenvalues near zero were looked at, since there are many.
	NearZero bool
	// Time is how long the run to the steady state was; 0 where there was none.
	Time                   float64
	Steps, Newton, Periods int // as in SteadyStats
	// Warm tells that the search began at a steady state for other values. The state is stable, but need not be the one
	// that the run leads to: solver { steady_start = warm }.
	Warm  bool
	Saved int // steps of a run that this saved
}

// MethodSteps says how many steps a method made.
type MethodSteps struct {
	Name  string
	Steps int
}

// SteadyWork counts searches for steady states over many runs.
type SteadyWork struct {
	Searches int // all that runs asked for
	Known    int // of these: the state was known, and not sought
	Warm     int // of these: they began at a steady state for other values, and ended close to it
	// Steps are those of runs, and Newton those of Newton's method, of all searches together; Periods are those of
	// periodic states. Saved are the steps of runs that Known and Warm searches did without, if these would have taken
	// as many as the last one of the same kind.
	Steps, Newton, Periods, Saved int
}

// Add adds the work o.
func (w *SteadyWork) Add(o SteadyWork) {
	w.Searches += o.Searches
	w.Known += o.Known
	w.Warm += o.Warm
	w.Steps += o.Steps
	w.Newton += o.Newton
	w.Periods += o.Periods
	w.Saved += o.Saved
}

// Less returns what w counted since it was o.
func (w SteadyWork) Less(o SteadyWork) SteadyWork {
	return SteadyWork{
		w.Searches - o.Searches, w.Known - o.Known, w.Warm - o.Warm, w.Steps - o.Steps, w.Newton - o.Newton,
		w.Periods - o.Periods, w.Saved - o.Saved,
	}
}
