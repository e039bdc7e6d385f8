package methods

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
)

func newTangent(z solvers.Size, l int) *solvers.StepTangent {
	return &solvers.StepTangent{
		T0: make([]float64, l), H: make([]float64, l), Y0: make([]float64, z.N*l),
		T1: make([]float64, l), Y1: make([]float64, z.N*l), DQ: make([]float64, z.Q*l),
	}
}

func newCotangent(z solvers.Size, l int) *solvers.StepCotangent {
	return &solvers.StepCotangent{
		T1: make([]float64, l), Y1: make([]float64, z.N*l), DQ: make([]float64, z.Q*l),
		T0: make([]float64, l), H: make([]float64, l), Y0: make([]float64, z.N*l),
		WantH: true,
	}
}

// TestPushComplexStep compares Push, in every direction (t, h, y, p) at once
// as lanes, with the complex step.
func TestPushComplexStep(t *testing.T) {
	eachMethod(t, 0, func(t *testing.T, m *solvers.Spec, f *toy) {
		z := f.size
		lanes := 2 + z.N + z.P
		g := f.with(lanes)
		r, s := stepOf[solvers.Method](m, g, lanes)
		d := newTangent(z, lanes)
		d.T0[0], d.H[1] = 1, 1
		for i := range z.N {
			d.Y0[i*lanes+2+i] = 1
		}
		for i := range z.P {
			g.pd[i*lanes+2+z.N+i] = 1
		}
		r.Push(g, s, d)
		const tiny = 1e-40
		complexStep := complexStepOf(t, m)
		tol := 2e-14 * growthOf(t, m)
		for a := range lanes {
			t0, h := complex(s.T, 0), complex(s.H, 0)
			y0, p := make([]complex128, z.N), make([]complex128, z.P)
			for i := range y0 {
				y0[i] = complex(s.Y0[i], 0)
			}
			for i := range p {
				p[i] = complex(f.p[i], 0)
			}
			switch {
			case a == 0:
				t0 += complex(0, tiny)
			case a == 1:
				h += complex(0, tiny)
			case a < 2+z.N:
				y0[a-2] += complex(0, tiny)
			default:
				p[a-2-z.N] += complex(0, tiny)
			}
			y1, dq := complexStep(f, p, t0, h, y0)
			for i, v := range y1 {
				if !solvertest.Near(s.Y1[i], real(v), tol) {
					t.Errorf("y1[%d] = %v, want %v", i, s.Y1[i], real(v))
				}
				if got, want := d.Y1[i*lanes+a], imag(v)/tiny; !solvertest.Near(got, want, tol) {
					t.Errorf("direction %d: ẏ1[%d] = %v, want %v", a, i, got, want)
				}
			}
			for i, v := range dq {
				if !solvertest.Near(s.DQ[i], real(v), tol) {
					t.Errorf("dq[%d] = %v, want %v", i, s.DQ[i], real(v))
				}
				if got, want := d.DQ[i*lanes+a], imag(v)/tiny; !solvertest.Near(got, want, tol) {
					t.Errorf("direction %d: dq̇[%d] = %v, want %v", a, i, got, want)
				}
			}
		}
	})
}

// complexToy is a toy in complex arithmetic.
type complexToy struct {
	*toy
	p []complex128
}

func (f complexToy) Eval(t complex128, y, k []complex128) { f.ceval(f.p, t, y, k) }

func (f complexToy) EvalJacobian(t complex128, y, j []complex128) {
	all, places := f.complexJacobian(f.p, t, y), f.Jacobian()
	for e, row := range places.Rows {
		j[e] = complex(share(places, e), 0) * all[row][f.column(places.Cols[e])]
	}
}

// TestStepComplex requires the real parts to be near the real step's, and the
// imaginary parts, of step and dense output, to be the tangents of Push.
func TestStepComplex(t *testing.T) {
	eachMethod(t, solvers.ComplexSteps|solvers.DenseDerivatives, func(t *testing.T, m *solvers.Spec, f *toy) {
		const tiny, theta, td = 1e-100, 0.6, 0.7
		z := f.size
		g := f.with(1)
		r, s := stepOf[interface {
			solvers.ComplexMethod
			solvers.Interpolant
		}](m, g, 1)
		d := newTangent(z, 1)
		for i, x := range [][]float64{d.T0, d.H, d.Y0, g.pd} {
			solvertest.Noise(uint64(50+i), x)
		}
		r.Push(g, s, d)
		yd, y := make([]float64, z.N), make([]float64, z.N)
		r.InterpolatePush(g, s, d, theta, []float64{td}, yd)
		r.Interpolate(g, s, theta, y)

		c := solvers.NewComplexStep(r.Info(), z)
		c.T, c.H = complex(s.T, tiny*d.T0[0]), complex(s.H, tiny*d.H[0])
		c.T1 = complex(s.T1, tiny*(d.T0[0]+d.H[0]))
		p := make([]complex128, z.P)
		for i := range p {
			p[i] = complex(f.p[i], tiny*g.pd[i])
		}
		for i := range c.Y0 {
			c.Y0[i] = complex(s.Y0[i], tiny*d.Y0[i])
		}
		r.StepComplex(complexToy{f, p}, c)
		cy := make([]complex128, z.N)
		moved := tiny * (td - d.T0[0] - theta*d.H[0]) / s.H
		r.InterpolateComplex(complexToy{f, p}, c, complex(theta, moved), cy)
		tol := 2e-14 * denseGrowthOf(t, m)
		check := func(what string, got complex128, value, tangent float64) {
			if !solvertest.Near(real(got), value, tol) || !solvertest.Near(imag(got)/tiny, tangent, tol) {
				t.Errorf("%s = %v, want %v and %v", what, got, value, tangent)
			}
		}
		for i := range c.Y1 {
			check("y1", c.Y1[i], s.Y1[i], d.Y1[i])
			check("y", cy[i], y[i], yd[i])
		}
		for i := range c.DQ {
			check("dq", c.DQ[i], s.DQ[i], d.DQ[i])
		}
	})
}

func dot(a, b []float64, l, lane int) float64 {
	v := 0.0
	for i := lane; i < len(a); i += l {
		v += a[i] * b[i]
	}
	return v
}

func sumAbs(a, b []float64, l, lane int) float64 {
	v := 0.0
	for i := lane; i < len(a); i += l {
		v += math.Abs(a[i] * b[i])
	}
	return v
}

// TestTranspose checks ⟨w, J v⟩ = ⟨Jᵀ w, v⟩ over time, step size, states and
// parameters, in every lane.
func TestTranspose(t *testing.T) {
	eachMethod(t, 0, func(t *testing.T, m *solvers.Spec, f *toy) {
		tol := 1e-13 * max(1, growthOf(t, m)/25)
		for _, l := range []int{1, 3, 8} {
			g := f.with(l)
			r, s := stepOf[solvers.Method](m, g, l)
			d, c := newTangent(f.size, l), newCotangent(f.size, l)
			for i, x := range [][]float64{d.T0, d.H, d.Y0, g.pd, c.T1, c.Y1, c.DQ} {
				solvertest.Noise(uint64(7+i), x)
			}
			r.Push(g, s, d)
			r.Pull(g, s, c)
			for a := range l {
				left := dot(c.T1, d.T1, l, a) + dot(c.Y1, d.Y1, l, a) + dot(c.DQ, d.DQ, l, a)
				size := sumAbs(c.T1, d.T1, l, a) + sumAbs(c.Y1, d.Y1, l, a) + sumAbs(c.DQ, d.DQ, l, a)
				right := dot(c.T0, d.T0, l, a) + dot(c.H, d.H, l, a) + dot(c.Y0, d.Y0, l, a) + dot(g.pb, g.pd, l, a)
				if math.Abs(left-right) > tol*(1+size) {
					t.Errorf("%d lanes, lane %d: ⟨w, Jv⟩ = %v, ⟨Jᵀw, v⟩ = %v", l, a, left, right)
				}
			}
		}
	})
}

// TestPullNotAsked requires that the cotangent of the step size stays as it is where it is not asked for, and that all
// others are the same.
func TestPullNotAsked(t *testing.T) {
	eachMethod(t, 0, func(t *testing.T, m *solvers.Spec, f *toy) {
		const l = 2
		g, z := f.with(l), f.size
		method, s := stepOf[solvers.Method](m, g, l)
		a, b := newCotangent(z, l), newCotangent(z, l)
		for _, c := range []*solvers.StepCotangent{a, b} {
			for i := range c.Y1 {
				c.Y1[i] = float64(1 + i)
			}
			for i := range c.H {
				c.H[i] = 7
			}
		}
		a.WantH, b.WantH = true, false
		method.Pull(g, s, a)
		method.Pull(g, s, b)
		for i, h := range b.H {
			if h != 7 || a.H[i] == 7 {
				t.Errorf("h: %v where it is not asked for, %v where it is", h, a.H[i])
			}
		}
		for i := range a.Y0 {
			if math.Abs(a.Y0[i]-b.Y0[i]) > 1e-12*(1+math.Abs(a.Y0[i])) {
				t.Errorf("y0: %v, and %v with h", b.Y0, a.Y0)
			}
		}
	})
}

// TestPullRows: with the rows of quadratures that have cotangents given, a step has the cotangents that it has without,
// in whatever order such rows come. Explicit methods read no others.
func TestPullRows(t *testing.T) {
	eachMethod(t, 0, func(t *testing.T, m *solvers.Spec, f *toy) {
		const l = 2
		z := f.size
		g := f.with(l)
		method, s := stepOf[solvers.Method](m, g, l)
		_, explicit := method.(solvers.Arithmetical)
		both := []int{0, z.Q - 1}
		for _, rows := range [][]int{{z.Q - 1}, {0}, {}, both[:z.Q], {0}} {
			for _, want := range []bool{false, true} {
				a := newCotangent(z, l)
				solvertest.Noise(3, a.Y1)
				for _, i := range rows {
					solvertest.Noise(uint64(20+i), a.DQ[i*l:(i+1)*l])
				}
				a.WantH = want
				b := *a
				b.T0, b.H, b.Y0 = make([]float64, l), make([]float64, l), make([]float64, z.N*l)
				clear(g.pb)
				method.Pull(g, s, a)
				pb := slices.Clone(g.pb)
				b.Rows, b.DQ = rows, slices.Clone(a.DQ)
				for i := range z.Q {
					if explicit && !slices.Contains(rows, i) {
						b.DQ[i*l] = math.NaN()
					}
				}
				clear(g.pb)
				method.Pull(g, s, &b)
				if !slices.Equal(a.T0, b.T0) || !slices.Equal(a.H, b.H) || !slices.Equal(a.Y0, b.Y0) ||
					!slices.Equal(pb, g.pb) {
					t.Errorf("rows %v, h %t: cotangents differ", rows, want)
				}
			}
		}
	})
}

// TestLanesSameBits requires of every lane the bits that it has alone, with
// and without the cotangent of the step size.
func TestLanesSameBits(t *testing.T) {
	eachMethod(t, 0, func(t *testing.T, m *solvers.Spec, f *toy) {
		const l = 8
		z := f.size
		g := f.with(l)
		r, s := stepOf[solvers.Method](m, g, l)
		d, c := newTangent(z, l), newCotangent(z, l)
		for i, x := range [][]float64{d.T0, d.H, d.Y0, g.pd, c.T1, c.Y1, c.DQ} {
			solvertest.Noise(uint64(7+i), x)
		}
		d.H[3] = 0
		r.Push(g, s, d)
		r.Pull(g, s, c)
		lane := func(x []float64, a int) []float64 {
			var y []float64
			for i := a; i < len(x); i += l {
				y = append(y, x[i])
			}
			return y
		}
		for a := range l {
			g1 := f.with(1)
			r1 := m.New(z, 1)
			d1, c1 := newTangent(z, 1), newCotangent(z, 1)
			d1.T0, d1.H, d1.Y0, g1.pd = lane(d.T0, a), lane(d.H, a), lane(d.Y0, a), lane(g.pd, a)
			c1.T1, c1.Y1, c1.DQ = lane(c.T1, a), lane(c.Y1, a), lane(c.DQ, a)
			r1.Push(g1, s, d1)
			c1.WantH = false
			r1.Pull(g1, s, c1)
			solvertest.Same(t, "Y1", lane(d.Y1, a), d1.Y1)
			solvertest.Same(t, "DQ", lane(d.DQ, a), d1.DQ)
			solvertest.Same(t, "Y0", lane(c.Y0, a), c1.Y0)
			solvertest.Same(t, "T0", lane(c.T0, a), c1.T0)
			solvertest.Same(t, "P", lane(g.pb, a), g1.pb)
		}
	})
}

func TestNoAllocations(t *testing.T) {
	eachMethod(t, 0, func(t *testing.T, m *solvers.Spec, f *toy) {
		const l = 2
		g := f.with(l)
		g.jac, g.still = func(_ []float64, _ float64, _ []float64, _ [][]float64) {}, true
		r, s := stepOf[solvers.Method](m, g, l)
		d, c := newTangent(f.size, l), newCotangent(f.size, l)
		solvertest.Noise(1, d.H)
		e := make([]float64, f.size.N+f.size.Q)
		y := make([]float64, f.size.N)
		step := func() {
			r.Step(g, s, false)
			r.Error(s, e)
			r.Interpolate(g, s, 0.4, y)
			r.Push(g, s, d)
			r.Pull(g, s, c)
		}
		for range 20 { // linear equations get machine code after some solutions
			step()
		}
		if got := testing.AllocsPerRun(10, step); got != 0 {
			t.Errorf("%v allocations a step", got)
		}
	})
}

type discrete struct {
	Step       float64
	Steps      int
	Parameters map[string]float64
	Methods    map[string]struct {
		State     map[string]float64
		D         map[string]map[string]float64
		Objective float64
		Gradient  map[string]float64
	}
}

// TestExactDiscreteDerivatives replays the fixed steps of the reference and
// compares the states, Push in the six directions, and Pull of the objective.
func TestExactDiscreteDerivatives(t *testing.T) {
	text, err := os.ReadFile("testdata/discrete_lotka_volterra.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref discrete
	if err := json.Unmarshal(text, &ref); err != nil {
		t.Fatal(err)
	}
	if len(ref.Methods) != 13 {
		t.Fatalf("%d methods in the reference", len(ref.Methods))
	}
	params := []string{"a", "b", "c", "d", "x0", "y0"}
	for name, want := range ref.Methods {
		t.Run(name, func(t *testing.T) {
			m := lookup(t, name)
			const l = 6
			f := toys["lotka-volterra"].with(l)
			r := m.New(f.size, l)
			d := newTangent(f.size, l)
			for i := range 4 {
				f.pd[i*l+i] = 1
			}
			d.Y0[4], d.Y0[l+5] = 1, 1
			y := []float64{ref.Parameters["x0"], ref.Parameters["y0"]}
			q, qd := 0.0, make([]float64, l)
			var steps []*solvers.Step
			for i := range ref.Steps {
				s := solvers.NewStep(r.Info(), f.size)
				s.T, s.H, s.T1 = float64(i)*ref.Step, ref.Step, float64(i+1)*ref.Step
				copy(s.Y0, y)
				r.Step(f, s, false)
				r.Push(f, s, d)
				copy(d.Y0, d.Y1)
				for j := range qd {
					qd[j] += d.DQ[j]
				}
				copy(y, s.Y1)
				q += s.DQ[0]
				steps = append(steps, s)
			}
			check := func(what string, got, want float64) {
				if !solvertest.Near(got, want, 1e-13) {
					t.Errorf("%s = %v, want %v", what, got, want)
				}
			}
			for i, n := range []string{"x", "y", "q"} {
				check(n, []float64{y[0], y[1], q}[i], want.State[n])
				for j, p := range params {
					check("d"+n+"/d"+p, [][]float64{d.Y1[:l], d.Y1[l:], qd}[i][j], want.D[n][p])
				}
			}
			// Backwards: one lane.
			g := f.with(1)
			r = m.New(f.size, 1)
			c := newCotangent(f.size, 1)
			c.WantH = false
			c.Y1[0], c.Y1[1], c.DQ[0] = y[0]-1, y[1]-1, 1
			for i := len(steps) - 1; i >= 0; i-- {
				r.Pull(g, steps[i], c)
				copy(c.Y1, c.Y0)
			}
			for j, p := range params {
				check("gradient "+p, append(append([]float64(nil), g.pb...), c.Y0...)[j], want.Gradient[p])
			}
		})
	}
}

// TestPushError compares the estimated errors of tangents with differences of the estimated errors of states, which
// they are the derivatives of, where the estimate is one combination of the stages.
func TestPushError(t *testing.T) {
	eachMethod(t, solvers.TangentErrors, func(t *testing.T, m *solvers.Spec, f *toy) {
		if tab := tableOf(m); tab != nil && tab.E3 != "" {
			t.Skip("a combination of two estimates")
		}
		z, w := f.size, f.size.N+f.size.Q
		g := f.with(1)
		r, s := stepOf[solvers.TangentEstimator](m, g, 1)
		d := newTangent(z, 1)
		solvertest.Noise(3, d.Y0)
		solvertest.Noise(4, g.pd)
		got := make([]float64, w)
		r.Push(g, s, d)
		r.PushError(g, s, d, got)
		at := func(eps float64) []float64 {
			h := f.with(1)
			h.p = append([]float64(nil), f.p...)
			for i := range h.p {
				h.p[i] += eps * g.pd[i]
			}
			q, x := m.New(z, 1), solvers.NewStep(r.Info(), z)
			x.T, x.H, x.T1 = s.T, s.H, s.T1
			for i := range x.Y0 {
				x.Y0[i] = s.Y0[i] + eps*d.Y0[i]
			}
			q.Step(h, x, false)
			e := make([]float64, w)
			q.Error(x, e)
			return e
		}
		const eps = 1e-3
		noise := 1e-12 * growthOf(t, m) // of the differences
		up, down, up2, down2 := at(eps), at(-eps), at(2*eps), at(-2*eps)
		size := 0.0
		for _, v := range got {
			size = math.Max(size, math.Abs(v))
		}
		for i, v := range got {
			want := (8*(up[i]-down[i]) - (up2[i] - down2[i])) / (12 * eps)
			if math.Abs(v-want) > 1e-7*size+noise {
				t.Errorf("ė[%d] = %v, want %v", i, v, want)
			}
		}
		if size == 0 {
			t.Error("all errors are zero")
		}
	})
}
