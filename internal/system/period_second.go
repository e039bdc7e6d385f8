package system

import (
	"context"
	"math"

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
	own *SecondWorker // around the same Worker
}

// Begin implements solvers.SecondSystem.
func (o *secondOverPeriod) Begin() { o.own.Begin() }

// Leave implements solvers.SecondSystem.
func (o *secondOverPeriod) Leave(db solvers.Dual) { o.own.Leave(db) }

// Finish implements solvers.SecondSystem.
func (o *secondOverPeriod) Finish(pb solvers.Dual) { o.own.Finish(pb) }

// PullPush implements solvers.SecondField.
func (o *secondOverPeriod) PullPush(t, y, kb, yb, tb solvers.Dual) { o.own.PullPush(t, y, kb, yb, tb) }

// PullPushJacobian implements solvers.SecondJacobianField.
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
	switch i {
	case o.limit:
	case 1:
		o.own.InstantPullPush(0, w)
		o.own.InstantPullPush(o.every, w)
	default:
		o.own.InstantPullPush(i, w)
	}
}

// StartPullPush implements solvers.SecondSystem.
func (o *secondOverPeriod) StartPullPush(t0, yb, db, tb solvers.Dual) {
	z, l := o.Size(), o.lanes
	ym, dm := solvers.NewDual(z.N, l), solvers.NewDual(z.D, l)
	o.Worker.Start(t0.X[0], ym.X, dm.X)
	o.Worker.StartPush(t0.X[0], t0.D, ym.D, dm.D)
	ymb, dmb := solvers.NewDual(z.N, l), solvers.NewDual(z.D, l)
	o.own.assignPullPush(o.of.firing, t0, ym, dm, solvers.NewDual(z.N, l), db, ymb, dmb, tb)
	o.own.StartPullPush(t0, ymb, dmb, tb)
}

// secondFinals are finals for second derivatives.
type secondFinals struct{ finals }

// ValuesPullPush implements sens.SecondObjectives.
func (f secondFinals) ValuesPullPush(_ solvers.Dual, o int, fb solvers.Dual) {
	fb.Clear()
	fb.X[f.q+o] = 1
}

// ObservePullPush implements sens.SecondObjectives.
func (f secondFinals) ObservePullPush(
	_ *sens.Point, _ *sens.PointTangent, fb, _, _, ypb, _, _ solvers.Dual,
) {
	for i, x := range fb.X[f.q:] {
		ypb.X[i] += x
	}
	for i, x := range fb.D[f.q*f.lanes:] {
		ypb.D[i] += x
	}
}

// periodBends returns the second derivatives of a periodic steady state by the active params, [N][P][P], and the first,
// [N][P].
func (p *Problem) periodBends(o *orbit, lanes int) (bends, slopes []float64) {
	slopes = p.slopes(o, byAdjoint, lanes)
	s := &p.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.bends != nil {
		return o.bends, slopes
	}
	n, width := len(o.state.Y), p.plan.width
	_, byStart, err := p.moves(o, o.state.Y, byAdjoint, lanes)
	k, failed := p.Kit(lanes, PushPull, false)
	if failed != nil {
		err = failed
	}
	out := make([]float64, n*width*width)
	if err == nil {
		second := &sens.Second{New: func() sens.SecondWorker {
			w := p.SecondWorker(k)
			return sens.SecondWorker{
				System:     &secondOverPeriod{p.overPeriod(w.Worker, o, o.state.Y), w},
				Objectives: secondFinals{p.finals(lanes)}, Method: p.Shooting.Method(lanes),
			}
		}}
		var products sens.Products
		err = second.Products(context.Background(), &o.run, sens.Directions{
			Count: width, Write: func(j int, dp, dy0 []float64) {
				dp[j] = 1
				for i := range dy0 {
					dy0[i] = slopes[i*width+j]
				}
			},
		}, &products)
		if err == nil {
			for i := range n {
				for j := range width {
					hp, hy := products.HP[(i*width+j)*width:], products.HY0[(i*width+j)*n:]
					for k := range width {
						sum := hp[k]
						for m := range n {
							sum = math.FMA(hy[m], slopes[m*width+k], sum)
						}
						out[(i*width+j)*width+k] = sum
					}
				}
			}
			if lu, e := closing(n, byStart); e == nil {
				lu.Solve(out, width*width)
			} else {
				err = e
			}
		}
	}
	if err != nil {
		spoil(out)
	}
	o.bends = out
	return out, slopes
}

// periodPullPush is settlePullPush of a periodic state, which depends on the params alone.
func (w *SecondWorker) periodPullPush(f solvers.Firing, t, ym, dm, yb, db solvers.Dual) (_, _ solvers.Dual) {
	z, l := w.Size(), w.lanes
	y, d := make([]float64, z.N), make([]float64, z.D)
	w.assign(f, t.X[0], ym.X, dm.X, y, d)
	o, err := w.problem.orbit(f, t.X[0], y, d)
	if err != nil {
		panic("system: the run found a periodic state: " + err.Error())
	}
	bends, slopes := w.problem.periodBends(o, l)
	width := w.kit.plan.width
	for i, x := range yb.X {
		for j := range width {
			s := slopes[i*width+j]
			w.p.X[j] = math.FMA(s, x, w.p.X[j])
			to := w.p.D[j*l : (j+1)*l]
			for a := range to {
				to[a] = math.FMA(s, yb.D[i*l+a], to[a])
			}
			for k := range width {
				c := float64(x * bends[(i*width+k)*width+j])
				for a := range to {
					to[a] = math.FMA(c, w.dot.p[k*l+a], to[a])
				}
			}
		}
	}
	return solvers.NewDual(z.N, l), db
}
