package system

import (
	"strings"

	"odes.dev/odes/internal/engine/narrow"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// narrowParts are those of a tape, as package narrow takes them.
type narrowParts struct {
	*tapec.NarrowParts
	tapes narrow.Tapes
	names []string
}

// newNarrowParts returns those of t; nil if there are none.
func newNarrowParts(t *tape.Tape, even []tapec.Name) *narrowParts {
	parts := tapec.Narrow(t, even)
	if parts == nil {
		return nil
	}
	of, out := tapec.InnerValues.Name(), tapec.NarrowValues.Name()
	p := &narrowParts{NarrowParts: parts, tapes: narrow.Tapes{
		Inner: parts.Inner, Degrees: parts.Degrees, Parts: parts.Parts, Jumps: parts.Jumps,
		Of: of.String(), DotOf: of.Dot().String(), Out: out.String(), Dots: out.Dot().String(),
	}}
	for _, span := range parts.Spans {
		p.names = append(p.names, strings.Join(strings.Fields(span.Text()), " "))
	}
	return p
}

// watching is what watches guards and functions between the times at which something reads them.
type watching struct {
	bends       *bends   // nil for none
	signals     *signals // of the rates; nil for none
	peakSignals *signals // of the largest values; nil for none
	narrow.Watches
}

func newWatching(w *Worker) (v watching) {
	p, programs := w.problem, w.model.programs
	v.bends = newBends(programs.bent, w.model.layout)
	v.signals = newSignals(programs.signals, w.model.layout, 1)
	v.signals.only(func(signal int) bool { return p.watches(programs.signalReaders[signal]) })
	v.watch(w, programs.narrow)
	if len(p.Peaks) > 0 {
		v.peakSignals = newSignals(programs.peakSignals, w.model.layout, peakLeeway)
		v.watch(w, programs.narrowPeaks)
	}
	return v
}

// watch adds what watches p, which may be nil.
func (v *watching) watch(w *Worker, p *narrowParts) {
	if p == nil || v.Omit(p.Left) && p.Parts == nil {
		return
	}
	place := func(input string) narrow.Place {
		at := w.model.layout.Part(tapec.MustName(input))
		return narrow.Place{
			Time: at.Vec == vec.T, State: at.Vec == vec.Y, From: at.Offset,
			Values: func() []float64 { return w.in[tapec.Primal][at.Vec][at.Offset : at.Offset+at.Len] },
		}
	}
	v.Add(narrow.New(&p.tapes, place, func(part int) bool { return w.problem.watches(p.Readers[part]) }), p.names)
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
