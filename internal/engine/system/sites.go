package system

import (
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/work"
	"odes.dev/odes/tapec"
)

// sites reads functionals at what a run meets, and makes objectives of them.
type sites struct {
	*work.Space
	*serving
	times      *instants
	model      *compiled.Model
	slopes     *compiled.Call            // of the peaks; nil for none
	peakCalls  map[int][2]*compiled.Call // groups of them, with their slopes; nil until they are wanted
	fired      []float64                 // scratch
	functional []float64                 // scratch [F·L]
	carrying   carrying                  // of the block that is swept
	seen       []int                     // per element of the functional vector: how often it was read this run
	happened   []int                     // per such element that reads one firing: how often the event fired before
	bounds     []float64                 // [instants] at the end of the run; nil where no integral has bounds
	psi        []float64                 // scratch: the model's objectives, in lanes
}

func newSites(w *Worker, k *compiled.Kit) sites {
	l, c := k.Layout, w.model.Compiled
	s := sites{
		Space: &w.Space, serving: &w.serving, times: &w.instants, model: w.model, slopes: w.CallOf(k.Slopes),
		fired:      make([]float64, len(w.fired)),
		functional: make([]float64, l.NF*max(k.Lanes, 1)),
		seen:       make([]int, l.NF), happened: make([]int, l.NF),
		psi: make([]float64, l.Objectives*k.Lanes),
	}
	if slices.ContainsFunc(c.InstantList, func(in tapec.Instant) bool { return in.Bound != tapec.NoBound }) {
		s.bounds = make([]float64, len(c.InstantList))
	}
	w.Keep(s.slopes)
	return s
}
