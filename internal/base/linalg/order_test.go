package linalg

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"odes.dev/odes/internal/base/elem"
)

// TestOrderIsPermutation checks blocks and orders of all matrices: rows and columns appear once, and
// nothing lies below the blocks.
func TestOrderIsPermutation(t *testing.T) {
	for _, m := range matrices() {
		a, err := Analyze(m.p, Options{Method: Sparse})
		if err != nil {
			t.Fatal(err)
		}
		s := a.structure
		for _, list := range [][]int32{s.cols, s.matched, a.order.rows, cuthillMcKee(m.p)} {
			sorted := slices.Clone(list)
			slices.Sort(sorted)
			if !slices.Equal(sorted, identity(m.p.N)) {
				t.Fatalf("%s: no permutation: %v", m.name, list)
			}
		}
		for b := range len(s.start) - 1 {
			for k := s.start[b]; k < s.start[b+1]; k++ {
				for _, i := range m.p.column(int(s.cols[k])) {
					if s.blockOf[i] > int32(b) {
						t.Fatalf("%s: row %d of column %d lies below its block", m.name, i, s.cols[k])
					}
				}
			}
		}
	}
}

// TestBlocks checks that the blocks are those that the matrix was made of.
func TestBlocks(t *testing.T) {
	sizes := []int{1, 1, 3, 1, 5, 2, 9, 1}
	for seed := range uint64(20) {
		a, err := Analyze(cascade(sizes, seed).p, Options{Method: Sparse})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for b := range len(a.structure.start) - 1 {
			got = append(got, int(a.structure.start[b+1]-a.structure.start[b]))
		}
		want := slices.Clone(sizes)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("blocks of %v, not %v", got, want)
		}
	}
}

// TestFill compares the fill with that of AMD as SuiteSparse has it (by cvxopt.amd), for the pattern of
// A + Aᵀ: elements of L below the diagonal.
func TestFill(t *testing.T) {
	for _, c := range []struct {
		m    matrix
		want int
	}{
		{grid(30), 9331},
		{grid(100), 196332},
		{network(1000, 5000, 1, 1), 38917},
		{random(1000, 8000, 10, 1), 213574},
	} {
		both := build(c.m.name, c.m.p.N, func(add func(i, j int, v float64)) {
			for j := range c.m.p.N {
				for _, i := range c.m.p.column(j) {
					add(int(i), j, 1)
					add(j, int(i), 1)
				}
			}
		})
		s, err := newStructure(both.p)
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.order(nil, math.MaxInt32) // without a tail
		if err != nil {
			t.Fatal(err)
		}
		got := o.lNonZeros
		t.Logf("%s: %d, %.3f of SuiteSparse's", c.m.name, got, float64(got)/float64(c.want))
		if float64(got) > 1.02*float64(c.want) {
			t.Errorf("%s: L has %d elements, with SuiteSparse %d", c.m.name, got, c.want)
		}
	}
}

// TestAnalysisTime holds the analysis of 1,000 species with 5,000 reactions to the second that it may
// take, of which it needs a hundredth, and the memory of a factorisation to 20 MB.
func TestAnalysisTime(t *testing.T) {
	m := network(1000, 5000, 1e-2, 1)
	least := time.Hour
	var f LU
	for range 5 {
		start := time.Now()
		a, err := Analyze(m.p, Options{Method: Auto})
		if err != nil {
			t.Fatal(err)
		}
		least = min(least, time.Since(start))
		f = a.New()
	}
	if f.Method() != Sparse || f.Memory() > 20e6 {
		t.Errorf("%v, %d bytes", f.Method(), f.Memory())
	}
	if least > time.Second {
		t.Errorf("analysis took %v", least)
	}
}

// TestOrder checks that a matrix with small pivots gets another order, that the order is kept while
// it serves, and that a factorisation can be repeated to the same bits from the order with which it
// began.
func TestOrder(t *testing.T) {
	values := func(hγ float64) matrix { return network(300, 900, hγ, 7) }
	easy, hard := values(1e-3), values(1e5)
	if !slices.Equal(easy.p.Rows, hard.p.Rows) {
		t.Fatal("the patterns differ")
	}
	a, err := Analyze(easy.p, Options{Method: Sparse})
	if err != nil {
		t.Fatal(err)
	}
	f, again := a.New(), a.New()
	r := elem.NewRand(3)
	b := make([]float64, easy.p.N)
	for i := range b {
		b[i] = r.Norm()
	}
	for step, m := range []matrix{easy, hard, easy, hard, hard} {
		before := f.Order()
		if err := f.Factor(m.values); err != nil {
			t.Fatal(err)
		}
		if changed := f.Order() != before; changed != (step == 1 || step == 2 || step == 3) {
			t.Errorf("step %d: the order changed: %t", step, changed)
		}
		if first := f.Order() == a.order; first != (m.name == easy.name) {
			t.Errorf("step %d: the order is that of the pattern: %t", step, first)
		}
		x, y := slices.Clone(b), slices.Clone(b)
		f.Solve(x, 1)
		again.SetOrder(before)
		if err := again.Factor(m.values); err != nil {
			t.Fatal(err)
		}
		again.Solve(y, 1)
		if !slices.Equal(x, y) {
			t.Errorf("step %d: repeated, it has other bits", step)
		}
		if e := backward(m, x, b); e > 1e-12 {
			t.Errorf("step %d: backward error %.2g", step, e)
		}
	}
	// The order of the pattern would have been wrong.
	s := newSparse(a.structure, a.order, 1<<30)
	if _, err := s.eliminate(hard.values, 1, false); err != nil {
		t.Fatal(err)
	}
	x := slices.Clone(b)
	s.Solve(x, 1)
	if e := backward(hard, x, b); e < 1e-12 {
		t.Errorf("without watching pivots the backward error is %.2g: the test checks nothing", e)
	}
}

// backward returns the componentwise backward error of A·x = b (W. Oettli and W. Prager, Numer.
// Math. 6, 1964).
func backward(m matrix, x, b []float64) float64 {
	n := m.p.N
	left, size := make([]float64, n), make([]float64, n)
	m.p.Product(left, m.values, x, 1)
	for j := range n {
		for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
			size[m.p.Rows[e]] += math.Abs(m.values[e] * x[j])
		}
	}
	worst := 0.0
	for i := range n {
		worst = max(worst, math.Abs(left[i]-b[i])/(size[i]+math.Abs(b[i])))
	}
	return worst
}

// TestPanels checks that panels hold most of the work where the factors fill, and that they change no
// bits.
func TestPanels(t *testing.T) {
	for _, m := range []matrix{
		grid(30), network(1000, 3000, 1e-2, 1), network(300, 900, 1e5, 7), random(100, 1000, 5, 1),
	} {
		f := analyzed(t, m, Sparse).(*sparse)
		if err := f.Factor(m.values); err != nil {
			t.Fatal(err)
		}
		in := 0
		for _, n := range f.o.panels {
			in += int(n)
		}
		if in < len(f.u)/4 {
			t.Errorf("%s: of %d entries only %d belong to panels", m.name, len(f.u), in)
		}
		o := *f.o
		o.panels = make([]int32, len(o.panels))
		l, u := slices.Clone(f.l), slices.Clone(f.u)
		f.SetOrder(&o)
		clear(f.l)
		clear(f.u)
		if err := f.Factor(m.values); err != nil {
			t.Fatal(err)
		}
		if f.o != &o || !slices.Equal(f.u, u) {
			t.Errorf("%s: U has other bits without panels", m.name)
		}
		for k := range f.o.rows {
			n := o.lEnd[k] - o.lStart[k]
			if !slices.Equal(f.l[o.lValue[k]:][:n], l[o.lValue[k]:][:n]) {
				t.Fatalf("%s: column %d of L has other bits without panels", m.name, k)
			}
		}
	}
}

// TestTail checks messages about the densely factored tail of a sparse factorisation: two of its columns
// are equal.
func TestTail(t *testing.T) {
	m := matrix{p: Full(150), values: make([]float64, 150*150)}
	r := elem.NewRand(3)
	for i := range m.values {
		m.values[i] = r.Norm()
	}
	a, err := Analyze(m.p, Options{Method: Sparse})
	if err != nil {
		t.Fatal(err)
	}
	s := a.structure
	if s.tailSize() < 100*100 {
		t.Fatalf("the tail has %d elements", s.tailSize())
	}
	one, other := s.cols[s.tail+7], s.cols[s.tailEnd-1]
	copy(m.values[m.p.Start[one]:m.p.Start[one+1]], m.values[m.p.Start[other]:m.p.Start[other+1]])
	var e *SingularError
	if err := a.New().Factor(m.values); !errors.As(err, &e) || !slices.Equal(e.Cols, []int{int(other)}) {
		t.Errorf("%v", err)
	}
	want := []int{int(min(one, other)), int(max(one, other))}
	if _, cols := a.Dependent(m.values); !slices.Equal(cols, want) {
		t.Errorf("columns %v are dependent, not %v", cols, want)
	}
	m.values[m.p.Start[one]] = math.NaN()
	var n *NotFiniteError
	if err := a.New().Factor(m.values); !errors.As(err, &n) || n.Col != int(one) || n.Overflow {
		t.Errorf("%v", err)
	}
}

// TestPostorder compares the fill of both orders of a graph, and the panels, which are what the second one is for.
func TestPostorder(t *testing.T) {
	for _, m := range []matrix{network(1000, 3000, 1e-2, 1), grid(30)} {
		adj := make([][]int32, m.p.N)
		for j := range m.p.N {
			for _, i := range m.p.column(j) {
				if int(i) != j {
					adj[j], adj[i] = append(adj[j], i), append(adj[i], int32(j))
				}
			}
		}
		for i := range adj {
			slices.Sort(adj[i])
			adj[i] = slices.Compact(adj[i])
		}
		clone := func() [][]int32 {
			out := make([][]int32, len(adj))
			for i := range adj {
				out[i] = slices.Clone(adj[i])
			}
			return out
		}
		before := minimumDegree(clone())
		after := postorder(adj, before)
		fill := func(order []int32) (entries, chains int) {
			place := make([]int, len(order))
			for k, i := range order {
				place[i] = k
			}
			below := make([]map[int]bool, len(order)) // of a column: the places of its rows
			for k, i := range order {
				if below[k] == nil {
					below[k] = map[int]bool{}
				}
				for _, j := range adj[i] {
					if place[j] > k {
						below[k][place[j]] = true
					}
				}
				first := len(order)
				for at := range below[k] {
					first = min(first, at)
				}
				if entries += len(below[k]); first == len(order) {
					continue
				}
				if first == k+1 {
					chains++
				}
				if below[first] == nil {
					below[first] = map[int]bool{}
				}
				for at := range below[k] {
					if at != first {
						below[first][at] = true
					}
				}
			}
			return entries, chains
		}
		was, few := fill(before)
		is, many := fill(after)
		if is != was || many <= few {
			t.Errorf("%s: %d entries and %d columns beside their parents, before %d and %d", m.name, is, many, was, few)
		}
		t.Logf("%s: %d entries; %d columns are beside their parents, before %d", m.name, is, many, few)
		if sorted := slices.Sorted(slices.Values(after)); int(sorted[0]) != 0 || len(slices.Compact(sorted)) != m.p.N {
			t.Errorf("%s: no permutation", m.name)
		}
	}
}

// TestCount holds that factors are counted as large as the search for their entries finds them, and that patterns that
// cannot be counted are told.
func TestCount(t *testing.T) {
	patterns := []matrix{grid(30), cube(12)}
	r := elem.NewRand(11)
	for _, n := range []int{1, 2, 40, 400, 2000} {
		patterns = append(patterns, build(fmt.Sprintf("%d at random", n), n, func(add func(i, j int, v float64)) {
			for i := range n {
				add(i, i, 4)
			}
			for range n { // some blocks, and some that stand alone
				if i, j := int(r.Float64()*float64(n)), int(r.Float64()*float64(n)); i != j && i%7 > 0 && j%7 > 0 {
					add(i, j, 1)
					add(j, i, 1)
				}
			}
		}))
	}
	tails := 0
	for _, m := range patterns {
		s, err := newStructure(m.p)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := s.count()
		o, err := s.best(math.MaxInt32)
		if err != nil {
			t.Fatal(err)
		}
		want := extent{flops: o.flops, nonZeros: o.nonZeros(), tail: int(s.tailEnd - s.tail)}
		if !ok || got != want {
			t.Errorf("%s: counted %+v (%v), and the search finds %+v", m.name, got, ok, want)
		}
		if want.tail > 0 {
			tails++
		}
	}
	if tails == 0 {
		t.Error("no factors have a tail")
	}
	for _, m := range []matrix{network(50, 100, 1e-2, 1), build("turned", 3, func(add func(i, j int, v float64)) {
		add(0, 1, 1)
		add(1, 0, 1)
		add(2, 2, 1)
	})} {
		if s, err := newStructure(m.p); err != nil {
			t.Fatal(err)
		} else if e, ok := s.count(); ok {
			t.Errorf("%s: counted %+v", m.name, e)
		}
	}
}
