package simd

import (
	"math"

	"odes.dev/odes/internal/base/elem"
)

// Control is what a digital filter says of steps with finite errors err, all slices of one length. It writes their
// binary logarithms less safe to e, errors below 2⁻¹⁰⁰ taken to be that, and to factor the powers of two
//
//	-(beta·e + beta2·last + beta3·before)/k,
//
// fused, the first product rounded, and for an error above one -e/k.
func Control(factor, e, err, beta, last, before []float64, beta2, beta3, safe, k float64) {
	n := len(factor)
	e, err, beta, last, before = e[:n], err[:n], beta[:n], last[:n], before[:n]
	i := 0
	if useAVX2 && n >= 4 {
		for ; i+4 <= n; i += chunk {
			control(&factor[i], &e[i], &err[i], &beta[i], &last[i], &before[i], beta2, beta3, safe, k,
				min(n-i, chunk)&^3)
		}
		i = n &^ 3
	}
	for ; i < n; i++ {
		x := err[i]
		if x < 0x1p-100 {
			x = 0x1p-100
		}
		e[i] = elem.QuickLog2(x) - safe
		y := e[i]
		if !(x > 1) {
			y = math.FMA(beta3, before[i], math.FMA(beta2, last[i], float64(beta[i]*y)))
		}
		factor[i] = elem.QuickExp2(-y / k)
	}
}
