package examples_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestNetworks trains the networks of the examples: each comes to a certified minimum, and the one that stands for what
// is not known of a model says there what the model says that made the data.
func TestNetworks(t *testing.T) {
	for path, short := range map[string]bool{"universal/universal.ode": true, "spiral/spiral.ode": false} {
		if testing.Short() && !short {
			continue
		}
		m, err := odes.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := fit.Run(t.Context(), m, fit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != "ok" {
			t.Errorf("%s: %s: %v", path, r.Status, r.Warnings)
		}
		if !short {
			continue
		}
		times := []float64{0.2, 1, 2} // those in between are told by few data
		x, err := m.Solve(t.Context(), odes.Options{Set: r.Assignments(), Times: times})
		if err != nil {
			t.Fatal(err)
		}
		learnt := map[string][]float64{}
		for _, o := range x.Outputs {
			learnt[o.Name] = o.Values
		}
		// By Lotka and Volterra's model, which made the data: from SciPy's DOP853 with rtol 1e-10.
		for name, want := range map[string][]float64{
			"toPrey": {-0.8585, -0.1657, -0.0849}, "toPredators": {0.7631, 0.1473, 0.0754},
		} {
			for i, v := range want {
				if got := learnt[name]; len(got) != len(want) || math.Abs(got[i]-v) > 0.15 {
					t.Errorf("%s at %v is %v, not %v", name, times, got, want)
				}
			}
		}
	}
}
