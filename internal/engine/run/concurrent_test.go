package run_test

import (
	"math"
	"sync"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestConcurrent runs one Model from several goroutines with different parameters. Every result must
// have the bits that it has alone, whatever the lanes and threads.
//
//odes:goroutines
func TestConcurrent(t *testing.T) {
	for _, path := range []string{"bounce/bounce.ode", "glv/glv.ode", "pk/pk.ode"} {
		m, err := odes.ParseFile(modeltest.Path("examples/" + path))
		if err != nil {
			t.Fatal(err)
		}
		set := func(i int) []odes.Assignment {
			name, value := "g", 9.81+0.1*float64(i)
			switch path {
			case "glv/glv.ode":
				name, value = "r", 0.1+0.01*float64(i)
			case "pk/pk.ode":
				name, value = "tlag", 0.5+0.05*float64(i)
			}
			return []odes.Assignment{{Name: name, Values: []float64{value}}}
		}
		const runs = 8
		var alone [runs]*odes.Sensitivities
		for i := range runs {
			if alone[i], err = m.Sensitivities(t.Context(), odes.Options{
				Set: set(i), Lanes: 1,
				Threads: 1,
			}); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for i := range runs {
			wg.Go(func() {
				got, err := m.Sensitivities(t.Context(), odes.Options{Set: set(i), Lanes: 1 + i, Threads: 1 + i%3})
				if err != nil {
					t.Error(err)
					return
				}
				if len(got.Gradient) == 0 || len(got.Gradient) != len(alone[i].Gradient) {
					t.Errorf("%s: %d derivatives, alone %d", path, len(got.Gradient), len(alone[i].Gradient))
					return
				}
				for k, d := range got.Gradient {
					if math.Float64bits(d) != math.Float64bits(alone[i].Gradient[k]) {
						t.Errorf("%s, run %d: derivative %d is %v with %d lanes, alone %v", path, i, k, d, 1+i,
							alone[i].Gradient[k])
						return
					}
				}
			})
		}
		wg.Wait()
	}
}
