package elem

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// slope returns f′(x) in high precision by a central difference. The step loses 2·60 of the 220
// bits.
func slope(f func(*big.Float) *big.Float, x float64) *big.Float {
	d := shift(num(x), -60)
	return quo(sub(f(add(num(x), d)), f(sub(num(x), d))), shift(d, 1))
}

// TestComplexStep runs every analytic function at x + ih. The real part must have the bits of the
// real function, and the imaginary part must be h·f′(x).
func TestComplexStep(t *testing.T) {
	real1 := map[string]unary{}
	for _, u := range unaries() {
		real1[u.name] = u
	}
	for _, c := range []struct {
		name   string
		f      func(complex128) complex128
		lo, hi float64
		bound  float64
	}{
		{"Exp", CExp, -20, 20, 3},
		{"Expm1", CExpm1, -20, 20, 3},
		{"Log", CLog, 0.01, 20, 3},
		{"Log1p", CLog1p, -0.99, 20, 3},
		{"Log10", CLog10, 0.01, 20, 3},
		{"Sin", CSin, -20, 20, 3},
		{"Cos", CCos, -20, 20, 3},
		{"Tan", CTan, -20, 20, 4},
		{"Asin", CAsin, -1, 1, 4},
		{"Acos", CAcos, -1, 1, 4},
		{"Atan", CAtan, -20, 20, 3},
		{"Sinh", CSinh, -20, 20, 3},
		{"Cosh", CCosh, -20, 20, 3},
		{"Tanh", CTanh, -20, 20, 8},
		{"Asinh", CAsinh, -20, 20, 3},
		{"Acosh", CAcosh, 1, 20, 4},
		{"Atanh", CAtanh, -1, 1, 4},
		{"Erf", CErf, -6, 6, 4},
		{"Erfc", CErfc, -6, 6, 4},
		{"Lgamma", CLgamma, 2, 20, 4},
		{"Digamma", CDigamma, 0.1, 20, 4},
		{"Trigamma", CTrigamma, 0.1, 20, 4},
		{"Cbrt", CCbrt, -20, 20, 4},
		{"Sigmoid", CSigmoid, -20, 20, 4},
	} {
		u, ok := real1[c.name]
		if !ok {
			t.Fatalf("%s: no real function of this name", c.name)
		}
		r := rand.New(rand.NewPCG(8, 9))
		var w worst
		for range *points / 2 {
			x := c.lo + r.Float64()*(c.hi-c.lo)
			want := slope(u.ref, x)
			for _, h := range []float64{1e-30, 1e-100, 1e-200} {
				z := c.f(complex(x, h))
				if !same(real(z), u.f(x)) {
					t.Errorf("C%s(%v + %vi) has real part %v, want %v", c.name, x, h, real(z), u.f(x))
				}
				w.see(ulps(imag(z), mul(num(h), want)), x, h)
			}
		}
		t.Logf("C%-10s worst %.3f ULP at %v + %vi", c.name, w.err, w.x, w.y)
		if !(w.err <= c.bound) {
			t.Errorf("C%s: error %.3f ULP of the imaginary part at %v + %vi, bound %v", c.name, w.err, w.x, w.y,
				c.bound)
		}
	}
}

// TestComplexBinary does the same for functions of two variables. Each variable in turn carries the
// step, and the result is compared with the known partial derivative.
func TestComplexBinary(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	for range *points {
		x, y := 5*r.Float64()+0.01, 8*r.Float64()-4
		for _, h := range []float64{1e-30, 1e-200} {
			for _, c := range []struct {
				name   string
				f      func(a, b complex128) complex128
				g      func(a, b float64) float64
				dx, dy float64
			}{
				{"Add", CAdd, Add, 1, 1},
				{"Sub", CSub, Sub, 1, -1},
				{"Mul", CMul, Mul, y, x},
				{"Div", CDiv, Div, 1 / y, -x / y / y},
				{"Pow", CPow, Pow, y * math.Pow(x, y-1), math.Pow(x, y) * math.Log(x)},
				{"Atan2", CAtan2, Atan2, y / (x*x + y*y), -x / (x*x + y*y)},
				{"Hypot", CHypot, Hypot, x / math.Hypot(x, y), y / math.Hypot(x, y)},
				{"Mod", CMod, Mod, 1, -math.Floor(x / y)},
			} {
				want := c.g(x, y)
				for i, d := range []float64{c.dx, c.dy} {
					a, b := complex(x, h), complex(y, 0)
					if i == 1 {
						a, b = complex(x, 0), complex(y, h)
					}
					z := c.f(a, b)
					if !same(real(z), want) {
						t.Errorf("C%s(%v, %v): real part %v, want %v", c.name, a, b, real(z), want)
					}
					if math.Abs(imag(z)-h*d) > 1e-13*math.Abs(h*d) {
						t.Errorf("C%s(%v, %v): imaginary part %v, want %v", c.name, a, b, imag(z), h*d)
					}
				}
			}
			n := int(y * 3)
			if n != 0 {
				z := CPowi(complex(x, h), n)
				want := h * float64(n) * math.Pow(x, float64(n-1))
				if !same(real(z), Powi(x, n)) || math.Abs(imag(z)-want) > 1e-13*math.Abs(want) {
					t.Errorf("CPowi(%v + %vi, %d) = %v, want imaginary part %v", x, h, n, z, want)
				}
			}
			for _, c := range []struct {
				name string
				f    func(complex128) complex128
				g    func(float64) float64
				d    float64
			}{
				{"Sqrt", CSqrt, Sqrt, 0.5 / math.Sqrt(x)},
				{"Recip", CRecip, Recip, -1 / x / x},
				{"Sqr", CSqr, Sqr, 2 * x},
				{"Neg", CNeg, Neg, -1},
				{"Abs", CAbs, Abs, 1},
			} {
				z := c.f(complex(x, h))
				if !same(real(z), c.g(x)) || math.Abs(imag(z)-h*c.d) > 1e-14*math.Abs(h*c.d) {
					t.Errorf("C%s(%v + %vi) = %v, want %v + %vi", c.name, x, h, z, c.g(x), h*c.d)
				}
			}
		}
	}
}

// TestComplexByRealPart covers the functions that depend on the real part only.
func TestComplexByRealPart(t *testing.T) {
	h := 1e-40
	for _, c := range []struct {
		name      string
		got, want complex128
	}{
		{"CAbs", CAbs(complex(-2, h)), complex(2, -h)},
		{"CAbs", CAbs(complex(0, h)), 0},
		{"CSign", CSign(complex(-2, h)), -1},
		{"CFloor", CFloor(complex(1.5, h)), 1},
		{"CCeil", CCeil(complex(1.5, h)), 2},
		{"CRound", CRound(complex(1.5, h)), 2},
		{"CTrunc", CTrunc(complex(-1.5, h)), -1},
		{"CMin", CMin(complex(1, h), complex(2, -h)), complex(1, h)},
		{"CMax", CMax(complex(1, h), complex(2, -h)), complex(2, -h)},
		{"CLess", CLess(complex(1, h), complex(2, -h)), 1},
		{"CEqual", CEqual(complex(1, h), complex(1, -h)), 1},
		{"CSelect", CSelect(complex(0, h), 1, 2), 2},
		{"CZeroMul", CZeroMul(0, complex(math.Inf(1), 1)), 0},
		{"CMul", CMul(complex(2, h), complex(3, 0)), complex(6, 3*h)},
		{"CFMA", CFMA(complex(2, h), complex(3, 2*h), complex(1, h)), complex(7, 8*h)},
		{"CSqrt", CSqrt(complex(0, 0)), 0},
		{"CSin", CSin(complex(0, 0)), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	for name, z := range map[string]complex128{
		"CLog(-1)":  CLog(-1),
		"CSqrt(-1)": CSqrt(-1),
	} {
		if real(z) == real(z) {
			t.Errorf("%s = %v, want NaN as the real function", name, z)
		}
	}
}
