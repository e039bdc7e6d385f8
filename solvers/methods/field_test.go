package methods

import (
	"sync"
	"testing"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/tableau"
)

// A toy is a right-hand side written by hand with everything a System's has:
// f and r nonlinear in y, dependent on t and on parameters, with exact tangents
// and transposes, also in complex arithmetic. Each registered method is tested on all toys.
type toy struct {
	size  solvers.Size
	p     []float64
	y0    []float64
	eval  func(p []float64, t float64, y, k []float64)
	ceval func(p []complex128, t complex128, y, k []complex128)
	// jac writes the partial derivatives of row i of (f, r) by (t, y…, p…).
	jac  func(p []float64, t float64, y []float64, j [][]float64)
	cjac func(p []complex128, t complex128, y []complex128, j [][]complex128)

	lanes int
	pd    []float64    // [P·L] tangents of the parameters
	pb    []float64    // [P·L] cotangents of the parameters
	pp    solvers.Dual // [P] cotangents of the parameters and their tangents, of PullPush
	j     [][]float64
	still bool // derivatives of the Jacobian are not computed, which allocates
	evals int
}

func (f *toy) with(lanes int) *toy {
	g := *f
	g.lanes = lanes
	g.pd = make([]float64, f.size.P*lanes)
	g.pb = make([]float64, f.size.P*lanes)
	g.pp = solvers.NewDual(f.size.P, lanes)
	g.j = make([][]float64, f.size.N+f.size.Q)
	for i := range g.j {
		g.j[i] = make([]float64, 1+f.size.N+f.size.P)
	}
	return &g
}

func (f *toy) Size() solvers.Size { return f.size }
func (f *toy) Lanes() int         { return f.lanes }

func (f *toy) Eval(t float64, y, k []float64) {
	f.evals++
	f.eval(f.p, t, y, k)
}

// Jacobian has an entry everywhere, and two where row and column are not both even or both odd: what implicit methods
// ask for.
func (f *toy) Jacobian() *matrices.Jacobian {
	if j, ok := toyJacobians.Load(f.size); ok {
		return j.(*matrices.Jacobian)
	}
	n := int32(f.size.N)
	j := &matrices.Jacobian{}
	for row := range n + int32(f.size.Q) {
		for col := range n + 1 {
			for range 1 + (row+col)%2 {
				j.Rows, j.Cols = append(j.Rows, row), append(j.Cols, col)
			}
		}
	}
	first, _ := toyJacobians.LoadOrStore(f.size, j)
	return first.(*matrices.Jacobian)
}

// toyJacobians has the places of entries by the size of toys: Size → *Jacobian.
var toyJacobians sync.Map

// share returns which part of its place entry e is: all, a quarter or three quarters.
func share(j *matrices.Jacobian, e int) float64 {
	switch {
	case (j.Rows[e]+j.Cols[e])%2 == 0:
		return 1
	case e > 0 && j.Rows[e] == j.Rows[e-1] && j.Cols[e] == j.Cols[e-1]:
		return 0.75
	}
	return 0.25
}

// column returns the column of what jac writes that an entry stands in: time comes first there.
func (f *toy) column(col int32) int { return (int(col) + 1) % (f.size.N + 1) }

func (f *toy) EvalJacobian(t float64, y, j []float64) {
	if f.j == nil {
		f.j = f.with(1).j
	}
	f.jac(f.p, t, y, f.j)
	places := f.Jacobian()
	for e, row := range places.Rows {
		j[e] = share(places, e) * f.j[row][f.column(places.Cols[e])]
	}
}

// complexJacobian returns the partial derivatives at a complex point.
func (f *toy) complexJacobian(p []complex128, t complex128, y []complex128) [][]complex128 {
	j := make([][]complex128, f.size.N+f.size.Q)
	for i := range j {
		j[i] = make([]complex128, 1+f.size.N+f.size.P)
	}
	f.cjac(p, t, y, j)
	return j
}

func lift(x []float64) []complex128 {
	z := make([]complex128, len(x))
	for i, v := range x {
		z[i] = complex(v, 0)
	}
	return z
}

// moveJacobian returns the derivatives of the entries along (td, yd, pd), by a complex step.
func (f *toy) moveJacobian(p []float64, t float64, y []float64, td float64, yd, pd []float64) []float64 {
	const tiny = 1e-40
	zp, zy := lift(p), lift(y)
	for i, v := range pd {
		zp[i] += complex(0, tiny*v)
	}
	for i, v := range yd {
		zy[i] += complex(0, tiny*v)
	}
	j := f.complexJacobian(zp, complex(t, tiny*td), zy)
	places := f.Jacobian()
	out := make([]float64, len(places.Rows))
	for e, row := range places.Rows {
		out[e] = share(places, e) * imag(j[row][f.column(places.Cols[e])]) / tiny
	}
	return out
}

func (f *toy) PushJacobian(t float64, y, td, yd, jd []float64) {
	l := f.lanes
	if l == 0 || f.still {
		return
	}
	lane := func(x []float64, a int) []float64 {
		var out []float64
		for i := a; i < len(x); i += l {
			out = append(out, x[i])
		}
		return out
	}
	for a := range l {
		for e, v := range f.moveJacobian(f.p, t, y, td[a], lane(yd, a), lane(f.pd, a)) {
			jd[e*l+a] = v
		}
	}
}

// eachInput calls do with unit directions of time, states and parameters.
func (f *toy) eachInput(do func(i int, td float64, yd, pd []float64)) {
	n, p := f.size.N, f.size.P
	for i := range 1 + n + p {
		yd, pd := make([]float64, n), make([]float64, p)
		td := 0.0
		switch {
		case i == 0:
			td = 1
		case i <= n:
			yd[i-1] = 1
		default:
			pd[i-1-n] = 1
		}
		do(i, td, yd, pd)
	}
}

func (f *toy) PullJacobian(t float64, y, jb, yb, tb []float64) {
	n, l := f.size.N, f.lanes
	if f.still {
		return
	}
	f.eachInput(func(i int, td float64, yd, pd []float64) {
		out := tb
		switch {
		case i > n:
			out = f.pb[(i-1-n)*l : (i-n)*l]
		case i > 0:
			out = yb[(i-1)*l : i*l]
		}
		if i <= n {
			clear(out)
		}
		for e, v := range f.moveJacobian(f.p, t, y, td, yd, pd) {
			for a := range l {
				out[a] += v * jb[e*l+a]
			}
		}
	})
}

// PullPushJacobian differentiates the derivatives of entries by differences, which are exact for toys: their entries
// are polynomials of degrees up to four.
func (f *toy) PullPushJacobian(t, y, jb, yb, tb solvers.Dual) {
	const eps = 0.125
	n, l := f.size.N, f.lanes
	at := func(x solvers.Dual, a int, move float64) []float64 {
		v := append([]float64(nil), x.X...)
		for i := range v {
			v[i] += move * x.D[i*l+a]
		}
		return v
	}
	f.eachInput(func(i int, td float64, yd, pd []float64) {
		to, at0 := tb, 0
		switch {
		case i > n:
			to, at0 = f.pp, i-1-n
		case i > 0:
			to, at0 = yb, i-1
		}
		if i <= n {
			to.X[at0] = 0
			clear(to.D[at0*l : (at0+1)*l])
		}
		for e, v := range f.moveJacobian(f.p, t.X[0], y.X, td, yd, pd) {
			to.X[at0] += v * jb.X[e]
			for a := range l {
				to.D[at0*l+a] += v * jb.D[e*l+a]
			}
		}
		for a := range l {
			for _, c := range []struct{ move, weight float64 }{{1, 8}, {-1, -8}, {2, -1}, {-2, 1}} {
				m := c.move * eps
				moved := f.moveJacobian(at(solvers.Dual{X: f.p, D: f.pd}, a, m), at(t, a, m)[0], at(y, a, m), td, yd,
					pd)
				for e, v := range moved {
					to.D[at0*l+a] += c.weight / (12 * eps) * v * jb.X[e]
				}
			}
		}
	})
}

func (f *toy) Push(t float64, y, td, yd, kd []float64) {
	f.jac(f.p, t, y, f.j)
	n, l := f.size.N, f.lanes
	for i, row := range f.j {
		for a := range l {
			v := row[0] * td[a]
			for j := range n {
				v += row[1+j] * yd[j*l+a]
			}
			for j := range f.size.P {
				v += row[1+n+j] * f.pd[j*l+a]
			}
			kd[i*l+a] = v
		}
	}
}

func (f *toy) Pull(t float64, y, kb, yb, tb []float64) {
	f.jac(f.p, t, y, f.j)
	n, l := f.size.N, f.lanes
	for a := range l {
		tb[a] = 0
		for i := range n {
			yb[i*l+a] = 0
		}
		for i, row := range f.j {
			w := kb[i*l+a]
			tb[a] += w * row[0]
			for j := range n {
				yb[j*l+a] += w * row[1+j]
			}
			for j := range f.size.P {
				f.pb[j*l+a] += w * row[1+n+j]
			}
		}
	}
}

// PullPush differentiates Pull by a complex step in each lane.
func (f *toy) PullPush(t, y, kb, yb, tb solvers.Dual) {
	const tiny = 1e-40
	n, l, rows := f.size.N, f.lanes, f.size.N+f.size.Q
	j := make([][]complex128, rows)
	for i := range j {
		j[i] = make([]complex128, 1+n+f.size.P)
	}
	move := func(x solvers.Dual, a int) []complex128 {
		z := make([]complex128, len(x.X))
		for i, v := range x.X {
			z[i] = complex(v, tiny*x.D[i*l+a])
		}
		return z
	}
	for a := range l {
		f.cjac(move(solvers.Dual{X: f.p, D: f.pd}, a), move(t, a)[0], move(y, a), j)
		k := move(kb, a)
		put := func(to solvers.Dual, i, col int, add bool) {
			v := complex(0, 0)
			for r := range rows {
				v += j[r][col] * k[r]
			}
			if !add {
				to.X[i], to.D[i*l+a] = 0, 0
			}
			if !add || a == 0 {
				to.X[i] += real(v)
			}
			to.D[i*l+a] += imag(v) / tiny
		}
		put(tb, 0, 0, false)
		for i := range n {
			put(yb, i, 1+i, false)
		}
		for i := range f.size.P {
			put(f.pp, i, 1+n+i, true)
		}
	}
}

type number interface{ ~float64 | ~complex128 }

func lotkaVolterra[T number](p []T, _ T, y, k []T) {
	k[0] = p[0]*y[0] - p[1]*y[0]*y[1]
	k[1] = -p[2]*y[1] + p[3]*y[0]*y[1]
	k[2] = y[0]
}

// forced is a pendulum-like field with explicit time everywhere and two quadratures.
func forced[T number](p []T, t T, y, k []T) {
	k[0] = y[1] + p[0]*t*y[0]*y[2]
	k[1] = -p[1]*y[0]*y[0]*y[0] + p[2]*t*t - y[1]*y[2]
	k[2] = p[0]*y[0]*y[1] - p[3]*y[2] + t
	k[3] = t*y[0]*y[1] + p[3]*p[3]*y[2]
	k[4] = p[1]*y[2]*y[2] - t*t*t
}

func lotkaVolterraJac[T number](p []T, _ T, y []T, j [][]T) {
	u, v := y[0], y[1]
	copy(j[0], []T{0, p[0] - p[1]*v, -p[1] * u, u, -u * v, 0, 0})
	copy(j[1], []T{0, p[3] * v, -p[2] + p[3]*u, 0, 0, -v, u * v})
	copy(j[2], []T{0, 1, 0, 0, 0, 0, 0})
}

func forcedJac[T number](p []T, t T, y []T, j [][]T) {
	a, b, c := y[0], y[1], y[2]
	copy(j[0], []T{p[0] * a * c, p[0] * t * c, 1, p[0] * t * a, t * a * c, 0, 0, 0})
	copy(j[1], []T{2 * p[2] * t, -3 * p[1] * a * a, -c, -b, 0, -a * a * a, t * t, 0})
	copy(j[2], []T{1, p[0] * b, p[0] * a, -p[3], a * b, 0, 0, -c})
	copy(j[3], []T{a * b, t * b, t * a, p[3] * p[3], 0, 0, 0, 2 * p[3] * c})
	copy(j[4], []T{-3 * t * t, 0, 0, 2 * p[1] * c, 0, c * c, 0, 0})
}

var toys = map[string]*toy{
	"lotka-volterra": {
		size: solvers.Size{N: 2, Q: 1, P: 4},
		p:    []float64{1.1, 0.4, 0.4, 0.1}, y0: []float64{10, 5},
		eval: lotkaVolterra[float64], ceval: lotkaVolterra[complex128],
		jac: lotkaVolterraJac[float64], cjac: lotkaVolterraJac[complex128],
	},
	"forced": {
		size: solvers.Size{N: 3, Q: 2, P: 4},
		p:    []float64{0.3, 1.2, -0.7, 0.5}, y0: []float64{0.8, -0.4, 1.1},
		eval: forced[float64], ceval: forced[complex128],
		jac: forcedJac[float64], cjac: forcedJac[complex128],
	},
}

// complexStepOf returns a function that takes a step of m in complex arithmetic: the imaginary part of the result, over
// that of the input, is the derivative to rounding. That of a table comes straight from its formulas.
func complexStepOf(t *testing.T, m *solvers.Spec) func(f *toy, p []complex128, t, h complex128, y0 []complex128) (y1,
	dq []complex128) {
	if tab := tableOf(m); tab != nil {
		x := exact(t, tab)
		return func(f *toy, p []complex128, t, h complex128, y0 []complex128) (y1, dq []complex128) {
			return complexStep(x, f, p, t, h, y0)
		}
	}
	if !m.Can.Has(solvers.ComplexSteps) {
		t.Skip("no steps in complex arithmetic")
	}
	return func(f *toy, p []complex128, t, h complex128, y0 []complex128) (y1, dq []complex128) {
		s := solvers.NewComplexStep(m.Info(), f.size)
		s.T, s.H, s.T1 = t, h, t+h
		copy(s.Y0, y0)
		m.New(f.size, 0).(solvers.ComplexMethod).StepComplex(complexToy{f, p}, s)
		return s.Y1, s.DQ
	}
}

// complexStep is the step of a table.
func complexStep(x *tableau.Coefficients, f *toy, p []complex128, t, h complex128, y0 []complex128) (y1,
	dq []complex128,
) {
	n, w := f.size.N, f.size.N+f.size.Q
	k := make([][]complex128, len(x.B))
	out := make([]complex128, w)
	copy(out, y0)
	for i := range x.B {
		y := append([]complex128(nil), y0...)
		for j, a := range x.A[i] {
			for m := range y {
				y[m] += h * complex(tableau.Round(a), 0) * k[j][m]
			}
		}
		k[i] = make([]complex128, w)
		f.ceval(p, t+h*complex(tableau.Round(x.C[i]), 0), y, k[i])
	}
	for i, b := range x.B {
		for m := range out {
			out[m] += h * complex(tableau.Round(b), 0) * k[i][m]
		}
	}
	return out[:n], out[n:]
}
