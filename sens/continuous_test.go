package sens_test

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/matrices"
)

// continuous returns the continuous adjoint of p, with its own tolerance.
func (p *problem) continuous(t testing.TB, name string, tol float64, backsolve bool) *sens.Continuous {
	return &sens.Continuous{Backsolve: backsolve, New: func() sens.ContinuousWorker {
		o := p.with(1)
		return sens.ContinuousWorker{
			CotangentWorker: sens.CotangentWorker{System: o.Hybrid, Objectives: o, Method: p.method(t, name, 1)},
			Field:           p.with(1).Hybrid,
			Back: func(z solvers.Size) (solvers.Method, hybrid.Controller) {
				m := methodSpec(t, name).New(z, 0)
				if p.opts.Fixed > 0 {
					return m, nil
				}
				ctl, _ := hybrid.NewController("", m.Info())
				return m, ctl
			},
			RTol: tol, StateATol: []float64{tol},
		}
	}}
}

// worst returns the largest difference of two results, each row relative to its largest derivative.
func worst(p *problem, got, want *sens.Result) float64 {
	most := 0.0
	rows := func(x, y []float64, n int) {
		w := len(x) / max(n, 1)
		for i := range n {
			size := 1e-3
			for _, v := range y[i*w : (i+1)*w] {
				size = max(size, math.Abs(v))
			}
			for j := range w {
				d := math.Abs(x[i*w+j]-y[i*w+j]) / size
				if !(d <= most) {
					most = d
				}
			}
		}
	}
	rows(got.DP, want.DP, p.m)
	rows(got.DY0, want.DY0, p.m)
	for e := range got.Events {
		rows(got.Events[e].DP, want.Events[e].DP, 1)
	}
	return most
}

// TestContinuousConverges runs the methods that differentiate first on a problem with everything in it: what they
// give comes closer to the derivatives of an accurate run at the rate of the tolerance.
func TestContinuousConverges(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	kinds := map[string]func(p *problem, name string, tol float64) sens.Method{
		"forward": func(p *problem, name string, _ float64) sens.Method {
			return &sens.Forward{New: func() sens.TangentWorker {
				o := p.with(2)
				return sens.TangentWorker{System: o.Hybrid, Objectives: o, Method: p.method(t, name, 2)}
			}}
		},
		"continuous": func(p *problem, name string, tol float64) sens.Method {
			return p.continuous(t, name, tol, false)
		},
		"backsolve": func(p *problem, name string, tol float64) sens.Method { return p.continuous(t, name, tol, true) },
	}
	for _, make := range []func() *problem{everything, func() *problem { p, _ := observed(); return p }} {
		opts := sens.Options{Initial: true, EventTimes: true}
		var want sens.Result
		p := make()
		p.opts = solvers.Options{RTol: 1e-13, ATol: 1e-13}
		tr, _ := p.run(t, "vern9")
		if err := p.adjoint(t, "vern9", 3).Gradient(t.Context(), tr, opts, &want); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"dopri5", "tsit5", "vern7", "dop853", "dopri5, rodas4"} {
			for kind, method := range kinds {
				var last float64
				tols := []float64{1e-5, 1e-8, 1e-11}
				if methodSpec(t, name).Can.Has(solvers.NeedsJacobian) {
					tols = []float64{1e-4, 1e-6} // derivatives of closures by integrals take long
				}
				for _, tol := range tols {
					p := make()
					p.opts = solvers.Options{RTol: tol, ATol: tol}
					tr, _ := p.run(t, name)
					var res sens.Result
					m := method(p, name, tol)
					if m.Name() != kind {
						t.Errorf("%s is called %s", kind, m.Name())
					}
					if err := m.Gradient(t.Context(), tr, opts, &res); err != nil {
						t.Fatalf("%s/%s: %v", name, kind, err)
					}
					last = worst(p, &res, &want)
					t.Logf("%s/%s at %g: off by %.2g, %d steps forward, %d back", name, kind, tol, last, tr.Steps(),
						res.Stats.Steps)
					if !(last < 1e4*tol) {
						t.Errorf("%s/%s at %g: off by %g", name, kind, tol, last)
					}
				}
			}
		}
	}
}

// checked is a method that holds the Jacobian of what it integrates against differences, in the middle of every step.
type checked struct {
	solvers.Method
	t    *testing.T
	seen int
}

func (c *checked) EachStage(s *solvers.Step, f func(t, weight float64, y []float64)) {
	c.Method.(solvers.Staged).EachStage(s, f)
}

func (c *checked) Prepare(f solvers.Field) error { return c.implicit().Prepare(f) }

func (c *checked) Rate(f solvers.Field, s *solvers.Step) float64 { return c.implicit().Rate(f, s) }
func (c *checked) Fault() error                                  { return c.implicit().Fault() }
func (c *checked) Work() solvers.ImplicitWork                    { return c.implicit().Work() }
func (c *checked) implicit() solvers.Implicit                    { return c.Method.(solvers.Implicit) }

func (c *checked) Step(f solvers.Field, s *solvers.Step, reuse bool) {
	c.Method.Step(f, s, reuse)
	n := f.Size().N
	at, y := s.T+0.5*s.H, slices.Clone(s.Y0)
	j := f.(matrices.JacobianField)
	places := j.Jacobian()
	entries := make([]float64, len(places.Rows))
	j.EvalJacobian(at, y, entries)
	got := make([]float64, n*(n+1))
	for e, row := range places.Rows {
		got[int(row)*(n+1)+int(places.Cols[e])] += entries[e]
	}
	k, less := make([]float64, n), make([]float64, n)
	size := 1.0
	for _, v := range got {
		size = max(size, math.Abs(v))
	}
	for col := range n + 1 {
		d := 1e-5
		if col < n {
			own := y[col]
			y[col] = own + d
			f.Eval(at, y, k)
			y[col] = own - d
			f.Eval(at, y, less)
			y[col] = own
		} else {
			d = 1e-2 * s.H
			f.Eval(at+d, y, k)
			f.Eval(at-d, y, less)
		}
		for row := range n {
			want := (k[row] - less[row]) / (2 * d)
			if v := got[row*(n+1)+col]; !(math.Abs(v-want) <= 1e-4*size) {
				c.t.Errorf("at %g: entry (%d, %d) is %g, by differences %g", at, row, col, v, want)
			}
			if want != 0 && row < n {
				c.seen++
			}
		}
	}
}

// TestBackwardJacobians holds the Jacobians of what the continuous methods integrate backwards against differences, on
// a problem with quadratures and forcing.
func TestBackwardJacobians(t *testing.T) {
	for _, backsolve := range []bool{false, true} {
		p := everything()
		p.opts = solvers.Options{RTol: 1e-4, ATol: 1e-4}
		tr, _ := p.run(t, "rodas4")
		m := p.continuous(t, "rodas4", 1e-3, backsolve)
		var c *checked
		make := m.New
		m.New = func() sens.ContinuousWorker {
			w := make()
			back := w.Back
			w.Back = func(z solvers.Size) (solvers.Method, hybrid.Controller) {
				m, ctl := back(z)
				c = &checked{m, t, 0}
				return c, ctl
			}
			return w
		}
		var res sens.Result
		if err := m.Gradient(t.Context(), tr, sens.Options{}, &res); err != nil {
			t.Fatal(err)
		}
		if c.seen == 0 {
			t.Error("nothing was compared")
		}
	}
}

// counted is a field that counts what is asked of it.
type counted struct {
	*solvertest.Hybrid
	work *[4]int // evaluations, transposes, Jacobians, transposed Jacobians
}

func (c counted) Eval(t float64, y, k []float64) {
	c.work[0]++
	c.Hybrid.Eval(t, y, k)
}

func (c counted) Pull(t float64, y, kb, yb, tb []float64) {
	c.work[1]++
	c.Hybrid.Pull(t, y, kb, yb, tb)
}

func (c counted) EvalJacobian(t float64, y, j []float64) {
	c.work[2]++
	c.Hybrid.EvalJacobian(t, y, j)
}

func (c counted) PullJacobian(t float64, y, jb, yb, tb []float64) {
	c.work[3]++
	c.Hybrid.PullJacobian(t, y, jb, yb, tb)
}

// fast is growth with a rate that changes: the way back has steps that are rejected.
func fast() *problem {
	p := growth(1.2, 0.5, 2)
	p.Field = func(t C, y []C, e *env, k []C) { k[0] = e.P[0]*y[0] - (5+4*t*t)*(y[0]*y[0]-1/(0.02+(t-1)*(t-1))) }
	p.psi = func(f, _, psi []C) { psi[0] = f[0] * f[0] }
	return p
}

// TestBackwardsWork counts what the way back of the continuous methods evaluates: no slope twice that is known from the
// step before, or from a trial of other length.
func TestBackwardsWork(t *testing.T) {
	for _, c := range []struct {
		of        func() *problem
		name      string
		backsolve bool
		fixed     float64
		steps     int
		work      [4]int
	}{
		{everything, "dopri5", false, 0, 243, [4]int{0, 1614, 0, 0}},
		{everything, "dopri5", true, 0, 244, [4]int{1620, 1620, 0, 0}},
		{everything, "dopri5", false, 0.15, 250, [4]int{0, 1575, 0, 0}},
		{everything, "rk4", false, 0.15, 250, [4]int{0, 1075, 0, 0}},
		{everything, "bs3", false, 0, 842, [4]int{0, 2709, 0, 0}},
		{everything, "bs3, dop853", false, 0, 674, [4]int{0, 4116, 0, 0}},
		{fast, "dopri5, rkc2", false, 0, 383, [4]int{0, 5684, 0, 0}},
		{fast, "rodas4", false, 0, 704, [4]int{0, 4230, 704, 704}},
		{func() *problem { return ball(2) }, "rodas4", true, 0, 68, [4]int{420, 420, 68, 204}},
		{fast, "dopri5, rodas4", false, 0, 350, [4]int{0, 2194, 170, 170}},
		{fast, "trbdf2", false, 0, 238, [4]int{0, 1848, 348, 348}},
	} {
		p := c.of()
		p.opts = solvers.Options{RTol: 1e-4, ATol: 1e-6, Fixed: c.fixed}
		tr, _ := p.run(t, c.name)
		m := p.continuous(t, c.name, 1e-5, c.backsolve)
		make := m.New
		var work [4]int
		m.New = func() sens.ContinuousWorker {
			w := make()
			w.Field = counted{w.Field.(*solvertest.Hybrid), &work}
			return w
		}
		var res sens.Result
		if err := m.Gradient(t.Context(), tr, sens.Options{}, &res); err != nil {
			t.Fatal(err)
		}
		off := max(0, res.Stats.Steps-c.steps, c.steps-res.Stats.Steps)
		for k, n := range work {
			off = max(off, n-c.work[k], c.work[k]-n)
		}
		if off > max(2, c.work[1]/200) { // rounding decides where a step is long enough
			t.Errorf("%q, %v, %v, %d, [4]int%v,", c.name, c.backsolve, c.fixed, res.Stats.Steps, work)
		}
	}
}
