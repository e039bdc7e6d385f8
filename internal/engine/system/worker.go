// Package system is the compiled model as solvers and sensitivity methods see it: a worker is a solvers.System with its
// tangents and transposes, and the objectives of package sens. It is made of a kit of package compiled at work (package
// work), its whole steps (steps) and what tells which derivatives are those of one side (onesided). A run's workers
// share a Problem.
package system

import (
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/onesided"
	"odes.dev/odes/internal/engine/steps"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/internal/engine/work"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// Worker is a model at work in one goroutine. It is the System of package solvers with its tangents and cotangents, and
// the Objectives of package sens. It owns machines and accumulators; the parameters are shared.
type Worker struct {
	serving
	work.Space
	steps.Steps
	onesided.Separator
	watching
	edging
	instants
	sites
	outputs

	model *compiled.Model
	small smallVectors

	rates   tapec.Part // see Take
	started float64    // t0 of the last run
	fired   []float64
	truth   []float64
	rho     []float64

	bar, dot frameVectors // accumulators and tangents that the worker keeps
	visits   visits
	one      []float64 // scratch [guards·L], zero between calls

	rest  *atRest // nil until a steady state is differentiated
	rows  [][]float64
	later []float64 // [P·L] what Finish adds to the rows
}

// frameVectors are lane vectors of everything that outlives a call.
type frameVectors struct {
	p, c, d, e, sides []float64
}

// visits keeps the work of a transpose that is the same in every sweep, for each stage of every step.
type visits struct {
	step, stage int         // the next stage to be pulled; step -1: not known
	kept        [][]float64 // [step·stages + stage][W]; nil where there is no room yet
	valid       []bool
	scratch     []float64
	room        int // doubles that may be kept in addition
}

// Worker returns a worker for the problem with the programs of k.
func (p *Problem) Worker(k *compiled.Kit) *Worker {
	m, l := p.Model, k.Layout
	w := &Worker{model: m, rates: tapec.PartRates}
	w.Space = work.Space{Task: &p.Task, Kit: k, Width: k.Lanes, Version: -1, Halt: &p.halt}
	w.Steps = steps.Steps{Space: &w.Space, Field: w}
	w.edging = edging{of: p.Edges, model: m}
	toCall := func(_ tapec.PartIndex, p *compiled.Program) (*compiled.Call, error) { return w.CallOf(p), nil }
	for _, s := range []struct {
		from *tapec.Parts[*compiled.Program]
		to   *tapec.Parts[*compiled.Call]
	}{{k.Value, &w.Primals}, {k.Pull, &w.Transposes}, {k.Push, &w.Tangents}} {
		if s.from != nil {
			calls, _ := tapec.Transform(s.from, toCall)
			*s.to = *calls
		}
	}
	w.serving.begin(w, p)
	c := m.Compiled
	lanes := k.Lanes
	for _, f := range []*vec.Frame{&w.In, &w.Out} {
		f[tapec.Primal][vec.T] = w.T[:]
		f[tapec.Primal][vec.P] = p.Point.P
		f[tapec.Primal][vec.D] = make([]float64, l.ND)
		f[tapec.Primal][vec.M] = make([]float64, l.NM)
		f[tapec.Primal][vec.Kept] = make([]float64, l.NM)
		f[tapec.Primal][vec.C] = make([]float64, l.NC)
		f[tapec.Primal][vec.E] = make([]float64, l.NE)
	}
	// what calls read and what they write is the same memory, but for discretes and states
	w.Out[tapec.Primal][vec.C] = w.In[tapec.Primal][vec.C]
	w.Out[tapec.Primal][vec.E] = w.In[tapec.Primal][vec.E]
	elems := 1
	for i := range c.Model.Events {
		elems = max(elems, compiled.EventElems(c.Model.Events[i].Axes()))
	}
	w.fired = make([]float64, elems)
	guards := len(c.GuardList)
	w.rho, w.truth = make([]float64, guards), make([]float64, guards)
	w.one = make([]float64, guards*lanes)
	if k.Pull != nil || k.Push != nil {
		w.bindDerivatives()
	}
	w.instants = newInstants(w)
	w.sites = newSites(w, k)
	w.outputs = outputs{&w.Space, &w.serving, m}
	if k.Shared != nil {
		w.Shared = w.CallOf(k.Shared)
		w.visits = visits{step: -1, scratch: make([]float64, k.NW), room: keptLimit / 8}
	}
	for _, calls := range []*tapec.Parts[*compiled.Call]{&w.Primals, &w.Transposes, &w.Tangents} {
		for _, c := range calls.All() {
			w.Keep(c)
		}
	}
	w.Keep(w.Shared)
	w.small = newSmallVectors(w)
	w.watching = newWatching(w)
	w.clock = newClock(w)
	w.Separator = onesided.NewSeparator(m, &p.Task, w)
	return w
}

// bindDerivatives makes the tangents and cotangents that outlive a call, and binds them.
func (w *Worker) bindDerivatives() {
	k, l, lanes := w.Kit, w.Kit.Layout, w.Width
	for _, v := range []*frameVectors{&w.bar, &w.dot} {
		v.c = make([]float64, l.NC*lanes)
		v.d = make([]float64, l.ND*lanes)
		v.e = make([]float64, l.NE*lanes)
	}
	w.dot.p = make([]float64, k.Plan.Width*lanes)
	w.dot.sides = make([]float64, k.NSides*lanes)
	w.In[tapec.Primal][vec.Sides] = w.dot.sides
	w.Book = compiled.NewLedger(k.Plan, lanes)
	w.Out[tapec.Cotangent][vec.P], w.Out[tapec.Cotangent][vec.C] = w.Book.Sums, w.bar.c
	w.Out[tapec.Cotangent][vec.D], w.Out[tapec.Cotangent][vec.E] = w.bar.d, w.bar.e
	w.In[tapec.Cotangent][vec.C], w.In[tapec.Cotangent][vec.E] = w.bar.c, w.bar.e
	w.In[tapec.Tangent][vec.P], w.In[tapec.Tangent][vec.C] = w.dot.p, w.dot.c
	w.In[tapec.Tangent][vec.D], w.In[tapec.Tangent][vec.E] = w.dot.d, w.dot.e
	w.Out[tapec.Tangent][vec.C], w.Out[tapec.Tangent][vec.E] = w.dot.c, w.dot.e
}

// refresh redoes the work that was hoisted on the parameters, after they changed.
func (w *Worker) refresh() {
	if w.Version != w.problem.Point.Version {
		w.redo()
	}
}

func (w *Worker) redo() {
	w.Version = w.problem.Point.Version
	for _, c := range w.Keeps {
		c.Machine.Refresh()
	}
	w.RefreshSteps()
	if w.Primals.Get(tapec.PartRunWork) != nil {
		w.Primals.Get(tapec.PartRunWork).Run(&w.In, &w.Out)
	}
}

// keptLimit is how many bytes a worker may use to keep work between sweeps.
const keptLimit = 256 << 20

// Lanes implements solvers.CotangentField.
func (w *Worker) Lanes() int { return w.Width }

// Size implements solvers.Field.
func (w *Worker) Size() solvers.Size { return w.problem.Size() }

// Started returns the time at which the last run began.
func (w *Worker) Started() float64 { return w.started }

// Begin implements solvers.CotangentSystem.
func (w *Worker) Begin(rows [][]float64) {
	w.refresh()
	w.Book.Begin(rows)
	w.BeginReading()
	if w.rows = rows; w.model.Settles() {
		w.later = append(w.later[:0], make([]float64, w.Kit.Plan.Width*w.Width)...)
	}
	w.visits.step = -1
	for _, v := range [][]float64{w.bar.c, w.bar.d, w.bar.e, w.bars} {
		clear(v)
	}
}

// Leave implements solvers.CotangentSystem.
func (w *Worker) Leave(db []float64) {
	if c := w.Transposes.Get(tapec.PartSegmentWork); c != nil {
		c.Run(&w.In, &w.Out)
	}
	clear(w.bar.e)
	for i, x := range w.bar.d {
		db[i] += x
	}
	clear(w.bar.d)
}

// Finish implements solvers.CotangentSystem.
func (w *Worker) Finish() {
	w.pullInstants()
	if c := w.Transposes.Get(tapec.PartRunWork); c != nil {
		c.Run(&w.In, &w.Out)
	}
	w.Book.Finish()
	for j, x := range w.later {
		if row := w.rows[j%w.Width]; row != nil && x != 0 {
			row[j/w.Width] += x
		}
	}
}

// Sound implements sens.Sounder.
func (w *Worker) Sound() bool {
	return w.Book.Sound() && !slices.ContainsFunc(w.later, func(x float64) bool { return x-x != 0 })
}

// AtStart puts a worker at the start of a run. It returns the times of all Instants and the initial
// state.
func (w *Worker) AtStart() (times, y []float64) {
	size := w.Size()
	y = make([]float64, size.N)
	d, modes := make([]float64, size.D), make([]float64, size.M)
	times = make([]float64, len(w.Instants()))
	w.InstantTimes(d, times)
	t := times[solvers.InstantStart]
	w.Start(t, y, d)
	w.Enter(d, modes)
	w.Choose(t, y, nil, modes)
	w.Enter(d, modes)
	w.InstantTimes(d, times)
	return times, y
}
