package optim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// byColumns is triangle, column by column.
func byColumns(a []float64, m, n int, b []float64, order []int) int {
	at := func(i, j int) *float64 { return &a[i*n+j] }
	for j := range order {
		order[j] = j
	}
	rest := func(k, j int) float64 {
		most := 0.0
		for i := k; i < m; i++ {
			most = math.Max(most, math.Abs(*at(i, j)))
		}
		if most == 0 {
			return 0
		}
		s := 0.0
		for i := k; i < m; i++ {
			v := *at(i, j) / most
			s += float64(v * v)
		}
		return float64(most * math.Sqrt(s))
	}
	rows := min(m, n)
	for k := range rows {
		length := rest(k, k)
		if order != nil {
			best := k
			for j := k + 1; j < n; j++ {
				if r := rest(k, j); r > length {
					best, length = j, r
				}
			}
			if best != k {
				for i := range m {
					*at(i, k), *at(i, best) = *at(i, best), *at(i, k)
				}
				order[k], order[best] = order[best], order[k]
			}
		}
		if length == 0 {
			continue
		}
		// The reflection I − w·wᵀ/w_k, with w = column/length and 1 added at k, keeps signs from cancelling.
		if *at(k, k) < 0 {
			length = -length
		}
		for i := k; i < m; i++ {
			*at(i, k) /= length
		}
		head := *at(k, k) + 1
		*at(k, k) = head
		for j := k + 1; j < n; j++ {
			s := 0.0
			for i := k; i < m; i++ {
				s += float64(*at(i, k) * *at(i, j))
			}
			s /= head
			for i := k; i < m; i++ {
				*at(i, j) -= float64(s * *at(i, k))
			}
		}
		s := 0.0
		for i := k; i < m; i++ {
			s += float64(*at(i, k) * b[i])
		}
		s /= head
		for i := k; i < m; i++ {
			b[i] -= float64(s * *at(i, k))
		}
		*at(k, k) = -length
		for i := k + 1; i < m; i++ {
			*at(i, k) = 0
		}
	}
	return rows
}

// TestTriangleBits: row by row, the reflections have the bits that they have column by column, also where columns are
// zero, alike or no numbers.
func TestTriangleBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 400 {
		m, n := 1+r.IntN(12), 1+n%9
		a, b := make([]float64, m*n), make([]float64, m)
		for i := range a {
			switch r.IntN(12) {
			case 0:
				a[i] = 0
			case 1:
				a[i] = math.Copysign(0, -1)
			case 2:
				a[i] = a[r.IntN(i+1)]
			default:
				a[i] = r.NormFloat64() * math.Exp(20*r.NormFloat64())
			}
		}
		if r.IntN(20) == 0 {
			a[r.IntN(len(a))] = []float64{math.NaN(), math.Inf(1)}[r.IntN(2)]
		}
		for i := range b {
			b[i] = r.NormFloat64()
		}
		for _, order := range [][]int{nil, make([]int, n)} {
			a1, b1, o1 := slices.Clone(a), slices.Clone(b), slices.Clone(order)
			a2, b2, o2 := slices.Clone(a), slices.Clone(b), slices.Clone(order)
			if x, y := triangle(a1, m, n, b1, o1), byColumns(a2, m, n, b2, o2); x != y {
				t.Errorf("%d rows, want %d", x, y)
			}
			if !slices.Equal(o1, o2) || !sameBits(a1, a2) || !sameBits(b1, b2) {
				t.Fatalf("%d × %d, order %v: bits differ from those by columns\n%v\n%v", m, n, o2, a1, a2)
			}
		}
	}
}

// sameBits compares numbers by their bits, but for those of no numbers.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
	})
}
