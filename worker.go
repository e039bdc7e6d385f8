package odes

import (
	"math"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// worker is a model at work in one goroutine: the solvers' System with its
// tangents and cotangents, and the Objectives. It owns machines and
// accumulators; the parameters are shared.
type worker struct {
	model  *Model
	kit    *kit
	lanes  int
	stages int // of the run's method, those of its dense output included
	width  int // of a row of the gradient: the active parameters
	point  *point
	// version of the point that the hoisted work belongs to
	version int
	value   stages[*call]
	pull    stages[*call]
	push    stages[*call]
	// shared is what the transpose of the rates computes for all sweeps; nil for nothing.
	shared *call

	// cut marks states whose initial value is given from outside: parameters do not reach it.
	cut     []bool
	initial []float64 // [N]; read where cut

	in, out frame
	t       [1]float64
	started float64 // t0 of the last run
	fired   []float64
	other   []float64 // sink for outputs not asked for
	truth   []float64
	rho     []float64

	bar, dot frameVectors // accumulators and tangents that the worker keeps
	book     *ledger      // of the cotangents of parameters
	visits   visits
	one      []float64 // scratch [max(guards, instants)·L], zero between calls
	func_    []float64 // scratch [F·L]
	seen     []int     // per element of the functional vector: how often it was read this run

	instantsMove bool // instants depend on discretes
	stops        []bool

	rows []int     // objective → its row among those of the model
	psi  []float64 // scratch, those of the model, in lanes
}

// frameVectors are lane vectors of everything that outlives a call.
type frameVectors struct {
	p, c, d, e, times []float64
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

func (m *Model) newWorker(k *kit, pt *point, rows []int, width int) *worker {
	l := k.layout
	w := &worker{model: m, kit: k, lanes: k.lanes, width: width, point: pt, version: -1, cut: pt.cut, initial: pt.initial, rows: rows}
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
	c := m.compiled
	lanes := k.lanes
	for _, f := range []*frame{&w.in, &w.out} {
		f[primal][vecT] = w.t[:]
		f[primal][vecP] = pt.p
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
	w.func_ = make([]float64, l.nF*max(lanes, 1))
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
		w.book = newLedger(k.plan, lanes)
		w.out[cotangent][vecP], w.out[cotangent][vecC] = w.book.sums, w.bar.c
		w.out[cotangent][vecD], w.out[cotangent][vecE] = w.bar.d, w.bar.e
		w.in[cotangent][vecC], w.in[cotangent][vecE] = w.bar.c, w.bar.e
		w.in[tangent][vecP], w.in[tangent][vecC] = w.dot.p, w.dot.c
		w.in[tangent][vecD], w.in[tangent][vecE] = w.dot.d, w.dot.e
		w.out[tangent][vecC], w.out[tangent][vecE] = w.dot.c, w.dot.e
	}
	if k.shared != nil {
		w.shared = k.shared.call()
		w.visits = visits{step: -1, scratch: make([]float64, k.nW), room: keptLimit / 8}
	}
	return w
}

// refresh redoes what is hoisted on the parameters after they changed.
func (w *worker) refresh() {
	if w.version == w.point.version {
		return
	}
	w.version = w.point.version
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
func (w *worker) Lanes() int { return w.lanes }

// Size implements solvers.Field.
func (w *worker) Size() solvers.Size {
	l := w.kit.layout
	return solvers.Size{N: l.nY, Q: l.nQ, P: w.width, D: l.nD, M: l.nM}
}

// Eval implements solvers.Field.
func (w *worker) Eval(t float64, y, k []float64) {
	w.t[0] = t
	w.in[primal][vecY] = y
	w.out[primal][vecK] = k
	w.value.rates.run(&w.in, &w.out)
}

// Push implements solvers.TangentField.
func (w *worker) Push(t float64, y, td, yd, kd []float64) {
	if w.push.rates == nil {
		clear(kd)
		return
	}
	w.t[0] = t
	w.in[primal][vecY] = y
	w.in[tangent][vecT], w.in[tangent][vecY] = td, yd
	w.out[tangent][vecK] = kd
	if !w.push.rates.covers(tangent, vecK, len(kd)) {
		clear(kd)
	}
	w.push.rates.run(&w.in, &w.out)
}

// Pull implements solvers.CotangentField.
func (w *worker) Pull(t float64, y, kb, yb, tb []float64) {
	rates := w.pull.rates
	if rates == nil {
		clear(yb)
		clear(tb)
		return
	}
	w.t[0] = t
	w.in[primal][vecY] = y
	w.in[cotangent][vecK] = kb
	w.out[cotangent][vecY], w.out[cotangent][vecT] = yb, tb
	if !rates.covers(cotangent, vecY, len(yb)) {
		clear(yb)
	}
	if !rates.covers(cotangent, vecT, len(tb)) {
		clear(tb)
	}
	if w.shared != nil {
		w.in[primal][vecW] = w.sharedWork()
	}
	w.out[primal][vecFactors] = w.book.next()
	rates.run(&w.in, &w.out)
}

// Forget implements solvers.Revisitor.
func (w *worker) Forget() {
	for i := range w.visits.valid {
		w.visits.valid[i] = false
	}
}

// Visit implements solvers.Revisitor.
func (w *worker) Visit(step int) { w.visits.step, w.visits.stage = step, 0 }

// sharedWork returns the work that all sweeps share at the stage that is pulled
// now, computing it on the first visit.
func (w *worker) sharedWork() []float64 {
	v := &w.visits
	if v.step < 0 {
		w.out[primal][vecW] = v.scratch
		w.shared.run(&w.in, &w.out)
		return v.scratch
	}
	at := v.step*w.stages + v.stage
	v.stage++
	for len(v.kept) <= at {
		v.kept, v.valid = append(v.kept, nil), append(v.valid, false)
	}
	if v.valid[at] {
		return v.kept[at]
	}
	to := v.kept[at]
	switch {
	case to != nil:
		v.valid[at] = true
	case v.room >= len(v.scratch):
		to = make([]float64, len(v.scratch))
		v.kept[at], v.valid[at], v.room = to, true, v.room-len(to)
	default:
		to = v.scratch
	}
	w.out[primal][vecW] = to
	w.shared.run(&w.in, &w.out)
	return to
}

// Start implements solvers.System.
func (w *worker) Start(t0 float64, y, d []float64) {
	w.refresh()
	w.t[0], w.started = t0, t0
	w.out[primal][vecY], w.out[primal][vecD] = y, d
	w.value.start.run(&w.in, &w.out)
	for i, cut := range w.cut {
		if cut {
			y[i] = w.initial[i]
		}
	}
}

// StartPush implements solvers.TangentSystem.
func (w *worker) StartPush(t0 float64, td, yd, dd []float64) {
	clear(yd)
	clear(dd)
	if w.push.start == nil {
		return
	}
	w.t[0] = t0
	w.in[tangent][vecT] = td
	w.out[tangent][vecY], w.out[tangent][vecD] = yd, dd
	w.push.start.run(&w.in, &w.out)
	for i, cut := range w.cut {
		if cut {
			clear(yd[i*w.lanes : (i+1)*w.lanes])
		}
	}
}

// StartPull implements solvers.CotangentSystem.
func (w *worker) StartPull(t0 float64, yb, db, tb []float64) {
	if w.pull.start == nil {
		return
	}
	for i, cut := range w.cut {
		if cut {
			yb = append([]float64(nil), yb...)
			clear(yb[i*w.lanes : (i+1)*w.lanes])
		}
	}
	w.t[0] = t0
	w.in[cotangent][vecY], w.in[cotangent][vecD] = yb, db
	w.out[cotangent][vecT] = tb
	w.pull.start.run(&w.in, &w.out)
}

// Enter implements solvers.System.
func (w *worker) Enter(d, m []float64) {
	w.refresh()
	copy(w.in[primal][vecD], d)
	copy(w.in[primal][vecM], m)
	if w.value.segment != nil {
		w.value.segment.run(&w.in, &w.out)
	}
}

// EnterPush implements solvers.TangentSystem.
func (w *worker) EnterPush(dd []float64) {
	copy(w.dot.d, dd)
	if w.push.segment != nil {
		clear(w.dot.e)
		w.push.segment.run(&w.in, &w.out)
	}
}

// SetTangent implements solvers.TangentSystem.
func (w *worker) SetTangent(pd []float64) {
	w.refresh()
	copy(w.dot.p, pd)
	clear(w.dot.c)
	clear(w.dot.e)
	clear(w.dot.d)
	if w.push.once != nil {
		w.push.once.run(&w.in, &w.out)
	}
}

// Choose implements solvers.System.
func (w *worker) Choose(t float64, y, m []float64) {
	if w.value.choose == nil || len(m) == 0 {
		return
	}
	w.t[0] = t
	w.in[primal][vecY] = y
	w.out[primal][vecM] = m
	w.value.choose.run(&w.in, &w.out)
}

// Guards implements solvers.System.
func (w *worker) Guards() []solvers.Guard {
	list := make([]solvers.Guard, len(w.model.compiled.GuardList))
	for i, g := range w.model.compiled.GuardList {
		list[i] = solvers.Guard{Event: g.Event, Elem: g.Elem, Mode: g.Mode, Crossing: g.Crossing}
		if g.Event < 0 {
			list[i].Name = w.model.modeName(g.Mode)
		}
	}
	return list
}

// GuardValues implements solvers.System.
func (w *worker) GuardValues(t float64, y, rho []float64, truth []bool) {
	if len(rho) == 0 {
		return
	}
	w.t[0] = t
	w.in[primal][vecY] = y
	w.out[primal][vecRho], w.out[primal][vecTruth] = rho, w.truth
	w.value.guards.run(&w.in, &w.out)
	for i, x := range w.truth {
		truth[i] = x != 0
	}
}

// GuardPush implements solvers.TangentSystem.
func (w *worker) GuardPush(i int, t float64, y, td, yd, rd []float64) {
	if w.push.guards == nil {
		clear(rd)
		return
	}
	w.t[0] = t
	w.in[primal][vecY] = y
	w.in[tangent][vecT], w.in[tangent][vecY] = td, yd
	w.out[tangent][vecRho] = w.one[:len(w.rho)*w.lanes]
	w.push.guards.run(&w.in, &w.out)
	copy(rd, w.one[i*w.lanes:(i+1)*w.lanes])
	clear(w.one)
}

// GuardPull implements solvers.CotangentSystem.
func (w *worker) GuardPull(i int, t float64, y, wt, yb, tb []float64) {
	if w.pull.guards == nil {
		return
	}
	w.t[0] = t
	seeds := w.one[:len(w.rho)*w.lanes]
	copy(seeds[i*w.lanes:], wt[:w.lanes])
	w.in[primal][vecY] = y
	w.in[cotangent][vecRho] = seeds
	w.out[cotangent][vecY], w.out[cotangent][vecT] = yb, tb
	w.pull.guards.run(&w.in, &w.out)
	clear(seeds)
}

// Instants implements solvers.System.
func (w *worker) Instants() []solvers.Instant {
	kinds := map[tapec.InstantKind]solvers.InstantKind{
		tapec.AtStart: solvers.InstantStart, tapec.AtEnd: solvers.InstantEnd, tapec.Fire: solvers.InstantFire,
		tapec.Every: solvers.InstantEvery, tapec.Site: solvers.InstantSite, tapec.Remode: solvers.InstantRemode,
		tapec.ValueOf: solvers.InstantValue,
	}
	list := make([]solvers.Instant, len(w.model.compiled.InstantList))
	for i, in := range w.model.compiled.InstantList {
		list[i] = solvers.Instant{
			Kind: kinds[in.Kind], Event: in.Event, Elem: in.Elem, Site: i,
			Period: in.Period, To: in.To, Count: in.Count, Fixed: w.model.fixed[i] && (in.Kind != tapec.Every || w.model.fixed[in.Period]),
		}
	}
	return list
}

// InstantTimes implements solvers.System.
func (w *worker) InstantTimes(d, times []float64) {
	saved := w.in[primal][vecD]
	w.in[primal][vecD] = d
	w.out[primal][vecTimes] = times
	w.value.instants.run(&w.in, &w.out)
	w.in[primal][vecD] = saved
}

// InstantPush implements solvers.TangentSystem.
func (w *worker) InstantPush(i int, td []float64) {
	if w.push.instants == nil {
		clear(td)
		return
	}
	n := len(w.model.compiled.InstantList) * w.lanes
	w.out[tangent][vecTimes] = w.one[:n]
	w.push.instants.run(&w.in, &w.out)
	copy(td, w.one[i*w.lanes:(i+1)*w.lanes])
	clear(w.one)
}

// InstantPull implements solvers.CotangentSystem.
func (w *worker) InstantPull(i int, wt []float64) {
	at := w.bar.times[i*w.lanes : (i+1)*w.lanes]
	for l := range at {
		at[l] += wt[l]
	}
	if w.instantsMove { // the transpose belongs to the current discretes
		w.pullInstants()
	}
}

func (w *worker) pullInstants() {
	if w.pull.instants != nil {
		w.in[cotangent][vecTimes] = w.bar.times
		w.pull.instants.run(&w.in, &w.out)
	}
	clear(w.bar.times)
}

// Events implements solvers.System.
func (w *worker) Events() []solvers.Event {
	list := make([]solvers.Event, len(w.model.checked.Events))
	for i, e := range w.model.checked.Events {
		list[i] = solvers.Event{
			Name: e.Name, Elems: eventElems(e), Array: len(e.Indices) > 0,
			Priority: e.Priority, Once: e.Once, Explicit: e.When == nil && e.Crossing == nil,
		}
	}
	return list
}

// StateName implements solvers.System.
func (w *worker) StateName(i int) string { return w.model.stateName(i) }

func (w *worker) fire(f solvers.Firing, elems int) {
	w.in[primal][vecFired] = w.fired[:elems]
	clear(w.fired)
	w.fired[f.Elem] = 1
}

// Affect implements solvers.System.
func (w *worker) Affect(f solvers.Firing, t float64, ym, dm, yp, dp []float64) (stop bool) {
	copy(yp, ym)
	copy(dp, dm)
	body := w.value.affects[f.Event]
	if body != nil {
		w.t[0] = t
		saved := w.in[primal][vecD]
		w.fire(f, eventElems(w.model.checked.Events[f.Event]))
		w.in[primal][vecY], w.in[primal][vecD] = ym, dm
		w.out[primal][vecY], w.out[primal][vecD] = yp, dp
		body.run(&w.in, &w.out)
		w.in[primal][vecD] = saved
	}
	return w.stops[f.Event]
}

// AffectPush implements solvers.TangentSystem.
func (w *worker) AffectPush(f solvers.Firing, t float64, ym, dm, td, ymd, dmd, ypd, dpd []float64) {
	copy(ypd, ymd)
	copy(dpd, dmd)
	if body := w.value.affects[f.Event]; body != nil {
		w.clearTargets(body.program, tangent, ypd, dpd)
	}
	body := w.push.affects[f.Event]
	if body == nil {
		return
	}
	w.t[0] = t
	saved, savedTangent := w.in[primal][vecD], w.in[tangent][vecD]
	w.fire(f, eventElems(w.model.checked.Events[f.Event]))
	w.in[primal][vecY], w.in[primal][vecD] = ym, dm
	w.in[tangent][vecT], w.in[tangent][vecY], w.in[tangent][vecD] = td, ymd, dmd
	w.out[tangent][vecY], w.out[tangent][vecD] = ypd, dpd
	body.run(&w.in, &w.out)
	w.in[primal][vecD], w.in[tangent][vecD] = saved, savedTangent
}

// clearTargets zeroes the parts of y and d (in lanes) that a body assigns.
func (w *worker) clearTargets(body *program, _ variation, y, d []float64) {
	for _, b := range body.outs {
		switch b.vec {
		case vecY:
			clear(y[b.lo*w.lanes : b.hi*w.lanes])
		case vecD:
			clear(d[b.lo*w.lanes : b.hi*w.lanes])
		}
	}
}

// AffectPull implements solvers.CotangentSystem.
func (w *worker) AffectPull(f solvers.Firing, t float64, ym, dm, ypb, dpb, ymb, dmb, tb []float64) {
	copy(ymb, ypb)
	copy(dmb, dpb)
	if body := w.value.affects[f.Event]; body != nil {
		w.clearTargets(body.program, cotangent, ymb, dmb)
	}
	body := w.pull.affects[f.Event]
	if body == nil {
		return
	}
	w.t[0] = t
	saved, savedBar := w.in[primal][vecD], w.out[cotangent][vecD]
	w.fire(f, eventElems(w.model.checked.Events[f.Event]))
	w.in[primal][vecY], w.in[primal][vecD] = ym, dm
	w.in[cotangent][vecY], w.in[cotangent][vecD] = ypb, dpb
	w.out[cotangent][vecY], w.out[cotangent][vecD], w.out[cotangent][vecT] = ymb, dmb, tb
	body.run(&w.in, &w.out)
	w.in[primal][vecD], w.out[cotangent][vecD] = saved, savedBar
}

// Begin implements solvers.CotangentSystem.
func (w *worker) Begin(rows [][]float64) {
	w.refresh()
	w.book.begin(rows)
	w.visits.step = -1
	for _, v := range [][]float64{w.bar.c, w.bar.d, w.bar.e, w.bar.times} {
		clear(v)
	}
}

// Leave implements solvers.CotangentSystem.
func (w *worker) Leave(db []float64) {
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
func (w *worker) Finish() {
	w.pullInstants()
	if w.pull.once != nil {
		w.pull.once.run(&w.in, &w.out)
	}
	w.book.finish()
}

// Counts implements sens.Objectives.
func (w *worker) Counts() (functionals, objectives int) {
	return w.kit.layout.nF, len(w.rows)
}

// site returns the part of s that reads at site.
func site(s *stages[*call], c *tapec.Compiled, at sens.Site) *call {
	switch at.Kind {
	case sens.SiteInitial:
		return s.initial
	case sens.SiteFinal:
		return s.final
	case sens.SiteTime:
		if s.atTimes == nil {
			return nil
		}
		return s.atTimes[c.InstantList[at.Index].Group]
	}
	if s.atEvents == nil {
		return nil
	}
	return s.atEvents[at.Firing.Event]
}

// Observes implements sens.Objectives.
func (w *worker) Observes(kind sens.SiteKind, event int) bool {
	switch kind {
	case sens.SiteInitial, sens.SiteFinal:
		return true // the first starts, the last closes the count of what was read
	case sens.SiteTime:
		return true
	}
	return w.value.atEvents[event] != nil
}

// enterSite binds what a site reads.
func (w *worker) enterSite(s sens.Site, pt *sens.Point) {
	w.t[0] = pt.T
	w.in[primal][vecY], w.in[primal][vecYm] = pt.Yp, pt.Ym
	w.in[primal][vecDm] = pt.Dm
	switch s.Kind {
	case sens.SiteEvent:
		w.fire(s.Firing, eventElems(w.model.checked.Events[s.Firing.Event]))
	case sens.SiteTime:
		w.in[primal][vecRow] = w.model.rows[s.Index]
	}
}

// reads reports whether functional k is read at site s, given which firing it is.
func (w *worker) reads(k int, s sens.Site) bool {
	f := &w.model.compiled.Functionals[k]
	return s.Kind != sens.SiteEvent || f.Nth == 0 || f.Nth == s.Firing.Nth+1
}

// Observe implements sens.Objectives.
func (w *worker) Observe(s sens.Site, pt *sens.Point, functionals []float64) {
	if s.Kind == sens.SiteInitial {
		clear(w.seen)
	}
	if c := site(&w.value, w.model.compiled, s); c != nil {
		saved := w.in[primal][vecD]
		w.enterSite(s, pt)
		w.in[primal][vecD] = pt.Dp
		w.out[primal][vecF] = w.func_[:w.kit.layout.nF]
		c.run(&w.in, &w.out)
		w.in[primal][vecD] = saved
		for i := range c.outs {
			b := &c.outs[i]
			k := w.model.functionalAt(b.lo)
			f := &w.model.compiled.Functionals[k]
			if !w.reads(k, s) {
				continue
			}
			for j := b.lo; j < b.hi; j++ {
				functionals[j] += w.func_[j]
				if elem := selected(f, j-b.lo); elem < 0 || s.Kind != sens.SiteEvent || elem == s.Firing.Elem {
					w.seen[j]++
				}
			}
		}
	}
	if s.Kind == sens.SiteFinal {
		w.markMissing(functionals)
	}
}

// markMissing makes functionals NaN that did not come about: an nth firing that did not happen, times after a stop.
func (w *worker) markMissing(functionals []float64) {
	for k := range w.model.compiled.Functionals {
		f := &w.model.compiled.Functionals[k]
		for j := f.Offset; j < f.Offset+f.Shape.Size(); j++ {
			switch f.Kind {
			case typecheck.AtEvent, typecheck.EventTime:
				if f.Nth > 0 && w.seen[j] == 0 {
					functionals[j] = math.NaN()
				}
			case typecheck.SumAt:
				if w.seen[j] < w.model.visits[k] {
					functionals[j] = math.NaN()
				}
			}
		}
	}
}

// selected returns which element of an array event slot j of f counts; -1 for all.
func selected(f *tapec.Functional, j int) int {
	if f.Elems != nil {
		return f.Elems[j]
	}
	return f.Elem
}

// Values implements sens.Objectives.
func (w *worker) Values(functionals, psi []float64) {
	if w.value.objective == nil {
		return
	}
	w.in[primal][vecF] = functionals
	w.out[primal][vecPsi] = w.psi
	w.value.objective.run(&w.in, &w.out)
	for i, row := range w.rows {
		psi[i] = w.psi[row]
	}
}

// ValuesPull implements sens.CotangentObjectives.
func (w *worker) ValuesPull(functionals []float64, first int, fb []float64) {
	clear(fb)
	if w.pull.objective == nil {
		return
	}
	seeds := w.psi
	clear(seeds)
	for l := 0; l < w.lanes && first+l < len(w.rows); l++ {
		seeds[w.rows[first+l]*w.lanes+l] = 1
	}
	for i, f := range functionals { // an objective without a value must not spoil the others
		w.func_[i] = f
		if math.IsNaN(f) {
			w.func_[i] = 0
		}
	}
	w.in[primal][vecF] = w.func_[:len(functionals)]
	w.in[cotangent][vecPsi] = seeds
	w.out[cotangent][vecF] = fb
	w.pull.objective.run(&w.in, &w.out)
}

// ObservePull implements sens.CotangentObjectives.
func (w *worker) ObservePull(s sens.Site, pt *sens.Point, fb, ymb, dmb, ypb, dpb, tb []float64) {
	c := site(&w.pull, w.model.compiled, s)
	if c == nil {
		return
	}
	fb = w.maskFunctionals(s, fb)
	saved, savedBar := w.in[primal][vecD], w.out[cotangent][vecD]
	w.enterSite(s, pt)
	w.in[primal][vecD] = pt.Dp
	w.in[cotangent][vecF] = fb
	w.out[cotangent][vecY], w.out[cotangent][vecYm] = ypb, ymb
	w.out[cotangent][vecD], w.out[cotangent][vecDm] = dpb, dmb
	w.out[cotangent][vecT] = tb
	c.run(&w.in, &w.out)
	w.in[primal][vecD], w.out[cotangent][vecD] = saved, savedBar
}

// maskFunctionals returns fb with zeros for the functionals that this firing does not count for.
func (w *worker) maskFunctionals(s sens.Site, fb []float64) []float64 {
	if s.Kind != sens.SiteEvent || !w.model.someNth {
		return fb
	}
	masked := w.func_[:len(fb)]
	copy(masked, fb)
	for k := range w.model.compiled.Functionals {
		if f := &w.model.compiled.Functionals[k]; !w.reads(k, s) {
			clear(masked[f.Offset*w.lanes : (f.Offset+f.Shape.Size())*w.lanes])
		}
	}
	return masked
}

// ObservePush implements sens.TangentObjectives.
func (w *worker) ObservePush(s sens.Site, pt *sens.Point, td, ymd, dmd, ypd, dpd, fd []float64) {
	c := site(&w.push, w.model.compiled, s)
	if c == nil {
		return
	}
	saved, savedDot := w.in[primal][vecD], w.in[tangent][vecD]
	w.enterSite(s, pt)
	w.in[primal][vecD] = pt.Dp
	w.in[tangent][vecY], w.in[tangent][vecYm] = ypd, ymd
	w.in[tangent][vecD], w.in[tangent][vecDm] = dpd, dmd
	w.in[tangent][vecT] = td
	w.out[tangent][vecF] = w.func_
	c.run(&w.in, &w.out)
	w.in[primal][vecD], w.in[tangent][vecD] = saved, savedDot
	for i := range c.outs {
		b := &c.outs[i]
		if !w.reads(w.model.functionalAt(b.lo/w.lanes), s) {
			continue
		}
		for j := b.lo; j < b.hi; j++ {
			fd[j] += w.func_[j]
		}
	}
}

// ValuesPush implements sens.TangentObjectives.
func (w *worker) ValuesPush(functionals, fd, psid []float64) {
	clear(psid)
	if w.push.objective == nil {
		return
	}
	w.in[primal][vecF] = functionals
	w.in[tangent][vecF] = fd
	clear(w.psi) // rows without a derivative are not written
	w.out[tangent][vecPsi] = w.psi
	w.push.objective.run(&w.in, &w.out)
	for i, row := range w.rows {
		copy(psid[i*w.lanes:(i+1)*w.lanes], w.psi[row*w.lanes:])
	}
}
