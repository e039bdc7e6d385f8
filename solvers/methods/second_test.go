package methods

import (
	"math"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
)

// TestPullPush compares the tangents of a step's transpose, with a time inside the step read as well, with central
// differences of the transpose, extrapolated twice.
func TestPullPush(t *testing.T) {
	eachMethod(t, solvers.SecondOrder, func(t *testing.T, m *solvers.Spec, f *toy) {
		const l, theta = 2, 0.35
		z := f.size
		g := f.with(l)
		r, s := stepOf[solvers.SecondMethod](m, g, l)
		d := newTangent(z, l)
		td := make([]float64, l)
		c := &solvers.StepSecond{
			T1: solvers.NewDual(1, l), Y1: solvers.NewDual(z.N, l), DQ: solvers.NewDual(z.Q, l), T0: solvers.NewDual(1,
				l),
			H: solvers.NewDual(1, l), Y0: solvers.NewDual(z.N, l), WantH: true,
		}
		w, tb := solvers.NewDual(z.N, l), solvers.NewDual(1, l)
		for i, x := range [][]float64{
			d.T0, d.H, d.Y0, g.pd, td, c.T1.X, c.T1.D, c.Y1.X, c.Y1.D, c.DQ.X, c.DQ.D, w.X,
			w.D,
		} {
			solvertest.Noise(uint64(60+i), x)
		}
		r.InterpolatePullPush(g, s, d, theta, td, w, tb)
		r.PullPush(g, s, d, c)

		// transposed returns the transpose of the step moved by eps along lane a, in one lane.
		transposed := func(a int, eps float64) []float64 {
			at := func(x solvers.Dual) []float64 {
				v := make([]float64, len(x.X))
				for i := range v {
					v[i] = x.X[i] + eps*x.D[i*l+a]
				}
				return v
			}
			h := f.with(1)
			h.p = at(solvers.Dual{X: f.p, D: g.pd})
			q := m.New(z, 1).(solvers.Interpolant)
			x := solvers.NewStep(q.Info(), z)
			x.T, x.H = s.T+eps*d.T0[a], s.H+eps*d.H[a]
			x.T1 = x.T + x.H
			copy(x.Y0, at(solvers.Dual{X: s.Y0, D: d.Y0}))
			q.Step(h, x, false)
			b := newCotangent(z, 1)
			copy(b.T1, at(c.T1))
			copy(b.Y1, at(c.Y1))
			copy(b.DQ, at(c.DQ))
			read := make([]float64, 1)
			q.InterpolatePull(h, x, (s.T+theta*s.H+eps*td[a]-x.T)/x.H, at(w), read)
			q.Pull(h, x, b)
			out := append(append([]float64(nil), b.T0...), b.H...)
			return append(append(append(out, b.Y0...), h.pb...), read...)
		}
		values, tangents := []float64{}, [l][]float64{}
		for _, x := range []solvers.Dual{c.T0, c.H, c.Y0, g.pp, tb} {
			values = append(values, x.X...)
			for i, v := range x.D {
				tangents[i%l] = append(tangents[i%l], v)
			}
		}
		tol := 1e-9 * denseGrowthOf(t, m)
		for a := range l {
			central := func(eps float64) []float64 {
				u, v := transposed(a, eps), transposed(a, -eps)
				for i := range u {
					u[i] = (u[i] - v[i]) / (2 * eps)
				}
				return u
			}
			value, a4, a2, a1 := transposed(a, 0), central(4e-3), central(2e-3), central(1e-3)
			size := 1.0
			for _, v := range a1 {
				size = max(size, math.Abs(v))
			}
			for i, got := range tangents[a] {
				if !solvertest.Near(values[i], value[i], tol) {
					t.Errorf("element %d: %v, Pull gives %v", i, values[i], value[i])
				}
				want := (64*a1[i] - 20*a2[i] + a4[i]) / 45
				if !(math.Abs(got-want) <= tol*size) {
					t.Errorf("lane %d, element %d: tangent %v, differences give %v", a, i, got, want)
				}
			}
		}
	})
}
