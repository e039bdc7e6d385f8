package elem

import (
	"math"
	"testing"
)

var (
	inf  = math.Inf(1)
	nan  = math.NaN()
	zero = math.Copysign(0, -1) // -0
)

// same compares bits, any NaN equal to any NaN.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func TestSpecialUnary(t *testing.T) {
	const big = math.MaxFloat64
	type pair struct{ x, want float64 }
	odd := []pair{{0, 0}, {zero, zero}, {5e-324, 5e-324}, {-5e-324, -5e-324}, {nan, nan}}
	for _, c := range []struct {
		name  string
		f     func(float64) float64
		cases []pair
	}{
		{"Neg", Neg, []pair{{0, zero}, {zero, 0}, {inf, -inf}}},
		{"Abs", Abs, []pair{{zero, 0}, {-inf, inf}, {nan, nan}}},
		{"Sign", Sign, []pair{{-3, -1}, {zero, 0}, {0, 0}, {inf, 1}, {nan, nan}}},
		{"Not", Not, []pair{{0, 1}, {1, 0}}},
		{"Recip", Recip, []pair{{0, inf}, {zero, -inf}, {inf, 0}, {nan, nan}}},
		{"Sqrt", Sqrt, []pair{{zero, zero}, {-1, nan}, {inf, inf}, {4, 2}}},
		{"Sqr", Sqr, []pair{{-3, 9}, {inf, inf}}},
		{"Cbrt", Cbrt, append(odd[:2:2], pair{27, 3}, pair{-27, -3}, pair{inf, inf}, pair{-inf, -inf}, pair{nan, nan},
			pair{8, 2}, pair{0x1p-1074, 0x1p-358})},
		{"Exp", Exp, []pair{
			{0, 1},
			{zero, 1},
			{inf, inf},
			{-inf, 0},
			{nan, nan},
			{710, inf},
			{-746, 0},
			{big, inf},
			{-big, 0},
			{5e-324, 1},
			{-745.1332191019411, 5e-324},
		}},
		{"Expm1", Expm1, append(odd, pair{inf, inf}, pair{-inf, -1}, pair{710, inf}, pair{-50, -1}, pair{-big, -1})},
		{"Log", Log, []pair{{0, -inf}, {zero, -inf}, {1, 0}, {-1, nan}, {inf, inf}, {-inf, nan}, {nan, nan}}},
		{"Log1p", Log1p, append(odd, pair{-1, -inf}, pair{-2, nan}, pair{inf, inf}, pair{-inf, nan})},
		{"Log10", Log10, []pair{
			{0, -inf},
			{1, 0},
			{-1, nan},
			{inf, inf},
			{nan, nan},
			{1000, 3},
			{1e22, 22},
			{1e-5, -5},
		}},
		{"Sin", Sin, append(odd, pair{inf, nan}, pair{-inf, nan})},
		{"Cos", Cos, []pair{{0, 1}, {zero, 1}, {inf, nan}, {-inf, nan}, {nan, nan}, {5e-324, 1}}},
		{"Tan", Tan, append(odd, pair{inf, nan}, pair{-inf, nan})},
		{"Asin", Asin, append(odd, pair{1, math.Pi / 2}, pair{-1, -math.Pi / 2}, pair{1.1, nan}, pair{inf, nan})},
		{"Acos", Acos, []pair{
			{1, 0},
			{0, math.Pi / 2},
			{-1, math.Pi},
			{1.1, nan},
			{-1.1, nan},
			{nan, nan},
			{inf, nan},
		}},
		{"Atan", Atan, append(odd, pair{inf, math.Pi / 2}, pair{-inf, -math.Pi / 2}, pair{big, math.Pi / 2},
			pair{1, math.Pi / 4})},
		{"Sinh", Sinh, append(odd, pair{inf, inf}, pair{-inf, -inf}, pair{711, inf}, pair{-711, -inf})},
		{"Cosh", Cosh, []pair{{0, 1}, {zero, 1}, {inf, inf}, {-inf, inf}, {nan, nan}, {-711, inf}}},
		{"Tanh", Tanh, append(odd, pair{inf, 1}, pair{-inf, -1}, pair{100, 1})},
		{"Asinh", Asinh, append(odd, pair{inf, inf}, pair{-inf, -inf})},
		{"Acosh", Acosh, []pair{{1, 0}, {0.5, nan}, {-inf, nan}, {inf, inf}, {nan, nan}}},
		{"Atanh", Atanh, append(odd, pair{1, inf}, pair{-1, -inf}, pair{1.5, nan}, pair{inf, nan})},
		{"Erf", Erf, []pair{{0, 0}, {zero, zero}, {inf, 1}, {-inf, -1}, {nan, nan}, {7, 1}}},
		{"Erfc", Erfc, []pair{{0, 1}, {zero, 1}, {inf, 0}, {-inf, 2}, {nan, nan}, {30, 0}, {-7, 2}}},
		{"Lgamma", Lgamma, []pair{
			{1, 0},
			{2, 0},
			{0, inf},
			{zero, inf},
			{-1, inf},
			{-1e20, inf},
			{inf, inf},
			{-inf, inf},
			{nan, nan},
			{3e305, inf},
			{3, math.Ln2},
		}},
		{"Digamma", Digamma, []pair{
			{0, -inf},
			{zero, inf},
			{-1, nan},
			{inf, inf},
			{-inf, nan},
			{nan, nan},
			{5e-324, -inf},
		}},
		{"Trigamma", Trigamma, []pair{
			{0, inf},
			{zero, inf},
			{-1, inf},
			{inf, 0},
			{-inf, nan},
			{nan, nan},
			{5e-324, inf},
		}},
		{"Tetragamma", Tetragamma, []pair{{0, nan}, {-1, nan}, {inf, zero}, {-inf, nan}, {nan, nan}}},
		{"Floor", Floor, []pair{{-0.5, -1}, {zero, zero}, {inf, inf}, {1.5, 1}}},
		{"Ceil", Ceil, []pair{{-0.5, zero}, {1.5, 2}, {nan, nan}}},
		{"Trunc", Trunc, []pair{{-1.5, -1}, {1.5, 1}, {-inf, -inf}}},
		{"Round", Round, []pair{
			{0.5, 1},
			{-0.5, -1},
			{2.5, 3},
			{-2.5, -3},
			{0.49999999999999994, 0},
			{zero, zero},
			{-0.2, zero},
			{0x1p52 + 1, 0x1p52 + 1},
			{inf, inf},
			{-inf, -inf},
			{nan, nan},
		}},
		{"Sigmoid", Sigmoid, []pair{{0, 0.5}, {zero, 0.5}, {inf, 1}, {-inf, 0}, {nan, nan}, {100, 1}, {-746, 0}}},
	} {
		if len(c.cases) == 0 {
			t.Errorf("%s: no cases", c.name)
		}
		for _, p := range c.cases {
			if got := c.f(p.x); !same(got, p.want) {
				t.Errorf("%s(%v) = %v, want %v", c.name, p.x, got, p.want)
			}
		}
	}
}

func TestLog10OfPowersOfTen(t *testing.T) {
	x := 1.0
	for n := range 23 { // 10²² is the last exact one
		if got := Log10(x); got != float64(n) {
			t.Errorf("Log10(1e%d) = %v", n, got)
		}
		x *= 10
	}
}

func TestSpecialBinary(t *testing.T) {
	type triple struct{ a, b, want float64 }
	for _, c := range []struct {
		name  string
		f     func(a, b float64) float64
		cases []triple
	}{
		{"Pow", Pow, []triple{
			{nan, 0, 1},
			{0, 0, 1},
			{1, nan, 1},
			{nan, 1, nan},
			{2, nan, nan},
			{2, 10, 1024},
			{-2, 3, -8},
			{-2, 2, 4},
			{-2, 0.5, nan},
			{0, 3, 0},
			{zero, 3, zero},
			{zero, 2, 0},
			{zero, -3, -inf},
			{0, -2, inf},
			{zero, -2.5, inf},
			{inf, 2, inf},
			{inf, -2, 0},
			{-inf, 3, -inf},
			{-inf, 2, inf},
			{-inf, -3, zero},
			{-inf, 0.5, inf},
			{2, inf, inf},
			{0.5, inf, 0},
			{2, -inf, 0},
			{0.5, -inf, inf},
			{-1, inf, 1},
			{-1, -inf, 1},
			{-2, inf, inf},
			{10, 308, 1e308},
			{10, 309, inf},
			{10, -330, 0},
			{-10, 309, -inf},
			{-10, -331, zero},
			{2, -1074, 5e-324},
			{2, 1023, 0x1p1023},
			{-1, 0x1p53, 1},
			{-1, 0x1p53 - 1, -1},
			{5e-324, 1, 5e-324},
			{math.MaxFloat64, 1, math.MaxFloat64},
			{9, 0.5, 3},
			{1.5, 5e-324, 1},
		}},
		{"Atan2", Atan2, []triple{
			{0, 1, 0},
			{zero, 1, zero},
			{0, -1, math.Pi},
			{zero, -1, -math.Pi},
			{0, 0, 0},
			{zero, 0, zero},
			{0, zero, math.Pi},
			{zero, zero, -math.Pi},
			{1, 0, math.Pi / 2},
			{-1, zero, -math.Pi / 2},
			{inf, inf, math.Pi / 4},
			{-inf, inf, -math.Pi / 4},
			{inf, -inf, 3 * math.Pi / 4},
			{1, inf, 0},
			{-1, inf, zero},
			{1, -inf, math.Pi},
			{inf, 1, math.Pi / 2},
			{-inf, -1, -math.Pi / 2},
			{nan, 1, nan},
			{1, nan, nan},
			{5e-324, 1e300, 0},
			{1, 1, math.Pi / 4},
			{5e-324, 5e-324, math.Pi / 4},
			{1e308, 1e308, math.Pi / 4},
		}},
		{"Hypot", Hypot, []triple{
			{3, 4, 5},
			{0, 0, 0},
			{zero, zero, 0},
			{inf, nan, inf},
			{nan, -inf, inf},
			{nan, 1, nan},
			{1e308, 1e308, 1.4142135623730951e308},
			{5e-324, 0, 5e-324},
			{3e-320, 4e-320, 5e-320},
			{math.MaxFloat64, math.MaxFloat64, inf},
		}},
		{"Mod", Mod, []triple{
			{7, 3, 1},
			{-7, 3, 2},
			{7, -3, -2},
			{-7, -3, -1},
			{5, 0, nan},
			{inf, 3, nan},
			{5, inf, 5},
			{-5, inf, inf},
			{5, -inf, -inf},
			{nan, 1, nan},
			{1, nan, nan},
			{6, 3, 0},
			{0.3, 0.1, math.FMA(-2, 0.1, 0.3)},
			{1e60, 7, 1},
			{-1e60, 7, 6},
			{0x1p80 + 0x1p30, 3, 2},
			{1e300, 1e-300, math.Mod(1e300, 1e-300)},
		}},
		{"Min", Min, []triple{
			{1, 2, 1},
			{2, 1, 1},
			{nan, 1, nan},
			{1, nan, nan},
			{0, zero, 0},
			{zero, 0, zero},
			{-inf, nan, nan},
		}},
		{"Max", Max, []triple{{1, 2, 2}, {2, 1, 2}, {nan, 1, nan}, {1, nan, nan}, {0, zero, 0}, {zero, 0, zero}}},
		{"Less", Less, []triple{{1, 2, 1}, {2, 2, 0}, {nan, 2, 0}, {2, nan, 0}}},
		{"LessEq", LessEq, []triple{{2, 2, 1}, {3, 2, 0}, {nan, nan, 0}}},
		{"Equal", Equal, []triple{{0, zero, 1}, {nan, nan, 0}, {1, 2, 0}}},
		{"NotEqual", NotEqual, []triple{{0, zero, 0}, {nan, nan, 1}, {1, 2, 1}}},
		{"And", And, []triple{{1, 1, 1}, {1, 0, 0}, {0, 1, 0}}},
		{"Or", Or, []triple{{1, 0, 1}, {0, 1, 1}, {0, 0, 0}}},
		{"ZeroMul", ZeroMul, []triple{{0, inf, 0}, {0, nan, 0}, {zero, -5, 0}, {2, 3, 6}, {inf, 0, nan}}},
		{"Powi", func(a, n float64) float64 { return Powi(a, int(n)) }, []triple{
			{nan, 0, 1},
			{0, 0, 1},
			{2, 10, 1024},
			{2, -1, 0.5},
			{-2, 3, -8},
			{-2, -3, -0.125},
			{0, -1, inf},
			{zero, -3, -inf},
			{zero, -2, inf},
			{inf, -7, 0},
			{inf, 7, inf},
			{nan, 5, nan},
			{10, 308, 1e308},
			{10, -308, 1e-308},
			{1e-160, -2, inf},
			{1e105, -3, 1e-315},
			{-1, 1000001, -1},
			{2, -1074, 5e-324},
			{1e200, 3, inf},
			{-1e200, 3, -inf},
		}},
	} {
		if len(c.cases) == 0 {
			t.Errorf("%s: no cases", c.name)
		}
		for _, p := range c.cases {
			if got := c.f(p.a, p.b); !same(got, p.want) {
				t.Errorf("%s(%v, %v) = %v, want %v", c.name, p.a, p.b, got, p.want)
			}
		}
	}
	if got := Select(nan, 1, 2); got != 1 {
		t.Errorf("Select(NaN, 1, 2) = %v, want 1", got)
	}
	if got := FMA(0x1p53+2, 0x1p53-2, -0x1p106); got != -4 {
		t.Errorf("FMA rounds its product: %v", got)
	}
}

// TestModRange checks the promised range and exactness on many pairs.
func TestModRange(t *testing.T) {
	r := NewRand(7)
	for k := range 20000 {
		b := r.Norm()
		a := b * float64(int(r.Norm()*1000)) // near multiples
		if k%4 == 0 {
			a *= math.Ldexp(r.Norm(), 1+k%200)
		}
		if r.Float64() < 0.5 {
			a += r.Norm()
		}
		m := Mod(a, b)
		if b > 0 && !(m >= 0 && m <= b) || b < 0 && !(m <= 0 && m >= b) {
			t.Fatalf("Mod(%v, %v) = %v", a, b, m)
		}
		want := math.Mod(a, b)
		if want != 0 && (want < 0) != (b < 0) {
			want += b
		}
		if m != want && m != b {
			t.Fatalf("Mod(%v, %v) = %v, want %v", a, b, m, want)
		}
	}
}
