package measured

import (
	"math"
	"testing"
)

// TestTell: a value at a limit or beyond it is told as the limit; limits that are missing are none.
func TestTell(t *testing.T) {
	nan := math.NaN()
	for _, x := range []struct {
		of   Range
		y    float64
		told float64
		side int
	}{
		{Range{1, 3}, 2, 2, 0},
		{Range{1, 3}, 1, 1, -1},
		{Range{1, 3}, 0, 1, -1},
		{Range{1, 3}, 3, 3, 1},
		{Range{1, 3}, 4, 3, 1},
		{Range{nan, nan}, -4, -4, 0},
		{Range{nan, 3}, 4, 3, 1},
		{Range{1, nan}, 0, 1, -1},
		{Range{3, 1}, 2, 1, 1},
		{Whole(), 1e300, 1e300, 0},
	} {
		if told, side := x.of.Tell(x.y); told != x.told || side != x.side {
			t.Errorf("%v tells of %g: %g, %d, want %g, %d", x.of, x.y, told, side, x.told, x.side)
		}
	}
}
