package odes

import (
	"math"

	"odes.dev/odes/internal/explain"
	"odes.dev/odes/internal/system"
	"odes.dev/odes/lang/diag"
)

// RunError is a run that failed: diagnostics that name the time, the state and
// the source expression.
type RunError struct {
	List  *diag.ListError
	Cause error
	// From and T are where the run began and how far it came; NaN where it did not begin.
	From, T float64
}

func (e *RunError) Error() string { return e.List.Error() }

// Unwrap returns the solver's typed error and the diagnostics.
func (e *RunError) Unwrap() []error { return []error{e.List, e.Cause} }

// Interrupted reports whether err is a run that its context ended.
func Interrupted(err error) bool { return explain.Interrupted(err) }

// failed turns a solver's error in a run of w into a RunError; others are returned as they are.
func (r *run) failed(err error, w *system.Worker) error {
	list, at := r.model.explain.Failure(err, w, r.method(0))
	if list == nil {
		return err
	}
	out := &RunError{List: list, Cause: err, From: math.NaN(), T: math.NaN()}
	if at != nil && w != nil {
		out.From, out.T = w.Started(), at.T
	}
	return out
}
