package run

import (
	"errors"
	"math"

	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
)

// Codes of what runs tell, beside those of package explain.
const (
	CodeAuto     diag.Code = "auto"               // what auto chose
	CodeUnused   diag.Code = "unused-experiments" // nothing that is differentiated has a part in the experiments
	CodeAccuracy diag.Code = "accuracy"           // of derivatives
)

// failed turns an error of a solver or a sensitivity method, in a run of w, into a RunError. It
// returns other errors as they are.
func (r *Run) failed(err error, w *system.Worker) error {
	method := r.specimen()
	if w != nil { // which has the work space of a run; nobody else makes steps to explain the error
		method = r.method(0)
	}
	witness := w
	if r.reading.past != nil { // w alone does not know the past, and could not make the step again
		witness = nil
	}
	list, at := r.model.Explain.Failure(err, witness, method)
	if span, of := ofPast(err); of {
		var l diag.List
		l.Errorf(CodeDelay, span, "%v", err)
		list = l.Err().(*diag.ListError)
	}
	if list == nil {
		return err
	}
	out := &result.RunError{List: list, Cause: err, From: math.NaN(), T: math.NaN()}
	if at != nil && w != nil {
		out.From, out.T = w.Started(), at.T
	}
	return out
}

// refused explains an error that says that there is not enough memory, and leaves others.
func (r *Run) refused(err error) error {
	var refused *memory.RefusedError
	if diag.Of(err) != nil || !errors.As(err, &refused) {
		return err
	}
	return r.failed(err, nil)
}
