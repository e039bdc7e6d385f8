package run

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/result"
)

// TestPieces has the orders of causes at coincidences, each with its gradient, by closed forms.
func TestPieces(t *testing.T) {
	grow := math.Expm1(0.2)
	for name, want := range map[string]map[string][]float64{
		"d_two_modes": {"y > c, z > a": {-4, -1}, "z > a, y > c": {-2, -3}},
		"three": {
			"A, B, E": {-grow, -2 * grow, -2*math.Exp(0.1) - 3}, "E, B, A": {-grow - 1, -2*grow - 2, -2 * math.Exp(0.1)},
			"A, E, B": {-grow, -2*grow - 2, -2*math.Exp(0.1) - 1},
		},
		"two_times": {"t > a, y > 1": {-4.0 / 3}, "y > 1, t > a": {0}},
	} {
		m, err := ParseFile(filepath.Join("testdata", "coincidences", name+".ode"))
		if err != nil {
			t.Fatal(err)
		}
		setup := m.setup(Options{})
		setup.Sides = true
		r, err := m.Model.Prepare(setup)
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Sensitivities(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pieces := s.OneSided.Coincidences[0].Pieces
		if len(pieces) < len(want) || len(pieces) > mostPieces {
			t.Errorf("%s has %d pieces", name, len(pieces))
		}
		for order, gradient := range want {
			i := slices.IndexFunc(pieces, func(p result.Piece) bool { return strings.Join(p.Order, ", ") == order })
			if i < 0 {
				t.Errorf("%s has %v, and no %s", name, pieces, order)
				continue
			}
			for k, x := range gradient {
				if got := pieces[i].Gradient[k]; math.Abs(got-x) > 1e-9 {
					t.Errorf("%s, %s: %v by column %d, want %v", name, order, got, k, x)
				}
			}
		}
	}
}
