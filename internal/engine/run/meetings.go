package run

import (
	"context"
	"errors"
	"os"
	"slices"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/result"
	"odes.dev/odes/solvers"
)

// meetingsOf returns the meetings of a run that variables move apart.
func (r *Runner) meetingsOf(stats *solvers.Stats) (found []trust.Meeting) {
	list := stats.Meetings
	for i := range list {
		for _, f := range r.worker.Folds(list[i:i+1], stats.Fired, r.places, r.columns) {
			a, b := list[i].Names[0], list[i].Names[1]
			m := trust.Meeting{
				Meeting: list[i], Fold: f, Columns: make([]bool, r.columns), Of: r.model.Explain,
				Told: slices.ContainsFunc(stats.Warnings, func(w solvers.Warning) bool {
					return w.Name == a && w.Other == b || w.Name == b && w.Other == a
				}),
			}
			f.Mark(m.Columns, true)
			m.Later = r.worker.Later(&list[i], r.places, m.Columns)
			found = append(found, m)
		}
	}
	return found
}

// foldsOfTies returns what ties of a run fold. About open ones, runs with the causes in either order decide: those of
// two times of their own that met in the run. What conditions do depends on what happened before in other ways, too.
func (r *Runner) foldsOfTies(stats *solvers.Stats) (firm, open []system.Fold) {
	for i := range stats.Ties {
		t := &stats.Ties[i]
		folds := r.worker.Folds(stats.Ties[i:i+1], stats.Fired, r.places, r.columns)
		met := slices.IndexFunc(r.met, func(m trust.Meeting) bool {
			a, b := m.Causes[0], m.Causes[1]
			return t.Causes == m.Causes || t.Causes == [2]solvers.Cause{b, a}
		})
		timed := t.Many == nil && !t.Soon && r.worker.Timed(t.Causes[0]) && r.worker.Timed(t.Causes[1])
		if !timed || met < 0 || len(folds) == 0 {
			firm = append(firm, folds...)
			continue
		}
		moves := make([]bool, r.columns)
		folds[0].Mark(moves, true)
		for k, by := range r.met[met].Columns {
			moves[k] = moves[k] && !by
		}
		if slices.Contains(moves, true) {
			firm = append(firm, folds...)
		} else {
			open = append(open, folds...)
		}
	}
	return firm, open
}

// foldsOfMeetings returns what meetings of the last run, and these with kinks, fold at least so that second derivatives
// may jump: where things come in another order, or at two times in place of one.
func (r *Runner) foldsOfMeetings(stats *solvers.Stats) (list []system.Fold) {
	for i := range r.met {
		list = append(list, r.met[i].Fold)
	}
	list = append(list, r.worker.Folds(stats.Bends, stats.Fired, r.places, r.columns)...)
	for i := range list {
		list[i].Meets = true
		list[i].Into = system.IntoAll() // also what else happens then, at a time that either sets
	}
	return list
}

// allMet returns the meetings of the last run and of its experiments.
func (r *Runner) allMet() []trust.Meeting {
	list := slices.Clone(r.met)
	for i, part := range r.parts {
		for _, x := range part.allMet() {
			x.Experiment = r.model.Experiments[i].Name
			list = append(list, x)
		}
	}
	return list
}

// apart compares s, of which fine is the independent run, with runs in which things that met come one after the other:
// as they do where a variable is moved a little one way or the other.
func (r checking) apart(ctx context.Context, s, fine *trust.Result) error {
	s.Meetings, s.Unlike, s.Settled, s.Leapt, s.Turned = r.allMet(), nil, nil, nil, nil
	if os.Getenv("NEARBY") != "" {
		return r.nearby(ctx, s, fine)
	}
	lists, by, mixed := trust.Orders(s.Meetings, s.Columns)
	if len(lists) == 0 {
		return nil
	}
	if r.parted == nil {
		var err error
		if r.parted, err = r.twin(); err != nil {
			return err
		}
	}
	s.Reorder()
	for i, list := range lists {
		if err := r.inOrder(ctx, s, fine, list, by[i], true); err != nil {
			return err
		}
		if !r.parted.severs() && !(mixed && i == len(lists)-1) {
			for _, k := range by[i] {
				s.Settled[k] = true
			}
		}
		turned := slices.ContainsFunc(list, func(m trust.Meeting) bool { return m.Turned })
		if !turned && !r.parted.mixes() { // the independent run is in their order
			continue
		}
		if err := r.inOrder(ctx, s, fine, list, by[i], false); err != nil {
			return err
		}
	}
	return nil
}

// mixes reports whether what met and comes apart had come in neither order in the run of the result, or may be largest
// in between in its order.
func (r *Runner) mixes() bool {
	return len(r.problem.Peaks) > 0 || r.mixed || slices.ContainsFunc(r.parts, (*Runner).mixes)
}

// severs reports whether more than two parts of a meeting came one after another, which may come in further orders.
func (r *Runner) severs() bool { return r.severed || slices.ContainsFunc(r.parts, (*Runner).severs) }

// inOrder does so for these meetings and columns, in the order of the run or in the other one.
func (r checking) inOrder(ctx context.Context, s, fine *trust.Result, met []trust.Meeting, columns []int, reversed bool,
) error {
	b := r.parted
	b.part(met, reversed)
	other, err := b.once(ctx)
	if err == nil && r.wantsSecond() && r.affords(b) {
		b.curve, b.last = r.curve, b
		turned := &result.Sensitivities{Columns: r.columns}
		if err := b.differentiateTwice(ctx, turned, s.Reached); err != nil {
			return err
		}
		s.Turned = append(s.Turned, turned)
	}
	if !r.keep {
		b.release()
		b.makeRoom()
	}
	if failed := (*result.RunError)(nil); err != nil &&
		(explain.Interrupted(err) || ctx.Err() != nil || !errors.As(err, &failed)) {
		return err
	}
	var numbers *result.Sensitivities
	if err == nil {
		numbers = &other.Sensitivities
	}
	var sizes []float64
	if r.wantsSecond() {
		sizes = r.sizes()
	}
	s.CompareOrder(&fine.Sensitivities, numbers, columns, sizes)
	return nil
}

// part has what met come apart from now on.
func (r *Runner) part(met []trust.Meeting, reversed bool) {
	var pairs []solvers.Parting
	for i := range met {
		pairs = append(pairs, solvers.Parting{Causes: met[i].Causes, Turned: met[i].Turned})
	}
	r.settings.Solver.Apart, r.settings.Solver.Reversed = pairs, reversed
	r.solver.Part(pairs, reversed)
	for _, part := range r.parts {
		part.part(met, reversed)
	}
}
