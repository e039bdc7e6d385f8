package hybrid_test

import (
	"errors"
	"slices"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
)

// relaxation is a stiff system that starts away from what it relaxes to.
func relaxation(rate float64) *solvertest.Hybrid {
	return &solvertest.Hybrid{
		N: 2, Params: []float64{rate},
		Init: func(_ solvertest.C, _ *solvertest.Env, y, _ []solvertest.C) { y[0], y[1] = 1, 1 },
		Field: func(t solvertest.C, y []solvertest.C, e *solvertest.Env, k []solvertest.C) {
			k[0] = -e.P[0] * (y[0] - y[1]*t)
			k[1] = -y[0] * y[1]
		},
		Times: []solvertest.Instant{instant(solvers.InstantStart, 0), instant(solvers.InstantEnd, 2)},
	}
}

// TestNoJacobian requires a run of an implicit method to end before it begins where the system has no Jacobian.
func TestNoJacobian(t *testing.T) {
	h := relaxation(1e3).With(1)
	for _, m := range methods.All() {
		if m.Can.Has(solvers.SplitRates) { // imex_test.go
			continue
		}
		if !m.Can.Has(solvers.NeedsJacobian) {
			continue
		}
		method := m.New(h.Size(), 0)
		c, _ := hybrid.NewController("", method.Info())
		_, err := hybrid.Solve(t.Context(), struct{ solvers.System }{h}, method, c, solvers.Options{}, solvers.Sinks{})
		var none *solvers.NoJacobianError
		if !errors.As(err, &none) || none.Method != solvers.Members(method)[0].Info().Name {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}

// TestImplicitWork requires an implicit method to make no more steps than accuracy asks for, however stiff the system
// is, and to evaluate one Jacobian for all trial steps from one state.
func TestImplicitWork(t *testing.T) {
	var steps []int
	for _, rate := range []float64{1e3, 1e9} {
		h := relaxation(rate).With(1)
		m, _ := methods.Lookup("rodas5p")
		method := m.New(h.Size(), 0)
		c, _ := hybrid.NewController("", method.Info())
		stats, err := hybrid.Solve(t.Context(), h, method, c, solvers.Options{H0: 0.5}, solvers.Sinks{})
		if err != nil {
			t.Fatal(err)
		}
		if stats.Rejected == 0 || stats.NotFinite > 0 || stats.Singular > 0 {
			t.Errorf("%d steps rejected, %d not finite, %d singular", stats.Rejected, stats.NotFinite, stats.Singular)
		}
		if stats.Jacobians != stats.Steps || stats.Factorisations != stats.Steps+stats.Rejected ||
			stats.Solves != 8*stats.Factorisations {
			t.Errorf("%d steps and %d rejected took %+v", stats.Steps, stats.Rejected, stats.ImplicitWork)
		}
		if len(stats.Warnings) > 0 {
			t.Errorf("warnings %v", stats.Warnings)
		}
		steps = append(steps, stats.Steps)
	}
	if steps[1] > 2*steps[0] {
		t.Errorf("%d steps, and %d where it is stiffer", steps[0], steps[1])
	}
}

// TestKeptFactors requires transposes of the steps of a recorded run to have the same bits with the factors that were
// kept of them, and to factor nothing then.
func TestKeptFactors(t *testing.T) {
	for _, name := range []string{"rodas4", "rodas5p"} {
		h := relaxation(1e4).With(1)
		m, _ := methods.Lookup(name)
		method := m.New(h.Size(), 0)
		c, _ := hybrid.NewController("", method.Info())
		var tr record.Trajectory
		sinks := solvers.Sinks{&tr}
		if _, err := hybrid.Solve(t.Context(), h, method, c, solvers.Options{}, sinks); err != nil {
			t.Fatal(err)
		}
		pulling := m.New(h.Size(), 1)
		pull := func(s *solvers.Step) []float64 {
			cot := solvers.StepCotangent{
				T1: []float64{0.5}, Y1: []float64{1, -2}, WantH: true,
				T0: []float64{0}, H: []float64{0}, Y0: []float64{0, 0},
			}
			pulling.Pull(h, s, &cot)
			return append(append(cot.Y0, cot.T0...), cot.H...)
		}
		work := func() int { return pulling.(solvers.Implicit).Work().Factorisations }
		kept := 0
		var r record.Reader
		r.Open(t.Context(), &tr)
		for i := range tr.Steps() {
			var s solvers.Step
			if _, err := r.Load(i, &s); err != nil {
				t.Fatal(err)
			}
			if s.Kept == nil {
				continue
			}
			kept++
			before := work()
			a := pull(&s)
			if work() != before {
				t.Fatalf("%s: step %d is factored again", name, i)
			}
			s.Kept = nil
			if b := pull(&s); !slices.Equal(a, b) {
				t.Errorf("%s: step %d: %v, and %v without what was kept", name, i, a, b)
			}
			if work() != before+1 {
				t.Fatalf("%s: step %d is not factored", name, i)
			}
		}
		if kept < 5 {
			t.Errorf("%s: factors of %d of %d steps are kept", name, kept, tr.Steps())
		}
	}
}
