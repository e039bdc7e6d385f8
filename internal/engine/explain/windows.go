package explain

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/tapec"
)

// Windows reports bounds of integrals that are outside the time span of a run of w, or in the wrong
// order. It returns nil if there are none.
func (x *Explainer) Windows(w *system.Worker) *diag.ListError {
	list := x.model.Compiled.InstantList
	if !x.Windowed() {
		return nil
	}
	times := w.Times(make([]float64, x.model.Discretes()))
	t0, tf := times[0], times[1]
	slack := float64(system.WindowSlack * max(math.Abs(t0), math.Abs(tf)))
	inside, opens, shuts := true, t0, tf // the last time that a window opens, the first one that one shuts
	for i := range list {
		t, bound := times[i], list[i].Bound
		switch bound {
		case tapec.NoBound:
			continue
		case tapec.WindowFrom:
			opens = max(opens, t)
		case tapec.WindowTo:
			shuts = min(shuts, t)
		}
		inside = inside && t >= t0 && t <= tf
	}
	if inside && opens <= shuts { // the usual case
		return nil
	}
	var l diag.List
	begin := map[int]float64{} // of the windows that modes hold; lower bounds precede upper ones
	var reported map[source.Span]bool
	for i, in := range list {
		if in.Bound == tapec.NoBound {
			continue
		}
		t, from := times[i], math.Inf(-1)
		for _, m := range in.Modes {
			if in.Bound == tapec.WindowFrom {
				begin[m] = t
			} else if b, ok := begin[m]; ok {
				from = max(from, b)
			}
		}
		switch {
		case reported[in.Span]:
			continue
		case !(t >= t0-slack && t <= tf+slack):
			l.Errorf(CodeTime, in.Span, "this bound of the integral is %s, outside the time span %s to %s", x.When(t),
				diag.Number(t0), diag.Number(tf))
		case t < from-slack:
			l.Errorf(CodeTime, in.Span, "the integral ends at %s, before it begins at %s", x.When(t),
				diag.Number(from))
		default:
			continue
		}
		if reported == nil {
			reported = map[source.Span]bool{}
		}
		reported[in.Span] = true
	}
	if !l.HasErrors() {
		return nil
	}
	return &diag.ListError{Diagnostics: l.All()}
}

// Windowed reports whether Windows has anything to look at.
func (x *Explainer) Windowed() bool {
	return slices.ContainsFunc(x.model.Compiled.InstantList, func(in tapec.Instant) bool {
		return in.Bound != tapec.NoBound
	})
}
