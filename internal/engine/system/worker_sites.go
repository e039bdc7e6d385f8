package system

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/origin"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// Counts implements sens.Objectives.
func (w *sites) Counts() (functionals, objectives int) {
	return w.Kit.Layout.NF, len(w.problem.Rows)
}

// site returns the part of s that reads at site.
func site(s *tapec.Parts[*compiled.Call], c *tapec.Compiled, at *sens.Site) *compiled.Call {
	switch at.Kind {
	case sens.SiteInitial:
		return s.Get(tapec.PartInitial)
	case sens.SiteFinal:
		return s.Get(tapec.PartFinal)
	case sens.SitePeak:
		return s.Get(tapec.PartPeaks)
	case sens.SiteTime:
		if list := s.List(tapec.PartAtTimes); list != nil {
			return list[c.InstantList[at.Index].Group]
		}
		return nil
	}
	if list := s.List(tapec.PartAtEvents); list != nil {
		return list[at.Firing.Event]
	}
	return nil
}

// Observes implements sens.Objectives.
func (w *sites) Observes(kind sens.SiteKind, event int) bool {
	switch kind {
	case sens.SiteInitial, sens.SiteFinal:
		return true // the first starts, the last closes the count of what was read
	case sens.SiteTime:
		return true
	case sens.SitePeak:
		return len(w.problem.Peaks) > 0
	}
	return w.Primals.List(tapec.PartAtEvents)[event] != nil
}

// enterSite binds what a site reads.
func (w *sites) enterSite(pt *sens.Point) {
	s := &pt.Site
	w.T[0] = pt.T
	w.In[tapec.Primal][vec.Y], w.In[tapec.Primal][vec.Ym] = pt.Yp, pt.Ym
	w.In[tapec.Primal][vec.Dm] = pt.Dm
	switch s.Kind {
	case sens.SiteEvent:
		w.In[tapec.Primal][vec.Fired] = fire(w.model, w.fired, s.Firing, false)
	case sens.SiteTime:
		w.In[tapec.Primal][vec.Row] = w.data[s.Index]
	}
}

// reads reports whether functional k is read at site s, given which firing it is.
func (w *sites) reads(k int, s *sens.Site) bool {
	f := &w.model.Compiled.Functionals[k]
	return s.Kind != sens.SiteEvent || f.Nth == 0 || f.Nth == s.Firing.Nth+1
}

// alone returns the slot of f that site s reads where it reads no other: in a row of data, what stands for that row.
// Programs make one number for it; see singled.
func (w *sites) alone(f *tapec.Functional, s *sens.Site) (slot int, ok bool) {
	if s.Kind != sens.SiteTime || !f.ByRow {
		return 0, false
	}
	row := w.data[s.Index]
	return f.Offset + int(row[len(row)-1]) - 1, true
}

// Observe implements sens.Objectives.
func (w *sites) Observe(pt *sens.Point, functionals []float64) {
	s := &pt.Site
	if s.Kind == sens.SiteInitial {
		clear(w.seen)
		clear(w.happened)
		w.problem.Notes.Clear()
	}
	if c := site(&w.Primals, w.model.Compiled, s); c != nil {
		saved := w.In[tapec.Primal][vec.D]
		w.enterSite(pt)
		w.In[tapec.Primal][vec.D] = pt.Dp
		w.Out[tapec.Primal][vec.F] = w.functional[:w.Kit.Layout.NF]
		c.Run(&w.In, &w.Out)
		w.In[tapec.Primal][vec.D] = saved
		for i := range c.Outs {
			b := &c.Outs[i]
			k := w.model.FunctionalAt(b.Lo)
			f := &w.model.Compiled.Functionals[k]
			if !w.reads(k, s) {
				w.countFiring(f, b.Lo, b.Hi, s.Firing)
				continue
			}
			if slot, ok := w.alone(f, s); ok {
				w.seen[f.Offset]++ // for all slots
				functionals[slot] += w.functional[b.Lo]
				if x := w.functional[b.Lo]; x-x != 0 {
					w.trace(c, i, slot, s)
				}
				continue
			}
			for j := b.Lo; j < b.Hi; j++ {
				functionals[j] += w.functional[j]
				if x := w.functional[j]; x-x != 0 {
					w.trace(c, i, j, s)
				}
				if elem := selected(f, j-b.Lo); elem < 0 || s.Kind != sens.SiteEvent || elem == s.Firing.Elem {
					w.seen[j]++
				}
			}
		}
	}
	if s.Kind == sens.SiteFinal {
		w.markMissing(functionals)
		w.markOpen(pt, functionals)
	}
}

// countFiring notes for slots lo to hi of f how often the element of the event has fired that they select.
func (w *sites) countFiring(f *tapec.Functional, lo, hi int, at solvers.Firing) {
	for j := lo; j < hi; j++ {
		if elem := selected(f, j-lo); elem < 0 || elem == at.Elem {
			w.happened[j] = at.Nth + 1
		}
	}
}

// WindowSlack is how far a bound of an integral may lie outside of the run, relative to its largest time: bounds that
// are written in another way may differ by rounding.
const WindowSlack = 1e-12

// markOpen sets the integrals to NaN that have a bound which the run, ended by a stop, did not reach.
func (w *sites) markOpen(pt *sens.Point, functionals []float64) {
	if w.bounds == nil {
		return
	}
	w.times.InstantTimes(pt.Dp, w.bounds)
	limit := pt.T + float64(WindowSlack*max(math.Abs(w.bounds[0]), math.Abs(pt.T)))
	for i, in := range w.model.Compiled.InstantList {
		if in.Bound == tapec.NoBound || w.bounds[i] <= limit {
			continue
		}
		for k := range w.model.Compiled.Functionals {
			f := &w.model.Compiled.Functionals[k]
			for j, mode := range f.Window {
				if slices.Contains(in.Modes, mode) {
					functionals[f.Offset+j] = math.NaN()
				}
			}
		}
	}
}

// markMissing sets the functionals to NaN that did not come about: an nth firing that did not happen,
// times after a stop.
func (w *sites) markMissing(functionals []float64) {
	for k := range w.model.Compiled.Functionals {
		f := &w.model.Compiled.Functionals[k]
		for j := f.Offset; j < f.Offset+f.Shape.Size(); j++ {
			switch f.Kind {
			case model.AtEvent, model.EventTime:
				if f.Nth > 0 && w.seen[j] == 0 {
					functionals[j] = math.NaN()
					e := w.model.Checked.Events[f.Event]
					lack := origin.Lack{Event: e.Name, Array: len(e.Indices) > 0, Fired: w.happened[j]}
					w.problem.Notes.Lacks(j, lack)
				}
			case model.SumAt:
				slot := j
				if f.ByRow {
					slot = f.Offset
				}
				if w.seen[slot] < w.model.Visits[k] {
					functionals[j] = math.NaN()
					if l, outside := w.outside(k); outside {
						w.problem.Notes.Lacks(j, l)
					}
				}
			}
		}
	}
}

// outside returns a time outside of the span of the run at which functional k is read, if there is one.
func (w *sites) outside(k int) (l origin.Lack, found bool) {
	l.From, l.To = w.serving.times.at[0], w.serving.times.at[1]
	for i, in := range w.model.Compiled.InstantList {
		l.T = w.serving.times.at[i]
		if in.Kind == tapec.Site && !math.IsInf(l.T, 0) && (l.T < l.From || l.T > l.To) &&
			slices.Contains(w.model.ReadAt(&in), k) {
			return l, true
		}
	}
	return l, false
}

// selected returns which element of an array event slot j of f counts; -1 for all.
func selected(f *tapec.Functional, j int) int {
	if f.Elems != nil {
		return f.Elems[j]
	}
	return f.Elem
}

// Values implements sens.Objectives.
func (w *sites) Values(functionals, psi []float64) {
	c := w.Primals.Get(tapec.PartObjective)
	if c == nil {
		return
	}
	w.In[tapec.Primal][vec.F] = functionals
	w.Out[tapec.Primal][vec.Psi] = w.psi
	c.Run(&w.In, &w.Out)
	for i, row := range w.problem.Rows {
		psi[i] = w.psi[row]
	}
}

// ValuesPull implements sens.CotangentObjectives.
func (w *sites) ValuesPull(functionals []float64, first int, fb []float64) {
	clear(fb)
	defer w.carry(fb)
	c := w.Transposes.Get(tapec.PartObjective)
	if c == nil {
		return
	}
	seeds := w.psi
	clear(seeds)
	for l := 0; l < w.Width && first+l < len(w.problem.Rows); l++ {
		seeds[w.problem.Rows[first+l]*w.Width+l] = 1
	}
	for i, f := range functionals { // an objective without a value must not spoil the others
		w.functional[i] = f
		if math.IsNaN(f) {
			w.functional[i] = 0
		}
	}
	w.In[tapec.Primal][vec.F] = w.functional[:len(functionals)]
	w.In[tapec.Cotangent][vec.Psi] = seeds
	w.Out[tapec.Cotangent][vec.F] = fb
	c.Run(&w.In, &w.Out)
}

// carrying tells which functionals have cotangents in some lane.
type carrying struct {
	numbers  []int  // of the functionals, in ascending order
	elements []bool // [F]
	all      bool   // all elements have
}

// carry notes which functionals have cotangents.
func (w *sites) carry(fb []float64) {
	c := &w.carrying
	if c.elements == nil {
		c.elements = make([]bool, w.Kit.Layout.NF)
	}
	c.numbers, c.all = c.numbers[:0], true
	for j := range c.elements {
		c.elements[j] = slices.ContainsFunc(fb[j*w.Width:(j+1)*w.Width], func(x float64) bool { return x != 0 })
		c.all = c.all && c.elements[j]
		if k := w.model.FunctionalAt(j); c.elements[j] && (len(c.numbers) == 0 || c.numbers[len(c.numbers)-1] != k) {
			c.numbers = append(c.numbers, k)
		}
	}
}

// Pulls implements sens.Selective.
func (w *sites) Pulls(s *sens.Site) bool {
	c := &w.carrying
	switch s.Kind {
	case sens.SitePeak:
		return slices.ContainsFunc(s.Peaks, func(p sens.Share) bool { return c.elements[p.Element] })
	case sens.SiteEvent:
		return w.carries(w.model.AtEvents[s.Firing.Event], func(k int) bool { return w.reads(k, s) })
	case sens.SiteTime:
		list := w.model.AtTimes[w.model.Compiled.InstantList[s.Index].Group]
		return c.all && len(list) > 0 || w.carries(list, func(k int) bool {
			slot, ok := w.alone(&w.model.Compiled.Functionals[k], s)
			return !ok || c.elements[slot]
		})
	}
	return true
}

// carries reports whether a functional of list, which ascends, has cotangents and is read.
func (w *sites) carries(list []int, read func(k int) bool) bool {
	some := w.carrying.numbers
	if len(some) > len(list) {
		some, list = list, some
	}
	for _, k := range some {
		if _, both := slices.BinarySearch(list, k); both && read(k) {
			return true
		}
	}
	return false
}

// ObservePull implements sens.CotangentObjectives.
func (w *sites) ObservePull(pt *sens.Point, fb, ymb, dmb, ypb, dpb, tb []float64) {
	c := site(&w.Transposes, w.model.Compiled, &pt.Site)
	if c == nil {
		return
	}
	fb = w.maskFunctionals(&pt.Site, c, fb)
	saved, savedBar := w.In[tapec.Primal][vec.D], w.Out[tapec.Cotangent][vec.D]
	w.enterSite(pt)
	w.In[tapec.Primal][vec.D] = pt.Dp
	w.In[tapec.Cotangent][vec.F] = fb
	w.Out[tapec.Cotangent][vec.Y], w.Out[tapec.Cotangent][vec.Ym] = ypb, ymb
	w.Out[tapec.Cotangent][vec.D], w.Out[tapec.Cotangent][vec.Dm] = dpb, dmb
	w.Out[tapec.Cotangent][vec.T] = tb
	c.Run(&w.In, &w.Out)
	w.In[tapec.Primal][vec.D], w.Out[tapec.Cotangent][vec.D] = saved, savedBar
}

// maskFunctionals returns what c, which transposes the reading at s, is to read of fb: zeros for the functionals that
// do not count this firing, and for those that have their peak at another site.
func (w *sites) maskFunctionals(s *sens.Site, c *compiled.Call, fb []float64) []float64 {
	if s.Kind == sens.SitePeak {
		masked := w.functional[:len(fb)]
		clear(masked)
		for _, p := range s.Peaks {
			for j := p.Element * w.Width; j < (p.Element+1)*w.Width; j++ {
				masked[j] = float64(p.Weight * fb[j])
			}
		}
		return masked
	}
	if s.Kind != sens.SiteEvent || !w.model.SomeNth {
		return fb
	}
	masked := w.functional[:len(fb)]
	for i := range c.Ins {
		b := &c.Ins[i]
		switch {
		case b.Vary != tapec.Cotangent || b.Vec != vec.F:
		case w.reads(w.model.FunctionalAt(b.Lo/w.Width), s):
			copy(masked[b.Lo:b.Hi], fb[b.Lo:b.Hi])
		default:
			clear(masked[b.Lo:b.Hi])
		}
	}
	return masked
}

// ObservePush implements sens.TangentObjectives.
func (w *sites) ObservePush(pt *sens.Point, td, ymd, dmd, ypd, dpd, fd []float64) {
	s := &pt.Site
	c := site(&w.Tangents, w.model.Compiled, s)
	if c == nil {
		return
	}
	saved, savedDot := w.In[tapec.Primal][vec.D], w.In[tapec.Tangent][vec.D]
	w.enterSite(pt)
	w.In[tapec.Primal][vec.D] = pt.Dp
	w.In[tapec.Tangent][vec.Y], w.In[tapec.Tangent][vec.Ym] = ypd, ymd
	w.In[tapec.Tangent][vec.D], w.In[tapec.Tangent][vec.Dm] = dpd, dmd
	w.In[tapec.Tangent][vec.T] = td
	w.Out[tapec.Tangent][vec.F] = w.functional
	if s.Kind == sens.SitePeak {
		clear(w.functional) // what does not move is not written
	}
	c.Run(&w.In, &w.Out)
	w.In[tapec.Primal][vec.D], w.In[tapec.Tangent][vec.D] = saved, savedDot
	if s.Kind == sens.SitePeak {
		for _, p := range s.Peaks {
			for j := p.Element * w.Width; j < (p.Element+1)*w.Width; j++ {
				fd[j] = math.FMA(p.Weight, w.functional[j], fd[j])
			}
		}
		return
	}
	for i := range c.Outs {
		b := &c.Outs[i]
		k := w.model.FunctionalAt(b.Lo / w.Width)
		if !w.reads(k, s) {
			continue
		}
		if slot, ok := w.alone(&w.model.Compiled.Functionals[k], s); ok {
			for l := range w.Width {
				fd[slot*w.Width+l] += w.functional[b.Lo+l]
			}
			continue
		}
		for j := b.Lo; j < b.Hi; j++ {
			fd[j] += w.functional[j]
		}
	}
}

// ValuesPush implements sens.TangentObjectives.
func (w *sites) ValuesPush(functionals, fd, psid []float64) {
	clear(psid)
	c := w.Tangents.Get(tapec.PartObjective)
	if c == nil {
		return
	}
	w.In[tapec.Primal][vec.F] = functionals
	w.In[tapec.Tangent][vec.F] = fd
	clear(w.psi) // rows without a derivative are not written
	w.Out[tapec.Tangent][vec.Psi] = w.psi
	c.Run(&w.In, &w.Out)
	for i, row := range w.problem.Rows {
		copy(psid[i*w.Width:(i+1)*w.Width], w.psi[row*w.Width:])
	}
}
