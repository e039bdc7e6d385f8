package system

import (
	"math"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/orbit"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// Second derivatives of a periodic steady state, y* = Φ(y*, p), by params k and j follow from Φ_y S + Φ_p = S, where
// S = ∂y*/∂p. With the start of the period moving by S e_j, they are
//
//	(I - Φ_y)⁻¹ (Φ_pp e_j + Φ_py S e_j + Sᵀ(Φ_yp e_j + Φ_yy S e_j))_k:
//
// products of the Hessians of all states at the end of the period, which package sens computes.

// secondOverPeriod is overPeriod for second derivatives.
type secondOverPeriod struct {
	*overPeriod
	own  *SecondWorker // around the same Worker
	ends solvers.Dual  // cotangents of the start
}

// Begin implements solvers.SecondSystem.
func (o *secondOverPeriod) Begin() {
	o.own.Begin()
	o.ends.Clear()
}

// Leave implements solvers.SecondSystem.
func (o *secondOverPeriod) Leave(db solvers.Dual) { o.own.Leave(db) }

// Finish implements solvers.SecondSystem.
func (o *secondOverPeriod) Finish(pb solvers.Dual) {
	at := len(pb.X) - len(o.ends.X)
	o.own.Finish(solvers.Dual{X: pb.X[:at], D: pb.D[:at*o.Width]})
	copy(pb.X[at:], o.ends.X)
	copy(pb.D[at*o.Width:], o.ends.D)
}

// PullPush implements solvers.SecondField.
func (o *secondOverPeriod) PullPush(t, y, kb, yb, tb solvers.Dual) { o.own.PullPush(t, y, kb, yb, tb) }

// PullPushJacobian implements matrices.SecondJacobianField.
func (o *secondOverPeriod) PullPushJacobian(t, y, jb, yb, tb solvers.Dual) {
	o.own.PullPushJacobian(t, y, jb, yb, tb)
}

// GuardPullPush implements solvers.SecondSystem.
func (o *secondOverPeriod) GuardPullPush(i int, t, y, w, yb, tb solvers.Dual) {
	o.own.GuardPullPush(i, t, y, w, yb, tb)
}

// AffectPullPush implements solvers.SecondSystem.
func (o *secondOverPeriod) AffectPullPush(f solvers.Firing, t, ym, dm, ypb, dpb, ymb, dmb, tb solvers.Dual) {
	o.own.AffectPullPush(f, t, ym, dm, ypb, dpb, ymb, dmb, tb)
}

// InstantPullPush implements solvers.SecondSystem.
func (o *secondOverPeriod) InstantPullPush(i int, w solvers.Dual) {
	switch {
	case i >= len(o.times.List):
	case i == 1:
		o.own.InstantPullPush(0, w)
		o.own.InstantPullPush(o.times.Period, w)
	default:
		o.own.InstantPullPush(i, w)
		if k := o.times.Skips[i]; k != 0 {
			o.own.InstantPullPush(o.times.All[i].Period, scaled(float64(k), w))
		}
	}
}

// scaled returns k w.
func scaled(k float64, w solvers.Dual) solvers.Dual {
	out := solvers.Dual{X: make([]float64, len(w.X)), D: make([]float64, len(w.D))}
	for i, x := range w.X {
		out.X[i] = float64(k * x)
	}
	for i, x := range w.D {
		out.D[i] = float64(k * x)
	}
	return out
}

// StartPullPush implements solvers.SecondSystem.
func (o *secondOverPeriod) StartPullPush(t0, yb, db, tb solvers.Dual) {
	z, l := o.Size(), o.Width
	ym, dm := solvers.NewDual(z.N, l), solvers.NewDual(z.D, l)
	o.Worker.Start(t0.X[0], ym.X, dm.X)
	o.Worker.StartPush(t0.X[0], t0.D, ym.D, dm.D)
	ymb, dmb := solvers.NewDual(z.N, l), solvers.NewDual(z.D, l)
	y, d := solvers.NewDual(z.N, l), solvers.NewDual(z.D, l)
	y.Copy(yb)
	d.Copy(db)
	if b := o.leg.from; !o.leg.origin {
		take := func(k, i int, from solvers.Dual, timed bool) {
			if dot := from.D[i*l : (i+1)*l]; k >= 0 {
				orbit.Add(o.ends, k, from.X[i], dot)
				if timed {
					orbit.Add(tb, 0, from.X[i], dot)
				}
			}
			from.Rows(i, 1, l).Clear()
		}
		for i := range b.Y {
			take(i, i, y, false)
		}
		b.Each(func(k, at int, timed bool) { take(k, at, d, timed) })
	}
	o.own.assignPullPush(o.leg.firing, t0, ym, dm, y, d, ymb, dmb, tb)
	o.own.StartPullPush(t0, ymb, dmb, tb)
}

// bendsOf returns the second derivatives of the end of a leg by the active params, [ends][P][P], where its start moves
// by slopes, [variables][P], and only to first order.
func (l *leg) bendsOf(slopes []float64, lanes int) ([]float64, error) {
	p, n := l.problem, l.variables()
	width := p.Plan.Width
	k, err := p.Kit(lanes, compiled.PushPull, false)
	if err != nil {
		return nil, err
	}
	second := &sens.Second{New: func() sens.SecondWorker {
		w := p.SecondWorker(k)
		return sens.SecondWorker{
			System:     &secondOverPeriod{p.overPeriod(w.Worker, l), w, solvers.NewDual(n, lanes)},
			Objectives: l.ends(lanes), Method: p.Shooting.Method(lanes),
		}
	}}
	var products sens.Products
	err = second.Products(p.settling.context(), &l.run, sens.Directions{
		Count: width, Write: func(j int, dp, _ []float64) {
			dp[j] = 1
			for i := range n {
				dp[width+i] = slopes[i*width+j]
			}
		},
	}, &products)
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, l.end.Len()*width*width)
	for i := range l.end.Len() {
		for j := range width {
			row := products.HP[(i*width+j)*(width+n):]
			for k := range width {
				sum := row[k]
				for m := range n {
					sum = math.FMA(row[width+m], slopes[m*width+k], sum)
				}
				out = append(out, sum)
			}
		}
	}
	return out, nil
}

// periodBends returns the second derivatives of a periodic steady state by the active params, [n][P][P] of the elements
// of its border, and the first, [n][P].
func (p *Problem) periodBends(o *cycle, lanes int) (bends, slopes []float64) {
	slopes = p.slopes(o, byAdjoint, lanes)
	s := &p.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.bends != nil {
		return o.bends, slopes
	}
	width := p.Plan.Width
	_, byStart, err := o.moves(byAdjoint, lanes)
	if err == nil {
		o.bends, err = o.bendsOf(slopes, lanes)
	}
	if err == nil {
		var first, past []float64
		err = o.history(func(l *leg) error {
			direct, start, err := l.moves(byAdjoint, lanes)
			if err != nil {
				return err
			}
			bent, err := l.bendsOf(first, lanes)
			first, past = orbit.Through(first, direct, start, width), orbit.Through(past, bent, start, width*width)
			return err
		})
		if err == nil {
			err = o.orbit.Close(o.bends, past, byStart, width*width)
		}
	}
	if err != nil {
		o.bends = make([]float64, o.from.Len()*width*width)
		spoil(o.bends)
	}
	if bends = o.bends; s.context().Err() != nil { // nobody reads them
		o.bends = nil
	}
	return bends, slopes
}

// periodPullPush is settlePullPush of a periodic state, which depends on the params alone.
func (w *SecondWorker) periodPullPush(f solvers.Firing, t, ym, dm, yb, db, tb solvers.Dual) (_, _ solvers.Dual) {
	z, l := w.Size(), w.Width
	o := w.cycleAt(f, t.X[0], ym.X, dm.X)
	motion := orbit.Motion{Border: o.from, Width: w.Kit.Plan.Width}
	motion.Bends, motion.Slopes = w.problem.periodBends(o, l)
	back := solvers.NewDual(z.D, l)
	back.Copy(db)
	motion.PullPush(l, w.dot.p, yb, back, w.p, tb)
	return solvers.NewDual(z.N, l), back
}
