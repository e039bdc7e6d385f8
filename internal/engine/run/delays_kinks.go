package run

import (
	"context"
	"slices"

	"odes.dev/odes/internal/engine/lag"
	"odes.dev/odes/internal/engine/onesided"
	"odes.dev/odes/solvers"
)

// staysAtKinks reports whether the last run, which reads its past, is at a kink or a threshold that a variable moves,
// and does not leave it at once. It looks where something happens, and where a break comes back of the past: what is
// read may be constant from there to the next one, as the initial state is for one delay.
func staysAtKinks(ctx context.Context, r *Runner) (bool, error) {
	x, ok := r.over(r.worker, 0).(*lag.Worker)
	if !ok || r.kinks == nil || !r.kinks.Any() {
		return false, nil
	}
	l := &kinksOfPast{
		find: r.kinks, suspects: r.kinks.Suspects(r.places, r.columns), x: x,
		span: r.trajectory.Ends() - r.trajectory.Begins(),
	}
	rtol := r.settings.Solver.RTol
	if r.settings.Solver.Fixed > 0 {
		rtol = 0
	}
	l.find.Begin(rtol, r.wantsSecond(), r.trajectory.Ends())
	r.reader.Open(ctx, &r.trajectory)
	back := r.reading.past.Breaks()
	var m, was solvers.Mark // was without what it points to but discretes and modes
	for i := range r.trajectory.Marks() {
		if _, _, err := r.reader.LoadMark(i, &m); err != nil {
			return false, err
		}
		for ; len(back) > 0 && back[0].T <= m.T; back = back[1:] {
			if i > 0 && back[0].T < m.T && back[0].T > was.T { // where nothing happens
				b := solvers.Mark{
					Kind: solvers.MarkRemode, T: back[0].T, Guard: -1, Instant: -1, Ym: back[0].Y, Yp: back[0].Y,
					Dm: was.Dp, Dp: was.Dp, Mm: was.Mp, Mp: was.Mp,
				}
				if l.stays(&b) {
					return true, nil
				}
			}
		}
		if l.stays(&m) {
			return true, nil
		}
		was.T, was.Dp, was.Mp = m.T, slices.Clone(m.Dp), slices.Clone(m.Mp)
	}
	return false, nil
}

// kinksOfPast finds kinks and thresholds from mark to mark, with what is read of the past.
type kinksOfPast struct {
	find     *onesided.Kinks
	suspects *onesided.Suspects
	x        *lag.Worker
	span     float64
}

// stays reports whether any is found at a mark, and moved by a variable.
func (l *kinksOfPast) stays(m *solvers.Mark) bool {
	at := *m
	l.x.Enter(m.Dm, m.Mm)
	at.Ym = lag.Extended(l.x, m.T, m.Ym, false)
	l.x.Enter(m.Dp, m.Mp)
	at.Yp = lag.Extended(l.x, m.T, m.Yp, true)
	if m.Kind == solvers.MarkStart {
		at.Ym = at.Yp
	}
	return len(l.suspects.At(&at, l.find.AtMark(&at, l.span))) > 0
}
