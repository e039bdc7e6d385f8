package stdlib

import "math"

var (
	inf = math.Inf(1)
	nan = math.NaN()
)
