package lag

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/solvers"
)

// Further is a run that goes on from the end of one that was made, and reads that as its past. Nothing happens in it at
// given times.
type Further struct {
	*Worker
	Until float64
	t     float64
	y, d  []float64
}

// GoesOn returns the run that goes on from state y and discretes d at t, the end of the run that rec holds, which stays
// what it is. The delays must not move.
func GoesOn(w *system.Worker, rec *Record, m solvers.Method, t float64, y, d []float64) *Further {
	own := *rec
	own.steps, own.gaps, own.tau = slices.Clip(slices.Clone(rec.steps)), slices.Clone(rec.gaps), slices.Clone(rec.tau)
	own.ends, own.window = ends{}, window{}
	own.stops = slices.Clone(rec.stops)
	for i, list := range own.stops {
		own.stops[i] = slices.Clone(list)
	}
	return &Further{Worker: Of(w, &own, m), t: t, y: slices.Clone(y), d: slices.Clone(d)}
}

// Longest returns the longest delay.
func (f *Further) Longest() float64 { return slices.Max(f.rec.tau) }

// Opens implements solvers.Lagged: the record is there.
func (f *Further) Opens(m solvers.Method, _ float64, _ []float64) error {
	f.method, f.running = plain(m).(solvers.Interpolant), true
	return nil
}

// Start implements solvers.System.
func (f *Further) Start(t0 float64, y, d []float64) {
	f.w.Start(t0, make([]float64, len(y)), make([]float64, len(d)))
	copy(y, f.y)
	copy(d, f.d)
	copy(f.Worker.d, d)
}

// InstantTimes implements solvers.System.
func (f *Further) InstantTimes(d, times []float64) {
	f.Worker.InstantTimes(d, times)
	for i, in := range f.Instants() {
		switch in.Kind {
		case solvers.InstantStart:
			times[i] = f.t
		case solvers.InstantEnd:
			times[i] = f.Until
		default:
			times[i] = math.Inf(1)
		}
	}
}

// Events implements solvers.System: none comes after the end.
func (f *Further) Events() []solvers.Event {
	list := f.Worker.Events()
	for i := range list {
		list[i].After = false
	}
	return list
}
