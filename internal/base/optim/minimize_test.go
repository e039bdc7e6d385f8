package optim

import (
	"context"
	"errors"
	"math"
	"math/cmplx"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// sum is a sum of squares, Σ rᵢ², of J. J. Moré, B. S. Garbow, K. E. Hillstrom, Testing unconstrained optimization
// software, ACM TOMS 7 (1981) 17–41, doi:10.1145/355934.355936. Residuals are functions of complex variables, so that
// complex steps differentiate them.
type sum struct {
	name     string
	start    []float64
	least    []float64 // values of minima; a search may find any
	residual func(x []complex128) []complex128
	beyond   map[string]bool // methods that are not expected to find a minimum
	lo, hi   []float64       // bounds for a search within bounds
	bounded  float64         // the least value within them, where it is known in closed form; else −1
}

func c(x float64) complex128 { return complex(x, 0) }

var sums = []sum{
	{
		name: "Rosenbrock", start: []float64{-1.2, 1}, least: []float64{0},
		residual: func(x []complex128) []complex128 { return []complex128{10 * (x[1] - x[0]*x[0]), 1 - x[0]} },
		lo:       []float64{-50, -50}, hi: []float64{0.5, 100}, bounded: 0.25,
	},
	{
		name: "Freudenstein and Roth", start: []float64{0.5, -2}, least: []float64{0, 48.98425367924},
		residual: func(x []complex128) []complex128 {
			return []complex128{-13 + x[0] + ((5-x[1])*x[1]-2)*x[1], -29 + x[0] + ((x[1]+1)*x[1]-14)*x[1]}
		},
		lo: []float64{0, -20}, hi: []float64{20, -0.9}, bounded: -1,
	},
	{
		name: "Powell badly scaled", start: []float64{0, 1}, least: []float64{0},
		// L-BFGS sees one direction only: the other has a curvature that is 10⁻¹⁷ of it.
		beyond: map[string]bool{"lbfgs": true},
		residual: func(x []complex128) []complex128 {
			return []complex128{1e4*x[0]*x[1] - 1, cmplx.Exp(-x[0]) + cmplx.Exp(-x[1]) - 1.0001}
		},
		lo: []float64{0, 1}, hi: []float64{1, 9}, bounded: -1,
	},
	{
		name: "Brown badly scaled", start: []float64{1, 1}, least: []float64{0},
		residual: func(x []complex128) []complex128 {
			return []complex128{x[0] - 1e6, x[1] - 2e-6, x[0]*x[1] - 2}
		},
		lo: []float64{0, 3e-5}, hi: []float64{1e6, 100}, bounded: 784/(1+9e-10) + 2.8e-5*2.8e-5,
	},
	{
		name: "Beale", start: []float64{1, 1}, least: []float64{0},
		residual: func(x []complex128) []complex128 {
			r, p := make([]complex128, 3), c(1)
			for i, y := range []float64{1.5, 2.25, 2.625} {
				p *= x[1]
				r[i] = c(y) - x[0]*(1-p)
			}
			return r
		},
		lo: []float64{0.6, 0.5}, hi: []float64{10, 100}, bounded: 0,
	},
	{
		name: "Jennrich and Sampson", start: []float64{0.3, 0.4}, least: []float64{124.36218236},
		residual: func(x []complex128) []complex128 {
			r := make([]complex128, 10)
			for i := range r {
				k := c(float64(i + 1))
				r[i] = 2 + 2*k - (cmplx.Exp(k*x[0]) + cmplx.Exp(k*x[1]))
			}
			return r
		},
		lo: []float64{0.26, 0}, hi: []float64{10, 0.8}, bounded: -1,
	},
	{
		name: "helical valley", start: []float64{-1, 0, 0}, least: []float64{0},
		residual: func(x []complex128) []complex128 {
			q := x[1] / x[0] // cmplx.Atan loses small imaginary parts
			a := complex(math.Atan(real(q)), imag(q)/(1+real(q)*real(q))) / (2 * math.Pi)
			if real(x[0]) < 0 {
				a += 0.5
			}
			return []complex128{10 * (x[2] - 10*a), 10 * (cmplx.Sqrt(x[0]*x[0]+x[1]*x[1]) - 1), x[2]}
		},
		lo: []float64{-100, -1, -1}, hi: []float64{0.8, 1, 1}, bounded: -1,
	},
	{
		name: "Bard", start: []float64{1, 1, 1}, least: []float64{8.2148773065790e-3, 17.4286},
		residual: func(x []complex128) []complex128 {
			y := []float64{.14, .18, .22, .25, .29, .32, .35, .39, .37, .58, .73, .96, 1.34, 2.10, 4.39}
			r := make([]complex128, len(y))
			for i := range r {
				u := float64(i + 1)
				v := 16 - u
				r[i] = c(y[i]) - (x[0] + c(u)/(c(v)*x[1]+c(math.Min(u, v))*x[2]))
			}
			return r
		},
		lo: []float64{0.1, 0, 0}, hi: []float64{50, 100, 50}, bounded: -1,
	},
	{
		name: "Gaussian", start: []float64{0.4, 1, 0}, least: []float64{1.1279327696e-8},
		residual: func(x []complex128) []complex128 {
			y := []float64{
				.0009, .0044, .0175, .0540, .1295, .2420, .3521, .3989, .3521, .2420, .1295, .0540, .0175, .0044, .0009,
			}
			r := make([]complex128, len(y))
			for i := range r {
				d := c((7-float64(i))/2) - x[2]
				r[i] = x[0]*cmplx.Exp(-x[1]*d*d/2) - c(y[i])
			}
			return r
		},
		lo: []float64{0.398, 1, -0.5}, hi: []float64{4.2, 2, 0.1}, bounded: -1,
	},
	{
		name: "Box", start: []float64{0, 10, 20}, least: []float64{0},
		residual: func(x []complex128) []complex128 {
			r := make([]complex128, 10)
			for i := range r {
				s := c(-0.1 * float64(i+1))
				r[i] = cmplx.Exp(s*x[0]) - cmplx.Exp(s*x[1]) - x[2]*(cmplx.Exp(s)-cmplx.Exp(10*s))
			}
			return r
		},
		lo: []float64{0, 5, 0}, hi: []float64{2, 9.5, 20}, bounded: -1,
	},
	{
		name: "Powell singular", start: []float64{3, -1, 0, 1}, least: []float64{0},
		residual: func(x []complex128) []complex128 {
			d, e := x[1]-2*x[2], x[0]-x[3]
			return []complex128{x[0] + 10*x[1], c(math.Sqrt(5)) * (x[2] - x[3]), d * d, c(math.Sqrt(10)) * e * e}
		},
		lo: []float64{0.1, -20, -1, -1}, hi: []float64{100, 20, 1, 50}, bounded: -1,
	},
	{
		name: "Wood", start: []float64{-3, -1, -3, -1}, least: []float64{0},
		residual: func(x []complex128) []complex128 {
			return []complex128{
				10 * (x[1] - x[0]*x[0]), 1 - x[0], c(math.Sqrt(90)) * (x[3] - x[2]*x[2]), 1 - x[2],
				c(math.Sqrt(10)) * (x[1] + x[3] - 2), c(1/math.Sqrt(10)) * (x[1] - x[3]),
			}
		},
		lo: []float64{-100, -100, -100, -100}, hi: []float64{0, 10, 100, 100}, bounded: -1,
	},
	{
		name: "Brown and Dennis", start: []float64{25, 5, -5, -1}, least: []float64{85822.201626356},
		residual: func(x []complex128) []complex128 {
			r := make([]complex128, 20)
			for i := range r {
				t := float64(i+1) / 5
				a, b := x[0]+c(t)*x[1]-c(math.Exp(t)), x[2]+x[3]*c(math.Sin(t))-c(math.Cos(t))
				r[i] = a*a + b*b
			}
			return r
		},
		lo: []float64{-10, 0, -100, -20}, hi: []float64{100, 15, 0, 0.2}, bounded: -1,
	},
	{
		name: "Biggs", start: []float64{1, 2, 1, 1, 1, 1}, least: []float64{0, 5.65564992e-3},
		// Newton's method takes a valley that falls forever, towards 0.2427.
		beyond: map[string]bool{"newton": true},
		residual: func(x []complex128) []complex128 {
			r := make([]complex128, 13)
			for i := range r {
				t := 0.1 * float64(i+1)
				y := math.Exp(-t) - 5*math.Exp(-10*t) + 3*math.Exp(-4*t)
				r[i] = x[2]*cmplx.Exp(-c(t)*x[0]) - x[3]*cmplx.Exp(-c(t)*x[1]) + x[5]*cmplx.Exp(-c(t)*x[4]) - c(y)
			}
			return r
		},
		lo: []float64{0, 0, 0, 1, 0, 0}, hi: []float64{2, 8, 1, 7, 5, 5}, bounded: -1,
	},
	{
		name: "Watson", start: make([]float64, 6), least: []float64{2.287670053552e-3},
		residual: func(x []complex128) []complex128 {
			r := make([]complex128, 31)
			for i := range 29 {
				t, p, s, d := c(float64(i+1)/29), c(1), c(0), c(0)
				for j, v := range x {
					s += v * p
					if j+1 < len(x) {
						d += c(float64(j+1)) * x[j+1] * p
					}
					p *= t
				}
				r[i] = d - s*s - 1
			}
			r[29], r[30] = x[0], x[1]-x[0]*x[0]-1
			return r
		},
		lo: []float64{-0.015, -inf, -inf, -inf, -inf, -0.99}, hi: []float64{inf, 0.9, 0.5, 2, inf, 0}, bounded: -1,
	},
	{
		name: "variably dimensioned", start: []float64{0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125, 0},
		least: []float64{0},
		residual: func(x []complex128) []complex128 {
			r, s := make([]complex128, len(x)+2), c(0)
			for j, v := range x {
				r[j] = v - 1
				s += c(float64(j+1)) * (v - 1)
			}
			r[len(x)], r[len(x)+1] = s, s*s
			return r
		},
		lo: []float64{0, 0, 0, 0, 0, 0, 0, 0}, hi: []float64{10, 20, 30, 40, 50, 60, 70, 0.5}, bounded: -1,
	},
}

// value returns ½ Σ rᵢ² at x.
func (s sum) value(x []complex128) complex128 {
	v := c(0)
	for _, r := range s.residual(x) {
		v += r * r / 2
	}
	return v
}

// slopes sets g to the gradient of f at x, by complex steps.
func slopes(f func([]complex128) complex128, x, g []float64) {
	z := make([]complex128, len(x))
	for i, v := range x {
		z[i] = c(v)
	}
	for i, v := range x {
		z[i] = complex(v, 1e-40)
		g[i] = imag(f(z)) / 1e-40
		z[i] = c(v)
	}
}

// real1 returns f at real x.
func real1(f func([]complex128) complex128, x []float64) float64 {
	z := make([]complex128, len(x))
	for i, v := range x {
		z[i] = c(v)
	}
	return real(f(z))
}

func (s sum) squares(b Bounds) LeastSquaresProblem {
	n, m := len(s.start), 0
	{
		z := make([]complex128, n)
		m = len(s.residual(z))
	}
	return LeastSquaresProblem{
		Variables: n, Residuals: m, Bounds: b,
		Evaluate: func(_ context.Context, x []float64, want Want, at *Residuals) error {
			z := make([]complex128, n)
			for i, v := range x {
				z[i] = c(v)
			}
			for i, r := range s.residual(z) {
				at.R[i] = real(r)
			}
			for j, v := range x {
				z[j] = complex(v, 1e-40)
				for i, r := range s.residual(z) {
					at.J[i*n+j] = imag(r) / 1e-40
				}
				z[j] = c(v)
			}
			return nil
		},
	}
}

// smooth returns f as a problem. Its Hessians are differences of gradients.
func smooth(n int, b Bounds, f func([]complex128) complex128) Problem {
	hessian := func(x, h []float64) {
		y, up, down := append([]float64{}, x...), make([]float64, n), make([]float64, n)
		for i, v := range x {
			d := 1e-5 * math.Max(math.Abs(v), 1e-3)
			y[i] = v + d
			slopes(f, y, up)
			w := y[i]
			y[i] = v - d
			slopes(f, y, down)
			for j := range n {
				h[i*n+j] = (up[j] - down[j]) / (w - y[i])
			}
			y[i] = v
		}
	}
	return Problem{
		Variables: n, Bounds: b,
		Evaluate: func(_ context.Context, x []float64, want Want, at *Point) error {
			at.Value = real1(f, x)
			if want >= Slopes {
				slopes(f, x, at.Gradient)
			}
			if want == Curving {
				hessian(x, at.Hessian)
			}
			return nil
		},
		HasHessian: true,
		Product: func(_ context.Context, x, v, hv []float64) error {
			h := make([]float64, n*n)
			hessian(x, h)
			multiply(h, v, hv)
			return nil
		},
	}
}

// TestSums minimises the sums by each method, without bounds and within them.
func TestSums(t *testing.T) {
	for _, s := range sums {
		for _, within := range []bool{false, true} {
			b := Bounds{}
			if within {
				b = Bounds{s.lo, s.hi}
			}
			known := s.least
			if within {
				known = nil
				if s.bounded >= 0 {
					known = []float64{s.bounded}
				}
			}
			for _, method := range []string{"squares", "newton", "products", "lbfgs"} {
				if s.beyond[method] {
					continue
				}
				p := smooth(len(s.start), b, s.value)
				var res Result
				var err error
				o := Options{}
				switch method {
				case "squares":
					res, err = LeastSquares(t.Context(), s.squares(b), s.start, o)
				case "lbfgs":
					o.FirstOrder = true
					res, err = Minimize(t.Context(), p, s.start, o)
				case "products":
					p.HasHessian = false
					res, err = Minimize(t.Context(), p, s.start, o)
				default:
					res, err = Minimize(t.Context(), p, s.start, o)
				}
				if err != nil {
					t.Fatal(err)
				}
				if known == nil { // the methods agree
					known = []float64{2 * res.Value}
				}
				if !res.Status.Converged() {
					t.Errorf("%s, %s, within bounds: %v: %v", s.name, method, within, res.Status)
				}
				for i, x := range res.X {
					lo, hi := b.limits(i)
					at := int8(0)
					if x == lo {
						at = -1
					} else if x == hi {
						at = 1
					}
					if x < lo || x > hi || at != res.AtBound[i] || float64(at)*res.Gradient[i] > 0 {
						t.Errorf("%s, %s: x%d = %g in [%g, %g], at bound %d, gradient %g",
							s.name, method, i, x, lo, hi, res.AtBound[i], res.Gradient[i])
					}
				}
				found := false
				for _, v := range known {
					found = found || math.Abs(2*res.Value-v) <= 1e-9*v+1e-13
				}
				if !found {
					t.Errorf("%s, %s, within bounds: %v: %.15g, not %v", s.name, method, within, 2*res.Value, known)
				}
			}
		}
	}
}

// TestQuadratics checks the conditions of a minimum within bounds of random convex quadratic functions, of which the
// methods find the only one.
func TestQuadratics(t *testing.T) {
	r := elem.NewRand(3)
	for range 60 {
		n := 1 + int(r.Uint64()%12)
		m := n + 3
		a, y := make([]float64, m*n), make([]float64, m)
		for i := range a {
			a[i] = r.Norm() * math.Pow(10, float64(int(r.Uint64()%3)))
		}
		for i := range y {
			y[i] = 30 * r.Norm()
		}
		b := Bounds{make([]float64, n), make([]float64, n)}
		start := make([]float64, n)
		for i := range n {
			b.Lo[i], b.Hi[i] = r.Norm()-0.5, math.Inf(1)
			switch r.Uint64() % 4 {
			case 0:
				b.Hi[i] = b.Lo[i] + r.Float64()
			case 1:
				b.Lo[i] = math.Inf(-1)
			case 2:
				b.Hi[i] = b.Lo[i]
			}
			start[i] = r.Norm()
		}
		residuals := LeastSquaresProblem{
			Variables: n, Residuals: m, Bounds: b,
			Evaluate: func(_ context.Context, x []float64, _ Want, at *Residuals) error {
				multiply(a, x, at.R)
				add(at.R, -1, y)
				copy(at.J, a)
				return nil
			},
		}
		whole := Problem{
			Variables: n, Bounds: b, HasHessian: true,
			Evaluate: func(_ context.Context, x []float64, want Want, at *Point) error {
				v := make([]float64, m)
				multiply(a, x, v)
				add(v, -1, y)
				at.Value = dot(v, v) / 2
				transposed(a, v, at.Gradient)
				if want == Curving {
					clear(at.Hessian)
					for i := range m {
						for j := range n {
							add(at.Hessian[j*n:(j+1)*n], a[i*n+j], a[i*n:(i+1)*n])
						}
					}
				}
				return nil
			},
		}
		first, err := LeastSquares(t.Context(), residuals, start, Options{})
		if err != nil {
			t.Fatal(err)
		}
		second, err := Minimize(t.Context(), whole, start, Options{})
		if err != nil {
			t.Fatal(err)
		}
		third, err := Minimize(t.Context(), whole, start, Options{FirstOrder: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, res := range []Result{first, second, third} {
			if !res.Status.Converged() {
				t.Errorf("n = %d: %v", n, res.Status)
			}
			size := largest(a) * norm(y)
			for i, g := range res.Gradient {
				bad := math.Abs(g) > 1e-7*size
				switch {
				case b.Lo[i] == b.Hi[i]:
					bad = res.X[i] != b.Lo[i]
				case res.X[i] == b.Lo[i]:
					bad = g < -1e-7*size
				case res.X[i] == b.Hi[i]:
					bad = g > 1e-7*size
				}
				if bad || math.Abs(res.X[i]-first.X[i]) > 1e-5*(1+math.Abs(first.X[i])) {
					t.Errorf("n = %d, x%d = %g in [%g, %g]: gradient %g; %v, not %v",
						n, i, res.X[i], b.Lo[i], b.Hi[i], g, res.X, first.X)
				}
			}
		}
	}
}

// TestRest fits a line with an unknown standard deviation, whose logarithm is beside the squares.
func TestRest(t *testing.T) {
	y := []float64{1.1, 1.9, 3.2, 3.8, 5.1, 6.3}
	n, m := 3, len(y)
	p := LeastSquaresProblem{
		Variables: n, Residuals: m, HasRest: true,
		Bounds: Bounds{[]float64{-10, -10, 1e-3}, []float64{10, 10, 10}},
		Evaluate: func(_ context.Context, x []float64, want Want, at *Residuals) error {
			for i := range y {
				e := x[0] + x[1]*float64(i) - y[i]
				at.R[i] = e / x[2]
				copy(at.J[i*n:], []float64{1 / x[2], float64(i) / x[2], -e / (x[2] * x[2])})
			}
			at.Rest = float64(m) * math.Log(x[2])
			clear(at.Gradient)
			clear(at.Curvature)
			at.Gradient[2] = float64(m) / x[2]
			return nil
		},
	}
	res, err := LeastSquares(t.Context(), p, []float64{0, 0.5, 1}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// The closed form.
	mx, my, xx, xy := 2.5, 0.0, 0.0, 0.0
	for _, v := range y {
		my += v / float64(m)
	}
	for i, v := range y {
		xx += (float64(i) - mx) * (float64(i) - mx)
		xy += (float64(i) - mx) * (v - my)
	}
	slope := xy / xx
	square := 0.0
	for i, v := range y {
		e := my + slope*(float64(i)-mx) - v
		square += e * e
	}
	want := []float64{my - slope*mx, slope, math.Sqrt(square / float64(m))}
	for i := range want {
		if digits(res.X[i], want[i]) < 8 {
			t.Errorf("%v, not %v: %v", res.X, want, res.Status)
		}
	}
	t.Log(res.Status, res.Iterations, res.Evaluations)
}

// TestNoise minimises a function with an error that it states: searches stop where nothing can be gained, and do not
// take the error for a rough function.
func TestNoise(t *testing.T) {
	for _, noise := range []float64{1e-9, 1e-6, 1e-3} {
		r := elem.NewRand(5)
		f := sums[0].value
		p := smooth(2, Bounds{}, f)
		evaluate := p.Evaluate
		p.Evaluate = func(ctx context.Context, x []float64, want Want, at *Point) error {
			err := evaluate(ctx, x, want, at)
			at.Value += noise*(2*r.Float64()-1) + 1
			at.Noise = noise
			return err
		}
		for _, first := range []bool{false, true} {
			res, err := Minimize(t.Context(), p, sums[0].start, Options{FirstOrder: first})
			if err != nil {
				t.Fatal(err)
			}
			exact := real1(f, res.X)
			if !res.Status.Converged() || exact > 3*noise || res.Evaluations > 100 {
				t.Errorf("noise %g: %v, %g above the minimum after %d evaluations", noise, res.Status, exact,
					res.Evaluations)
			}
		}
	}
}

// TestFailures minimises functions that have no value in half of the space.
func TestFailures(t *testing.T) {
	cause := errors.New("the run ended")
	p := smooth(2, Bounds{}, func(x []complex128) complex128 {
		return x[0] - cmplx.Log(x[0]) + (x[1]-2)*(x[1]-2)
	})
	evaluate := p.Evaluate
	p.Evaluate = func(ctx context.Context, x []float64, want Want, at *Point) error {
		if x[0] <= 0.9 {
			return cause
		}
		return evaluate(ctx, x, want, at)
	}
	for _, first := range []bool{false, true} {
		res, err := Minimize(t.Context(), p, []float64{30, -10}, Options{FirstOrder: first})
		if err != nil || !res.Status.Converged() || math.Abs(res.X[0]-1) > 1e-6 {
			t.Errorf("%v %v %v", err, res.Status, res.X)
		}
		if res, err = Minimize(t.Context(), p, []float64{0.5, 0}, Options{}); !errors.Is(err, ErrStart) ||
			!errors.Is(err, cause) || res.Status != Failed {
			t.Errorf("%v %v", err, res.Status)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	count := 0
	p.Evaluate = func(c context.Context, x []float64, want Want, at *Point) error {
		if count++; count == 3 {
			stop()
			return c.Err()
		}
		return evaluate(c, x, want, at)
	}
	res, err := Minimize(ctx, p, []float64{30, -10}, Options{})
	if err != nil || res.Status != Stopped || res.X == nil {
		t.Errorf("%v %v", err, res.Status)
	}
}
