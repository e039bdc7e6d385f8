package linalg

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/team"
)

// TestShare factors matrices by one goroutine and by teams: whole ones, those whose pivots call for exchanges all along
// and those that are nearly singular, sparse ones with a large dense part, and one whose solutions are refined.
// Solutions have the same bits.
//
//odes:goroutines
func TestShare(t *testing.T) {
	defer func(least, work int) { leastShared, sharedWork = least, work }(leastShared, sharedWork)
	leastShared, sharedWork = 128, 1<<18
	var list []matrix
	for _, n := range []int{128, 201, 330} {
		for _, scale := range []float64{0, 40} {
			m := matrix{name: "dense", p: Full(n), values: make([]float64, n*n)}
			r := elem.NewRand(uint64(n))
			for i := range m.values {
				m.values[i] = r.Norm()
			}
			for i := range n {
				m.values[i*n+i] += scale
			}
			list = append(list, m)
			if scale == 0 { // a column that is another but for rounding
				close := matrix{name: "close", p: m.p, values: slices.Clone(m.values)}
				for i := range n {
					close.values[5*n+i] = math.FMA(1e-11, r.Norm(), close.values[i])
				}
				list = append(list, close)
			}
		}
	}
	list = append(list, build("arrow", 400, func(add func(i, j int, v float64)) {
		r := elem.NewRand(3)
		for i := range 400 {
			add(i, i, 3)
			for j := range 400 {
				if i != j && (i >= 250 && j >= 250 || (i+j)%97 == 0) {
					add(i, j, r.Norm())
				}
			}
		}
	}))
	list = append(list, ring(4000, 0.02, 1))
	methods := map[string][]Method{"dense": {Dense}, "close": {Dense}, "arrow": {Dense, Sparse}, "ring": {Auto}}
	for _, m := range list {
		for _, method := range methods[m.name] {
			var want []float64
			for _, size := range []int{1, 2, 3} {
				f := analyzed(t, m, method)
				if h, ok := f.(*hybrid); ok && h.refined.p.N < 2*residualPart {
					t.Fatal("residuals are short")
				} else if s, ok := f.(*sparse); ok && (s.tail == nil || s.tail.p.N < leastShared) {
					t.Fatal("there is no large dense part")
				}
				Share(f, team.New(size))
				x := make([]float64, m.p.N)
				for i := range x {
					x[i] = math.Cos(float64(i))
				}
				for range 3 {
					if err := f.Factor(m.values); err != nil {
						t.Fatal(err)
					}
					f.Solve(x, 1)
					f.SolveT(x, 1)
				}
				if size == 1 {
					want = x
				} else if !slices.Equal(x, want) {
					t.Errorf("%s of %d, %v: %d goroutines give other bits", m.name, m.p.N, method, size)
				}
			}
		}
	}
}
