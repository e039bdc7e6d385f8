package tape

import (
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// TestMultiples: products with a single number have the bits that products of any intervals have.
func TestMultiples(t *testing.T) {
	ends := []float64{
		0, math.Copysign(0, -1), 1, -1, 0.3, -0.7, 1e300, -1e300, 1e-300, 5e-324, -5e-324, math.MaxFloat64, math.Inf(1),
		math.Inf(-1), math.NaN(), 12.5, -3,
	}
	same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y }
	quick := 0
	try := func(p float64, b, c Interval) {
		for _, ab := range [...][2]Interval{{Point(p), b}, {b, Point(p)}} {
			got, want := enclosedFMA(ab[0], ab[1], c), enclosedAny(ab[0], ab[1], c)
			if !same(got.Lo, want.Lo) || !same(got.Hi, want.Hi) {
				t.Fatalf("%v·%v + %v is %v, and %v by the way for all", ab[0], ab[1], c, got, want)
			}
		}
		if _, ok := multiple(p, b, c); ok {
			quick++
		}
	}
	some := func(lo, hi float64) Interval {
		if lo > hi {
			lo, hi = hi, lo
		}
		return checked(lo, hi)
	}
	for _, p := range ends {
		for _, b := range ends {
			for _, d := range ends {
				for _, c := range ends {
					try(p, some(b, d), some(c, b))
					try(p, some(b, d), Point(c))
				}
			}
		}
	}
	rand := elem.NewRand(1)
	for range 10000 {
		x := func() float64 { return 2*rand.Float64() - 1 }
		try(x(), some(x(), x()), some(x(), x()))
	}
	if quick < 10000 {
		t.Errorf("%d of all went the quick way", quick)
	}
}
