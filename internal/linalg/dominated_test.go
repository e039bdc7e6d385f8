package linalg

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/elem"
)

// torus is the matrix of a short step of diffusion and reaction of two substances on a periodic grid of m×m points,
// whose units differ by the scale.
func torus(m int, diffusion, scale float64) matrix {
	r := elem.NewRand(8)
	n := m * m
	return build("torus", 2*n, func(add func(i, j int, v float64)) {
		for y := range m {
			for x := range m {
				for s := range 2 {
					k := s*n + y*m + x
					add(k, k, 1+4*diffusion)
					for _, d := range [][2]int{{1, 0}, {m - 1, 0}, {0, 1}, {0, m - 1}} {
						add(s*n+(y+d[1])%m*m+(x+d[0])%m, k, -diffusion*(1+0.1*r.Norm()))
					}
				}
				add(y*m+x, n+y*m+x, 0.01*scale*r.Norm())
				add(n+y*m+x, y*m+x, 0.01/scale*r.Norm())
			}
		}
	})
}

// TestNoDiagonal: a column of zeros is no matter of its other entries.
func TestNoDiagonal(t *testing.T) {
	m := build("no diagonal", 2, func(add func(i, j int, v float64)) {
		add(0, 0, 1)
		add(0, 1, 0)
	})
	d := newDominated(m.p, nil)
	d.recip[1] = 1 // of the matrix before
	if d.take(m.values) {
		t.Error("a singular matrix is taken")
	}
}

// TestDiagonals holds that products along diagonals have the bits of those by entries.
func TestDiagonals(t *testing.T) {
	for _, m := range []matrix{torus(20, 0.1, 1), grid(40)} {
		d := newDominated(m.p, newDiagonals(m.p))
		if d.runs == nil {
			t.Fatalf("%s: its runs are short", m.name)
		}
		d.hold(m.values)
		back := make([]float64, len(m.values))
		d.give(back)
		same(t, m.name+": values", back, m.values)
		x, y, want := make([]float64, m.p.N), make([]float64, m.p.N), make([]float64, m.p.N)
		r := elem.NewRand(2)
		for i := range x {
			x[i] = r.Norm()
		}
		d.product(y, x)
		m.p.Product(want, m.values, x, 1)
		same(t, m.name+": product", y, want)
		d.productT(y, x)
		m.p.ProductT(want, m.values, x, 1)
		same(t, m.name+": transposed product", y, want)
	}
	if m := network(100, 300, 1e-2, 2); newDiagonals(m.p) != nil {
		t.Errorf("%s: its runs are long", m.name)
	}
}

func same(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i, v := range want {
		if math.Float64bits(v) != math.Float64bits(got[i]) {
			t.Fatalf("%s: element %d is %v, not %v", name, i, got[i], v)
		}
	}
}

// TestDominated compares solutions without factors with those by factors, both ways, whatever the units are. A matrix
// whose diagonal does not dominate is factored.
func TestDominated(t *testing.T) {
	for _, c := range []struct {
		m      matrix
		method Method
		mild   bool
	}{
		{torus(40, 0.08, 1), Auto, true},
		{torus(40, 0.08, 2), Auto, true},
		{torus(40, 0.08, 1), Iterative, true},
		{torus(40, 3, 1), Auto, false},
		{torus(40, 0.08, 1e6), Auto, false},
	} {
		n := c.m.p.N
		f, g := analyzed(t, c.m, c.method), analyzed(t, c.m, Sparse)
		for _, lu := range []LU{f, g} {
			if err := lu.Factor(c.m.values); err != nil {
				t.Fatal(err)
			}
		}
		mild, rounding := false, 2e-15
		switch f := f.(type) {
		case *hybrid:
			mild = f.way == byDiagonal
			if f.way == byRefinement { // what units add to the condition of the matrix
				rounding = 1e-12
			}
		case *iterative:
			mild = f.mild
		}
		if mild != c.mild {
			t.Fatalf("%v: solved without factors: %t", c.method, mild)
		}
		const lanes = 3
		about := func(f LU, x []float64) {
			if i, ok := f.(Inexact); ok {
				i.SolveTo(x, lanes, 1e-5)
			} else {
				f.Solve(x, lanes)
			}
		}
		r := elem.NewRand(3)
		b := make([]float64, n*lanes)
		for i := range b {
			b[i] = r.Norm()
		}
		for name, by := range map[string]struct {
			solve func(f LU, x []float64)
			far   float64
		}{
			"solve":     {func(f LU, x []float64) { f.Solve(x, lanes) }, rounding},
			"transpose": {func(f LU, x []float64) { f.SolveT(x, lanes) }, rounding},
			"about":     {about, 1e-5},
		} {
			x, want := slices.Clone(b), slices.Clone(b)
			by.solve(f, x)
			by.solve(g, want)
			far, size := 0.0, 0.0
			for i := range x {
				far, size = max(far, math.Abs(x[i]-want[i])), max(size, math.Abs(want[i]))
			}
			if !(far <= by.far*size) {
				t.Errorf("%v, %s, %v: differs by %.2g", c.m.name, name, c.method, far/size)
			}
			if name == "about" && c.mild && far < 1e-12*size {
				t.Errorf("%v: solves to %.2g where it was to solve to 1e-5", c.method, far/size)
			}
		}
	}
}
