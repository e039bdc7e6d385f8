package odes

import (
	"math"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/sens"
	"odes.dev/odes/typecheck"
)

// peaksOf returns the elements of the functional vector that are largest values, max_over, and that objectives read: looking for
// those that nobody asked for would cost time.
func (m *Model) peaksOf(objectives []objective) []int {
	read := map[source.Span]bool{}
	for i, o := range objectives {
		if i > 0 && o.of == objectives[i-1].of {
			continue
		}
		typecheck.Walk(func(e typecheck.Expr) bool {
			if f, ok := e.(*typecheck.Functional); ok && f.Kind == typecheck.MaxOver {
				read[f.Span()] = true
			}
			return true
		}, o.of.Value)
	}
	var list []int
	for k := range m.compiled.Functionals {
		f := &m.compiled.Functionals[k]
		if f.Kind != typecheck.MaxOver || !read[f.Span] {
			continue
		}
		for j := range f.Shape.Size() {
			list = append(list, f.Offset+j)
		}
	}
	return list
}

// Peaks implements sens.PeakObjectives.
func (w *worker) Peaks() []int { return w.peaks }

// Heights implements sens.PeakObjectives.
func (w *worker) Heights(t float64, y, e []float64) {
	w.t[0] = t
	w.in[primal][vecY], w.out[primal][vecF] = y, w.functional
	w.value.peaks.run(&w.in, &w.out)
	for i, j := range w.peaks {
		e[i] = w.functional[j]
	}
}

// Slopes implements sens.PeakObjectives.
func (w *worker) Slopes(t float64, y, yd, ed []float64) {
	if w.slopes == nil { // nothing that is looked for moves
		clear(ed)
		return
	}
	w.t[0] = t
	clear(w.functional) // what does not move is not written
	w.in[primal][vecY], w.in[tangent][vecT], w.in[tangent][vecY] = y, rateOfTime, yd
	w.out[tangent][vecF] = w.functional
	w.slopes.run(&w.in, &w.out)
	for i, j := range w.peaks {
		ed[i] = w.functional[j]
	}
}

var rateOfTime = []float64{1}

// warnPeaks warns of largest values without a derivative, once for each max_over.
func (m *Model) warnPeaks(list []sens.Peak, l *diag.List) {
	said := map[int]bool{}
	for _, p := range list {
		k := m.functionalAt(p.Element)
		if said[k] || math.IsNaN(p.Value) || math.IsNaN(p.Other) {
			continue
		}
		said[k] = true
		f := &m.compiled.Functionals[k]
		name := elementName(strings.Join(strings.Fields(f.Span.Text()), " "), f.Shape, p.Element-f.Offset)
		t := m.checked.Time.Name
		l.Warnf(CodeTie, f.Span, "%s is as large at %s = %s as at %s = %s, but for the tolerance: it is not differentiable where two maxima tie; derivatives are those at %s = %s",
			name, t, short(p.T), t, short(p.Other), t, short(p.T))
	}
}
