package system

import (
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/solvers"
)

// TestApartAllocates holds that two conditions are compared next to a run without a copy of all conditions: many of
// them may meet, as those of controls on one grid do.
func TestApartAllocates(t *testing.T) {
	allocations := func(n int) float64 {
		var b strings.Builder
		b.WriteString("time t from 0 to 1\nparam k = 2\nstate x = 0\nx' = 1\nobjective J = final(x)\n")
		for i := range n {
			fmt.Fprintf(&b, "event e%d when x > %g*k^%d { x += k }\n", i, 0.1+0.001*float64(i), i%3)
		}
		p := problemOf(t, b.String())
		k, err := p.Kit(1, compiled.Values, false)
		if err != nil {
			t.Fatal(err)
		}
		w := p.Worker(k)
		_, y := w.AtStart()
		var d []float64
		a, c := solvers.Cause{Guard: 0, Instant: -1}, solvers.Cause{Guard: 1, Instant: -1}
		if !w.Apart(0.5, y, d, a, c) {
			t.Errorf("two of %d conditions cannot come apart", n)
		}
		return testing.AllocsPerRun(5, func() { w.Apart(0.5, y, d, a, c) })
	}
	if few, many := allocations(4), allocations(100); many > few {
		t.Errorf("%g allocations among 4 conditions, %g among 100", few, many)
	}
}
