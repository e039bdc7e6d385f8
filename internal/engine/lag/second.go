package lag

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// Second is a Worker for second derivatives: it pushes tangents through the transposes of what a Worker does. Delays
// must not move. Steps end with what comes back of the past, so that what is read is smooth along each of them and
// their derivatives of any order are those of the run. Its cotangents have one lane, and their tangents all.
type Second struct {
	*Worker
	s *system.SecondWorker

	yb2, ymb2, xb2 solvers.Dual // [N + lags], [N + lags], [N]
	sb2            solvers.Dual // [1]
	db2, yb02      solvers.Dual
	held2          []solvers.Dual // of discretes that were read, by the gap that set them and the start first
	seeds2         []stages.SecondSeeds
	until2         map[int]solvers.Dual
	apartAt        float64 // where two stops of different motion meet, NaN for none
}

// Twice returns w as it reads the past that rec holds. The method is that of the run.
func Twice(w *system.SecondWorker, rec *Record, m solvers.Method) *Second {
	x := &Second{Worker: Of(w.Worker, rec, m), s: w, apartAt: math.NaN()}
	x.bends = true
	size, all := w.Size(), w.Size().N+rec.lags
	dual := func(n int) solvers.Dual { return solvers.NewDual(n, x.l) }
	x.yb2, x.ymb2, x.xb2, x.sb2 = dual(all), dual(all), dual(size.N), dual(1)
	x.db2, x.yb02 = dual(size.D), dual(size.N)
	return x
}

// LeapPush implements sens.PastPusher: a step ends with each jump that comes back.
func (x *Second) LeapPush(float64, []float64, []float64, []float64, []float64) {}

// Keep implements sens.PastPusher.
func (x *Second) Keep(i int, f solvers.TangentField, m solvers.Method, s *solvers.Step, d *solvers.StepTangent) {
	x.Worker.Keep(i, f, m, s, d)
	e := &x.rec.ends
	at := e.of(i)
	if at < 0 {
		return
	}
	td := make([]float64, x.l)
	for _, c := range e.causes[e.list[at].first:e.list[at].till] {
		causePush(x.Worker, c, td)
		for j, v := range td {
			own, by := d.T0[j]+d.H[j], x.dd[x.rec.delays[c.delay].at*x.l+j]
			if !(math.Abs(v-own) <= float64(1e-9*max(math.Abs(v-by)+math.Abs(by), math.Abs(own)))) {
				x.apartAt = s.T1
			}
		}
	}
}

// Fault implements sens.PastPullPusher.
func (x *Second) Fault() error {
	if x.apartAt != x.apartAt {
		return nil
	}
	return &Error{T: x.apartAt, Lag: x.rec.spans[0], Message: fmt.Sprintf("what comes back after a delay meets "+
		"something else at %v, which moves otherwise, and there second derivatives have two sides; move one of the two",
		x.apartAt)}
}

// Begin implements solvers.SecondSystem.
func (x *Second) Begin() {
	x.db2.Clear()
	x.yb02.Clear()
	clear(x.until2)
	for _, v := range x.held2 {
		v.Clear()
	}
	for i := range x.seeds2 {
		x.seeds2[i].Drop()
	}
	x.s.Begin()
}

// Leave implements solvers.SecondSystem.
func (x *Second) Leave(db solvers.Dual) {
	x.s.Leave(db)
	db.Add(x.db2)
	x.db2.Clear()
}

// InstantPullPush implements solvers.SecondSystem.
func (x *Second) InstantPullPush(i int, w solvers.Dual) { x.s.InstantPullPush(i, w) }

// StartPullPush implements solvers.SecondSystem.
func (x *Second) StartPullPush(t0, yb, db, tb solvers.Dual) { x.s.StartPullPush(t0, yb, db, tb) }

// Finish implements solvers.SecondSystem.
func (x *Second) Finish(pb solvers.Dual) { x.s.Finish(pb) }

// ValuesPullPush implements sens.SecondObjectives.
func (x *Second) ValuesPullPush(f solvers.Dual, weights []float64, fb solvers.Dual) {
	x.s.ValuesPullPush(f, weights, fb)
}

// extended returns the state y with lags behind it, and their tangents, at t.
func (x *Second) extended(t, y solvers.Dual) solvers.Dual {
	return solvers.Dual{X: x.extend(t.X[0], y.X, x.y), D: x.push(t.X[0], t.D, y.D, x.yd)}
}

// some returns the first n elements of a.
func (x *Second) some(a solvers.Dual, n int) solvers.Dual {
	return solvers.Dual{X: a.X[:n], D: a.D[:n*x.l]}
}

// PullPush implements solvers.SecondField.
func (x *Second) PullPush(t, y, kb, yb, tb solvers.Dual) {
	x.s.PullPush(t, x.extended(t, y), kb, x.yb2, tb)
	x.pull2(t, x.yb2, tb)
	yb.Copy(x.some(x.yb2, x.n))
}

// PullPushJacobian implements matrices.SecondJacobianField.
func (x *Second) PullPushJacobian(t, y, jb, yb, tb solvers.Dual) {
	x.s.PullPushJacobian(t, x.extended(t, y), jb, x.yb2, tb)
	x.pull2(t, x.yb2, tb)
	yb.Copy(x.some(x.yb2, x.n))
}

// GuardPullPush implements solvers.SecondSystem.
func (x *Second) GuardPullPush(i int, t, y, w, yb, tb solvers.Dual) {
	ye := x.extended(t, y)
	x.yb2.Clear()
	x.s.GuardPullPush(i, t, ye, w, x.yb2, tb)
	x.pull2(t, x.yb2, tb)
	yb.Add(x.some(x.yb2, x.n))
}

// AffectPullPush implements solvers.SecondSystem.
func (x *Second) AffectPullPush(f solvers.Firing, t, ym, dm, ypb, dpb, ymb, dmb, tb solvers.Dual) {
	apart(x.Worker, t.X[0], func() {
		ye, n := x.extended(t, ym), x.n
		x.yb2.Clear() // the body overwrites its states
		x.s.AffectPullPush(f, t, ye, dm, ypb, dpb, x.yb2, dmb, tb)
		x.pull2(t, x.yb2, tb)
		ymb.Copy(x.some(x.yb2, n))
	})
}

// ObservePullPush implements sens.SecondObjectives.
func (x *Second) ObservePullPush(pt *sens.Point, dot *sens.PointTangent, fb, ymb, dmb, ypb, dpb, tb solvers.Dual) {
	apart(x.Worker, pt.T, func() {
		t, p, moved := solvers.Dual{X: []float64{pt.T}, D: dot.T}, *pt, *dot
		p.Yp, p.Ym = x.extend(pt.T, pt.Yp, x.y), x.extend(pt.T, pt.Ym, x.ym)
		moved.Yp, moved.Ym = x.push(pt.T, dot.T, dot.Yp, x.yd), x.push(pt.T, dot.T, dot.Ym, x.ymd)
		x.yb2.Clear()
		x.ymb2.Clear()
		x.s.ObservePullPush(&p, &moved, fb, x.ymb2, dmb, x.yb2, dpb, tb)
		x.pull2(t, x.yb2, tb)
		x.pull2(t, x.ymb2, tb)
		ypb.Add(x.some(x.yb2, x.n))
		ymb.Add(x.some(x.ymb2, x.n))
	})
}

// pull2 is Worker.pull together with its tangent.
func (x *Second) pull2(t, yb, tb solvers.Dual) {
	l, r := x.l, x.rec
	for i, from := range r.delays {
		some := false
		x.xb2.Clear()
		for _, c := range r.reads {
			k := i - c.first
			if k < 0 || k >= c.n {
				continue
			}
			at := c.to + k*c.len
			part := solvers.Dual{X: yb.X[at:][:c.len], D: yb.D[at*l:][:c.len*l]}
			to := x.xb2
			if c.discrete {
				to = x.heldSecond(r.holder(regionOf(x.Worker, i)))
			} else {
				nonzero := func(v float64) bool { return v != 0 }
				some = some || slices.ContainsFunc(part.X, nonzero) || slices.ContainsFunc(part.D, nonzero)
			}
			solvers.Dual{X: to.X[c.from:][:c.len], D: to.D[c.from*l:][:c.len*l]}.Add(part)
		}
		if !some {
			continue
		}
		step, theta := x.locate(i, t.X[0])
		if step < 0 {
			x.yb02.Add(x.xb2)
			continue
		}
		if r.steps[step].H == 0 {
			continue
		}
		at := from.at * l
		for j := range x.td {
			x.td[j] = t.D[j] - x.dd[at+j]
		}
		for len(x.seeds2) <= step {
			x.seeds2 = append(x.seeds2, stages.SecondSeeds{})
		}
		k := &x.kept[step]
		x.sb2.Clear()
		stages.RecallPullPush(x.method, &r.steps[step], &k.d, theta, k.kd, x.td, x.xb2, x.sb2, &x.seeds2[step])
		tb.Add(x.sb2)
		x.db2.X[from.at] -= x.sb2.X[0]
		for j, v := range x.sb2.D {
			x.db2.D[at+j] -= v
		}
	}
}

// heldSecond is heldAt with tangents.
func (x *Second) heldSecond(gap int) solvers.Dual {
	for len(x.held2) < gap+2 {
		x.held2 = append(x.held2, solvers.NewDual(len(x.db2.X), x.l))
	}
	return x.held2[1+gap]
}

// unheldSecond is unhold with tangents.
func (x *Second) unheldSecond(gap int) {
	if 1+gap < len(x.held2) {
		x.db2.Add(x.held2[1+gap])
		x.held2[1+gap].Clear()
	}
}

// SowSecond implements sens.PastPullPusher.
func (x *Second) SowSecond(i int, s *solvers.Step, m solvers.Method) bool {
	if i >= len(x.seeds2) || !x.seeds2[i].Sown() {
		return false
	}
	copy(s.K, x.rec.steps[i].K)
	s.Dense = true
	stages.SowSecond(m, s, &x.seeds2[i])
	return true
}

// EndPullPush implements sens.PastPullPusher.
func (x *Second) EndPullPush(i int, hb solvers.Dual) {
	c, _ := follows(x.Worker, i)
	at := x.rec.delays[c.delay].at
	solvers.Dual{X: x.db2.X[at:][:1], D: x.db2.D[at*x.l:][:x.l]}.Add(hb)
	if x.until2 == nil {
		x.until2 = map[int]solvers.Dual{}
	}
	to, ok := x.until2[c.after]
	if !ok {
		to = solvers.NewDual(1, x.l)
		x.until2[c.after] = to
	}
	to.Add(hb)
}

// EndedSecond implements sens.PastPullPusher.
func (x *Second) EndedSecond(i int, tb solvers.Dual) {
	if v, ok := x.until2[i]; ok {
		tb.Add(v)
	}
}

// JumpSecond implements sens.PastPullPusher.
func (x *Second) JumpSecond(after int) {
	for j := x.rec.gapsBehind(after); j < len(x.rec.gaps) && x.rec.gaps[j].after == after; j++ {
		x.unheldSecond(j)
	}
}

// InitialSecond implements sens.PastPullPusher.
func (x *Second) InitialSecond(yb solvers.Dual) {
	yb.Add(x.yb02)
	x.yb02.Clear()
	x.unheldSecond(-1)
}
