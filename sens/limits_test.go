package sens

import (
	"math"
	"testing"
)

// TestLimits: times at an end that was chosen move inside the step, by 2⁻⁴⁸ of the larger end, by 2⁻⁴³ of the step, or
// by a quarter of it. Times within stay, and so do those outside that are further away than stages are by rounding.
func TestLimits(t *testing.T) {
	for _, c := range []struct{ t, t1, gap float64 }{
		{1, 4, 0x1.8p-42}, {-4, 1, 0x1.4p-41}, {0, 0x1p-50, 0x1p-93}, {1, 1 + 0x1p-48, 0x1p-50},
	} {
		for _, chosen := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
			b, any := limitsBetween(chosen[0], chosen[1], c.t, c.t1)
			if any != (chosen[0] || chosen[1]) {
				t.Errorf("%+v, %v: %v", c, chosen, any)
			}
			want := func(at, to float64) {
				t.Helper()
				if got := b.within(at); got != to {
					t.Errorf("%+v, %v: %v becomes %v, want %v", c, chosen, at, got, to)
				}
			}
			from, to := c.t, c.t1
			if chosen[0] {
				from += c.gap
			}
			if chosen[1] {
				to -= c.gap
			}
			want(c.t, from)
			want(c.t1, to)
			want(c.t+1.5*c.gap, c.t+1.5*c.gap)
			want(c.t1-1.5*c.gap, c.t1-1.5*c.gap)
			if far := 2 * c.gap; c.t1-far != c.t1 {
				want(c.t-far, c.t-far)
				want(c.t1+far, c.t1+far)
				want(c.t-4*far, c.t-4*far)
				want(c.t1+4*far, c.t1+4*far)
			}
		}
	}
	for _, end := range []float64{1, 0.5} { // of no length
		b, any := limitsBetween(true, true, 1, end)
		if any || b.gap != 0 || b.within(1) != 1 || !math.IsInf(b.from, -1) || !math.IsInf(b.to, 1) {
			t.Errorf("limits %v of a step from 1 to %v", b, end)
		}
	}
}
