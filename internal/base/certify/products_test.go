package certify

import (
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/base/optim"
)

// TestProducts asks for certificates of 400 variables at minima that are known, and where the objective is more by what
// is known: Σ ½hᵢ(xᵢ − cᵢ)², with curvatures over six orders of magnitude, within bounds and with Σ xᵢ as it is.
func TestProducts(t *testing.T) {
	const n, enough = 400, 1e-6
	r := rand.New(rand.NewPCG(54, 1))
	for round := range 40 {
		h, c, best := make([]float64, n), make([]float64, n), make([]float64, n)
		y := r.NormFloat64() // the multiplier of Σ xᵢ
		if round%2 == 0 {
			y = 0
		}
		for i := range n {
			h[i], c[i] = math.Pow(10, -3+6*r.Float64()), 1.5*r.NormFloat64()
			best[i] = math.Max(-1, math.Min(c[i]-y/h[i], 1))
		}
		value := func(x []float64) (sum float64) {
			for i, v := range x {
				sum += h[i] * (v - c[i]) * (v - c[i]) / 2
			}
			return sum
		}
		at := func(x []float64) Certificate {
			p := &Problem{
				X: x, Sizes: make([]float64, n), Lo: make([]float64, n), Hi: make([]float64, n),
				Size:   value(make([]float64, n)),
				Enough: enough, Smooth: true, At: &Point{Value: value(x), Gradient: make([]float64, n)},
				Products: func(_, v, out []float64) error {
					for i := range out {
						out[i] = h[i] * v[i]
					}
					return nil
				},
			}
			p.Near = func(to []float64) (*Point, error) {
				q := &Point{Value: value(to), Gradient: make([]float64, n), Constraints: p.At.Constraints}
				for i, v := range to {
					q.Gradient[i] = h[i] * (v - c[i])
				}
				return q, nil
			}
			for i, v := range x {
				p.Sizes[i], p.Lo[i], p.Hi[i] = 1, -1, 1
				p.At.Gradient[i] = h[i] * (v - c[i])
			}
			if y != 0 {
				p.Min, p.Max = []float64{0}, []float64{0}
				p.At.Constraints = optim.Constraints{C: []float64{0}, J: make([]float64, n)}
				for i := range n {
					p.At.Constraints.J[i] = 1
				}
			}
			return p.Minimum()
		}
		if s := at(best).Stationarity; !(s <= enough) {
			t.Errorf("round %d: %g at the minimum", round, s)
		}
		// Away from the minimum along what curves little; pairs keep Σ xᵢ.
		x, size := append([]float64(nil), best...), value(make([]float64, n))
		for range 30 {
			i, j := r.IntN(n), r.IntN(n)
			d := math.Min(0.3, math.Min(1-x[i], x[j]+1))
			if i != j && h[i]+h[j] < 1 {
				x[i] += d
				x[j] -= d
			}
		}
		// So far that a little more than what is enough can be gained.
		gained := func(part float64) ([]float64, float64) {
			to := make([]float64, n)
			for i := range to {
				to[i] = best[i] + part*(x[i]-best[i])
			}
			return to, (value(to) - value(best)) / size
		}
		lo, hi := 0.0, 1.0
		for range 50 {
			if _, g := gained((lo + hi) / 2); g > 2*enough {
				hi = (lo + hi) / 2
			} else {
				lo = (lo + hi) / 2
			}
		}
		to, gain := gained(hi)
		if s := at(to).Stationarity; gain > 1.5*enough && !(s > enough && s < 3*enough) {
			t.Errorf("round %d: %g where %g can be gained", round, s, gain)
		}
	}
}

// TestRelaxed: 2x with x >= 0 owes 0.002 at x = -0.001, and an error of the constraint of 0.0001 hides 0.0002. A
// constraint whose violation the objective gains nothing by owes nothing.
func TestRelaxed(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ slope, at, lo, hi, by, want float64 }{
		{2, -0.001, 0, inf, 0.001, 0.002},
		{2, 0, 0, inf, 0.0001, 0.0002},
		{2, 0.003, 0, 0, 0.003, 0.006}, // to either side: the program knows no history
		{0, -0.001, 0, inf, 0.001, 0},
		{2, 0, 0, 0, 0, 0},
	} {
		p := &Problem{
			X: []float64{c.at}, Sizes: []float64{1}, Lo: []float64{-inf}, Hi: []float64{inf},
			Min: []float64{c.lo}, Max: []float64{c.hi}, Size: 1, Enough: 1e-6, Smooth: true,
			At: &Point{
				Value: c.slope * c.at, Gradient: []float64{c.slope},
				Constraints: optim.Constraints{C: []float64{c.at}, J: []float64{1}},
			},
		}
		found := p.Minimum()
		if got := p.Relaxed([]float64{c.by}, &found); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %v, want %v", c, got, c.want)
		}
	}
}
