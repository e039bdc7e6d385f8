package population

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// hills is a subject of one random effect whose data have a density with hills at some places.
type hills struct {
	pulled
	steps int
}

func (s *hills) Failed(error) bool { return false }

func (s *hills) Omega(context.Context) (*Omega, error) {
	return &Omega{M: 1, W: []float64{1}}, nil
}

// Data has wells at −1 and 2, the second of which is deeper by the slope.
func (s *hills) Data(_ context.Context, eta []float64, _ int) (*Conditional, error) {
	if s.steps++; s.steps > 1000 {
		return nil, errors.New("too many")
	}
	x := eta[0]
	a, b := x+1, x-2
	first := 2*a*b*b + 2*a*a*b
	second := 2*b*b + 8*a*b + 2*a*a
	return &Conditional{
		Value: a*a*b*b - x, Gradient: []float64{first - 1}, Products: []float64{second},
	}, nil
}

// TestApart: on the way to a mode the density rises from the other side of a hill alone.
func TestApart(t *testing.T) {
	q, err := newProblem(t.Context(), &hills{}, Method{Kind: "laplace"})
	if err != nil {
		t.Fatal(err)
	}
	mode, err := q.search([]float64{2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[float64]bool{-1.5: true, -0.9: true, 0: true, 1.2: false, 2.5: false, 4: false} {
		if got, err := q.apart([]float64{at}, mode); err != nil || got != want {
			t.Errorf("from %g to %g: %t, %v", at, mode.eta[0], got, err)
		}
	}
}

// cliff is a subject of one random effect whose density is highest at an edge, where no search converges. Far away it
// has a mode.
type cliff struct{ hills }

// Data falls to the edge at 0.4 from the left, and has a well at 3.4 to the right of it.
func (s *cliff) Data(_ context.Context, eta []float64, _ int) (*Conditional, error) {
	const sharp = 100
	d := eta[0] - 0.45
	if eta[0] > 0.4 {
		d -= 2.95
	}
	return &Conditional{
		Value: sharp / 2 * d * d, Gradient: []float64{sharp * d}, Products: []float64{sharp},
	}, nil
}

// TestEdge: a mode is doubtful where a search came upon a higher density and did not converge.
func TestEdge(t *testing.T) {
	for of, want := range map[Subject]bool{&hills{}: false, &cliff{}: true} {
		q, err := newProblem(t.Context(), of, Method{Kind: "laplace"})
		if err != nil {
			t.Fatal(err)
		}
		r, err := q.mode()
		if err != nil {
			t.Fatal(err)
		}
		if doubtful := strings.Contains(r.Doubt, "did not converge"); doubtful != want {
			t.Errorf("%T: the mode is %g, %q", of, r.Mode, r.Doubt)
		}
	}
}
