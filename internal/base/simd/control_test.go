package simd

import (
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// Steps are controlled with the bits of elem's powers, whatever their errors and however many.
func TestControl(t *testing.T) {
	numbers := func(r *elem.Rand, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(40*r.Float64()) - 20
		}
		return x
	}
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(12)
		for trial := range 400 {
			n := trial % 19
			errs, beta, last, before := make([]float64, n), numbers(r, n), numbers(r, n), numbers(r, n)
			for i := range errs {
				switch u := r.Float64(); r.Uint64() % 8 {
				case 0:
					errs[i] = 0
				case 1:
					errs[i] = math.Ldexp(u, int(r.Uint64()%2000)-1060)
				case 2:
					errs[i] = 1 + float64(u*0x1p-40)
				default:
					errs[i] = math.Ldexp(u, int(r.Uint64()%60)-50)
				}
			}
			beta2, beta3, safe, k := r.Float64()-0.5, r.Float64()-0.5, -2*r.Float64(), 1+float64(r.Uint64()%9)
			wantE, want := make([]float64, n), make([]float64, n)
			for i, x := range errs {
				e := elem.QuickLog2(max(x, 0x1p-100)) - safe
				y := math.FMA(beta3, before[i], math.FMA(beta2, last[i], float64(beta[i]*e)))
				if x > 1 {
					y = e
				}
				wantE[i], want[i] = e, elem.QuickExp2(-y/k)
			}
			e, factor := make([]float64, n), make([]float64, n)
			Control(factor, e, errs, beta, last, before, beta2, beta3, safe, k)
			compare(t, append(e, factor...), append(wantE, want...), "%d steps", n)
		}
	})
}
