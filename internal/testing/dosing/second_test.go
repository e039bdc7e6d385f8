package dosing_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/dosing"
	"odes.dev/odes/internal/testing/seeds"
)

// TestSecondOrder: second derivatives of likelihoods of random regimens, by lags, F, durations and rates as well, are
// those of superposition: central differences of its first derivatives, which are exact.
//
//odes:goroutines
func TestSecondOrder(t *testing.T) {
	seed := seeds.Of(t, 5702)
	for i := range max(1, *regimens/6) {
		s := dosing.Draw(rand.New(rand.NewPCG(seed+uint64(i), 2)))
		text, table := write(s)
		text = strings.Replace(text, "trust = off", "trust = off  order = 2", 1)
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{Files: fstest.MapFS{"d.csv": {Data: []byte(table)}}})
		if err != nil {
			t.Errorf("regimen %d: %v", seed+uint64(i), err)
			continue
		}
		got, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Errorf("regimen %d: %v", seed+uint64(i), err)
			continue
		}
		n := len(s.Params)
		want := make([][]float64, n)
		largest := 0.0
		for k := range want {
			const step = 1e-5
			x := s.Params[k]
			h := step * x
			s.Params[k] = x + h
			_, above := s.Misfit()
			s.Params[k] = x - h
			_, below := s.Misfit()
			s.Params[k] = x
			want[k] = make([]float64, n)
			for j := range above {
				want[k][j] = (above[j] - below[j]) / (2 * h)
				largest = max(largest, math.Abs(want[k][j]))
			}
		}
		for k := range want {
			for j := range want {
				h := got.Hessian[k*got.Columns+j]
				if w := want[k][j]; math.Abs(h-w) > 2e-5*(math.Abs(w)+1e-2*largest) {
					t.Errorf("regimen %d: the second derivative by params %d and %d is %v, want %v\n%s%s",
						seed+uint64(i), k, j, h, w, text, table)
				}
			}
		}
	}
}
