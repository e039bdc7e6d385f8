package report

import (
	"math"
	"testing"

	"odes.dev/odes"
)

// TestApart: times of events have the digits that tell them apart, unless an error makes these wrong.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		times []float64
		error float64
		want  int
	}{
		{nil, 0, 4},
		{[]float64{1e9}, 0, 4},
		{[]float64{1, 2, 3}, 0, 4},
		{[]float64{1e9 + 3, 1e9 + 7}, 0, 9},
		{[]float64{1e9 + 3, 1e9 + 7, 1e9 + 7.5}, 0, 10},
		{[]float64{1e9 + 3, 1e9 + 7}, 10, 4},
		{[]float64{1.5, 1.5}, 0, 4},
		{[]float64{1.5, math.Nextafter(1.5, 2)}, 0, 4},
		{[]float64{math.NaN(), math.Inf(1)}, 0, 4},
	} {
		var list []odes.EventRecord
		for _, x := range c.times {
			list = append(list, odes.EventRecord{T: x, Error: c.error})
		}
		if n := apart(list, 4); n != c.want {
			t.Errorf("%v: %d digits, want %d", c.times, n, c.want)
		}
	}
}
