package elem

import (
	"flag"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

var points = flag.Int("points", 200, "random points per interval of an accuracy test")

// larger returns the number of larger magnitude.
func larger(a, b *big.Float) *big.Float {
	if new(big.Float).Abs(a).Cmp(new(big.Float).Abs(b)) < 0 {
		return b
	}
	return a
}

func sinRef(x *big.Float) *big.Float { s, _ := bigSinCos(x); return s }
func cosRef(x *big.Float) *big.Float { _, c := bigSinCos(x); return c }
func tanRef(x *big.Float) *big.Float { s, c := bigSinCos(x); return quo(s, c) }

func sinhRef(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return neg(sinhRef(neg(x)))
	}
	e := bigExpm1(x)
	return shift(add(e, quo(e, add(e, like(e, 1)))), -1)
}

func coshRef(x *big.Float) *big.Float {
	e := bigExp(x)
	return shift(add(e, quo(like(e, 1), e)), -1)
}

func tanhRef(x *big.Float) *big.Float {
	if f, _ := x.Float64(); math.Abs(f) > 700 {
		return like(x, math.Copysign(1, f))
	}
	e := bigExpm1(shift(x, 1))
	return quo(e, add(e, like(e, 2)))
}

func asinhRef(x *big.Float) *big.Float {
	w := new(big.Float).SetPrec(precision + 2200).Set(x)
	q := mul(w, w)
	r := root(add(like(q, 1), q))
	if x.Sign() < 0 {
		return neg(asinhRef(neg(x)))
	}
	return bigLog1p(new(big.Float).SetPrec(precision).Set(add(w, quo(q, add(r, like(q, 1))))))
}

func acoshRef(x *big.Float) *big.Float {
	w := new(big.Float).SetPrec(precision + 400).Set(x)
	t := sub(w, like(w, 1))
	return bigLog1p(add(t, root(mul(t, add(t, like(t, 2))))))
}

func atanhRef(x *big.Float) *big.Float {
	w := new(big.Float).SetPrec(precision + 200).Set(x)
	return shift(bigLog1p(quo(shift(w, 1), sub(like(w, 1), w))), -1)
}

func cbrtRef(x *big.Float) *big.Float {
	w := new(big.Float).Abs(x)
	r := bigExp(quo(bigLog(w), num(3)))
	if x.Sign() < 0 {
		return neg(r)
	}
	return r
}

func sigmoidRef(x *big.Float) *big.Float {
	e := bigExp(neg(x))
	return quo(like(e, 1), add(like(e, 1), e))
}

func log10Ref(x *big.Float) *big.Float { return quo(bigLog(x), bigLog(num(10))) }

func acosRef(x *big.Float) *big.Float {
	// 2 atan(√((1-x)/(1+x))).
	w := new(big.Float).SetPrec(precision + 100).Set(x)
	d := add(like(w, 1), w)
	if d.Sign() == 0 {
		return new(big.Float).SetPrec(precision).Set(bigPi)
	}
	return shift(bigAtan(root(quo(sub(like(w, 1), w), d))), 1)
}

func gammaRef(i int) func(*big.Float) *big.Float {
	return func(x *big.Float) *big.Float {
		var r [4]*big.Float
		r[0], r[1], r[2], r[3] = bigGammas(x)
		return r[i]
	}
}

// interval is [lo, hi]. Where log is set, it is sampled uniformly in the logarithm.
type interval struct {
	lo, hi float64
	log    bool
}

func (iv interval) sample(r *rand.Rand) float64 {
	u := r.Float64()
	if !iv.log {
		return iv.lo + u*(iv.hi-iv.lo)
	}
	s := 1.0
	lo, hi := iv.lo, iv.hi
	if hi < 0 {
		s, lo, hi = -1, -hi, -lo
	}
	x := math.Exp(math.Log(lo) + u*(math.Log(hi)-math.Log(lo)))
	return s * math.Min(math.Max(x, lo), hi)
}

type unary struct {
	name  string
	f     func(float64) float64
	ref   func(*big.Float) *big.Float
	bound float64
	on    []interval
	hard  []float64
}

func unaries() []unary {
	tiny := interval{5e-324, 1e-3, true}
	small := interval{1e-12, 1, true}
	both := func(iv ...interval) []interval {
		for _, v := range iv {
			iv = append(iv, interval{-v.hi, -v.lo, v.log})
		}
		return iv
	}
	// Numbers very near multiples of π/2. The first one is the worst of all doubles.
	trig := []float64{
		6381956970095103 * 0x1p797, 5319372648326541 * 0x1p255, 0x1.921fb54442d18p0, 0x1.921fb54442d18p1, 11, 22, 355,
		103993, 0x1p27, 0x1.fffffffffffffp26,
		math.Nextafter(0x1p27, 0), math.MaxFloat64, 0x1.6ac5b262ca1ffp849, 0x1.0p1023, math.Pi / 4, 3 * math.Pi / 4,
		0x1.2d97c7f3321d2p1,
	}
	trigOn := both(tiny, small, interval{0, 8, false}, interval{0, 1e4, false}, interval{1, 0x1p27, true},
		interval{0x1p27, math.MaxFloat64, true})
	return []unary{
		{
			"Exp", Exp, bigExp, 0.6, both(tiny, small, interval{0, 2, false}, interval{0, 700, false}),
			[]float64{709.782712893384, -708.396, 0.34657359027997264, -0.34657359027997264},
		},
		{"Exp/denormal", Exp, bigExp, 1, []interval{{-745.13, -708, false}}, nil},
		{"Expm1", Expm1, bigExpm1, 0.9, both(tiny, small, interval{0, 2, false}, interval{0, 80, false},
			interval{0, 700, false}), []float64{709.782712893384, 60, 0.3465, -0.3466, 1.04, -1.04}},
		{
			"Sinh", Sinh, sinhRef, 0.8, both(tiny, small, interval{0, 2, false}, interval{0, 710, false}),
			[]float64{710.4758600739439, 40, 0x1p-28},
		},
		{
			"Cosh", Cosh, coshRef, 0.7, both(small, interval{0, 2, false}, interval{0, 710, false}),
			[]float64{710.4758600739439, 40},
		},
		{
			"Tanh", Tanh, tanhRef, 0.8, both(tiny, small, interval{0, 2, false}, interval{0, 30, false}),
			[]float64{22, 0x1p-28, 0.17, 0.1735},
		},
		{"Sigmoid", Sigmoid, sigmoidRef, 0.7, both(tiny, small, interval{0, 2, false}, interval{0, 80, false},
			interval{0, 700, false}), []float64{-60, 60, -700}},
		{"Log", Log, bigLog, 0.9, []interval{
			{5e-324, math.MaxFloat64, true},
			{0.5, 2, false},
			{0.99, 1.01, false},
			{0, 100, false},
		}, []float64{
			math.Sqrt2, math.Sqrt2 / 2, 0.7071067811865475, math.Nextafter(1, 0),
			math.Nextafter(1, 2), 5e-324,
		}},
		{
			"Log1p", Log1p, bigLog1p, 0.9, append(both(tiny, small), interval{-0.999999, 2, false},
				interval{-0.3, 0.5, false}, interval{1, math.MaxFloat64, true}),
			[]float64{math.Nextafter(-1, 0), 0x1p53, 0x1p54, 0x1p-53, 0x1p-52, 0x1p61},
		},
		{"Log10", Log10, log10Ref, 0.6, []interval{
			{5e-324, math.MaxFloat64, true},
			{0.5, 2, false},
			{0.999, 1.001, false},
		}, []float64{math.Nextafter(1, 0), math.Nextafter(1, 2)}},
		{
			"Asinh", Asinh, asinhRef, 0.8, both(tiny, small, interval{0, 3, false}, interval{1, math.MaxFloat64, true}),
			[]float64{0x1p-28, 0x1p30, math.Nextafter(0x1p30, 1e300)},
		},
		{
			"Acosh", Acosh, acoshRef, 0.7,
			[]interval{{1, 3, false}, {1, 1.0001, false}, {1, math.MaxFloat64, true}},
			[]float64{math.Nextafter(1, 2), 0x1p30, math.Nextafter(0x1p30, 1e300)},
		},
		{
			"Atanh", Atanh, atanhRef, 0.8, both(tiny, small, interval{0, 1, false}, interval{0.999, 1, false}),
			[]float64{math.Nextafter(1, 0), 0x1p-28},
		},
		{
			"Cbrt", Cbrt, cbrtRef, 0.6, both(interval{5e-324, math.MaxFloat64, true}, interval{0.1, 10, false}),
			[]float64{5e-324, 27, math.MaxFloat64},
		},
		{"Sin", Sin, sinRef, 0.8, trigOn, trig},
		{"Cos", Cos, cosRef, 0.8, trigOn, trig},
		{"Tan", Tan, tanRef, 0.9, trigOn, trig},
		{
			"Atan", Atan, bigAtan, 0.6, both(tiny, small, interval{0, 2, false}, interval{1, math.MaxFloat64, true}),
			[]float64{0.125, 0.375, 0.625, 0.875, 1, 0x1p60},
		},
		{
			"Asin", Asin, bigAsin, 0.6, both(tiny, small, interval{0, 1, false}, interval{0.999, 1, false}),
			[]float64{0.5, math.Nextafter(0.5, 1), 1, math.Nextafter(1, 0)},
		},
		{
			"Acos", Acos, acosRef, 0.8, both(small, interval{0, 1, false}, interval{0.999, 1, false}),
			[]float64{0.5, math.Nextafter(0.5, 1), -1, math.Nextafter(1, 0)},
		},
		{
			"Erf", Erf, bigErf, 1, both(tiny, small, interval{0, 1, false}, interval{0, 6, false}),
			[]float64{1, math.Nextafter(1, 2), 0.84, 6, 6.1},
		},
		{
			"Erfc", Erfc, bigErfc, 1.5, append(both(small), interval{-6.2, 1, false}, interval{0.45, 0.55, false},
				interval{0, 6, false}, interval{0.9, 1.1, false}, interval{6, 26.5, false}),
			[]float64{0.5, math.Nextafter(0.5, 1), 0.98, -1, -6, 26.54},
		},
		{"Erfc/denormal", Erfc, bigErfc, 1.5, []interval{{26.5, 27.3, false}}, nil},
		{
			"Lgamma", Lgamma, gammaRef(0), 2,
			[]interval{
				{5e-324, 1, true},
				{0, 3, false},
				{0.9, 1.1, false},
				{1.9, 2.1, false},
				{1, 10, false},
				{8, 1e4, true},
				{8, 1e300, true},
			},
			[]float64{
				0.25, 0.5, 1.25, 2.5, 8, math.Nextafter(1, 0), math.Nextafter(1, 2), math.Nextafter(2, 0),
				math.Nextafter(2, 3),
			},
		},
		{"Digamma", Digamma, gammaRef(1), 2, []interval{
			{1e-300, 1, true},
			{0, 1.46, false},
			{1.462, 10, false},
			{8, 1e300, true},
		}, []float64{8, math.Nextafter(8, 0)}},
		{
			"Trigamma", Trigamma, gammaRef(2), 2,
			[]interval{{1e-150, 1, true}, {0, 10, false}, {8, 1e150, true}},
			[]float64{8, math.Nextafter(8, 0)},
		},
		{
			"Tetragamma", Tetragamma, gammaRef(3), 4,
			[]interval{{1e-100, 1, true}, {0, 10, false}, {8, 1e100, true}},
			[]float64{8, math.Nextafter(8, 0)},
		},
	}
}

// worst keeps the largest error seen, and where it occurred.
type worst struct {
	err, x, y float64
}

func (w *worst) see(err, x, y float64) {
	if err > w.err || math.IsNaN(err) {
		*w = worst{err, x, y}
	}
}

func TestAccuracy(t *testing.T) {
	for _, u := range unaries() {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			var w worst
			n := 0
			see := func(x float64) {
				if x == 0 {
					return
				}
				n++
				w.see(ulps(u.f(x), u.ref(num(x))), x, 0)
			}
			for _, iv := range u.on {
				for range *points / 2 {
					see(iv.sample(r))
				}
			}
			for _, x := range u.hard {
				see(x)
			}
			if n < 50 {
				t.Fatalf("only %d points", n)
			}
			t.Logf("%-10s worst %.3f ULP at %x (%v), bound %v, %d points", u.name, w.err, w.x, w.x, u.bound, n)
			if !(w.err <= u.bound) {
				t.Errorf("error %.3f ULP at %x (%v): got %v, want %v", w.err, w.x, w.x, u.f(w.x),
					u.ref(num(w.x)).Text('g', 20))
			}
		})
	}
}

// binary is a function of two arguments, sampled in boxes.
type binary struct {
	name  string
	f     func(a, b float64) float64
	ref   func(a, b float64) *big.Float
	bound float64
	on    [][2]interval
}

func bigAtan2(y, x float64) *big.Float {
	q := quo(new(big.Float).SetPrec(precision+100).SetFloat64(y), num(x))
	a := bigAtan(q)
	if x < 0 {
		p := new(big.Float).SetPrec(precision + 100).Set(bigPi)
		if y < 0 {
			p = neg(p)
		}
		return new(big.Float).SetPrec(precision+100).Add(p, a)
	}
	return a
}

func bigPowi(a float64, n int) *big.Float {
	p := new(big.Float).SetPrec(precision + 100).SetInt64(1)
	for range max(n, -n) {
		p = mul(p, num(a))
	}
	if n < 0 {
		return quo(like(p, 1), p)
	}
	return p
}

func binaries() []binary {
	wide := interval{1e-300, 1e300, true}
	unit := interval{-1, 1, false}
	return []binary{
		{"Pow", Pow, func(a, b float64) *big.Float { return bigPow(num(a), num(b)) }, 0.7, [][2]interval{
			{{0.5, 2, false}, {-400, 400, false}},
			{{1e-3, 1e3, true}, {-30, 30, false}},
			{wide, unit},
			{{1 - 1e-9, 1 + 1e-9, false}, {1e8, 1e11, true}},
			{{5e-324, 1e-308, true}, {-0.9, 0.9, false}},
			{{5e-324, 1e308, true}, {1e-30, 1e-5, true}},
		}},
		{
			"Pow/denormal", Pow, func(a, b float64) *big.Float { return bigPow(num(a), num(b)) }, 1,
			[][2]interval{{{0.49, 0.51, false}, {-1073, 1060, false}}},
		},
		{"Atan2", Atan2, bigAtan2, 0.6, [][2]interval{
			{unit, unit},
			{{-1e-5, 1e-5, false}, unit},
			{unit, {-1e-5, 1e-5, false}},
			{wide, wide},
			{{-8e307, 8e307, false}, {-8e307, 8e307, false}},
			{{1e-308, 1e-300, true}, {1e-308, 1e-300, true}},
		}},
		{"Hypot", Hypot, func(a, b float64) *big.Float {
			x, y := new(big.Float).SetPrec(4500).SetFloat64(a), new(big.Float).SetPrec(4500).SetFloat64(b)
			return root(add(mul(x, x), mul(y, y)))
		}, 0.8, [][2]interval{
			{unit, unit},
			{{-1e-3, 1e-3, false}, unit},
			{{-1e-8, 1e-8, false}, unit},
			{wide, wide},
			{{-8e307, 8e307, false}, {-8e307, 8e307, false}},
			{{5e-324, 1e-300, true}, {5e-324, 1e-300, true}},
			{{1e-160, 1e-140, true}, {1e-140, 1e-130, true}},
		}},
		{
			"Powi/short", func(a, n float64) float64 { return Powi(a, int(n)) },
			func(a, n float64) *big.Float { return bigPowi(a, int(n)) }, 3,
			[][2]interval{
				{{-2, 2, false}, {-4.9, 4.9, false}}, {{1e-60, 1e60, true}, {-4.9, 4.9, false}},
			},
		},
		{
			"Powi/long", func(a, n float64) float64 { return Powi(a, int(n)) },
			func(a, n float64) *big.Float { return bigPowi(a, int(n)) }, 0.7,
			[][2]interval{
				{{-2, 2, false}, {5, 40, false}},
				{{0.5, 2, false}, {-900, -5, false}},
				{{-1e6, -1e-6, true}, {-45, -5, false}},
			},
		},
	}
}

func TestAccuracyBinary(t *testing.T) {
	for _, u := range binaries() {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(3, 4))
			var w worst
			n := 0
			for _, iv := range u.on {
				for range *points / 2 {
					x, y := iv[0].sample(r), iv[1].sample(r)
					want := u.ref(x, y)
					if exponent(want) < -1021 && u.bound < 1 && u.name != "Hypot" {
						continue // denormal results have a case of their own
					}
					n++
					w.see(ulps(u.f(x, y), want), x, y)
				}
			}
			if n < 50 {
				t.Fatalf("only %d points", n)
			}
			t.Logf("%-10s worst %.3f ULP at (%x, %x), bound %v, %d points", u.name, w.err, w.x, w.y, u.bound, n)
			if !(w.err <= u.bound) {
				t.Errorf("error %.3f ULP at (%v, %v): got %v, want %v", w.err, w.x, w.y, u.f(w.x, w.y),
					u.ref(w.x, w.y).Text('g', 20))
			}
		})
	}
}

// TestAccuracyReflected checks the gamma functions left of 0 against the reflection formula in high
// precision. The functions have zeros there, so errors are measured on an absolute scale.
func TestAccuracyReflected(t *testing.T) {
	for i, f := range []func(float64) float64{Lgamma, Digamma, Trigamma, Tetragamma} {
		bound := []float64{2, 2, 2, 4}[i]
		r := rand.New(rand.NewPCG(5, 6))
		var w worst
		for range *points {
			x := -20 * r.Float64()
			a := new(big.Float).SetPrec(precision + 100).SetFloat64(x)
			p := new(big.Float).SetPrec(precision + 100).Set(bigPi)
			s, c := bigSinCos(mul(p, a))
			l, p0, p1, p2 := bigGammas(sub(like(a, 1), a))
			ps, cot := quo(p, s), quo(c, s)
			var want, other *big.Float
			switch i {
			case 0:
				want, other = sub(bigLog(new(big.Float).Abs(ps)), l), l
			case 1:
				want, other = sub(p0, mul(p, cot)), p0
			case 2:
				want, other = sub(mul(ps, ps), p1), p1
			case 3:
				want, other = sub(p2, mul(mul(shift(mul(ps, ps), 1), p), cot)), p2
			}
			got := f(x)
			scale := larger(want, other)
			d := sub(num(got), want)
			e, _ := shift(d, 53-exponent(scale)).Float64()
			w.see(math.Abs(e), x, 0)
		}
		t.Logf("function %d: worst %.3f ULP at %v", i, w.err, w.x)
		if !(w.err <= bound) {
			t.Errorf("function %d: error %.3f ULP at %v, bound %v", i, w.err, w.x, bound)
		}
	}
}
