package linalg

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// TestResidual compares residuals, and the largest of them beside the terms of its equation, with sums one by one. A
// sum that overflows is no number to compare with.
func TestResidual(t *testing.T) {
	r := elem.NewRand(9)
	near := build("near", 200, func(add func(i, j int, v float64)) {
		for i := range 200 {
			for range 9 {
				add(i, min(max(0, i-6)+int(r.Uint64()%12), 199), r.Norm())
			}
			add(i, int(r.Uint64()%200), r.Norm())
			add(i, i, 3)
		}
	})
	b, x := make([]float64, 200), make([]float64, 201)
	for i := range b {
		b[i], x[i] = r.Norm(), r.Norm()
	}
	b[7] = 0
	for _, c := range []struct {
		matrix
		neighbours, transposed bool
	}{
		{random(200, 1500, 3, 4), false, false},
		{random(200, 1500, 3, 4), false, true},
		{near, true, false},
		{near, true, true},
	} {
		m, transposed := c.matrix, c.transposed
		f := m.p.byRows(transposed)
		if got := f.First != nil; got != c.neighbours {
			t.Errorf("%s, transposed %t: fours of neighbours %t", m.name, transposed, got)
		}
		values := make([][4]float64, len(f.At))
		put(f, values, m.values, -1)
		want, size := append([]float64(nil), b...), make([]float64, len(b))
		for i, v := range b {
			size[i] = math.Abs(v)
		}
		for j := range b {
			for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
				i, k := int(m.p.Rows[e]), j
				if transposed {
					i, k = k, i
				}
				want[i] -= float64(m.values[e] * x[k])
				size[i] += math.Abs(float64(m.values[e] * x[k]))
			}
		}
		got := make([]float64, len(b))
		left, most := f.Residual(got, b, x, values, 0, tiny, 0, math.Inf(1)), 0.0
		for i, v := range want {
			if !(math.Abs(got[i]-v) <= 1e-14*size[i]) {
				t.Errorf("%s, transposed %t: residual %d is %v, not %v", m.name, transposed, i, got[i], v)
			}
			most = max(most, math.Abs(got[i])/size[i])
		}
		if !(math.Abs(left-most) <= 1e-14*most) {
			t.Errorf("%s, transposed %t: the largest is %v, not %v", m.name, transposed, left, most)
		}
		for _, v := range []float64{math.Inf(1), math.NaN(), math.MaxFloat64} {
			wrong := append([]float64(nil), x...)
			wrong[3], wrong[4] = v, v
			if left := f.Residual(got, b, wrong, values, 0, tiny, 0, math.Inf(1)); left == left {
				t.Errorf("%s, transposed %t: with %v the largest is %v", m.name, transposed, v, left)
			}
		}
	}
}

// TestEvenLengths holds that rows get what they need, and that no other lengths cost less: short rows are drawn, and
// all lengths for them tried. Long rows have their own.
func TestEvenLengths(t *testing.T) {
	cost := func(lengths []int) (c int) {
		for j, length := range lengths {
			if c += length; j > 0 && length != lengths[j-1] {
				c += longerBy
			}
		}
		return c
	}
	r := elem.NewRand(4)
	for range 300 {
		need := make([]int, r.Uint64()%6)
		top, longest := make([]int, len(need)), 0
		for j := range need {
			need[j] = int(r.Uint64() % 10)
			longest = max(longest, need[j])
		}
		for j := range top {
			top[j] = longest
		}
		least := cost(top)
		try := append([]int(nil), need...)
		for more := true; more; {
			least = min(least, cost(try))
			more = false
			for j := range try {
				if try[j]++; try[j] <= longest {
					more = true
					break
				}
				try[j] = need[j]
			}
		}
		got := evenLengths(need)
		for j, length := range got {
			if length < need[j] {
				t.Fatalf("row %d of %v has %d", j, need, length)
			}
		}
		if cost(got) != least {
			t.Fatalf("%v became %v, which costs %d, not %d", need, got, cost(got), least)
		}
	}
	if got, want := evenLengths([]int{2, 1e5, 2}), []int{2, 1e5, 2}; !slices.Equal(got, want) {
		t.Errorf("beside a long row lengths are %d, want %d", got, want)
	}
}
