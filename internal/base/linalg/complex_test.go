package linalg

import (
	"errors"
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

func complexOf(t *testing.T, a *Analysis) ComplexLU {
	t.Helper()
	f, err := a.NewComplex()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestComplex checks the residuals of complex systems, for all matrices with an imaginary part: of
// Radau's size, tiny as for the complex step, and none.
func TestComplex(t *testing.T) {
	for _, m := range matrices() {
		n := m.p.N
		r := elem.NewRand(3)
		for k, part := range []float64{1, 1e-30, 0, 1, 1e-30, 0} {
			method := []Method{Dense, Sparse}[k/3]
			a, err := Analyze(m.p, Options{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			values := make([]complex128, len(m.values))
			for e, v := range m.values {
				values[e] = complex(v, part*r.Norm())
			}
			f := complexOf(t, a)
			if err := f.Factor(values); err != nil {
				t.Errorf("%s, %v: %v", m.name, method, err)
				continue
			}
			const lanes = 3
			b := make([]complex128, n*lanes)
			for i := range b {
				b[i] = complex(r.Norm(), part*r.Norm())
			}
			for _, transposed := range []bool{false, true} {
				x := slices.Clone(b)
				if transposed {
					f.SolveT(x, lanes)
				} else {
					f.Solve(x, lanes)
				}
				left, size := make([]complex128, n*lanes), make([]float64, n*lanes)
				for j := range n {
					for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
						i, k := int(m.p.Rows[e]), j
						if transposed {
							i, k = k, i
						}
						for l := range lanes {
							left[i*lanes+l] += values[e] * x[k*lanes+l]
							size[i*lanes+l] += cmplx.Abs(values[e]) * cmplx.Abs(x[k*lanes+l])
						}
					}
				}
				worst := 0.0
				for i := range left {
					worst = max(worst, cmplx.Abs(left[i]-b[i])/slices.Max(size))
				}
				bound := 1e-14
				if method == Sparse { // pivots are a hundredth of their columns at least
					bound = 1e-12
				}
				if !(worst < bound) {
					t.Errorf("%s, %v, imaginary part %g, transposed %t: residual %.2g",
						m.name, method, part, transposed, worst)
				}
			}
		}
	}
}

// TestComplexStep compares the imaginary part of a solution with the derivative of the real one,
// which is −A⁻¹·(dA·x).
func TestComplexStep(t *testing.T) {
	for k, m := range []matrix{network(20, 60, 1, 1), random(9, 200, 1, 1), grid(7), grid(6)} {
		a, err := Analyze(m.p, Options{Method: []Method{Dense, Sparse}[k%2]})
		if err != nil {
			t.Fatal(err)
		}
		n := m.p.N
		r := elem.NewRand(5)
		d, values := make([]float64, len(m.values)), make([]complex128, len(m.values))
		for e, v := range m.values {
			d[e] = r.Norm() * v
			values[e] = complex(v, 1e-100*d[e])
		}
		x, z := make([]float64, n), make([]complex128, n)
		for i := range x {
			x[i] = r.Norm()
			z[i] = complex(x[i], 0)
		}
		f, c := a.New(), complexOf(t, a)
		if err := errors.Join(f.Factor(m.values), c.Factor(values)); err != nil {
			t.Fatal(err)
		}
		f.Solve(x, 1)
		c.Solve(z, 1)
		dx := make([]float64, n)
		m.p.Product(dx, d, x, 1)
		f.Solve(dx, 1)
		scale := 0.0
		for _, v := range dx {
			scale = max(scale, math.Abs(v))
		}
		for i := range x {
			if e := math.Abs(imag(z[i])/1e-100+dx[i]) / scale; e > 1e-12 {
				t.Errorf("%s, element %d: %.17g, and by the complex step %.17g", m.name, i, -dx[i], imag(z[i])/1e-100)
			}
		}
	}
}

// TestComplexSingular checks the errors.
func TestComplexSingular(t *testing.T) {
	for _, method := range []Method{Dense, Sparse} {
		a, err := Analyze(Full(2), Options{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		f := complexOf(t, a)
		var singular *SingularError
		if err := f.Factor([]complex128{1i, 2, -1, 2i}); !errors.As(err, &singular) || len(singular.Cols) != 1 {
			t.Errorf("%v: %v", method, err)
		}
		var bad *NotFiniteError
		err = f.Factor([]complex128{1i, 2, complex(0, math.NaN()), 2i})
		if !errors.As(err, &bad) || bad.Row != 0 || bad.Col != 1 || bad.Overflow {
			t.Errorf("%v: %v", method, err)
		}
		err = f.Factor([]complex128{1e-300i, 1e-300, 1e308, 1e308i})
		if !errors.As(err, &bad) || bad.Row != 1 || bad.Col != 1 || !bad.Overflow {
			t.Errorf("%v: %v", method, err)
		}
		values := []complex128{1i, 2, 3, 4i}
		if n := testing.AllocsPerRun(10, func() { _ = f.Factor(values) }); n > 0 {
			t.Errorf("%v: %g allocations", method, n)
		}
	}
}
