package nuts

import (
	"context"
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// bent is a density whose second number bends and widens with the first: given a ~ normal(0, 1), b is normal around
// a² with standard deviation exp(a)/10.
func bent(_ context.Context, q, g []float64) (float64, error) {
	a, s := q[0], math.Exp(q[0])/10
	r := (q[1] - a*a) / s
	g[0] = -a - 1 + r*r + 2*a*r/s
	g[1] = -r / s
	return -a*a/2 - r*r/2 - a, nil
}

// TestWarp: the map of bent draws and its inverse fit together, its density has the derivatives of its values, and
// chains in its coordinates draw what they should, at less cost.
func TestWarp(t *testing.T) {
	random := elem.NewRand(5)
	var pool [][]float64
	for range 800 {
		a := random.Norm()
		pool = append(pool, []float64{a, a*a + math.Exp(a)/10*random.Norm()})
	}
	w := NewWarp(pool, 800)
	if w == nil {
		t.Fatal("nothing was found of a bent density")
	}
	ctx := context.Background()
	f := w.Density(bent)
	for range 20 {
		y := []float64{random.Norm(), random.Norm()}
		q, grows := w.Forward(y)
		g, other := make([]float64, 2), make([]float64, 2)
		lp, _ := f(ctx, y, g)
		if plain, _ := bent(ctx, q, other); math.Abs(lp-plain-grows) > 1e-9*math.Abs(lp) {
			t.Errorf("a density of %g, not %g", lp, plain+grows)
		}
		for i, x := range w.Back(q) {
			if math.Abs(x-y[i]) > 1e-9 {
				t.Errorf("back to %g, not %g", x, y[i])
			}
			const h = 1e-6
			at := []float64{y[0], y[1]}
			at[i] += h
			up, _ := f(ctx, at, other)
			at[i] -= 2 * h
			down, _ := f(ctx, at, other)
			if d := (up - down) / (2 * h); math.Abs(d-g[i]) > 1e-5*(1+math.Abs(d)) {
				t.Errorf("a derivative of %g, not %g", g[i], d)
			}
		}
	}
	o := Options{Seed: 9, Warmup: 200, Vary: true}
	draws, work, _ := run(t, f, []float64{0, 0}, o, 3000)
	for i := range draws {
		draws[i], _ = w.Forward(draws[i])
	}
	n := moments(t, "a", draws, func(q []float64) float64 { return q[0] }, 0, 1)
	moments(t, "b", draws, func(q []float64) float64 { return (q[1] - q[0]*q[0]) * math.Exp(-q[0]) }, 0, 0.1)
	plain, more, _ := run(t, bent, []float64{0, 0}, Options{Seed: 9, Warmup: 400}, 3000)
	least := effective(column(plain, 0))
	if float64(work)/n > 0.5*float64(more)/least {
		t.Errorf("%.1f gradients an effective draw, and %.1f without the map", float64(work)/n, float64(more)/least)
	}
}

func column(draws [][]float64, i int) (x []float64) {
	for _, q := range draws {
		x = append(x, q[i])
	}
	return x
}

// TestNoWarp: normal draws ask for no map.
func TestNoWarp(t *testing.T) {
	random := elem.NewRand(6)
	found := 0
	for range 20 {
		var pool [][]float64
		for range 400 {
			q := make([]float64, 5)
			for i := range q {
				q[i] = random.Norm() + q[max(i-1, 0)]
			}
			pool = append(pool, q)
		}
		if NewWarp(pool, 400) != nil {
			found++
		}
	}
	if found > 1 {
		t.Errorf("%d maps of 20 normal densities", found)
	}
}
