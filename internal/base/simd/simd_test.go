package simd

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// withBackend runs a test on each backend that this machine has.
func withBackend(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	for _, name := range []string{Generic, AVX2, avx512} {
		t.Run("backend="+name, func(t *testing.T) {
			use(t, name)
			test(t)
		})
	}
}

// use chooses a backend until the test ends. ODES_BACKEND names a backend that this machine must
// have.
func use(t testing.TB, name string) {
	if name == AVX2 && !supported {
		if os.Getenv("ODES_BACKEND") == AVX2 {
			t.Fatal("ODES_BACKEND=avx2, but there is no such backend here")
		}
		t.Skip("no AVX2 here")
	}
	if name == avx512 && !supported512 {
		if os.Getenv("ODES_BACKEND") == avx512 {
			t.Fatal("ODES_BACKEND=avx512, but there is no such backend here")
		}
		t.Skip("no AVX-512 here")
	}
	before, before512, beforeNative := useAVX2, useAVX512, useNative
	t.Cleanup(func() { useAVX2, useAVX512, useNative = before, before512, beforeNative })
	if err := choose(name); err != nil {
		t.Fatal(err)
	}
}

func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

var hard = []float64{
	0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3, 4, 0.25, 10, 100, 1000,
	math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64,
	math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022, -0x1p-1022, 0x1.fffffffffffffp-1023,
	0x1p-1074 * 3,
	0x1.fffffffffffffp-1, 0x1.0000000000001p0, -0x1.fffffffffffffp-1, 0.49999999999999994, 0.84, 0.8400000000000001, 6,
	28,
	709.782712893384, 709.7827128933841, 710, 711, 720, 721, -745.1332191019412, -745.13321910194122, -745.2, -708.4,
	-750, -760, -761, 60, -60, 60.1, -60.1, 40, -40, 39.9, 22, -22, 700,
	0x1p-27, -0x1p-27, 0x1.fffffp-28, 0x1p-28, -0x1p-28, 0x1.8p-29, 0x1p-54, 0x1p-30, 0x1p30, 0x1.1p30, 0x1p27, -0x1p27,
	0x1.fffffffffffffp26, 0x1p28, 0x1p52, 0x1p53, 0x1p60, 0x1p61, 0x1p62, 1e300, 1e-300, 0x1p500, 0x1p-500,
	math.Pi, math.Pi / 2, -math.Pi / 2, math.Pi / 4, 3 * math.Pi / 4, 1e5, 1e8, 22 * math.Pi, math.Sqrt2,
	math.Sqrt2 / 2, 0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bccp-1, math.E, math.Ln2, math.Ln2 / 2,
	8, 27, 64, 0.125, 1e10, 1 / 3.0,
}

// sample draws a number: hard ones, moderate ones, any bits.
func sample(r *elem.Rand) float64 {
	switch r.Uint64() % 8 {
	case 0:
		return hard[r.Uint64()%uint64(len(hard))]
	case 1:
		return r.Float64()
	case 2:
		return r.Norm() * 30
	case 3:
		return math.Float64frombits(r.Uint64())
	case 4:
		return float64(int(r.Uint64()%64)-32) / 2
	case 5:
		return math.Copysign(math.Ldexp(1+r.Float64(), int(r.Uint64()%60)-30), r.Norm())
	case 6:
		return (r.Float64() - 0.5) * 1500
	}
	return r.Norm()
}

func samples(r *elem.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = sample(r)
	}
	return x
}

// tame draws numbers of moderate size, so that few sums become Inf or NaN.
func tame(r *elem.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Norm()
		if r.Uint64()%16 == 0 {
			x[i] = []float64{0, math.Copysign(0, -1), 1, 1e-310, 0x1p-1074, -1e-200}[r.Uint64()%6]
		}
		if r.Uint64()%1024 == 0 {
			x[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.Uint64()%3]
		}
	}
	return x
}

// guarded returns n elements between others that must not change, and a function that checks these.
func guarded(n, offset int) (x []float64, intact func() bool) {
	const mark = -12345.678
	whole := make([]float64, n+offset+9)
	for i := range whole {
		whole[i] = mark
	}
	return whole[offset : offset+n : offset+n], func() bool {
		for i, v := range whole {
			if (i < offset || i >= offset+n) && v != mark {
				return false
			}
		}
		return true
	}
}

// compare reports the first elements that differ.
func compare(t *testing.T, got, want []float64, what string, args ...any) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", fmt.Sprintf(what, args...), len(got), len(want))
	}
	for i := range got {
		if !same(got[i], want[i]) {
			t.Fatalf("%s: element %d is %v (%x), want %v (%x)", fmt.Sprintf(what, args...), i, got[i],
				math.Float64bits(got[i]), want[i], math.Float64bits(want[i]))
		}
	}
}

func TestChoose(t *testing.T) {
	defer choose("")
	if err := choose("generic"); err != nil || Backend() != Generic {
		t.Errorf("generic: %v, %s", err, Backend())
	}
	if err := choose("avx2"); supported != (err == nil) || supported != (Backend() == AVX2) {
		t.Errorf("avx2: %v", err)
	}
	if err := choose("avx512"); supported512 != (err == nil) {
		t.Errorf("avx512: %v", err)
	}
	if err := choose("native"); supported != (err == nil) || supported != (Backend() == Native) {
		t.Errorf("native: %v, %s", err, Backend())
	}
	if err := choose("native256"); supported != (err == nil) || supported != (Backend() == Native && !Wide()) {
		t.Errorf("native256: %v", err)
	}
	if err := choose("mmx"); err == nil {
		t.Error("mmx: no error")
	}
	if runtime.GOARCH == "amd64" && os.Getenv("ODES_BACKEND") == AVX2 && Err() != nil {
		t.Error(Err())
	}
}

func TestArity(t *testing.T) {
	for op := Op(0); op < numOps; op++ {
		o := operations[op]
		n := op.Arity()
		if (o.f1 != nil) != (n == 1) || (o.f2 != nil) != (n == 2) || (o.f3 != nil) != (n == 3) || o.name == "" {
			t.Errorf("operation %d %q: arity %d", op, o.name, n)
		}
	}
}

// TestLong crosses the borders between kernel calls.
func TestLong(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(6)
		n := 2*chunk + 5
		a, b := tame(r, n), tame(r, n)
		out, want := make([]float64, n), make([]float64, n)
		for i := range want {
			want[i] = a[i] / b[i]
		}
		Binary(Div, out, a, b)
		compare(t, out, want, "div")
		for i := range want {
			want[i] = 2.5 - b[i]
		}
		BinaryRows(Sub, SharedA, out, []float64{2.5}, b, n)
		compare(t, out, want, "scalar sub")
		for i := range want {
			want[i] = elem.Pow(math.Abs(a[i]), 2.5)
		}
		Unary(Abs, out, a)
		BinaryRows(Pow, SharedB, out, out, []float64{2.5}, n)
		compare(t, out, want, "pow")
		for i := range want {
			want[i] = elem.Exp(a[i])
		}
		Unary(Exp, out, a)
		compare(t, out, want, "exp")
		for i := range want {
			want[i] = math.FMA(a[i], -1.5, b[i])
		}
		TernaryRows(FMA, SharedB, out, a, []float64{-1.5}, b, n)
		compare(t, out, want, "scalar fma")
		if got, want := Sum(a), elem.Sum(a); !same(got, want) {
			t.Errorf("sum %v, want %v", got, want)
		}
		if got, want := Dot(a, b), elem.Dot(a, b); !same(got, want) {
			t.Errorf("dot %v, want %v", got, want)
		}
	})
}

func TestReduce(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(7)
		for n := range 68 {
			for range 5 {
				x, y := tame(r, n+1)[1:], tame(r, n)
				if got, want := Sum(x), elem.Sum(x); !same(got, want) {
					t.Errorf("sum of %d: %v, want %v", n, got, want)
				}
				if got, want := Dot(x, y), elem.Dot(x, y); !same(got, want) {
					t.Errorf("dot of %d: %v, want %v", n, got, want)
				}
			}
			// Products that underflow to -0 show whether ends are left alone.
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = -0x1p-600, 0x1p-600
			}
			if got, want := Dot(x, y), elem.Dot(x, y); !same(got, want) {
				t.Errorf("tiny dot of %d: %v, want %v", n, got, want)
			}
		}
	})
}

func TestReduceLanes(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(17)
		for lanes := range 14 {
			for n := range 27 {
				x, y := tame(r, n*lanes), tame(r, n*lanes)
				column := func(x []float64, l, stride int) []float64 {
					c := make([]float64, n)
					for i := range c {
						c[i] = x[i*stride+l]
					}
					return c
				}
				sum, dot, shared := make([]float64, lanes), make([]float64, lanes), make([]float64, lanes)
				for l := range lanes {
					sum[l] = elem.Sum(column(x, l, lanes))
					dot[l] = elem.Dot(column(x, l, lanes), column(y, l, lanes))
					shared[l] = elem.Dot(x[:n], column(y, l, lanes))
				}
				out, intact := guarded(lanes, 1)
				SumLanes(out, x, n)
				compare(t, out, sum, "sum of %d, %d lanes", n, lanes)
				DotLanes(out, x, y, n, false)
				compare(t, out, dot, "dot of %d, %d lanes", n, lanes)
				if lanes > 0 {
					DotLanes(out, x, y, n, true)
					compare(t, out, shared, "shared dot of %d, %d lanes", n, lanes)
				}
				if !intact() {
					t.Fatalf("%d, %d lanes: wrote outside", n, lanes)
				}
			}
		}
	})
}

func TestCombine(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(8)
		for terms := range 17 {
			for n := range 68 {
				stride := n + int(r.Uint64()%4)
				k := tame(r, 20*stride+n)
				c := tame(r, terms)
				row := make([]int, terms)
				for j := range row {
					row[j] = int(r.Uint64() % 20)
				}
				base, h := tame(r, n), r.Norm()
				want := make([]float64, n)
				for i := range want {
					want[i] = base[i]
					if terms > 0 {
						s := float64(c[0] * k[row[0]*stride+i])
						for j := 1; j < terms; j++ {
							s = math.FMA(c[j], k[row[j]*stride+i], s)
						}
						want[i] = math.FMA(h, s, base[i])
					}
				}
				out, intact := guarded(n, n%4)
				Combine(out, base, h, c, row, k, stride)
				compare(t, out, want, "%d terms of %d", terms, n)
				if !intact() {
					t.Fatalf("%d terms of %d: wrote outside", terms, n)
				}
				Combine(base, base, h, c, row, k, stride)
				compare(t, base, want, "%d terms of %d in place", terms, n)
			}
		}
	})
}

func TestScaledSquares(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(9)
		infinite := 0
		for trial := range 400 {
			n := 1 + trial%67
			e, y0, y1 := tame(r, n), tame(r, n), tame(r, n)
			abs := make([]float64, n)
			for i := range abs {
				abs[i] = r.Float64()
			}
			if trial%2 == 1 {
				abs = abs[:1]
			}
			rel := r.Float64()
			at := int(r.Uint64() % uint64(n))
			switch r.Uint64() % 12 {
			case 0:
				e[at] = math.NaN()
			case 1:
				y0[at] = math.NaN()
			case 2:
				y1[at] = math.Inf(-1)
			case 3:
				y1[at] = math.NaN()
			case 4:
				e[at] = math.Inf(1)
			case 5:
				abs[len(abs)-1], y0[n-1], y1[n-1], e[n-1] = 0, 0, math.Copysign(0, -1), 0
			case 6:
				rel = 0
			}
			start := [8]float64{1, 2, 3, 4, 5, 6, 7, 8}
			want, finite := start, true
			top := 0.0
			for i := range e {
				sc := math.FMA(rel, max(math.Abs(y0[i]), math.Abs(y1[i])), abs[min(i, len(abs)-1)])
				finite = finite && sc <= math.MaxFloat64
				x := math.Abs(e[i]) / sc
				if e[i] == 0 && sc == 0 {
					x = 0
				}
				want[i%8] = math.FMA(x, x, want[i%8])
				if x > top || x != x {
					top = x
				}
			}
			got := start
			most, ok := ScaledSquares(&got, e, y0, y1, abs, rel)
			if ok != finite {
				t.Fatalf("%d errors: finite %v, want %v", n, ok, finite)
			}
			if !ok {
				infinite++
				continue
			}
			compare(t, append(got[:], most), append(want[:], top), "%d errors, %d tolerances", n, len(abs))
		}
		if infinite == 0 {
			t.Error("no scale was infinite: the test misses a case")
		}
	})
}
