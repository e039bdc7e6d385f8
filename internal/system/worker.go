package system

import (
	"odes.dev/odes/solvers"
	"odes.dev/odes/typecheck"
)

// Worker is a model at work in one goroutine: the solvers' System with its
// tangents and cotangents, and the Objectives. It owns machines and
// accumulators; the parameters are shared.
type Worker struct {
	problem *Problem
	model   *Model
	kit     *Kit
	lanes   int
	// version of the point that the hoisted work belongs to
	version int
	value   stages[*call]
	pull    stages[*call]
	push    stages[*call]
	// shared is what the transpose of the rates computes for all sweeps; nil for nothing.
	shared *call
	slopes *call // of the peaks; nil for none

	repeats      bool // the steps that another worker of the kit has made
	steps, pulls wholeSteps
	large        largeSteps

	in, out frame
	small   smallVectors
	t       [1]float64
	started float64 // t0 of the last run
	fired   []float64
	truth   []float64
	rho     []float64

	bar, dot   frameVectors // accumulators and tangents that the worker keeps
	book       *ledger      // of the cotangents of parameters
	visits     visits
	one        []float64 // scratch [max(guards, instants)·L], zero between calls
	functional []float64 // scratch [F·L]
	seen       []int     // per element of the functional vector: how often it was read this run

	instants     []solvers.Instant // nil until somebody asks
	instantsMove bool              // instants depend on discretes
	stops        []bool

	psi []float64 // scratch: the model's objectives, in lanes
}

// frameVectors are lane vectors of everything that outlives a call.
type frameVectors struct {
	p, c, d, e, times []float64
	sides             []float64
}

// visits keeps the work of a transpose that is the same in every sweep, per
// stage of every step.
type visits struct {
	step, stage int         // the next stage to be pulled; step -1: not known
	kept        [][]float64 // [step·stages + stage][W]; nil where there is no room yet
	valid       []bool
	scratch     []float64
	room        int // doubles that may still be kept
}

// Worker returns a worker for the problem with the programs of k.
func (p *Problem) Worker(k *Kit) *Worker {
	m, l := p.Model, k.layout
	w := &Worker{problem: p, model: m, kit: k, lanes: k.lanes, version: -1}
	w.psi = make([]float64, l.objectives*k.lanes)
	toCall := func(p *program) (*call, error) { return p.call(), nil }
	for _, s := range []struct {
		from *stages[*program]
		to   *stages[*call]
	}{{k.value, &w.value}, {k.pull, &w.pull}, {k.push, &w.push}} {
		if s.from != nil {
			calls, _ := transform(s.from, toCall)
			*s.to = *calls
		}
	}
	c := m.Compiled
	lanes := k.lanes
	for _, f := range []*frame{&w.in, &w.out} {
		f[primal][vecT] = w.t[:]
		f[primal][vecP] = p.Point.p
		f[primal][vecD] = make([]float64, l.nD)
		f[primal][vecM] = make([]float64, l.nM)
		f[primal][vecC] = make([]float64, l.nC)
		f[primal][vecE] = make([]float64, l.nE)
	}
	// what calls read and what they write is the same memory, but for discretes and states
	w.out[primal][vecC] = w.in[primal][vecC]
	w.out[primal][vecE] = w.in[primal][vecE]
	elems := 1
	for i := range c.Model.Events {
		elems = max(elems, eventElems(c.Model.Events[i]))
	}
	w.fired = make([]float64, elems)
	guards, instants := len(c.GuardList), len(c.InstantList)
	w.rho, w.truth = make([]float64, guards), make([]float64, guards)
	w.one = make([]float64, max(guards, instants, 1)*lanes)
	w.functional = make([]float64, l.nF*max(lanes, 1))
	w.seen = make([]int, l.nF)
	w.stops = make([]bool, len(c.Model.Events))
	for i, e := range c.Model.Events {
		w.stops[i] = e.Stop
	}
	if c.Instants != nil {
		for _, in := range c.Instants.Inputs {
			if len(in.Name) > 2 && in.Name[:2] == "d." {
				w.instantsMove = true
			}
		}
	}
	if k.pull != nil || k.push != nil {
		for _, v := range []*frameVectors{&w.bar, &w.dot} {
			v.c = make([]float64, l.nC*lanes)
			v.d = make([]float64, l.nD*lanes)
			v.e = make([]float64, l.nE*lanes)
			v.times = make([]float64, instants*lanes)
		}
		w.dot.p = make([]float64, k.plan.width*lanes)
		w.dot.sides = make([]float64, k.nSides*lanes)
		w.in[primal][vecSides] = w.dot.sides
		w.book = newLedger(k.plan, lanes)
		w.out[cotangent][vecP], w.out[cotangent][vecC] = w.book.sums, w.bar.c
		w.out[cotangent][vecD], w.out[cotangent][vecE] = w.bar.d, w.bar.e
		w.in[cotangent][vecC], w.in[cotangent][vecE] = w.bar.c, w.bar.e
		w.in[tangent][vecP], w.in[tangent][vecC] = w.dot.p, w.dot.c
		w.in[tangent][vecD], w.in[tangent][vecE] = w.dot.d, w.dot.e
		w.out[tangent][vecC], w.out[tangent][vecE] = w.dot.c, w.dot.e
	}
	w.slopes = k.slopes.call()
	if k.shared != nil {
		w.shared = k.shared.call()
		w.visits = visits{step: -1, scratch: make([]float64, k.nW), room: keptLimit / 8}
	}
	w.small = newSmallVectors(w)
	return w
}

// refresh redoes what is hoisted on the parameters after they changed.
func (w *Worker) refresh() {
	if w.version == w.problem.Point.version {
		return
	}
	w.version = w.problem.Point.version
	fresh := func(c *call) (struct{}, error) {
		if c != nil {
			c.machine.Refresh()
		}
		return struct{}{}, nil
	}
	for _, calls := range []*stages[*call]{&w.value, &w.pull, &w.push} {
		_, _ = transform(calls, fresh)
	}
	_, _ = fresh(w.shared)
	_, _ = fresh(w.slopes)
	_, _ = fresh(w.steps.call)
	_, _ = fresh(w.pulls.call)
	for _, v := range []*largeProgram{&w.large.first, &w.large.again, &w.large.back} {
		_, _ = fresh(v.call)
	}
	if w.value.once != nil {
		w.value.once.run(&w.in, &w.out)
	}
}

// keptLimit is how many bytes a worker may take to keep work between sweeps.
const keptLimit = 256 << 20

func eventElems(e *typecheck.Event) int {
	n := 1
	for _, ix := range e.Indices {
		n *= ix.Count
	}
	return n
}

// Lanes implements solvers.CotangentField.
func (w *Worker) Lanes() int { return w.lanes }

// Size implements solvers.Field.
func (w *Worker) Size() solvers.Size { return w.problem.Size() }

// Started returns the time at which the last run began.
func (w *Worker) Started() float64 { return w.started }

// Begin implements solvers.CotangentSystem.
func (w *Worker) Begin(rows [][]float64) {
	w.refresh()
	w.book.begin(rows)
	w.visits.step = -1
	for _, v := range [][]float64{w.bar.c, w.bar.d, w.bar.e, w.bar.times} {
		clear(v)
	}
}

// Leave implements solvers.CotangentSystem.
func (w *Worker) Leave(db []float64) {
	if w.pull.segment != nil {
		w.pull.segment.run(&w.in, &w.out)
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
	if w.pull.once != nil {
		w.pull.once.run(&w.in, &w.out)
	}
	w.book.finish()
}
