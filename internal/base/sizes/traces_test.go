package sizes

import (
	"math"
	"testing"
)

// TestTraces: only errors of states that are small beside their absolute tolerance count, relative to these, for as
// long as steps can make them small.
func TestTraces(t *testing.T) {
	abs := []float64{1e-9}
	step := func(y0, y1 float64) [2][]float64 { return [2][]float64{{1, y0}, {1, y1}} }
	var r Traces
	also := func(s [2][]float64, e, norm float64) float64 {
		return r.Also(abs, s[0], s[1], []float64{1e-3, e}, norm)
	}
	r.Reset(2)
	for _, c := range []struct{ y0, y1, e, want float64 }{
		{1e-50, 2e-50, 1e-51, 5},       // a hundredth of 2e-50 is allowed
		{2e-50, -1e-50, 1e-51, 5},      // of the larger one
		{1e-50, 2e-50, 1e-53, 0.1},     // less than the norm of all
		{0, 1e-50, 1e-50, 0.1},         // nothing to begin with
		{1e-50, 0, 0, 0.1},             // nothing wrong
		{1e-6, 1e-6, 1e-7, 0.1},        // large beside the tolerance
		{0x1p-1074, 0, 0x1p-1074, 1e9}, // of what rounds to zero, still a number
	} {
		got := also(step(c.y0, c.y1), c.e, 0.1)
		if math.Abs(got-c.want) > 1e-9 && !(c.want == 1e9 && got >= 100 && got <= math.MaxFloat64) {
			t.Errorf("%v to %v, error %v: %v, not %v", c.y0, c.y1, c.e, got, c.want)
		}
	}

	r.Reset(2)
	for range traceTries - 1 {
		if also(step(1e-50, 1e-50), 1e-50, 0.1) <= 1 {
			t.Fatal("an error of the whole size was let through")
		}
	}
	if got := also(step(1e-50, 1e-50), 1e-50, 0.1); got != 0.1 {
		t.Errorf("%v, though shorter steps do not help", got)
	}
	r.Reset(2)
	for range traceSteps {
		if also(step(1e-50, 1e-50), 0.5e-52, 0.1) != 0.5 {
			t.Fatal("a step was not looked at")
		}
	}
	if got := also(step(1e-50, 1e-50), 0.5e-52, 0.1); got != 0.1 {
		t.Errorf("%v, after so many steps", got)
	}
}
