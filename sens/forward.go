package sens

import (
	"context"
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/record"
)

// Forward is continuous forward sensitivity analysis: the variational equations
//
//	S' = f_y S + f_p,   S(t0) = ∂y0/∂p - f ∂t0/∂p,
//
// are solved by the method of the run over its steps. S is the derivative of the state at a fixed time. Where an
// event ends a step, with f⁻ and f⁺ the rates of the state at its limits and D = g_y f⁻ + g_t,
//
//	ṫ = -(g_y S⁻ + g_p)/D,  ẏ⁻ = S⁻ + f⁻ ṫ,  ẏ⁺ = tangent of the body,  S⁺ = ẏ⁺ - f⁺ ṫ;
//
// at a time T(p), ṫ = Ṫ instead. Within smooth stretches it is the same as Tangent. At events it is not the
// derivative of the computed numbers, but converges to the same limit.
//
// Source: Rozenvasser, Automation and Remote Control 28 (1967) 400–404; Hindmarsh and others, ACM Transactions on
// Mathematical Software 31 (2005) 363–396 (the simultaneous method, without the sensitivities in the error test).
type Forward struct {
	// New makes the worker. It is called once per gradient.
	New func() TangentWorker

	telling
}

// Name implements Method.
func (a *Forward) Name() string { return ModeForward }

// Gradient implements Method.
func (a *Forward) Gradient(ctx context.Context, run *record.Trajectory, opts Options, res *Result) error {
	w := newWalk(a.New(), run)
	z := run.Size()
	w.tells = &a.telling
	w.k = make([]float64, z.N+z.Q)
	return w.gradient(ctx, opts, res)
}

// flowStep moves the derivatives at a fixed time through step i.
func (w *walk) flowStep(i int, st *solvers.Step) {
	w.within(limitsOf(w.run, i, st))
	past, ok := w.sys.(PastPusher)
	moved := i == 0 || !w.run.Free(i-1) || ok && past.Follows(i-1)
	if ok {
		if over(past, st); st.H > 0 { // what is read is that of this step, and so is the rate by which the time is left
			past.LeapPush(st.T, st.Y0, w.td, w.yd, w.fd)
		}
	}
	w.flow(i, st, w.run.End(i), w.rates.at(i), w.ahead[i], moved)
}

// leave makes the derivatives, which are those at a time that moves, where the state is y, those at a fixed time.
func (w *walk) leave(t float64, y []float64) {
	w.move(t, y, w.td, -1)
	clear(w.td)
}

// flow moves the derivatives at a fixed time through st, step i, -1 for one that no run keeps. rate is that of the
// guard that ended it. ahead is the tangent of its time if its length is zero. moved tells that they are not yet those
// at a fixed time.
func (w *walk) flow(i int, st *solvers.Step, e solvers.End, rate float64, ahead []float64, moved bool) {
	if moved {
		w.leave(st.T, st.Y0)
	}
	d := &w.d
	clear(w.td)
	clear(d.H)
	w.push(st)
	w.td, d.T1 = d.T1, w.td
	w.yd, d.Y1 = d.Y1, w.yd
	addTo(w.fd[:len(d.DQ)], d.DQ)
	if st.H > 0 {
		w.group.open = false
	}
	past, reads := w.sys.(PastPusher)
	if reads = reads && i >= 0; reads {
		past.Keep(i, w.field, w.method, st, &solvers.StepTangent{T0: d.T1, H: d.H, Y0: d.Y1, Y1: w.yd})
	}
	switch e.Kind {
	case solvers.EndFree:
		if !reads || !past.EndPush(i, w.td) {
			return
		}
	case solvers.EndClip:
		switch {
		case w.instants[e.Index].Fixed:
			clear(w.td)
		case setBefore(e, st.H) && ahead != nil:
			copy(w.td, ahead)
		default:
			w.instant(e, w.td)
		}
	case solvers.EndRoot:
		clear(w.w)
		w.sys.GuardPush(e.Index, st.T1, st.Y1, w.w, w.yd, w.r)
		for j, x := range w.r {
			w.td[j] = share(x, rate)
		}
	}
	w.move(st.T1, st.Y1, w.td, 1)
}

// slope makes w.k the rates of states and quadratures at (t, y): those of unknowns follow from the algebraic equations.
func (w *walk) slope(t float64, y []float64) {
	w.sys.Eval(t, y, w.k)
	if w.algebra != nil {
		w.algebra.Rates(w.sys.(matrices.JacobianField), t, y, w.k)
	}
}

// move adds way·f td at (t, y) to the tangents of the state, and way·r td to those of the quadratures.
func (w *walk) move(t float64, y, td []float64, way float64) {
	w.slope(w.limited.within(t), y)
	n := len(y)
	for i, v := range w.k {
		to, at := w.yd, i
		if i >= n {
			to, at = w.fd, i-n
		}
		for j, x := range td {
			to[at*w.l+j] = math.FMA(float64(way*v), x, to[at*w.l+j])
		}
	}
}

// flowInside moves the derivatives of the last step on to a time within it, w.w; the state there is w.yp.
func (w *walk) flowInside(method solvers.Interpolant, r *innerReading) {
	// The start and the length of the step do not move, nor does a fixed time.
	method.InterpolatePush(w.field, &w.dense, &w.d, r.theta, w.w, w.yp)
	if r.instant < 0 {
		return
	}
	w.sys.InstantPush(r.instant, w.w)
	w.slope(r.t, w.pt.Yp)
	for i := range w.pt.Yp {
		for j, x := range w.w {
			w.yp[i*w.l+j] = math.FMA(w.k[i], x, w.yp[i*w.l+j])
		}
	}
}

// fieldSlope returns the rate of a guard with the field at the end of the step instead of the step's own derivative
// by its length.
func (w *walk) fieldSlope(st *solvers.Step, guard int) float64 {
	w.slope(w.limited.within(st.T1), st.Y1)
	l := w.l
	for i, v := range w.k[:len(st.Y0)] {
		for j := range l {
			w.yd[i*l+j] = v
		}
	}
	for j := range w.w {
		w.w[j] = 1
	}
	w.sys.GuardPush(guard, st.T1, st.Y1, w.w, w.yd, w.r)
	clear(w.yd)
	return w.r[0]
}
