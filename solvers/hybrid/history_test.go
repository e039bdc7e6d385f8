package hybrid

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/solvers"
)

// TestHistory compares what a history says of firings that are drawn with what their whole list says.
func TestHistory(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 2))
	kinds := map[solvers.ChatterKind]int{}
	stutters := 0
	for range 400 {
		span := math.Exp2(float64(r.IntN(5)))
		var f history
		var all []float64
		at, gap := r.Float64(), math.Exp2(-float64(r.IntN(40)))
		first, burst := 0.0, 0
		for range 1 + r.IntN(130) {
			switch r.IntN(20) {
			case 0:
				gap *= 0.1
			case 1, 2, 3, 4, 5:
				gap *= []float64{1, 0.5, 0.99}[len(all)%3]
			case 6:
				at += span * 1e-8 // a pause
			}
			if r.IntN(8) > 0 {
				at += gap
			}
			if len(all) == 0 || at-first > 1e-9*span {
				first, burst = at, 0
			}
			if len(all) == 0 || at != all[len(all)-1] {
				burst++
			}
			all = append(all, at)
			if got := f.fired(at, span); got != (burst >= 100) {
				t.Fatalf("%d firings within the window: %v", burst, got)
			}
			n := len(all)
			last := all[max(0, n-5):]
			if got := f.times(); !slices.Equal(got, last) {
				t.Fatalf("the last times are %v, want %v", got, last)
			}
			thrice := n >= 3 && all[n-3] < all[n-2] && all[n-2] < all[n-1] && all[n-1]-all[n-3] < 100*elem.ULP(all[n-1])
			if f.stutters() != thrice {
				t.Fatalf("stutters at %v: %v", last, !thrice)
			}
			if thrice {
				stutters++
			}
			want, mean, limit := solvers.Crowded, 0.0, 0.0
			if len(last) >= 4 {
				mean = (at - last[0]) / float64(len(last)-1)
				want = solvers.Regular
				ratio := 0.0
				for i := 2; i < len(last); i++ {
					ratio = max(ratio, (last[i]-last[i-1])/(last[i-1]-last[i-2]))
				}
				if !(mean > 1000*elem.ULP(at)) {
					want = solvers.Crowded
				} else if ratio < 0.9999 {
					want = solvers.Zeno
					limit = at + (at-last[len(last)-2])*ratio/(1-ratio)
				}
			}
			kind, g, l := f.pattern()
			if kind != want || g != mean || l != limit || f.regular() != (want == solvers.Regular) {
				t.Fatalf("pattern of %v: %v %v %v, want %v %v %v", last, kind, g, l, want, mean, limit)
			}
			kinds[kind]++
		}
	}
	if kinds[solvers.Crowded] < 50 || kinds[solvers.Regular] < 50 || kinds[solvers.Zeno] < 50 || stutters < 10 {
		t.Errorf("too few of a kind: %v, %d stutter", kinds, stutters)
	}
}
