package hybrid_test

import (
	"context"
	"errors"
	"math"
	"math/cmplx"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
)

// TestReach holds the stability intervals against those in the literature.
func TestReach(t *testing.T) {
	for name, want := range map[string]float64{
		"euler": 2, "heun": 2, "midpoint": 2, "bs3": 2.51, "rk4": 2.785, "dopri5": 3.31, "ssprk3": 2.51,
	} {
		m, _ := methods.Lookup(name)
		if got := m.New(solvers.Size{N: 1}, 0).(solvers.StiffnessDetector).
			StabilityInterval(); math.Abs(got-want) > 0.03 {
			t.Errorf("%s is stable up to %v, want %v", name, got, want)
		}
	}
}

// TestRays: along the imaginary axis |R|² of Euler's method is 1 + y², that of Heun's 1 + y⁴/4, and that of the
// classical method 1 - y⁶/72 + y⁸/576. Near the real axis the interval counts.
func TestRays(t *testing.T) {
	for name, grown := range map[string]func(y float64) float64{
		"euler": func(y float64) float64 { return 1 + y*y },
		"heun":  func(y float64) float64 { return 1 + math.Pow(y, 4)/4 },
		"rk4":   func(y float64) float64 { return 1 - math.Pow(y, 6)/72 + math.Pow(y, 8)/576 },
	} {
		m, _ := methods.Lookup(name)
		g := m.New(solvers.Size{N: 1}, 0).(solvers.StiffnessDetector)
		y := g.StableAlong(0)
		if whole := g.StabilityInterval(); name == "rk4" && y != whole {
			t.Errorf("rk4 is stable up to %g on the imaginary axis, which is further than %g", y, whole)
		} else if name != "rk4" && !(grown(y) <= 1.01*1.01 && grown(y+1.0/64) > 1.01*1.01) {
			t.Errorf("%s is nearly stable up to %g", name, y)
		}
		for _, cos := range []float64{0.6, 1, math.NaN()} {
			if got := g.StableAlong(cos); got != g.StabilityInterval() {
				t.Errorf("%s: %g at the cosine %g", name, got, cos)
			}
		}
		if a, b := g.StableAlong(0.3), g.StableAlong(0.4); !(b >= a) && name != "rk4" {
			t.Errorf("%s: %g, then %g nearer to the real axis", name, a, b)
		}
	}
}

// relaxing is y₁' = -rate (y₁ - cos t), y₂' = -y₁ over [0, 10].
func relaxing(rate float64) *solvertest.Hybrid {
	return &solvertest.Hybrid{
		N:    2,
		Init: func(_ solvertest.C, _ *solvertest.Env, y, _ []solvertest.C) { y[0], y[1] = 1, 0 },
		Field: func(t solvertest.C, y []solvertest.C, _ *solvertest.Env, k []solvertest.C) {
			k[0] = complex(-rate, 0) * (y[0] - cmplx.Cos(t))
			k[1] = -y[0]
		},
		Times: []solvertest.Instant{instant(solvers.InstantStart, 0), instant(solvers.InstantEnd, 10)},
	}
}

func TestStiffness(t *testing.T) {
	for _, name := range []string{"dopri5", "tsit5", "bs5", "vern7", "vern8"} {
		run := func(rate float64, opts solvers.Options) (solvers.Stats, error) {
			spec, _ := methods.Lookup(name)
			m := spec.New(solvers.Size{N: 2}, 0)
			c, _ := hybrid.NewController("", m.Info())
			return hybrid.Solve(context.Background(), relaxing(rate).With(1), m, c, opts, nothing{})
		}
		found := func(st solvers.Stats) (rate float64) {
			for _, w := range st.Warnings {
				if w.Kind == solvers.Stiff {
					rate = w.Value
				}
			}
			return rate
		}
		st, err := run(2000, solvers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if rate := found(st); math.Abs(rate-2000) > 200 {
			t.Errorf("%s: a problem with the eigenvalue -2000 was taken for one with %v in %d steps", name, -rate,
				st.Steps)
		}
		if st, err = run(2, solvers.Options{}); err != nil || found(st) != 0 {
			t.Errorf("%s: a problem with the eigenvalue -2 looked stiff (%v)", name, err)
		}
		// At a tight tolerance accuracy decides, whatever the eigenvalue.
		if st, err = run(20, solvers.Options{RTol: 1e-11, ATol: 1e-13}); err != nil ||
			found(st) != 0 && name == "dopri5" {
			t.Errorf("%s: short steps for accuracy looked stiff (%v)", name, err)
		}
		var many *solvers.TooManyStepsError
		if _, err = run(1e6, solvers.Options{MaxSteps: 2000}); !errors.As(err, &many) ||
			!(math.Abs(many.Stiff-1e6) < 1e5) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// chebyshev returns rkc2 with so many stages.
func chebyshev(t *testing.T, stages int) *solvers.Spec {
	t.Helper()
	m, err := methods.Choose("rkc2", map[string]float64{"stages": float64(stages)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestChebyshev measures how far the Chebyshev methods are stable, and that they
// save right-hand sides where stability holds the steps of others short.
func TestChebyshev(t *testing.T) {
	for _, s := range []int{10, 20, 35, 50} {
		r := chebyshev(t, s).New(solvers.Size{N: 1}, 0).(solvers.StiffnessDetector)
		want := 2.0 / 3 * float64(s*s-1) * (1 - 2.0/15*2/13)
		if got := r.StabilityInterval(); math.Abs(got-want) > 0.03*want {
			t.Errorf("%d stages are stable up to %v, want about %v", s, got, want)
		}
		if info := r.Info(); info.Stages != s+1 || !info.FSAL {
			t.Errorf("%d stages: %+v", s, info)
		}
	}
	evals := func(spec *solvers.Spec) int {
		m := spec.New(solvers.Size{N: 2}, 0)
		c, _ := hybrid.NewController("", m.Info())
		st, err := hybrid.Solve(context.Background(), relaxing(2e4).With(1), m, c,
			solvers.Options{RTol: 1e-3, ATol: 1e-5}, nothing{})
		if err != nil {
			t.Fatal(err)
		}
		return st.Evals
	}
	dopri5, _ := methods.Lookup("dopri5")
	few, many, plain := evals(chebyshev(t, 50)), evals(chebyshev(t, 10)), evals(dopri5)
	t.Logf("%d right-hand sides with 50 stages, %d with 10, %d by dopri5", few, many, plain)
	if many > plain/4 || few > many/2 {
		t.Errorf("%d right-hand sides with 50 stages, %d with 10, %d by dopri5", few, many, plain)
	}
}
