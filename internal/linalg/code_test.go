package linalg

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/elem"
	"odes.dev/odes/internal/machine"
	"odes.dev/odes/internal/simd"
)

// TestCode compares factors and solutions of machine code with those of the Go code, for equality.
func TestCode(t *testing.T) {
	if !machine.Available() {
		t.Skip("code cannot be made here")
	}
	list := append(matrices(), network(1000, 3000, 1e-2, 1))
	for _, wide := range []bool{false, true} {
		if wide && !machine.Supports512() {
			continue
		}
		for _, m := range list {
			n := m.p.N
			f := analyzed(t, m, Sparse).(*sparse)
			f.o.codes.failed.Store(true)
			if err := f.Factor(m.values); err != nil {
				t.Fatal(err)
			}
			o := f.o
			made := make([]*code, len(o.codes.list))
			for number := range made {
				var err error
				if made[number], err = f.s.makeCode(o, number, wide); err != nil {
					t.Fatal(err)
				}
			}
			factors := make([]float64, len(f.m))
			made[codeFactor].run(m.values, factors, nil, nil)
			at := o.layout()
			for k, v := range f.m[:at.pivot] {
				if factors[k] != v {
					t.Fatalf("%s: factor %d is %g, not %g", m.name, k, factors[k], v)
				}
			}
			r := elem.NewRand(9)
			for _, lanes := range []int{1, 4, 8} {
				number := map[int]int{1: codeOne, 4: codeFour, 8: codeEight}[lanes]
				if lanes == 8 && !wide {
					continue
				}
				stride := lanes
				if lanes == 4 {
					stride = 8
				}
				for _, transposed := range []bool{false, true} {
					x, w := make([]float64, n*stride), make([]float64, n*stride)
					for i := range x {
						x[i] = r.Norm()
					}
					want := slices.Clone(x)
					for l := range lanes {
						if transposed {
							f.solveT(want[l:], stride)
						} else {
							f.solve(want[l:], stride)
						}
					}
					c := made[number]
					if transposed {
						c = made[number+1]
					}
					c.run(nil, factors, x, w)
					if !slices.Equal(x, want) {
						t.Fatalf("%s, %d lanes, transposed %t, wide %t: other bits", m.name, lanes, transposed, wide)
					}
				}
			}
		}
	}
}

// TestFast compares whole factorisations that have become fast with others: results, errors and orders.
func TestFast(t *testing.T) {
	if simd.Backend() != simd.Native || !machine.Available() {
		t.Skip("code cannot be made here")
	}
	for _, m := range matrices() {
		n := m.p.N
		slow, fast := analyzed(t, m, Sparse).(*sparse), analyzed(t, m, Sparse).(*sparse)
		slow.o.codes.failed.Store(true)
		fast.o.codes.factored.Store(codeAfter)
		r := elem.NewRand(11)
		for round := range 12 {
			values := slices.Clone(m.values)
			for e := range values {
				switch {
				case round%3 == 1:
					values[e] *= elem.Exp(3 * r.Norm())
				case round%3 == 2 && r.Float64() < 0.05:
					values[e] = [...]float64{0, 1e-200, 1e200, math.Inf(1), math.NaN(), 1e-12}[int(6*r.Float64())]
				}
			}
			errSlow, errFast := slow.Factor(values), fast.Factor(values)
			if (errSlow == nil) != (errFast == nil) || errSlow != nil && errSlow.Error() != errFast.Error() {
				t.Fatalf("%s, round %d: %v, not %v", m.name, round, errFast, errSlow)
			}
			if !slices.Equal(slow.o.rows, fast.o.rows) {
				t.Fatalf("%s, round %d: another order", m.name, round)
			}
			if errSlow != nil {
				continue
			}
			for _, lanes := range []int{1, 2, 3, 8, 13} {
				x := make([]float64, n*lanes)
				for i := range x {
					x[i] = r.Norm()
				}
				y := slices.Clone(x)
				slow.Solve(x, lanes)
				slow.SolveT(x, lanes)
				fast.Solve(y, lanes)
				fast.SolveT(y, lanes)
				for i, v := range x {
					if math.Float64bits(v) != math.Float64bits(y[i]) && (v == v || y[i] == y[i]) {
						t.Fatalf("%s, round %d, %d lanes: %g, not %g", m.name, round, lanes, y[i], v)
					}
				}
			}
		}
	}
}
