package simd

import (
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

func TestUnary(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(1)
		for op := Op(0); op.Arity() == 1; op++ {
			f := operations[op].f1
			check := func(a []float64, offset int) {
				want := make([]float64, len(a))
				for i, x := range a {
					want[i] = f(x)
				}
				out, intact := guarded(len(a), offset)
				Unary(op, out, a)
				for i := range out {
					if !same(out[i], want[i]) {
						t.Fatalf("%v(%v = %x) of %d: %v (%x), want %v (%x)", op, a[i], math.Float64bits(a[i]), len(a),
							out[i], math.Float64bits(out[i]), want[i], math.Float64bits(want[i]))
					}
				}
				if !intact() {
					t.Fatalf("%v of %d: wrote outside", op, len(a))
				}
				copy(out, a)
				Unary(op, out, out)
				compare(t, out, want, "%v in place, %d", op, len(a))
			}
			for n := range 68 {
				check(samples(r, n+n%4)[n%4:], n%3)
			}
			check(hard, 1)
			n := 20000
			if op == Lgamma || op == Digamma || op == Trigamma || op == Tetragamma {
				n = 1000
			}
			check(samples(r, n), 0)
			good := make([]float64, n)
			for i := range good {
				good[i] = r.Float64() // no lane outside the main path
			}
			check(good, 0)
		}
	})
}

func TestPowi(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(2)
		for _, n := range []int{
			-1 << 21, -1000, -33, -9, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
			15, 16, 31, 100, 1 << 20, 1<<20 + 1, math.MinInt,
		} {
			a := append(samples(r, 203), tame(r, 200)...)
			out, want := make([]float64, len(a)), make([]float64, len(a))
			for i, x := range a {
				want[i] = elem.Powi(x, n)
			}
			Powi(out, a, n)
			compare(t, out, want, "power %d", n)
		}
	})
}

func TestBinary(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(3)
		for op := Add; op.Arity() == 2; op++ {
			check := func(a, b []float64, offset int) {
				want := make([]float64, len(a))
				for i, x := range a {
					want[i] = operations[op].f2(x, b[i])
				}
				out, intact := guarded(len(a), offset)
				Binary(op, out, a, b)
				for i := range out {
					if !same(out[i], want[i]) {
						t.Fatalf("%v(%v, %v) of %d: %v (%x), want %v (%x)", op, a[i], b[i], len(a), out[i],
							math.Float64bits(out[i]), want[i], math.Float64bits(want[i]))
					}
				}
				if !intact() {
					t.Fatalf("%v of %d: wrote outside", op, len(a))
				}
				copy(out, b)
				Binary(op, out, a, out)
				compare(t, out, want, "%v in place, %d", op, len(a))
			}
			for n := range 68 {
				check(samples(r, n+1)[1:], samples(r, n), n%4)
			}
			check(samples(r, 3000), samples(r, 3000), 1)
			var a, b []float64
			for _, x := range hard {
				for _, y := range hard {
					a, b = append(a, x), append(b, y)
				}
			}
			check(a, b, 0)
		}
	})
}

func TestBinaryRows(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(4)
		for op := Add; op.Arity() == 2; op++ {
			for shared := SharedA; shared <= SharedB; shared++ {
				check := func(rows, lanes int) {
					a, b := samples(r, rows*lanes), samples(r, rows*lanes)
					want := make([]float64, rows*lanes)
					for i := range want {
						x, y := a[i], b[i]
						if shared == SharedA {
							x = a[i/lanes]
						} else {
							y = b[i/lanes]
						}
						want[i] = operations[op].f2(x, y)
					}
					out, intact := guarded(len(want), 1)
					BinaryRows(op, shared, out, a, b, lanes)
					compare(t, out, want, "%v shared %d, %d rows of %d", op, shared, rows, lanes)
					if !intact() {
						t.Fatalf("%v, %d rows of %d: wrote outside", op, rows, lanes)
					}
				}
				for lanes := 1; lanes <= 18; lanes++ {
					for _, rows := range []int{0, 1, 2, 7} {
						check(rows, lanes)
					}
				}
				for _, n := range []int{37, 64, 67, 200} {
					check(1, n)
				}
			}
		}
	})
}

func TestTernary(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(5)
		for _, op := range []Op{Select, FMA} {
			for n := range 68 {
				a, b, c := samples(r, n), samples(r, n), samples(r, n)
				want := make([]float64, n)
				for i := range want {
					want[i] = operations[op].f3(a[i], b[i], c[i])
				}
				out, intact := guarded(n, n%4)
				Ternary(op, out, a, b, c)
				compare(t, out, want, "%v of %d", op, n)
				if !intact() {
					t.Fatalf("%v of %d: wrote outside", op, n)
				}
			}
			for shared := Shared(1); shared < 7; shared++ {
				for _, lanes := range []int{1, 3, 4, 5, 8, 12, 16, 31} {
					const rows = 6
					a, b, c := samples(r, rows*lanes), samples(r, rows*lanes), samples(r, rows*lanes)
					want := make([]float64, rows*lanes)
					for i := range want {
						at := func(x []float64, which Shared) float64 {
							if shared&which != 0 {
								return x[i/lanes]
							}
							return x[i]
						}
						want[i] = operations[op].f3(at(a, SharedA), at(b, SharedB), at(c, SharedC))
					}
					out, intact := guarded(len(want), 2)
					TernaryRows(op, shared, out, a, b, c, lanes)
					compare(t, out, want, "%v shared %d, %d lanes", op, shared, lanes)
					if !intact() {
						t.Fatalf("%v shared %d, %d lanes: wrote outside", op, shared, lanes)
					}
				}
			}
		}
	})
}
