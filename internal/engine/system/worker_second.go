package system

import (
	"math"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// SecondWorker is a worker that also differentiates transposes: the SecondSystem of package solvers
// and the SecondObjectives of package sens. Cotangents have one lane, and their tangents have all
// lanes.
type SecondWorker struct {
	*Worker
	second tapec.Parts[*compiled.Call]

	p, d        solvers.Dual // accumulators
	rho, times  solvers.Dual // seeds, zero between calls
	psi         solvers.Dual
	functionals solvers.Dual // scratch
	masked      solvers.Dual // scratch
	cutY        solvers.Dual // scratch
	someCut     bool
	fresh       int // version that the hoisted work belongs to
}

// SecondWorker returns a worker for second derivatives of the problem with the programs of k.
func (p *Problem) SecondWorker(k *compiled.Kit) *SecondWorker {
	w := &SecondWorker{Worker: p.Worker(k)}
	calls, _ := tapec.Transform(k.Second, func(_ tapec.PartIndex, p *compiled.Program) (*compiled.Call, error) {
		return p.Call(), nil
	})
	w.second = *calls
	l, c := p.Model.Layout, p.Model.Compiled
	dual := func(n int) solvers.Dual { return solvers.NewDual(n, k.Lanes) }
	w.p, w.d = dual(k.Plan.Width), dual(l.ND)
	w.rho, w.times, w.psi = dual(len(c.GuardList)), dual(len(c.InstantList)), dual(l.Objectives)
	w.functionals, w.masked, w.cutY = dual(l.NF), dual(l.NF), dual(l.NY)
	w.pulls(vec.P, w.p)
	w.pulls(vec.D, w.d)
	for _, cut := range w.problem.Point.Cut {
		w.someCut = w.someCut || cut
	}
	return w
}

// moves binds a vector that is read, and its tangents.
func (w *SecondWorker) moves(of vec.Vector, x solvers.Dual) {
	w.In[tapec.Primal][of], w.In[tapec.Tangent][of] = x.X, x.D
}

// seeds binds cotangents that are read, and their tangents.
func (w *SecondWorker) seeds(of vec.Vector, x solvers.Dual) {
	w.In[tapec.Cotangent][of], w.In[tapec.CotangentTangent][of] = x.X, x.D
}

// pulls binds cotangents that are written, and their tangents.
func (w *SecondWorker) pulls(of vec.Vector, x solvers.Dual) {
	w.Out[tapec.Cotangent][of], w.Out[tapec.CotangentTangent][of] = x.X, x.D
}

// at sets the time, and binds its tangents.
func (w *SecondWorker) at(t solvers.Dual) {
	w.T[0] = t.X[0]
	w.In[tapec.Tangent][vec.T] = t.D
}

// Begin implements solvers.SecondSystem.
func (w *SecondWorker) Begin() {
	w.refresh()
	if w.Version != w.fresh {
		w.fresh = w.Version
		for _, c := range w.second.All() {
			c.Refresh()
		}
	}
	w.p.Clear()
	w.d.Clear()
}

// PullPush implements solvers.SecondField.
func (w *SecondWorker) PullPush(t, y, kb, yb, tb solvers.Dual) {
	w.pullPush(w.second.Get(w.rates), vec.K, t, y, kb, yb, tb)
}

// pullPush runs c, a transpose of something at (t, y) with its tangents: from the cotangents seeds of a vector to
// yb and tb.
func (w *SecondWorker) pullPush(c *compiled.Call, of vec.Vector, t, y, seeds, yb, tb solvers.Dual) {
	if c == nil {
		yb.Clear()
		tb.Clear()
		return
	}
	w.at(t)
	w.moves(vec.Y, y)
	w.seeds(of, seeds)
	w.pulls(vec.Y, yb)
	w.pulls(vec.T, tb)
	for _, v := range []struct {
		of vec.Vector
		x  solvers.Dual
	}{{vec.Y, yb}, {vec.T, tb}} {
		if !c.Covers(tapec.Cotangent, v.of, len(v.x.X)) {
			clear(v.x.X)
		}
		if !c.Covers(tapec.CotangentTangent, v.of, len(v.x.D)) {
			clear(v.x.D)
		}
	}
	c.RunMoved(&w.In, &w.Out)
}

// Leave implements solvers.SecondSystem.
func (w *SecondWorker) Leave(db solvers.Dual) {
	db.Add(w.d)
	w.d.Clear()
}

// GuardPullPush implements solvers.SecondSystem.
func (w *SecondWorker) GuardPullPush(i int, t, y, wt, yb, tb solvers.Dual) {
	if w.second.Get(tapec.PartGuards) == nil {
		return
	}
	w.at(t)
	w.moves(vec.Y, y)
	w.pulls(vec.Y, yb)
	w.pulls(vec.T, tb)
	w.seeded(w.second.Get(tapec.PartGuards), vec.Rho, w.rho, i, wt)
}

// seeded runs c with wt as the cotangent of element i of a vector.
func (w *SecondWorker) seeded(c *compiled.Call, of vec.Vector, seeds solvers.Dual, i int, wt solvers.Dual) {
	seeds.X[i] = wt.X[0]
	copy(seeds.D[i*w.Width:], wt.D[:w.Width])
	w.seeds(of, seeds)
	c.Run(&w.In, &w.Out)
	seeds.Clear()
}

// InstantPullPush implements solvers.SecondSystem.
func (w *SecondWorker) InstantPullPush(i int, wt solvers.Dual) {
	if c := w.second.Get(tapec.PartInstants); c != nil {
		w.seeded(c, vec.Times, w.times, i, wt)
		if k := w.early(i); k != 0 {
			w.seeded(c, vec.Times, w.times, w.Instants()[i].Period, scaled(float64(k), wt))
		}
	}
}

// AffectPullPush implements solvers.SecondSystem.
func (w *SecondWorker) AffectPullPush(f solvers.Firing, t, ym, dm, ypb, dpb, ymb, dmb, tb solvers.Dual) {
	if w.model.Checked.Events[f.Event].Settles {
		ypb, dpb = w.settlePullPush(f, t, ym, dm, ypb, dpb, tb)
	}
	w.assignPullPush(f, t, ym, dm, ypb, dpb, ymb, dmb, tb)
}

// assignPullPush transposes the assignments of a body, with tangents.
func (w *SecondWorker) assignPullPush(f solvers.Firing, t, ym, dm, ypb, dpb, ymb, dmb, tb solvers.Dual) {
	ymb.Copy(ypb)
	dmb.Copy(dpb)
	if body := w.Primals.List(tapec.PartAffects)[f.Event]; body != nil {
		clearTargets(body.Program, ymb.X, dmb.X, 1)
		clearTargets(body.Program, ymb.D, dmb.D, w.Width)
	}
	body := w.second.List(tapec.PartAffects)[f.Event]
	if body == nil {
		return
	}
	in, out := w.In, w.Out
	w.In[tapec.Primal][vec.Fired] = fire(w.model, w.fired, f, true)
	w.at(t)
	w.moves(vec.Y, ym)
	w.moves(vec.D, dm)
	w.seeds(vec.Y, ypb)
	w.seeds(vec.D, dpb)
	w.pulls(vec.Y, ymb)
	w.pulls(vec.D, dmb)
	w.pulls(vec.T, tb)
	body.Run(&w.In, &w.Out)
	w.In, w.Out = in, out
}

// StartPullPush implements solvers.SecondSystem.
func (w *SecondWorker) StartPullPush(t0, yb, db, tb solvers.Dual) {
	c := w.second.Get(tapec.PartStart)
	if c == nil {
		return
	}
	if w.someCut { // parameters do not reach these
		w.cutY.Copy(yb)
		yb = w.cutY
		for i, cut := range w.problem.Point.Cut {
			if cut {
				yb.Rows(i, 1, w.Width).Clear()
			}
		}
	}
	w.at(t0)
	w.seeds(vec.Y, yb)
	w.seeds(vec.D, db)
	w.pulls(vec.T, tb)
	c.Run(&w.In, &w.Out)
}

// Finish implements solvers.SecondSystem.
func (w *SecondWorker) Finish(pb solvers.Dual) { pb.Copy(w.p) }

// ValuesPullPush implements sens.SecondObjectives.
func (w *SecondWorker) ValuesPullPush(f solvers.Dual, weights []float64, fb solvers.Dual) {
	fb.Clear()
	c := w.second.Get(tapec.PartObjective)
	if c == nil {
		return
	}
	w.functionals.Copy(f)
	for i, x := range f.X { // an objective without a value must not spoil the others
		if math.IsNaN(x) {
			w.functionals.Rows(i, 1, w.Width).Clear()
		}
	}
	w.moves(vec.F, w.functionals)
	w.pulls(vec.F, fb)
	for o, x := range weights {
		w.psi.X[w.problem.Rows[o]] = x
	}
	w.seeds(vec.Psi, w.psi)
	c.Run(&w.In, &w.Out)
	w.psi.Clear()
}

// ObservePullPush implements sens.SecondObjectives.
func (w *SecondWorker) ObservePullPush(pt *sens.Point, dot *sens.PointTangent, fb, ymb, dmb, ypb, dpb,
	tb solvers.Dual,
) {
	s := &pt.Site
	c := site(&w.second, w.model.Compiled, s)
	if c == nil {
		return
	}
	if s.Kind == sens.SiteEvent && w.model.SomeNth {
		fb = w.maskDuals(s, c, fb)
	}
	in, out := w.In, w.Out
	w.enterSite(pt)
	w.at(solvers.Dual{X: w.T[:], D: dot.T})
	w.moves(vec.Y, solvers.Dual{X: pt.Yp, D: dot.Yp})
	w.moves(vec.Ym, solvers.Dual{X: pt.Ym, D: dot.Ym})
	w.moves(vec.D, solvers.Dual{X: pt.Dp, D: dot.Dp})
	w.moves(vec.Dm, solvers.Dual{X: pt.Dm, D: dot.Dm})
	w.seeds(vec.F, fb)
	w.pulls(vec.Y, ypb)
	w.pulls(vec.Ym, ymb)
	w.pulls(vec.D, dpb)
	w.pulls(vec.Dm, dmb)
	w.pulls(vec.T, tb)
	c.Run(&w.In, &w.Out)
	w.In, w.Out = in, out
}

// maskDuals returns what c, which transposes the reading at a firing, is to read of fb: zeros for the functionals that
// do not count this firing.
func (w *SecondWorker) maskDuals(s *sens.Site, c *compiled.Call, fb solvers.Dual) solvers.Dual {
	for i := range c.Ins {
		b := &c.Ins[i]
		if b.Vary != tapec.Cotangent || b.Vec != vec.F {
			continue
		}
		lo, hi := b.Lo*w.Width, b.Hi*w.Width
		if w.reads(w.model.FunctionalAt(b.Lo), s) {
			copy(w.masked.X[b.Lo:b.Hi], fb.X[b.Lo:b.Hi])
			copy(w.masked.D[lo:hi], fb.D[lo:hi])
		} else {
			clear(w.masked.X[b.Lo:b.Hi])
			clear(w.masked.D[lo:hi])
		}
	}
	return w.masked
}

// PullPushStep implements solvers.SecondStepPuller.
func (w *SecondWorker) PullPushStep(
	form *solvers.Arithmetic, s *solvers.Step, d *solvers.StepTangent, c *solvers.StepSecond,
) bool {
	return w.PullSecond(form, s, d, c)
}
