package fit

import (
	"math"

	"odes.dev/odes/internal/elem"
)

// normalCDF is the probability of less than x in the standard normal distribution.
func normalCDF(x float64) float64 { return elem.Erfc(-x/math.Sqrt2) / 2 }

// normalQuantile returns x with normalCDF(x) = q, for q in (0, 1).
func normalQuantile(q float64) float64 {
	switch {
	case q == 0.5:
		return 0
	case q > 0.5:
		return -normalQuantile(1 - q)
	}
	return -solve(func(x float64) float64 { return normalCDF(-x) }, q)
}

// studentQuantile returns the t that a variable of Student's distribution with nu degrees of freedom exceeds with
// probability q < 0.5.
func studentQuantile(nu, q float64) float64 {
	return solve(func(t float64) float64 { return betaRatio(nu/2, 0.5, nu/float64(nu+t*t)) / 2 }, q)
}

// solve returns x > 0 with tail(x) = q, where tail falls from a half to zero.
func solve(tail func(x float64) float64, q float64) float64 {
	lo, hi := 0.0, 1.0
	for tail(hi) > q && hi < 1e300 {
		lo, hi = hi, 2*hi
	}
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if tail(mid) > q {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// betaRatio is the regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun 26.5.8).
func betaRatio(a, b, x float64) float64 {
	if x <= 0 || x >= 1 {
		return max(0, min(x, 1))
	}
	if x > (a+1)/(a+b+2) {
		return 1 - betaRatio(b, a, 1-x)
	}
	logs := elem.Lgamma(a+b) - elem.Lgamma(a) - elem.Lgamma(b)
	front := elem.Exp(logs + float64(a*elem.Log(x)) + float64(b*elem.Log(1-x)))
	const tiny = 1e-300
	c, d := 1.0, 1-(a+b)*x/(a+1)
	if math.Abs(d) < tiny {
		d = tiny
	}
	d = 1 / d
	sum := d
	for i := 1; i < 10_000; i++ {
		m := float64(i)
		for _, k := range [2]float64{
			m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)),
		} {
			if d = 1 + float64(k*d); math.Abs(d) < tiny {
				d = tiny
			}
			if c = 1 + k/c; math.Abs(c) < tiny {
				c = tiny
			}
			d = 1 / d
			sum *= float64(c * d)
		}
		if math.Abs(float64(c*d)-1) < 1e-16 {
			break
		}
	}
	return front * sum / a
}
