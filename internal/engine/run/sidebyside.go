package run

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/steps"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"

	"odes.dev/odes/solvers/lanes"
)

// Lanes runs one model for many sets of values, several at once, with the bits that a Runner gives for each. It belongs
// to one goroutine.
type Lanes struct {
	runners []*Runner
	setters [LaneCount]*compiled.Setter // nil where params follow others
	values  [][]float64                 // of the points of all runs
	runs    *sens.LaneRuns
	back    bool
	off     bool      // what stiff runs need could not be made
	names   []string  // of the values that setters set
	times   []float64 // see Outputs
	made    []int     // the numbers of the runs that are made
	// Outputs, if not nil, is given the outputs of run i, at the Times of the options. It is told before Run writes a
	// row, also of runs that are to be made by a Runner after all.
	Outputs func(i int, s *result.Solution)
}

// LaneCount is how many runs Lanes makes at a time.
const LaneCount = lanes.Count

// solvedPairs is how many states times objectives the gradients of Rosenbrock runs with full matrices may have, where
// there are more than solvedFew objectives. Single runs have the lanes for the objectives; beyond about this many they
// are quicker.
const (
	solvedPairs = 32
	solvedFew   = 4
)

// Lanes returns what runs the model for sets of values with the names of those in the options; with derivatives if
// gradient. It is nil where nothing is gained, or where single runs can do what it cannot: it takes methods with
// explicit stages, and Rosenbrock methods, and those that change between two such.
func (m *Model) Lanes(setup Setup, times []float64, gradient bool) (*Lanes, error) {
	if err := Ascending(times); err != nil {
		return nil, err
	}
	l := &Lanes{back: gradient, times: times}
	for range lanes.Count {
		r, err := m.prepare(setup, !gradient)
		if err != nil {
			return nil, err
		}
		if !r.sideBySide(gradient) {
			return nil, nil
		}
		l.runners = append(l.runners, r)
	}
	if err := l.equip(); err != nil || l.runs == nil {
		return nil, err
	}
	return l, nil
}

// equip makes what runs the runners side by side; runs is nil where they cannot be.
func (l *Lanes) equip() error {
	l.runs = nil
	var steps []lanes.Stepper
	var workers []sens.LaneWorker
	for i, r := range l.runners {
		w := sens.LaneWorker{Solver: r.solver, Objectives: r.worker, Resume: func(i int) {
			r.problem.Point.SetValues(l.values[i])
		}}
		watch := r.model.Explain.Invariants(r.worker, r.settings.Solver.RTol, r.settings.Solver.ATol)
		if watch != nil {
			w.Start = watch.Start
		}
		if l.times != nil {
			table := newRecorder(r.worker, l.times, r.settings.Solver.EventTol)
			w.Beside, w.Done = table, func(k int) {
				if l.Outputs != nil {
					l.Outputs(l.made[k], &result.Solution{T: table.t, Outputs: r.model.series(table)})
				}
			}
		}
		var slopes *compiled.Kit
		var err error
		switch {
		case !l.back:
		default:
			if slopes, _, err = (lanePart{r}).differentiates(&w); err != nil {
				return err
			}
		}
		if i == 0 {
			if steps, err = (lanePart{r}).steppers(slopes, l.back); err != nil || steps == nil {
				return err
			}
		}
		workers = append(workers, w)
	}
	first := l.runners[0]
	want := sens.Options{GrazingLimit: grazingLimit, Tie: first.settings.Solver.RTol, Initial: first.byInitial}
	var err error
	l.runs, err = sens.NewLaneRuns(steps, workers, want, false)
	return err
}

// steppers returns what makes the steps of each member of the method, as sens.NewLaneRuns wants it; nil for nothing.
func (r lanePart) steppers(slopes *compiled.Kit, back bool) ([]lanes.Stepper, error) {
	values, err := r.problem.Kit(1, compiled.Values, false)
	if err != nil {
		return nil, err
	}
	var first *steps.Lanes
	forms := r.solver.Side()
	made := make([]lanes.Stepper, len(forms))
	for k, form := range forms {
		n := len(r.objectives)
		if form == nil || back && r.settings.Mode == sens.ModeAdjoint && form.Solved != nil && form.Full() &&
			n > solvedFew && r.model.System.States()*n > solvedPairs {
			continue
		}
		if step := steps.NewLanes(&r.problem.Task, values, slopes, form, first); step != nil {
			made[k] = step
			first = cmp.Or(first, step)
		}
		if first == nil {
			return nil, nil
		}
	}
	if first == nil {
		return nil, nil
	}
	return made, nil
}

// differentiates gives w what differentiates the runs of a lane, and returns its kit and its worker.
func (r lanePart) differentiates(w *sens.LaneWorker) (slopes *compiled.Kit, by *system.Worker, err error) {
	if r.settings.Mode == sens.ModeAdjoint {
		lanes := min(chooseLanes(len(r.objectives)), 8)
		if slopes, err = r.problem.Kit(lanes, compiled.Pull, false); err != nil {
			return nil, nil, err
		}
		by = r.problem.Worker(slopes)
		w.Back = sens.CotangentWorker{System: by, Objectives: by, Method: r.Run.method(lanes)}
		return slopes, by, nil
	}
	lanes := min(chooseLanes(r.directions()), 8)
	if slopes, err = r.problem.Kit(lanes, compiled.Push, false); err != nil {
		return nil, nil, err
	}
	by = r.problem.Worker(slopes)
	w.Forth = sens.TangentWorker{System: by, Objectives: by, Method: r.Run.method(lanes)}
	w.Flow = r.settings.Mode == sens.ModeForward
	return slopes, by, nil
}

// solve makes what runs that have turned stiff need, as err tells of one. Without it, lanes are off.
func (l *Lanes) solve(err error) {
	for _, r := range l.runners {
		if !r.needsMore(err) || r.equip() != nil {
			l.off = true
			return
		}
	}
	l.off = l.equip() != nil || l.runs == nil
}

// laneModes are the modes whose derivatives are made side by side.
var laneModes = []string{sens.ModeAdjoint, sens.ModeTangent, sens.ModeForward}

// sideBySide reports whether nothing but a run, and its derivatives by one of laneModes, is asked for. Invariants are
// checked at the start alone: that one is lost on the way is a warning, which rows do not hold.
func (r *Runner) sideBySide(gradient bool) bool {
	if r.reading.past != nil {
		return false
	}
	return len(r.parts) == 0 && !r.settings.Trust && !r.shows() && !r.wantsSecond() && r.errorControl == nil &&
		!r.model.System.Settles() && (!gradient || slices.Contains(laneModes, r.settings.Mode))
}

// directions returns how many directions tangents go in.
func (r *Runner) directions() int {
	n := r.problem.Width()
	if r.byInitial {
		n += r.model.System.States()
	}
	return n
}

// Run runs the model for n sets of values, each of which holds until the next is asked for. It writes a row for each:
// the values of the objectives, and then, if Lanes has derivatives, those of the first value, of the second and so on.
// steps[n] says how many steps a run took. It is -1 for a run that is to be made by a Runner: it failed, something in
// it is not a finite number, or it is one of those that cannot be made side by side.
func (l *Lanes) Run(
	ctx context.Context, n int, set func(i int) ([]compiled.Override, error), row func(i int) []float64, steps []int,
) {
	var again []int
	for i := range n {
		steps[i] = -1
	}
	for at := 0; (at < n || len(again) > 0) && !l.off && ctx.Err() == nil; {
		l.made = l.made[:0]
		l.runs.Run(ctx, func(lane int) bool {
			for (at < n || len(again) > 0) && (len(l.made) < len(l.runners) || l.runs.Room()) {
				i := at
				if len(again) > 0 {
					i, again = again[0], again[1:]
				} else {
					at++
				}
				values, err := set(i)
				if r := l.runners[lane]; err != nil || l.set(lane, values) != nil ||
					r.model.Explain.Windows(r.worker) != nil {
					continue
				}
				k := len(l.made)
				if l.made = append(l.made, i); k == len(l.values) {
					l.values = append(l.values, nil)
				}
				l.values[k] = l.runners[lane].problem.Point.Values(l.values[k][:0])
				return true
			}
			return false
		})
		var turned *solvers.StiffError
		for k, i := range l.made {
			res, taken, err := l.runs.Result(k)
			switch {
			case err == nil:
				r := l.runners[0]
				r.problem.Point.SetValues(l.values[k])
				if r.row(res, row(i), l.back) {
					steps[i] = taken
				}
			case errors.As(err, &turned):
				again = append(again, i)
			}
		}
		if turned != nil {
			l.solve(turned)
		}
	}
}

// set gives a lane values.
func (l *Lanes) set(lane int, set []compiled.Override) error {
	r := l.runners[lane]
	plain := func(a compiled.Override, name string) bool { return a.Name == name && len(a.Values) == 1 }
	if s := l.setters[lane]; s != nil && slices.EqualFunc(set, l.names, plain) {
		for k, a := range set {
			s.Set(k, a.Values[0])
		}
		return r.model.Explain.Asserts(r.problem.Point)
	}
	l.setters[lane] = nil
	if err := r.Set(set...); err != nil {
		return err
	}
	if l.names == nil {
		for _, a := range set {
			l.names = append(l.names, a.Name)
		}
	}
	if slices.EqualFunc(set, l.names, plain) {
		l.setters[lane] = r.problem.Point.Setter(l.names)
	}
	return nil
}

// row writes what came of a run, and reports whether all of it is finite.
func (r *Runner) row(res *sens.Result, to []float64, gradient bool) bool {
	m := len(r.objectives)
	copy(to[:m], res.Psi)
	if !gradient {
		return trust.Finite(to[:m])
	}
	width := r.problem.Width()
	if !trust.Finite(res.DP[:m*width]) {
		return false
	}
	r.chain.Pull(res.DP, m, width)
	for i := range m {
		var byInitial []float64
		if n := r.model.System.States(); r.byInitial {
			byInitial = res.DY0[i*n : (i+1)*n]
		}
		row := to[m+i*r.columns : m+(i+1)*r.columns]
		r.gatherer.Gather(row, res.DP[i*width:(i+1)*width], byInitial)
	}
	return trust.Finite(to) && !slices.Contains(res.Suspect, true)
}
