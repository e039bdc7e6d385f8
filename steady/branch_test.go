package steady

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
)

// family is a system without events that depends on a number.
type family struct {
	*solvertest.Hybrid
	x     *float64
	start []float64
}

func (f family) Vary(x float64, y, _ []float64) error {
	*f.x = x
	copy(y, f.start)
	return nil
}

// branch follows the steady states of a field from a start.
func branch(t *testing.T, start []float64, laws []Law, o BranchOptions, field func(x float64, y, k []C)) *Branch {
	t.Helper()
	var x float64
	sys := system(len(start), func(y, k []C) { field(x, y, k) })
	b, err := Continue(t.Context(), family{sys, &x, start}, NewPlan(sys.N, sys.Jacobian(), laws), 0, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// special returns the places of a branch that are not ordinary.
func special(b *Branch) (list []Place) {
	for _, p := range b.Places {
		if p.Kind != Ordinary {
			list = append(list, p)
		}
	}
	return list
}

// TestFolds follows a cubic, x' = r + x - x³, past its folds at x = ∓1/√3, r = ±2/(3√3), from either end:
// stable, unstable, stable.
func TestFolds(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		b := branch(t, []float64{-1.5 * sign}, nil, BranchOptions{From: -sign, To: sign},
			func(r float64, y, k []C) { k[0] = C(complex(r, 0)) + y[0] - y[0]*y[0]*y[0] })
		list := special(b)
		if len(list) != 2 || b.End != AtBound {
			t.Fatalf("%d special places, end %d", len(list), b.End)
		}
		for i, p := range list {
			x := []float64{-1, 1}[i] * sign / math.Sqrt(3)
			r := -2 * x / 3
			if p.Kind != Fold || math.Abs(p.Y[0]-x) > 1e-9 || math.Abs(p.X-r) > 1e-14 {
				t.Errorf("fold %d is of kind %d at %v, %v, want %v, %v", i, p.Kind, p.X, p.Y, r, x)
			}
		}
		piece := 0
		for _, p := range b.Places {
			if p.Kind == Fold {
				piece++
				continue
			}
			if want := piece % 2; p.Growing != want {
				t.Errorf("at %v, %v: %d eigenvalues grow, want %d", p.X, p.Y, p.Growing, want)
			}
			if rest := p.X + p.Y[0] - p.Y[0]*p.Y[0]*p.Y[0]; math.Abs(rest) > 1e-14 {
				t.Errorf("at %v, %v: the rate is %g", p.X, p.Y, rest)
			}
		}
		if last := b.Places[len(b.Places)-1]; last.X != sign {
			t.Errorf("the branch ends at %v", last.X)
		}
		t.Logf("%d places, %d steps", len(b.Places), b.Steps)
	}
}

// TestHopf finds where the Brusselator begins to oscillate: at B = 1 + A², with a period of 2π/A.
func TestHopf(t *testing.T) {
	for _, a := range []float64{0.7, 1, 2.3} {
		b := branch(t, []float64{1, 1}, nil, BranchOptions{From: 0.5, To: 8}, func(x float64, y, k []C) {
			a, r := C(complex(a, 0)), C(complex(x, 0))
			k[0] = a + y[0]*y[0]*y[1] - (r+1)*y[0]
			k[1] = r*y[0] - y[0]*y[0]*y[1]
		})
		list := special(b)
		if len(list) != 1 || list[0].Kind != Hopf {
			t.Fatalf("special places: %+v", list)
		}
		if x := list[0].X; math.Abs(x-1-a*a) > 1e-10*(1+a*a) {
			t.Errorf("the Hopf point is %v, want %v", x, 1+a*a)
		}
		if w := math.Abs(imag(list[0].Slowest)); math.Abs(w-a) > 1e-8 {
			t.Errorf("the eigenvalue is %v, want %vi", list[0].Slowest, a)
		}
		if last := b.Places[len(b.Places)-1]; last.Growing != 2 || last.X != 8 || math.Abs(last.Y[1]-8/a) > 1e-12 {
			t.Errorf("the last place is %+v", last)
		}
	}
}

// TestCrossing follows a chemostat that is washed out through the place where growth begins: x' = (r - 1)x - x².
func TestCrossing(t *testing.T) {
	b := branch(t, []float64{0}, nil, BranchOptions{From: 0, To: 3},
		func(r float64, y, k []C) { k[0] = C(complex(r-1, 0))*y[0] - y[0]*y[0] })
	list := special(b)
	if len(list) != 1 || list[0].Kind != Crossing || math.Abs(list[0].X-1) > 1e-12 {
		t.Fatalf("special places: %+v", list)
	}
}

// TestPitchfork follows an arm of a pitchfork back to where the other arm begins, and to the end of that: the branch
// turns back, but at no fold.
func TestPitchfork(t *testing.T) {
	for _, c := range []struct {
		name  string
		start []float64
		field func(r float64, y, k []C)
	}{
		{"alone", []float64{1}, func(r float64, y, k []C) { k[0] = C(complex(r, 0))*y[0] - y[0]*y[0]*y[0] }},
		{"with a state that follows", []float64{1, 0}, func(r float64, y, k []C) {
			k[0] = C(complex(r, 0))*y[0] - y[0]*y[0]*y[0]
			k[1] = y[0]*y[0] + 1 - 2*y[1]
		}},
		{"beside a growing state", []float64{1, 0}, func(r float64, y, k []C) {
			k[0] = C(complex(r, 0))*y[0] - y[0]*y[0]*y[0]
			k[1] = C(complex(0.3-r, 0))*y[1] - y[1]*y[1]*y[1]/100 // grows where r < 0.3
		}},
	} {
		b := branch(t, c.start, nil, BranchOptions{From: 1, To: -1}, c.field)
		list := slices.DeleteFunc(special(b), func(p Place) bool { return math.Abs(p.X) > 0.1 })
		if len(list) != 1 || list[0].Kind != Crossing || math.Abs(list[0].X) > 1e-12 || math.Abs(list[0].Y[0]) > 1e-6 {
			t.Errorf("%s: special places: %+v", c.name, list)
		}
		if last := b.Places[len(b.Places)-1]; b.End == AtBound && math.Abs(last.Y[0]+1) > 1e-9 {
			t.Errorf("%s: the branch ends at %+v", c.name, last)
		}
	}
}

// TestClosed follows an isola, a circle of steady states, and one with a conserved sum that its fold depends on.
func TestClosed(t *testing.T) {
	b := branch(t, []float64{2}, nil, BranchOptions{From: 0.5, To: -3}, func(r float64, y, k []C) {
		k[0] = C(complex(1-r*r, 0)) - y[0]*y[0]
	})
	list := special(b)
	if len(list) != 1 || math.Abs(list[0].X+1) > 1e-12 || b.End != AtBound {
		t.Fatalf("special places: %+v, end %d", list, b.End)
	}
	if last := b.Places[len(b.Places)-1]; last.X != 0.5 || math.Abs(last.Y[0]+math.Sqrt(0.75)) > 1e-12 {
		t.Errorf("the last place is %+v", last)
	}
	// x turns into y and back by itself: r·y = x/(1 + 3x²) ..., x + y = 2.
	laws := []Law{{States: []int{0, 1}, Coefs: []float64{1, 1}, Pivot: 1}}
	b = branch(t, []float64{1, 1}, laws, BranchOptions{From: 0.01, To: 1}, func(r float64, y, k []C) {
		k[0] = (C(complex(r, 0))+y[0]*y[0]/(0.04+y[0]*y[0]))*y[1]/2 - y[0]
		k[1] = -k[0]
	})
	for _, p := range b.Places {
		if math.Abs(p.Y[0]+p.Y[1]-2) > 1e-14 {
			t.Errorf("at %v the sum is %v", p.X, p.Y[0]+p.Y[1])
		}
	}
}
