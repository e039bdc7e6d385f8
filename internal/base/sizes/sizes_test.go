package sizes_test

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/sizes"
)

// TestAhead: states that are zero have what the others make of them, each in the time that it takes itself.
func TestAhead(t *testing.T) {
	const end = 1e13
	// E5: the second and third are balanced within microseconds, the fourth within a millisecond.
	e5 := func(_ float64, y, k []float64) {
		const a, b, c, m = 7.89e-10, 1.1e7, 1.13e3, 1e6
		k[0] = -a*y[0] - b*y[0]*y[2]
		k[1] = a*y[0] - m*c*y[1]*y[2]
		k[2] = a*y[0] - b*y[0]*y[2] - m*c*y[1]*y[2] + c*y[3]
		k[3] = b*y[0]*y[2] - c*y[3]
	}
	y, k := []float64{1.76e-3, 0, 0, 0}, make([]float64, 4)
	e5(0, y, k)
	s := sizes.New(4, 0, 1e-6, nil, nil, nil)
	s.Starts(0, y, k, end, e5)
	for i, most := range []float64{1.76e-3, 1e-10, 1e-10, 1e-10} {
		if size := s.Abs[i] / 1e-9; size > 1.01*most || size < 1e-10*most {
			t.Errorf("E5: state %d has the size %g", i+1, size)
		}
	}
	// A chain: each is what comes from the one before in a tenth of the run, and loses it as fast.
	chain := func(_ float64, y, k []float64) {
		k[0] = -y[0]
		for i := 1; i < len(y); i++ {
			k[i] = 100*y[i-1] - y[i]
		}
	}
	y, k = make([]float64, 6), make([]float64, 6)
	y[0] = 1e-20
	chain(0, y, k)
	s = sizes.New(6, 0, 1e-6, nil, nil, nil)
	s.Starts(0, y, k, 100, chain)
	for i, want := 1, 1e-18; i < 6; i, want = i+1, want*100 {
		if size := s.Abs[i] / 1e-9; math.Abs(size/want-1) > 0.5 {
			t.Errorf("chain: state %d has the size %g, not %g", i+1, size, want)
		}
	}
}

// TestGroups: a zero element of an array has the size of the largest one, until it has its own.
func TestGroups(t *testing.T) {
	s := sizes.New(4, 0, 1e-6, nil, nil, []int32{0, 0, 0, 1})
	still := func(_ float64, _, k []float64) { clear(k) }
	s.Starts(0, []float64{5, 0, 0, 0}, make([]float64, 4), 1, still)
	if want := []float64{5e-9, 5e-9, 5e-9, sizes.Least}; !slices.EqualFunc(s.Abs, want, near) {
		t.Errorf("at the start %v, not %v", s.Abs, want)
	}
	s.Accepted(0, 0.1, []float64{5, 0, 0, 0}, []float64{5, 1e-3, 0, 0}, 5, still)
	s.Accepted(0.1, 0.2, []float64{5, 1e-3, 0, 0}, []float64{5, 2e-3, 0, 0}, 5, still)
	if want := []float64{5e-9, 2e-12, 5e-9, sizes.Least}; !slices.EqualFunc(s.Abs, want, near) {
		t.Errorf("later %v, not %v", s.Abs, want)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }

// TestRounding: a chain that a known input sets off at the end of a step has what rounding of the time makes of it, and
// integrals have it, too; tried again and again before that end, steps ask for it.
func TestRounding(t *testing.T) {
	const begins, slope = 1.0, 3.0
	input := func(at float64, y, k []float64) {
		k[0] = slope*max(at-begins, 0) - y[0]
		k[1] = 2*y[0] - y[1]
		k[2] = y[1]
	}
	y, k, noise := make([]float64, 2), make([]float64, 3), make([]float64, 1)
	s := sizes.New(2, 1, 1e-6, nil, nil, nil)
	s.Starts(0.5, y, k, 0.25, input)
	asked, now := 0, 0.5
	for i := range 6 { // every other step ends short of where the input begins
		if s.Rejected(begins, y, true) {
			asked++
		}
		next := now + 0.01*float64(i+1)
		s.Accepted(now, next, y, y, 5, nil)
		now = next
	}
	if asked != 2 {
		t.Errorf("asked %d times of 6", asked)
	}
	h := begins - now
	evals := s.Rounding(now, h, y, k, input, noise)
	moment := 10 * 0x1p-53 * begins
	want := []float64{moment * slope * h, 2 * h * moment * slope * h}
	for i, x := range s.Abs {
		if !(x > 0.5*want[i] && x < 2*want[i]) {
			t.Errorf("state %d has the tolerance %g, not %g", i+1, x, want[i])
		}
	}
	if x := want[1]; !(noise[0] > 0.5*x && noise[0] < 2*x) || evals > 8 {
		t.Errorf("the integrand is off by %g, not %g; %d rates", noise[0], x, evals)
	}
	s.Accepted(now, begins, y, y, 5, nil)
	once, twice := s.Rejected(begins+0.1, y, true), s.Rejected(begins+0.1, y, true)
	if once || twice {
		t.Error("asked for rounding behind the end of the steps that were rejected")
	}
}
