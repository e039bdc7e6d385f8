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

// TestLevel asks for certificates where first and second derivatives vanish: at saddles of higher order, and at minima.
func TestLevel(t *testing.T) {
	for name, c := range map[string]struct {
		n       int
		f       func(x []float64) float64
		minimum bool
	}{
		"abc":          {3, func(x []float64) float64 { return (x[0]*x[1]*x[2] - 4) * (x[0]*x[1]*x[2] - 4) }, false},
		"cube":         {1, func(x []float64) float64 { return x[0] * x[0] * x[0] }, false},
		"saddle":       {2, func(x []float64) float64 { return x[0]*x[0] - 0.3*math.Pow(x[1], 4) }, false},
		"product":      {2, func(x []float64) float64 { return -math.Pow(x[0]*x[1], 3) }, false},
		"fourth power": {2, func(x []float64) float64 { return math.Pow(x[0], 4) + math.Pow(x[1], 6) }, true},
		"constant":     {2, func(x []float64) float64 { return 3 }, true},
	} {
		x, inf := make([]float64, c.n), make([]float64, c.n)
		for i := range inf {
			inf[i] = math.Inf(1)
		}
		low, sizes, h := scaled(inf, -1), make([]float64, c.n), make([]float64, c.n*c.n)
		for i := range sizes {
			sizes[i] = 0.1
		}
		if name == "saddle" {
			h[0] = 2
		}
		p := &Problem{
			X: x, Sizes: sizes, Lo: low, Hi: inf, At: &Point{Value: c.f(x), Gradient: make([]float64, c.n)}, Hessian: h,
			Size: 1, Enough: 1e-6, Smooth: true, Near: func(x []float64) (*Point, error) {
				g := make([]float64, c.n) // by differences
				for i := range g {
					to := append([]float64(nil), x...)
					to[i] += 1e-5
					g[i] = (c.f(to) - c.f(x)) / 1e-5
				}
				return &Point{Value: c.f(x), Gradient: g}, nil
			},
		}
		if got := p.Minimum(); got.Stationarity <= p.Enough != c.minimum {
			t.Errorf("%s: stationarity %g", name, got.Stationarity)
		}
	}
}
