package explain

import (
	"math"
	"slices"

	"odes.dev/odes/internal/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/tapec"
)

// Windows reports bounds of integrals that are outside the time span of a run of w, or in the wrong
// order. It returns nil if there are none.
func (x *Explainer) Windows(w *system.Worker) *diag.ListError {
	list := x.model.Compiled.InstantList
	if !slices.ContainsFunc(list, func(in tapec.Instant) bool { return in.Bound != tapec.NoBound }) {
		return nil
	}
	times := make([]float64, len(list))
	w.InstantTimes(make([]float64, x.model.Discretes()), times)
	t0, tf := times[0], times[1]
	slack := 1e-12 * max(math.Abs(t0), math.Abs(tf)) // bounds written another way may differ by rounding
	var l diag.List
	reported := map[source.Span]bool{}
	for i, in := range list {
		if in.Bound == tapec.NoBound || reported[in.Span] {
			continue
		}
		switch t := times[i]; {
		case !(t >= t0-slack && t <= tf+slack):
			l.Errorf(CodeTime, in.Span, "this bound of the integral is %s, outside the time span %s to %s", x.when(t),
				diag.Number(t0), diag.Number(tf))
		case in.Bound == tapec.WindowTo && i > 0 && list[i-1].Bound == tapec.WindowFrom && t < times[i-1]-slack:
			l.Errorf(CodeTime, in.Span, "the integral ends at %s, before it begins at %s", x.when(t),
				diag.Number(times[i-1]))
		default:
			continue
		}
		reported[in.Span] = true
	}
	if !l.HasErrors() {
		return nil
	}
	return &diag.ListError{Diagnostics: l.All()}
}
