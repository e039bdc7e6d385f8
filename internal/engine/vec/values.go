package vec

import (
	"odes.dev/odes/tapec"
)

// Values are vectors that hold the inputs of tapes which are evaluated beside a run.
type Values [Count][]float64

// Frame holds the vectors that a call reads or writes, by variation. Lane
// vectors have L copies of each element.
type Frame [tapec.NumVariations][Count][]float64
