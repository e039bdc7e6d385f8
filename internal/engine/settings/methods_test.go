package settings

import (
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

// TestBackwards requires that the error estimates of methods that integrate adjoint equations see the error of linear
// equations with constant coefficients. A method of which that is not true must have another one in its place.
func TestBackwards(t *testing.T) {
	h := (&solvertest.Hybrid{
		N: 1,
		Field: func(_ solvertest.C, y []solvertest.C, _ *solvertest.Env, k []solvertest.C) {
			k[0] = -y[0]
		},
	}).With(1)
	sees := func(m *solvers.Spec) bool {
		method := m.New(h.Size(), 0)
		s := solvers.NewStep(solvers.Members(method)[0].Info(), h.Size())
		s.Y0[0], s.H, s.T1 = 1, 0.9, 0.9
		method.Step(h, s, false)
		e := make([]float64, 1)
		method.Error(s, e)
		return e[0] > 1e-12 || e[0] < -1e-12
	}
	for _, m := range methods.All() {
		if m.Embedded == 0 || !m.Can.Has(solvers.StageSums) {
			continue
		}
		// Implicit Runge–Kutta methods iterate, which is not worth while for linear equations.
		direct := m.Can.Has(solvers.WholeSteps) || !m.Can.Has(solvers.NeedsJacobian)
		if back := Backwards(m, false); !sees(back) || back != m && sees(m) && direct {
			t.Errorf("runs by %s go back with %s", m.Name, back.Name)
		}
	}
	// A method of several members has one in the place of each.
	dopri5, _ := methods.Lookup("dopri5")
	both := solvers.Switching("both", dopri5, ros3p(t))
	back := Backwards(both, false)
	if len(back.Members) != len(both.Members) || back.Members[0] != both.Members[0] ||
		back.Members[len(back.Members)-1].Name != "rodas3" {
		t.Errorf("%v in the place of %v", back.Members, both.Members)
	}
}

func ros3p(t *testing.T) *solvers.Spec {
	m, ok := methods.Lookup("ros3p")
	if !ok {
		t.Fatal("no ros3p")
	}
	return m
}
