package hybrid_test

import (
	"context"
	"errors"
	"math"
	"math/cmplx"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
)

// fails runs a system and requires an error of type E.
func fails[E error](t *testing.T, h *solvertest.Hybrid, opts solvers.Options) E {
	t.Helper()
	name := "dopri5"
	if opts.Fixed > 0 {
		name = "rk4"
	}
	_, err := solver(h, name, opts).Solve(context.Background(), &log{})
	var e E
	if !errors.As(err, &e) {
		t.Errorf("%v is no %T", err, e)
	}
	return e
}

func TestTimeErrors(t *testing.T) {
	h := sys()
	for _, end := range []float64{-1, math.NaN(), math.Inf(1)} {
		h.Times[1] = instant(solvers.InstantEnd, end)
		fails[*solvers.TimeError](t, h, solvers.Options{})
	}
	h = sys()
	h.Times[0] = instant(solvers.InstantStart, math.NaN())
	fails[*solvers.TimeError](t, h, solvers.Options{})
}

func TestNeedsEstimate(t *testing.T) {
	h := sys().With(1)
	rk4, _ := methods.Lookup("rk4")
	_, err := hybrid.Solve(context.Background(), h, rk4.New(h.Size(), 0), nil, solvers.Options{}, &log{})
	if err == nil || !strings.Contains(err.Error(), "fixed_step") {
		t.Errorf("%v", err)
	}
}

func TestNotFiniteAtStart(t *testing.T) {
	h := sys()
	h.Init = func(_ C, _ *env, y, _ []C) { y[0] = cmplx.NaN() }
	if e := fails[*solvers.NonFiniteError](t, h, solvers.Options{}); e != nil && e.What != "the initial state" {
		t.Error(e)
	}
	h = sys()
	h.Field = func(_ C, _ []C, _ *env, k []C) { k[0] = cmplx.Inf() }
	for _, fixed := range []float64{0, 0.1} {
		if e := fails[*solvers.NonFiniteError](t, h, solvers.Options{Fixed: fixed}); e != nil &&
			(e.T != 0 || e.What != "the right-hand side") {
			t.Error(e)
		}
	}
	h = sys()
	event(h, "e", func(C, []C, *env) C { return cmplx.NaN() }, nil)
	if e := fails[*solvers.NonFiniteError](t, h, solvers.Options{}); e != nil && e.What != "the condition of e" {
		t.Error(e)
	}
}

func TestNotFiniteAfterBody(t *testing.T) {
	h := sys()
	event(h, "bad", above(1), scale(cmplx.NaN()))
	e := fails[*solvers.NonFiniteError](t, h, solvers.Options{})
	if e != nil && (e.What != "the state after the body of bad" || e.LastEvent != "bad" || math.Abs(e.T-1) > 1e-12) {
		t.Error(e)
	}
	h = sys()
	h.Field = func(_ C, y []C, _ *env, k []C) {
		k[0] = 1
		if real(y[0]) > 3 {
			k[0] = cmplx.NaN()
		}
	}
	event(h, "far", above(1), add(5))
	e = fails[*solvers.NonFiniteError](t, h, solvers.Options{})
	if e != nil && (e.What != "the right-hand side" || e.LastEvent != "far" || len(e.Y) != 1 || e.Y[0] < 6) {
		t.Error(e)
	}
}

// TestNotFiniteTrial has trial steps that leave the domain: they shrink, and
// the event ends the run's stay there.
func TestNotFiniteTrial(t *testing.T) {
	h := sys()
	h.M = 1
	h.Init = func(_ C, _ *env, y, _ []C) { y[0] = 1 }
	h.Field = func(_ C, y []C, e *env, k []C) {
		k[0] = 0
		if e.M[0] == 0 {
			k[0] = -2*cmplx.Sqrt(y[0]) - 0.1
			if real(y[0]) < -1e-3 {
				k[0] = cmplx.NaN()
			}
		}
	}
	h.Select = func(_ float64, y []float64, e *env, m []float64) {
		m[0] = 0
		if y[0] <= 0 {
			m[0] = 1
		}
	}
	h.Conditions = []solvertest.Guard{{Guard: solvers.Guard{Event: -1, Name: "if@1"}, Rho: func(_ C, y []C, e *env) C {
		if e.M[0] == 1 {
			return y[0]
		}
		return -y[0]
	}}}
	h.Conditions[0].Strict = false
	l := &log{}
	st, err := solver(h, "dopri5", solvers.Options{H0: 1}).Solve(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	if l.lines[0] != "if@1" || st.Rejected == 0 {
		t.Errorf("%v, %d rejected", l, st.Rejected)
	}
	h.Conditions, h.Select = nil, nil
	e := fails[*solvers.StepUnderflowError](t, h, solvers.Options{})
	if e != nil && (!e.NonFinite || e.Stage < 0 || len(e.Worst) != 1 || e.Worst[0].Name != "a") {
		t.Errorf("%+v", e)
	}
	if e := fails[*solvers.NonFiniteError](t, h, solvers.Options{Fixed: 0.25}); e != nil && e.Stage < 0 {
		t.Errorf("%+v", e)
	}
}

func TestUnderflow(t *testing.T) {
	h := sys()
	h.Init = func(_ C, _ *env, y, _ []C) { y[0] = 1 }
	h.Field = func(_ C, y []C, _ *env, k []C) { k[0] = y[0] * y[0] } // a pole at t = 1
	e := fails[*solvers.StepUnderflowError](t, h, solvers.Options{HMin: 1e-6})
	if e != nil && (math.Abs(e.T-1) > 1e-2 || len(e.Worst) != 1 || e.Step == 0) {
		t.Errorf("%+v", e)
	}
}

func TestLimits(t *testing.T) {
	h := sys()
	if e := fails[*solvers.TooManyStepsError](t, h, solvers.Options{MaxSteps: 7, HMax: 0.1}); e != nil &&
		(e.Step != 7 || len(e.Y) != 1) {
		t.Error(e)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := solver(h, "dopri5", solvers.Options{}).Solve(ctx, &log{})
	var c *solvers.CancelledError
	if !errors.As(err, &c) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	tr := &record.Trajectory{Limit: 20000}
	_, err = solver(h, "dopri5", solvers.Options{HMax: 1e-4}).Solve(context.Background(), tr)
	var m *record.MemoryError
	if !errors.As(err, &m) || m.Step == 0 || m.Bytes <= m.Limit {
		t.Error(err)
	}
	if tr.Bytes() > tr.Limit {
		t.Errorf("%d bytes, limit %d", tr.Bytes(), tr.Limit)
	}
}

// TestMinimalStep has clipped and event-ended steps below hmin.
func TestMinimalStep(t *testing.T) {
	h := sys()
	event(h, "e", above(1), add(5))
	h.Times = append(h.Times, site(0.5), site(0.5001))
	l := &log{}
	if _, err := solver(h, "dopri5", solvers.Options{HMin: 0.4}).Solve(context.Background(), l); err != nil {
		t.Fatal(err)
	}
}

// TestNoSlivers has no step much shorter than its neighbours before a time that must be met.
func TestNoSlivers(t *testing.T) {
	h := sys()
	h.Times = append(h.Times, site(0.3), site(0.9000001))
	for _, opts := range []solvers.Options{{HMax: 0.1}, {HMax: 0.3}, {HMax: 0.2999}} {
		tr := &record.Trajectory{}
		if _, err := solver(h, "dopri5", opts).Solve(context.Background(), tr); err != nil {
			t.Fatal(err)
		}
		for i := range tr.Steps() {
			s := solvers.Step{H: tr.Length(i)}
			if i > 8 && s.H < 0.02 {
				t.Errorf("hmax %v: step %d has length %v", opts.HMax, i, s.H)
			}
			if s.H > opts.HMax {
				t.Errorf("hmax %v: step %d has length %v", opts.HMax, i, s.H)
			}
		}
	}
	// Ten fixed steps of a tenth end at one, and are ten.
	h = sys()
	h.Times[1] = instant(solvers.InstantEnd, 1)
	l := &log{}
	if _, err := solver(h, "rk4", solvers.Options{Fixed: 0.1}).
		Solve(context.Background(), l); err != nil || l.steps != 10 || l.at != 1 {
		t.Errorf("%d steps to %v, %v", l.steps, l.at, err)
	}
}

func TestSampler(t *testing.T) {
	h := sys()
	event(h, "e", above(1), add(5))
	type row struct{ t, x float64 }
	var rows []row
	each := func(t float64, y, _, _ []float64) error {
		rows = append(rows, row{t, y[0]})
		return nil
	}
	for _, name := range []string{"dopri5", "rk4"} {
		opts := solvers.Options{}
		if name == "rk4" {
			opts.Fixed = 0.3
		}
		rows = nil
		s := &record.Sampler{Times: []float64{-1, 0, 0.4, 1, 1.5, 2, 7}, Each: each}
		if _, err := solver(h, name, opts).Solve(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		want := []row{{0, 0}, {0.4, 0.4}, {1, 1}, {1, 6}, {1.5, 6.5}, {2, 7}}
		if len(rows) != len(want) {
			t.Fatalf("%s: %v", name, rows)
		}
		for i, r := range rows {
			close(t, "time", r.t, want[i].t)
			close(t, "x", r.x, want[i].x)
		}
		rows = nil
		s.Times = nil
		if _, err := solver(h, name, opts).Solve(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		twice := 0
		for i, r := range rows {
			if i > 0 && r.t == rows[i-1].t {
				twice++
			}
		}
		if twice != 1 || rows[0].t != 0 || rows[len(rows)-1].t != 2 {
			t.Errorf("%s: %v", name, rows)
		}
	}
}

// nothing is a sink that keeps nothing.
type nothing struct{}

func (nothing) Begin(solvers.System, solvers.Method) error { return nil }
func (nothing) Step(*solvers.Step, solvers.End) error      { return nil }
func (nothing) Mark(*solvers.Mark) error                   { return nil }

// TestSolveAllocates requires that a run of a solver that has run before allocates nothing.
func TestSolveAllocates(t *testing.T) {
	h := bounce(0.8, 1, 3)
	h.Times = append(h.Times, site(0.5), site(0.7))
	for _, opts := range []solvers.Options{{}, {Fixed: 0.01}} {
		s := solver(h, "dopri5", opts)
		tr := &record.Trajectory{}
		run := func(to solvers.Sink) func() {
			return func() {
				if _, err := s.Solve(context.Background(), to); err != nil {
					t.Fatal(err)
				}
			}
		}
		run(tr)()
		if n := testing.AllocsPerRun(5, run(nothing{})); n > 0 {
			t.Errorf("%v allocations a run", n)
		}
		if n := testing.AllocsPerRun(5, run(tr)); n > 0 {
			t.Errorf("%v allocations a recorded run", n)
		}
	}
}

func TestReplayIsTheRun(t *testing.T) {
	h := bounce(0.8, 1, 3)
	h.Times = append(h.Times, site(0.5), site(0.7))
	tr, live, replayed := &record.Trajectory{}, &log{}, &log{}
	s := solver(h, "dopri5", solvers.Options{})
	if _, err := s.Solve(context.Background(), solvers.Sinks{tr, live}); err != nil {
		t.Fatal(err)
	}
	replayed.names, replayed.guard = live.names, live.guard
	if err := tr.Replay(context.Background(), replayed); err != nil {
		t.Fatal(err)
	}
	if live.String() != replayed.String() || live.steps != replayed.steps || live.final[0] != replayed.final[0] {
		t.Errorf("recorded %v, was %v", replayed, live)
	}
}
