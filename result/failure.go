package result

import "odes.dev/odes/lang/diag"

// RunError is a run that failed. Its diagnostics name the time, the state and the place in the text.
type RunError struct {
	List  *diag.ListError
	Cause error
	// From is where the run began and T how far it came, in the model's unit of time; both are NaN if
	// the run did not begin.
	From, T float64
}

func (e *RunError) Error() string { return e.List.Error() }

// Unwrap returns the solver's typed error and the diagnostics.
func (e *RunError) Unwrap() []error { return []error{e.List, e.Cause} }
