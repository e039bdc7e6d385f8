// Package onesided finds derivatives that are those of one side: kinks that a run meets, conditions that rest at their
// thresholds or are set to them, and causes that come together and may come apart. What it finds are suspects; runs to
// either side decide.
package onesided

import (
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// Worker is what a Separator asks a worker of the run for.
type Worker interface {
	Enter(d, m []float64)
	Eval(t float64, y, k []float64)
	GuardValues(t float64, y, rho []float64, truth []bool)
	// ClockMargins returns the margins of conditions of time alone, until the next call.
	ClockMargins(t float64) []float64
	// Modes are those that were entered last.
	Modes() []float64
	Instants() []solvers.Instant
	// Repeat moves times of events that repeat to those of a run that begins with a state that does.
	Repeat(times []float64)
}

// Separator says what can come apart that meets in a run, and what moves it: for other values of what derivatives are
// taken by. It implements solvers.Separator.
type Separator struct {
	worker Worker
	model  *compiled.Model
	task   *compiled.Task
	beside compiled.Beside[complex128] // what is looked at next to a run
	met    map[uint64]int              // how often atoms have met in this run; nil for never
}

// NewSeparator returns that of a worker of the task; nil where no run is made.
func NewSeparator(m *compiled.Model, p *compiled.Task, w Worker) Separator {
	return Separator{worker: w, model: m, task: p, beside: compiled.NewBeside[complex128](m)}
}

// Begin forgets what has met, at the start of a run.
func (w *Separator) Begin() { clear(w.met) }

// Serve has w look at the runs of another task, with the same model but for values.
func (w *Separator) Serve(p *compiled.Task) { w.task = p }

// wandering lists the discretes that bodies set to what moves.
func (w *Separator) wandering() (list []int) {
	for _, s := range w.model.Checked.Discretes {
		at := w.model.Layout.Part(tapec.Discrete.Called(s.Name))
		for i := at.Offset; w.setMoving(s, nil) && i < at.Offset+at.Len; i++ {
			list = append(list, i)
		}
	}
	return list
}

// moves reports whether the time of an event depends on anything. seen are the discretes that are being looked at.
func (w *Separator) moves(e *model.Event, seen []*model.Symbol) bool {
	if e.Guarded() {
		return true
	}
	const fixed = model.UsesTime | model.UsesDiscrete
	return slices.ContainsFunc(append(e.At(), w.model.Checked.From), func(x model.Expr) bool {
		return x != nil && (model.Depends(x)&^fixed != 0 || w.set(x, seen))
	})
}

// set reports whether an expression reads a discrete that a body sets to something that moves.
func (w *Separator) set(x model.Expr, seen []*model.Symbol) bool {
	if x == nil || model.Depends(x)&model.UsesDiscrete == 0 {
		return false
	}
	found := false
	model.Walk(func(x model.Expr) bool {
		ref, is := x.(*model.Ref)
		if found || !is || ref.Sym.Kind != model.DiscreteSymbol || slices.Contains(seen, ref.Sym) {
			return !found
		}
		found = w.setMoving(ref.Sym, seen)
		return !found
	}, x)
	return found
}

// setMoving reports whether a body sets a discrete to something that moves, or sets one that moves from the start on.
func (w *Separator) setMoving(s *model.Symbol, seen []*model.Symbol) bool {
	return w.beginsMoving(s) && w.model.Assigns(s.Name) || w.bodiesMove(s, seen)
}

// bodiesMove reports whether a body sets a discrete to something that moves.
func (w *Separator) bodiesMove(s *model.Symbol, seen []*model.Symbol) (found bool) {
	within := append(seen, s)
	for _, e := range w.model.Checked.Events {
		for _, a := range e.Body {
			uses := model.Depends(a.Value)
			const known = model.UsesTime | model.UsesDiscrete | model.UsesParam
			found = found || a.Target == s && (uses&^known != 0 || w.readsMoving(a.Value) ||
				uses&model.UsesTime != 0 && w.moves(e, within) || w.set(a.Value, within))
		}
	}
	return found
}

// readsMoving reports whether an expression reads a param that derivatives are taken by, or that follows such a param.
func (w *Separator) readsMoving(x model.Expr) (found bool) {
	model.Walk(func(x model.Expr) bool {
		if ref, is := x.(*model.Ref); is && ref.Sym.Kind == model.ParamSymbol {
			_, active := w.task.Plan.Columns[ref.Sym.Name]
			found = found || active || w.task.Point.FollowsOthers(ref.Sym) && w.readsMoving(ref.Sym.Value)
		}
		return !found
	}, x)
	return found
}

// beginsMoving reports whether what a discrete begins with depends on what derivatives are taken by.
func (w *Separator) beginsMoving(s *model.Symbol) bool {
	from := compiled.InputsOf(w.model.Compiled.Start, tapec.Discrete.Called(s.Name), -1)
	return slices.ContainsFunc(from, func(n tapec.Name) bool {
		_, active := w.task.Plan.Columns[n.Of]
		return n.Role == tapec.Param && active
	})
}
