package linalg

import (
	"errors"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// ring is the matrix of a step of n species, most of which react with neighbours on a ring, with rates of many sizes. A
// share of the reactions is with species anywhere. Units of species differ by the scale.
func ring(n int, far, scale float64) matrix {
	r := elem.NewRand(5)
	unit := func(i int) float64 {
		if i%3 == 0 {
			return scale
		}
		return 1
	}
	return build("ring", n, func(add func(i, j int, v float64)) {
		for j := range n {
			add(j, j, 1)
			for q := range 6 {
				i := (j + 1 + int(16*r.Float64())) % n
				if r.Float64() < far {
					i = int(float64(n) * r.Float64())
				}
				rate := elem.Exp(float64(9*r.Float64()) - 6)
				add(j, j, rate)
				if i != j && q < 5 {
					add(i, j, -rate*unit(i)/unit(j))
				}
			}
		}
	})
}

// TestRefined compares solutions that are refined with those by factors, both ways. They have the same bits in other
// units.
func TestRefined(t *testing.T) {
	const n, lanes, scale = 4000, 2, 0x1p27
	refined := func(m matrix) *hybrid {
		f := analyzed(t, m, Auto).(*hybrid)
		if err := f.Factor(m.values); err != nil {
			t.Fatal(err)
		}
		if f.filled == nil || f.way != byRefinement {
			t.Fatalf("incomplete factors: %t, solved by %d", f.filled != nil, f.way)
		}
		return f
	}
	m := ring(n, 0.02, 1)
	f, scaled, g := refined(m), refined(ring(n, 0.02, scale)), analyzed(t, m, Sparse)
	if err := g.Factor(m.values); err != nil {
		t.Fatal(err)
	}
	if f.Kept() != 0 || f.Keep(nil) {
		t.Fatal("incomplete factors are kept")
	}
	// Every third species has the other unit; by is what that makes of a vector.
	in := func(x []float64, by float64) []float64 {
		x = slices.Clone(x)
		for k := range x {
			if k/lanes%3 == 0 {
				x[k] *= by
			}
		}
		return x
	}
	r := elem.NewRand(3)
	b := make([]float64, n*lanes)
	for i := range b {
		b[i] = r.Norm()
	}
	for _, c := range []struct {
		name  string
		by    float64 // of right-hand sides and solutions
		solve func(LU, []float64)
	}{
		{"solve", scale, func(lu LU, x []float64) { lu.Solve(x, lanes) }},
		{"transpose", 1 / scale, func(lu LU, x []float64) { lu.SolveT(x, lanes) }},
	} {
		x, want, other := slices.Clone(b), slices.Clone(b), in(b, c.by)
		small := slices.Clone(b)
		for i := range small {
			small[i] *= 0x1p-980
		}
		c.solve(f, small)
		for i := range small {
			small[i] *= 0x1p980
		}
		c.solve(f, x)
		c.solve(g, want)
		c.solve(scaled, other)
		same(t, c.name+" in other units", in(other, 1/c.by), x)
		for i, v := range x { // some of the small ones have fewer digits
			if !(math.Abs(small[i]-v) <= 1e-12*math.Max(1e-2, math.Abs(v))) {
				t.Fatalf("%s, small: element %d is %v, not %v", c.name, i, small[i], v)
			}
		}
		for i, v := range want {
			if !(math.Abs(x[i]-v) <= 1e-12*(1+math.Abs(v))) {
				t.Fatalf("%s: element %d is %v, not %v", c.name, i, x[i], v)
			}
		}
	}
}

// stepped makes I + step J of m = I + J.
func stepped(m matrix, step float64) matrix {
	for j := range m.p.N {
		for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
			if v := &m.values[e]; int(m.p.Rows[e]) == j {
				*v = 1 + float64(step*(*v-1))
			} else {
				*v *= step
			}
		}
	}
	return m
}

// paired adds exchanges to m, at a rate within each pair of unknowns that is far beyond all others. That back is as
// large, times a factor.
func paired(m matrix, rate, back float64) matrix {
	return build("paired "+m.name, m.p.N, func(add func(i, j int, v float64)) {
		for j := range m.p.N {
			for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
				add(int(m.p.Rows[e]), j, m.values[e])
			}
			by := rate
			if j&1 == 1 {
				by *= back
			}
			add(j, j, by)
			add(j^1, j, -by)
		}
	})
}

// TestRefinedPairs holds that solutions are about as accurate as those by factors where a residual that is small beside
// the terms of its equation says little: the first refinement solves what pairs exchange, and leaves what all of them
// do together. That the first gained much does not say that the next one will.
func TestRefinedPairs(t *testing.T) {
	const n = 4000
	for _, rate := range []float64{1, 1e2, 1e4, 1e6, 1e9} {
		for _, back := range []float64{1, 0.37} {
			m := paired(stepped(ring(n, 0.1, 1), 0.3), rate, back)
			f, g := analyzed(t, m, Auto).(*hybrid), analyzed(t, m, Sparse)
			if err := errors.Join(f.Factor(m.values), g.Factor(m.values)); err != nil {
				t.Fatal(err)
			}
			if f.filled == nil || f.way != byRefinement {
				t.Fatalf("incomplete: %t, solved by %d", f.filled != nil, f.way)
			}
			r := elem.NewRand(9)
			b := make([]float64, n)
			for i := range b {
				b[i] = rate*float64(1-2*(i&1)) + r.Norm()
			}
			for _, solve := range []func(LU, []float64){
				func(f LU, x []float64) { f.Solve(x, 1) }, func(f LU, x []float64) { f.SolveT(x, 1) },
			} {
				x, want := slices.Clone(b), slices.Clone(b)
				solve(f, x)
				solve(g, want)
				off, size := 0.0, 0.0
				for i, v := range x {
					off, size = max(off, math.Abs(v-want[i])), max(size, math.Abs(want[i]))
				}
				if !(off <= 1e-14*rate*size) {
					t.Errorf("rates %g and %g, served by %d: off by %g", rate, back*rate, f.Served(), off/size)
				}
				if f.tried {
					t.Errorf("rates %g and %g: whole factors were made", rate, back*rate)
				}
			}
		}
	}
}

// TestShortTransposed solves where the trial takes factors of single precision, and those do not serve the transpose:
// for some of the right-hand sides. Those of double precision do then, and whole factors are not made.
func TestShortTransposed(t *testing.T) {
	const n = 4000
	m := paired(stepped(ring(n, 0.1, 1), 0.1), 1e8, 1)
	f := analyzed(t, m, Auto).(*hybrid)
	if err := f.Factor(m.values); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for seed := range uint64(12) {
		r, x := elem.NewRand(seed), make([]float64, n)
		for i := range x {
			x[i] = r.Norm()
		}
		copy(f.refined.b, x)
		if !(f.refined.refine(true, refineDone, shortMost) <= refineEnough) {
			failed++
		}
		f.SolveT(x, 1)
		if f.Served() != ShortServes || f.tried {
			t.Errorf("%d: served by %d, whole factors made: %t", seed, f.Served(), f.tried)
		}
	}
	if failed == 0 {
		t.Error("single precision served all")
	}
}

// TestRefinedResidual holds that solutions leave rounding: as steps grow, and refinements gain less.
func TestRefinedResidual(t *testing.T) {
	const n = 4000
	r := elem.NewRand(8)
	b := make([]float64, n)
	for i := range b {
		b[i] = r.Norm()
	}
	for _, far := range []float64{0.02, 0.1} {
		for _, step := range []float64{0.03, 0.1, 0.3} {
			m := stepped(ring(n, far, 1), step)
			f := analyzed(t, m, Auto).(*hybrid)
			if err := f.Factor(m.values); err != nil {
				t.Fatal(err)
			}
			if f.filled == nil || f.way != byRefinement {
				t.Fatalf("far %g, step %g: incomplete: %t, solved by %d", far, step, f.filled != nil, f.way)
			}
			for _, transposed := range []bool{false, true} {
				x, size, left := slices.Clone(b), make([]float64, n), slices.Clone(b)
				if transposed {
					f.SolveT(x, 1)
				} else {
					f.Solve(x, 1)
				}
				for j := range n {
					for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
						row, col := int(m.p.Rows[e]), j
						if transposed {
							row, col = col, row
						}
						left[row] = math.FMA(-m.values[e], x[col], left[row])
						size[row] += math.Abs(m.values[e] * x[col])
					}
				}
				for i, v := range left {
					if !(math.Abs(v) <= 0x1p-49*(size[i]+math.Abs(b[i]))) {
						t.Fatalf("far %g, step %g, transposed %t: equation %d leaves %g of %g",
							far, step, transposed, i, v, size[i])
					}
				}
			}
		}
	}
}

// TestForced compares solutions with pivots of the pattern that do not serve, which are refined, with those of new
// pivots. They have the same bits with machine code as without, and a lane has those that it has alone.
func TestForced(t *testing.T) {
	const n, lanes = 1100, 3
	m := ring(n, 0.02, 0x1p27)
	f, g := analyzed(t, m, Auto).(*hybrid), analyzed(t, m, Sparse)
	if err := g.Factor(m.values); err != nil {
		t.Fatal(err)
	}
	r := elem.NewRand(3)
	b := make([]float64, n*lanes)
	for i := range b {
		b[i] = r.Norm()
	}
	var first [2][]float64
	for turn := range 3 {
		if turn > 0 {
			f.first.codes.factored.Store(1 << 20) // machine code is due
		}
		if err := f.Factor(m.values); err != nil {
			t.Fatal(err)
		}
		if f.filled != nil || f.way != byRefinement || f.Order() != f.first || g.Order() == f.first {
			t.Fatalf("turn %d: solved by %d, new pivots: %t", turn, f.way, f.Order() != f.first)
		}
		for k, transposed := range []bool{false, true} {
			x, alone := slices.Clone(b), make([]float64, n)
			for i := range alone {
				alone[i] = b[i*lanes+1]
			}
			if transposed {
				f.SolveT(x, lanes)
				f.SolveT(alone, 1)
			} else {
				f.Solve(x, lanes)
				f.Solve(alone, 1)
			}
			for i, v := range alone {
				if x[i*lanes+1] != v {
					t.Fatalf("element %d is %v in lanes, and %v alone", i, x[i*lanes+1], v)
				}
			}
			if first[k] == nil {
				first[k] = x
				want := solution(g, &m, b, 1, lanes, transposed)
				for i, v := range want {
					if !(math.Abs(alone[i]-v) <= 1e-12*math.Abs(v)) && math.Abs(v) > 1e-3 {
						t.Fatalf("transposed %t: element %d is %v, not %v", transposed, i, alone[i], v)
					}
				}
			}
			same(t, "later", x, first[k])
		}
	}
	if hasCode() && f.ready[codeFactor] == nil {
		t.Error("no machine code was made")
	}
}

// TestForcedSingular holds that a singular matrix is an error as before: its pivots are neither forced nor refined. The
// last pivot of a dependent column is rounding, but may be large where columns have grown.
func TestForcedSingular(t *testing.T) {
	empty := ring(1500, 0.02, 0x1p27)
	for e := empty.p.Start[7]; e < empty.p.Start[8]; e++ {
		empty.values[e] = 0
	}
	for _, m := range []matrix{empty, dependent(2), dependent(5), dependent(7)} {
		var singular *SingularError
		if err := analyzed(t, m, Auto).Factor(m.values); !errors.As(err, &singular) {
			t.Errorf("%s: the error is %v", m.name, err)
		}
	}
}

// dependent is a singular matrix: each row has the sum 0. Its entries have many sizes.
func dependent(seed uint64) matrix {
	const n = 1100
	r := elem.NewRand(seed)
	return build("dependent", n, func(add func(i, j int, v float64)) {
		for i := range n {
			for range 5 {
				j := (i + 1 + int(16*r.Float64())) % n
				if r.Float64() < 0.04 {
					j = int(float64(n) * r.Float64())
				}
				v := float64(elem.Exp(float64(16*r.Float64())) * r.Norm())
				add(i, j, v)
				add(i, i, -v)
			}
		}
	})
}

// TestRefinedNotConverging holds that a matrix that refinements would take long for is factored.
func TestRefinedNotConverging(t *testing.T) {
	m := torus(60, 1e4, 1)
	f := analyzed(t, m, Auto).(*hybrid)
	if err := f.Factor(m.values); err != nil {
		t.Fatal(err)
	}
	if f.way != byFactors {
		t.Errorf("solved by %d", f.way)
	}
}

// TestRefinedNaN holds that a lane without a solution is NaN, and that the others have the bits that they have alone.
func TestRefinedNaN(t *testing.T) {
	m := ring(4000, 0.02, 1)
	f := analyzed(t, m, Auto).(*hybrid)
	if err := f.Factor(m.values); err != nil {
		t.Fatal(err)
	}
	n := m.p.N
	b, alone := make([]float64, 2*n), make([]float64, n)
	for i := range alone {
		b[2*i], alone[i] = math.NaN(), float64(i%7)
		b[2*i+1] = alone[i]
	}
	f.Solve(b, 2)
	f.Solve(alone, 1)
	for i, v := range alone {
		if !math.IsNaN(b[2*i]) || math.Float64bits(b[2*i+1]) != math.Float64bits(v) {
			t.Fatalf("element %d is %v and %v, not NaN and %v", i, b[2*i], b[2*i+1], v)
		}
	}
}

// TestRefinedHubs holds that a few species that react with all others take neither memory nor time beside the factors:
// updates of incomplete factors would be a hundred for each entry.
func TestRefinedHubs(t *testing.T) {
	const n, hubs = 3000, 100
	for _, first := range []int{0, n - hubs} {
		m := build("hubs", n, func(add func(i, j int, v float64)) {
			for i := range n {
				add(i, i, 1000)
				for h := first; h < first+hubs; h++ {
					add(i, h, 0.5)
					add(h, i, 0.1)
				}
			}
		})
		a, err := Analyze(m.p, Options{Method: Auto})
		if err != nil {
			t.Fatal(err)
		}
		if a.Method() != Sparse || a.filled != nil {
			t.Errorf("hubs from %d on: %v, filled: %t", first, a.Method(), a.filled != nil)
		}
	}
}
