package hybrid_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
)

// bounce is a ball with restitution e that starts at height h.
func bounce(e, height, tf float64) *solvertest.Hybrid {
	h := sys()
	h.N = 2
	h.Init = func(_ C, _ *env, y, _ []C) { y[0], y[1] = complex(height, 0), 0 }
	h.Field = func(_ C, y []C, _ *env, k []C) { k[0], k[1] = y[1], -9.81 }
	event(h, "bounce", func(_ C, y []C, _ *env) C { return -y[0] }, func(_ int, _ C, ym []C, _ *env, yp, _ []C) {
		yp[1] = -complex(e, 0) * ym[1]
	})
	h.Times[1] = instant(solvers.InstantEnd, tf)
	return h
}

// mostEvents lets a run have so many events.
func mostEvents(n int) solvers.EventRules { return solvers.EventRules{MaxEvents: n} }

// TestRest drops balls until they come to rest: an error that names the event,
// never a ball below the floor, never a hang.
func TestRest(t *testing.T) {
	for _, crossing := range []bool{false, true} {
		testRest(t, crossing)
	}
}

func testRest(t *testing.T, crossing bool) {
	es := []float64{0.99, 0.9, 0.8, 0.5, 0.2, 0.05, 0.01}
	for k := range 40 { // where they leave slowly, it takes them long to come out of the floor where rounding left them
		es = append(es, 0.0194+0.001*float64(k))
	}
	for _, e := range es {
		for _, name := range []string{"dopri5", "bs3", "rk4"} {
			if e == 0.99 && name == "bs3" {
				continue
			}
			opts := solvers.Options{RTol: 1e-8, ATol: 1e-8, EventRules: mostEvents(1 << 20)}
			if name == "rk4" {
				opts.Fixed = 0.3
			}
			h := bounce(e, 1, 400)
			h.Conditions[0].Crossing = crossing
			if e < 0.5 { // one guard of several
				event(h, "never", above(1e9), nil)
				slices.Reverse(h.Conditions)
			}
			_, err := solver(h, name, opts).Solve(context.Background(), &log{})
			var c *solvers.ChatteringError
			if !errors.As(err, &c) {
				t.Errorf("%s, e = %v: %v", name, e, err)
				continue
			}
			zeno := math.Sqrt(2/9.81) * (1 + 2*e/(1-e))
			if c.Event != "bounce" || len(c.Times) == 0 || math.Abs(c.T-zeno) > 1e-6*zeno {
				t.Errorf("%s, e = %v: event %s, times %v at %v, want about %v", name, e, c.Event, c.Times, c.T, zeno)
			}
		}
	}
}

func TestRelay(t *testing.T) {
	h := sys()
	h.M = 1
	h.Field = func(_ C, y []C, e *env, k []C) { k[0] = complex(1-2*e.M[0], 0) }
	h.Select = func(_ float64, y []float64, _ *env, m []float64) {
		m[0] = 0
		if y[0] > 1 {
			m[0] = 1
		}
	}
	h.Conditions = []solvertest.Guard{{
		Guard: solvers.Guard{Event: -1, Name: "if@9"}, Strict: true,
		Rho: func(_ C, y []C, e *env) C {
			if e.M[0] == 1 {
				return 1 - y[0]
			}
			return y[0] - 1
		},
	}}
	_, err := solver(h, "dopri5", solvers.Options{}).Solve(context.Background(), &log{})
	var c *solvers.ChatteringError
	if !errors.As(err, &c) || c.Event != "if@9" || len(c.Times) != 5 || c.Kind != solvers.Sliding {
		t.Errorf("sliding: %v", err)
	}
	// The same by two events that fire in turn: the error names both.
	h = sys()
	h.D = 1
	h.Init = func(_ C, _ *env, y, d []C) { y[0], d[0] = 0, 1 }
	h.Field = func(_ C, _ []C, e *env, k []C) { k[0] = e.D[0] }
	turn := func(to C) body { return func(_ int, _ C, _ []C, _ *env, _, dp []C) { dp[0] = to } }
	event(h, "down", above(1), turn(-1))
	event(h, "up", func(_ C, y []C, _ *env) C { return 1 - 1e-11 - y[0] }, turn(1))
	event(h, "rare", above(0.5), nil)
	_, err = solver(h, "dopri5", solvers.Options{}).Solve(context.Background(), &log{})
	if both := map[string]string{"down": "up", "up": "down"}; !errors.As(err, &c) || c.Kind != solvers.Sliding ||
		c.Other == "" || c.Other != both[c.Event] {
		t.Errorf("two events: %v (%+v)", err, c)
	}
}

// TestPatterns tells firings that come at even times from those that come ever faster.
func TestPatterns(t *testing.T) {
	h := sys()
	event(h, "reset", above(1e-5), scale(0))
	_, err := solver(h, "dopri5", solvers.Options{EventRules: mostEvents(50)}).Solve(context.Background(), &log{})
	var c *solvers.ChatteringError
	if !errors.As(err, &c) || c.Kind != solvers.Regular || math.Abs(c.Gap-1e-5) > 1e-15 {
		t.Errorf("even: %v (%+v)", err, c)
	}
	h = bounce(0.5, 1, 10)
	_, err = solver(h, "dopri5", solvers.Options{RTol: 1e-9, ATol: 1e-9, EventRules: mostEvents(15)}).
		Solve(context.Background(), &log{})
	if !errors.As(err, &c) || c.Kind != solvers.Zeno || math.Abs(c.Limit-3*math.Sqrt(2/9.81)) > 1e-6 {
		t.Errorf("ever faster: %v (%+v)", err, c)
	}
}

func TestTooManyEvents(t *testing.T) {
	h := sys()
	event(h, "reset", above(0.01), scale(0))
	_, err := solver(h, "dopri5", solvers.Options{EventRules: mostEvents(20)}).Solve(context.Background(), &log{})
	var c *solvers.ChatteringError
	if !errors.As(err, &c) || c.Event != "reset" || len(c.Times) != 5 {
		t.Errorf("%v", err)
	}
}

// TestShortFlights has bounces far shorter than the steps that accuracy allows.
func TestShortFlights(t *testing.T) {
	h := bounce(1, 1e-4, 0.5)
	for _, name := range []string{"dopri5", "rk4"} {
		opts := solvers.Options{RTol: 1e-4, ATol: 1e-2}
		if name == "rk4" {
			opts = solvers.Options{Fixed: 0.25}
		}
		l := &log{}
		if _, err := solver(h, name, opts).Solve(context.Background(), l); err != nil {
			t.Fatal(err)
		}
		fall := math.Sqrt(2 * 1e-4 / 9.81)
		if want := int((0.5/fall + 1) / 2); len(l.times) != want {
			t.Errorf("%s: %d bounces, want %d", name, len(l.times), want)
		}
	}
}

func TestGrazing(t *testing.T) {
	h := sys()
	h.Field = func(t C, _ []C, _ *env, k []C) { k[0] = 2 - 2*t } // x = 2t - t², at most 1
	event(h, "touch", above(1-1e-13), nil)
	for _, c := range []struct {
		name string
		opts solvers.Options
	}{{"dopri5", solvers.Options{}}, {"rk4", solvers.Options{Fixed: 0.5}}} {
		l := &log{}
		st, err := solver(h, c.name, c.opts).Solve(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.times) == 1 && (len(st.Warnings) != 1 || st.Warnings[0].Kind != solvers.Grazing ||
			st.Warnings[0].Name != "touch") {
			t.Errorf("%s: warnings %v, want grazing", c.name, st.Warnings)
		}
		if c.name == "rk4" && len(l.times) != 1 {
			t.Errorf("%s: the guard is met at a sample, but %v fired", c.name, l)
		}
	}
}
