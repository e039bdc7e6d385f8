package optim

import (
	"slices"
	"testing"
)

func TestLatinHypercube(t *testing.T) {
	const count, n = 37, 5
	points := LatinHypercube(4, count, n)
	for j := range n {
		var seen [count]bool
		for _, p := range points {
			if p[j] < 0 || p[j] >= 1 {
				t.Fatalf("%g is not in [0, 1)", p[j])
			}
			seen[int(p[j]*count)] = true
		}
		if slices.Contains(seen[:], false) {
			t.Errorf("variable %d: an interval without a point", j)
		}
	}
	again, other := LatinHypercube(4, count, n), LatinHypercube(5, count, n)
	if !slices.EqualFunc(points, again, slices.Equal[[]float64]) {
		t.Error("the same seed gives other points")
	}
	if slices.EqualFunc(points, other, slices.Equal[[]float64]) {
		t.Error("another seed gives the same points")
	}
	if slices.Equal(points[0], points[1]) {
		t.Error("two points are the same")
	}
}
