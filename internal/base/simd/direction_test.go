package simd

import (
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// A direction that is turned has the bits of the definition, whatever it holds.
func TestDirections(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(11)
		for trial := range 300 {
			n := trial % 71
			if trial == 299 {
				n = chunk + 7 // more than a kernel does at once
			}
			v, k, f, y := tame(r, n), tame(r, n), tame(r, n), tame(r, n)
			if n > 0 {
				at := int(r.Uint64() % uint64(n))
				switch r.Uint64() % 8 {
				case 0:
					k[at] = math.NaN()
				case 1:
					f[at] = math.Inf(-1)
				case 2:
					y[at], v[at] = math.NaN(), math.Copysign(0, -1)
				}
			}
			h, rel, abs, by := r.Float64(), r.Float64(), r.Float64(), r.Float64()
			size, per := make([]float64, n), make([]float64, n)
			wantSize, wantPer := make([]float64, n), make([]float64, n)
			for i := range n {
				wantSize[i] = math.FMA(rel, max(math.Abs(y[i]), math.Abs(float64(h*f[i]))), abs)
				wantPer[i] = 1 / wantSize[i]
			}
			Tolerable(size, per, y, f, h, rel, abs)
			compare(t, append(size, per...), append(wantSize, wantPer...), "%d sizes", n)

			copy(per, tame(r, n))
			turned := make([]float64, n)
			var d, before, after [4]float64
			var mostBefore, mostAfter float64
			for i := range n {
				turned[i] = float64((k[i] - f[i]) * by)
				a, b := float64(turned[i]*per[i]), float64(v[i]*per[i])
				d[i%4] = math.FMA(a, b, d[i%4])
				before[i%4], after[i%4] = math.FMA(b, b, before[i%4]), math.FMA(a, a, after[i%4])
				if math.Abs(b) > mostBefore {
					mostBefore = math.Abs(b)
				}
				if math.Abs(a) > mostAfter {
					mostAfter = math.Abs(a)
				}
			}
			sum := func(s [4]float64) float64 { return (s[0] + s[2]) + (s[1] + s[3]) }
			square, most := Measure(v, per)
			compare(t, []float64{square, most}, []float64{sum(before), mostBefore}, "%d elements", n)
			dot, square, most := Turn(v, k, f, per, by)
			count := r.Uint64()
			perturbed := make([]float64, n)
			for i := range n {
				x := (count + uint64(i)) * splitMix
				x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
				x = (x ^ x>>27) * 0x94d049bb133111eb
				u := float64(int64(x^x>>31)) * 0x1p-63
				perturbed[i] = math.FMA(float64(u*by), per[i], turned[i])
			}
			compare(t, append(v, dot, square, most), append(turned, sum(d), sum(after), mostAfter), "%d turned", n)
			Perturb(v, per, by, count)
			compare(t, v, perturbed, "%d perturbed", n)
		}
	})
}
