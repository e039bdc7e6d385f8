package hybrid_test

import (
	"context"
	"slices"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// copier hides that a trajectory lends memory.
type copier struct{ *record.Trajectory }

func (copier) Lend(int) (y1, k []float64) { return nil, nil }

// kicked returns a chain of 1500 states, which begins again at a given time.
func kicked() *solvertest.Hybrid {
	const n = 1500
	return &solvertest.Hybrid{
		N:      n,
		Params: []float64{3},
		Init: func(_ solvertest.C, _ *solvertest.Env, y, _ []solvertest.C) {
			for i := range y {
				y[i] = complex(1/float64(1+i), 0)
			}
		},
		Field: func(t solvertest.C, y []solvertest.C, e *solvertest.Env, k []solvertest.C) {
			for i := range y {
				k[i] = e.P[0]*(y[(i+1)%n]-y[i]) - t*y[i]*y[i]
			}
		},
		Times: []solvertest.Instant{
			{
				Instant: solvers.Instant{Kind: solvers.InstantStart, Fixed: true},
				At:      func(*solvertest.Env) solvertest.C { return 0 },
			},
			{
				Instant: solvers.Instant{Kind: solvers.InstantEnd, Fixed: true},
				At:      func(*solvertest.Env) solvertest.C { return 1 },
			},
			{
				Instant: solvers.Instant{Kind: solvers.InstantFire, Fixed: true},
				At:      func(*solvertest.Env) solvertest.C { return 0.3 },
			},
		},
		Bodies: []solvertest.Event{{
			Event: solvers.Event{Name: "kick", Elems: 1, Explicit: true},
			Body: func(_ int, _ solvertest.C, ym []solvertest.C, _ *solvertest.Env, yp, _ []solvertest.C) {
				for i, y := range ym {
					yp[i] = 2 + 40*y
				}
			},
		}},
	}
}

// TestLend holds that a run whose stages were computed in the trajectory's own
// memory is the run that was copied there: through rejected steps, a kick at a
// given time, and again with the same solver.
func TestLend(t *testing.T) {
	h := kicked()
	for _, method := range []string{"dopri5", "rk4", "bs3", "rkc2", "bs3, tsit5"} {
		opts := solvers.Options{RTol: 1e-6, ATol: 1e-9, H0: 0.2}
		if method == "rk4" {
			opts = solvers.Options{Fixed: 0.07}
		}
		s := solver(h, method, opts)
		var lent, copied record.Trajectory
		rejected := 0
		for range 2 {
			if _, err := s.Solve(context.Background(), &lent); err != nil {
				t.Fatal(err)
			}
			st, err := s.Solve(context.Background(), copier{&copied})
			if err != nil {
				t.Fatal(err)
			}
			rejected += st.Rejected
			if lent.Steps() != copied.Steps() {
				t.Fatalf("%s: %d steps lent, %d copied", method, lent.Steps(), copied.Steps())
			}
			var a, b solvers.Step
			var ra, rb record.Reader
			ra.Open(context.Background(), &lent)
			rb.Open(context.Background(), &copied)
			for i := range lent.Steps() {
				ea, _ := ra.Load(i, &a)
				if eb, _ := rb.Load(i, &b); ea != eb || a.T != b.T || a.H != b.H {
					t.Fatalf("%s: step %d differs", method, i)
				}
				if !slices.Equal(a.K, b.K) || !slices.Equal(a.Y0, b.Y0) || !slices.Equal(a.Y1, b.Y1) {
					t.Fatalf("%s: step %d of %d has other stages or states when its memory is lent", method, i,
						lent.Steps())
				}
			}
		}
		if method != "rk4" && rejected == 0 {
			t.Errorf("%s: no step was rejected: the test checks too little", method)
		}
	}
	var tr record.Trajectory
	s := solver(h, "dopri5", solvers.Options{RTol: 1e-6, ATol: 1e-9})
	if _, err := s.Solve(context.Background(), &tr); err != nil {
		t.Fatal(err)
	}
	if _, k := tr.Lend(0); k == nil {
		t.Error("nothing was lent: the test compares copies with copies")
	}
}
