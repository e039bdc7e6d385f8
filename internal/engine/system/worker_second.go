package system

import (
	"math"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// SecondWorker is a worker that also differentiates transposes: the SecondSystem of package solvers
// and the SecondObjectives of package sens. Cotangents have one lane, and their tangents have all
// lanes.
type SecondWorker struct {
	*Worker
	second tapec.Parts[*call]

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
func (p *Problem) SecondWorker(k *Kit) *SecondWorker {
	w := &SecondWorker{Worker: p.Worker(k)}
	calls, _ := tapec.Transform(k.second, func(_ tapec.PartIndex, p *program) (*call, error) { return p.call(), nil })
	w.second = *calls
	l, c := p.Model.layout, p.Model.Compiled
	dual := func(n int) solvers.Dual { return solvers.NewDual(n, k.lanes) }
	w.p, w.d = dual(k.plan.width), dual(l.nD)
	w.rho, w.times, w.psi = dual(len(c.GuardList)), dual(len(c.InstantList)), dual(l.objectives)
	w.functionals, w.masked, w.cutY = dual(l.nF), dual(l.nF), dual(l.nY)
	w.pulls(vecP, w.p)
	w.pulls(vecD, w.d)
	for _, cut := range w.problem.Point.cut {
		w.someCut = w.someCut || cut
	}
	return w
}

// moves binds a vector that is read, and its tangents.
func (w *SecondWorker) moves(vec vector, x solvers.Dual) {
	w.in[tapec.Primal][vec], w.in[tapec.Tangent][vec] = x.X, x.D
}

// seeds binds cotangents that are read, and their tangents.
func (w *SecondWorker) seeds(vec vector, x solvers.Dual) {
	w.in[tapec.Cotangent][vec], w.in[tapec.CotangentTangent][vec] = x.X, x.D
}

// pulls binds cotangents that are written, and their tangents.
func (w *SecondWorker) pulls(vec vector, x solvers.Dual) {
	w.out[tapec.Cotangent][vec], w.out[tapec.CotangentTangent][vec] = x.X, x.D
}

// at sets the time, and binds its tangents.
func (w *SecondWorker) at(t solvers.Dual) {
	w.t[0] = t.X[0]
	w.in[tapec.Tangent][vecT] = t.D
}

// Begin implements solvers.SecondSystem.
func (w *SecondWorker) Begin() {
	w.refresh()
	if w.version != w.fresh {
		w.fresh = w.version
		for _, c := range w.second.All() {
			c.refresh()
		}
	}
	w.p.Clear()
	w.d.Clear()
}

// PullPush implements solvers.SecondField.
func (w *SecondWorker) PullPush(t, y, kb, yb, tb solvers.Dual) {
	w.pullPush(w.second.Get(w.rates), vecK, t, y, kb, yb, tb)
}

// pullPush runs c, a transpose of something at (t, y) with its tangents: from the cotangents seeds of vec to yb and tb.
func (w *SecondWorker) pullPush(c *call, vec vector, t, y, seeds, yb, tb solvers.Dual) {
	if c == nil {
		yb.Clear()
		tb.Clear()
		return
	}
	w.at(t)
	w.moves(vecY, y)
	w.seeds(vec, seeds)
	w.pulls(vecY, yb)
	w.pulls(vecT, tb)
	for _, v := range []struct {
		vec vector
		x   solvers.Dual
	}{{vecY, yb}, {vecT, tb}} {
		if !c.covers(tapec.Cotangent, v.vec, len(v.x.X)) {
			clear(v.x.X)
		}
		if !c.covers(tapec.CotangentTangent, v.vec, len(v.x.D)) {
			clear(v.x.D)
		}
	}
	c.runMoved(&w.in, &w.out)
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
	w.moves(vecY, y)
	w.pulls(vecY, yb)
	w.pulls(vecT, tb)
	w.seeded(w.second.Get(tapec.PartGuards), vecRho, w.rho, i, wt)
}

// seeded runs c with wt as the cotangent of element i of a vector.
func (w *SecondWorker) seeded(c *call, vec vector, seeds solvers.Dual, i int, wt solvers.Dual) {
	seeds.X[i] = wt.X[0]
	copy(seeds.D[i*w.lanes:], wt.D[:w.lanes])
	w.seeds(vec, seeds)
	c.run(&w.in, &w.out)
	seeds.Clear()
}

// InstantPullPush implements solvers.SecondSystem.
func (w *SecondWorker) InstantPullPush(i int, wt solvers.Dual) {
	if c := w.second.Get(tapec.PartInstants); c != nil {
		w.seeded(c, vecTimes, w.times, i, wt)
		if k := early(w.Worker, i); k != 0 {
			w.seeded(c, vecTimes, w.times, w.Instants()[i].Period, scaled(float64(k), wt))
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
	if body := w.value.List(tapec.PartAffects)[f.Event]; body != nil {
		clearTargets(body.program, ymb.X, dmb.X, 1)
		clearTargets(body.program, ymb.D, dmb.D, w.lanes)
	}
	body := w.second.List(tapec.PartAffects)[f.Event]
	if body == nil {
		return
	}
	in, out := w.in, w.out
	w.in[tapec.Primal][vecFired] = fire(w.model, w.fired, f, true)
	w.at(t)
	w.moves(vecY, ym)
	w.moves(vecD, dm)
	w.seeds(vecY, ypb)
	w.seeds(vecD, dpb)
	w.pulls(vecY, ymb)
	w.pulls(vecD, dmb)
	w.pulls(vecT, tb)
	body.run(&w.in, &w.out)
	w.in, w.out = in, out
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
		for i, cut := range w.problem.Point.cut {
			if cut {
				yb.X[i] = 0
				clear(yb.D[i*w.lanes : (i+1)*w.lanes])
			}
		}
	}
	w.at(t0)
	w.seeds(vecY, yb)
	w.seeds(vecD, db)
	w.pulls(vecT, tb)
	c.run(&w.in, &w.out)
}

// Finish implements solvers.SecondSystem.
func (w *SecondWorker) Finish(pb solvers.Dual) { pb.Copy(w.p) }

// ValuesPullPush implements sens.SecondObjectives.
func (w *SecondWorker) ValuesPullPush(f solvers.Dual, o int, fb solvers.Dual) {
	fb.Clear()
	c := w.second.Get(tapec.PartObjective)
	if c == nil {
		return
	}
	w.functionals.Copy(f)
	for i, x := range f.X { // an objective without a value must not spoil the others
		if math.IsNaN(x) {
			w.functionals.X[i] = 0
			clear(w.functionals.D[i*w.lanes : (i+1)*w.lanes])
		}
	}
	w.moves(vecF, w.functionals)
	w.pulls(vecF, fb)
	one := solvers.NewDual(1, w.lanes)
	one.X[0] = 1
	w.seeded(c, vecPsi, w.psi, w.problem.Rows[o], one)
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
	if s.Kind == sens.SiteEvent && w.model.someNth {
		fb = w.maskDuals(s, c, fb)
	}
	in, out := w.in, w.out
	w.enterSite(pt)
	w.at(solvers.Dual{X: w.t[:], D: dot.T})
	w.moves(vecY, solvers.Dual{X: pt.Yp, D: dot.Yp})
	w.moves(vecYm, solvers.Dual{X: pt.Ym, D: dot.Ym})
	w.moves(vecD, solvers.Dual{X: pt.Dp, D: dot.Dp})
	w.moves(vecDm, solvers.Dual{X: pt.Dm, D: dot.Dm})
	w.seeds(vecF, fb)
	w.pulls(vecY, ypb)
	w.pulls(vecYm, ymb)
	w.pulls(vecD, dpb)
	w.pulls(vecDm, dmb)
	w.pulls(vecT, tb)
	c.run(&w.in, &w.out)
	w.in, w.out = in, out
}

// maskDuals returns what c, which transposes the reading at a firing, is to read of fb: zeros for the functionals that
// do not count this firing.
func (w *SecondWorker) maskDuals(s *sens.Site, c *call, fb solvers.Dual) solvers.Dual {
	for i := range c.ins {
		b := &c.ins[i]
		if b.vary != tapec.Cotangent || b.vec != vecF {
			continue
		}
		lo, hi := b.lo*w.lanes, b.hi*w.lanes
		if w.reads(w.model.FunctionalAt(b.lo), s) {
			copy(w.masked.X[b.lo:b.hi], fb.X[b.lo:b.hi])
			copy(w.masked.D[lo:hi], fb.D[lo:hi])
		} else {
			clear(w.masked.X[b.lo:b.hi])
			clear(w.masked.D[lo:hi])
		}
	}
	return w.masked
}
