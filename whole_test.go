package odes

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes/internal/simd"
	"odes.dev/odes/internal/system"
	"odes.dev/odes/solvers"
)

// TestWholeSteps checks that steps and transposes that are compiled as one program give the bits of
// the stages one by one: on every example, with methods of all kinds. No example may fail with any of
// them. A gradient of many columns is computed with the example's own method only.
func TestWholeSteps(t *testing.T) {
	files, err := filepath.Glob("examples/*/*.ode")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	steps, transposes := 0, 0 // compiled
	for _, file := range files {
		if strings.Contains(file, "512") {
			continue // takes minutes
		}
		for _, c := range []struct {
			method string
			lanes  int
		}{{"", 0}, {"", 1}, {"", 3}, {"bs3", 2}, {"vern7", 8}, {"rkc2", 1}, {"dopri8", 2}} {
			m, err := ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Threads: 1, Lanes: c.lanes, EventTimes: true}
			if c.method != "" {
				o.Settings = []Setting{{Key: "solver.method", Value: c.method}, {Key: "solver.rtol", Value: "1e-4"}}
			}
			run := func(whole int) *Sensitivities {
				o.compileAfter = &system.CompileAfter{Small: whole, Large: whole}
				r, err := m.Prepare(o)
				if err != nil {
					t.Fatal(file, err)
				}
				s, err := r.Sensitivities(context.Background())
				if err != nil {
					t.Fatalf("%s, %s: %v", file, c.method, err)
				}
				if step, _ := r.worker.StepStats(); step != nil {
					steps++
				}
				_, n, _ := m.system.StepPrograms()
				transposes += n
				return s
			}
			want, got := run(math.MaxInt), run(0)
			if want.Stats.Steps != got.Stats.Steps {
				t.Errorf("%s, %s: %d steps, %d when compiled", file, c.method, want.Stats.Steps, got.Stats.Steps)
				continue
			}
			for i, v := range want.Values {
				if x := got.Values[i].Value; math.Float64bits(x) != math.Float64bits(v.Value) && x == x {
					t.Errorf("%s, %s: value %d is %v, %v when compiled", file, c.method, i, v.Value, x)
				}
			}
			for i, v := range want.Gradient {
				if x := got.Gradient[i]; math.Float64bits(x) != math.Float64bits(v) && (x == x || v == v) {
					t.Errorf("%s, %s, %d lanes: derivative %d is %v, %v when compiled", file, c.method, c.lanes, i, v,
						x)
					break
				}
			}
			if len(want.Gradient) > 1000 {
				break
			}
		}
	}
	if simd.Backend() != simd.Generic && (steps < 100 || transposes < 50) {
		t.Errorf("only %d runs had compiled steps, %d compiled transposes", steps, transposes)
	}
}

// TestWholeStepsAllocateNothing repeats one step and its transpose.
func TestWholeStepsAllocateNothing(t *testing.T) {
	m, err := ParseFile("examples/pk/pk.ode")
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.begin(Options{compileAfter: &system.CompileAfter{}})
	if err != nil {
		t.Fatal(err)
	}
	variables, _ := m.variables(r.settings.Wrt, &r.warnings)
	r.differentiate(variables)
	const lanes = 4
	k, err := r.problem.Kit(lanes, system.Pull, false)
	if err != nil {
		t.Fatal(err)
	}
	w := r.problem.Worker(k)
	times, y := w.AtStart()
	w.Begin(make([][]float64, lanes))
	n, method := len(y), r.method(lanes)
	s := smallStep(w, method, times, y)
	v := func(n int) []float64 { return make([]float64, n*lanes) }
	c := &solvers.StepCotangent{T1: v(1), Y1: v(n), DQ: v(len(s.DQ)), T0: v(1), H: v(1), Y0: v(n)}
	both := func() {
		method.Step(w, s, true)
		method.Pull(w, s, c)
	}
	both()
	if n := testing.AllocsPerRun(100, both); n > 0 {
		t.Errorf("%v allocations in a step and its transpose", n)
	}
	step, back := w.StepStats()
	if simd.Backend() == simd.Generic {
		return
	}
	if step == nil || back == nil {
		t.Fatal("they were not compiled")
	}
	// What the time of a step is made of: one entry, and so many instructions.
	if a, b := step, back; a.Steps != 1 || b.Steps != 1 || a.Instructions > 200 || b.Instructions > 450 {
		t.Errorf("a step is %d programs of %d instructions, its transpose %d of %d; they were 1 of 178 and 1 of 422",
			a.Steps, a.Instructions, b.Steps, b.Instructions)
	}
}

// TestWholeStepsNoteFactors checks that a compiled transpose fills the ledger as the stages one by one do.
func TestWholeStepsNoteFactors(t *testing.T) {
	m, err := Parse("test.ode", `
time t from 0 to 20
param r[5] = 0.1
param A[5,5] = [[if i == j then -1 else 0.1*sin(3*i + j) for j in 1:5] for i in 1:5]
param B[5,5] = 0.01
state x[5] = 0.1
x' = x * (r + A @ x) + 0.1*sin(t)*(B @ x)
objective x_T[i] = final(x[i]) for i in 1:5
objective area = integral(x[1] * x[2])
`, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, lanes := range []int{6, 8} {
		var want []float64
		for _, after := range []int{math.MaxInt, 0, 7} {
			r, err := m.Prepare(Options{
				compileAfter: &system.CompileAfter{Small: after}, Threads: 1, Lanes: lanes,
				Settings: []Setting{{Key: "solver.rtol", Value: "1e-9"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				s, err := r.Sensitivities(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = append(want, s.Gradient...)
				}
				for i, x := range s.Gradient {
					if math.Float64bits(x) != math.Float64bits(want[i]) {
						t.Fatalf("%d lanes, compiled after %d steps: derivative %d is %v, not %v", lanes, after, i, x,
							want[i])
					}
				}
			}
		}
		if _, _, noting := m.system.StepPrograms(); noting == 0 && simd.Backend() != simd.Generic {
			t.Error("no transpose that notes factors was compiled")
		}
	}
}
