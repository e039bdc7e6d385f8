package run

import (
	"context"
	"slices"

	"odes.dev/odes/internal/engine/coincide"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// Sides are derivatives of objectives on both sides of each element of the variables, where causes of the run
// coincide.
type Sides struct {
	Left, Right []float64 // [objectives][columns]
	Leaps       []bool    // [columns] the result leaps there
	Unknown     []bool    // [columns] they are not known
	Met         []coincide.Met
	within      float64 // times that differ by no more are one
}

// Sides returns derivatives of the last run of r on both sides; nil where no causes coincide, or where package
// coincide does not follow the model: why says so.
func (r *Runner) Sides(ctx context.Context) (s *Sides, why string, err error) {
	if len(r.parts) > 0 || r.readsTotals() {
		return nil, "experiments", nil
	}
	span := r.trajectory.Ends() - r.trajectory.Begins()
	how := &r.settings.Solver
	var seed *uint64
	if how.Shuffled {
		seed = &how.Seed
	}
	m, why := coincide.New(r.problem, r.worker, span, how.Each, seed)
	if m == nil {
		return nil, why, nil
	}
	c := m.Cross(r.problem.Point.Active(r.places))
	tangent, err := r.tangentMethod(r.setup.lanes(2*r.columns), system.Push)
	if err != nil {
		return nil, "", err
	}
	directions := r.problem.Directions(r.places)
	v := make([]float64, r.columns)
	move := func(k int) (pd, dy0 []float64) {
		clear(v)
		if v[k/2] = 1; k%2 == 0 {
			v[k/2] = -1
		}
		return directions(v, nil)
	}
	walk := sens.Sided{New: tangent.New, Crosser: c}
	rows, err := walk.Along(ctx, &r.trajectory, 2*r.columns, move, float64(coincide.Near*span))
	if err != nil {
		return nil, "", r.failed(err, r.worker)
	}
	if len(c.Met) == 0 {
		return nil, "", nil
	}
	n := len(r.objectives) * r.columns
	s = &Sides{
		Left: make([]float64, n), Right: make([]float64, n), Leaps: make([]bool, r.columns),
		Unknown: make([]bool, r.columns), Met: c.Met, within: float64(10 * coincide.Near * span),
	}
	for k := range r.columns {
		for o := range r.objectives {
			s.Left[o*r.columns+k], s.Right[o*r.columns+k] = 0-rows[2*k][o], rows[2*k+1][o]
		}
		s.Leaps[k] = c.Leaps(2*k) || c.Leaps(2*k+1)
		s.Unknown[k] = c.Unknown(2*k) || c.Unknown(2*k+1)
	}
	return s, "", nil
}

// mostCrossed bounds the work of crossing meetings: directions times states times steps.
const mostCrossed = 2e6

// crossed returns the sides of the last run of r, whose result is s; nil where nothing coincides, or where they are not
// followed, or not in short time.
func (r checking) crossed(ctx context.Context, s *trust.Result) (*Sides, error) {
	// Second derivatives may jump where first ones do not, and of them nothing is known here.
	if !r.setup.Sides || r.wantsSecond() || !s.Crossed || trust.Doubts(s.Warnings) == 0 && len(r.met) == 0 {
		return nil, nil
	}
	size := r.problem.Size()
	if float64(2*r.columns)*float64(size.N+size.Q+1)*float64(s.Stats.Steps) > mostCrossed {
		return nil, nil
	}
	sides, _, err := r.Sides(ctx)
	return sides, err
}

// followable reports whether what a run warned of is nothing that package contact does not know.
func followable(list []solvers.Warning) bool {
	for i := range list {
		switch w := &list[i]; w.Kind {
		case solvers.Edge, solvers.Brink, solvers.Grazing:
			return false
		case solvers.Tie, solvers.OneSided, solvers.Together:
			if w.Value > 0 { // at two times, which lie near each other
				return false
			}
		}
	}
	return true
}

// decide has s take derivatives from sides of a run and of its independent run. It reports whether these say all there
// is to say of meetings.
func (r checking) decide(s *trust.Result, mine, theirs *Sides, sizes []float64, share float64) bool {
	s.Undo()
	if mine == nil || theirs == nil || !mine.explain(r.missed) {
		return false
	}
	d := &trust.Decision{
		Left: mine.Left, Right: mine.Right, TwinLeft: theirs.Left, TwinRight: theirs.Right,
		Known: make([]bool, len(s.Gradient)), From: make([][]int, r.columns), Sizes: make([]float64, r.columns),
	}
	for n, v := range r.variables {
		for k := range v.Size() {
			d.Sizes[v.Offset+k] = sizes[n]
		}
	}
	for k := range r.columns {
		known := !mine.Leaps[k] && !mine.Unknown[k] && !theirs.Leaps[k] && !theirs.Unknown[k]
		for i, o := range r.objectives {
			d.Known[i*r.columns+k] = known && len(r.model.System.PeaksOf([]*model.Objective{o.of})) == 0
		}
		for c := range mine.Met {
			if mine.Met[c].Differs(2*k, 2*k+1) {
				d.From[k] = append(d.From[k], c)
			}
		}
	}
	for c := range mine.Met {
		d.Coincidences = append(d.Coincidences, result.Coincidence{T: mine.Met[c].T, Causes: mine.Met[c].Causes})
	}
	all, some := s.Decide(d, share)
	if !some {
		s.Undo()
		return false
	}
	s.TellSides(r.model.Explain, all)
	if all && len(r.missed) > 0 {
		s.Warnings = slices.DeleteFunc(s.Warnings, func(d diag.Diagnostic) bool { return d.Code == explain.CodeHidden })
	}
	return all
}

// explain reports whether all that may have been missed is a cause of a coincidence, which it reaches there.
func (s *Sides) explain(missed []solvers.Warning) bool {
	for i := range missed {
		w := &missed[i]
		if !(w.Value <= s.within) || !slices.ContainsFunc(s.Met, func(m coincide.Met) bool {
			return m.T >= w.T && slices.Contains(m.Names, w.Name)
		}) {
			return false
		}
	}
	return true
}

// nearMisses lists what a run may have missed.
func nearMisses(list []solvers.Warning) (missed []solvers.Warning) {
	for _, w := range list {
		if w.Kind == solvers.NearMiss {
			missed = append(missed, w)
		}
	}
	return missed
}

// times returns when causes coincided, and within what.
func (s *Sides) times() (list []float64, within float64) {
	for i := range s.Met {
		list = append(list, s.Met[i].T)
	}
	return list, s.within
}
