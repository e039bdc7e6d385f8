package hybrid_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
)

type (
	C   = solvertest.C
	env = solvertest.Env
)

// log is a sink that writes down what happens.
type log struct {
	names []solvers.Event
	guard []solvers.Guard
	lines []string
	times []float64
	steps int
	final []float64
	at    float64
}

func (l *log) Begin(sys solvers.System, _ solvers.Method) error {
	*l = log{names: sys.Events(), guard: sys.Guards()}
	return nil
}

// now reports whether t is the end of the last step, or just after it: events that count as one happen at the last.
func (l *log) now(t float64) bool { return t >= l.at && t-l.at < 1e-9 }

func (l *log) Step(s *solvers.Step, e solvers.End) error {
	if s.H < 0 || s.T1 < s.T || !l.now(s.T) {
		return fmt.Errorf("step from %v by %v to %v after %v", s.T, s.H, s.T1, l.at)
	}
	l.at = s.T1
	if s.H > 0 {
		l.steps++
	} else {
		l.lines = append(l.lines, "0")
	}
	return nil
}

func (l *log) Mark(m *solvers.Mark) error {
	line := ""
	switch m.Kind {
	case solvers.MarkStart:
		l.at = m.T
		return nil
	case solvers.MarkFire:
		line = l.names[m.Firing.Event].ElemName(m.Firing.Elem)
		l.times = append(l.times, m.T)
	case solvers.MarkMode:
		line = l.guard[m.Guard].Name
		l.times = append(l.times, m.T)
	case solvers.MarkRemode:
		line = "remode"
	case solvers.MarkSite:
		line = fmt.Sprintf("site(%.4g,%.4g)", m.Ym[0], m.Yp[0])
	case solvers.MarkFinal:
		line = "end"
		l.final = slices.Clone(m.Yp)
	}
	if !l.now(m.T) {
		return fmt.Errorf("%s at %v, but the last step ended at %v", line, m.T, l.at)
	}
	l.lines = append(l.lines, line)
	return nil
}

func (l *log) String() string { return strings.Join(l.lines, " ") }

// sys is a system under construction: x' = 1 from x = 0 unless told otherwise, from 0 to 2.
func sys() *solvertest.Hybrid {
	h := &solvertest.Hybrid{
		N:     1,
		Init:  func(_ C, _ *env, y, _ []C) { y[0] = 0 },
		Field: func(_ C, _ []C, _ *env, k []C) { k[0] = 1 },
	}
	h.Times = []solvertest.Instant{instant(solvers.InstantStart, 0), instant(solvers.InstantEnd, 2)}
	return h
}

func instant(k solvers.InstantKind, t float64) solvertest.Instant {
	i := solvertest.Instant{At: func(*env) C { return complex(t, 0) }}
	i.Kind, i.Period, i.To, i.Count, i.Fixed = k, -1, -1, -1, true
	return i
}

func site(t float64) solvertest.Instant { return instant(solvers.InstantSite, t) }

func fire(event int, t float64) solvertest.Instant {
	i := instant(solvers.InstantFire, t)
	i.Event = event
	return i
}

type body = func(elem int, t C, ym []C, e *env, yp, dp []C)

// event adds an event with a body, and its guard unless rho is nil. It returns its index.
func event(h *solvertest.Hybrid, name string, rho func(t C, y []C, e *env) C, b body) *solvertest.Event {
	ev := solvertest.Event{Body: b}
	ev.Name, ev.Elems, ev.Explicit = name, 1, rho == nil
	h.Bodies = append(h.Bodies, ev)
	n := len(h.Bodies) - 1
	if rho != nil {
		h.Conditions = append(h.Conditions, solvertest.Guard{Guard: solvers.Guard{Event: n}, Rho: rho})
	}
	return &h.Bodies[n]
}

// above is the root function of x > c or x >= c.
func above(c C) func(t C, y []C, e *env) C { return func(_ C, y []C, _ *env) C { return y[0] - c } }

func add(x C) body { return func(_ int, _ C, ym []C, _ *env, yp, _ []C) { yp[0] = ym[0] + x } }

func scale(x C) body { return func(_ int, _ C, ym []C, _ *env, yp, _ []C) { yp[0] = ym[0] * x } }

func solver(h *solvertest.Hybrid, name string, opts solvers.Options) *hybrid.Solver {
	m := method(name).New(h.Size(), 0)
	var ctl hybrid.Controller
	if opts.Fixed == 0 {
		ctl, _ = hybrid.NewController("", m.Info())
	}
	return hybrid.NewSolver(h.With(1), m, ctl, opts)
}

// method returns the method of that name; "bs3, dop853" take turns.
func method(name string) *solvers.Spec {
	var list []*solvers.Spec
	for one := range strings.SplitSeq(name, ", ") {
		m, _ := methods.Lookup(one)
		list = append(list, m)
	}
	if len(list) > 1 {
		return solvers.TakingTurns(name, 1, list...)
	}
	return list[0]
}

// both runs a system with fixed steps of a quarter and adaptively, and requires the same story, and of
// every way to keep it the same run.
func both(t *testing.T, h *solvertest.Hybrid, want string, check func(l *log, st solvers.Stats)) {
	t.Helper()
	for _, c := range []struct {
		name string
		opts solvers.Options
	}{
		{"rk4", solvers.Options{Fixed: 0.25}},
		{"dopri5", solvers.Options{}},
		{"tsit5", solvers.Options{H0: 10}},
		{"bs3", solvers.Options{HMax: 0.3}},
		{"bs3, dop853", solvers.Options{}},
		{"rk4, vern7, rkc2", solvers.Options{Fixed: 0.25}},
	} {
		l := &log{}
		h.Asked = new(int)
		st, err := solver(h, c.name, c.opts).Solve(context.Background(), l)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		spent(t, st, *h.Asked, l.lines, l.times, l.final)
		if l.String() != want {
			t.Errorf("%s: %s; want %s", c.name, l, want)
		}
		if check != nil {
			check(l, st)
		}
		sameKept(t, solver(h, c.name, c.opts), h, c.name)
	}
}

func close(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-13*(1+math.Abs(want))) {
		t.Errorf("%s = %.17g, want %.17g", what, got, want)
	}
}
