package odes

import (
	"context"
	"errors"
	"math"
	"slices"

	"odes.dev/odes/internal/engine/judge"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/solvers"
)

// meeting is what came at one time in a run, and comes at two where one of the columns of the gradient is moved.
type meeting struct {
	solvers.Meeting
	fold       system.Fold
	columns    []bool
	later      []int // by columns, which cause comes later where the column grows: 1, -1, or 0 if nobody knows
	turned     bool  // in a list of those that come apart together: the other one than of the first that is known
	told       bool  // by a warning of the run
	model      *Model
	experiment string // whose run it was; "" for that of the model
}

// meetingsOf returns the meetings of a run that variables move apart.
func (r *Runner) meetingsOf(stats *solvers.Stats) (found []meeting) {
	list := stats.Meetings
	for i := range list {
		for _, f := range r.worker.Folds(list[i:i+1], stats.Fired, r.places, r.columns) {
			a, b := list[i].Names[0], list[i].Names[1]
			m := meeting{
				Meeting: list[i], fold: f, columns: make([]bool, r.columns), model: r.model,
				told: slices.ContainsFunc(stats.Warnings, func(w solvers.Warning) bool {
					return w.Name == a && w.Other == b || w.Name == b && w.Other == a
				}),
			}
			f.Mark(m.columns, true)
			m.later = r.worker.Later(&list[i], r.places, m.columns)
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
		met := slices.IndexFunc(r.met, func(m meeting) bool {
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
		for k, by := range r.met[met].columns {
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
		list = append(list, r.met[i].fold)
	}
	list = append(list, r.worker.Folds(stats.Bends, stats.Fired, r.places, r.columns)...)
	for i := range list {
		list[i].Meets = true
		list[i].Into = system.IntoAll() // also what else happens then, at a time that either sets
	}
	return list
}

// allMet returns the meetings of the last run and of its experiments.
func (r *Runner) allMet() []meeting {
	list := slices.Clone(r.met)
	for i, part := range r.parts {
		for _, x := range part.allMet() {
			x.experiment = r.model.experiments[i].name
			list = append(list, x)
		}
	}
	return list
}

// mostOrders limits how many runs in another order are made for one result.
const mostOrders = 6

// orders returns lists of meetings that come apart together, with the columns that move all of each list and nothing
// else, each of these meetings one way or all the other way. The last one may have those of several lists, as mixed
// tells.
func orders(met []meeting, columns int) (lists [][]meeting, by [][]int, mixed bool) {
	index := map[string]int{}
	for k := range columns {
		var list []meeting
		key, way := make([]byte, len(met)), 0
		for i := range met {
			if !met[i].columns[k] {
				continue
			}
			m := met[i]
			if way == 0 {
				way = m.later[k]
			}
			if key[i], m.turned = 1, m.later[k] == -way && way != 0; m.turned {
				key[i] = 2
			}
			list = append(list, m)
		}
		if len(list) == 0 {
			continue
		}
		i, known := index[string(key)]
		switch {
		case known:
		case len(lists) < mostOrders:
			i = len(lists)
			lists, by = append(lists, list), append(by, nil)
		default:
			i, mixed = len(lists)-1, true
			lists[i] = append(lists[i], list...)
		}
		index[string(key)] = i
		by[i] = append(by[i], k)
	}
	return lists, by, mixed
}

// apart compares s, of which fine is the independent run, with runs in which things that met come one after the other:
// as they do where a variable is moved a little one way or the other.
func (r *Runner) apart(ctx context.Context, s, fine *Sensitivities) error {
	s.meetings, s.unlike, s.settled, s.leapt, s.turned = r.allMet(), nil, nil, nil, nil
	lists, by, mixed := orders(s.meetings, s.Columns)
	if len(lists) == 0 {
		return nil
	}
	if r.parted == nil {
		var err error
		if r.parted, err = r.twin(); err != nil {
			return err
		}
	}
	s.unlike, s.settled = make([]float64, len(s.Gradient)), make([]bool, s.Columns)
	s.leapt = map[int][]bool{}
	for i, list := range lists {
		if err := r.inOrder(ctx, s, fine, list, by[i], true); err != nil {
			return err
		}
		if !r.parted.severs() && !(mixed && i == len(lists)-1) {
			for _, k := range by[i] {
				s.settled[k] = true
			}
		}
		turned := slices.ContainsFunc(list, func(m meeting) bool { return m.turned })
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
func (r *Runner) inOrder(ctx context.Context, s, fine *Sensitivities, met []meeting, columns []int, reversed bool,
) error {
	b := r.parted
	b.part(met, reversed)
	other, err := b.once(ctx)
	if err == nil && r.wantsSecond() && r.affords(b) {
		b.curve, b.last = r.curve, b
		turned := &Sensitivities{Columns: r.columns, sides: s.sides}
		if err := b.differentiateTwice(ctx, turned); err != nil {
			return err
		}
		s.turned = append(s.turned, turned)
	}
	if !r.keep {
		b.release()
		b.makeRoom()
	}
	if failed := (*RunError)(nil); err != nil && (Interrupted(err) || ctx.Err() != nil || !errors.As(err, &failed)) {
		return err
	}
	for i, v := range s.Values {
		jumps := err != nil
		if !jumps {
			x, y := fine.Values[i].Value, other.Values[i].Value
			jumps = !(math.Abs(x-y) <= float64(10*v.Error)+float64(1e-6*math.Abs(x)))
		}
		for _, k := range columns {
			at := i*s.Columns + k
			off := math.Inf(1)
			if !jumps {
				off = math.Abs(fine.Gradient[at] - other.Gradient[at])
			}
			s.unlike[at] = max(s.unlike[at], off)
		}
		if r.wantsSecond() {
			s.leap(i, fine, other, err != nil, jumps, columns, r.sizes())
		}
	}
	return nil
}

// leap notes which derivatives of value i are others in two runs, by more than errors, in the direction of some
// columns: all, where a run failed, and by these columns, where the value jumps. sizes are those of the variables.
func (s *Sensitivities) leap(i int, fine, other *Sensitivities, all, jumps bool, columns []int, sizes []float64) {
	leapt, some := make([]bool, s.Columns), all || jumps
	if all {
		for k := range leapt {
			leapt[k] = true
		}
	} else {
		some = s.leaps(i, fine, other, sizes, leapt) || some
	}
	if jumps {
		for _, k := range columns {
			leapt[k] = true
		}
	}
	if !some {
		return
	}
	for _, k := range columns {
		row := s.leapt[i*s.Columns+k]
		if row == nil {
			row = make([]bool, s.Columns)
			s.leapt[i*s.Columns+k] = row
		}
		for l, x := range leapt {
			row[l] = row[l] || x
		}
	}
}

// leaps fills in which derivatives of value i are others in two runs, and reports whether some are.
func (s *Sensitivities) leaps(i int, fine, other *Sensitivities, sizes []float64, leapt []bool) (some bool) {
	most, row := 0.0, i*s.Columns
	for n, v := range s.Variables {
		for k := v.Offset; k < v.Offset+v.Size(); k++ {
			most = max(most, float64(sizes[n]*math.Abs(fine.Gradient[row+k])))
		}
	}
	for n, v := range s.Variables {
		for k := v.Offset; k < v.Offset+v.Size(); k++ {
			x, y := fine.Gradient[row+k], other.Gradient[row+k]
			off := float64(1e-6 * max(math.Abs(x), math.Abs(y)))
			if s.Errors != nil {
				off = max(off, float64(10*s.Errors[row+k]))
			}
			if d := math.Abs(x - y); !(d <= off || float64(d*sizes[n]) <= float64(judge.PartOfDerivatives*most)) {
				leapt[k], some = true, true
			}
		}
	}
	return some
}

// part has what met come apart from now on.
func (r *Runner) part(met []meeting, reversed bool) {
	var pairs []solvers.Parting
	for i := range met {
		pairs = append(pairs, solvers.Parting{Causes: met[i].Causes, Turned: met[i].turned})
	}
	r.settings.Solver.Apart, r.settings.Solver.Reversed = pairs, reversed
	r.solver.Part(pairs, reversed)
	for _, part := range r.parts {
		part.part(met, reversed)
	}
}

// tellMeetings warns of the meetings that derivatives of s are on one side of.
func (s *Sensitivities) tellMeetings() {
	var l diag.List
	open := slices.Clone(s.parted) // columns of which nothing is told
	for i := range s.meetings {
		x := &s.meetings[i]
		if x.told {
			continue
		}
		some := false
		for k := range open {
			some = some || open[k] && x.columns[k]
			open[k] = open[k] && !x.columns[k]
		}
		if some {
			var one diag.List
			x.model.explain.Warnings([]solvers.Warning{{
				Kind: solvers.OneSided, T: x.T, Name: x.Names[0], Other: x.Names[1], Instant: -1,
			}}, &one)
			for _, d := range one.All() {
				if x.experiment != "" {
					d.Message = "experiment " + x.experiment + ": " + d.Message
				}
				l.Add(d)
			}
		}
	}
	s.Warnings = append(s.Warnings[:len(s.Warnings):len(s.Warnings)], l.All()...)
}
