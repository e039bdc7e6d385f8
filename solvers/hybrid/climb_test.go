package hybrid_test

import (
	"slices"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
)

// TestOrderFollows holds that a run of radau at a tight tolerance begins with order 5, goes up to order 13 and takes a
// fraction of the steps of order 5, and that a run at a crude tolerance stays there.
func TestOrderFollows(t *testing.T) {
	run := func(name string, rtol float64, h *solvertest.Hybrid) (solvers.Stats, []int) {
		t.Helper()
		m, _ := methods.Lookup(name)
		method := m.New(h.Size(), 0)
		c, _ := hybrid.NewController("", method.Info())
		var tr record.Trajectory
		stats, err := hybrid.Solve(t.Context(), h, method, c, solvers.Options{RTol: rtol, ATol: rtol},
			solvers.Sinks{&tr})
		if err != nil {
			t.Fatal(name, err)
		}
		var members []int
		for i := range tr.Steps() {
			k, _ := tr.Member(i)
			members = append(members, k)
		}
		return stats, members
	}
	smooth := relaxation(1e4).With(1)
	low, _ := run("radau5", 1e-11, smooth)
	all, members := run("radau", 1e-11, smooth)
	if !(3*all.Steps < low.Steps) || members[0] != 0 || slices.Max(members) != 2 || all.Changes < 2 {
		t.Errorf("%d steps for %d of order 5, by %v", all.Steps, low.Steps, members)
	}
	if crude, members := run("radau", 1e-2, smooth); crude.Changes > 0 || slices.Max(members) > 0 {
		t.Errorf("at a crude tolerance: %v", members)
	}
}
