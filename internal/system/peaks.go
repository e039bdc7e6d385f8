package system

import (
	"odes.dev/odes/lang/source"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// PeaksOf returns the elements of the functional vector that are largest values (max_over) and that objectives read.
// Looking for those that nobody asked for would cost time.
func (m *Model) PeaksOf(objectives []*typecheck.Objective) []int {
	return m.functionals(typecheck.MaxOver, objectives)
}

// IntegralsOf returns the quadratures that objectives read. They have the same places in the functional vector.
func (m *Model) IntegralsOf(objectives []*typecheck.Objective) []int {
	return m.functionals(typecheck.Integral, objectives)
}

// functionals returns the elements of the functional vector that are of a kind and that objectives read; never nil.
func (m *Model) functionals(kind typecheck.FunctionalKind, objectives []*typecheck.Objective) []int {
	read := map[source.Span]bool{}
	for i, o := range objectives {
		if i > 0 && o == objectives[i-1] {
			continue
		}
		typecheck.Walk(func(e typecheck.Expr) bool {
			if f, ok := e.(*typecheck.Functional); ok && f.Kind == kind {
				read[f.Span()] = true
			}
			return true
		}, o.Value)
	}
	list := []int{}
	for k := range m.Compiled.Functionals {
		f := &m.Compiled.Functionals[k]
		if f.Kind != kind || !read[f.Span] {
			continue
		}
		for j := range f.Shape.Size() {
			list = append(list, f.Offset+j)
		}
	}
	return list
}

// Peaks implements sens.PeakObjectives.
func (w *Worker) Peaks() []int { return w.problem.Peaks }

// Heights implements sens.PeakObjectives.
func (w *Worker) Heights(t float64, y, e []float64) {
	w.t[0] = t
	w.in[tapec.Primal][vecY], w.out[tapec.Primal][vecF] = y, w.functional
	w.value.Get(tapec.PartPeaks).run(&w.in, &w.out)
	for i, j := range w.problem.Peaks {
		e[i] = w.functional[j]
	}
}

// Slopes implements sens.PeakObjectives.
func (w *Worker) Slopes(t float64, y, yd, ed []float64) {
	if w.slopes == nil { // nothing that is looked for moves
		clear(ed)
		return
	}
	w.t[0] = t
	clear(w.functional) // what does not move is not written
	w.in[tapec.Primal][vecY], w.in[tapec.Tangent][vecT], w.in[tapec.Tangent][vecY] = y, rateOfTime, yd
	w.out[tapec.Tangent][vecF] = w.functional
	w.slopes.run(&w.in, &w.out)
	for i, j := range w.problem.Peaks {
		ed[i] = w.functional[j]
	}
}

// peakLeeway is how far, in second differences, functions of time may reach beyond samples in the search for largest
// values. A wave that is sampled well reaches a quarter as far.
const peakLeeway = 0.3

// UnseenPeaks implements sens.PeakSignals.
func (w *Worker) UnseenPeaks(times []float64) (end float64, some bool) {
	if w.peakSignals == nil {
		return times[len(times)-1], false
	}
	return w.peakSignals.look(w, times, nil)
}

var rateOfTime = []float64{1}
