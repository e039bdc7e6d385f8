package odes_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"odes.dev/odes"
)

// Fits the model of the tutorial: BFGS on the logarithms of the parameters.
func Example_fit() {
	m, err := odes.ParseFile("docs/tutorial/fit.ode")
	if err != nil {
		log.Fatal(err)
	}
	r, err := m.Prepare(odes.Options{})
	if err != nil {
		log.Fatal(err)
	}
	names := []string{"ka", "k", "V", "lag", "sd"} // in the order of wrt
	const n = 5

	// loss returns the value at x, the logarithms, and its gradient by x.
	loss := func(x [n]float64) (float64, [n]float64) {
		for i, name := range names {
			if err := r.Set(odes.Assignment{Name: name, Values: []float64{math.Exp(x[i])}}); err != nil {
				log.Fatal(err)
			}
		}
		s, err := r.Sensitivities(context.Background())
		if err != nil {
			return math.Inf(1), [n]float64{}
		}
		var g [n]float64
		for i, v := range s.Variables {
			g[i] = s.Derivative(0, v)[0] * math.Exp(x[i])
		}
		return s.Values[0].Value, g
	}

	dot := func(a, b [n]float64) (sum float64) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	x := [n]float64{math.Log(1), math.Log(0.2), math.Log(20), math.Log(0.3), math.Log(0.2)}
	f, g := loss(x)
	var h [n][n]float64 // the inverse of the second derivatives, as far as it is known
	for i := range h {
		h[i][i] = 0.01
	}
	for range 60 {
		var p, s, y, hy [n]float64
		for i := range p {
			p[i] = -dot(h[i], g)
		}
		var fx float64
		var gx [n]float64
		for step := 1.0; step > 1e-9; step /= 2 {
			for i := range s {
				s[i] = step * p[i]
			}
			at := x
			for i := range at {
				at[i] += s[i]
			}
			if fx, gx = loss(at); fx <= f+1e-4*dot(g, s) {
				break
			}
		}
		for i := range y {
			y[i] = gx[i] - g[i]
		}
		for i := range x {
			x[i] += s[i]
		}
		f, g = fx, gx
		if dot(g, g) < 1e-12 {
			break
		}
		if sy := dot(s, y); sy > 0 {
			for i := range hy {
				hy[i] = dot(h[i], y)
			}
			c := 1 + dot(y, hy)/sy
			for i := range h {
				for j := range h {
					h[i][j] += (c*s[i]*s[j] - hy[i]*s[j] - s[i]*hy[j]) / sy
				}
			}
		}
	}
	fmt.Printf("loss %.3f, slope below 1e-6: %v\n", f, math.Sqrt(dot(g, g)) < 1e-6)
	for i, name := range names {
		fmt.Printf("%-3s %.6f\n", name, math.Exp(x[i]))
	}
	// Output:
	// loss 4.798, slope below 1e-6: true
	// ka  0.944318
	// k   0.177806
	// V   21.960227
	// lag 0.372736
	// sd  0.098333
}
