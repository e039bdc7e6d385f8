package system

import (
	"math"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/orbit"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/internal/engine/work"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// instants are the times of a model at work.
type instants struct {
	*work.Space
	*serving
	model   *compiled.Model
	list    []solvers.Instant // nil until somebody asks
	moves   bool              // they depend on discretes
	bars    []float64         // [instants·L] cotangents
	one     []float64         // scratch [instants·L], zero between calls
	flights *orbit.Flights    // nil where no state repeats
}

func newInstants(w *Worker) instants {
	c := w.model.Compiled
	n := len(c.InstantList) * w.Width
	x := instants{
		Space: &w.Space, serving: &w.serving, model: w.model, flights: newFlights(w.model),
		bars: make([]float64, n), one: make([]float64, n),
	}
	if c.Instants != nil {
		for _, in := range c.Instants.Inputs {
			x.moves = x.moves || tapec.MustName(in.Name).Role == tapec.Discrete
		}
	}
	return x
}

// Instants implements solvers.System.
func (w *instants) Instants() []solvers.Instant {
	if w.list == nil {
		w.list = instantsOf(w.model)
	}
	return w.list
}

func instantsOf(m *compiled.Model) []solvers.Instant {
	kinds := map[tapec.InstantKind]solvers.InstantKind{
		tapec.AtStart: solvers.InstantStart, tapec.AtEnd: solvers.InstantEnd, tapec.Fire: solvers.InstantFire,
		tapec.Every: solvers.InstantEvery, tapec.Site: solvers.InstantSite, tapec.Remode: solvers.InstantRemode,
		tapec.ValueOf: solvers.InstantValue,
	}
	list := make([]solvers.Instant, len(m.Compiled.InstantList))
	for i, in := range m.Compiled.InstantList {
		list[i] = solvers.Instant{
			Kind: kinds[in.Kind], Event: in.Event, Elem: in.Elem, Slot: in.Slot, Pending: in.Pending, Site: i,
			Period: in.Period, To: in.To, Count: in.Count, Modes: in.Modes,
			Opens: in.Bound == tapec.WindowFrom,
			Fixed: m.Fixed[i] && (in.Kind != tapec.Every || m.Fixed[in.Period]),
		}
	}
	return list
}

// InstantTimes implements solvers.System.
func (w *instants) InstantTimes(d, times []float64) { copy(times, w.Times(d)) }

// Times is InstantTimes. The result is valid until the next call of either.
func (w *instants) Times(d []float64) []float64 {
	if w.moves || w.times.version != w.problem.Point.Version {
		w.times.version = w.problem.Point.Version
		saved := w.In[tapec.Primal][vec.D]
		if w.moves {
			w.In[tapec.Primal][vec.D] = d
		}
		w.Out[tapec.Primal][vec.Times] = w.times.at
		w.times.values.Run(&w.In, &w.Out)
		w.In[tapec.Primal][vec.D] = saved
		w.flights.Shift(w.times.at)
	}
	return w.times.at
}

// InstantPush implements solvers.TangentSystem.
func (w *instants) InstantPush(i int, td []float64) {
	c := w.times.push
	if c == nil {
		clear(td)
		return
	}
	w.Out[tapec.Tangent][vec.Times] = w.one
	c.Run(&w.In, &w.Out)
	copy(td, w.one[i*w.Width:(i+1)*w.Width])
	if k := w.early(i); k != 0 {
		for l, x := range w.one[w.Instants()[i].Period*w.Width:][:w.Width] {
			td[l] = math.FMA(float64(k), x, td[l])
		}
	}
	clear(w.one)
}

// InstantPull implements solvers.CotangentSystem.
func (w *instants) InstantPull(i int, wt []float64) {
	at := w.bars[i*w.Width : (i+1)*w.Width]
	for l := range at {
		at[l] += wt[l]
	}
	if k := w.early(i); k != 0 {
		for l, x := range wt {
			at := w.Instants()[i].Period*w.Width + l
			w.bars[at] = math.FMA(float64(k), x, w.bars[at])
		}
	}
	if w.moves { // the transpose belongs to the current discretes
		w.pullInstants()
	}
}

func (w *instants) pullInstants() {
	if c := w.times.pull; c != nil {
		w.In[tapec.Cotangent][vec.Times] = w.bars
		c.Run(&w.In, &w.Out)
	}
	clear(w.bars)
}

// Repeat moves times of events that repeat to those of a run that begins with a state that does.
func (w *instants) Repeat(times []float64) { w.flights.Repeat(times) }

// newFlights returns the repeating events of a model whose runs begin with a state that repeats; otherwise nil.
func newFlights(m *compiled.Model) *orbit.Flights {
	for i, in := range m.Compiled.InstantList {
		if in.Kind == tapec.ValueOf && m.Checked.Events[in.Event].Period != nil {
			list := instantsOf(m)
			return &orbit.Flights{List: list, Unmoved: m.Immovable, Period: i, Courses: make([]orbit.Course, len(list))}
		}
	}
	return nil
}

// early is Flights.Skip at the discretes that are current.
func (w *instants) early(i int) int {
	if w.flights == nil {
		return 0
	}
	w.Times(w.In[tapec.Primal][vec.D])
	return w.flights.Skip(i)
}
