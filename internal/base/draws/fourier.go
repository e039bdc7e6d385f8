package draws

import (
	"math"

	"odes.dev/odes/internal/base/elem"
)

// autocovariance returns sum (x[i] - mean) (x[i+lag] - mean) / n for each lag, by Fourier transforms: what mixes slowly
// needs as many lags as there are draws.
func autocovariance(x []float64) []float64 {
	n := len(x)
	size := 1
	for size < 2*n {
		size *= 2
	}
	m := mean(x)
	re, im := make([]float64, size), make([]float64, size)
	for i, v := range x {
		re[i] = v - m
	}
	fourier(re, im)
	for i := range re {
		re[i] = float64(re[i]*re[i]) + float64(im[i]*im[i])
		im[i] = 0
	}
	fourier(re, im) // the inverse is the same for what is even, but for the size
	cov := re[:n]
	scale := float64(size) * float64(n)
	for i := range cov {
		cov[i] /= scale
	}
	return cov
}

// fourier transforms re + i im in place. Its length is a power of two.
func fourier(re, im []float64) {
	n := len(re)
	for i, j := 1, 0; i < n; i++ { // reversed bits
		bit := n >> 1
		for ; j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		if j ^= bit; i < j {
			re[i], re[j] = re[j], re[i]
			im[i], im[j] = im[j], im[i]
		}
	}
	cos, sin := make([]float64, n/2), make([]float64, n/2)
	for i := range cos {
		angle := -2 * math.Pi * float64(i) / float64(n)
		cos[i], sin[i] = elem.Cos(angle), elem.Sin(angle)
	}
	for half := 1; half < n; half *= 2 {
		stride := n / (2 * half)
		for from := 0; from < n; from += 2 * half {
			for k := range half {
				c, s := cos[k*stride], sin[k*stride]
				a, b := from+k, from+k+half
				r := float64(re[b]*c) - float64(im[b]*s)
				t := float64(re[b]*s) + float64(im[b]*c)
				re[b], im[b] = re[a]-r, im[a]-t
				re[a], im[a] = re[a]+r, im[a]+t
			}
		}
	}
}
