package linalg

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// exchanging is M/γ - h J of species that turn into each other at rates of many orders of magnitude, in a ring so that
// no block is small, with partners near in the numbering.
func exchanging(n int, seed uint64) matrix {
	r := elem.NewRand(seed)
	return build(fmt.Sprintf("exchange of %d, seed %d", n, seed), n, func(add func(i, j int, v float64)) {
		for j := range n {
			add(j, j, 1)
			for k := range 3 {
				i := (j + 1) % n
				if k > 0 {
					i = (j + 1 + int(r.Float64()*6)) % n
				}
				if i != j {
					v := math.Pow(10, 8*r.Float64()-4)
					add(j, j, v)
					add(i, j, -v)
				}
			}
		}
	})
}

// unitsTolerance is well above what two pivots may lose for which units are not looked at.
const unitsTolerance = 1e-6

// TestUnits checks that solutions do not depend on units of states: D A D⁻¹ with powers of two on the diagonal of D has
// the solution D x for D b, for every factorisation.
func TestUnits(t *testing.T) {
	for _, n := range []int{2, 3, 5, 8, 13, 40, 90} {
		for seed := range uint64(20) {
			m := exchanging(n, seed)
			r := elem.NewRand(seed + 100)
			unit := make([]float64, n)
			b := make([]float64, n)
			for i := range unit {
				unit[i] = math.Ldexp(1, int(120*r.Float64())-60)
				b[i] = 1 + r.Float64()
			}
			own := slices.Clone(m.values)
			for j := range n {
				for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
					own[e] *= unit[m.p.Rows[e]] / unit[j]
				}
			}
			for _, method := range []Method{Dense, Band, Sparse} {
				a, err := Analyze(m.p, Options{Method: method})
				if err != nil {
					t.Fatal(err)
				}
				for _, transposed := range []bool{false, true} {
					x, y := slices.Clone(b), slices.Clone(b)
					z := make([]complex128, n)
					for i := range y {
						if y[i] *= unit[i]; transposed {
							y[i] = b[i] / unit[i]
						}
						z[i] = complex(y[i], -2*y[i])
					}
					solve := func(x, values []float64) {
						f := a.New()
						if err := f.Factor(values); err != nil {
							t.Fatalf("%v, %s: %v", method, m.name, err)
						}
						if transposed {
							f.SolveT(x, 1)
						} else {
							f.Solve(x, 1)
						}
					}
					solve(x, m.values)
					solve(y, own)
					complexly(t, a, own, z, transposed)
					for i := range x {
						back := 1 / unit[i]
						if transposed {
							back = unit[i]
						}
						if e := math.Abs(y[i]*back/x[i] - 1); !(e < unitsTolerance) {
							t.Fatalf("%v, %s, transposed %t: element %d is %g in its unit, and %g", method, m.name,
								transposed, i, y[i]*back, x[i])
						}
						e := math.Abs(real(z[i])*back/x[i]-1) + math.Abs(imag(z[i])*back/x[i]+2)
						if !(e < unitsTolerance) {
							t.Fatalf("complex %v, %s, transposed %t: element %d is %g in its unit, and %g", method,
								m.name, transposed, i, z[i], x[i])
						}
					}
				}
			}
		}
	}
}

// complexly replaces z by the solution of a system with complex factors.
func complexly(t *testing.T, a *Analysis, values []float64, z []complex128, transposed bool) {
	f, err := a.NewComplex()
	if err != nil {
		t.Fatal(err)
	}
	list := make([]complex128, len(values))
	for e, v := range values {
		list[e] = complex(v, 0)
	}
	if err := f.Factor(list); err != nil {
		t.Fatal(err)
	}
	if transposed {
		f.SolveT(z, 1)
	} else {
		f.Solve(z, 1)
	}
}

// TestForeignRow solves equations of which one, in a unit that is 10¹³ times smaller, has the larger entry in the
// column of another. That entry is no pivot: what the column's own row says of its unknown would be lost.
func TestForeignRow(t *testing.T) {
	for _, larger := range []float64{0.5, 1.1, 40, 1e5} {
		for _, back := range []float64{0, 1e-34} {
			m := build("", 2, func(add func(i, j int, v float64)) {
				add(0, 0, 6)
				add(1, 1, 4)
				add(1, 0, 6*larger)
				if back != 0 {
					add(0, 1, back)
				}
			})
			for _, method := range []Method{Dense, Sparse} {
				if method == Sparse && larger > 1/kept {
					continue
				}
				f := analyzed(t, m, method)
				if err := f.Factor(m.values); err != nil {
					t.Fatal(err)
				}
				x, want := []float64{6e-20 + back*1e13, 4e13}, 1e-20
				if f.Solve(x, 1); math.Abs(x[0]-want) > 1e-33 || math.Abs(x[1]-1e13) > 1e-2 {
					t.Errorf("%v, %g, %g: %v, not %g and 1e13", method, larger, back, x, want)
				}
			}
		}
	}
}

// TestZeroStays solves equations of which some unknowns depend on no others, by zeros among the values, while others
// depend on them by far larger entries. Where the right-hand sides of the first are zero, so are they with every bit:
// they have no rounding of the others.
func TestZeroStays(t *testing.T) {
	for seed := range uint64(40) {
		r := elem.NewRand(seed)
		n, apart := 12+int(seed%30), 2+int(seed%3)
		m := build("", n, func(add func(i, j int, v float64)) {
			for i := range n {
				add(i, i, 1+r.Float64())
				for range 3 {
					j := int(r.Float64() * float64(n))
					switch {
					case j == i:
					case i%apart == 0 && j%apart != 0:
						add(i, j, 0) // it might be another value
					case i%apart != 0 && j%apart == 0:
						add(i, j, math.Pow(10, 9*r.Float64()))
					default:
						add(i, j, 3*r.Float64())
					}
				}
			}
			add(0, 2*apart, 5) // two that depend on each other
			add(2*apart, 0, 5)
		})
		b := make([]float64, n)
		for i := range b {
			if b[i] = r.Float64(); i%apart == 0 {
				b[i] = 0
			}
		}
		for _, method := range []Method{Dense, Sparse} {
			a, err := Analyze(m.p, Options{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			for _, complexes := range []bool{false, true} {
				for _, transposed := range []bool{false, true} {
					x := slices.Clone(b)
					solveAs(t, a, complexes, transposed, m.values, x)
					z := make([]float64, n)
					if transposed {
						m.p.ProductT(z, m.values, x, 1)
					} else {
						m.p.Product(z, m.values, x, 1)
					}
					for i, v := range x {
						if i%apart == 0 && v != 0 && !transposed {
							t.Errorf("seed %d, %v: unknown %d is %g, not 0", seed, method, i, v)
						}
						if off := math.Abs(z[i] - b[i]); off > 1e-9*(1+terms(m, x, i, transposed)) {
							t.Errorf("seed %d, %v: equation %d is off by %g", seed, method, i, off)
						}
					}
				}
			}
		}
	}
}

// terms is the sum of the magnitudes in an equation.
func terms(m matrix, x []float64, equation int, transposed bool) (sum float64) {
	for j := range m.p.N {
		for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
			row, of := int(m.p.Rows[e]), j
			if transposed {
				row, of = of, row
			}
			if row == equation {
				sum += math.Abs(m.values[e] * x[of])
			}
		}
	}
	return sum
}

func solveAs(t *testing.T, a *Analysis, complexes, transposed bool, values, x []float64) {
	t.Helper()
	if !complexes {
		f := a.New()
		if err := f.Factor(values); err != nil {
			t.Fatal(err)
		}
		if transposed {
			f.SolveT(x, 1)
		} else {
			f.Solve(x, 1)
		}
		return
	}
	z := make([]complex128, len(x))
	for i, v := range x {
		z[i] = complex(v, 0)
	}
	complexly(t, a, values, z, transposed)
	for i, v := range z {
		x[i] = real(v)
	}
}
