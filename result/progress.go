package result

// Progress tells how far a run is.
type Progress struct {
	// "forward", "adjoint", "second" (T is 0 then), "experiments" (all runs of which count; T is 0
	// then), "check", all phases of an independent run, or PhaseRuns
	Phase  string
	T      float64
	Steps  int
	Done   float64 // fraction
	Finish bool
}

// PhaseRuns is the phase of a Progress that tells of many runs, one after the other: Steps counts those that are done.
const PhaseRuns = "runs"
