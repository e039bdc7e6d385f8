// Package solvertest makes systems with events from closures, for tests of
// solvers and of sensitivities. The closures are written once, over complex
// numbers: values are their real parts, tangents and transposes come from the
// complex step, exact to rounding. It knows nothing of how runs are made.
package solvertest

import (
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// C is the number that closures compute with.
type C = complex128

// Env is what closures see of a system besides time and state.
type Env struct {
	P, D []C
	M    []float64
}

// Guard is a root function with its condition.
type Guard struct {
	solvers.Guard
	Strict bool // the condition is rho > 0; otherwise rho >= 0
	Rho    func(t C, y []C, e *Env) C
	Filter func(t float64, y []C) bool // of a crossing guard; nil for none
}

// Instant is an explicit time.
type Instant struct {
	solvers.Instant
	At func(e *Env) C
}

// Event is an event with its body, which changes yp and dp; they begin as copies of ym and e.D.
type Event struct {
	solvers.Event
	Stop bool
	Body func(elem int, t C, ym []C, e *Env, yp, dp []C)
}

// Hybrid is a system by closures: a System, TangentSystem and CotangentSystem.
type Hybrid struct {
	N, Q, D, M int
	Params     []float64
	Init       func(t0 C, e *Env, y, d []C)
	Field      func(t C, y []C, e *Env, k []C)
	Select     func(t float64, y []float64, e *Env, m []float64)
	Conditions []Guard
	Times      []Instant // 0 and 1 are the start and the end
	Bodies     []Event

	lanes  int
	env    Env
	left   Env // discretes at left limits, and wherever times are asked for
	d      []float64
	pd, dd []float64 // tangents
	pb, db []float64 // accumulators
	rows   [][]float64

	scratch
	Evals int
	Asked *int // counts evaluations of guards, where it is set, those by copies as well

	places *matrices.Jacobian // all places, once a size
}

// scratch is work space, one set a size.
type scratch struct{ y, k, yp, dp []C }

// With returns a copy of the system with work space of its own and l lanes.
func (h *Hybrid) With(l int) *Hybrid {
	g := *h
	g.lanes = l
	g.env = Env{P: make([]C, len(h.Params)), D: make([]C, h.D), M: make([]float64, h.M)}
	for i, p := range h.Params {
		g.env.P[i] = complex(p, 0)
	}
	g.left = Env{P: g.env.P, D: make([]C, h.D), M: g.env.M}
	g.d = make([]float64, h.D)
	g.pd, g.pb = make([]float64, len(h.Params)*l), make([]float64, len(h.Params)*l)
	g.dd, g.db = make([]float64, h.D*l), make([]float64, h.D*l)
	g.y, g.yp = make([]C, h.N), make([]C, h.N)
	g.k, g.dp = make([]C, h.N+h.Q), make([]C, h.D)
	return &g
}

// Size implements solvers.Field.
func (h *Hybrid) Size() solvers.Size {
	return solvers.Size{N: h.N, Q: h.Q, P: len(h.Params), D: h.D, M: h.M}
}

func lift(to []C, from []float64) {
	for i, x := range from {
		to[i] = complex(x, 0)
	}
}

func lower(to []float64, from []C) {
	for i, x := range from {
		to[i] = real(x)
	}
}

// Eval implements solvers.Field.
func (h *Hybrid) Eval(t float64, y, k []float64) {
	h.Evals++
	lift(h.y, y)
	h.Field(complex(t, 0), h.y, &h.env, h.k)
	lower(k, h.k)
}

// Start implements solvers.System.
func (h *Hybrid) Start(t0 float64, y, d []float64) {
	clear(h.y)
	clear(h.dp)
	h.Init(complex(t0, 0), &h.env, h.y, h.dp)
	lower(y, h.y)
	lower(d, h.dp)
}

// Enter implements solvers.System.
func (h *Hybrid) Enter(d, m []float64) {
	lift(h.env.D, d)
	copy(h.d, d)
	copy(h.env.M, m)
}

// Choose implements solvers.System.
func (h *Hybrid) Choose(t float64, y []float64, kept []bool, m []float64) {
	if h.Select != nil {
		h.Select(t, y, &h.env, m)
	}
	for i, k := range kept {
		if k {
			m[i] = h.env.M[i]
		}
	}
}

// Guards implements solvers.System.
func (h *Hybrid) Guards() []solvers.Guard {
	var list []solvers.Guard
	for _, g := range h.Conditions {
		list = append(list, g.Guard)
	}
	return list
}

// GuardValues implements solvers.System.
func (h *Hybrid) GuardValues(t float64, y, rho []float64, truth []bool) {
	if h.Asked != nil {
		*h.Asked++
	}
	lift(h.y, y)
	for i, g := range h.Conditions {
		rho[i] = real(g.Rho(complex(t, 0), h.y, &h.env))
		truth[i] = rho[i] > 0 || rho[i] == 0 && !g.Strict
		if g.Crossing {
			truth[i] = g.Filter == nil || g.Filter(t, h.y)
		}
	}
}

// Instants implements solvers.System.
func (h *Hybrid) Instants() []solvers.Instant {
	var list []solvers.Instant
	for _, i := range h.Times {
		list = append(list, i.Instant)
	}
	return list
}

// InstantTimes implements solvers.System.
func (h *Hybrid) InstantTimes(d, times []float64) {
	lift(h.left.D, d)
	for i := range h.Times {
		times[i] = real(h.Times[i].At(&h.left))
	}
}

// Events implements solvers.System.
func (h *Hybrid) Events() []solvers.Event {
	var list []solvers.Event
	for _, e := range h.Bodies {
		list = append(list, e.Event)
	}
	return list
}

// StateName implements solvers.System.
func (h *Hybrid) StateName(i int) string { return string(rune('a' + i)) }

// Affect implements solvers.System.
func (h *Hybrid) Affect(f solvers.Firing, t float64, ym, dm, yp, dp []float64) bool {
	lift(h.y, ym)
	lift(h.yp, ym)
	lift(h.dp, dm)
	lift(h.left.D, dm)
	b := &h.Bodies[f.Event]
	if b.Body != nil {
		b.Body(f.Elem, complex(t, 0), h.y, &h.left, h.yp, h.dp)
	}
	lower(yp, h.yp)
	lower(dp, h.dp)
	return b.Stop
}

// Tangents returns the tangents of the parameters, [P·L].
func (h *Hybrid) Tangents() []float64 { return h.pd }

// Cotangents returns the accumulators of the parameters, [P·L].
func (h *Hybrid) Cotangents() []float64 { return h.pb }

const tiny = 0x1p-200

// point is where a map is differentiated: time, state, parameters, discretes.
type point struct {
	t C
	y []C
	e Env
}

// at makes a point of real values.
func (h *Hybrid) at(t float64, y, d []float64) *point {
	p := &point{t: complex(t, 0), y: make([]C, len(y))}
	p.e = Env{P: append([]C(nil), h.env.P...), D: make([]C, h.D), M: h.env.M}
	lift(p.y, y)
	lift(p.e.D, d)
	return p
}

// push writes the tangents of a map in every lane.
func (h *Hybrid) push(p *point, f func(p *point, out []C), td, yd, dd, out []float64) {
	l := h.lanes
	res := make([]C, len(out)/l)
	for a := range l {
		q := &point{t: p.t, y: append([]C(nil), p.y...)}
		q.e = Env{P: append([]C(nil), p.e.P...), D: append([]C(nil), p.e.D...), M: p.e.M}
		if td != nil {
			q.t += complex(0, tiny*td[a])
		}
		for i := range q.y {
			q.y[i] += complex(0, tiny*yd[i*l+a])
		}
		for i := range q.e.P {
			q.e.P[i] += complex(0, tiny*h.pd[i*l+a])
		}
		for i := range q.e.D {
			q.e.D[i] += complex(0, tiny*dd[i*l+a])
		}
		clear(res)
		f(q, res)
		for i, x := range res {
			out[i*l+a] = imag(x) / tiny
		}
	}
}

// pull adds the transpose of a map applied to w, to whichever of tb, yb, pb, db are not nil.
func (h *Hybrid) pull(p *point, f func(p *point, out []C), w, tb, yb, pb, db []float64) {
	l := h.lanes
	res := make([]C, len(w)/l)
	column := func(x *C, to []float64) {
		if to == nil {
			return
		}
		saved := *x
		*x += complex(0, tiny)
		clear(res)
		f(p, res)
		*x = saved
		for i, v := range res {
			for a := range l {
				to[a] += imag(v) / tiny * w[i*l+a]
			}
		}
	}
	sub := func(x []float64, i int) []float64 {
		if x == nil {
			return nil
		}
		return x[i*l : (i+1)*l]
	}
	column(&p.t, tb)
	for i := range p.y {
		column(&p.y[i], sub(yb, i))
	}
	for i := range p.e.P {
		column(&p.e.P[i], sub(pb, i))
	}
	for i := range p.e.D {
		column(&p.e.D[i], sub(db, i))
	}
}

func (h *Hybrid) field(p *point, out []C) { h.Field(p.t, p.y, &p.e, out) }

func (h *Hybrid) body(f solvers.Firing) func(p *point, out []C) {
	return func(p *point, out []C) {
		yp, dp := out[:h.N], out[h.N:]
		copy(yp, p.y)
		copy(dp, p.e.D)
		if b := h.Bodies[f.Event].Body; b != nil {
			b(f.Elem, p.t, p.y, &p.e, yp, dp)
		}
	}
}

func (h *Hybrid) guard(i int) func(p *point, out []C) {
	return func(p *point, out []C) { out[0] = h.Conditions[i].Rho(p.t, p.y, &p.e) }
}

func (h *Hybrid) instant(i int) func(p *point, out []C) {
	return func(p *point, out []C) { out[0] = h.Times[i].At(&p.e) }
}

func (h *Hybrid) start(p *point, out []C) { h.Init(p.t, &p.e, out[:h.N], out[h.N:]) }

// Lanes implements solvers.TangentField and solvers.CotangentField.
func (h *Hybrid) Lanes() int { return h.lanes }

// SetTangent implements solvers.TangentSystem.
func (h *Hybrid) SetTangent(pd []float64) { copy(h.pd, pd) }

// EnterPush implements solvers.TangentSystem.
func (h *Hybrid) EnterPush(dd []float64) { copy(h.dd, dd) }

// Push implements solvers.TangentField.
func (h *Hybrid) Push(t float64, y, td, yd, kd []float64) {
	h.push(h.at(t, y, h.d), h.field, td, yd, h.dd, kd)
}

// StartPush implements solvers.TangentSystem.
func (h *Hybrid) StartPush(t0 float64, td, yd, dd []float64) {
	out := make([]float64, len(yd)+len(dd))
	p := h.at(t0, nil, make([]float64, h.D))
	h.push(p, h.start, td, nil, make([]float64, len(dd)), out)
	copy(yd, out)
	copy(dd, out[len(yd):])
}

// GuardPush implements solvers.TangentSystem.
func (h *Hybrid) GuardPush(i int, t float64, y, td, yd, rd []float64) {
	h.push(h.at(t, y, h.d), h.guard(i), td, yd, h.dd, rd)
}

// AffectPush implements solvers.TangentSystem.
func (h *Hybrid) AffectPush(f solvers.Firing, t float64, ym, dm, td, ymd, dmd, ypd, dpd []float64) {
	out := make([]float64, len(ypd)+len(dpd))
	h.push(h.at(t, ym, dm), h.body(f), td, ymd, dmd, out)
	copy(ypd, out)
	copy(dpd, out[len(ypd):])
}

// InstantPush implements solvers.TangentSystem.
func (h *Hybrid) InstantPush(i int, td []float64) {
	h.push(h.at(0, nil, h.d), h.instant(i), nil, nil, h.dd, td)
}

// Begin implements solvers.CotangentSystem.
func (h *Hybrid) Begin(rows [][]float64) {
	h.rows = rows
	clear(h.pb)
	clear(h.db)
}

// Leave implements solvers.CotangentSystem.
func (h *Hybrid) Leave(db []float64) {
	for i, x := range h.db {
		db[i] += x
	}
	clear(h.db)
}

// Pull implements solvers.CotangentField.
func (h *Hybrid) Pull(t float64, y, kb, yb, tb []float64) {
	clear(yb)
	clear(tb)
	h.pull(h.at(t, y, h.d), h.field, kb, tb, yb, h.pb, h.db)
}

// GuardPull implements solvers.CotangentSystem.
func (h *Hybrid) GuardPull(i int, t float64, y, w, yb, tb []float64) {
	h.pull(h.at(t, y, h.d), h.guard(i), w, tb, yb, h.pb, h.db)
}

// AffectPull implements solvers.CotangentSystem.
func (h *Hybrid) AffectPull(f solvers.Firing, t float64, ym, dm, ypb, dpb, ymb, dmb, tb []float64) {
	clear(ymb)
	clear(dmb)
	w := append(append([]float64(nil), ypb...), dpb...)
	h.pull(h.at(t, ym, dm), h.body(f), w, tb, ymb, h.pb, dmb)
}

// InstantPull implements solvers.CotangentSystem.
func (h *Hybrid) InstantPull(i int, w []float64) {
	h.pull(h.at(0, nil, h.d), h.instant(i), w, nil, nil, h.pb, h.db)
}

// StartPull implements solvers.CotangentSystem.
func (h *Hybrid) StartPull(t0 float64, yb, db, tb []float64) {
	w := append(append([]float64(nil), yb...), db...)
	h.pull(h.at(t0, nil, make([]float64, h.D)), h.start, w, tb, nil, h.pb, nil)
}

// Finish implements solvers.CotangentSystem.
func (h *Hybrid) Finish() {
	l := len(h.rows)
	for j, row := range h.rows {
		for i := range row {
			row[i] = h.pb[i*l+j]
		}
	}
}

// Complex is a Hybrid in complex arithmetic.
type Complex struct{ h *Hybrid }

// Complex returns the system in complex arithmetic, with work space of its own.
func (h *Hybrid) Complex() *Complex { return &Complex{h.With(1)} }

// Size implements solvers.ComplexSystem.
func (c *Complex) Size() solvers.Size { return c.h.Size() }

// SetParameters implements solvers.ComplexSystem.
func (c *Complex) SetParameters(p []C) { copy(c.h.env.P, p) }

// Start implements solvers.ComplexSystem.
func (c *Complex) Start(t0 C, y, d []C) { c.h.Init(t0, &c.h.env, y, d) }

// Enter implements solvers.ComplexSystem.
func (c *Complex) Enter(d []C, m []float64) {
	copy(c.h.env.D, d)
	copy(c.h.env.M, m)
}

// Eval implements solvers.ComplexSystem.
func (c *Complex) Eval(t C, y, k []C) { c.h.Field(t, y, &c.h.env, k) }

// Guard implements solvers.ComplexSystem.
func (c *Complex) Guard(i int, t C, y []C) C { return c.h.Conditions[i].Rho(t, y, &c.h.env) }

// Instant implements solvers.ComplexSystem.
func (c *Complex) Instant(i int) C { return c.h.Times[i].At(&c.h.env) }

// Affect implements solvers.ComplexSystem.
func (c *Complex) Affect(f solvers.Firing, t C, ym, dm, yp, dp []C) {
	copy(yp, ym)
	copy(dp, dm)
	e := Env{P: c.h.env.P, D: dm, M: c.h.env.M}
	if b := c.h.Bodies[f.Event].Body; b != nil {
		b(f.Elem, t, ym, &e, yp, dp)
	}
}
