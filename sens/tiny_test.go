package sens_test

import (
	"context"
	"math"
	"testing"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
)

// tinySystem is the van der Pol oscillator by hand: two states, one parameter,
// one objective final(x), optionally with an event that never fires. It
// allocates nothing.
type tinySystem struct {
	mu, tf float64
	guards bool
	pb     float64
	rows   [][]float64
}

func (s *tinySystem) Size() solvers.Size { return solvers.Size{N: 2, P: 1} }
func (s *tinySystem) Lanes() int         { return 1 }
func (s *tinySystem) Eval(_ float64, y, k []float64) {
	k[0] = y[1]
	k[1] = s.mu*(1-y[0]*y[0])*y[1] - y[0]
}

func (s *tinySystem) Pull(_ float64, y, kb, yb, tb []float64) {
	yb[0] = kb[1] * (-2*s.mu*y[0]*y[1] - 1)
	yb[1] = kb[0] + kb[1]*s.mu*(1-y[0]*y[0])
	tb[0] = 0
	s.pb += kb[1] * (1 - y[0]*y[0]) * y[1]
}
func (s *tinySystem) Start(_ float64, y, _ []float64)                      { y[0], y[1] = 2, 0 }
func (s *tinySystem) Enter(_, _ []float64)                                 {}
func (s *tinySystem) Choose(_ float64, _ []float64, _ []bool, _ []float64) {}
func (s *tinySystem) InstantTimes(_, times []float64)                      { times[0], times[1] = 0, s.tf }
func (s *tinySystem) StateName(int) string                                 { return "x" }
func (s *tinySystem) Begin(rows [][]float64)                               { s.rows, s.pb = rows, 0 }
func (s *tinySystem) Leave([]float64)                                      {}
func (s *tinySystem) InstantPull(int, []float64)                           {}
func (s *tinySystem) StartPull(_ float64, _, _, _ []float64)               {}
func (s *tinySystem) Finish()                                              { s.rows[0][0] = s.pb }

func (s *tinySystem) Guards() []solvers.Guard {
	if s.guards {
		return []solvers.Guard{{}}
	}
	return nil
}

func (s *tinySystem) GuardValues(_ float64, y, rho []float64, truth []bool) {
	if s.guards {
		rho[0], truth[0] = y[0]-100, y[0] > 100
	}
}

func (s *tinySystem) Events() []solvers.Event {
	if s.guards {
		return []solvers.Event{{Name: "e", Elems: 1}}
	}
	return nil
}

func (s *tinySystem) Instants() []solvers.Instant {
	return []solvers.Instant{{Kind: solvers.InstantStart, Fixed: true}, {Kind: solvers.InstantEnd, Fixed: true}}
}

func (s *tinySystem) Affect(_ solvers.Firing, _ float64, ym, dm, yp, dp []float64) bool {
	copy(yp, ym)
	copy(dp, dm)
	return false
}

func (s *tinySystem) GuardPull(int, float64, []float64, []float64, []float64, []float64) {}

func (s *tinySystem) AffectPull(solvers.Firing, float64, []float64, []float64, []float64, []float64, []float64,
	[]float64, []float64) {
}

func (s *tinySystem) Counts() (int, int)                   { return 1, 1 }
func (s *tinySystem) Observes(k sens.SiteKind, _ int) bool { return k == sens.SiteFinal }
func (s *tinySystem) Observe(pt *sens.Point, f []float64)  { f[0] += pt.Yp[0] }
func (s *tinySystem) Values(f, psi []float64)              { psi[0] = f[0] }
func (s *tinySystem) ValuesPull(_ []float64, first int, fb []float64) {
	fb[0] = 0
	if first == 0 {
		fb[0] = 1
	}
}

func (s *tinySystem) ObservePull(_ *sens.Point, fb, _, _, ypb, _, _ []float64) {
	ypb[0] += fb[0]
}

func (s *tinySystem) solver(t testing.TB, opts solvers.Options) (*hybrid.Solver, solvers.Method) {
	t.Helper()
	spec, _ := methods.Lookup("dopri5")
	m := spec.New(s.Size(), 1)
	ctl, _ := hybrid.NewController("", m.Info())
	return hybrid.NewSolver(s, m, ctl, opts), m
}

// TestAdjointAllocates requires that the cost in allocations does not grow with the number of steps.
func TestAdjointAllocates(t *testing.T) {
	count := func(tf float64) float64 {
		s := &tinySystem{mu: 1, tf: tf, guards: true}
		solver, m := s.solver(t, solvers.Options{})
		tr := &record.Trajectory{}
		if _, err := solver.Solve(context.Background(), tr); err != nil {
			t.Fatal(err)
		}
		a := &sens.Adjoint{New: func() sens.CotangentWorker {
			return sens.CotangentWorker{System: s, Objectives: s, Method: m}
		}}
		var res sens.Result
		least := math.Inf(1)
		for range 20 { // a goroutine that begins allocates now and then, whatever it does
			least = min(least, testing.AllocsPerRun(3, func() {
				if err := a.Gradient(context.Background(), tr, sens.Options{}, &res); err != nil {
					t.Fatal(err)
				}
			}))
		}
		return least
	}
	if a, b := count(5), count(50); a != b {
		t.Errorf("%v allocations for a short run, %v for a long one", a, b)
	}
}

func BenchmarkTiny(b *testing.B) {
	for _, guards := range []bool{false, true} {
		name := "guards=no"
		if guards {
			name = "guards=yes"
		}
		s := &tinySystem{mu: 1, tf: 200, guards: guards}
		solver, m := s.solver(b, solvers.Options{})
		tr := &record.Trajectory{}
		st, err := solver.Solve(context.Background(), tr)
		if err != nil {
			b.Fatal(err)
		}
		perStep := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*st.Steps), "ns/step")
		}
		b.Run("forward/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := solver.Solve(context.Background(), tr); err != nil {
					b.Fatal(err)
				}
			}
			perStep(b)
		})
		b.Run("adjoint/"+name, func(b *testing.B) {
			a := &sens.Adjoint{New: func() sens.CotangentWorker {
				return sens.CotangentWorker{System: s, Objectives: s, Method: m}
			}}
			var res sens.Result
			for b.Loop() {
				if err := a.Gradient(context.Background(), tr, sens.Options{}, &res); err != nil {
					b.Fatal(err)
				}
			}
			perStep(b)
		})
	}
}
