package hybrid_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

// stiffChain is a model of n species that react with the next one at rates of many sizes.
func stiffChain(n int) string {
	var b strings.Builder
	b.WriteString("time t from 0 to 1\n")
	for i := range n {
		fmt.Fprintf(&b, "param k%d = %g\nstate x%d = 1\n", i, []float64{1e4, 0.5, 30}[i%3], i)
	}
	for i := range n {
		before := (i + n - 1) % n
		fmt.Fprintf(&b, "x%d' = k%d*x%d*x%d - k%d*x%d*x%d\n", i, before, before, i, i, i, (i+1)%n)
	}
	b.WriteString("objective J = final(x1)^2\n")
	return b.String()
}

// TestBegunPrograms makes the programs of transposes while the run is made that wants them, once: before and after it
// turns stiff, and where it fails. Gradients have the bits of one thread.
//
//odes:goroutines
func TestBegunPrograms(t *testing.T) {
	m, err := odes.Parse("chain.ode", stiffChain(300), odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	for _, threads := range []int{1, 2} {
		for _, method := range []string{"auto", "rodas5p", "dopri5"} {
			s, err := m.Sensitivities(t.Context(), odes.Options{Threads: threads, Settings: []odes.Setting{
				{Key: "solver.method", Value: method},
				{Key: "solver.rtol", Value: "1e-4"},
				{Key: "sens.trust", Value: "off"},
			}})
			if err != nil {
				t.Fatal(method, err)
			}
			if threads == 1 {
				want = append(want, s.Gradient...)
			} else if n := len(s.Gradient); !slices.Equal(s.Gradient, want[:n]) {
				t.Errorf("%s: other bits with two threads", method)
			} else {
				want = want[n:]
			}
		}
		if m, err = odes.Parse("chain.ode", stiffChain(300), odes.ParseOptions{}); err != nil { // with no programs
			t.Fatal(err)
		}
	}
	_, err = m.Sensitivities(t.Context(), odes.Options{Threads: 2, Settings: []odes.Setting{
		{Key: "solver.method", Value: "dopri5"}, {Key: "solver.max_steps", Value: "3"},
	}})
	if err == nil {
		t.Error("a run of three steps does not fail")
	}
}
