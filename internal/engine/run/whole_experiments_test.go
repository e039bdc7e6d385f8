package run

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/result"
)

// TestExperimentsShareSteps counts the steps of experiments together: programs of whole steps that none of them makes
// enough steps for alone. Results have the same bits, whatever the number of threads.
//
//odes:goroutines
func TestExperimentsShareSteps(t *testing.T) {
	if simd.Backend() == simd.Generic {
		t.Skip("steps are not compiled")
	}
	const n = 9
	var b strings.Builder
	b.WriteString("time t from 0 to 4\nparam k = 0.7, s = 0.2, d = 1\nstate x = d, y = 0\n" +
		"x' = -k*x\ny' = k*x - s*y*y\n" + "data D { time = [1, 3]  v = [0.4, 0.5] }\n" +
		"observe o = y ~ normal(0.1) from D.v\nobjective J = nll()\n")
	for i := range n {
		fmt.Fprintf(&b, "experiment e%d { d = %d  use D }\n", i, i+1)
	}
	m, err := Parse("shared.ode", b.String(), ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var want *result.Sensitivities
	for _, threads := range []int{1, 4} {
		for _, after := range []int{math.MaxInt, 100} {
			r, err := m.Prepare(Options{
				Threads: threads, compileAfter: &compiled.CompileAfter{Small: after},
				Settings: []Setting{{"sens.order", "2"}, {"sens.trust", "off"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			s, err := r.Sensitivities(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = s
			}
			for i, x := range append(s.Gradient, s.Hessian...) {
				if old := append(want.Gradient, want.Hessian...)[i]; math.Float64bits(x) != math.Float64bits(old) {
					t.Errorf("%d threads, %d steps: number %d is %v, and was %v", threads, after, i, x, old)
				}
			}
			compiled := 0
			for _, part := range r.parts {
				if steps := part.trajectory.Steps(); steps > 60 {
					t.Fatalf("an experiment takes %d steps: the test shows nothing", steps)
				}
				if step, _ := part.worker.StepStats(); step != nil {
					compiled++
				}
			}
			if compiled < n/2 && after == 100 || compiled > 0 && after != 100 {
				t.Errorf("%d threads, after %d steps: %d of %d experiments have whole steps", threads, after,
					compiled, n)
			}
		}
	}
}
