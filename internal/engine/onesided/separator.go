// Package onesided finds derivatives that are those of one side: kinks that a run meets, conditions that rest at their
// thresholds or are set to them, and causes that come together and may come apart. What it finds are suspects; runs to
// either side decide.
package onesided

import (
	"odes.dev/odes/internal/engine/compiled"
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
	// wanders are the discretes that bodies set to what moves, for a task.
	wanders struct {
		of   *compiled.Task
		list []int
	}
}

// NewSeparator returns that of a worker of the task; nil where no run is made.
func NewSeparator(m *compiled.Model, p *compiled.Task, w Worker) Separator {
	return Separator{worker: w, model: m, task: p, beside: compiled.NewBeside[complex128](m)}
}

// Begin forgets the run before.
func (w *Separator) Begin() {
	clear(w.met)
	w.wanders.of = nil
}

// Serve has w look at the runs of another task, with the same model but for values.
func (w *Separator) Serve(p *compiled.Task) { w.task = p }

// wandering lists the discretes that bodies set to what moves.
func (w *Separator) wandering() []int {
	if w.wanders.of == w.task {
		return w.wanders.list
	}
	w.wanders.of, w.wanders.list = w.task, w.wanders.list[:0]
	for _, s := range w.model.Checked.Discretes {
		x := newDependence(w.task, nil)
		x.set = true
		if n := tapec.Discrete.Called(s.Name); w.model.Assigns(s.Name) {
			x.follow(n)
			at := w.model.Layout.Part(n)
			for i := at.Offset; x.moves(w.task) && i < at.Offset+at.Len; i++ {
				w.wanders.list = append(w.wanders.list, i)
			}
		}
	}
	return w.wanders.list
}
