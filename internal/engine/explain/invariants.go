package explain

import (
	"math"

	"odes.dev/odes/internal/base/sizes"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/solvers"
)

// invariantSlack is how many times the tolerance an invariant may be off. Errors add up over a run,
// and tolerances allow a drift of that size.
const invariantSlack = 100

// Invariants is a Sink that checks the model's invariants at the start, at the end of every step and
// after every body. An invariant that does not hold at the start is an error. One that is lost later
// is a warning.
type Invariants struct {
	*Explainer
	w          *system.Worker
	rtol, atol float64   // atol is negative where it follows the sizes of states
	top        float64   // the largest state so far
	d          []float64 // discretes after the last mark
	gap        []float64 // [2·invariants]: how far off, then how large the sides are
	lost       []violation
}

// violation says when an invariant was lost, and where it is farthest off.
type violation struct {
	since  float64
	t, gap float64
	found  bool
}

// Invariants returns a Sink for runs of w with the tolerances rtol and atol; nil for a model without invariants.
func (x *Explainer) Invariants(w *system.Worker, rtol, atol float64) *Invariants {
	if x.model.Compiled.Invariants == nil {
		return nil
	}
	n := len(x.model.Checked.Invariants)
	return &Invariants{
		Explainer: x, w: w, rtol: rtol, atol: atol,
		d: make([]float64, x.model.Discretes()), gap: make([]float64, 2*n), lost: make([]violation, n),
	}
}

// measure evaluates the gaps at (t, y, d).
func (v *Invariants) measure(t float64, y, d []float64) {
	v.w.Invariants(t, y, d, v.gap)
	n, atol := len(v.lost), v.atol
	if atol < 0 {
		for _, x := range y {
			v.top = math.Max(v.top, math.Abs(x))
		}
		atol = float64(float64(sizes.Part*v.rtol) * v.top)
	}
	for i := range v.lost {
		gap, at := v.gap[i], &v.lost[i]
		if !(gap > invariantSlack*(float64(v.rtol*v.gap[n+i])+atol)) {
			continue
		}
		if !at.found {
			*at = violation{since: t, found: true}
		}
		if gap > at.gap {
			at.t, at.gap = t, gap
		}
	}
}

// Begin implements solvers.Sink.
func (v *Invariants) Begin(solvers.System, solvers.Method) error { return nil }

// Step implements solvers.Sink.
func (v *Invariants) Step(s *solvers.Step, _ solvers.End) error {
	if s.H != 0 {
		v.measure(s.T1, s.Y1, v.d)
	}
	return nil
}

// Mark implements solvers.Sink.
func (v *Invariants) Mark(m *solvers.Mark) error {
	switch m.Kind {
	case solvers.MarkStart:
		return v.Start(m)
	case solvers.MarkFire:
		copy(v.d, m.Dp)
		v.measure(m.T, m.Yp, m.Dp)
	}
	return nil
}

// Start returns the error of invariants that do not hold at the start of a run, which m is.
func (v *Invariants) Start(m *solvers.Mark) error {
	clear(v.lost)
	v.top = 0
	copy(v.d, m.Dp)
	v.measure(m.T, m.Yp, m.Dp)
	var l diag.List
	for i, lost := range v.lost {
		if lost.found {
			inv := v.model.Checked.Invariants[i]
			l.Errorf(CodeInvariant, inv.Span, "the invariant does not hold at the start, %s: its sides differ by %s; "+
				"mend the initial values, or the invariant",
				v.When(m.T), diag.Number(lost.gap))
		}
	}
	return l.Err()
}

// Report warns of invariants that were lost.
func (v *Invariants) Report(l *diag.List) {
	for i, lost := range v.lost {
		if lost.found {
			l.Warnf(CodeInvariant, v.model.Checked.Invariants[i].Span,
				"the invariant is lost at %s; at %s its sides differ by %s, which is more than %d times the "+
					"tolerance; tighten rtol and atol, or look for what does not conserve it",
				v.When(lost.since), v.When(lost.t), diag.Number(lost.gap), invariantSlack)
		}
	}
}
