package compile_test

import (
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// BenchmarkParse measures the time from text to a model that is ready to run. It must not grow with
// the number of elements.
func BenchmarkParse(b *testing.B) {
	for _, name := range []string{"bounce/bounce", "glv/glv200", "heat2d/heat2d_512", "pk/pk"} {
		b.Run("model="+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := odes.ParseFile(modeltest.Path("examples/" + name + ".ode")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
