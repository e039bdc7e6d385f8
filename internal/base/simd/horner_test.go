package simd

import (
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// A polynomial and its slopes have the bits of their definition at any number of places.
func TestHorner(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(7)
		for trial := range 200 {
			n, terms, stride := trial%19, 1+trial%9, 1+trial%4
			c, theta, base, h := tame(r, terms*stride-trial%stride), make([]float64, n), r.Float64(), 0.5+r.Float64()
			out, alone, rates := make([]float64, n), make([]float64, n), make([]float64, n)
			want, wantRates := make([]float64, n), make([]float64, n)
			for i := range theta {
				theta[i] = 2*r.Float64() - 0.5
				u, v, d := math.FMA(2, theta[i], -1), 0.0, 0.0
				for k := terms - 1; k >= 0; k-- {
					d = math.FMA(d, u, v)
					v = math.FMA(v, u, c[k*stride])
				}
				want[i], wantRates[i] = math.FMA(theta[i], v, base), math.FMA(2*theta[i], d, v)/h
			}
			Horner(alone, theta, base, c, stride)
			HornerSlopes(out, rates, theta, base, h, c, stride)
			compare(t, alone, want, "%d values", n)
			compare(t, out, want, "%d values with slopes", n)
			compare(t, rates, wantRates, "%d slopes", n)
		}
	})
}
