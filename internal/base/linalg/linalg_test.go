package linalg

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"odes.dev/odes/internal/base/elem"
)

// matrix is a matrix for tests.
type matrix struct {
	name   string
	p      *Pattern
	values []float64
}

// at returns the matrix with all its zeros.
func (m *matrix) full() *mat.Dense {
	a := mat.NewDense(m.p.N, m.p.N, nil)
	for j := range m.p.N {
		for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
			a.Set(int(m.p.Rows[e]), j, m.values[e])
		}
	}
	return a
}

// build makes a matrix from a function that adds entries.
func build(name string, n int, fill func(add func(i, j int, v float64))) matrix {
	var rows, cols []int
	var values []float64
	fill(func(i, j int, v float64) {
		rows, cols, values = append(rows, i), append(cols, j), append(values, v)
	})
	p, place := NewPattern(n, rows, cols)
	m := matrix{name: name, p: p, values: make([]float64, p.NonZeros())}
	for e, v := range values {
		m.values[place[e]] += v
	}
	return m
}

// random has entries at random, and if asked for a large diagonal.
func random(n, entries int, diagonal float64, seed uint64) matrix {
	r := elem.NewRand(seed)
	return build(fmt.Sprintf("random %d, %d entries, diagonal %g", n, entries, diagonal), n,
		func(add func(i, j int, v float64)) {
			for range entries {
				add(int(r.Float64()*float64(n)), int(r.Float64()*float64(n)), r.Norm())
			}
			if diagonal > 0 {
				for i := range n {
					add(i, i, diagonal*(1+r.Float64()))
				}
			}
		})
}

// grid is the Laplacian of an m×m grid, and something that is not symmetric.
func grid(m int) matrix {
	r := elem.NewRand(5)
	return build(fmt.Sprintf("grid %d", m), m*m, func(add func(i, j int, v float64)) {
		for y := range m {
			for x := range m {
				k := y*m + x
				add(k, k, 4.5)
				for _, d := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
					if u, v := x+d[0], y+d[1]; u >= 0 && u < m && v >= 0 && v < m {
						add(v*m+u, k, -1+float64(0.1*r.Norm()))
					}
				}
			}
		}
	})
}

// network is W = I/hγ − J of random mass action among n species, most of them near each other.
func network(n, reactions int, hγ float64, seed uint64) matrix {
	r := elem.NewRand(seed)
	return build(fmt.Sprintf("network %d, %d reactions, hγ %g", n, reactions, hγ), n,
		func(add func(i, j int, v float64)) {
			for i := range n {
				add(i, i, 1/hγ)
			}
			pick := func(k int) int {
				if r.Float64() < 0.01 {
					return int(r.Float64() * float64(n))
				}
				return (k + int(r.Float64()*16)) % n
			}
			y := make([]float64, n)
			for i := range y {
				y[i] = elem.Exp(-5 * r.Float64())
			}
			for k := range reactions {
				from := []int{k % n}
				if r.Float64() < 0.6 {
					from = append(from, pick(k))
				}
				rate := elem.Pow(10, float64(8*r.Float64())-4)
				to := make([]int, len(from))
				for e := range to {
					to[e] = pick(k)
				}
				for e, j := range from {
					d := rate
					if len(from) == 2 {
						d *= y[from[1-e]]
					}
					for _, i := range from {
						add(i, j, d)
					}
					for _, i := range to {
						add(i, j, -d)
					}
				}
			}
		})
}

// cascade is block triangular with blocks of some sizes, with rows and columns permuted.
func cascade(sizes []int, seed uint64) matrix {
	r := elem.NewRand(seed)
	n := 0
	for _, s := range sizes {
		n += s
	}
	rows, cols := shuffled(n, r), shuffled(n, r)
	return build(fmt.Sprintf("cascade %d", len(sizes)), n, func(add func(i, j int, v float64)) {
		k := 0
		for _, s := range sizes {
			for i := range s { // a cycle, which makes the block irreducible
				add(rows[k+i], cols[k+i], 3+r.Float64())
				add(rows[k+i], cols[k+(i+1)%s], r.Norm())
				if k > 0 {
					add(rows[int(r.Float64()*float64(k))], cols[k+i], r.Norm())
				}
			}
			k += s
		}
	})
}

func shuffled(n int, r *elem.Rand) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := int(r.Float64() * float64(i+1))
		s[i], s[j] = s[j], s[i]
	}
	return s
}

// matrices are what all methods are tested with.
func matrices() []matrix {
	list := []matrix{
		grid(1), grid(2), grid(7), grid(30),
		network(20, 60, 1, 1), network(100, 300, 1e-3, 2), network(100, 300, 1e6, 3),
		cascade([]int{1, 1, 3, 1, 5, 2, 9, 1}, 4), cascade([]int{30, 1, 1, 1, 20}, 5), cascade([]int{1}, 6),
	}
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 20, 33, 64, 65, 100, 150} {
		seed := uint64(n)
		list = append(list, random(n, n*n*3, 0, seed), random(n, 3*n, 2, seed), random(n, 6*n, 1e-3, seed))
	}
	// Pivots that the diagonal does not have, and a band whose pivots are below the diagonal.
	list = append(list, build("arrow without a diagonal", 30, func(add func(i, j int, v float64)) {
		for i := range 29 {
			add(i, i+1, 1+float64(i))
			add(i+1, i, 2)
			add(i, 29, 0.5)
		}
		add(29, 0, 1)
		add(29, 29, 0)
	}), build("subdiagonal", 50, func(add func(i, j int, v float64)) {
		for i := range 50 {
			add(i, i, 1e-9)
			add((i+1)%50, i, 2)
			add(i, (i+2)%50, 1)
		}
	}))
	return list
}

var methods = []Method{Auto, Dense, Band, Sparse}

// analyzed returns a factorisation of m's pattern.
func analyzed(t testing.TB, m matrix, method Method) LU {
	t.Helper()
	a, err := Analyze(m.p, Options{Method: method})
	if err != nil {
		t.Fatalf("%s: %v", m.name, err)
	}
	return a.New()
}

// TestSolve compares solutions with LAPACK's, in the norm in which both are backward stable.
func TestSolve(t *testing.T) {
	for _, m := range matrices() {
		n := m.p.N
		var oracle mat.LU
		full := m.full()
		oracle.Factorize(full)
		cond := oracle.Cond()
		r := elem.NewRand(9)
		for _, method := range methods {
			f := analyzed(t, m, method)
			if err := f.Factor(m.values); err != nil {
				t.Errorf("%s, %v: %v", m.name, method, err)
				continue
			}
			for _, lanes := range []int{1, 2, 3, 8, 11} {
				b := make([]float64, n*lanes)
				for i := range b {
					b[i] = r.Norm()
				}
				for _, transposed := range []bool{false, true} {
					x := slices.Clone(b)
					if transposed {
						f.SolveT(x, lanes)
					} else {
						f.Solve(x, lanes)
					}
					var want mat.Dense
					if err := oracle.SolveTo(&want, transposed, mat.NewDense(n, lanes, b)); err != nil && cond < 1e15 {
						t.Fatal(err)
					}
					got := mat.NewDense(n, lanes, x)
					scale := mat.Norm(&want, math.Inf(1))
					got.Sub(got, &want)
					if d := mat.Norm(got, math.Inf(1)) / scale; !(d <= 1e-14*math.Max(cond, 10)) {
						t.Errorf("%s, %v, %d lanes, transposed %t: differs by %.2g from LAPACK's; condition %.2g",
							m.name, f.Method(), lanes, transposed, d, cond)
					}
				}
			}
		}
	}
}

// TestSign compares signs of determinants with LAPACK's.
func TestSign(t *testing.T) {
	told := 0
	for _, m := range matrices() {
		var oracle mat.LU
		oracle.Factorize(m.full())
		_, want := oracle.LogDet()
		for _, method := range methods {
			f, ok := analyzed(t, m, method).(Signed)
			if !ok || f.Factor(m.values) != nil {
				continue
			}
			got := f.Sign()
			if got != 0 {
				told++
			}
			if got != 0 && got != int(want) {
				t.Errorf("%s, %v: sign %d, LAPACK's %v", m.name, f.Method(), got, want)
			}
		}
	}
	if told < len(matrices()) {
		t.Errorf("only %d signs were told", told)
	}
}

// TestLanes checks that a lane's bits do not depend on the others.
func TestLanes(t *testing.T) {
	for _, m := range matrices() {
		n := m.p.N
		r := elem.NewRand(10)
		for _, method := range methods[1:] {
			f := analyzed(t, m, method)
			if err := f.Factor(m.values); err != nil {
				t.Fatal(err)
			}
			for _, lanes := range []int{2, 3, 8, 13, 70} {
				b := make([]float64, n*lanes)
				for i := range b {
					b[i] = r.Norm()
				}
				for _, solve := range []func([]float64, int){f.Solve, f.SolveT} {
					x, one := slices.Clone(b), make([]float64, n)
					solve(x, lanes)
					for l := range lanes {
						for i := range n {
							one[i] = b[i*lanes+l]
						}
						solve(one, 1)
						for i := range n {
							if one[i] != x[i*lanes+l] {
								t.Fatalf("%s, %v: lane %d of %d has other bits than alone", m.name, method, l, lanes)
							}
						}
					}
				}
			}
		}
	}
}

// TestNoAllocation checks that nothing allocates once a factorisation is warm.
func TestNoAllocation(t *testing.T) {
	for _, m := range []matrix{grid(7), network(20, 60, 1, 1), network(100, 300, 1e6, 3), random(70, 5000, 1, 1)} {
		for _, method := range methods {
			f := analyzed(t, m, method)
			x := make([]float64, m.p.N*11)
			run := func() {
				if err := f.Factor(m.values); err != nil {
					t.Fatal(err)
				}
				for _, lanes := range []int{1, 8, 11} {
					f.Solve(x[:m.p.N*lanes], lanes)
					f.SolveT(x[:m.p.N*lanes], lanes)
				}
			}
			run()
			if n := testing.AllocsPerRun(10, run); n > 0 {
				t.Errorf("%s, %v: %g allocations", m.name, method, n)
			}
		}
	}
}

// TestSingular checks the errors of matrices that have no inverse.
func TestSingular(t *testing.T) {
	// Whatever the values: columns 1, 3 and 4 share the rows 0 and 2.
	m := build("", 5, func(add func(i, j int, v float64)) {
		for _, at := range [][2]int{{0, 1}, {2, 1}, {0, 3}, {2, 4}, {1, 0}, {3, 2}, {4, 2}, {0, 0}, {1, 2}} {
			add(at[0], at[1], 1)
		}
	})
	for _, method := range methods {
		_, err := Analyze(m.p, Options{Method: method})
		var e *SingularError
		if !errors.As(err, &e) || !e.Structural || !slices.Equal(e.Cols, []int{1, 3, 4}) || len(e.Rows) != 1 {
			t.Errorf("%v: %v", method, err)
		}
	}
	// Two rows are proportional, but for rounding.
	for _, n := range []int{3, 8, 30, 100} {
		for _, method := range methods {
			found := 0
			for seed := range uint64(40) {
				m := matrix{p: Full(n), values: make([]float64, n*n)}
				r := elem.NewRand(seed)
				for i := range m.values {
					m.values[i] = r.Norm()
				}
				for j := range n {
					m.values[j*n+1] = m.values[j*n+2] / 3
				}
				var e *SingularError
				if err := analyzed(t, m, method).Factor(m.values); errors.As(err, &e) {
					found++
				}
			}
			if found < 36 { // rounding leaves a few pivots that might be right
				t.Errorf("%d, %v: %d of 40 singular matrices were noticed", n, method, found)
			}
		}
	}
	// A zero in a triangle names its place.
	m = cascade([]int{1, 1, 1, 1, 1, 1}, 8)
	row, col := -1, -1
	for j := range m.p.N {
		if m.p.Start[j+1]-m.p.Start[j] == 1 {
			row, col = int(m.p.Rows[m.p.Start[j]]), j
			m.values[m.p.Start[j]] = 0
		}
	}
	for _, method := range methods {
		err := analyzed(t, m, method).Factor(m.values)
		var e *SingularError
		if !errors.As(err, &e) || e.Structural || method != Band && method != Dense &&
			(!slices.Equal(e.Rows, []int{row}) || !slices.Equal(e.Cols, []int{col})) {
			t.Errorf("%v: %v, want row %d, column %d", method, err, row, col)
		}
	}
}

// TestNotFinite checks the errors of matrices with values that are no numbers, and of overflow.
func TestNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		m := grid(4)
		at := len(m.values) - 3
		m.values[at] = bad
		for _, method := range methods {
			var e *NotFiniteError
			err := analyzed(t, m, method).Factor(m.values)
			if !errors.As(err, &e) || e.Overflow || e.Col != 15 && e.Col != 14 {
				t.Errorf("%v: %v", method, err)
			}
		}
	}
	m := build("", 2, func(add func(i, j int, v float64)) {
		add(0, 0, 1e-300)
		add(1, 0, 1e-300)
		add(0, 1, 1e308)
		add(1, 1, -1e308)
	})
	for _, method := range methods {
		var e *NotFiniteError
		err := analyzed(t, m, method).Factor(m.values)
		if !errors.As(err, &e) || !e.Overflow || e.Row != 1 || e.Col != 1 {
			t.Errorf("%v: %v", method, err)
		}
	}
}

// TestMemory checks the limit of memory: the sparse factors of a grid fit where others do not, and
// what never fits is an error that says how much it needs.
func TestMemory(t *testing.T) {
	m := grid(30)
	for _, c := range []struct {
		method Method
		memory int
		fits   bool
	}{
		{Auto, 0, true},
		{Auto, 500_000, true},
		{Auto, 100_000, false},
		{Sparse, 500_000, true},
		{Sparse, 100_000, false},
		{Dense, 500_000, false},
		{Band, 500_000, false},
	} {
		a, err := Analyze(m.p, Options{Method: c.method, Memory: c.memory})
		var e *MemoryError
		if c.fits {
			if err != nil || c.memory > 0 && a.Method() != Sparse {
				t.Errorf("%v in %d bytes: %v", c.method, c.memory, err)
			}
		} else if !errors.As(err, &e) || e.Bytes <= c.memory || e.Limit != c.memory {
			t.Errorf("%v in %d bytes: %v", c.method, c.memory, err)
		}
	}
	for memory := 100_000; memory < 500_000; memory += 4000 { // its factors may have room, and their order none
		var e *MemoryError
		if _, err := Analyze(m.p, Options{Method: Sparse, Memory: memory}); errors.As(err, &e) && e.Bytes <= memory {
			t.Errorf("%d bytes are more than %d", e.Bytes, memory)
		}
	}
}

// TestTooLarge holds that the memory of factors that nothing could hold is told as it is, and that what needs none is
// offered where it has room.
func TestTooLarge(t *testing.T) {
	const n = 64000
	m := build("diagonal", n, func(add func(i, j int, v float64)) {
		for i := range n {
			add(i, i, 4)
			if i > 0 {
				add(i, i-1, 1)
			}
		}
	})
	for _, memory := range []int{500_000, 1 << 30, 1 << 40} {
		_, err := Analyze(m.p, Options{Method: Dense, Memory: memory})
		var e *MemoryError
		if !errors.As(err, &e) || e.Bytes != 8*n*n || e.Limit >= e.Bytes || e.Iterative != (memory > 500_000) {
			t.Errorf("dense in %d bytes: %+v", memory, e)
		}
	}
}

// TestChoice checks which method is chosen. The species of the reaction–diffusion line lie one array
// after the other, and its cells in a random order, so that its band has to be found.
func TestChoice(t *testing.T) {
	line := func(cells int) matrix {
		r := elem.NewRand(4)
		at := shuffled(cells, r)
		return build(fmt.Sprintf("line of %d cells", cells), 2*cells, func(add func(i, j int, v float64)) {
			for k := range cells {
				for s := range 2 {
					i := s*cells + at[k]
					add(i, i, 4)
					add(i, (1-s)*cells+at[k], r.Norm())
					if k > 0 {
						add(i, s*cells+at[k-1], -1)
						add(s*cells+at[k-1], i, -1)
					}
				}
			}
		})
	}
	arrow := build("arrow", 4000, func(add func(i, j int, v float64)) {
		for i := range 4000 {
			add(i, i, 2)
			add(i, 0, 1e-4)
			add(0, i, 1e-4)
		}
	})
	for _, c := range []struct {
		m    matrix
		want Method
	}{
		{network(3, 9, 1, 1), Dense},
		{network(20, 60, 1, 1), Sparse},
		{random(70, 70*70/2, 1, 1), Dense},
		{network(100, 300, 1, 1), Sparse},
		{network(1000, 3000, 1, 1), Sparse},
		{grid(30), Sparse},
		{arrow, Sparse},
		{line(300), Sparse}, // with machine code
		{line(30000), Band},
	} {
		a, err := Analyze(c.m.p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if a.Method() != c.want {
			t.Errorf("%s: %v, not %v", c.m.name, a.Method(), c.want)
		}
		if a.Method() == Band && (a.band.lower > 3 || a.band.upper > 3) {
			t.Errorf("%s: %d diagonals below and %d above", c.m.name, a.band.lower, a.band.upper)
		}
		if f := a.New(); c.m.name == "arrow" && f.NonZeros() != c.m.p.NonZeros() {
			t.Errorf("%s: %d elements of the factors", c.m.name, f.NonZeros())
		}
	}
}

// TestDependent checks which rows and columns of singular matrices are said to depend on each other.
func TestDependent(t *testing.T) {
	proportional := matrix{p: Full(9), values: make([]float64, 81)}
	r := elem.NewRand(3)
	for i := range proportional.values {
		proportional.values[i] = r.Norm()
	}
	for j := range 9 {
		proportional.values[j*9+7] = proportional.values[j*9+2] / 3
	}
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range []struct {
		m          matrix
		rows, cols []int
	}{
		{proportional, []int{2, 7}, all},
		// What 1 and 3 have together is conserved; 0 and 2 decay.
		{build("conserved", 4, func(add func(i, j int, v float64)) {
			add(0, 0, 5)
			add(2, 0, -5)
			add(2, 2, 1e-3)
			add(1, 1, 1e4)
			add(3, 1, -1e4)
			add(1, 3, -1e-4)
			add(3, 3, 1e-4)
		}), []int{1, 3}, []int{1, 3}},
		{build("a zero", 3, func(add func(i, j int, v float64)) {
			for i := range 3 {
				add(i, i, float64(i))
			}
		}), []int{0}, []int{0}},
		{matrix{"a column of zeros", Full(3), []float64{1, 2, 3, 0, 0, 0, 4, 1, 1}}, []int{0, 1, 2}, []int{1}},
	} {
		for _, method := range methods {
			a, err := Analyze(c.m.p, Options{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			var e *SingularError
			if err := a.New().Factor(c.m.values); !errors.As(err, &e) {
				t.Errorf("%s, %v: %v", c.m.name, method, err)
			}
			if rows, cols := a.Dependent(c.m.values); !slices.Equal(rows, c.rows) || !slices.Equal(cols, c.cols) {
				t.Errorf("%s, %v: rows %v, columns %v", c.m.name, method, rows, cols)
			}
		}
	}
}

// TestKeep requires an LU that gets the factors of another one to have the bits of its solutions, and to leave these
// factors as they are when it factors again.
func TestKeep(t *testing.T) {
	for _, m := range matrices() {
		n := m.p.N
		for _, method := range methods {
			a, err := Analyze(m.p, Options{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			one, other := a.New(), a.New()
			if one.Factor(m.values) != nil {
				continue
			}
			kept := make([]float64, one.Kept())
			if !one.Keep(kept) {
				if one.Order() == a.New().Order() {
					t.Errorf("%s, %v: nothing kept", m.name, method)
				}
				continue
			}
			other.Restore(kept)
			for _, lanes := range []int{1, 3} {
				x, y := make([]float64, n*lanes), make([]float64, n*lanes)
				for i := range x {
					x[i] = float64(i%7) - 2.5
				}
				copy(y, x)
				one.Solve(x, lanes)
				other.Solve(y, lanes)
				one.SolveT(x, lanes)
				other.SolveT(y, lanes)
				if !slices.Equal(x, y) {
					t.Errorf("%s, %v: %d lanes differ", m.name, method, lanes)
				}
			}
			before := slices.Clone(kept)
			double := slices.Clone(m.values)
			for e := range double {
				double[e] *= 2
			}
			if err := other.Factor(double); err != nil {
				t.Errorf("%s, %v: %v", m.name, method, err)
			}
			if !slices.Equal(kept, before) {
				t.Errorf("%s, %v: a factorisation changes the factors that were kept of another", m.name, method)
			}
		}
	}
}
