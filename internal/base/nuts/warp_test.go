package nuts

import (
	"context"
	"math"
	"slices"
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

// always says that so many draws are independent.
func always(n float64) func(x []float64) float64 { return func([]float64) float64 { return n } }

// TestWarp: the map of bent draws and its inverse fit together, its density has the derivatives of its values, and
// chains in its coordinates draw what they should, at less cost.
func TestWarp(t *testing.T) {
	random := elem.NewRand(5)
	var pool [][]float64
	for range 800 {
		a := random.Norm()
		pool = append(pool, []float64{a, a*a + math.Exp(a)/10*random.Norm()})
	}
	w := NewWarp(pool, always(800))
	if w == nil {
		t.Fatal("nothing was found of a bent density")
	}
	f := w.Density(bent)
	checkWarp(t, w, f, bent, 2)
	o := Options{Seed: 9, Warmup: 200}
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

// checkWarp checks a map of n numbers: its inverse, and its density with derivatives.
func checkWarp(t *testing.T, w *Warp, f, plain Density, n int) {
	t.Helper()
	random, ctx := elem.NewRand(55), context.Background()
	for range 20 {
		y := make([]float64, n)
		for i := range y {
			y[i] = random.Norm()
		}
		q, grows := w.Forward(y)
		g, other := make([]float64, n), make([]float64, n)
		lp, _ := f(ctx, y, g)
		if at, _ := plain(ctx, q, other); math.Abs(lp-at-grows) > 1e-9*math.Abs(lp) {
			t.Errorf("a density of %g, not %g", lp, at+grows)
		}
		for i, x := range w.Back(q) {
			if math.Abs(x-y[i]) > 1e-9 {
				t.Errorf("back to %g, not %g", x, y[i])
			}
			const h = 1e-6
			at := slices.Clone(y)
			at[i] += h
			up, _ := f(ctx, at, other)
			at[i] -= 2 * h
			down, _ := f(ctx, at, other)
			if d := (up - down) / (2 * h); math.Abs(d-g[i]) > 1e-5*(1+math.Abs(d)) {
				t.Errorf("a derivative of %g, not %g", g[i], d)
			}
		}
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
		if NewWarp(pool, always(400)) != nil {
			found++
		}
	}
	if found > 1 {
		t.Errorf("%d maps of 20 normal densities", found)
	}
}

// known is a density of which the product of two numbers is known: rate, tau and eta[k], where rate + exp(tau)·eta[k]
// is near a value, and eta[k] is normal. The last number is another one that depends on rate alone, linearly.
func known(_ context.Context, q, g []float64) (float64, error) {
	mu, tau, n := q[0], q[1], len(q)-1
	g[0], g[1] = -mu, -tau/0.09
	lp := -mu*mu/2 - tau*tau/0.18
	for k := 2; k < n; k++ {
		value := []float64{1.5, 0, -1, -0.4}[k-2]
		e := math.Exp(tau)
		r := (mu + e*q[k] - value) / 0.05
		lp -= r*r/2 + q[k]*q[k]/2
		g[0] -= r / 0.05
		g[1] -= r * e * q[k] / 0.05
		g[k] = -r*e/0.05 - q[k]
	}
	r := (q[n] - 3*mu) / 2
	g[n] = -r / 2
	g[0] += 3 * r / 2
	return lp - r*r/2, nil
}

// TestScaled: where data tell a product, chains move in the product: its map is found from draws that mix slowly, has
// the derivatives of its values, and leaves little to do.
func TestScaled(t *testing.T) {
	plain, more, _ := run(t, known, make([]float64, 7), Options{Seed: 3, Warmup: 300, Metric: Dense}, 1500)
	w := NewWarp(plain, always(300))
	if w == nil || w.Inner == nil {
		t.Fatal("nothing was found")
	}
	checkWarp(t, w, w.Density(known), known, 7)
	// What the first map lets chains draw tells the second one more.
	pool, _, _ := run(t, w.Density(known), make([]float64, 7), Options{Seed: 4, Warmup: 200}, 1000)
	for i := range pool {
		pool[i], _ = w.Forward(pool[i])
	}
	w = NewWarp(pool, always(800))
	scaled := 0
	for i := range w.Inner {
		if len(w.Inner[i]) > 0 {
			scaled++
		}
	}
	if scaled != 4 {
		t.Errorf("%d scaled rows", scaled)
	}
	f := w.Density(known)
	checkWarp(t, w, f, known, 7)
	draws, work, divergent := run(t, f, make([]float64, 7), Options{Seed: 9, Warmup: 300}, 2000)
	if divergent > 0 {
		t.Errorf("%d divergences", divergent)
	}
	least, slow := math.Inf(1), math.Inf(1)
	for i := range draws {
		draws[i], _ = w.Forward(draws[i])
	}
	for i := range 7 {
		least, slow = min(least, effective(column(draws, i))), min(slow, effective(column(plain, i)))
	}
	t.Logf("%.1f gradients an effective draw, and %.1f without the map", float64(work)/least, float64(more)/slow)
	if float64(work)/least > 0.3*float64(more)/slow {
		t.Errorf("%.1f gradients an effective draw, and %.1f without the map", float64(work)/least, float64(more)/slow)
	}
}

// TestKnee: a ridge that is straight on both sides of a knee is found, with the derivatives of its values.
func TestKnee(t *testing.T) {
	knee := func(_ context.Context, q, g []float64) (float64, error) {
		const wide = 0.2
		x := math.Exp(4 * (q[0] - 1))
		r := (q[1] - math.Log1p(x)) / wide
		g[0], g[1] = -q[0]+4*r/wide*x/(1+x), -r/wide
		return -q[0]*q[0]/2 - r*r/2, nil
	}
	random := elem.NewRand(8)
	var pool [][]float64
	for range 800 {
		a := random.Norm()
		pool = append(pool, []float64{a, math.Log1p(math.Exp(4*(a-1))) + 0.2*random.Norm()})
	}
	w := NewWarp(pool, always(800))
	if w == nil || !slices.ContainsFunc(w.Bends[1], func(f Feature) bool { return f.Knot != 0 }) {
		t.Fatalf("%+v", w)
	}
	checkWarp(t, w, w.Density(knee), knee, 2)
}
