package simd

import "math"

// Horner sets out[i] = base + θ[i]·Σ_k c[k·stride]·u^k with u = 2θ[i] - 1, by Horner's rule, fused.
func Horner(out, theta []float64, base float64, c []float64, stride int) {
	i, n, terms := 0, len(out), (len(c)+stride-1)/stride
	theta = theta[:n]
	if useAVX2 && n >= 4 && terms > 0 {
		i = n &^ 3
		horner(&out[0], &theta[0], base, &c[0], terms, stride, i)
	}
	for ; i < n; i++ {
		u, v := math.FMA(2, theta[i], -1), 0.0
		for k := (terms - 1) * stride; k >= 0; k -= stride {
			v = math.FMA(v, u, c[k])
		}
		out[i] = math.FMA(theta[i], v, base)
	}
}

// HornerSlopes is Horner with the derivatives by θ, over h.
func HornerSlopes(out, rates, theta []float64, base, h float64, c []float64, stride int) {
	i, n, terms := 0, len(out), (len(c)+stride-1)/stride
	rates, theta = rates[:n], theta[:n]
	if useAVX2 && n >= 4 && terms > 0 {
		i = n &^ 3
		hornerSlopes(&out[0], &rates[0], &theta[0], base, h, &c[0], terms, stride, i)
	}
	for ; i < n; i++ {
		u, v, d := math.FMA(2, theta[i], -1), 0.0, 0.0
		for k := (terms - 1) * stride; k >= 0; k -= stride {
			d, v = math.FMA(d, u, v), math.FMA(v, u, c[k])
		}
		out[i], rates[i] = math.FMA(theta[i], v, base), math.FMA(2*theta[i], d, v)/h
	}
}
