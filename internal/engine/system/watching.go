package system

import (
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/narrow"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/internal/engine/work"
	"odes.dev/odes/tapec"
)

// watching is what watches guards and functions between the times at which something reads them.
type watching struct {
	space       *work.Space
	clock       *clock   // of conditions of time alone; nil for none
	bends       *bends   // nil for none
	signals     *signals // of the rates; nil for none
	peakSignals *signals // of the largest values; nil for none
	jacobian    *boxed   // nil until it is asked for
	narrow.Watches
}

func newWatching(w *Worker) (v watching) {
	p, programs := w.problem, w.model.Programs
	v.space = &w.Space
	v.bends = newBends(programs.Bent, w.model.Layout)
	v.signals = newSignals(programs.Signals, w.model.Layout, 1)
	v.signals.only(func(signal int) bool { return p.Watches(programs.SignalReaders[signal]) })
	v.watch(w, programs.Narrow)
	if len(p.Peaks) > 0 {
		v.peakSignals = newSignals(programs.PeakSignals, w.model.Layout, peakLeeway)
		v.watch(w, programs.NarrowPeaks)
	}
	return v
}

// watch adds what watches p, which may be nil.
func (v *watching) watch(w *Worker, p *compiled.NarrowParts) {
	if p == nil || v.Omit(p.Left) && p.Parts == nil {
		return
	}
	place := func(input string) narrow.Place {
		at := w.model.Layout.Part(tapec.MustName(input))
		return narrow.Place{
			Time: at.Vec == vec.T, State: at.Vec == vec.Y, From: at.Offset,
			Values: func() []float64 { return w.In[tapec.Primal][at.Vec][at.Offset : at.Offset+at.Len] },
		}
	}
	v.Add(narrow.New(&p.Tapes, place, func(part int) bool { return w.problem.Watches(p.Readers[part]) }), p.Names)
}

// begin forgets what is known, at the start of a run.
func (v *watching) begin() {
	v.bends.spoil()
	v.signals.begin()
	v.peakSignals.begin()
	v.Begin()
}

// spoil notes that discretes or modes may have changed.
func (v *watching) spoil() {
	v.bends.spoil()
	v.signals.spoil()
	v.peakSignals.spoil()
	v.Spoil()
}
