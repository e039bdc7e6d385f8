package system

import (
	"slices"
	"strconv"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/internal/engine/work"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// Guards implements solvers.System.
func (w *Worker) Guards() []solvers.Guard {
	list := make([]solvers.Guard, len(w.model.Compiled.GuardList))
	for i, g := range w.model.Compiled.GuardList {
		list[i] = solvers.Guard{
			Event: g.Event, Elem: g.Elem, Mode: g.Mode, Crossing: g.Crossing, Way: g.Way, Instant: g.Instant,
			Watch: g.Watch, Kink: g.Kink, Clock: g.Clock, Affine: g.Affine, Unknowns: w.model.ReadsUnknowns(i),
			Seen: w.problem.PeaksSee(i), Piece: g.Piece,
		}
		switch {
		case g.Event >= 0:
		case g.Mode < 0:
			list[i].Name = "condition@" + strconv.Itoa(g.Span.Begin().Line)
		default:
			list[i].Name = w.model.ModeName(g.Mode)
		}
	}
	return list
}

// GuardValues implements solvers.System.
func (w *Worker) GuardValues(t float64, y, rho []float64, truth []bool) {
	if len(rho) == 0 {
		return
	}
	w.T[0] = t
	guards := w.Primals.Get(tapec.PartGuards)
	if s := &w.small; s.y != nil {
		work.CopyFew(s.y, y)
		if guards.Bound {
			guards.Machine.Run()
		} else {
			w.In[tapec.Primal][vec.Y], w.Out[tapec.Primal][vec.Rho] = s.y, w.rho
			w.Out[tapec.Primal][vec.Truth] = w.truth
			guards.RunBound(&w.In, &w.Out)
		}
		work.CopyFew(rho, w.rho)
	} else {
		w.In[tapec.Primal][vec.Y], w.Out[tapec.Primal][vec.Rho] = y, rho
		w.Out[tapec.Primal][vec.Truth] = w.truth
		guards.Run(&w.In, &w.Out)
	}
	for i, x := range w.truth {
		truth[i] = x != 0
	}
}

// GuardPush implements solvers.TangentSystem.
func (w *Worker) GuardPush(i int, t float64, y, td, yd, rd []float64) {
	c := w.Tangents.Get(tapec.PartGuards)
	if c == nil {
		clear(rd)
		return
	}
	w.T[0] = t
	w.In[tapec.Primal][vec.Y] = y
	w.In[tapec.Tangent][vec.T], w.In[tapec.Tangent][vec.Y] = td, yd
	w.Out[tapec.Tangent][vec.Rho] = w.one[:len(w.rho)*w.Width]
	c.Run(&w.In, &w.Out)
	copy(rd, w.one[i*w.Width:(i+1)*w.Width])
	clear(w.one)
}

// GuardPull implements solvers.CotangentSystem.
func (w *Worker) GuardPull(i int, t float64, y, wt, yb, tb []float64) {
	c := w.Transposes.Get(tapec.PartGuards)
	if c == nil {
		return
	}
	w.T[0] = t
	seeds := w.one[:len(w.rho)*w.Width]
	seed := seeds[i*w.Width : (i+1)*w.Width]
	copy(seed, wt)
	w.In[tapec.Primal][vec.Y] = y
	w.In[tapec.Cotangent][vec.Rho] = seeds
	w.Out[tapec.Cotangent][vec.Y], w.Out[tapec.Cotangent][vec.T] = yb, tb
	c.Run(&w.In, &w.Out)
	clear(seed)
}

// Events implements solvers.System.
func (w *Worker) Events() []solvers.Event {
	list := make([]solvers.Event, len(w.model.Checked.Events))
	for i, e := range w.model.Checked.Events {
		list[i] = solvers.Event{
			Name: e.Name, Element: w.model.Checked.Element(e), Elems: compiled.EventElems(e.Indices),
			Policy: e.Policy, Varies: e.Rank != nil, Explicit: !e.Guarded(), Silent: e.Hidden,
			Settles: e.Settles, After: e.After, Unguarded: !compiled.SetsGuards(w.model, i),
		}
		if e.Transient {
			list[i].If = slices.Index(w.model.Checked.Events, e.If)
		}
		if e.Execution != nil {
			list[i].Slots, list[i].Then = e.Slot.Count, slices.Index(w.model.Checked.Events, e.Execution)
		}
	}
	return list
}

// StateName implements solvers.System.
func (w *Worker) StateName(i int) string { return w.model.StateName(i) }

// Groups implements solvers.Grouped.
func (w *Worker) Groups() []int32 { return w.model.Checked.Arrays() }

// Priorities implements solvers.Prioritized.
func (w *Worker) Priorities(t float64, y, priorities []float64) {
	w.RunAt(w.Primals.Get(tapec.PartPriorities), vec.Priorities, t, y, w.In[tapec.Primal][vec.D], priorities)
}

// fire returns the vector that tells tapes what fires: of a body, with the slot. It lies in x, unless that is nil.
func fire[F float64 | complex128](m *compiled.Model, x []F, f solvers.Firing, body bool) []F {
	e := m.Checked.Events[f.Event]
	n, at := compiled.EventElems(e.Indices), f.Elem
	if body && e.Slot != nil {
		n, at = n*e.Slot.Count, f.Elem*e.Slot.Count+f.Slot
	}
	if x == nil {
		x = make([]F, n)
	}
	clear(x)
	x[at] = 1
	return x[:n]
}

// Affect implements solvers.System.
func (w *Worker) Affect(f solvers.Firing, t float64, ym, dm, yp, dp []float64) (stop bool) {
	w.assign(f, t, ym, dm, yp, dp)
	if w.model.Checked.Events[f.Event].Settles {
		w.settle(f, t, yp, dp)
	}
	return w.model.Checked.Events[f.Event].Stop
}

// assign executes the assignments of a body.
func (w *Worker) assign(f solvers.Firing, t float64, ym, dm, yp, dp []float64) {
	copy(yp, ym)
	copy(dp, dm)
	body := w.Primals.List(tapec.PartAffects)[f.Event]
	if body != nil {
		w.T[0] = t
		saved := w.In[tapec.Primal][vec.D]
		w.In[tapec.Primal][vec.Fired] = fire(w.model, w.fired, f, true)
		w.In[tapec.Primal][vec.Y], w.In[tapec.Primal][vec.D] = ym, dm
		w.Out[tapec.Primal][vec.Y], w.Out[tapec.Primal][vec.D] = yp, dp
		body.Run(&w.In, &w.Out)
		w.In[tapec.Primal][vec.D] = saved
	}
}

// AffectPush implements solvers.TangentSystem.
func (w *Worker) AffectPush(f solvers.Firing, t float64, ym, dm, td, ymd, dmd, ypd, dpd []float64) {
	w.assignPush(f, t, ym, dm, td, ymd, dmd, ypd, dpd)
	if w.model.Checked.Events[f.Event].Settles {
		w.settlePush(f, t, ym, dm, td, ypd, dpd)
	}
}

// assignPush pushes tangents through the assignments of a body.
func (w *Worker) assignPush(f solvers.Firing, t float64, ym, dm, td, ymd, dmd, ypd, dpd []float64) {
	copy(ypd, ymd)
	copy(dpd, dmd)
	if body := w.Primals.List(tapec.PartAffects)[f.Event]; body != nil {
		clearTargets(body.Program, ypd, dpd, w.Width)
	}
	body := w.Tangents.List(tapec.PartAffects)[f.Event]
	if body == nil {
		return
	}
	w.T[0] = t
	saved, savedTangent := w.In[tapec.Primal][vec.D], w.In[tapec.Tangent][vec.D]
	w.In[tapec.Primal][vec.Fired] = fire(w.model, w.fired, f, true)
	w.In[tapec.Primal][vec.Y], w.In[tapec.Primal][vec.D] = ym, dm
	w.In[tapec.Tangent][vec.T], w.In[tapec.Tangent][vec.Y], w.In[tapec.Tangent][vec.D] = td, ymd, dmd
	w.Out[tapec.Tangent][vec.Y], w.Out[tapec.Tangent][vec.D] = ypd, dpd
	body.Run(&w.In, &w.Out)
	w.In[tapec.Primal][vec.D], w.In[tapec.Tangent][vec.D] = saved, savedTangent
}

// clearTargets zeroes the parts of y and d (in lanes) that a body assigns.
func clearTargets(body *compiled.Program, y, d []float64, lanes int) {
	for _, b := range body.Outs {
		switch b.Vec {
		case vec.Y:
			clear(y[b.Lo*lanes : b.Hi*lanes])
		case vec.D:
			clear(d[b.Lo*lanes : b.Hi*lanes])
		}
	}
}

// AffectPull implements solvers.CotangentSystem.
func (w *Worker) AffectPull(f solvers.Firing, t float64, ym, dm, ypb, dpb, ymb, dmb, tb []float64) {
	if w.model.Checked.Events[f.Event].Settles {
		ypb, dpb = w.settlePull(f, t, ym, dm, ypb, dpb, tb)
	}
	w.assignPull(f, t, ym, dm, ypb, dpb, ymb, dmb, tb)
}

// assignPull transposes the assignments of a body.
func (w *Worker) assignPull(f solvers.Firing, t float64, ym, dm, ypb, dpb, ymb, dmb, tb []float64) {
	copy(ymb, ypb)
	copy(dmb, dpb)
	if body := w.Primals.List(tapec.PartAffects)[f.Event]; body != nil {
		clearTargets(body.Program, ymb, dmb, w.Width)
	}
	body := w.Transposes.List(tapec.PartAffects)[f.Event]
	if body == nil {
		return
	}
	w.T[0] = t
	saved, savedBar := w.In[tapec.Primal][vec.D], w.Out[tapec.Cotangent][vec.D]
	w.In[tapec.Primal][vec.Fired] = fire(w.model, w.fired, f, true)
	w.In[tapec.Primal][vec.Y], w.In[tapec.Primal][vec.D] = ym, dm
	w.In[tapec.Cotangent][vec.Y], w.In[tapec.Cotangent][vec.D] = ypb, dpb
	w.Out[tapec.Cotangent][vec.Y], w.Out[tapec.Cotangent][vec.D], w.Out[tapec.Cotangent][vec.T] = ymb, dmb, tb
	body.Run(&w.In, &w.Out)
	w.In[tapec.Primal][vec.D], w.Out[tapec.Cotangent][vec.D] = saved, savedBar
}
