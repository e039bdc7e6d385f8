package explain

import (
	"context"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/onesided"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/tape"
)

// Kinks warns of kinks exactly where a recorded run reads its state: at the start, in bodies and after them, and where
// objectives read; and of kinks in what is computed of params before the run, and in conditions. It ignores the times
// between, and kinks of rates that the run leaves at once, because a trajectory crosses a kink there in one point,
// which has no weight. reader reads the run; functionals are what the objectives were computed from, and peaks those of
// them that are largest values. Those count that one of the variables moves, whose derivatives are that many columns.
// It returns those, and how many warnings it gave. It warns of kinks that only second derivatives show where these are
// asked for. rtol is the relative tolerance of the run's steps, within which what is read may tie; 0 where it is not
// known.
func (x *Explainer) Kinks(ctx context.Context, find *onesided.Kinks, run *record.Trajectory, reader *record.Reader,
	functionals []float64, peaks []sens.Peak, variables []compiled.Variable, columns int, second bool, rtol float64,
	l *diag.List,
) (all []onesided.Fold, n int, err error) {
	if find == nil {
		return nil, 0, nil
	}
	spots := newSpots(find, run, peaks)
	if !find.Any() && len(spots.list) == 0 {
		return nil, 0, nil
	}
	span := run.Ends() - run.Begins()
	spots.list = sens.Meanwhile(spots.list, peaks, float64(0x1p-30*span))
	find.Begin(rtol, second, run.Ends())
	suspects := find.Suspects(variables, columns)
	said := map[source.Span]bool{}
	warn := func(list []onesided.Kink, t float64) {
		for _, k := range list {
			if k.Smooth && !second {
				continue
			}
			k.T = t
			if all = append(all, k.Fold); !k.Tie && !said[k.Span] { // ties have been told
				said[k.Span] = true
				n++
				x.warnOfKink(&k, t, l)
			}
		}
	}
	reader.Open(ctx, run)
	var m solvers.Mark
	for i := range run.Marks() {
		after, _, err := reader.LoadMark(i, &m)
		if err != nil {
			return nil, 0, err
		}
		found := find.AtMark(&m, span)
		warn(suspects.At(&m, append(found, spots.at(i, after, &m)...)), m.T)
		if err := spots.behind(i, reader, func(found []onesided.Kink, t float64) {
			warn(suspects.Inside(found), t)
		}); err != nil {
			return nil, 0, err
		}
	}
	warn(suspects.Weigh(find.InValues(&m, functionals)), m.T)
	return all, n, nil
}

// spots finds kinks and ties where largest values are read, from mark to mark of a run.
type spots struct {
	find *onesided.Kinks
	run  *record.Trajectory
	list []sens.Spot
	next int // of list
}

func newSpots(find *onesided.Kinks, run *record.Trajectory, peaks []sens.Peak) *spots {
	x := &spots{find: find, run: run}
	x.list = sens.Spots(peaks)
	if !find.OfPeaks() {
		x.list = slices.DeleteFunc(x.list, func(s sens.Spot) bool { return !s.Tie && !s.Kept && !s.Dosed })
	}
	return x
}

func readingOf(s *sens.Spot) onesided.Reading {
	return onesided.Reading{Element: s.Element, Tie: s.Tie, Kept: s.Kept, Last: s.Last, Dosed: s.Dosed, Falls: s.Falls}
}

// take returns the next spot if it is before a place, or there.
func (x *spots) take(step int, theta float64) *sens.Spot {
	if x.next == len(x.list) {
		return nil
	}
	s := &x.list[x.next]
	if s.Step > step || s.Step == step && s.Theta > theta {
		return nil
	}
	x.next++
	return s
}

// at lists the kinks of what is read on either side of mark i, which is m and at the end of step after.
func (x *spots) at(i, after int, m *solvers.Mark) (found []onesided.Kink) {
	if m.Inside || len(x.list) == 0 {
		return nil
	}
	for s := x.take(after, 1); s != nil; s = x.take(after, 1) {
		found = append(found, x.find.BeforeMark(readingOf(s), m)...)
	}
	if i+1 < x.run.Marks() && x.run.After(i+1) == after { // more happens there
		return found
	}
	for s := x.take(after+1, 0); s != nil; s = x.take(after+1, 0) {
		found = append(found, x.find.BehindMark(readingOf(s), m)...)
		if first := x.find.First(); first.Guard >= 0 && slices.Equal(first.Ym, m.Yp) && slices.Equal(first.Dm, m.Dp) {
			found = slices.DeleteFunc(found, func(k onesided.Kink) bool { return !k.Kept && !k.Tie })
			r := readingOf(s)
			r.Kept = false
			found = append(found, x.find.BeforeMark(r, first)...) // for what brought it about
		}
	}
	return found
}

// behind visits the kinks of what is read between mark i and the next.
func (x *spots) behind(i int, reader *record.Reader, visit func(found []onesided.Kink, t float64)) error {
	if i+1 == x.run.Marks() {
		return nil
	}
	to, theta := x.run.After(i+1), 0x1.fffffffffffffp-1 // before its end, where the mark is
	if x.run.Inside(i + 1) {
		to, theta = to-1, 1
	}
	for s := x.take(to, theta); s != nil; s = x.take(to, theta) {
		y, err := reader.Within(s.Step, s.Theta)
		if err != nil {
			return err
		}
		d, m := x.run.Held(s.Step)
		if found := x.find.AtPeak(readingOf(s), s.T, y, d, m); len(found) > 0 {
			visit(found, s.T)
		}
	}
	return nil
}

// warnOfKink warns of a kink that was found at a time.
func (x *Explainer) warnOfKink(k *onesided.Kink, t float64, l *diag.List) {
	what := map[tape.Op]string{
		tape.Abs: "abs at 0", tape.Hypot: "hypot at 0", tape.Sqrt: "a root at 0", tape.Pow: "a root at 0",
		tape.Min: "a tie of min", tape.Max: "a tie of max", tape.MinAxes: "a tie of min",
		tape.MaxAxes: "a tie of max", tape.Less: "a condition at its threshold",
		tape.LessEq: "a condition at its threshold",
	}[k.Op]
	switch {
	case k.Kept:
		l.Warnf(CodeKink, k.Span, "the largest value is kept until %s: derivatives by what moves it at some of its "+
			"times and not at others, or otherwise, are those of one side", x.When(t))
		return
	case k.Dosed:
		l.Warnf(CodeKink, k.Span, "an event that changes nothing comes where the largest value is, at %s: derivatives "+
			"by what it would change are those of one side", x.When(t))
		return
	case k.Set:
		what = "a condition set to its threshold"
	case k.Rests:
		what = "a condition that stands still at its threshold"
	case k.Corner:
		what += ", where a condition meets its threshold,"
	case what == "":
		what = "a jump"
	}
	if k.Still {
		what += ", of params alone"
	} else {
		what += " at " + x.When(t)
	}
	if k.Smooth {
		l.Warnf(CodeKink, k.Span, "%s: there may be no second derivative there; that of one side, or 0, is used", what)
		return
	}
	l.Warnf(CodeKink, k.Span, "%s: there is no derivative there; that of one side, or 0, is used", what)
}

// Empty warns that a run has no length, where largest values over it depend on whether its end or its start moves.
func (x *Explainer) Empty(from, to float64, l *diag.List) {
	c := x.model.Checked
	if from != to || model.Static(c.From) && model.Static(c.To) {
		return
	}
	for _, f := range x.model.Compiled.Functionals {
		if f.Kind == model.MaxOver {
			l.Warnf(CodeKink, f.Span, "the run has no length: the largest value has no derivative by the bounds of "+
				"time; that of its end is used")
			return
		}
	}
}
