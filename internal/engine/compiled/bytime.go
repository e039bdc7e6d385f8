package compiled

import (
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// ByTime is a vector of functions of time, of parameters, discretes and modes, that a tape makes: the tape, and one
// that makes their slopes as well. States that change evenly between two events are functions of time, too.
type ByTime struct {
	Output         tapec.Name
	Values, Slopes *tape.Tape
	Jumps          [][]tape.Value // see tapec.ByTime
	Rates          *tape.Tape     // of the even states; nil for none
}

// NewByTime returns the functions that an output of t holds. even and rates are as tapec.Even makes them.
func NewByTime(t *tape.Tape, output tapec.Name, even []tapec.Name, rates *tape.Tape) *ByTime {
	slopes, jumps := tapec.ByTime(t, output.String(), even)
	return &ByTime{output, t, slopes, jumps, rates}
}
