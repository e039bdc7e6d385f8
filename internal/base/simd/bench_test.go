package simd

import (
	"fmt"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// bench runs one benchmark on each backend, and reports how many units of work were done in a
// nanosecond; one call does units of them.
func bench(b *testing.B, units float64, unit, size string, run func()) {
	b.Helper()
	for _, name := range []string{Generic, AVX2} {
		b.Run("backend="+name+"/"+size, func(b *testing.B) {
			use(b, name)
			run() // first touch of the memory
			for b.Loop() {
				run()
			}
			b.ReportMetric(units*float64(b.N)/float64(b.Elapsed().Nanoseconds()), unit)
		})
	}
}

func BenchmarkUnary(b *testing.B) {
	r := elem.NewRand(1)
	for _, op := range []Op{
		Neg, Sqrt, Recip, Exp, Expm1, Log, Log1p, Log10, Sin, Cos, Tan, Asin, Acos, Atan,
		Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Sigmoid, Cbrt, Erf, Erfc, Recip3,
	} {
		b.Run("op="+op.String(), func(b *testing.B) {
			a, out := make([]float64, 1000), make([]float64, 1000)
			for i := range a {
				a[i] = r.Float64()
				if op == Acosh {
					a[i]++
				}
			}
			bench(b, 1000, "elem/ns", "n=1000", func() { Unary(op, out, a) })
		})
	}
}

func BenchmarkBinary(b *testing.B) {
	r := elem.NewRand(2)
	for _, op := range []Op{Add, Mul, Div, Min, Less, ZeroMul, Pow, Atan2, Hypot, Mod} {
		b.Run("op="+op.String(), func(b *testing.B) {
			x, y, out := make([]float64, 1000), make([]float64, 1000), make([]float64, 1000)
			for i := range x {
				x[i], y[i] = r.Float64(), r.Norm()
			}
			bench(b, 1000, "elem/ns", "form=vv/n=1000", func() { Binary(op, out, x, y) })
			bench(b, 1000, "elem/ns", "form=sv/n=1000", func() { BinaryRows(op, SharedA, out, x, y, 1000) })
			for _, lanes := range []int{4, 8} {
				bench(b, 1000, "elem/ns", fmt.Sprintf("form=rows/lanes=%d/n=1000", lanes), func() {
					BinaryRows(op, SharedA, out, x, y, lanes)
				})
			}
		})
	}
}

func BenchmarkCombine(b *testing.B) {
	r := elem.NewRand(3)
	for _, n := range []int{2, 10, 200, 1600} {
		for _, terms := range []int{1, 6, 12} {
			k, base, out := tame(r, n*16), tame(r, n), make([]float64, n)
			c, row := tame(r, terms), make([]int, terms)
			for j := range row {
				row[j] = j
			}
			bench(b, float64(2*n*(terms+1)), "GFLOP/s", fmt.Sprintf("n=%d/terms=%d", n, terms), func() {
				Combine(out, base, 0.1, c, row, k, n)
			})
		}
	}
}

func BenchmarkReduce(b *testing.B) {
	r := elem.NewRand(4)
	for _, n := range []int{10, 200, 1600} {
		x, y := tame(r, n), tame(r, n)
		bench(b, float64(n), "GFLOP/s", fmt.Sprintf("op=sum/n=%d", n), func() { Sum(x) })
		bench(b, float64(2*n), "GFLOP/s", fmt.Sprintf("op=dot/n=%d", n), func() { Dot(x, y) })
	}
}

func BenchmarkLaneProduct(b *testing.B) {
	r := elem.NewRand(5)
	for _, n := range []int{10, 55, 100, 200, 1000} {
		for _, lanes := range []int{4, 8} {
			a, z, y := tame(r, n*n), tame(r, n*lanes), make([]float64, n*lanes)
			packed := make([]float64, LanesSize(n, n))
			PackLanes(packed, a, n, n, n, true)
			bench(b, float64(2*n*n*lanes), "GFLOP/s", fmt.Sprintf("n=%d/lanes=%d", n, lanes), func() {
				LaneProduct(y, packed, z, n, n, lanes, false)
			})
		}
	}
}

func BenchmarkRankUpdate(b *testing.B) {
	r := elem.NewRand(6)
	for _, n := range []int{10, 55, 100, 200} {
		for _, lanes := range []int{1, 8} {
			const inner = 48
			x, y, g := tame(r, n*inner), tame(r, n*lanes*inner), make([]float64, n*n*lanes)
			packed := make([]float64, PanelsSize(inner, n))
			u := &Update{
				Rows: n, Cols: n, Inner: inner, Lanes: lanes, LaneG: n * n, RowG: n, StepY: n * lanes,
				RowY: lanes,
			}
			bench(b, float64(2*n*n*lanes*inner), "GFLOP/s", fmt.Sprintf("n=%d/lanes=%d/inner=%d", n, lanes, inner),
				func() {
					PackPanels(packed, x, inner, n, n, false)
					RankUpdate(u, g, y, packed, true)
				})
		}
	}
}

func BenchmarkMatVec(b *testing.B) {
	r := elem.NewRand(7)
	for _, n := range []int{10, 55, 100, 200, 1000} {
		a, x, y := tame(r, n*n), tame(r, n), make([]float64, n)
		bench(b, float64(2*n*n), "GFLOP/s", fmt.Sprintf("op=ax/n=%d", n), func() { MatVec(y, a, x, n, n, n, false) })
		bench(b, float64(2*n*n), "GFLOP/s", fmt.Sprintf("op=atx/n=%d", n), func() { MatVecT(y, a, x, n, n, n, false) })
	}
}

func BenchmarkMatMul(b *testing.B) {
	r := elem.NewRand(8)
	for _, n := range []int{10, 55, 100, 200, 500} {
		x, y, c := tame(r, n*n), tame(r, n*n), make([]float64, n*n)
		work := make([]float64, MatMulWork(n, n))
		for _, ta := range modes {
			for _, tb := range modes {
				bench(b, float64(2*n*n*n), "GFLOP/s", fmt.Sprintf("n=%d/ta=%v/tb=%v", n, ta, tb), func() {
					MatMul(c, x, y, n, n, n, n, n, n, ta, tb, false, work)
				})
			}
		}
	}
}
