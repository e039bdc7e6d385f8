package explicit

import (
	"fmt"
	"testing"

	"odes.dev/odes/solvers/stages"
	"odes.dev/odes/solvers/tableau"
)

// BenchmarkCombine times the linear combinations of a step.
func BenchmarkCombine(b *testing.B) {
	r := newScheme(&tableau.Dopri5)
	for _, n := range []int{1, 2, 4, 6, 8, 100} {
		for _, of := range []struct {
			name string
			t    *stages.Form
		}{{"1", &r.a[1]}, {"3", &r.a[3]}, {"5", &r.b}, {"6", &r.e}} {
			out, base, k := make([]float64, n), make([]float64, n), make([]float64, 8*n)
			b.Run(fmt.Sprintf("n=%d/terms=%s", n, of.name), func(b *testing.B) {
				for b.Loop() {
					of.t.Combine(out, base, 0.5, k, n)
				}
			})
		}
	}
}
