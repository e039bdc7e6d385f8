package linalg

import (
	"errors"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// preconditioner is a factorisation whose solves stand in for those with the matrix.
type preconditioner interface {
	Solve(x []float64, lanes int)
	SolveT(x []float64, lanes int)
}

// newILU returns the incomplete factorisation of matrices with a pattern.
func newILU(p *Pattern) (*incomplete, error) {
	f, err := newIncompletePlan(p, math.MaxInt)
	if err != nil {
		return nil, err
	}
	return f.new(), nil
}

// system is m's system of equations, with a preconditioner if it is not nil.
func system(m matrix, c preconditioner, transposed bool) System {
	s := System{Product: func(y, x []float64) { m.p.Product(y, m.values, x, 1) }}
	if transposed {
		s.Product = func(y, x []float64) { m.p.ProductT(y, m.values, x, 1) }
	}
	switch {
	case c == nil:
	case transposed:
		s.Precondition = func(x []float64) { c.SolveT(x, 1) }
	default:
		s.Precondition = func(x []float64) { c.Solve(x, 1) }
	}
	return s
}

// TestGMRES compares GMRES with a factorisation, and what the preconditioners save.
func TestGMRES(t *testing.T) {
	for _, m := range []matrix{grid(30), network(100, 300, 1e-2, 2), random(150, 450, 3, 7)} {
		n := m.p.N
		r := elem.NewRand(1)
		b := make([]float64, n)
		for i := range b {
			b[i] = r.Norm()
		}
		ilu, err := newILU(m.p)
		if err != nil {
			t.Fatal(err)
		}
		f := analyzed(t, m, Auto)
		if err := errors.Join(f.Factor(m.values), ilu.Factor(m.values)); err != nil {
			t.Fatal(err)
		}
		g := NewGMRES(n, 30)
		for _, transposed := range []bool{false, true} {
			want := slices.Clone(b)
			if transposed {
				f.SolveT(want, 1)
			} else {
				f.Solve(want, 1)
			}
			for name, c := range map[string]preconditioner{"": nil, "ILU": ilu, "LU": f} {
				x := make([]float64, n)
				count, err := g.Solve(system(m, c, transposed), x, b, 1e-12, 3000)
				if err != nil {
					t.Errorf("%s, %s: %v", m.name, name, err)
					continue
				}
				far, size := 0.0, 0.0
				for i := range x {
					far, size = max(far, math.Abs(x[i]-want[i])), max(size, math.Abs(want[i]))
				}
				if far > 1e-8*size {
					t.Errorf("%s, %s, transposed %t: differs by %.2g", m.name, name, transposed, far/size)
				}
				t.Logf("%s, %s, transposed %t: %d iterations", m.name, name, transposed, count)
				if name == "LU" && count > 2 || name == "ILU" && m.name == "grid 30" && count > 25 {
					t.Errorf("%s, %s: %d iterations", m.name, name, count)
				}
			}
		}
		s, x := system(m, ilu, false), make([]float64, n)
		if count := testing.AllocsPerRun(3, func() { clear(x); _, _ = g.Solve(s, x, b, 1e-12, 3000) }); count > 0 {
			t.Errorf("%s: %g allocations", m.name, count)
		}
	}
}

// TestGMRESFails checks that what does not converge is an error and ends.
func TestGMRESFails(t *testing.T) {
	// A cycle: nothing is gained before the last iteration, which the restarts prevent.
	m := build("cycle", 40, func(add func(i, j int, v float64)) {
		for i := range 40 {
			add((i+1)%40, i, 1)
		}
	})
	b, x := make([]float64, 40), make([]float64, 40)
	b[0] = 1
	var e *ConvergenceError
	s := system(m, nil, false)
	if _, err := NewGMRES(40, 10).Solve(s, x, b, 1e-10, 1000); !errors.As(err, &e) || e.Residual < 0.5 {
		t.Error(err)
	}
	if count, err := NewGMRES(40, 40).Solve(s, x, b, 1e-10, 1000); err != nil || count != 40 {
		t.Errorf("%d iterations, %v", count, err)
	}
	// A singular matrix.
	m.values[3] = 0
	clear(x)
	if _, err := NewGMRES(40, 40).Solve(s, x, b, 1e-10, 1000); !errors.As(err, &e) {
		t.Error(err)
	}
	b[2] = math.NaN()
	if _, err := NewGMRES(40, 40).Solve(s, x, b, 1e-10, 1000); !errors.As(err, &e) {
		t.Error(err)
	}
}

// TestILU checks that the product of the factors has the entries of the matrix where it has any, and
// that it is the exact factorisation where nothing fills.
func TestILU(t *testing.T) {
	m := build("tridiagonal", 50, func(add func(i, j int, v float64)) {
		r := elem.NewRand(2)
		for i := range 50 {
			add(i, i, 4)
			if i > 0 {
				add(i, i-1, r.Norm())
				add(i-1, i, r.Norm())
			}
		}
	})
	c, err := newILU(m.p)
	if err != nil {
		t.Fatal(err)
	}
	f := analyzed(t, m, Sparse)
	if err := errors.Join(f.Factor(m.values), c.Factor(m.values)); err != nil {
		t.Fatal(err)
	}
	r := elem.NewRand(3)
	for _, lanes := range []int{1, 8} {
		x := make([]float64, 50*lanes)
		for i := range x {
			x[i] = r.Norm()
		}
		y := slices.Clone(x)
		c.Solve(x, lanes)
		f.Solve(y, lanes)
		for i := range x {
			if math.Abs(x[i]-y[i]) > 1e-14 {
				t.Fatalf("%g and %g", x[i], y[i])
			}
		}
	}
	if n := testing.AllocsPerRun(10, func() { _ = c.Factor(m.values) }); n > 0 {
		t.Errorf("%g allocations", n)
	}

	m = grid(6)
	if c, err = newILU(m.p); err != nil {
		t.Fatal(err)
	}
	if err := c.Factor(m.values); err != nil {
		t.Fatal(err)
	}
	s := c
	n := m.p.N
	lower, upper := make([]float64, n*n), make([]float64, n*n)
	for k := range n {
		lower[k*n+k], upper[k*n+k] = 1, -1/s.recip[k]
		for q := s.o.lStart[k]; q < s.o.lEnd[k]; q++ {
			lower[int(s.o.lRows[q])*n+k] = -s.l[q]
		}
		for q := s.o.uStart[k]; q < s.o.uStart[k+1]; q++ {
			upper[int(s.o.uRows[q])*n+k] = s.u[q]
		}
	}
	for j := range n {
		for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
			sum := 0.0
			for k := range n {
				sum += lower[int(m.p.Rows[e])*n+k] * upper[k*n+j]
			}
			if math.Abs(sum-m.values[e]) > 1e-14 {
				t.Errorf("row %d, column %d: %g, not %g", m.p.Rows[e], j, sum, m.values[e])
			}
		}
	}
	var e *SingularError
	_, err = newILU(&Pattern{N: 2, Start: []int32{0, 1, 2}, Rows: []int32{1, 0}})
	if !errors.As(err, &e) || !e.Structural {
		t.Error(err)
	}
	clear(m.values)
	if err := c.Factor(m.values); !errors.As(err, &e) || e.Structural {
		t.Error(err)
	}
}
