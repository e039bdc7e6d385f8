package system

import (
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tapec"
)

// Peaks implements sens.PeakObjectives.
func (w *sites) Peaks() []int { return w.problem.Peaks }

// Heights implements sens.PeakObjectives.
func (w *sites) Heights(t float64, y, e []float64) {
	w.T[0] = t
	w.In[tapec.Primal][vec.Y], w.Out[tapec.Primal][vec.F] = y, w.functional
	w.Primals.Get(tapec.PartPeaks).Run(&w.In, &w.Out)
	for i, j := range w.problem.Peaks {
		e[i] = w.functional[j]
	}
}

// Slopes implements sens.PeakObjectives.
func (w *sites) Slopes(t float64, y, yd, ed []float64) {
	if w.slopes == nil { // nothing that is looked for moves
		clear(ed)
		return
	}
	w.T[0] = t
	clear(w.functional) // what does not move is not written
	w.In[tapec.Primal][vec.Y], w.In[tapec.Tangent][vec.T], w.In[tapec.Tangent][vec.Y] = y, rateOfTime, yd
	w.Out[tapec.Tangent][vec.F] = w.functional
	w.slopes.Run(&w.In, &w.Out)
	for i, j := range w.problem.Peaks {
		ed[i] = w.functional[j]
	}
}

// PeakAt implements sens.PeakSingles.
func (w *sites) PeakAt(j int, t, within float64, y, yd []float64) (e, ed float64, ok bool) {
	if len(w.Primals.Get(tapec.PartPeaks).Outs) <= compiled.ManyPeaks {
		return 0, 0, false
	}
	element := w.problem.Peaks[j]
	group := w.model.FunctionalAt(element) / compiled.ManyPeaks
	calls, ok := w.peakCalls[group]
	if !ok {
		g, err := w.Kit.PeakGroup(w.model, group)
		if err != nil {
			return 0, 0, false
		}
		calls = [2]*compiled.Call{g.Heights.Call(), g.Slopes.Call()}
		if w.peakCalls == nil {
			w.peakCalls = map[int][2]*compiled.Call{}
		}
		w.peakCalls[group] = calls
		w.Keep(calls[0])
		w.Keep(calls[1])
	}
	w.T[0] = t
	w.In[tapec.Primal][vec.Y], w.Out[tapec.Primal][vec.F] = y, w.functional
	calls[0].Run(&w.In, &w.Out)
	e = w.functional[element]
	if calls[1] == nil {
		return e, 0, true
	}
	w.T[0] = within
	w.functional[element] = 0 // what does not move is not written
	w.In[tapec.Tangent][vec.T], w.In[tapec.Tangent][vec.Y] = rateOfTime, yd
	w.Out[tapec.Tangent][vec.F] = w.functional
	calls[1].Run(&w.In, &w.Out)
	return e, w.functional[element], true
}

// peakLeeway is how far, in second differences, functions of time may reach beyond samples in the search for largest
// values. A wave that is sampled well reaches a quarter as far.
const peakLeeway = 0.3

// HidesPeaks implements sens.PeakSignals.
func (v *watching) HidesPeaks() bool { return v.peakSignals != nil }

// UnseenPeaks implements sens.PeakSignals.
func (v *watching) UnseenPeaks(times []float64) (end float64, some bool) {
	return v.peakSignals.look(&v.space.In, times, nil)
}

var rateOfTime = []float64{1}
