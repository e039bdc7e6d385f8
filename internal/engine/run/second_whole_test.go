package run

import (
	"context"
	"math"
	"testing"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/result"
)

// TestSecondWholeSteps checks that second derivatives and tangents along steps that are compiled as one program have
// the bits of the stages one by one.
func TestSecondWholeSteps(t *testing.T) {
	tangents, seconds := 0, 0 // compiled
	for _, c := range secondModels {
		for _, with := range []struct {
			method, mode string
			lanes        int
		}{{"dopri5", "adjoint", 0}, {"vern7", "tangent", 3}, {"rkc2", "tangent", 1}, {"rk4", "adjoint", 1}} {
			m, err := Parse("model.ode", c.text, ParseOptions{})
			if err != nil {
				t.Fatal(c.name, err)
			}
			o := Options{Threads: 1, Lanes: with.lanes, Settings: []Setting{
				{Key: "sens.trust", Value: "off"},
				{Key: "sens.order", Value: "2"},
				{Key: "sens.mode", Value: with.mode},
				{Key: "solver.method", Value: with.method},
			}}
			if with.method == "rk4" {
				o.Settings = append(o.Settings, Setting{Key: "solver.fixed_step", Value: "0.01"})
			}
			run := func(after int) *result.Sensitivities {
				o.compileAfter = &compiled.CompileAfter{Small: after, Large: after}
				r, err := m.Prepare(o)
				if err != nil {
					t.Fatal(c.name, err)
				}
				s, err := r.Sensitivities(context.Background())
				if err != nil {
					t.Fatalf("%s, %s: %v", c.name, with.method, err)
				}
				n := m.System.StepPrograms()
				tangents, seconds = tangents+n.Tangents, seconds+n.Seconds
				return s
			}
			want, got := run(math.MaxInt), run(0)
			for _, of := range []struct {
				name      string
				want, got []float64
			}{{"derivative", want.Gradient, got.Gradient}, {"second derivative", want.Hessian, got.Hessian}} {
				for i, x := range of.want {
					if math.Float64bits(x) != math.Float64bits(of.got[i]) {
						t.Errorf("%s, %s: %s %d is %v, %v when compiled", c.name, with.method, of.name, i, x, of.got[i])
						break
					}
				}
			}
		}
	}
	if simd.Backend() != simd.Generic && (tangents < 20 || seconds < 20) {
		t.Errorf("only %d tangents of steps and %d of transposes were compiled", tangents, seconds)
	}
}
