package solvertest

import (
	"math"
	"math/cmplx"
	"sync"

	"odes.dev/odes/solvers/matrices"
)

// The derivatives of a field are integrals of Cauchy over circles of this radius, by the trapezoidal rule at so many
// points: exact to rounding for polynomials of degrees below that, and to the radius to that power for functions that
// are analytic twice as far.
const (
	radius = 0.25
	points = 16
)

// circle holds the points of the unit circle.
var circle = func() (z [points]C) {
	for k := range z {
		z[k] = cmplx.Rect(1, 2*math.Pi*float64(k)/points)
	}
	return z
}()

// jacobians has the places of entries by the numbers of states and quadratures: [2]int → *matrices.Jacobian.
var jacobians sync.Map

// Jacobian implements matrices.JacobianField: there is an entry at every place.
func (h *Hybrid) Jacobian() *matrices.Jacobian {
	if h.places != nil {
		return h.places
	}
	key := [2]int{h.N, h.Q}
	j := &matrices.Jacobian{}
	for row := range h.N + h.Q {
		for col := range h.N + 1 {
			j.Rows, j.Cols = append(j.Rows, int32(row)), append(j.Cols, int32(col))
		}
	}
	kept, _ := jacobians.LoadOrStore(key, j)
	h.places = kept.(*matrices.Jacobian)
	return h.places
}

// along writes the derivative of f along d, which moves a point to z times a direction, to out.
func along(f func(out []C), move func(z C), out []C) {
	work := make([]C, len(out))
	clear(out)
	for _, z := range circle {
		move(radius * z)
		clear(work)
		f(work)
		back := cmplx.Conj(z) // 1/z, and products take a fraction of the time of quotients
		for i, v := range work {
			out[i] += v * back
		}
	}
	move(0)
	for i, v := range out {
		out[i] = complex(real(v)/(points*radius), imag(v)/(points*radius))
	}
}

// entries writes those of the Jacobian at p.
func (h *Hybrid) entries(p *point, out []C) {
	rows, cols := h.N+h.Q, h.N+1
	column := make([]C, rows)
	for c := range cols {
		x := &p.t
		if c < h.N {
			x = &p.y[c]
		}
		at := *x
		along(func(out []C) { h.field(p, out) }, func(z C) { *x = at + z }, column)
		for r, v := range column {
			out[r*cols+c] = v
		}
	}
}

// inputs calls do with everything that p holds.
func (p *point) inputs(do func(x *C, kind, i int)) {
	do(&p.t, 0, 0)
	for k, list := range [][]C{p.y, p.e.P, p.e.D} {
		for i := range list {
			do(&list[i], 1+k, i)
		}
	}
}

// moved writes the derivatives of the entries at p along a direction, which has an element for each of the inputs.
func (h *Hybrid) moved(p *point, direction []float64, out []C) {
	var at []C
	p.inputs(func(x *C, _, _ int) { at = append(at, *x) })
	along(func(out []C) { h.entries(p, out) }, func(z C) {
		n := 0
		p.inputs(func(x *C, _, _ int) {
			*x = at[n] + z*complex(direction[n], 0)
			n++
		})
	}, out)
}

// EvalJacobian implements matrices.JacobianField.
func (h *Hybrid) EvalJacobian(t float64, y, j []float64) {
	out := make([]C, len(j))
	h.entries(h.at(t, y, h.d), out)
	lower(j, out)
}

// PushJacobian implements matrices.TangentJacobianField.
func (h *Hybrid) PushJacobian(t float64, y, td, yd, jd []float64) {
	l := h.lanes
	p := h.at(t, y, h.d)
	out := make([]C, len(jd)/l)
	for a := range l {
		var direction []float64
		p.inputs(func(_ *C, kind, i int) {
			direction = append(direction, [][]float64{td, yd, h.pd, h.dd}[kind][i*l+a])
		})
		h.moved(p, direction, out)
		for e, v := range out {
			jd[e*l+a] = real(v)
		}
	}
}

// PullJacobian implements matrices.CotangentJacobianField.
func (h *Hybrid) PullJacobian(t float64, y, jb, yb, tb []float64) {
	l := h.lanes
	clear(yb)
	clear(tb)
	p := h.at(t, y, h.d)
	out := make([]C, len(jb)/l)
	n := 0
	p.inputs(func(_ *C, _, _ int) { n++ })
	direction := make([]float64, n)
	n = 0
	p.inputs(func(_ *C, kind, i int) {
		direction[n] = 1
		h.moved(p, direction, out)
		direction[n] = 0
		n++
		to := [][]float64{tb, yb, h.pb, h.db}[kind][i*l : (i+1)*l]
		for e, v := range out {
			for a := range to {
				to[a] += real(v) * jb[e*l+a]
			}
		}
	})
}

// Jacobian is that of the system in real arithmetic.
func (c *Complex) Jacobian() *matrices.Jacobian { return c.h.Jacobian() }

// EvalJacobian writes the entries at a point whose imaginary parts are tiny or zero: to first order in them. Those of a
// real point have no imaginary parts, not even of roundings, or a run that is moved by real numbers would leave the
// real axis.
func (c *Complex) EvalJacobian(t C, y, j []C) {
	h := c.h
	p := &point{t: t, y: append([]C(nil), y...)}
	p.e = Env{P: append([]C(nil), h.env.P...), D: append([]C(nil), h.env.D...), M: h.env.M}
	size := 0.0
	p.inputs(func(x *C, _, _ int) { size = max(size, math.Abs(imag(*x))) })
	var direction []float64
	p.inputs(func(x *C, _, _ int) {
		d := imag(*x)
		if size > 0 {
			d /= size
		}
		direction = append(direction, d)
		*x = complex(real(*x), 0)
	})
	h.entries(p, j)
	out := make([]C, len(j))
	if size > 0 {
		h.moved(p, direction, out)
	}
	for e, v := range out {
		j[e] = complex(real(j[e]), size*real(v))
	}
}
