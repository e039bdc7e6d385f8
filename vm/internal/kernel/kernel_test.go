package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/tape"
)

func random(n int, seed uint64) []float64 {
	r := elem.NewRand(seed)
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Norm()
	}
	return x
}

// TestProductsAreChains compares every product loop with its definition, one
// chain of fused multiply-adds from 0 for each element.
func TestProductsAreChains(t *testing.T) {
	for _, w := range []int{1, 2, 3, 4, 5, 8, 9, 16} {
		for _, inner := range []int{1, 2, 3, 4, 5, 7, 8, 13} {
			const n = 6
			a, rows := random(inner*n, 1), random(inner*w, 2)
			each := random(inner*w, 3)
			d := random(n*w, 4)
			Outers(d, w, n, inner, a, n, rows, w)
			one := make([]float64, w)
			own := make([]float64, w)
			Combine(one, inner, a[2:], n, rows, w)
			CombineEach(own, inner, each, w, rows, w)
			vec := make([]float64, n)
			MatVec(vec, 1, n, inner, a, rows, w)
			for l := range w {
				var s float64
				for k := range inner {
					s = math.FMA(each[k*w+l], rows[k*w+l], s)
				}
				if own[l] != s {
					t.Errorf("CombineEach, width %d, inner %d: element %d is %v, want %v", w, inner, l, own[l], s)
				}
				for i := range n {
					s = 0
					for k := range inner {
						s = math.FMA(a[k*n+i], rows[k*w+l], s)
					}
					if d[i*w+l] != s {
						t.Errorf("Outers, width %d, inner %d: element %d, %d is %v, want %v", w, inner, i, l, d[i*w+l],
							s)
					}
					if i == 2 && one[l] != s {
						t.Errorf("Combine, width %d, inner %d: element %d is %v, want %v", w, inner, l, one[l], s)
					}
				}
			}
			for i := range n {
				var s float64
				for k := range inner {
					s = math.FMA(a[i*inner+k], rows[k*w], s)
				}
				if vec[i] != s {
					t.Errorf("MatVec, inner %d: element %d is %v, want %v", inner, i, vec[i], s)
				}
			}
		}
	}
}

// TestEveryElementwiseOpHasALoop runs each elementwise op, and compares what it does in place with
// what it does into another slice.
func TestEveryElementwiseOpHasALoop(t *testing.T) {
	n := 0
	for _, op := range tape.Ops() {
		if !op.Row().Elementwise() {
			continue
		}
		n++
		x, y := []float64{0.5, 0.25, 1}, []float64{-7, -7, -7}
		for _, d := range [][]float64{y, x} {
			switch op.Row().Arity {
			case 1:
				Map1(op, 2, d, x)
			case 2:
				Map2(op, d, x, x)
			case 3:
				Map3(op, d, x, x, x)
			}
		}
		same := func(a, b float64) bool { return a == b || a != a && b != b }
		if !slices.EqualFunc(x, y, same) || slices.Contains(y, -7) {
			t.Errorf("%v: in place %v, into another slice %v", op, x, y)
		}
	}
	if n < 50 {
		t.Errorf("only %d elementwise ops", n)
	}
}

func BenchmarkOuters(b *testing.B) {
	for _, w := range []int{4, 8} {
		b.Run(fmt.Sprintf("n=200/lanes=%d", w), func(b *testing.B) {
			a, rows, d := random(200*200, 1), random(200*w, 2), make([]float64, 200*w)
			for b.Loop() {
				Outers(d, w, 200, 200, a, 200, rows, w)
			}
			b.ReportMetric(float64(2*200*200*w)*float64(b.N)/b.Elapsed().Seconds()/1e9, "gflop/s")
		})
	}
}
