package tapec

import "odes.dev/odes/lang/diag"

// The codes of what Compile reports.
const (
	CodeIndex       diag.Code = "index-out-of-range"
	CodeDeep        diag.Code = "too-many-dimensions" // loops nested so that an array would have more than tape.MaxRank axes
	CodeUnavailable diag.Code = "cannot-compile"      // a construct, where it stands, has no meaning on a tape
)
