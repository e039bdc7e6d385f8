package odes

import (
	"math"
	"slices"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/tapec"
)

// checkWindows reports bounds of integrals outside the time span, or in the wrong order.
func (m *Model) checkWindows(w *worker) error {
	list := m.compiled.InstantList
	if !slices.ContainsFunc(list, func(in tapec.Instant) bool { return in.Bound != tapec.NoBound }) {
		return nil
	}
	times := make([]float64, len(list))
	w.InstantTimes(make([]float64, m.layout.nD), times)
	t0, tf := times[0], times[1]
	name := m.checked.Time.Name
	slack := 1e-12 * max(math.Abs(t0), math.Abs(tf)) // bounds written another way may differ by rounding
	var l diag.List
	reported := map[source.Span]bool{}
	for i, in := range list {
		if in.Bound == tapec.NoBound || reported[in.Span] {
			continue
		}
		switch t := times[i]; {
		case !(t >= t0-slack && t <= tf+slack):
			l.Errorf(CodeTime, in.Span, "this bound of the integral is %s = %s, outside the time span %s to %s", name, short(t), short(t0), short(tf))
		case in.Bound == tapec.WindowTo && i > 0 && list[i-1].Bound == tapec.WindowFrom && t < times[i-1]-slack:
			l.Errorf(CodeTime, in.Span, "the integral ends at %s = %s, before it begins at %s", name, short(t), short(times[i-1]))
		default:
			continue
		}
		reported[in.Span] = true
	}
	if err := l.Err(); err != nil {
		return &RunError{List: &diag.ListError{Diagnostics: l.All()}, Cause: err, From: math.NaN(), T: math.NaN()}
	}
	return nil
}
