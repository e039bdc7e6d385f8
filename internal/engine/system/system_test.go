package system_test

import (
	"math"
	"testing"

	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/typecheck"
)

// modelOf compiles a text.
func modelOf(t *testing.T, text string) *compiled.Model {
	t.Helper()
	var list diag.List
	checked, _ := compile.Text("test.ode", text, typecheck.Env{}, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	m, _ := compile.Model(checked, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return m
}

// pointOf returns the point of m with overrides.
func pointOf(t *testing.T, m *compiled.Model, set ...compiled.Override) *compiled.Point {
	t.Helper()
	var list diag.List
	pt := m.NewPoint(set, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return pt
}

// adjoint returns what solves p by a method into record and differentiates its objectives, so many at once. The next
// call overwrites the result. record has a Replayer afterwards.
func adjoint(
	t *testing.T, p *system.Problem, name string, o solvers.Options, lanes int, record *record.Trajectory,
) func() *sens.Result {
	t.Helper()
	return adjointBy(t, p, name, o, lanes, record, func(w *system.Worker) sens.CotangentObjectives { return w })
}

// adjointBy is adjoint with objectives that stand before those of its workers.
func adjointBy(
	t *testing.T, p *system.Problem, name string, o solvers.Options, lanes int, record *record.Trajectory,
	by func(*system.Worker) sens.CotangentObjectives,
) func() *sens.Result {
	t.Helper()
	spec, ok := methods.Lookup(name)
	if !ok {
		t.Fatalf("there is no method %s", name)
	}
	info := spec.Info()
	p.StepStages, p.Stages = info.Stages, info.Stages+info.DenseStages
	values, err := p.Kit(1, compiled.Values, false)
	if err != nil {
		t.Fatal(err)
	}
	pull, err := p.Kit(lanes, compiled.Pull, false)
	if err != nil {
		t.Fatal(err)
	}
	rule, _ := hybrid.LookupController("")
	solver := hybrid.NewSolver(p.Worker(values), spec.New(p.Size(), 0), rule.Controller(info), o)
	record.Replayer = func() (solvers.System, solvers.Method) {
		return p.Worker(values), spec.New(p.Size(), 0)
	}
	method := &sens.Adjoint{Threads: 1, New: func() sens.CotangentWorker {
		w := p.Worker(pull)
		return sens.CotangentWorker{System: w, Objectives: by(w), Method: spec.New(p.Size(), lanes)}
	}}
	var res sens.Result
	return func() *sens.Result {
		t.Helper()
		if _, err := solver.Solve(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		if err := method.Gradient(t.Context(), record, sens.Options{Initial: len(p.Free) > 0}, &res); err != nil {
			t.Fatal(err)
		}
		return &res
	}
}

// TestWorker solves a model through its worker alone, and differentiates it: x' = -k x has the closed form
// x(1) = x0 exp(-k), d/dk = -x0 exp(-k), d/dx0 = exp(-k).
func TestWorker(t *testing.T) {
	m := modelOf(t, "time t from 0 to 1\nparam k = 0.7, x0 = 3\nstate x = x0\nx' = -k*x\nobjective J = final(x)\n")
	variables := []compiled.Variable{
		{Name: "k", Place: vec.Place{Offset: 0, Len: 1}},
		{Name: "x0", Place: vec.Place{Offset: 1, Len: 1}},
	}
	p := system.NewProblem(m, pointOf(t, m), []int{0}, nil)
	p.Differentiate(p.Point.Active(variables))
	res := adjoint(t, p, "dopri5", solvers.Options{RTol: 1e-10, ATol: 1e-12}, 1, &record.Trajectory{})()
	row := make([]float64, 2)
	g := p.Gatherer(variables)
	g.Gather(row, res.DP, nil)
	decay := math.Exp(-0.7)
	for i, want := range []float64{-3 * decay, decay} {
		if math.Abs(row[i]-want) > 1e-8 {
			t.Errorf("derivative %d is %v, want %v", i, row[i], want)
		}
	}
	if math.Abs(res.Psi[0]-3*decay) > 1e-8 {
		t.Errorf("x(1) = %v, want %v", res.Psi[0], 3*decay)
	}
}
