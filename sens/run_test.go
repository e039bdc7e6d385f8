package sens_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
)

// problem is a system with objectives and the way to solve it.
type problem struct {
	closures
	opts solvers.Options
}

func (p *problem) method(t testing.TB, name string, lanes int) solvers.Method {
	t.Helper()
	return methodSpec(t, name).New(p.Size(), lanes)
}

func methodSpec(t testing.TB, name string) *solvers.Spec {
	t.Helper()
	spec, ok := methods.Lookup(name)
	if !ok {
		spec = switching[name]
	}
	if spec == nil {
		t.Fatalf("no method %s", name)
	}
	return spec
}

// switching are methods whose members take turns, so that every other step or so is made by another one: with other
// stages, with the slope at the end and without it, with further stages of the dense output and without.
var switching = map[string]*solvers.Spec{}

func init() {
	for name, of := range map[string]struct {
		steps   int
		members []string
	}{
		"bs3, dop853":       {1, []string{"bs3", "dop853"}},
		"dopri5, rkc2":      {2, []string{"dopri5", "rkc2"}},
		"dopri5, rodas5p":   {1, []string{"dopri5", "rodas5p"}},
		"rk4, rodas5p":      {1, []string{"rk4", "rodas5p"}},
		"rosenbrock23, bs3": {1, []string{"rosenbrock23", "bs3"}},
		"rk4, vern7, rkf45": {1, []string{"rk4", "vern7", "rkf45"}},
		"dopri5, rodas4":    {3, []string{"dopri5", "rodas4"}},
	} {
		var members []*solvers.Spec
		for _, m := range of.members {
			spec, _ := methods.Lookup(m)
			members = append(members, spec)
		}
		switching[name] = solvers.TakingTurns(name, of.steps, members...)
	}
}

// with returns objectives over a system of their own with l lanes.
func (p *problem) with(l int) *closures {
	c := p.closures
	c.Hybrid = p.Hybrid.With(l)
	return &c
}

// solve records a run.
func (p *problem) solve(t testing.TB, name string) (*record.Trajectory, solvers.Stats, error) {
	t.Helper()
	tr := &record.Trajectory{}
	m := p.method(t, name, 0)
	var ctl hybrid.Controller
	if p.opts.Fixed == 0 {
		ctl, _ = hybrid.NewController("", m.Info())
	}
	st, err := hybrid.Solve(context.Background(), p.Hybrid.With(1), m, ctl, p.opts, tr)
	return tr, st, err
}

func (p *problem) run(t testing.TB, name string) (*record.Trajectory, solvers.Stats) {
	t.Helper()
	tr, st, err := p.solve(t, name)
	if err != nil {
		t.Fatal(err)
	}
	return tr, st
}

func (p *problem) adjoint(t testing.TB, name string, lanes int) *sens.Adjoint {
	return &sens.Adjoint{New: func() sens.CotangentWorker {
		o := p.with(lanes)
		return sens.CotangentWorker{System: o.Hybrid, Objectives: o, Method: p.method(t, name, lanes)}
	}}
}

func (p *problem) methods(t testing.TB, name string) []sens.Method {
	complexWorker := func() sens.ComplexWorker {
		o := p.with(1)
		sys := &complexSystem{Complex: o.Hybrid.Complex()}
		return sens.ComplexWorker{
			System: sys, Objectives: &complexClosures{o, sys}, Method: p.method(t, name, 0),
			Params: p.Params, RealSystem: o.Hybrid, RealObjectives: o,
		}
	}
	return []sens.Method{
		&sens.ComplexStep{New: complexWorker},
		p.adjoint(t, name, 1),
		p.adjoint(t, name, 3),
		&sens.Tangent{New: func() sens.TangentWorker {
			o := p.with(2)
			return sens.TangentWorker{System: o.Hybrid, Objectives: o, Method: p.method(t, name, 2)}
		}},
		&sens.Differences{New: complexWorker},
	}
}

// compare differentiates a run by all methods and compares them with the complex
// step, relative to the largest derivative of the same objective. It returns
// the result of the adjoint.
func (p *problem) compare(
	t *testing.T, name string, tr *record.Trajectory, _ solvers.Stats, tol float64,
) *sens.Result {
	t.Helper()
	opts := sens.Options{Initial: true, EventTimes: true}
	var want, adjoint sens.Result
	for i, m := range p.methods(t, name) {
		res := sens.Result{}
		if i == 0 {
			res = want
		}
		if err := m.Gradient(context.Background(), tr, opts, &res); err != nil {
			t.Fatalf("%s: %v", m.Name(), err)
		}
		switch i {
		case 0:
			want = res
			continue
		case 1:
			adjoint = res
		}
		limit := tol
		if m.Name() == "differences" {
			limit = max(tol, 1e-7)
		}
		what := fmt.Sprintf("%s/%s", name, m.Name())
		rows(t, what+": dψ/dp", res.DP, want.DP, p.m, limit)
		rows(t, what+": dψ/dy0", res.DY0, want.DY0, p.m, limit)
		if len(res.Events) != len(want.Events) {
			t.Fatalf("%s: %d events, want %d", what, len(res.Events), len(want.Events))
		}
		for e := range res.Events {
			rows(t, fmt.Sprintf("%s: dt(%d)/dp", what, e), res.Events[e].DP, want.Events[e].DP, 1, limit)
		}
	}
	return &adjoint
}

func rows(t *testing.T, what string, got, want []float64, n int, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	if n == 0 || len(got) == 0 {
		return
	}
	w := len(got) / n
	most := 1.0
	for _, v := range want {
		most = max(most, math.Abs(v))
	}
	for i := range n {
		size := 1e-2 * most // of a row that is zero but for rounding
		for _, v := range want[i*w : (i+1)*w] {
			size = max(size, math.Abs(v))
		}
		for j := range w {
			if g, x := got[i*w+j], want[i*w+j]; !(math.Abs(g-x) <= tol*size) {
				t.Errorf("%s[%d][%d] = %.17g, want %.17g (off by %.2g of the row)", what, i, j, g, x,
					math.Abs(g-x)/size)
			}
		}
	}
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s = %.17g, want %.17g (off by %.2g)", what, got, want, got-want)
	}
}
