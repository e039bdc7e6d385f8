package terms

import (
	"math"
)

// BeforeOthers is the priority of triggers and lapses: below those of the two events of `equilibrate`, which stands
// before the run.
const BeforeOthers = math.MaxFloat64 / 2

// MostElements is how many elements an event may have, or times, where max_events of the file is not more.
const MostElements = 100_000
