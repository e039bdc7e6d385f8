package linalg

import (
	"errors"
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// cube is the matrix of an implicit step of diffusion and drift on an m×m×m grid, whose factors fill.
func cube(m int) matrix {
	r := elem.NewRand(6)
	return build("cube", m*m*m, func(add func(i, j int, v float64)) {
		for k := range m * m * m {
			add(k, k, 3)
			for _, step := range []int{1, m, m * m} {
				if k/step%m < m-1 {
					add(k+step, k, -0.4+float64(0.1*r.Norm()))
					add(k, k+step, -0.4+float64(0.1*r.Norm()))
				}
			}
		}
	})
}

// TestIterative compares solutions without factors with those by factors, both ways, and holds that lanes do not show.
func TestIterative(t *testing.T) {
	for _, m := range []matrix{cube(8), grid(20), network(100, 300, 1e-2, 2)} {
		n := m.p.N
		f, g := analyzed(t, m, Iterative), analyzed(t, m, Dense)
		if f.Method() != Iterative {
			t.Fatalf("%s is solved by %s", m.name, f.Method())
		}
		if err := errors.Join(f.Factor(m.values), g.Factor(m.values)); err != nil {
			t.Fatal(err)
		}
		again := analyzed(t, m, Iterative)
		kept := make([]float64, f.Kept())
		if !f.Keep(kept) {
			t.Fatalf("%s: what it solves with is not kept", m.name)
		}
		again.Restore(kept)
		const lanes = 3
		r := elem.NewRand(3)
		b := make([]float64, n*lanes)
		for i := range b {
			b[i] = r.Norm()
		}
		for _, transposed := range []bool{false, true} {
			solve := func(f LU, x []float64, lanes int) []float64 {
				x = append([]float64(nil), x...)
				if transposed {
					f.SolveT(x, lanes)
				} else {
					f.Solve(x, lanes)
				}
				return x
			}
			x, want, same := solve(f, b, lanes), solve(g, b, lanes), solve(again, b, lanes)
			far, size := 0.0, 0.0
			for i := range x {
				far, size = max(far, math.Abs(x[i]-want[i])), max(size, math.Abs(want[i]))
				if math.Float64bits(x[i]) != math.Float64bits(same[i]) {
					t.Fatalf("%s: %v after Restore, not %v", m.name, same[i], x[i])
				}
			}
			if !(far < 1e-12*size) {
				t.Errorf("%s, transposed %t: differs by %.2g", m.name, transposed, far/size)
			}
			one := make([]float64, n)
			for i := range one {
				one[i] = b[i*lanes+1]
			}
			for i, v := range solve(f, one, 1) {
				if v != x[i*lanes+1] {
					t.Fatalf("%s: lanes show in element %d", m.name, i)
				}
			}
		}
	}
}

// TestIterativeIsChosen holds that a matrix whose factors have no room is solved without them, if its diagonal is full.
func TestIterativeIsChosen(t *testing.T) {
	m := cube(16)
	room := Options{Memory: 6 << 20}
	a, err := Analyze(m.p, room)
	if err != nil {
		t.Fatal(err)
	}
	if a.Method() != Iterative {
		t.Errorf("the matrix is solved by %s", a.Method())
	}
	if a, err := Analyze(m.p, Options{}); err != nil || a.Method() == Iterative {
		t.Errorf("with room it is solved by %s, %v", a.Method(), err)
	}
	var large *MemoryError
	if _, err := a.NewComplex(); !errors.As(err, &large) {
		t.Errorf("complex factors without room: %v", err)
	}
	shifted := build("cube without a diagonal", m.p.N, func(add func(i, j int, v float64)) {
		for j := range m.p.N {
			for _, i := range m.p.column(j) {
				if int(i) != j {
					add(int(i), j, 1)
				}
			}
		}
	})
	if a, err := Analyze(shifted.p, Options{Memory: 1 << 20}); !errors.As(err, &large) {
		t.Errorf("without a diagonal: %v, %v", a, err)
	}
}

// TestIterativeFails holds that what does not converge is no number.
func TestIterativeFails(t *testing.T) {
	const n = 6
	m := build("Laplacian of a cycle", n, func(add func(i, j int, v float64)) {
		for i := range n {
			add(i, i, 2)
			add(i, (i+1)%n, -1)
			add((i+1)%n, i, -1)
		}
	})
	f := analyzed(t, m, Iterative)
	if err := f.Factor(m.values); err != nil {
		t.Fatal(err)
	}
	x := []float64{1, 2, 3, 4, 5, 6} // of which there is no solution
	if f.Solve(x, 1); !math.IsNaN(x[0]) {
		t.Errorf("the solution is %v", x)
	}
	zero := make([]float64, n)
	if f.SolveT(zero, 1); zero[0] != 0 {
		t.Errorf("the solution of zeros is %v", zero)
	}
}

// TestDearer compares the work that is foreseen for a spread of eigenvalues with the iterations that diffusion takes.
func TestDearer(t *testing.T) {
	const m = 24
	before := 0.0
	for _, spread := range []float64{10, 40, 90} {
		// The identity, and an operator whose largest eigenvalue is nearly spread − 1.
		a := build("cube", m*m*m, func(add func(i, j int, v float64)) {
			c := (spread - 1) / 12
			for k := range m * m * m {
				add(k, k, 1+6*c)
				for _, step := range []int{1, m, m * m} {
					if k/step%m < m-1 {
						add(k+step, k, -c)
						add(k, k+step, -c)
					}
				}
			}
		})
		f := analyzed(t, a, Iterative).(*iterative)
		if err := f.Factor(a.values); err != nil {
			t.Fatal(err)
		}
		r := elem.NewRand(4)
		b, x := make([]float64, a.p.N), make([]float64, a.p.N)
		for i := range b {
			b[i] = r.Norm()
		}
		copy(x, b)
		f.ilu.Solve(x, 1)
		its, err := f.gmres.Solve(f.forward, x, b, converged, iterations)
		if err != nil {
			t.Fatal(err)
		}
		got, want := f.Dearer(spread), float64(f.work(its))/float64(f.work(usualIterations))
		if got < 0.5*want || got > 2*want || got < before {
			t.Errorf("spread %g: %d iterations are %.2g times the usual work, foreseen as %.2g", spread, its, want, got)
		}
		before = got
	}
}
