package sens_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/record"
)

// kept solves the problem into a trajectory that keeps c and recomputes the rest.
func (p *problem) kept(t testing.TB, name string, c record.Checkpoint, limit int64) *record.Trajectory {
	t.Helper()
	tr := &record.Trajectory{Keep: c, Limit: limit}
	tr.Replayer = func() (solvers.System, solvers.Method) { return p.Hybrid.With(1), p.method(t, name, 0) }
	m := p.method(t, name, 0)
	var ctl hybrid.Controller
	if p.opts.Fixed == 0 {
		ctl, _ = hybrid.NewController("", m.Info())
	}
	if _, err := hybrid.Solve(context.Background(), p.Hybrid.With(1), m, ctl, p.opts, tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

// identical requires the same bits of two results.
func identical(t *testing.T, what string, got, want *sens.Result) {
	t.Helper()
	same := func(of string, x, y []float64) {
		t.Helper()
		if len(x) != len(y) {
			t.Fatalf("%s: %d %s, want %d", what, len(x), of, len(y))
		}
		for i := range x {
			if math.Float64bits(x[i]) != math.Float64bits(y[i]) {
				t.Fatalf("%s: number %d of the %s is %v, want %v", what, i, of, x[i], y[i])
			}
		}
	}
	same("functionals", got.Functionals, want.Functionals)
	same("values", got.Psi, want.Psi)
	same("derivatives", got.DP, want.DP)
	same("derivatives by initial values", got.DY0, want.DY0)
	if len(got.Events) != len(want.Events) || fmt.Sprint(got.Warnings) != fmt.Sprint(want.Warnings) {
		t.Fatalf("%s: %d events and warnings %v, want %d and %v", what, len(got.Events), got.Warnings, len(want.Events),
			want.Warnings)
	}
	for i := range got.Events {
		same("derivatives of an event's time", got.Events[i].DP, want.Events[i].DP)
	}
}

// TestKept holds that all sensitivity methods give the same bits however the run is kept: through events of all
// kinds, modes, discretes, quadratures, moving ends and observations inside steps, in one sweep or several.
func TestKept(t *testing.T) {
	keptAlike(t, func(p *problem, name string) []sens.Method {
		methods := p.methods(t, name)
		return append(methods[:len(methods)-1:len(methods)-1], p.adjoint(t, name, 64),
			&sens.Forward{New: methods[3].(*sens.Tangent).New})
	})
}

// TestKeptThreads holds the same of sweeps in several goroutines.
//
//odes:goroutines
func TestKeptThreads(t *testing.T) {
	keptAlike(t, func(p *problem, name string) []sens.Method {
		many := p.adjoint(t, name, 1)
		many.Threads = 3
		return []sens.Method{many}
	})
}

// keptAlike compares derivatives of runs that are kept in several ways.
func keptAlike(t *testing.T, of func(p *problem, name string) []sens.Method) {
	p, _ := observed()
	p.opts.Observe = solvers.ObserveDense
	for _, name := range []string{"dopri5", "rk4", "vern7", "rk4, vern7, rkf45", "rk4, rodas5p"} {
		if p.opts.Fixed = 0; strings.HasPrefix(name, "rk4") {
			p.opts.Fixed = 0.07
		}
		opts := sens.Options{Initial: true, EventTimes: true}
		whole, _ := p.run(t, name)
		for i, m := range of(p, name) {
			var want sens.Result
			if err := m.Gradient(t.Context(), whole, opts, &want); err != nil {
				t.Fatal(err)
			}
			for _, c := range []record.Checkpoint{
				{Kind: record.CheckpointEvery},
				{Kind: record.CheckpointEvery, Every: 5},
				{Kind: record.CheckpointBinomial, RAM: 4},
				{Kind: record.CheckpointBinomial, RAM: 9},
			} {
				if _, costly := m.(*sens.ComplexStep); costly && c.RAM == 4 {
					continue
				}
				var got sens.Result
				tr := p.kept(t, name, c, 0)
				if err := m.Gradient(t.Context(), tr, opts, &got); err != nil {
					t.Fatal(err)
				}
				identical(t, fmt.Sprintf("%s, method %d (%s) of a run kept by %s", name, i, m.Name(), c), &got, &want)
				if tr.Replayed() == 0 {
					t.Errorf("%s: no step was recomputed", c)
				}
			}
		}
	}
}

// TestKeptCancel ends a gradient while steps are recomputed.
func TestKeptCancel(t *testing.T) {
	p := everything()
	p.opts.Fixed = 0.01
	tr := p.kept(t, "rk4", record.Checkpoint{Kind: record.CheckpointBinomial, RAM: 2}, 0)
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	tr.Replayer = func() (solvers.System, solvers.Method) {
		return p.Hybrid.With(1), counting{p.method(t, "rk4", 0), func() {
			if steps++; steps == 50 {
				cancel()
			}
		}}
	}
	var res sens.Result
	err := p.adjoint(t, "rk4", 5).Gradient(ctx, tr, sens.Options{}, &res)
	if !errors.Is(err, context.Canceled) || steps != 50 {
		t.Errorf("%v after %d steps", err, steps)
	}
}

// counting is a method that tells of each step.
type counting struct {
	solvers.Method
	tell func()
}

func (c counting) Step(f solvers.Field, s *solvers.Step, reuse bool) {
	c.tell()
	c.Method.Step(f, s, reuse)
}
