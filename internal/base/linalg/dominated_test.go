package linalg

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
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

// solution returns the solution for lane a of b, or of the transposed system, rounded once. It refines
// what lu finds, with residuals of 200 bits.
func solution(lu LU, m *matrix, b []float64, a, lanes int, transposed bool) []float64 {
	wide := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	n := m.p.N
	x, r, d, solve := make([]*big.Float, n), make([]*big.Float, n), make([]float64, n), lu.Solve
	if transposed {
		solve = lu.SolveT
	}
	for i := range x {
		x[i] = wide(0)
	}
	for range 6 {
		for i := range r {
			r[i] = wide(b[i*lanes+a])
		}
		for j := range n {
			for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
				i, k := int(m.p.Rows[e]), j
				if transposed {
					i, k = k, i
				}
				r[i].Sub(r[i], wide(0).Mul(wide(m.values[e]), x[k]))
			}
		}
		for i, v := range r {
			d[i], _ = v.Float64()
		}
		solve(d, 1)
		for i, v := range d {
			x[i].Add(x[i], wide(v))
		}
	}
	for i, v := range x {
		d[i], _ = v.Float64()
	}
	return d
}

// TestDominated compares solutions without factors with exact ones, both ways, whatever the units are. Whole factors
// would not do: with units that differ by a million they are off by 3e-13 of the largest element. A matrix whose
// diagonal does not dominate is factored, or refined.
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
		mild := false
		switch f := f.(type) {
		case *hybrid:
			mild = f.way == byDiagonal
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
			"solve":     {func(f LU, x []float64) { f.Solve(x, lanes) }, 2e-15},
			"transpose": {func(f LU, x []float64) { f.SolveT(x, lanes) }, 2e-15},
			"about":     {about, 1e-5},
		} {
			x := slices.Clone(b)
			by.solve(f, x)
			far, size := 0.0, 0.0
			for i, want := range solution(g, &c.m, b, 0, lanes, name == "transpose") {
				far, size = max(far, math.Abs(x[i*lanes]-want)), max(size, math.Abs(want))
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

// TestServed holds that what the trial of a matrix found saves it later, with the same bits. Single precision serves
// where rates are alike, and not where pairs of unknowns exchange much faster than all else happens.
func TestServed(t *testing.T) {
	for _, c := range []struct {
		m  matrix
		by Serving
	}{
		{stepped(ring(4000, 0.02, 1), 0.1), ShortServes},
		{paired(stepped(ring(4000, 0.1, 1), 0.3), 1e4, 1), IncompleteServes},
	} {
		m := c.m
		first, again := analyzed(t, m, Auto).(Trial), analyzed(t, m, Auto).(Trial)
		if !first.Tries() || first.Served() != NothingServes {
			t.Fatal("nothing is tried, or was before")
		}
		if err := errors.Join(first.Factor(m.values), again.FactorServed(m.values, c.by)); err != nil ||
			first.Served() != c.by || again.Served() != c.by {
			t.Fatalf("%s: %v; served by %d and %d, not %d", m.name, err, first.Served(), again.Served(), c.by)
		}
		for _, solve := range []func(LU, []float64){
			func(f LU, x []float64) { f.SolveT(x, 1) }, func(f LU, x []float64) { f.Solve(x, 1) },
		} {
			want, x := make([]float64, m.p.N), make([]float64, m.p.N)
			for i := range x {
				want[i], x[i] = float64(i%7), float64(i%7)
			}
			solve(first, want)
			solve(again, x)
			same(t, "served", x, want)
		}
	}
	m := stepped(ring(4000, 0.02, 1), 100) // nothing serves
	f := analyzed(t, m, Auto).(*hybrid)
	if err := f.Factor(m.values); err != nil || f.Served() != NothingServes {
		t.Fatal(err, f.Served())
	}
	if err := f.FactorServed(m.values, IncompleteServes); err != nil || f.way != byRefinement { // it is not tried
		t.Fatal(err, f.way)
	}
}
