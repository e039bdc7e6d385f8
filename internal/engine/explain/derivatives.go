package explain

import (
	"context"
	"fmt"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/origin"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// NoDerivative says that an expression has a derivative that is not a finite number; at says where along the run, or
// is "".
func NoDerivative(from origin.Origin, at string) string {
	const large = "too large for a number"
	if from.Cause == large {
		return fmt.Sprintf("that of %q is %s%s", from.Expression(), large, at)
	}
	return fmt.Sprintf("%q has no finite derivative%s", from.Expression(), at)
}

// mostLooks is how many steps of a run are looked at.
const mostLooks = 10_000

// NoDerivativeAlong says where along a recorded run the rates have a derivative that is not a finite number; "" if they
// have none at the ends of its first steps.
func (x *Explainer) NoDerivativeAlong(
	find *compiled.Derivatives, run *record.Trajectory, reader *record.Reader,
) string {
	reader.Open(context.Background(), run)
	var s solvers.Step
	for i := range min(run.Steps(), mostLooks) {
		if _, err := reader.Load(i, &s); err != nil {
			return ""
		}
		d, m := run.Held(i)
		if from, found := find.Rates(s.T, s.Y0, d, m); found {
			return NoDerivative(from, " at "+x.When(s.T))
		}
		if i == run.Steps()-1 {
			if from, found := find.Rates(s.T1, s.Y1, d, m); found {
				return NoDerivative(from, " at "+x.When(s.T1))
			}
		}
	}
	return ""
}
