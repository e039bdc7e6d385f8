package explain

import (
	"context"
	"slices"

	"odes.dev/odes/internal/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// Kinks warns of kinks exactly where a recorded run reads its state: at the start, in bodies and after them, and where
// objectives read; and of kinks in what is computed of params before the run, and in conditions. It ignores the times
// between, and kinks of rates that the run leaves at once, because a trajectory crosses a kink there in one point,
// which has no weight. reader reads the run; functionals are what the objectives were computed from. It returns what
// all kinks that matter depend on, what those do of which that is all that moves them, and how many of the warnings are
// of these.
func (x *Explainer) Kinks(ctx context.Context, find *system.Kinks, run *solvers.Trajectory, reader *solvers.Reader,
	functionals []float64, l *diag.List,
) (all, alone []tapec.Name, n int, err error) {
	if find == nil {
		return nil, nil, 0, nil
	}
	reader.Open(ctx, run)
	said := map[source.Span]bool{}
	var m solvers.Mark
	warn := func(list []system.Kink) {
		for _, k := range list {
			if k.Clock && find.Fixed(&m) {
				continue
			}
			one := k.Still || k.Held || k.Set
			if one {
				alone = join(alone, k.From)
			} else {
				all = join(all, find.TimeOf(&m))
			}
			if !k.Idle {
				all = join(all, k.From)
			}
			if said[k.Span] {
				continue
			}
			if said[k.Span] = true; one {
				n++
			}
			what := map[tape.Op]string{
				tape.Abs: "abs at 0", tape.Hypot: "hypot at 0", tape.Sqrt: "a root at 0", tape.Pow: "a root at 0",
				tape.Min: "a tie of min", tape.Max: "a tie of max", tape.MinAxes: "a tie of min",
				tape.MaxAxes: "a tie of max", tape.Less: "a condition set to its threshold",
			}[k.Op]
			if k.Op.HasJump() && (k.Still || k.Held) {
				what = map[bool]string{true: "a condition at its threshold", false: "a jump"}[k.Op == tape.Less ||
					k.Op == tape.LessEq]
			}
			where := " at " + x.When(m.T)
			if k.Still {
				where = ", of params alone"
			}
			what += where
			l.Warnf(CodeKink, k.Span, "%s: there is no derivative there; that of one side, or 0, is used", what)
		}
	}
	span := 0.0
	for _, i := range []int{0, run.Marks() - 1} {
		if _, _, err := reader.LoadMark(i, &m); err != nil {
			return nil, nil, 0, err
		}
		span = m.T - span
	}
	for i := range run.Marks() {
		if _, _, err := reader.LoadMark(i, &m); err != nil {
			return nil, nil, 0, err
		}
		warn(find.AtMark(&m, span))
	}
	warn(find.InValues(&m, functionals))
	return all, alone, n, nil
}

// join adds to to those of more that it lacks.
func join(to, more []tapec.Name) []tapec.Name {
	for _, n := range more {
		if !slices.Contains(to, n) {
			to = append(to, n)
		}
	}
	return to
}

// Empty warns that a run has no length, where largest values over it depend on whether its end or its start moves.
func (x *Explainer) Empty(from, to float64, l *diag.List) {
	c := x.model.Checked
	if from != to || typecheck.Static(c.From) && typecheck.Static(c.To) {
		return
	}
	for _, f := range x.model.Compiled.Functionals {
		if f.Kind == typecheck.MaxOver {
			l.Warnf(CodeKink, f.Span, "the run has no length: the largest value has no derivative by the bounds of "+
				"time; that of its end is used")
			return
		}
	}
}
