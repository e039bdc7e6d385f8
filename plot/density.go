package plot

import (
	"math"
	"slices"
)

// Density estimates the density of numbers at n places, by normal kernels of the width that Silverman (1986) gives; nil
// where they do not differ. Kernels are mirrored at the least and the greatest number, so that no mass leaves these.
func Density(values []float64, n int) (at, density []float64) {
	x := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !finite(v) })
	slices.Sort(x)
	if len(x) < 2 || x[0] == x[len(x)-1] {
		return nil, nil
	}
	mean, squares := 0.0, 0.0
	for i, v := range x {
		d := v - mean
		mean += d / float64(i+1)
		squares += d * (v - mean)
	}
	quantile := func(p float64) float64 { return x[int(p*float64(len(x)-1))] }
	spread := math.Sqrt(squares / float64(len(x)-1))
	if q := (quantile(0.75) - quantile(0.25)) / 1.349; q > 0 {
		spread = min(spread, q)
	}
	width := 0.9 * spread * math.Pow(float64(len(x)), -0.2)
	lo, hi := x[0], x[len(x)-1]
	width = max(width, (hi-lo)/(4*float64(n)))
	scale := 1 / (float64(len(x)) * width * math.Sqrt(2*math.Pi))
	for k := range n {
		place := lo + (hi-lo)*float64(k)/float64(n-1)
		sum := 0.0
		for _, centre := range []float64{place, 2*lo - place, 2*hi - place} {
			from, _ := slices.BinarySearch(x, centre-5*width)
			for _, v := range x[from:] {
				z := (v - centre) / width
				if z > 5 {
					break
				}
				sum += math.Exp(-z * z / 2)
			}
		}
		at, density = append(at, place), append(density, sum*scale)
	}
	return at, density
}
