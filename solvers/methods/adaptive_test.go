package methods

import (
	"math"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
)

// adapt integrates a toy from 0 to end under error control, with the pieces
// of this package and nothing else, and returns the end and the trial steps.
func adapt(t *testing.T, spec *solvers.Spec, control string, f *toy, end float64, tol *solvers.Tolerance) (y []float64,
	steps,
	rejected int,
) {
	t.Helper()
	g := f.with(1)
	r := spec.New(f.size, 0)
	m := r.Info()
	c, ok := hybrid.NewController(control, m)
	if !ok {
		t.Fatalf("no controller %s", control)
	}
	s := solvers.NewStep(m, f.size)
	w := f.size.N + f.size.Q
	e, work := make([]float64, w), make([]float64, f.size.N+w)
	copy(s.Y0, f.y0)
	f.Eval(0, s.Y0, s.K[:w])
	h := hybrid.InitialStep(g, m, tol, s, end, work)
	reuse := true
	for s.T < end {
		if steps++; steps > 1_000_000 {
			t.Fatalf("no end: at %v with step %v", s.T, h)
		}
		s.H, s.T1 = h, s.T+h
		if s.T1 >= end {
			s.H, s.T1 = end-s.T, end
		}
		r.Step(g, s, reuse)
		r.Error(s, e)
		ok, next := c.Judge(s.H, tol.Norm(s, e))
		if h = next; !ok {
			rejected++
			reuse = true
			continue
		}
		s.T = s.T1
		copy(s.Y0, s.Y1)
		if reuse = m.FSAL; reuse {
			copy(s.K[:w], s.K[(m.Stages-1)*w:])
		}
	}
	return s.Y1, steps, rejected
}

// TestAdaptive runs every method and every controller on Lotka–Volterra over
// some periods and requires an error in proportion to the tolerance.
func TestAdaptive(t *testing.T) {
	f := toys["lotka-volterra"]
	const end = 20
	best, _, _ := adapt(t, lookup(t, "vern9"), "", f, end, &solvers.Tolerance{Rel: 1e-14, Abs: []float64{1e-14}})
	try := func(t *testing.T, m *solvers.Spec, control string, rel float64) {
		tol := &solvers.Tolerance{Rel: rel, Abs: []float64{rel}}
		y, steps, rejected := adapt(t, m, control, f, end, tol)
		off := 0.0
		for i, v := range y {
			off = max(off, math.Abs(v-best[i])/(rel*(1+math.Abs(best[i]))))
		}
		if !(off < 500) { // Euler: 330; fifth order and more: below 10
			t.Errorf("error %.3g times the tolerance %v in %d steps", off, rel, steps)
		}
		if rejected > steps/3 {
			t.Errorf("%d of %d steps rejected", rejected, steps)
		}
		t.Logf("tolerance %v: error %.3g, %d steps, %d rejected", rel, off, steps, rejected)
	}
	for _, m := range testedMethods() {
		if m.Embedded == 0 {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			for _, rel := range []float64{1e-3, math.Pow(10, -1.5-float64(min(m.Order, m.Embedded)))} {
				try(t, m, "", rel)
			}
		})
	}
	for _, c := range hybrid.Controllers() {
		t.Run("controller="+c.Name, func(t *testing.T) { try(t, lookup(t, "dopri5"), c.Name, 1e-7) })
	}
}

// TestNotFinite requires a step into NaN to be rejected by every method.
func TestNotFinite(t *testing.T) {
	for _, m := range testedMethods() {
		if m.Embedded == 0 {
			continue
		}
		r := m.New(solvers.Size{N: 1}, 0)
		s := solvers.NewStep(r.Info(), solvers.Size{N: 1})
		s.Y0[0], s.H, s.T1 = 1, 1, 1
		r.Step(solvertest.Growth{Lambda: 3, Wall: 1.01}, s, false)
		e := make([]float64, 1)
		r.Error(s, e)
		c, _ := hybrid.NewController("", r.Info())
		tol := &solvers.Tolerance{Rel: 1e3, Abs: []float64{1e9}}
		if ok, h := c.Judge(s.H, tol.Norm(s, e)); ok || h != 0.2 {
			t.Errorf("%s: accepted %v, next step %v", m.Name, ok, h)
		}
	}
}
