package run

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
)

// TestManySequences has an array of events at one time, each with a param of its own: the first 64 sequences of sides
// are told, and what there is no more is marked.
func TestManySequences(t *testing.T) {
	m, err := Parse("m.ode", `
time t from 0 to 2
const n = 70
param c[n] = 1
state x = 0, y = 0
discrete w = 1
x' = 0
y' = w
event e at c[k] for k in 1:n { x += k*(y - 1)  w = w*(1 + 0.001*k) }
objective J = final(x)
sens { wrt = [c] }
solver { rtol = 1e-10 }`, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := sidedResult(t, m, Options{})
	if n := len(s.OneSided.Sides); n != mostSequences {
		t.Errorf("%d derivatives have two sides", n)
	}
	for k, g := range s.Trusts {
		if known := k < mostSequences; known != (g == result.Sound) {
			t.Errorf("c[%d] is %v", k+1, g)
		}
	}
	if !slices.ContainsFunc(s.Warnings, func(w diag.Diagnostic) bool {
		return strings.HasPrefix(w.Message, "no more than 64 sequences") &&
			strings.Contains(w.Message, "by 6 more elements")
	}) {
		t.Errorf("what is told: %v", s.Warnings)
	}
}

// sidedResult returns what is said of a model, with both sides.
func sidedResult(t *testing.T, m *tested, opts Options) *result.Sensitivities {
	t.Helper()
	setup := m.setup(opts)
	setup.Sides = true
	r, err := m.Model.Prepare(setup)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Sensitivities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPieces has the orders of causes at coincidences, each with its gradient, by closed forms.
func TestPieces(t *testing.T) {
	grow := math.Expm1(0.2)
	for name, want := range map[string]map[string][]float64{
		"d_two_modes": {"y > c, z > a": {-4, -1}, "z > a, y > c": {-2, -3}},
		"three": {
			"A, B, E": {-grow, -2 * grow, -2*math.Exp(0.1) - 3},
			"E, B, A": {-grow - 1, -2*grow - 2, -2 * math.Exp(0.1)},
			"A, E, B": {-grow, -2*grow - 2, -2*math.Exp(0.1) - 1},
		},
		"two_times": {"t > a, y > 1": {-4.0 / 3}, "y > 1, t > a": {0}},
	} {
		m, err := ParseFile(filepath.Join("testdata", "coincidences", name+".ode"))
		if err != nil {
			t.Fatal(err)
		}
		s := sidedResult(t, m, Options{})
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
