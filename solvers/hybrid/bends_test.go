package hybrid

import (
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/roots"
)

// TestSecant holds that the estimate of shrink is that of the line, with the weights of its ends, of the first guard.
func TestSecant(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 8))
	for range 500 {
		guards := []solvers.Guard{{Event: 0}, {Event: 1, Crossing: true}, {Event: 2}, {Event: -1, Watch: true}}
		s := &Solver{guards: guards}
		n := len(guards)
		s.live = make([]arming, n)
		s.lo, s.hi = roots.NewSample(n), roots.NewSample(n)
		s.lo.H, s.hi.H = r.Float64(), 1+r.Float64()
		wlo, whi := [...]float64{1, 0.5, 0.25}[r.IntN(3)], [...]float64{1, 0.5}[r.IntN(2)]
		want := math.Inf(1)
		for i := range guards {
			a, b := -r.Float64(), r.Float64()
			a, b = wlo*a, whi*b
			s.lo.Rho[i], s.hi.Rho[i] = a/wlo, b/whi
			s.hi.Truth[i] = true
			s.live[i] = arming{on: r.IntN(3) > 0, side: -1}
			if twoSided(&guards[i]) || guards[i].Watch {
				if r.IntN(2) == 0 {
					s.live[i].side = 1
					s.lo.Rho[i], s.hi.Rho[i] = -s.lo.Rho[i], -s.hi.Rho[i]
					s.hi.Truth[i] = false
				}
			}
			if s.live[i].on {
				want = min(want, s.lo.H+(s.hi.H-s.lo.H)*a/(a-b))
			}
		}
		if got := s.secant(wlo, whi); !(math.Abs(got-want) <= 1e-14) && got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
