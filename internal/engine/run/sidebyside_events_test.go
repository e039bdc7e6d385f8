package run_test

import (
	"math/rand/v2"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// BenchmarkSideBySideEvents is the time of the gradient of a bouncing ball, and of predators that are culled, in lanes
// and alone: one operation is a member.
func BenchmarkSideBySideEvents(b *testing.B) {
	ball, err := odes.ParseFile(modeltest.Path("examples/bounce/bounce.ode"))
	if err != nil {
		b.Fatal(err)
	}
	cull, err := odes.Parse("m.ode", `
time t from 0 to 10
param a = 1.5, b = 1, c = 3, d = 1
state x = 1
state y = 1
x' = a*x - b*x*y
y' = -c*y + d*x*y
event cull when x > 5.5 { x = 0.8*x }
objective J = final(x) + final(y)
`, odes.ParseOptions{})
	if err != nil {
		b.Fatal(err)
	}
	draw := func(name string, lo, hi float64) func(i int) []odes.Assignment {
		return func(i int) []odes.Assignment {
			r := rand.New(rand.NewPCG(uint64(i), 5))
			return []odes.Assignment{{Name: name, Values: []float64{lo + (hi-lo)*r.Float64()}}}
		}
	}
	opts := odes.Options{Threads: 1, Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}}
	besideAlone(b, "bounce", ball, opts, draw("e", 0.6, 0.9))
	opts.Of = []string{"height"}
	besideAlone(b, "bounce1", ball, opts, draw("e", 0.6, 0.9))
	opts.Of = nil
	opts.Settings = append(opts.Settings, odes.Setting{Key: "solver.method", Value: "dopri5"},
		odes.Setting{Key: "solver.rtol", Value: "1e-8"}, odes.Setting{Key: "sens.mode", Value: "adjoint"})
	besideAlone(b, "cull", cull, opts, draw("a", 1.3, 1.7))
}
