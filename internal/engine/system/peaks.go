package system

import (
	"slices"
	"sync"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// PeaksOf returns the elements of the functional vector that are largest values (max_over) and that objectives read.
// Looking for those that nobody asked for would cost time.
func (m *Model) PeaksOf(objectives []*model.Objective) []int {
	return m.functionals(model.MaxOver, objectives)
}

// IntegralsOf returns the quadratures that objectives read. They have the same places in the functional vector.
func (m *Model) IntegralsOf(objectives []*model.Objective) []int {
	return m.functionals(model.Integral, objectives)
}

// functionals returns the elements of the functional vector that are of a kind and that objectives read; never nil.
func (m *Model) functionals(kind model.FunctionalKind, objectives []*model.Objective) []int {
	read := map[source.Span]bool{}
	for i, o := range objectives {
		if i > 0 && o == objectives[i-1] {
			continue
		}
		model.Walk(func(e model.Expr) bool {
			if f, ok := e.(*model.Functional); ok && f.Kind == kind {
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
	w.in[tapec.Primal][vec.Y], w.out[tapec.Primal][vec.F] = y, w.functional
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
	w.in[tapec.Primal][vec.Y], w.in[tapec.Tangent][vec.T], w.in[tapec.Tangent][vec.Y] = y, rateOfTime, yd
	w.out[tapec.Tangent][vec.F] = w.functional
	w.slopes.run(&w.in, &w.out)
	for i, j := range w.problem.Peaks {
		ed[i] = w.functional[j]
	}
}

// manyPeaks is how many functionals are read together where one of them is wanted: programs of few take hardly less
// time, and each has to be compiled.
const manyPeaks = 16

// peakGroup reads some functionals among the peaks.
type peakGroup struct {
	heights, slopes *program // slopes is nil for none
}

// peakGroups are the groups of a kit, by their numbers. They are compiled when they are first wanted.
type peakGroups struct {
	mu   sync.Mutex
	list map[int]peakGroup
}

// peakGroup returns the group of a functional.
func (k *Kit) peakGroup(m *Model, group int) (peakGroup, error) {
	k.peaks.mu.Lock()
	defer k.peaks.mu.Unlock()
	if g, ok := k.peaks.list[group]; ok {
		return g, nil
	}
	var made [2]*program
	for i, t := range [2]*tape.Tape{k.value.Get(tapec.PartPeaks).tape, k.slopesTape()} {
		if t == nil {
			continue
		}
		part := tapec.Only(t, func(output string) bool {
			return m.FunctionalAt(k.layout.Part(tapec.MustName(output)).Offset)/manyPeaks == group
		})
		if len(part.Outputs) == 0 {
			continue
		}
		var err error
		if made[i], err = k.family.program(part, k.layout.Find, 1, nil); err != nil {
			return peakGroup{}, err
		}
	}
	if k.peaks.list == nil {
		k.peaks.list = map[int]peakGroup{}
	}
	k.peaks.list[group] = peakGroup{made[0], made[1]}
	return k.peaks.list[group], nil
}

// PeakAt implements sens.PeakSingles.
func (w *Worker) PeakAt(j int, t, within float64, y, yd []float64) (e, ed float64, ok bool) {
	if len(w.value.Get(tapec.PartPeaks).outs) <= manyPeaks {
		return 0, 0, false
	}
	element := w.problem.Peaks[j]
	group := w.model.FunctionalAt(element) / manyPeaks
	calls, ok := w.peakCalls[group]
	if !ok {
		g, err := w.kit.peakGroup(w.model, group)
		if err != nil {
			return 0, 0, false
		}
		calls = [2]*call{g.heights.call(), g.slopes.call()}
		if w.peakCalls == nil {
			w.peakCalls = map[int][2]*call{}
		}
		w.peakCalls[group] = calls
		w.keep(calls[0])
		w.keep(calls[1])
	}
	w.t[0] = t
	w.in[tapec.Primal][vec.Y], w.out[tapec.Primal][vec.F] = y, w.functional
	calls[0].run(&w.in, &w.out)
	e = w.functional[element]
	if calls[1] == nil {
		return e, 0, true
	}
	w.t[0] = within
	w.functional[element] = 0 // what does not move is not written
	w.in[tapec.Tangent][vec.T], w.in[tapec.Tangent][vec.Y] = rateOfTime, yd
	w.out[tapec.Tangent][vec.F] = w.functional
	calls[1].run(&w.in, &w.out)
	return e, w.functional[element], true
}

// ReadPeaks implements sens.PeakReader.
func (w *Worker) ReadPeaks(form *solvers.Arithmetic, s *solvers.Step, times, within, e, ed []float64) bool {
	if len(s.Y0) >= largeStates || w.problem.Model.Algebraic() { // unknowns are in no step as a whole
		return false
	}
	f := w.by(form)
	v := &f.peaks
	if v.call == nil {
		if !v.ready(w, w.kit.ofPeaks(form)) {
			return false
		}
		f.peaksAt = w.kit.peaksAt(w.problem.Peaks)
	}
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	n := 3 + copy(v.in[3:], s.Y0)
	n += copy(v.in[n:], s.K[:form.Sampled*(len(s.Y0)+len(s.DQ))])
	n += copy(v.in[n:], s.Y1)
	for i, t := range times {
		v.in[n+2*i], v.in[n+2*i+1] = t, within[i]
	}
	v.runBound(&w.in, &w.out)
	each := len(v.out) / len(times)
	for i := range times {
		out := v.out[i*each : (i+1)*each]
		for k, to := range [2][]float64{e, ed} {
			for j, at := range f.peaksAt[k] {
				x := 0.0
				if at >= 0 {
					x = out[at]
				}
				to[i*len(w.problem.Peaks)+j] = x
			}
		}
	}
	return true
}

// peaksAt returns where the values of the peaks and their slopes are among the readings at a sample; -1 for slopes that
// are 0.
func (k *Kit) peaksAt(peaks []int) (at [2][]int) {
	first := 0
	for i, t := range [2]*tape.Tape{k.value.Get(tapec.PartPeaks).tape, k.slopesTape()} {
		at[i] = slices.Repeat([]int{-1}, len(peaks))
		if t == nil {
			continue
		}
		for _, o := range t.Outputs {
			p := k.layout.Part(tapec.MustName(o.Name))
			for j, element := range peaks {
				if element >= p.Offset && element < p.Offset+p.Len {
					at[i][j] = first + element - p.Offset
				}
			}
			first += t.Shape(o.Value).Size()
		}
	}
	return at
}

// peakLeeway is how far, in second differences, functions of time may reach beyond samples in the search for largest
// values. A wave that is sampled well reaches a quarter as far.
const peakLeeway = 0.3

// HidesPeaks implements sens.PeakSignals.
func (w *Worker) HidesPeaks() bool { return w.peakSignals != nil }

// UnseenPeaks implements sens.PeakSignals.
func (w *Worker) UnseenPeaks(times []float64) (end float64, some bool) {
	return w.peakSignals.look(w, times, nil)
}

var rateOfTime = []float64{1}
