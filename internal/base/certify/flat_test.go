package certify

import (
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/base/optim"
)

// TestFlat asks for certificates above minima by what is known, where the objective hardly curves in some directions
// that are no axes. Conjugate gradients take more products there than a certificate may: what these leave open counts
// as gain, so that nothing certifies more than there is.
func TestFlat(t *testing.T) {
	const enough = 1e-6
	r := rand.New(rand.NewPCG(54, 2))
	for round := range 12 {
		n := 62
		if round >= 8 {
			n = 200
		}
		// H = QDQ with Q = 1 − 2qqᵀ, and directions of length 1 across a, the slope of a constraint.
		q, a, h, d := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			q[i], a[i], d[i] = r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
			h[i] = math.Pow(10, -6+6.5*float64(i)/float64(n))
		}
		product := func(v, out []float64) {
			fold := func(v []float64) {
				by := 2 * dot(q, v) / dot(q, q)
				for i := range v {
					v[i] -= by * q[i]
				}
			}
			copy(out, v)
			fold(out)
			for i := range out {
				out[i] *= h[i]
			}
			fold(out)
		}
		clear(d[n/4:]) // flat ones
		w := make([]float64, n)
		copy(w, d)
		by := 2 * dot(q, w) / dot(q, q)
		for i := range w {
			w[i] -= by * q[i]
		}
		by = dot(a, w) / dot(a, a)
		for i := range w {
			w[i] -= by * a[i]
		}
		// The gradient at the point is Hw and a multiple of a: the minimum is where −w leads.
		hw := make([]float64, n)
		product(w, hw)
		gain := dot(w, hw) / 2
		at := &Point{Value: 1, Gradient: hw, Constraints: optim.Constraints{C: []float64{0}, J: a}}
		for i := range hw {
			hw[i] += 3 * a[i]
		}
		p := &Problem{
			X: make([]float64, n), Sizes: make([]float64, n), Lo: make([]float64, n), Hi: make([]float64, n),
			Min: []float64{0}, Max: []float64{0}, At: at, Enough: enough, Smooth: true, Brief: round%2 == 1,
			Size: gain / enough / []float64{0.4, 3, 30, 300}[round%4],
			Products: func(_, v, out []float64) error {
				product(v, out)
				return nil
			},
		}
		size := 5.0
		if round >= 4 && round < 8 { // the minimum is beyond the sizes
			size = 0.02
		}
		for i := range n {
			p.Sizes[i], p.Lo[i], p.Hi[i] = size, math.Inf(-1), math.Inf(1)
		}
		p.Near = func(x []float64) (*Point, error) {
			to := &Point{
				Gradient: make([]float64, n), Constraints: optim.Constraints{C: []float64{dot(a, x)}, J: a},
			}
			product(x, to.Gradient)
			to.Value = 1 + dot(hw, x) + dot(to.Gradient, x)/2
			for i := range x {
				to.Gradient[i] += hw[i]
			}
			return to, nil
		}
		c, want := p.Minimum(), gain/p.Size
		least := 0.99 * want
		if n > manyVariables && p.Brief {
			least = math.Min(least, enough)
		}
		if s := c.Stationarity; !(s > least) && want > enough {
			t.Errorf("round %d: %d numbers: %g where %g can be gained", round, n, s, want)
		} else if n <= manyVariables && !(s < 1.01*want) {
			t.Errorf("round %d: %d numbers: %g where no more than %g can be gained", round, n, s, want)
		}
	}
}
