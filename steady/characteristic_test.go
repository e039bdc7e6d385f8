package steady

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/testing/seeds"

	"odes.dev/odes/solvers/matrices"
)

// planOf is a plan for n states without laws.
func planOf(n int) *Plan { return NewPlan(n, &matrices.Jacobian{}, nil) }

// TestCharacteristic compares rightmost roots with closed forms.
func TestCharacteristic(t *testing.T) {
	for _, c := range []struct {
		name string
		of   Lags
		n    int
		want complex128
	}{
		// x' = b x(t - τ): λ τ = W(b τ), with Lambert's W.
		{"on the axis", Lags{[]float64{0}, [][]float64{{-math.Pi / 2}}, []float64{1}}, 1, complex(0, math.Pi/2)},
		{"W(1)", Lags{[]float64{0}, [][]float64{{0.5}}, []float64{2}}, 1, 0.5671432904097838 / 2},
		{"W(-1/e²)", Lags{[]float64{0}, [][]float64{{-math.Exp(-2)}}, []float64{1}}, 1, -0.15859433956303937},
		// λ = a + b exp(-λ τ) at λ = i ω: ω = sqrt(b² - a²), τ = acos(-a/b)/ω.
		{"delays long and short", Lags{
			[]float64{0, 0, 0, 1},
			[][]float64{{-1.25, 0, 0, 0}, {0, 0, 0, -2}},
			[]float64{math.Pi / 2.5, math.Acos(0.5) / math.Sqrt(3)},
		}, 2, complex(0, math.Sqrt(3))},
		{"without an effect", Lags{[]float64{-3}, [][]float64{{0}}, []float64{5}}, 1, -3},
	} {
		s, err := planOf(c.n).characteristic(&c.of)
		if err != nil {
			t.Fatal(c.name, err)
		}
		got := s.Slowest()
		if d := min(cmplx.Abs(got-c.want), cmplx.Abs(cmplx.Conj(got)-c.want)); !(d <= 1e-11) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestCharacteristicRandom counts the roots that grow by the argument principle, of random equations.
func TestCharacteristicRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 7), 59))
	unstable := 0
	for range 40 {
		n, k := 1+r.IntN(3), 1+r.IntN(3)
		draw := func(size float64) []float64 {
			a := make([]float64, n*n)
			for i := range a {
				a[i] = size * r.NormFloat64()
			}
			return a
		}
		g := &Lags{Now: draw(1)}
		for i := range n {
			g.Now[i*n+i] -= 1.5
		}
		for range k {
			g.Then, g.Tau = append(g.Then, draw(1)), append(g.Tau, 0.2+2*r.Float64())
		}
		c := &collocation{n: n, now: g.Now, then: g.Then, tau: g.Tau, longest: 1}
		want, near := grows(c)
		s, err := planOf(n).characteristic(g)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Unstable(); got != want && !near {
			t.Errorf("%d roots grow, and by the argument %d: %+v", got, want, g)
		}
		if want > 0 {
			unstable++
		}
	}
	if unstable < 5 || unstable > 35 {
		t.Errorf("%d are unstable", unstable)
	}
}

// grows counts the roots in the right half-plane, up to the bound, by how the determinant winds along its border. It
// tells whether one is near that border.
func grows(c *collocation) (roots int, near bool) {
	bound := c.bound() + 1
	det := func(z complex128) complex128 {
		a, _ := c.at(z)
		out := complex(1, 0)
		n := c.n
		for k := range n {
			p := k
			for i := k + 1; i < n; i++ {
				if cmplx.Abs(a[i*n+k]) > cmplx.Abs(a[p*n+k]) {
					p = i
				}
			}
			if p != k {
				for j := range n {
					a[p*n+j], a[k*n+j] = a[k*n+j], a[p*n+j]
				}
				out = -out
			}
			out *= a[k*n+k]
			for i := k + 1; i < n; i++ {
				f := a[i*n+k] / a[k*n+k]
				for j := k; j < n; j++ {
					a[i*n+j] -= f * a[k*n+j]
				}
			}
		}
		return out
	}
	const points = 40_000
	b := complex(bound, 0)
	corners := []complex128{-1i * b, b - 1i*b, b + 1i*b, 1i * b, -1i * b}
	turned, last := 0.0, det(corners[0])
	for k := range corners[1:] {
		for i := 1; i <= points/4; i++ {
			z := corners[k] + (corners[k+1]-corners[k])*complex(float64(i)*4/points, 0)
			d := det(z)
			step := cmplx.Phase(d / last)
			near = near || math.Abs(step) > 0.5
			turned += step
			last = d
		}
	}
	return int(math.Round(turned / (2 * math.Pi))), near
}
