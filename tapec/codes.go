package tapec

import "odes.dev/odes/lang/diag"

// The codes of the errors that Compile reports.
const (
	// CodeIndex is that of a subscript outside its array or event.
	CodeIndex diag.Code = "index-out-of-range"
	// CodeDeep is that of loops nested so that an array would have more than tape.MaxRank axes.
	CodeDeep diag.Code = "too-many-dimensions"
	// CodeUnavailable is that of a construct with no meaning where it stands.
	CodeUnavailable diag.Code = "cannot-compile"
)
