// Package steps makes steps of methods as a whole: it writes the tapes of a step, of its transpose and of its tangents,
// has them compiled when enough steps were made, and runs them for one worker (Steps) or for several side by side
// (Lanes). It also keeps values of stages for transposes.
package steps

import (
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/work"
	"odes.dev/odes/solvers"
	"odes.dev/odes/vm"
)

// Steps makes whole steps, and keeps values of stages for transposes.
type Steps struct {
	*work.Space
	Field solvers.Field // the rates of the same worker

	wholes []*formed // what is known of whole steps, by the arithmetic of their method
	whole  *formed   // that of the last step

	solveds []*solvedSteps // likewise of steps that solve equations
	solved  *solvedSteps

	// values of stages: those that Eval keeps, and those that Pull reads; nil for none
	Keeping, reading *stageCalls
	keeper           *stageCalls // what keeping was last
}

// Whole returns w: what makes lanes of a System finds its Steps by that.
func (w *Steps) Whole() *Steps { return w }

// stepsOf returns those of a worker.
func stepsOf(sys any) *Steps { return sys.(interface{ Whole() *Steps }).Whole() }

// RefreshSteps has programs read parameters again.
func (w *Steps) RefreshSteps() {
	for _, f := range w.wholes {
		for _, v := range f.all() {
			v.Call.Refresh()
		}
	}
	for _, v := range w.solveds {
		v.steps.Call.Refresh()
		v.pulls.Call.Refresh()
	}
}

// BeginKeeping forgets what was kept, at the start of a run.
func (w *Steps) BeginKeeping() {
	if w.Keeping != nil {
		w.Keeping.begin()
	}
}

// BeginReading begins at the last stage that was kept.
func (w *Steps) BeginReading() {
	if w.reading != nil {
		w.reading.next = w.reading.made
	}
}

// FromFirst reports whether even the first step was made by a program of whole steps of a small model.
func (w *Steps) FromFirst() bool {
	return len(w.wholes) == 1 && w.whole.steps.Call != nil && w.whole.steps.first
}

// ReadPeaks implements sens.PeakReader.
func (w *Steps) ReadPeaks(form *solvers.Arithmetic, s *solvers.Step, times, within, e, ed []float64) bool {
	if len(s.Y0) >= largeStates || w.Task.Model.Algebraic() { // unknowns are in no step as a whole
		return false
	}
	f := w.by(form)
	v := &f.peaks
	if v.Call == nil {
		if !v.ready(w, w.Kit.OfPeaks(form)) {
			return false
		}
		f.peaksAt = w.Kit.PeaksAt(w.Task.Peaks)
	}
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	n := 3 + copy(v.in[3:], s.Y0)
	n += copy(v.in[n:], s.K[:form.Sampled*(len(s.Y0)+len(s.DQ))])
	n += copy(v.in[n:], s.Y1)
	for i, t := range times {
		v.in[n+2*i], v.in[n+2*i+1] = t, within[i]
	}
	v.RunBound(&w.In, &w.Out)
	each := len(v.out) / len(times)
	for i := range times {
		out := v.out[i*each : (i+1)*each]
		for k, to := range [2][]float64{e, ed} {
			for j, at := range f.peaksAt[k] {
				x := 0.0
				if at >= 0 {
					x = out[at]
				}
				to[i*len(w.Task.Peaks)+j] = x
			}
		}
	}
	return true
}

// StepStats returns the statistics of the worker's programs of whole steps and of their transposes;
// nil where there is none.
func (w *Steps) StepStats() (step, transpose *vm.Stats) {
	a, b := w.made()
	return compiled.Stats(a), compiled.Stats(b)
}
