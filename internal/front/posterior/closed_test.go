package posterior

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/base/nuts"
)

// TestFifty: a normal posterior of 50 params, whose precision is known: the priors', and that of a measurement of each
// sum of neighbours.
func TestFifty(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	const n, noise = 50, 0.3
	text := `time t from 0 to 1
param a[50] = 0 ~ normal(0, 1)
state x[49] = 0
x[i]' = a[i] + a[i+1] for i in 1:49
`
	h, b := make([]float64, n*n), make([]float64, n)
	for i := range n {
		h[i*n+i]++
	}
	table, observed := "data D {\n  time = [1]\n", ""
	for i := range n - 1 {
		y := math.Sin(float64(i))
		table += fmt.Sprintf("  y%d = [%.17g]\n", i+1, y)
		observed += fmt.Sprintf("observe o%d = x[%d] ~ normal(%g) from D.y%d\n", i+1, i+1, noise, i+1)
		for _, j := range []int{i, i + 1} {
			b[j] += y / noise / noise
			for _, k := range []int{i, i + 1} {
				h[j*n+k] += 1 / noise / noise
			}
		}
	}
	l := nuts.Cholesky(h, n)
	nuts.Solve(l, b)
	r := drawn(t, text+table+"}\n"+observed+"sample { chains = 2  draws = 250  warmup = 150  starts = 1 }", Options{})
	if len(r.Params) != n || r.Divergences > 0 {
		t.Fatal(len(r.Params), r.Divergences)
	}
	for i := range n {
		variance := make([]float64, n)
		variance[i] = 1
		nuts.Solve(l, variance)
		near(t, &r.Params[i], b[i], math.Sqrt(variance[i]))
	}
}

// TestThroughEvents: an event may pass each of the measurements, where the density leaps. Moments are those of a grid.
func TestThroughEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	r := drawn(t, `time t from 0 to 6
param lag = 1.5 ~ uniform(0.5, 3.5)
param k = 0.5 ~ lognormal(-0.7, 0.3)
state a = 0
a' = -k*a
event dose at lag { a += 2 }
data D { time = [1, 2, 3, 6]  y = [0.4, 1, 1, 0.2] }
observe o = a ~ normal(0.7) from D.y
sample { draws = 700  warmup = 250 }`, Options{})
	var mass float64
	var first, second [2]float64
	const cells = 600
	for i := range cells {
		lag := 0.5 + 3*(float64(i)+0.5)/cells
		for j := range cells {
			z := -5 + 10*(float64(j)+0.5)/cells
			k, lp := math.Exp(-0.7+0.3*z), -z*z/2
			for m, at := range []float64{1, 2, 3, 6} {
				a := 0.0
				if at > lag {
					a = 2 * math.Exp(-k*(at-lag))
				}
				d := (a - []float64{0.4, 1, 1, 0.2}[m]) / 0.7
				lp -= d * d / 2
			}
			w := math.Exp(lp)
			mass += w
			for p, x := range []float64{lag, k} {
				first[p] += w * x
				second[p] += w * x * x
			}
		}
	}
	for p := range first {
		mean := first[p] / mass
		near(t, &r.Params[p], mean, math.Sqrt(second[p]/mass-mean*mean))
	}
	least := min(r.Params[0].BulkESS, r.Params[1].BulkESS)
	if rate := float64(r.Gradients) / least; len(r.Walls) != 3 || rate > 60 {
		t.Errorf("%d walls, %.0f gradients an effective draw", len(r.Walls), rate)
	}
}
