package odes

import (
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/solvers"
)

// CodeInvariant is the code of an invariant that does not hold.
const CodeInvariant diag.Code = "invariant-violated"

// invariantSlack is how many times the tolerance an invariant may be off: errors
// add up over a run, and a drift of that size is what tolerances allow.
const invariantSlack = 100

// invariants is a Sink that checks the model's invariants at the start, at the
// end of every step and after every body. One that does not hold at the start
// is an error; one that is lost on the way is a warning.
type invariants struct {
	w          *worker
	rtol, atol float64
	d          []float64 // discretes after the last mark
	gap        []float64 // [2·invariants]: how far off, then how large the sides are
	lost       []violation
}

// violation is when an invariant was lost, and where it is farthest off.
type violation struct {
	since  float64
	t, gap float64
	found  bool
}

// newInvariants returns nil for a model without invariants.
func (r *run) newInvariants(w *worker) *invariants {
	n := len(r.model.checked.Invariants)
	if n == 0 || w.value.invariants == nil {
		return nil
	}
	return &invariants{
		w: w, rtol: r.settings.solver.RTol, atol: r.settings.solver.ATol,
		d: make([]float64, r.model.layout.nD), gap: make([]float64, 2*n), lost: make([]violation, n),
	}
}

// measure evaluates the gaps at (t, y, d).
func (v *invariants) measure(t float64, y, d []float64) {
	w := v.w
	w.t[0] = t
	saved, other := w.in[primal][vecD], w.out[primal][vecOther]
	w.in[primal][vecY], w.in[primal][vecD], w.out[primal][vecOther] = y, d, v.gap
	w.value.invariants.run(&w.in, &w.out)
	w.in[primal][vecD], w.out[primal][vecOther] = saved, other
	n := len(v.lost)
	for i := range v.lost {
		gap, at := v.gap[i], &v.lost[i]
		if !(gap > invariantSlack*(float64(v.rtol*v.gap[n+i])+v.atol)) {
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

func (v *invariants) Begin(solvers.System, solvers.Method) error {
	clear(v.lost)
	return nil
}

func (v *invariants) Step(s *solvers.Step, _ solvers.End) error {
	if s.H != 0 {
		v.measure(s.T1, s.Y1, v.d)
	}
	return nil
}

func (v *invariants) Mark(m *solvers.Mark) error {
	switch m.Kind {
	case solvers.MarkStart:
		copy(v.d, m.Dp)
		v.measure(m.T, m.Yp, m.Dp)
		return v.atStart(m.T)
	case solvers.MarkFire:
		copy(v.d, m.Dp)
		v.measure(m.T, m.Yp, m.Dp)
	}
	return nil
}

// atStart returns the error of invariants that do not hold from the first.
func (v *invariants) atStart(t float64) error {
	var l diag.List
	m := v.w.model
	for i, lost := range v.lost {
		if lost.found {
			inv := m.checked.Invariants[i]
			l.Errorf(CodeInvariant, inv.Span, "the invariant does not hold at the start, %s = %s: its sides differ by %s; mend the initial values, or the invariant",
				m.checked.Time.Name, short(t), short(lost.gap))
		}
	}
	return l.Err()
}

// report warns of invariants that were lost.
func (v *invariants) report(l *diag.List) {
	m := v.w.model
	for i, lost := range v.lost {
		if lost.found {
			l.Warnf(CodeInvariant, m.checked.Invariants[i].Span, "the invariant is lost at %s = %s; at %s = %s its sides differ by %s, which is more than %d times the tolerance; tighten rtol and atol, or look for what does not conserve it",
				m.checked.Time.Name, short(lost.since), m.checked.Time.Name, short(lost.t), short(lost.gap), invariantSlack)
		}
	}
}
