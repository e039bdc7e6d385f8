package repl

import (
	"math"
	"testing"
)

// TestNullcline finds a circle, all of it, and nothing where there is none.
func TestNullcline(t *testing.T) {
	c := nullcline([2]float64{-2, 2}, [2]float64{-2, 2}, func(a, b float64) float64 { return a*a + b*b - 1 })
	length := 0.0
	for k := 0; k+1 < len(c.X); k++ {
		if math.IsNaN(c.X[k]) || math.IsNaN(c.X[k+1]) {
			if k+2 < len(c.X) {
				t.Error("the circle is in pieces")
			}
			continue
		}
		length += math.Hypot(c.X[k+1]-c.X[k], c.Y[k+1]-c.Y[k])
		if r := math.Hypot(c.X[k], c.Y[k]); math.Abs(r-1) > 1e-3 {
			t.Errorf("a point at radius %g", r)
		}
	}
	if math.Abs(length-2*math.Pi) > 0.01 {
		t.Errorf("the length is %g", length)
	}
	unit := [2]float64{0, 1}
	if c := nullcline(unit, unit, func(a, _ float64) float64 { return 1 / (a - a) }); c.X != nil {
		t.Error("there is a line of what is not finite")
	}
}

// TestField: arrows of a rotation stand across its radius, and the fastest is as long as an arrow may be.
func TestField(t *testing.T) {
	list := field([2]float64{-1, 1}, [2]float64{-1, 1}, func(a, b float64) (float64, float64) { return -b, a })
	if len(list) < fieldColumns*fieldRows-2 {
		t.Fatalf("%d arrows", len(list))
	}
	longest := 0.0
	for _, a := range list {
		longest = max(longest, math.Hypot(a.Across, a.Up))
		if math.Abs(a.Across/2.4*a.X+a.Up*a.Y) > 1e-12 {
			t.Errorf("%+v is not across its radius", a)
		}
	}
	if math.Abs(longest-1) > 1e-12 {
		t.Errorf("the longest is %g", longest)
	}
}
